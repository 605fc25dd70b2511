package probe

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/exchange"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// lossOver runs one packet-loss job over a network in a bubble, and pingOver a ping.
func lossOver(t *testing.T, n *simNet, o Options) (r workerapi.PacketLoss, took time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var err error
		r, err = New(n, o).PacketLoss(t.Context(), simTarget)
		took = time.Since(start)
		if err != nil {
			t.Fatal(err)
		}
		if n.opened != n.closed {
			t.Errorf("%d flows opened, %d closed", n.opened, n.closed)
		}
		time.Sleep(10 * time.Second)
	})
	return r, took
}

func pingOver(t *testing.T, n *simNet, o Options) (r workerapi.Ping, took time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var err error
		r, err = New(n, o).Ping(t.Context(), simTarget)
		took = time.Since(start)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
	})
	return r, took
}

// rttsOf makes the round trips of successive probes, in milliseconds.
func rttsOf(ms ...int) []time.Duration {
	var all []time.Duration
	for _, m := range ms {
		all = append(all, time.Duration(m)*time.Millisecond)
	}
	return all
}

func TestPingStatistics(t *testing.T) {
	t.Parallel()
	n := chain(3)
	n.dest.rtts = rttsOf(10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
	r, took := pingOver(t, n, Options{})
	got := []float64{*r.MinMs, *r.AverageMs, *r.MedianMs, *r.MaxMs, *r.StddevMs, *r.JitterMs}
	if diff := cmp.Diff([]float64{10, 55, 55, 100, 28.723, 10}, got); diff != "" {
		t.Errorf("min, average, median, max, stddev, jitter (-want +got):\n%s", diff)
	}
	if r.Sent != 10 || r.Received != 10 || r.LossPercent != 0 || r.Duplicates != 0 || r.StopReason != "completed" {
		t.Errorf("%+v", r)
	}
	if r.Replies[0].Seq != 1 || r.Replies[9].Seq != 10 || *r.Replies[0].TTL != simTTL-3 || *r.Replies[4].RTTMs != 50 {
		t.Errorf("replies %+v", r.Replies)
	}
	// Nine gaps, the round trip of the last probe, and the wait for its duplicates.
	if want := 9*workerapi.PingGap + 100*time.Millisecond + linger; took != want {
		t.Errorf("took %v, want %v", took, want)
	}
	for i, p := range n.log {
		if want := time.Duration(i) * workerapi.PingGap; p.at.Sub(n.log[0].at) != want || p.ttl != pingTTL {
			t.Errorf("probe %d left at %v with TTL %d", i, p.at.Sub(n.log[0].at), p.ttl)
		}
	}
}

func TestPingOfOneReplyHasNoJitter(t *testing.T) {
	t.Parallel()
	n := chain(0)
	n.dest.drops = firstDropped(0, 8)
	r, _ := pingOver(t, n, Options{})
	if r.Received != 1 || r.JitterMs != nil || *r.StddevMs != 0 || *r.MedianMs != *r.MinMs || r.LossPercent != 90 {
		t.Errorf("%+v", r)
	}
}

func TestPingOfSilence(t *testing.T) {
	t.Parallel()
	n := chain(0)
	n.dest.kind = 0
	r, took := pingOver(t, n, Options{})
	if r.Received != 0 || r.LossPercent != 100 || r.StopReason != "completed" || r.MinMs != nil || r.JitterMs != nil ||
		len(r.Replies) != 10 {
		t.Errorf("%+v", r)
	}
	if want := 9*workerapi.PingGap + workerapi.LateAfter + grace; took != want {
		t.Errorf("took %v, want %v", took, want)
	}
}

func TestPingRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind exchange.Kind
		stop string
	}{
		{exchange.HostUnreachable, "unreachable"}, {exchange.NetUnreachable, "unreachable"}, {exchange.PortUnreachable, "unreachable"},
		{exchange.ProtocolUnreachable, "unreachable"}, {exchange.Prohibited, "prohibited"},
	} {
		n := chain(2)
		n.routers[1].refuses = tt.kind
		r, took := pingOver(t, n, Options{})
		if r.StopReason != tt.stop || r.Sent != refusalsEnd || r.Received != 0 || r.LossPercent != 100 ||
			len(r.Replies) != refusalsEnd {
			t.Errorf("kind %v: %+v", tt.kind, r)
		}
		if took > 3*workerapi.PingGap {
			t.Errorf("kind %v: took %v", tt.kind, took)
		}
	}
}

// A host that is refused for a moment only is measured to the end.
func TestPingRefusedForAMoment(t *testing.T) {
	t.Parallel()
	s := newSeries(time.Unix(0, 0), seriesShape{probes: 10, gap: time.Second, limit: time.Minute})
	for i := range 10 {
		now := time.Unix(int64(i), 0)
		step := s.next(now)
		if step.send == nil {
			t.Fatalf("probe %d is not sent", i+1)
		}
		s.sent(*step.send, now)
		kind := exchange.HostUnreachable
		if i == 2 || i > 7 {
			kind = exchange.Reply
		}
		s.answered(exchange.Answer{Seq: step.send.seq, Kind: kind, At: now.Add(time.Millisecond)})
	}
	if s.replies != 3 || s.refusals != 7 || s.stopReason() != "completed" {
		t.Errorf("%d replies, %d refusals, %s", s.replies, s.refusals, s.stopReason())
	}
}

func TestPingDuplicates(t *testing.T) {
	t.Parallel()
	n := chain(0)
	n.dest.copies = 2
	r, _ := pingOver(t, n, Options{})
	if r.Received != 10 || r.Duplicates != 20 || r.LossPercent != 0 {
		t.Errorf("%d received, %d duplicates", r.Received, r.Duplicates)
	}
}

func TestPingIgnoresForeignAnswers(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	s := newSeries(now, seriesShape{probes: 2, gap: time.Second, limit: time.Minute})
	s.sent(request{seq: 1}, now)
	for _, a := range []exchange.Answer{
		{Seq: 0, Kind: exchange.Reply, At: now}, {Seq: 2, Kind: exchange.Reply, At: now}, {Seq: 65535, Kind: exchange.Reply, At: now},
		{Seq: 1, Kind: exchange.TimeExceeded, At: now}, {Seq: 1, Kind: exchange.TooBig, At: now},
	} {
		s.answered(a)
	}
	if s.replies != 0 || s.duplicates != 0 || s.refusals != 0 {
		t.Errorf("%d replies, %d duplicates, %d refusals", s.replies, s.duplicates, s.refusals)
	}
}

func TestPingRaw(t *testing.T) {
	t.Parallel()
	n := chain(0)
	n.dest.drops = map[int]bool{1: true}
	if r, _ := pingOver(t, n, Options{}); r.Raw != nil {
		t.Errorf("raw text without leave: %q", *r.Raw)
	}
	n = chain(0)
	n.dest.drops = map[int]bool{1: true}
	r, _ := pingOver(t, n, Options{Raw: true})
	for _, line := range []string{
		"PING 11.9.9.9\n", "icmp_seq=1 ttl=64 time=1.000 ms\n", "icmp_seq=2 no reply\n",
		"10 packets transmitted, 9 received, +0 duplicates, 10% packet loss\n", "= 1.000/1.000/1.000/0.000 ms\n",
	} {
		if !strings.Contains(*r.Raw, line) {
			t.Errorf("raw text lacks %q:\n%s", line, *r.Raw)
		}
	}
}

func TestASeriesIsPacedAndEndsByItsDeadline(t *testing.T) {
	t.Parallel()
	n := chain(0)
	r, took := lossOver(t, n, Options{Budget: NewBudget(0, 1)})
	if r.StopReason != workerapi.StopDeadline || took != workerapi.PacketLossLimit {
		t.Errorf("%s after %v", r.StopReason, took)
	}
	if r.Sent != 15 || r.Received != 15 || r.Confirmation != nil || r.Bursts == nil || len(r.Bursts) != 0 {
		t.Errorf("%d sent, %d received, confirmed by %v, bursts %v", r.Sent, r.Received, r.Confirmation, r.Bursts)
	}
}

func TestPacketLoss(t *testing.T) {
	t.Parallel()
	n := chain(1)
	n.dest.drops = map[int]bool{0: true, 9: true, 10: true, 11: true, 49: true}
	r, took := lossOver(t, n, Options{})
	want := []workerapi.Burst{{StartSeq: 1, Length: 1}, {StartSeq: 10, Length: 3}, {StartSeq: 50, Length: 1}}
	if diff := cmp.Diff(want, r.Bursts); diff != "" {
		t.Errorf("bursts (-want +got):\n%s", diff)
	}
	if r.Sent != 50 || r.Received != 45 || r.LossPercent != 10 || r.StopReason != "completed" {
		t.Errorf("%+v", r.Ping)
	}
	if limit := 49*workerapi.LossGap + workerapi.LateAfter + grace; took > limit {
		t.Errorf("took %v", took)
	}
}

// A damaged reply is neither received nor lost, and it ends no wait for a whole one.
func TestDamagedReplies(t *testing.T) {
	t.Parallel()
	all := func(from, to int) map[int]bool {
		m := map[int]bool{}
		for i := from; i < to; i++ {
			m[i] = true
		}
		return m
	}
	for _, tt := range []struct {
		name              string
		damages, drops    map[int]bool
		received, damaged int
		loss              float64
		bursts            []workerapi.Burst
	}{
		{"none", nil, nil, 50, 0, 0, []workerapi.Burst{}},
		{"all", all(0, 50), nil, 0, 50, 0, []workerapi.Burst{}},
		{"one", all(7, 8), nil, 49, 1, 0, []workerapi.Burst{}},
		{"within a run of lost ones", all(11, 12), all(10, 15), 45, 0, 10, []workerapi.Burst{{StartSeq: 11, Length: 5}}},
		{"between lost ones", all(12, 13), map[int]bool{11: true, 13: true}, 47, 1, 4.08,
			[]workerapi.Burst{{StartSeq: 12, Length: 1}, {StartSeq: 14, Length: 1}}},
		{"the half, the others lost", all(0, 25), all(25, 50), 0, 25, 100, []workerapi.Burst{{StartSeq: 26, Length: 25}}},
	} {
		n := chain(2)
		n.dest.damages, n.dest.drops = tt.damages, tt.drops
		r, took := lossOver(t, n, Options{Raw: true})
		if r.Sent != 50 || r.Received != tt.received || r.Damaged != tt.damaged || r.LossPercent != tt.loss ||
			r.Duplicates != 0 || r.StopReason != workerapi.StopCompleted || r.Confirmation != nil {
			t.Errorf("%s: %+v", tt.name, r.Ping)
		}
		if diff := cmp.Diff(tt.bursts, r.Bursts); diff != "" {
			t.Errorf("%s: bursts (-want +got):\n%s", tt.name, diff)
		}
		for i, reply := range r.Replies {
			if want := tt.damages[i] && !tt.drops[i]; reply.Damaged != want || want && (reply.RTTMs != nil || reply.Undecided) {
				t.Errorf("%s: %+v", tt.name, reply)
			}
		}
		if n := strings.Count(*r.Raw, "damaged reply"); n != tt.damaged {
			t.Errorf("%s: %d damaged replies in the raw text", tt.name, n)
		}
		if err := r.Validate(simTarget); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if missing := tt.received < 50; missing != (took >= workerapi.LateAfter+49*workerapi.LossGap) {
			t.Errorf("%s: took %v", tt.name, took)
		}
	}
	n := chain(0)
	n.dest.damages = all(0, 10)
	p, _ := pingOver(t, n, Options{})
	if p.Sent != 10 || p.Received != 0 || p.Damaged != 10 || p.LossPercent != 0 {
		t.Errorf("ping: %+v", p)
	}
}

// A whole reply counts whatever damaged ones came before it or after it.
func TestAWholeReplyBesideDamagedOnes(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	s := newSeries(now, pingShape)
	for i := range uint16(3) {
		s.sent(request{seq: i + 1}, now)
	}
	answer := func(seq uint16, damaged bool) {
		s.answered(exchange.Answer{Seq: seq, Kind: exchange.Reply, Damaged: damaged, At: now.Add(time.Millisecond)})
	}
	answer(1, true)
	answer(1, true)
	answer(1, false)
	answer(2, false)
	answer(2, true)
	answer(3, true)
	s.end = now.Add(time.Second)
	r := s.result(simTarget, now, false)
	if r.Received != 2 || r.Damaged != 1 || r.Duplicates != 0 || !r.Replies[2].Damaged || r.Replies[0].Damaged {
		t.Errorf("%+v", r)
	}
}

func TestPacketLossOfSilence(t *testing.T) {
	t.Parallel()
	n := chain(0)
	n.dest.kind = 0
	r, took := lossOver(t, n, Options{})
	if diff := cmp.Diff([]workerapi.Burst{{StartSeq: 1, Length: 50}}, r.Bursts); diff != "" {
		t.Error(diff)
	}
	if took >= workerapi.PacketLossLimit || r.StopReason != "completed" {
		t.Errorf("%s after %v", r.StopReason, took)
	}
}

// TestPacketLossOfAnyNetwork draws losses, copies and delays, so large that replies overtake each other and come late
// or not before the end, and holds every number of the result against them.
func TestPacketLossOfAnyNetwork(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		n := chain(rapid.IntRange(0, 3).Draw(rt, "routers"))
		lost := rapid.SliceOfN(rapid.Bool(), workerapi.LossProbes, workerapi.LossProbes).Draw(rt, "lost")
		rtts := rapid.SliceOfN(rapid.IntRange(0, 4500), workerapi.LossProbes, workerapi.LossProbes).Draw(rt, "rtts")
		n.dest.copies = rapid.IntRange(0, 2).Draw(rt, "copies")
		n.dest.drops = map[int]bool{}
		for i := range lost {
			n.dest.drops[i] = lost[i]
			// No reply comes in the very moment of the end.
			n.dest.rtts = append(n.dest.rtts, time.Duration(rtts[i])*time.Millisecond+500*time.Microsecond)
		}
		var r workerapi.PacketLoss
		var took time.Duration
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			r, _ = New(n, Options{}).PacketLoss(t.Context(), simTarget)
			took = time.Since(start)
			time.Sleep(10 * time.Second)
		})
		want := expected(n.dest.rtts, lost, took)
		if diff := cmp.Diff(want.replies, r.Replies, cmp.Transformer("told", tellsReply)); diff != "" {
			rt.Errorf("replies (-want +got):\n%s", diff)
		}
		if r.Sent != workerapi.LossProbes || r.Received != want.received || r.Late != want.late ||
			r.Undecided != want.undecided || r.Duplicates != want.received*n.dest.copies ||
			r.LossPercent != lossPercent(r.Sent-want.undecided, want.received) {
			rt.Errorf("got %d of %d, %d late, %d undecided, %d duplicates, %v %% lost; want %+v", r.Received, r.Sent, r.Late,
				r.Undecided, r.Duplicates, r.LossPercent, want)
		}
		length := 0
		for _, b := range r.Bursts {
			length += b.Length
		}
		if length != r.Sent-r.Received-r.Undecided ||
			!slices.IsSortedFunc(r.Bursts, func(a, b workerapi.Burst) int { return a.StartSeq - b.StartSeq }) {
			rt.Errorf("bursts %v for %d lost", r.Bursts, r.Sent-r.Received-r.Undecided)
		}
		if err := r.Validate(simTarget); err != nil {
			rt.Error(err)
		}
	})
}

// expectation is the required result of a packet-loss run of this length.
type expectation struct {
	received, late, undecided int
	replies                   []workerapi.Reply
}

func expected(rtts []time.Duration, lost []bool, took time.Duration) (e expectation) {
	came := func(i int) bool { return !lost[i] && time.Duration(i)*workerapi.LossGap+rtts[i] <= took }
	slowest := time.Duration(0)
	for i := range rtts {
		if came(i) {
			slowest = max(slowest, rtts[i])
		}
	}
	for i := range rtts {
		reply := workerapi.Reply{Seq: i + 1}
		switch age := took - time.Duration(i)*workerapi.LossGap; {
		case came(i):
			e.received++
			reply.RTTMs, reply.Late = milliseconds(rtts[i]), rtts[i] > workerapi.LateAfter
			if reply.Late {
				e.late++
			}
		case age < slowest+slowest/8:
			e.undecided++
			reply.Undecided = true
		}
		e.replies = append(e.replies, reply)
	}
	return e
}

// tellsReply is a reply but for its TTL.
func tellsReply(r workerapi.Reply) string {
	rtt := "-"
	if r.RTTMs != nil {
		rtt = fmt.Sprint(*r.RTTMs)
	}
	return fmt.Sprintf("%d: %s late %t undecided %t", r.Seq, rtt, r.Late, r.Undecided)
}

// An answer that came in time and was read late, because the machine was busy, is an answer.
func TestPingListensOnceMoreBeforeItBelievesSilence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := &lateNet{read: 9*workerapi.PingGap + workerapi.LateAfter + grace/2}
		r, err := New(n, Options{}).Ping(t.Context(), simTarget)
		if err != nil || r.Received != 1 || *r.Replies[9].RTTMs != 3 {
			t.Errorf("%v, %+v", err, r)
		}
	})
}

// lateNet answers only the tenth probe, after three milliseconds, but the answer is read so long after the first.
type lateNet struct {
	read    time.Duration
	first   time.Time
	deliver func(exchange.Answer)
}

func (n *lateNet) Open(_ netip.Addr, deliver func(exchange.Answer)) (exchange.Flow, error) {
	n.deliver = deliver
	return n, nil
}

func (n *lateNet) Send(seq uint16, _ int) (time.Time, error) {
	now := time.Now()
	switch seq {
	case 1:
		n.first = now
	case 10:
		a := exchange.Answer{Seq: seq, Kind: exchange.Reply, From: simTarget, At: now.Add(3 * time.Millisecond)}
		time.AfterFunc(n.read-now.Sub(n.first), func() { n.deliver(a) })
	}
	return now, nil
}

func (n *lateNet) Follow(netip.Addr) exchange.RouteWatch { return simRouteWatch{&simNet{}} }

func (n *lateNet) Close() {}

// slow makes a destination whose replies all take so long.
func slow(rtt time.Duration) *simNet {
	n := chain(0)
	n.dest.rtt = rtt
	return n
}

// A reply after more than two seconds is late and received, as ping(8) and mtr(8) count it, and not lost.
func TestPingLateReplies(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rtt  time.Duration
		late int
	}{
		{2 * time.Second, 0},
		{2*time.Second + time.Microsecond, 1},
		{3 * time.Second, 1},
	} {
		n := chain(0)
		n.dest.rtts = append([]time.Duration{tt.rtt}, rttsOf(1, 1, 1, 1, 1, 1, 1, 1, 1)...)
		r, took := pingOver(t, n, Options{})
		if r.Received != 10 || r.LossPercent != 0 || r.Late != tt.late || r.Replies[0].Late != (tt.late == 1) ||
			r.Replies[1].Late || r.Undecided != 0 || r.Duplicates != 0 || *r.MaxMs != *milliseconds(tt.rtt) {
			t.Errorf("a reply after %v: %+v", tt.rtt, r)
		}
		// Nothing is missing any more.
		if want := tt.rtt + linger; took != want {
			t.Errorf("a reply after %v: took %v, want %v", tt.rtt, took, want)
		}
	}
}

// A host that takes 2.4 s for each answer was called 100 % lost. The probes that left last had no chance to be
// answered: they are neither lost nor received.
func TestPingOfASlowHost(t *testing.T) {
	t.Parallel()
	r, took := pingOver(t, slow(2400*time.Millisecond), Options{Raw: true})
	if r.Sent != 10 || r.Received != 8 || r.Late != 8 || r.Undecided != 2 || r.LossPercent != 0 ||
		r.StopReason != workerapi.StopCompleted || r.Confirmation != nil || *r.MedianMs != 2400 {
		t.Errorf("%+v", r)
	}
	for i, reply := range r.Replies {
		if reply.Late != (i < 8) || reply.Undecided != (i >= 8) {
			t.Errorf("reply %+v", reply)
		}
	}
	if took > 9*workerapi.PingGap+workerapi.LateAfter+2*grace {
		t.Errorf("took %v", took)
	}
	for _, line := range []string{"icmp_seq=8 ttl=64 time=2400.000 ms\n", "icmp_seq=9 no reply yet\n",
		"10 packets transmitted, 8 received, +0 duplicates, 0% packet loss\n"} {
		if !strings.Contains(*r.Raw, line) {
			t.Errorf("raw text lacks %q:\n%s", line, *r.Raw)
		}
	}
	loss, _ := lossOver(t, slow(2400*time.Millisecond), Options{})
	if loss.Received != 46 || loss.Late != 46 || loss.Undecided != 4 || loss.LossPercent != 0 || len(loss.Bursts) != 0 {
		t.Errorf("%+v", loss)
	}
}

// What is missing among the probes that are old enough is lost, and its share is that of the decided ones.
func TestLossOfASlowHost(t *testing.T) {
	t.Parallel()
	n := slow(2400 * time.Millisecond)
	n.dest.drops = map[int]bool{1: true, 2: true, 9: true}
	r, _ := pingOver(t, n, Options{})
	if r.Received != 6 || r.Late != 6 || r.Undecided != 2 || r.LossPercent != 25 || r.Confirmation != nil {
		t.Errorf("%+v", r)
	}
	l := slow(2400 * time.Millisecond)
	// The last three of these are younger at the end than 2.7 s, as are the four that had no chance.
	l.dest.drops = map[int]bool{1: true, 2: true, 43: true, 44: true, 45: true}
	loss, _ := lossOver(t, l, Options{})
	if want := (workerapi.Burst{StartSeq: 2, Length: 2}); len(loss.Bursts) != 1 || loss.Bursts[0] != want ||
		loss.Received != 41 || loss.Undecided != 7 || loss.LossPercent != 4.65 {
		t.Errorf("%d received, %d undecided, %v %% lost in %v", loss.Received, loss.Undecided, loss.LossPercent, loss.Bursts)
	}
}

// One that takes as long as the whole of the listening is undecided but for its first probe, and one beyond it silent.
func TestUndecidedAtTheBounds(t *testing.T) {
	t.Parallel()
	whole := 9*workerapi.PingGap + workerapi.LateAfter
	for _, tt := range []struct {
		rtt                 time.Duration
		received, undecided int
		loss                float64
	}{
		{whole - time.Millisecond, 1, 9, 0},
		{whole + maxGrace, 0, 0, 100},
	} {
		r, _ := pingOver(t, slow(tt.rtt), Options{})
		if r.Received != tt.received || r.Undecided != tt.undecided || r.LossPercent != tt.loss {
			t.Errorf("%v: %d received, %d undecided, %v %%", tt.rtt, r.Received, r.Undecided, r.LossPercent)
		}
	}
}
