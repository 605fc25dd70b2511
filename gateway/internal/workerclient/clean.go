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
	// Names and networks are the gateway's to add, from its own lookups.
	h.Hostname, h.ASN = nil, nil
	i.HideHop(h)
}

// The shares of an answer, in bytes of JSON. The worker's own answer is at most a megabyte, of which escapes make a
// multiple; a worker that is ours sends some kilobytes.
const (
	maxRaw         = 256 << 10
	maxExplanation = 64 << 10
	maxAddresses   = 1 << 10 // of one hop: a worker has three probes for it
	maxTimes       = 1 << 10
)

// boundTrace cuts what is too long for an answer. Whether it was is the gateway's to say.
func boundTrace(t *workerapi.Traceroute) {
	t.Truncated = false
	t.Raw = bound.Pointer(t.Raw, maxRaw, &t.Truncated)
	t.Explanation = bound.List(t.Explanation, maxExplanation, &t.Truncated)
	for i := range t.Hops {
		boundHop(&t.Hops[i], &t.Truncated)
	}
}

func boundHop(h *workerapi.Hop, truncated *bool) {
	h.Truncated = false
	h.Addresses = bound.List(h.Addresses, maxAddresses, &h.Truncated, truncated)
	h.RTTsMs = bound.List(h.RTTsMs, maxTimes, &h.Truncated, truncated)
}

func boundPing(p *workerapi.Ping) {
	p.Truncated = false
	p.Raw = bound.Pointer(p.Raw, maxRaw, &p.Truncated)
}

// setStarted sets the start of a measurement in UTC. An older worker sends none: then it is when the job was sent.
func setStarted(m *workerapi.Measurement, asked time.Time) {
	if m.MeasuredAt.IsZero() {
		m.MeasuredAt = asked.Truncate(time.Millisecond)
	}
	m.MeasuredAt = m.MeasuredAt.UTC()
}
