//go:build e2e

package e2e

import (
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"diagnostics/lab"
)

// end is a range of addresses of the lab.
type end = func(int) (v4, v6 netip.Addr)

// inBothFamilies runs a check of the n-th address of a range in each.
func inBothFamilies(t *testing.T, at end, n int, check func(t *testing.T, to string)) {
	t.Helper()
	for _, to := range bothFamilies(at, n) {
		t.Run(to.String(), func(t *testing.T) {
			t.Parallel()
			check(t, to.String())
		})
	}
}

var (
	pingCounts = regexp.MustCompile(`(\d+) packets transmitted, (\d+) received(?:, \+(\d+) duplicates)?`)
	mtrLine    = regexp.MustCompile(`(?m)^ *\d+\.\|-- (\S+) +([0-9.]+)% +\d+ `)
)

// pinged are the counts of ping(8).
func pinged(t *testing.T, args ...string) (received, duplicates int) {
	t.Helper()
	// It exits 1 where something is missing.
	out, _ := internet.Exec(t.Context(), lab.ServiceHost, "ping", append([]string{"-n", "-q"}, args...)...)
	m := pingCounts.FindSubmatch(out)
	if m == nil {
		t.Fatalf("ping %v:\n%s", args, out)
	}
	received, _ = strconv.Atoi(string(m[2]))
	duplicates, _ = strconv.Atoi(string(m[3]))
	return received, duplicates
}

// mtrLoss is the loss at the target itself, in percent, that mtr(8) reports for six rounds a second apart.
func mtrLoss(t *testing.T, to string) float64 {
	t.Helper()
	out, err := internet.Exec(t.Context(), lab.ServiceHost, "mtr", "-n", "-r", "-c", "6", to)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mtrLine.FindAllStringSubmatch(string(out), -1) {
		if m[1] == to {
			loss, _ := strconv.ParseFloat(m[2], 64)
			return loss
		}
	}
	t.Fatalf("mtr does not reach %s:\n%s", to, out)
	return 0
}

// A host whose every answer takes 2.4 s answers all, as ping(8) says; it was called 100 % lost.
func TestEchoesThatComeLate(t *testing.T) {
	t.Parallel()
	inBothFamilies(t, lab.LateEnd, 41, func(t *testing.T, to string) {
		if got, _ := pinged(t, "-c", "5", "-i", "0.2", "-W", "5", to); got != 5 {
			t.Errorf("ping(8) received %d of 5", got)
		}
		for slug, sent := range map[string]float64{"ping": 10, "packet-loss": 50} {
			holdLate(t, slug, call(t, slug, to, nil), sent)
		}
	})
}

func holdLate(t *testing.T, slug string, a answer, sent float64) {
	t.Helper()
	received, late, undecided := a.number("received"), a.number("late"), a.number("undecided")
	t.Logf("%s: %v received, %v late, %v undecided, %v %% lost", slug, received, late, undecided, a.number("lossPercent"))
	facts{"sent": sent, "lossPercent": 0, "minMs": between(2400, 4000), "replies.0.late": true, "confirmation": nil,
		"stopReason": "completed", fmt.Sprintf("replies.%v.undecided", sent-1): true}.hold(t, a)
	if late != received || received+undecided != sent || received < sent*0.6 || undecided < 2 {
		t.Errorf("%s: %v received, %v late, %v undecided of %v", slug, received, late, undecided, sent)
	}
}

// A host that answers five echo requests a second loses none of six that come a second apart, as mtr(8) says; it was
// reported as one that loses 42 %.
func TestEchoesThatAreLimited(t *testing.T) {
	t.Parallel()
	confirmed := facts{"confirmation.intervalMs": 1000, "confirmation.sent": 6, "confirmation.received": 6,
		"confirmation.lossPercent": 0, "stopReason": "completed", "late": 0, "undecided": 0}
	inBothFamilies(t, lab.FewEchoes, 142, func(t *testing.T, to string) {
		if loss := mtrLoss(t, to); loss != 0 {
			t.Errorf("mtr(8) loses %v %%", loss)
		}
	})
	inBothFamilies(t, lab.FewEchoes, 42, func(t *testing.T, to string) {
		a := call(t, "packet-loss", to, nil)
		facts{"sent": 50, "lossPercent": between(30, 52)}.hold(t, a)
		confirmed.hold(t, a)
		t.Logf("packet-loss: %v %% lost, confirmation %v", a.number("lossPercent"), a.at("confirmation"))
		facts{"received": 10, "confirmation": nil}.hold(t, call(t, "ping", to, nil))
	})
	inBothFamilies(t, lab.FewestEchoes, 43, func(t *testing.T, to string) {
		a := call(t, "ping", to, nil)
		facts{"sent": 10, "lossPercent": between(30, 50)}.hold(t, a)
		confirmed.hold(t, a)
		t.Logf("ping: %v %% lost, confirmation %v", a.number("lossPercent"), a.at("confirmation"))
	})
}

// Answers that come twice are counted as ping(8) counts them. One after the other: every fourth packet of the cable
// counts, from any client.
func TestEchoesThatComeTwice(t *testing.T) {
	t.Parallel()
	v4, v6 := lab.Repeated(45)
	if got, twice := pinged(t, "-c", "9", "-i", "0.2", v4.String()); got != 9 || twice != 2 {
		t.Errorf("ping(8) received %d of 9 and %d duplicates", got, twice)
	}
	facts{"sent": 10, "received": 10, "duplicates": between(2, 3), "lossPercent": 0, "confirmation": nil}.hold(t,
		call(t, "ping", v6.String(), nil))
	facts{"sent": 50, "received": 50, "duplicates": between(12, 13), "lossPercent": 0, "bursts": []string{}}.hold(t,
		call(t, "packet-loss", v4.String(), nil))
}

// Answers that others overtake are neither lost nor duplicates. One after the other, for the same reason.
func TestEchoesThatAreOvertaken(t *testing.T) {
	t.Parallel()
	v4, v6 := lab.Overtaken(45)
	if got, twice := pinged(t, "-c", "8", "-i", "0.2", v4.String()); got != 8 || twice != 0 {
		t.Errorf("ping(8) received %d of 8 and %d duplicates", got, twice)
	}
	overtaken := facts{"duplicates": 0, "lossPercent": 0, "late": 0, "undecided": 0, "confirmation": nil,
		"minMs": between(0, 100), "maxMs": between(330, 1000)}
	for slug, to := range map[string]netip.Addr{"ping": v6, "packet-loss": v4} {
		overtaken.hold(t, call(t, slug, to.String(), nil))
	}
}

// Probes are so short that they fit any path; a spread path loses none of them.
func TestEchoesOverANarrowAndASpreadPath(t *testing.T) {
	t.Parallel()
	inBothFamilies(t, lab.Narrow, 46, func(t *testing.T, to string) {
		long := []string{"-n", "-c", "1", "-M", "do", "-s", "1400", "-W", "1", to}
		out, _ := internet.Exec(t.Context(), lab.ServiceHost, "ping", long...)
		if said := strings.ToLower(string(out)); !containsAny(said, "frag needed", "too big") {
			t.Errorf("the path is not narrow:\n%s", said)
		}
		facts{"received": 10, "lossPercent": 0, "stopReason": "completed"}.hold(t, call(t, "ping", to, nil))
		facts{"received": 50, "lossPercent": 0, "stopReason": "completed"}.hold(t, call(t, "packet-loss", to, nil))
	})
	inBothFamilies(t, lab.Wild, 46, func(t *testing.T, to string) {
		if loss := mtrLoss(t, to); loss != 0 {
			t.Errorf("mtr(8) loses %v %%", loss)
		}
		facts{"received": 10, "duplicates": 0, "lossPercent": 0, "confirmation": nil}.hold(t, call(t, "ping", to, nil))
	})
}

// The worker's report of slow and of limited answers is the same without raw sockets.
// It is not parallel: see TestTracesOfUglyPathsEqualTheSystems.
func TestEchoesWithoutRawSockets(t *testing.T) {
	p := pairWith(t, "echoes-datagram", startDatagramWorker(t, "worker-datagram-echoes"))
	for _, to := range bothFamilies(lab.LateEnd, 47) {
		t.Run(to.String(), func(t *testing.T) {
			t.Parallel()
			holdLate(t, "ping", p.ask(t, "ping", to), 10)
		})
	}
	for _, to := range bothFamilies(lab.FewEchoes, 47) {
		t.Run(to.String(), func(t *testing.T) {
			t.Parallel()
			facts{"sent": 50, "lossPercent": between(30, 52), "confirmation.sent": 6, "confirmation.received": 6}.hold(t,
				p.ask(t, "packet-loss", to))
		})
	}
}
