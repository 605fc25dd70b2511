package workerclient

import (
	"time"

	"diagnostics/gateway/internal/remote"
	"diagnostics/gateway/internal/text/bound"
	"diagnostics/shared/workerapi"
)

// inside is what of an answer is not shown: private addresses, and those that the network's prefixes translate to one.
type inside struct{ remote.Inside }

// hidePrivate removes addresses and names of private networks. The worker has done so already; this is for one that is
// older, wrong or not ours. A private hop keeps its row, so that the hop count stays right. Raw is left unchanged: it
// is present only where enabled at the worker.
func (i inside) hidePrivate(t *workerapi.Traceroute) {
	for at := range t.Hops {
		i.hideHop(&t.Hops[at])
	}
	for at, line := range t.Explanation {
		t.Explanation[at] = i.HideInText(line)
	}
	if t.MTU != nil && t.MTU.Note != nil {
		t.MTU.Note = new(i.HideInText(*t.MTU.Note))
	}
}

func (i inside) hideHop(h *workerapi.Hop) {
	// Names and networks are the gateway's to add, from its own lookups; and it says whether something was cut.
	h.Hostname, h.ASN, h.Truncated = nil, nil, false
	i.HideHop(h)
}

// The worker's own answer is at most a megabyte, of which escapes make a multiple; a worker that is ours sends some
// kilobytes.
var (
	traceLimits = bound.LimitsOf[workerapi.Traceroute]()
	hopLimits   = bound.LimitsOf[workerapi.Hop]()
	pingLimits  = bound.LimitsOf[workerapi.Ping]()
)

func boundPing(p *workerapi.Ping) {
	p.Truncated = false
	pingLimits.Enforce(p)
}

// setStarted sets the start of a measurement in UTC. An older worker sends none: then it is when the job was sent.
func setStarted(m *workerapi.Measurement, asked time.Time) {
	if m.MeasuredAt.IsZero() {
		m.MeasuredAt = asked.Truncate(time.Millisecond)
	}
	m.MeasuredAt = m.MeasuredAt.UTC()
}
