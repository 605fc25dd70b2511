package probe

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"diagnostics/shared/workerapi"

	"github.com/google/go-cmp/cmp"
)

// limited makes a destination with a limit on its answers.
func limited(l answerLimit) *simNet {
	n := chain(1)
	n.dest.limit = l
	return n
}

var allConfirmed = &workerapi.Confirmation{IntervalMs: 1000, Sent: 6, Received: 6}

// A host that answers five echo requests a second was reported as one that loses 42 %, tone bad.
func TestALimitOnAnswersIsRecognised(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		limit     answerLimit
		loss      float64
		ping      float64
		pingIsFew bool // too few are missing in a ping to make a pattern
	}{
		{&tokenBucket{rate: 5, burst: 5}, 42, 0, true},
		{&tokenBucket{rate: 5, burst: 1}, 50, 0, true},
		{&tokenBucket{rate: 1, burst: 1}, 90, 80, false},
		{&tokenBucket{rate: 1, burst: 5}, 82, 40, false},
		{&tokenBucket{rate: 2, burst: 2}, 78, 50, false},
		{&tokenBucket{rate: 3, burst: 1}, 74, 50, false},
		{&tokenBucket{rate: 7, burst: 7}, 18, 0, true},
		{&perPeriod{count: 1, period: time.Second}, 90, 80, false},
		{&perPeriod{count: 5, period: time.Second}, 50, 0, true},
		{&perPeriod{count: 3, period: time.Second, phase: 350 * time.Millisecond}, 64, 30, false},
		{&perPeriod{count: 2, period: time.Second, phase: 350 * time.Millisecond}, 76, 50, false},
	} {
		t.Run(fmt.Sprintf("%+v", tt.limit), func(t *testing.T) {
			t.Parallel()
			r, took := lossOver(t, limited(clone(tt.limit)), Options{})
			if diff := cmp.Diff(allConfirmed, r.Confirmation); diff != "" {
				t.Errorf("packet-loss, confirmation (-want +got):\n%s", diff)
			}
			if r.Sent != 50 || len(r.Replies) != 50 || r.LossPercent != tt.loss || r.StopReason != workerapi.StopCompleted {
				t.Errorf("packet-loss: %d sent, %d replies, %v %% lost, %s", r.Sent, len(r.Replies), r.LossPercent, r.StopReason)
			}
			if took > workerapi.PacketLossLimit {
				t.Errorf("packet-loss took %v", took)
			}
			p, took := pingOver(t, limited(clone(tt.limit)), Options{})
			want := allConfirmed
			if tt.pingIsFew {
				want = nil
			}
			if diff := cmp.Diff(want, p.Confirmation); diff != "" {
				t.Errorf("ping, confirmation (-want +got):\n%s", diff)
			}
			if p.Sent != 10 || p.LossPercent != tt.ping {
				t.Errorf("ping: %d sent, %v %% lost", p.Sent, p.LossPercent)
			}
			if took > workerapi.PingLimit {
				t.Errorf("ping took %v", took)
			}
		})
	}
}

func clone(l answerLimit) answerLimit {
	switch l := l.(type) {
	case *tokenBucket:
		c := *l
		return &c
	case *perPeriod:
		c := *l
		return &c
	default:
		return l
	}
}

// The confirmation begins when the series has been listened to, asks once a second, and ends with its last answer.
func TestConfirmationIsSpacedBySeconds(t *testing.T) {
	t.Parallel()
	n := limited(&tokenBucket{rate: 1, burst: 1})
	_, took := pingOver(t, n, Options{})
	if len(n.log) != 16 {
		t.Fatalf("%d probes", len(n.log))
	}
	first := 9*workerapi.PingGap + workerapi.LateAfter
	for i, p := range n.log[10:] {
		if want := first + time.Duration(i)*time.Second; p.at.Sub(n.log[0].at) != want || int(p.seq) != 11+i {
			t.Errorf("probe %d left at %v, want %v", p.seq, p.at.Sub(n.log[0].at), want)
		}
	}
	if want := first + 5*time.Second + n.dest.rtt + linger + grace; took != want {
		t.Errorf("took %v, want %v", took, want)
	}
}

// The losses of the confirmation are reported too.
func TestConfirmationThatLosesToo(t *testing.T) {
	t.Parallel()
	for _, dropped := range []int{1, 3, 6} {
		n := limited(&tokenBucket{rate: 5, burst: 1})
		n.dest.drops = map[int]bool{}
		for i := range dropped {
			n.dest.drops[50+i] = true
		}
		r, took := lossOver(t, n, Options{})
		c := r.Confirmation
		if c == nil || c.Sent != 6 || c.Received != 6-dropped || c.LossPercent != lossPercent(6, 6-dropped) {
			t.Fatalf("%d dropped: %+v", dropped, c)
		}
		if r.LossPercent != 50 || took > workerapi.PacketLossLimit {
			t.Errorf("%d dropped: %v %% lost after %v", dropped, r.LossPercent, took)
		}
	}
}

// lossPattern is a series whose probes are answered where the letter is an A.
func lossPattern(shape seriesShape, pattern string) *series {
	start := time.Unix(0, 0)
	s := newSeries(start, shape)
	for i, c := range pattern {
		at := start.Add(time.Duration(i) * shape.gap)
		s.pings = append(s.pings, ping{at: at, replied: c == 'A', refused: c == 'r', rtt: time.Millisecond})
	}
	s.end = s.pings[len(s.pings)-1].at.Add(workerapi.LateAfter)
	s.slowest = time.Millisecond
	return s
}

var (
	pingShape = seriesShape{probes: workerapi.PingProbes, gap: workerapi.PingGap, limit: workerapi.PingLimit}
	lossShape = seriesShape{probes: workerapi.LossProbes, gap: workerapi.LossGap, limit: workerapi.PacketLossLimit}
)

func TestLooksLimited(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		why     string
		shape   seriesShape
		pattern string
		want    bool
	}{
		{"nothing missing", pingShape, "AAAAAAAAAA", false},
		{"all missing", pingShape, "..........", false},
		{"every second", pingShape, "A.A.A.A.A.", true},
		{"two missing", pingShape, "AAAAAAA.A.", false},
		{"three missing", pingShape, "AAAAA.A.A.", true},
		{"one a second", pingShape, "A....A....", true},
		{"a burst, then one a second", pingShape, "AAAAAA....", true},
		{"a burst at the end", pingShape, "....AAAAAA", false},
		{"an outage in the middle", pingShape, "AAA....AAA", false},
		{"silent for over a second", pingShape, "AA.......A", false},
		{"a refusal", pingShape, "A.A.Ar..A.", false},
		{"every tenth", lossShape, "AAAAAAAAA.AAAAAAAAA.AAAAAAAAA.AAAAAAAAA.AAAAAAAAA.", false},
		{"every fifth", lossShape, "AAAA.AAAA.AAAA.AAAA.AAAA.AAAA.AAAA.AAAA.AAAA.AAAA.", true},
		{"one outage", lossShape, "AAAAAAAAAAAAAAAAAAAA........AAAAAAAAAAAAAAAAAAAAAA", false},
		{"two outages", lossShape, "AAAAAAAA.......AAAAAAAAAAAAAAAAAAA.......AAAAAAAAA", false},
		{"gone after a while", lossShape, "AAAAAAAAAAAAAAAAAAAAAAAAA.........................", false},
		{"one a second", lossShape, "A.........A.........A.........A..........A........", true},
		{"one in two seconds", lossShape, "A...................A...................A.........", false},
		{"by chance", lossShape, "AA.A..AAA.AAAA.A...AA.AAAAA.AA...A.AA.AAA....A.AAA", false},
	} {
		if got := lossPattern(tt.shape, tt.pattern).looksLimited(); got != tt.want {
			t.Errorf("%s, %s: %t", tt.why, tt.pattern, got)
		}
	}
}

// This host's own delay is no unevenness of the other's: three probes left at once, the first 0.3 s late, and met the
// answers that the limit had saved up.
func TestLateProbesHideNoLimit(t *testing.T) {
	t.Parallel()
	s := lossPattern(lossShape, "AAAAAAAAA.A.A.A.AAAA.A.A.A.A.A.A.A.A.A.A.A.A.A.A.A")
	for i, p := range s.pings[16:19] {
		s.pings[16+i].at = p.at.Add(time.Duration(3-i) * lossShape.gap)
	}
	if !s.looksLimited() {
		t.Error("not seen as a limit")
	}
}

// Loss by chance is no limit: how often it looks like one, and how often its confirmation would say so too.
func TestChanceRarelyLooksLimited(t *testing.T) {
	t.Parallel()
	const runs = 4000
	random := rand.New(rand.NewPCG(1, 2))
	for _, tt := range []struct {
		name             string
		shape            seriesShape
		looks, confirmed float64 // at most
	}{{"ping", pingShape, 0.55, 0.07}, {"packet-loss", lossShape, 0.08, 0.02}} {
		for _, loss := range []float64{0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8} {
			looks, confirmed := 0, 0
			for range runs {
				pattern := make([]byte, tt.shape.probes+workerapi.ConfirmationProbes)
				lost := 0
				for i := range pattern {
					pattern[i] = 'A'
					if random.Float64() < loss {
						pattern[i] = '.'
						if i >= tt.shape.probes {
							lost++
						}
					}
				}
				if lossPattern(tt.shape, string(pattern[:tt.shape.probes])).looksLimited() {
					looks++
					if lost == 0 {
						confirmed++
					}
				}
			}
			l, c := float64(looks)/runs, float64(confirmed)/runs
			t.Logf("%s, %2.0f %% lost: looks limited in %.3f, confirmed in %.3f", tt.name, 100*loss, l, c)
			if l > tt.looks || c > tt.confirmed {
				t.Errorf("%s, %v lost: %.3f look limited, %.3f are confirmed", tt.name, loss, l, c)
			}
		}
	}
}

// A series that the budget of packets has slowed down so much that no confirmation fits goes without.
func TestNoConfirmationWithoutTheTimeForIt(t *testing.T) {
	t.Parallel()
	const takes = 5*workerapi.ConfirmationGap + workerapi.LateAfter
	for _, tt := range []struct {
		left time.Duration
		want bool
	}{{takes, true}, {takes - 1, false}} {
		s := lossPattern(pingShape, "A.A.A.A.A.")
		if got := s.wantsConfirmation(s.deadline.Add(-tt.left)); got != tt.want {
			t.Errorf("%v before the deadline: %t", tt.left, got)
		}
	}
}

// A late reply to the series that comes during its confirmation is a reply, and a duplicate of the confirmation's own
// is none of the series'.
func TestTheConfirmationIsToldByItself(t *testing.T) {
	t.Parallel()
	n := limited(&tokenBucket{rate: 5, burst: 1})
	n.dest.copies = 1
	n.dest.rtts = make([]time.Duration, 56)
	for i := range n.dest.rtts {
		n.dest.rtts[i] = 5 * time.Millisecond
	}
	n.dest.rtts[48] = 3 * time.Second
	r, _ := lossOver(t, n, Options{Raw: true})
	if r.Received != 25 || r.Late != 1 || !r.Replies[48].Late || r.Duplicates != 25 || r.Undecided != 0 {
		t.Errorf("%d received, %d late, %d duplicates, %d undecided", r.Received, r.Late, r.Duplicates, r.Undecided)
	}
	if diff := cmp.Diff(allConfirmed, r.Confirmation); diff != "" {
		t.Error(diff)
	}
}

// The confirmation of a slow host waits for its answers, as long as there is time.
func TestConfirmationOfASlowHost(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rtt        time.Duration
		ping, loss int // how many of the six are answered
	}{
		{2400 * time.Millisecond, 6, 6},
		// Too few probes of a ping are old enough at its end to make a pattern, and packet-loss has no time for the sixth.
		{2700 * time.Millisecond, 0, 5},
	} {
		slowAndLimited := func() *simNet {
			n := limited(&tokenBucket{rate: 2, burst: 1})
			n.dest.rtt = tt.rtt
			return n
		}
		p, took := pingOver(t, slowAndLimited(), Options{})
		holdConfirmation(t, fmt.Sprintf("ping, %v", tt.rtt), p.Confirmation, tt.ping)
		if took > workerapi.PingLimit {
			t.Errorf("ping, %v: took %v", tt.rtt, took)
		}
		r, took := lossOver(t, slowAndLimited(), Options{})
		holdConfirmation(t, fmt.Sprintf("packet-loss, %v", tt.rtt), r.Confirmation, tt.loss)
		if took > workerapi.PacketLossLimit || r.StopReason != workerapi.StopCompleted {
			t.Errorf("packet-loss, %v: took %v, %s", tt.rtt, took, r.StopReason)
		}
	}
}

// holdConfirmation demands one without loss, or none where received is 0.
func holdConfirmation(t *testing.T, name string, c *workerapi.Confirmation, received int) {
	t.Helper()
	if (c != nil) != (received > 0) || c != nil && (c.Received != received || c.LossPercent != 0) {
		t.Errorf("%s: confirmation %+v, want one of %d", name, c, received)
	}
}
