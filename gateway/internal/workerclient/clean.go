package workerclient

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

	"diagnostics/gateway/internal/text/bound"
	"diagnostics/shared/netpolicy"
	"diagnostics/shared/workerapi"
)

// inside is what of an answer is not shown: private addresses, and those that the network's prefixes translate to one.
type inside []netip.Prefix

// hidePrivate removes addresses and names of private networks. The worker has done so already; this is for one that is
// older, wrong or not ours. A private hop keeps its row, so that the hop count stays right. Raw is left unchanged: it
// is present only where enabled at the worker.
func (i inside) hidePrivate(t *workerapi.Traceroute) {
	for at := range t.Hops {
		i.hideHop(&t.Hops[at])
	}
	for at, line := range t.Explanation {
		t.Explanation[at] = i.hideInText(line)
	}
	if t.MTU != nil && t.MTU.Note != nil {
		t.MTU.Note = new(i.hideInText(*t.MTU.Note))
	}
}

func (i inside) hideHop(h *workerapi.Hop) {
	// Names and networks are the gateway's to add, from its own lookups.
	h.Hostname, h.ASN = nil, nil
	if h.Note != nil {
		h.Note = new(i.hideInText(*h.Note))
	}
	if h.Hidden || h.Address != nil && !i.public(*h.Address) {
		h.Hidden, h.Address, h.Addresses = true, nil, []string{}
		return
	}
	shown := slices.DeleteFunc(slices.Clone(h.Addresses), func(a string) bool { return !i.public(a) })
	// A hop whose only known addresses are private is a private hop, even where the first probe was lost.
	h.Hidden = h.Address == nil && len(h.Addresses) > 0 && len(shown) == 0
	h.Addresses = shown
}

func (i inside) public(address string) bool {
	a, err := netip.ParseAddr(address)
	return err == nil && a.Zone() == "" && netpolicy.JudgeTranslated(a, i).Public
}

// addressLike finds what may be an address within a sentence: IPv6 (perhaps with a dotted end) or IPv4.
var addressLike = regexp.MustCompile(
	`[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,8}(?:\.\d{1,3}){0,3}|\d{1,3}(?:\.\d{1,3}){3}`)

func (i inside) hideInText(s string) string {
	return addressLike.ReplaceAllStringFunc(s, func(found string) string {
		// The colon may be the sentence's own: "fe80::1: no answer".
		for _, candidate := range []string{found, strings.TrimSuffix(found, ":"), strings.TrimPrefix(found, ":")} {
			if _, err := netip.ParseAddr(candidate); err == nil && !i.public(candidate) {
				return strings.Replace(found, candidate, "a hidden address", 1)
			}
		}
		return found
	})
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
