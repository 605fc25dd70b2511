package probe

import (
	"strings"
	"testing"
	"time"

	"diagnostics/shared/workerapi"
)

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
