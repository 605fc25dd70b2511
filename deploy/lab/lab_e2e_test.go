//go:build e2e

package lab_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"diagnostics/lab"
	"diagnostics/lab/trace"

	"go.uber.org/goleak"
)

// shared is one lab for the tests that only look.
var shared *lab.Lab

func TestMain(m *testing.M) {
	var err error
	start := time.Now()
	if shared, err = lab.Build(context.Background(), lab.Options{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("the lab stood after %d ms\n", time.Since(start).Milliseconds())
	code := m.Run()
	if err := shared.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, "left behind:", err)
		code = 1
	}
	os.Exit(code)
}

// The system's own traceroute must see what the truth tables say.
func TestTracerouteShowsTheTruth(t *testing.T) {
	ends := []struct {
		name    string
		at      func(int) (netip.Addr, netip.Addr)
		verdict string
		wait    string
	}{
		{"clean", lab.Clean, "", "0.5"},
		{"dirty", lab.Wild, "", "0.5"},
		{"lossy", lab.LossyEnd, "", "0.5"},
		{"unreachable", lab.Unreachable, "!H", "0.5"},
		{"prohibited", lab.Prohibited, "!X", "0.5"},
		{"silent", lab.SilentEnd, "", "0.5"},
		{"shortcut", lab.Shortcut, "", "0.5"},
		{"slow routers", lab.SlowRouters, "", "1,0,0"}, // however soon the others answer
		{"distant", lab.Distant, "", "1.5"},
	}
	for _, end := range ends {
		v4, v6 := end.at(7)
		for _, to := range []netip.Addr{v4, v6} {
			t.Run(fmt.Sprintf("%s/%s", end.name, to), func(t *testing.T) {
				truth := shared.PathTo(to)
				out, err := shared.Exec(t.Context(), lab.ServiceHost, "traceroute", "-n", "-I", "-q", "3", "-w", end.wait,
					"-m", strconv.Itoa(len(truth)), to.String())
				if err != nil {
					t.Fatal(err)
				}
				if !strings.Contains(string(out), end.verdict) {
					t.Errorf("no %s in:\n%s", end.verdict, out)
				}
				seen := trace.Parse(out)
				if len(seen) != len(truth) {
					t.Fatalf("%d hops, want %d:\n%s", len(seen), len(truth), out)
				}
				for i, hop := range seen {
					checkHop(t, i+1, hop, truth[i])
				}
				if t.Failed() {
					t.Logf("%s", out)
				}
			})
		}
	}
}

func checkHop(t *testing.T, ttl int, seen []netip.Addr, truth lab.Hop) {
	t.Helper()
	for _, a := range seen {
		if !slices.Contains(truth.Addresses, a) {
			t.Errorf("hop %d: %s answered, want one of %v", ttl, a, truth.Addresses)
		}
	}
	switch truth.Temper {
	case lab.Silent:
		if len(seen) > 0 {
			t.Errorf("hop %d: the silent router answered", ttl)
		}
	case lab.Answers, lab.Private:
		if len(seen) == 0 {
			t.Errorf("hop %d: silence, want %v", ttl, truth.Addresses)
		}
	}
}

var pingTimes = regexp.MustCompile(`time=([0-9.]+) ms`)

// pings are the round trips of an ICMP ping, in milliseconds; lost ones are missing.
func pings(t *testing.T, to netip.Addr, count int) []float64 {
	t.Helper()
	// ping exits 1 when nothing came back; what came is counted by the caller.
	out, _ := shared.Exec(t.Context(), lab.ServiceHost, "ping", "-n", "-i", "0.02", "-W", "1", "-c", strconv.Itoa(count),
		to.String())
	var times []float64
	for _, m := range pingTimes.FindAllStringSubmatch(string(out), -1) {
		ms, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		times = append(times, ms)
	}
	return times
}

func TestSentCountsWhatLeaves(t *testing.T) {
	tests := []struct {
		name string
		send func(to netip.Addr)
		to   string
		want string
	}{
		{"an echo over the uplink", func(to netip.Addr) { pings(t, to, 2) }, "11.90.0.9", "2 packets to 11.90.0.9 icmp"},
		{"an echo in IPv6", func(to netip.Addr) { pings(t, to, 2) }, "2a10:90::9", "2 packets to 2a10:90::9 ipv6-icmp"},
		{"a connection to this host itself", dial(9), "127.0.0.1", "1 packets to 127.0.0.1 tcp 9"},
		{"a connection to a private address", dial(81), "10.1.2.3", "1 packets to 10.1.2.3 tcp 81"},
		{"a connection to IPv6 loopback", dial(9), "::1", "1 packets to ::1 tcp 9"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if err := shared.ResetSent(t.Context()); err != nil {
				t.Fatal(err)
			}
			test.send(netip.MustParseAddr(test.to))
			total, flows, err := shared.Sent(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if total == 0 || !slices.ContainsFunc(flows, func(f lab.Flow) bool { return f.String() == test.want }) {
				t.Errorf("%d packets, %v; want among them: %s", total, flows, test.want)
			}
		})
	}
}

func dial(port int) func(netip.Addr) {
	return func(to netip.Addr) {
		ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
		defer cancel()
		if c, err := shared.Dial(ctx, "tcp", net.JoinHostPort(to.String(), strconv.Itoa(port))); err == nil {
			c.Close()
		}
	}
}
