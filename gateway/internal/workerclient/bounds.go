package workerclient

import (
	"diagnostics/gateway/internal/text/bound"
	"diagnostics/shared/workerapi"
)

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
