//go:build e2e

package e2e

import (
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"diagnostics/lab"
	"diagnostics/lab/trace"
)

// hopsOf are the addresses of each hop of a traceroute answer, sorted; a hidden hop and a silent one have none.
func hopsOf(t *testing.T, a answer) [][]netip.Addr {
	t.Helper()
	rows, ok := a.at("hops").([]any)
	if !ok {
		t.Fatalf("no hops: %.500s", a.Body)
	}
	hops := make([][]netip.Addr, len(rows))
	for i := range rows {
		row := fmt.Sprintf("hops.%d.", i)
		if got := a.number(row + "ttl"); got != float64(i+1) {
			t.Errorf("row %d has ttl %v", i, got)
		}
		hops[i] = []netip.Addr{}
		for _, s := range a.list(row + "addresses") {
			hops[i] = append(hops[i], netip.MustParseAddr(s))
		}
		slices.SortFunc(hops[i], netip.Addr.Compare)
	}
	return hops
}

// holdTruth compares a trace with the lab's truth. It is for any number of traces at once, so it counts loss only
// where the lab promises none.
func holdTruth(t *testing.T, a answer, truth []lab.Hop) {
	t.Helper()
	hops := hopsOf(t, a)
	if len(hops) < len(truth) {
		t.Fatalf("%d hops, want at least %d: %.2000s", len(hops), len(truth), a.Body)
	}
	for i, want := range truth {
		row := fmt.Sprintf("hops.%d.", i)
		for _, got := range hops[i] {
			if !slices.Contains(want.Addresses, got) {
				t.Errorf("hop %d: %s answered, want one of %v", i+1, got, want.Addresses)
			}
		}
		hidden, received := a.at(row+"hidden"), a.number(row+"received")
		switch want.Temper {
		case lab.Private:
			if hidden != true || a.at(row+"address") != nil || len(hops[i]) != 0 || a.at(row+"hostname") != nil || received < 1 {
				t.Errorf("hop %d: the private router shows as %v", i+1, a.at(fmt.Sprintf("hops.%d", i)))
			}
		case lab.Silent:
			if received != 0 || hidden != false || len(hops[i]) != 0 {
				t.Errorf("hop %d: the silent router shows as %v", i+1, a.at(fmt.Sprintf("hops.%d", i)))
			}
		case lab.Answers:
			if len(hops[i]) == 0 || received != a.number(row+"sent") {
				t.Errorf("hop %d: %v answers of %v probes from %v, want all from %v", i+1, received, a.number(row+"sent"), hops[i],
					want.Addresses)
			}
		}
	}
}

func bothFamilies(at func(int) (netip.Addr, netip.Addr), n int) []netip.Addr {
	v4, v6 := at(n)
	return []netip.Addr{v4, v6}
}

// On the clean path our trace equals the system's, hop for hop.
func TestTracerouteEqualsTheSystems(t *testing.T) {
	for i, to := range bothFamilies(lab.Clean, 11) {
		t.Run(to.String(), func(t *testing.T) {
			out, err := internet.Exec(t.Context(), lab.ServiceHost, "traceroute", "-n", "-I", "-q", "3", to.String())
			if err != nil {
				t.Fatal(err)
			}
			a := call(t, "traceroute", to.String(), nil)
			if a.Status != 200 {
				t.Fatalf("status %d: %s", a.Status, a.Body)
			}
			facts{"reached": true, "stopReason": "reached", "address": to.String(), "family": []int{4, 6}[i]}.hold(t, a)
			theirs, ours := trace.Parse(out), hopsOf(t, a)
			if fmt.Sprint(ours) != fmt.Sprint(theirs) {
				t.Errorf("ours   %v\ntheirs %v", ours, theirs)
			}
			holdTruth(t, a, internet.PathTo(to))
		})
	}
}

func TestTracerouteTellsTheTruth(t *testing.T) {
	tests := []struct {
		name    string
		at      func(int) (netip.Addr, netip.Addr)
		reached bool
		stop    string
	}{
		{"dirty", lab.Wild, true, "reached"},
		{"unreachable", lab.Unreachable, false, "unreachable"},
		{"prohibited", lab.Prohibited, false, "prohibited"},
		{"silent", lab.SilentEnd, false, "gapLimit"},
	}
	for _, test := range tests {
		for _, to := range bothFamilies(test.at, 12) {
			t.Run(test.name+"/"+to.String(), func(t *testing.T) {
				a := call(t, "traceroute", to.String(), nil)
				if a.Status != 200 {
					t.Fatalf("status %d: %s", a.Status, a.Body)
				}
				facts{"reached": test.reached, "stopReason": test.stop}.hold(t, a)
				holdTruth(t, a, internet.PathTo(to))
				if containsAny(string(a.Body), "10.66.0.2", "fd66::2", "p2.lab-transit") {
					t.Errorf("the private router is named: %s", a.Body)
				}
			})
		}
	}
}

// Several traces see both legs, and within a trace the first round keeps to one.
func TestTracerouteSeesBothLegs(t *testing.T) {
	for _, family := range []int{0, 1} {
		seen := map[string]bool{}
		var answers [6]answer
		var wg sync.WaitGroup
		for n := range answers {
			wg.Go(func() { answers[n] = call(t, "traceroute", bothFamilies(lab.Wild, 20+n)[family].String(), nil) })
		}
		wg.Wait()
		for _, a := range answers {
			first, second := fmt.Sprint(a.at("hops.5.address")), fmt.Sprint(a.at("hops.6.address"))
			for _, s := range a.list("hops.5.addresses") {
				seen[s] = true
			}
			// Legs end in 1 and 2 at both of their routers.
			if first[len(first)-1] != second[len(second)-1] {
				t.Errorf("round one went through %s and then %s", first, second)
			}
		}
		if len(seen) != 2 {
			t.Errorf("family %d: only %v seen", []int{4, 6}[family], seen)
		}
	}
}

// Fifty traces at once to fifty addresses, each right; then the same in IPv6; then half of them over the dirty path.
func TestFiftyTracesAtOnce(t *testing.T) {
	rounds := []struct {
		name string
		to   func(n int) netip.Addr
	}{
		{"IPv4", func(n int) netip.Addr { return bothFamilies(lab.Clean, 50+n)[0] }},
		{"IPv6", func(n int) netip.Addr { return bothFamilies(lab.Clean, 50+n)[1] }},
		{"mixed", func(n int) netip.Addr {
			if n%2 == 0 {
				return bothFamilies(lab.Wild, 50+n)[n/2%2]
			}
			return bothFamilies(lab.Clean, 110+n)[n/2%2]
		}},
	}
	for _, round := range rounds {
		t.Run(round.name, func(t *testing.T) {
			answers := make([]answer, 50)
			var wg sync.WaitGroup
			start := time.Now()
			for n := range answers {
				wg.Go(func() { answers[n] = call(t, "traceroute", round.to(n).String(), nil) })
			}
			wg.Wait()
			t.Logf("50 traces at once: %d ms", time.Since(start).Milliseconds())
			for n, a := range answers {
				to := round.to(n)
				if a.Status != 200 || a.at("reached") != true || a.at("address") != to.String() {
					t.Errorf("%s: status %d: %.300s", to, a.Status, a.Body)
					continue
				}
				holdTruth(t, a, internet.PathTo(to))
			}
		})
	}
}

// TestPing is not parallel: the lab's cables, which it times, are late on a busy machine.
func TestPing(t *testing.T) {
	for _, to := range bothFamilies(lab.Clean, 13) {
		a := call(t, "ping", to.String(), nil)
		facts{"address": to.String(), "sent": 10, "received": 10, "duplicates": 0, "lossPercent": 0,
			"stopReason": "completed",
			"minMs":      between(62, 67), "medianMs": between(62, 100), "replies.9.seq": nonNegative, "replies.9.ttl": between(50, 64)}.hold(t, a)
	}
	// Nothing of these is timed.
	var asking sync.WaitGroup
	for stop, at := range map[string]func(int) (netip.Addr, netip.Addr){"unreachable": lab.Unreachable,
		"prohibited": lab.Prohibited, "completed": lab.SilentEnd} {
		for _, to := range bothFamilies(at, 13) {
			asking.Go(func() {
				a := call(t, "ping", to.String(), nil)
				facts{"received": 0, "lossPercent": 100, "minMs": nil, "stopReason": stop}.hold(t, a)
			})
		}
	}
	asking.Wait()
}

func nonNegative(v any) bool { n, ok := v.(float64); return ok && n >= 0 }

func TestPacketLoss(t *testing.T) {
	t.Parallel()
	for _, to := range bothFamilies(lab.LossyEnd, 14) {
		a := call(t, "packet-loss", to.String(), nil)
		// Every tenth packet to an address is lost; no other test sends to these.
		facts{"sent": 50, "received": 45, "lossPercent": 10, "bursts": func(v any) bool { return len(v.([]any)) == 5 },
			"bursts.0.length": 1, "minMs": between(10, 15), "late": 0, "undecided": 0, "confirmation": nil}.hold(t, a)
	}
	v4, _ := lab.Clean(15)
	facts{"sent": 50, "received": 50, "lossPercent": 0, "bursts": []string{}}.hold(t,
		call(t, "packet-loss", v4.String(), nil))
}
