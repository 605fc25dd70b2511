//go:build e2e

package e2e

import (
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"diagnostics/lab"
)

// A worker without files for the sockets of its probes says so, and one without a file for a connection does not
// answer: neither is reported as the target's, and both are right again once there are files.
func TestAWorkerWithoutFiles(t *testing.T) {
	t.Parallel()
	for mode, start := range map[string]func(t *testing.T, name string) *lab.Server{
		"raw": startRawWorker, "datagram": func(t *testing.T, name string) *lab.Server {
			return startDatagramWorker(t, name, workerOfOne...)
		},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			p := pairWith(t, "files-"+mode, start(t, "worker-"+mode+"-files"))
			p.says(t, "ok", 0, 0)
			if said := p.worker.Process.Log(); !strings.Contains(said, `"mode":"`+mode+`"`) {
				t.Fatalf("it is in another mode: %s", said)
			}
			reported := map[int]int{} // by status
			for free := 4; free >= 0; free-- {
				leaveFiles(t, p.worker.Process, free)
				now := p.measure(t, 70+free)
				t.Logf("%d free files: by status %v", free, now)
				for status, n := range now {
					reported[status] += n
				}
				if free == 0 && now[200] > 0 {
					t.Error("a worker without files was asked something, and answered")
				}
			}
			// A probe of the gateway that ends while the files are counted leaves one more than none: with raw sockets that
			// is one answer, and with datagram sockets a 503.
			if mode == "raw" && reported[504] == 0 || (reported[503] > 0) != (mode == "datagram") {
				t.Errorf("by status %v", reported)
			}
			leaveFiles(t, p.worker.Process, 4096)
			p.recovers(t, time.Now())
			if now := p.measure(t, 75); now[200] != 3 {
				t.Errorf("afterwards by status %v", now)
			}
		})
	}
}

// measure has three measurements of a clean host made at once, and counts by status what comes of them: the truth, a
// fault of this service, or no answer of the worker.
func (p *pair) measure(t *testing.T, host int) (reported map[int]int) {
	t.Helper()
	v4, v6 := lab.Clean(host)
	var answers [3]answer
	var asking sync.WaitGroup
	for i, question := range []struct {
		slug string
		to   netip.Addr
	}{{"ping", v4}, {"traceroute", v4}, {"traceroute", v6}} {
		asking.Go(func() { answers[i] = p.ask(t, question.slug, question.to) })
	}
	asking.Wait()
	reported = map[int]int{}
	for i, a := range answers {
		reported[a.Status]++
		switch {
		case a.Status == 503:
			holdOurs(t, "the worker", a)
		case a.Status == 504 && strings.Contains(a.Error, "The diagnostics worker does not answer"):
		case a.Status != 200:
			t.Errorf("status %d: %s", a.Status, a.Error)
		case i == 0:
			facts{"received": 10, "lossPercent": 0}.hold(t, a)
		default:
			facts{"reached": true}.hold(t, a)
		}
	}
	return reported
}

// leaveFiles lets a program open as many files more.
func leaveFiles(t *testing.T, p *lab.Process, free int) {
	t.Helper()
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.PID()))
	if err != nil {
		t.Fatal(err)
	}
	open := map[string]bool{}
	for _, entry := range list {
		open[entry.Name()] = true
	}
	limit := 0
	for ; free > 0 || open[strconv.Itoa(limit)]; limit++ {
		if !open[strconv.Itoa(limit)] {
			free--
		}
	}
	limitFiles(t, p, limit)
}

func startRawWorker(t *testing.T, name string) *lab.Server {
	t.Helper()
	worker, err := service.StartExtraWorker(t.Context(), name, workerOfOne...)
	if err != nil {
		t.Fatal(err)
	}
	return worker
}

// startDatagramWorker runs a worker that may open no raw socket.
func startDatagramWorker(t *testing.T, name string, env ...string) *lab.Server {
	t.Helper()
	mustDo(t, lab.ServiceHost, "sysctl", "-qw", "net.ipv4.ping_group_range=0 2147483647")
	addr := freeAddr(t, 8081)
	process, err := internet.Start(lab.ServiceHost, name, append([]string{
		"WORKER_LISTEN_ADDR=" + addr, "DIAGNOSTICS_WORKER_TOKEN=" + service.Token()}, env...),
		"/usr/bin/setpriv", "--inh-caps=-net_raw", "--bounding-set=-net_raw", workerProgram)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(process.Kill)
	eventually(t, "the worker listens", func() bool {
		conn, err := internet.Dial(t.Context(), "tcp", addr)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return &lab.Server{Process: process, Addr: addr}
}
