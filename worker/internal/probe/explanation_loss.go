package probe

import (
	"fmt"

	"diagnostics/worker/internal/echo"
)

// loss speaks of the destination alone: what a router leaves unanswered is not lost traffic.
func (s explanation) loss() string {
	last := len(s.hops) - 1
	if s.trace.replied == 0 || s.hops[last].Received == s.hops[last].Sent {
		return ""
	}
	if s.rechecked() {
		return fmt.Sprintf("The destination answered %s, and one more after a second's pause: it may limit how often it "+
			"answers. Measure it with more probes before you call it loss.", s.some(last))
	}
	first, before := s.lossFrom(last)
	switch {
	case first < last:
		return fmt.Sprintf("Loss begins at hop %d and continues to the destination: packets may be lost from there on. "+
			"Measure the destination with more probes to be sure.", s.hops[first].TTL)
	case before == last-1:
		return fmt.Sprintf("Loss begins at the destination itself: it answered %s, the hop before it all of them. Measure "+
			"it with more probes before you call it loss.", s.some(last))
	default:
		return fmt.Sprintf("The destination answered %s. Where the others were lost is unknown, because the hops right "+
			"before it did not answer. Measure it with more probes before you call it loss.", s.some(last))
	}
}

// lossFrom is the first of the hops that left out some probes, as all behind it did that answered at all, and the last
// hop before it that answered; -1 for none. Hops that keep silent tell nothing.
func (s explanation) lossFrom(last int) (first, before int) {
	first, before = last, -1
	for i := last - 1; i >= 0; i-- {
		switch h := s.hops[i]; h.Received {
		case 0:
		case h.Sent:
			return first, i
		default:
			first = i
		}
	}
	return first, before
}

// rechecked reports whether the destination answered when it was asked again.
func (s explanation) rechecked() bool {
	r := s.trace.lastRecheck()
	return r != nil && r.answered && r.kind == echo.Reply
}
