//go:build lab

package main

import (
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/icmp"
	"diagnostics/worker/internal/labtest"
)

// processorTime is what the worker has used so far (proc_pid_stat(5): utime and stime, in hundredths of a second).
func (w *labWorker) processorTime() time.Duration {
	w.t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", w.process.Process.Pid))
	if err != nil {
		w.t.Fatal(err)
	}
	_, fields, _ := strings.Cut(string(stat), ") ")
	var sum time.Duration
	for _, field := range strings.Fields(fields)[11:13] {
		n, err := strconv.Atoi(field)
		if err != nil {
			w.t.Fatal(err)
		}
		sum += time.Duration(n) * 10 * time.Millisecond
	}
	return sum
}

// An attacker forges errors about a silent host, for every identifier and for the sequence numbers with which a ping
// used to begin: 196,605 of them once turned it into a prohibited one. The measurements of that host say what they
// would without them, and those of others lose nothing.
func TestForgedErrorsChangeNothing(t *testing.T) {
	t.Parallel()
	for m := range rightsOf {
		t.Run(string(m), func(t *testing.T) {
			t.Parallel()
			checkForgedErrorsChangeNothing(t, m)
		})
	}
}

func checkForgedErrorsChangeNothing(t *testing.T, m icmp.Mode) {
	chain := labtest.NewChain(t, 2)
	chain.Destination.Sysctl("net.ipv4.icmp_echo_ignore_all=1", "net.ipv6.icmp.echo_ignore_all=1")
	w := startIn(t, chain, m)
	for _, tt := range []struct {
		silent, answers string
		typ, code       byte
	}{
		{"11.0.2.2", "11.0.1.2", 3, 13},
		{"2a10:2::2", "2a10:1::2", 1, 1},
	} {
		silent, answers := netip.MustParseAddr(tt.silent), netip.MustParseAddr(tt.answers)
		used := w.processorTime()
		var ping workerapi.Ping
		var loss workerapi.PacketLoss
		var trace workerapi.Traced
		var all sync.WaitGroup
		for path, job := range map[string]struct {
			to   netip.Addr
			into any
		}{
			workerapi.PathPing:       {silent, &ping},
			workerapi.PathTraceroute: {silent, &trace},
			workerapi.PathPacketLoss: {answers, &loss},
		} {
			all.Go(func() {
				if _, err := w.ask(path, job.to, job.into); err != nil {
					t.Errorf("%s: %v", path, err)
				}
			})
		}
		time.Sleep(500 * time.Millisecond) // three probes of the ping have left
		began := time.Now()
		sent := chain.Storm(t, silent, tt.typ, tt.code, 1, 2, 3)
		took := time.Since(began)
		all.Wait()
		t.Logf("%s: %d forged errors in %v; the worker used %v in all", silent, sent, took.Round(time.Millisecond),
			w.processorTime()-used)
		if ping.StopReason != workerapi.StopCompleted || ping.Sent != 10 || ping.Received != 0 {
			t.Errorf("%s: ping: %s, %d of %d", silent, ping.StopReason, ping.Received, ping.Sent)
		}
		if loss.Received != 50 || loss.Sent != 50 {
			t.Errorf("%s: packet loss: %d of %d", answers, loss.Received, loss.Sent)
		}
		hops := addressesOf(trace)
		if trace.StopReason != workerapi.StopGapLimit || len(hops) < 2 || !slices.Equal(hops[:2], chain.Path(silent)[:2]) ||
			trace.Hops[0].Received != 3 || trace.Hops[1].Received != 3 {
			t.Errorf("%s: trace: %s, %v", silent, trace.StopReason, hops)
		}
	}
}
