//go:build e2e

package e2e

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"diagnostics/lab"
	"diagnostics/lab/trace"
)

// uglyPaths are those on which traces go wrong easily: silent hops before a destination whose answers come back over a
// hop less, routers that take most of a second over their answers, and a destination that does.
var uglyPaths = []struct {
	name string
	at   func(int) (netip.Addr, netip.Addr)
	says string   // among the explanation
	none []string // nowhere in the answer
	// least and most are how long a trace takes: until the last answer, or for as long as missing ones are listened for.
	least, most time.Duration
}{
	{"shortcut", lab.Shortcut, "Hops 5 and 6 did not answer within 1 s", []string{"Loss begins", "could not be told"},
		time.Second, 3 * time.Second},
	{"slow routers", lab.SlowRouters, "answered at hop 8", []string{"did not answer", "limit ICMP"},
		800 * time.Millisecond, 3 * time.Second},
	{"distant", lab.Distant, "answered at hop 4", []string{"did not answer", "Nothing answered"},
		1200 * time.Millisecond, 3 * time.Second},
}

// Our trace equals traceroute's and mtr's, hop for hop and with the same loss, from raw and from datagram sockets. It
// is not parallel: what Linux counts as dropped where a datagram socket meets an ICMP error counts for all workers of a
// network namespace, and another one there would take it for its own.
func TestTracesOfUglyPathsEqualTheSystems(t *testing.T) {
	datagrams := pairWith(t, "ugly-datagram", startDatagramWorker(t, "worker-ugly-datagram", workerOfOne...))
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the worker with datagram sockets: %s", datagrams.worker.Process.Log())
		}
	})
	for _, path := range uglyPaths {
		for _, to := range bothFamilies(path.at, 17) {
			t.Run(path.name+"/"+to.String(), func(t *testing.T) {
				t.Parallel()
				truth := seenBySystem(t, to)
				for mode, a := range map[string]answer{
					"raw":      call(t, "traceroute", to.String(), nil),
					"datagram": datagrams.ask(t, "traceroute", to),
				} {
					if a.Status != 200 {
						t.Fatalf("%s: status %d: %s", mode, a.Status, a.Body)
					}
					facts{"reached": true, "stopReason": "reached"}.hold(t, a)
					holdTruth(t, a, internet.PathTo(to))
					truth.hold(t, mode, a)
					if !containsAny(string(a.Body), path.says) || containsAny(string(a.Body), path.none...) {
						t.Errorf("%s: wants %q, not %q: %s", mode, path.says, path.none, a.Body)
					}
					if a.Took < path.least || a.Took > path.most {
						t.Errorf("%s: took %v, want %v to %v", mode, a.Took, path.least, path.most)
					}
				}
			})
		}
	}
}

// seen is a path as the system's own tools see it.
type seen struct {
	traceroute [][]netip.Addr
	mtr        []trace.Reported
}

func seenBySystem(t *testing.T, to netip.Addr) (s seen) {
	t.Helper()
	run := func(name string, args ...string) []byte {
		out, err := internet.Exec(t.Context(), lab.ServiceHost, name, append(args, to.String())...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	s.traceroute = trace.Parse(run("traceroute", "-n", "-I", "-w", "1.5,0,0"))
	s.mtr = trace.ParseReport(run("mtr", "-n", "-r", "-c", "3", "-i", "0.3", "-G", "2"))
	return s
}

func (s seen) hold(t *testing.T, mode string, a answer) {
	t.Helper()
	ours := hopsOf(t, a)
	if fmt.Sprint(ours) != fmt.Sprint(s.traceroute) {
		t.Errorf("%s    %v\ntraceroute %v", mode, ours, s.traceroute)
	}
	if len(s.mtr) != len(ours) {
		t.Fatalf("%s: %d hops, mtr has %d", mode, len(ours), len(s.mtr))
	}
	for i, hop := range s.mtr {
		if loss := a.number(fmt.Sprintf("hops.%d.lossPercent", i)); loss != hop.LossPercent ||
			hop.Address.IsValid() != slices.Contains(ours[i], hop.Address) {
			t.Errorf("%s, hop %d: %v with %v %% loss, mtr has %v", mode, i+1, ours[i], loss, hop)
		}
	}
}
