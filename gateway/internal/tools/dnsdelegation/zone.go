package dnsdelegation

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// zone is what a run has learnt of one zone. The replies are set once, each by one goroutine, and read when all are
// done; a validator works from them. Of a zone of the store nothing changes any more.
type zone struct {
	cut
	parent   string // empty for the root
	registry bool

	ds, keys, ns *reply // the parent's answer for DS; the zone's own for DNSKEY and NS
	dsErr        error
	keysFrom     []netip.Addr  // those queried for keys that validate
	collected    chan struct{} // closed when DS and keys are there; nil where they were at once
	cds, cdnskey *reply
	random       *reply // for a name that does not exist
	randomName   string
	emptyDenied  []string // names that do not exist by these servers, although names below them do

	servers
}

// cut is a delegation as the parent gives it.
type cut struct {
	name string // of the zone
	// hidden reports whether the parent's servers serve the zone as well, so that they gave its own NS records.
	hidden   bool
	parentNS []string
	glue     map[string][]netip.Addr // of names at or below the parent
	reply    *reply
}

// servers are those of one of the name's own zones, while they are checked.
type servers struct {
	mu        sync.Mutex
	hosts     []*host
	checks    []*check
	outside   int       // names whose addresses are looked up
	pending   int       // hosts and checks that have not ended
	unsettled int       // the same, but for checks whose outcome over UDP is there
	since     time.Time // when the first good server was seen
	changed   chan struct{}
	turn      int
}

// host is a name server by its name.
type host struct {
	name     string
	inParent bool
	inChild  bool
	glue     []netip.Addr
	// own are the addresses that its own zone gives, where known is set.
	own       []netip.Addr
	known     bool
	partial   bool // the lookup of one family failed: own lacks it
	alias     bool
	reason    string // why it has no address
	addresses []netip.Addr
}

// referral is the zone below another that a reply refers to, or empty.
func (p reply) referral(zone string) string {
	if p.Rcode != dns.RcodeSuccess || soaOf(p.Ns) != nil {
		return ""
	}
	for _, rr := range p.Ns {
		owner := dns.CanonicalName(rr.Header().Name)
		if rr.Header().Rrtype == dns.TypeNS && owner != zone && below(owner, zone) {
			return owner
		}
	}
	return ""
}

// readCut reads the delegation on the way to a name out of the answer for its NS records.
func readCut(zone, name string, p reply) (c cut, ok bool) {
	c = cut{name: p.referral(zone), reply: &p, glue: make(map[string][]netip.Addr)}
	if own := nsNames(p.Answer, name); len(own) > 0 {
		c.name, c.parentNS, c.hidden = name, own, true
	} else {
		c.parentNS = nsNames(p.Ns, c.name)
	}
	if c.name == "" || !below(name, c.name) {
		return cut{}, false
	}
	for _, ns := range c.parentNS {
		if found := addressesIn(p.Extra, ns); len(found) > 0 && below(ns, zone) {
			c.glue[ns] = found
		}
	}
	return c, true
}

// endpoints are the addresses of the glue in an order that begins with one of each server, IPv4 first.
func (c cut) endpoints(registry bool, usable func(netip.Addr) bool) []endpoint {
	var first, rest []endpoint
	for _, name := range c.parentNS {
		for i, a := range slices.DeleteFunc(slices.Clone(c.glue[name]), func(a netip.Addr) bool { return !usable(a) }) {
			e := endpoint{name: name, address: a, registry: registry}
			if i == 0 {
				first = append(first, e)
			} else {
				rest = append(rest, e)
			}
		}
	}
	return append(first, rest...)
}

// begin counts work on the servers that may lead to a good one.
func (s *servers) begin() {
	s.set(func() {
		s.pending++
		s.unsettled++
	})
}

// end is called when it is done, with the check that it was, if it was one.
func (s *servers) end(c *check) {
	s.hear(c)
	s.set(func() {
		s.pending--
		if c != nil {
			c.ended = true
		}
	})
}

// hear is called when the outcome of a check over UDP is there, and again at its end.
func (s *servers) hear(c *check) {
	s.set(func() {
		switch {
		case c == nil:
			s.unsettled--
		case !c.settled:
			c.settled = true
			s.unsettled--
		}
	})
}

// ended reports whether no check and no lookup of an address is left.
func (s *servers) ended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pending == 0
}

// set changes the state, and wakes the waiters.
func (s *servers) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// state returns the addresses that answer for the zone, another one first at each call, and reports whether no more can
// come. Where some sign their answers and others do not, it returns those that do, as validating resolvers end there.
// changed is closed at the next change.
func (s *servers) state() (good []endpoint, done bool, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var signed []endpoint
	for _, c := range s.checks {
		if !c.good {
			continue
		}
		good = append(good, c.endpoint)
		if c.signs() {
			signed = append(signed, c.endpoint)
		}
	}
	if len(signed) > 0 {
		good = signed
	}
	if len(good) > 0 {
		if s.since.IsZero() {
			s.since = time.Now()
		}
		s.turn++
		at := s.turn % len(good)
		good = slices.Concat(good[at:], good[:at])
	}
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return good, s.unsettled == 0, s.changed
}

const (
	// settling is how long other servers are waited for after the first good one, so that the queries are spread.
	settling = 80 * time.Millisecond
	// maxGood is how many of the good servers a question is sent to.
	maxGood = 3
)

// good waits until a server of the zone answers for it, and returns addresses that do. There is none where all have
// failed.
func (s *servers) good(ctx context.Context) []endpoint {
	var settled <-chan time.Time
	for {
		good, done, changed := s.state()
		if len(good) > 0 && settled == nil {
			timer := time.NewTimer(settling - s.goodFor())
			defer timer.Stop()
			settled = timer.C
		}
		if !done {
			select {
			case <-changed:
				continue
			case <-settled:
			case <-ctx.Done():
			}
		}
		return good[:min(len(good), maxGood)]
	}
}

// goodFor is how long a good server has been known.
func (s *servers) goodFor() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Since(s.since)
}

// best is the reply of a good server that a field of its check holds, of one that signs its answers where there is one,
// or nil.
func (s *servers) best(field func(*check) *reply) (found *reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.checks {
		p := field(c)
		switch {
		case !c.good || p == nil:
		case c.signs():
			return p
		case found == nil:
			found = p
		}
	}
	return found
}

// signs reports whether the server signs its answers, and its signatures have not expired.
func (c *check) signs() bool {
	return c.soa != nil && slices.ContainsFunc(recordsOf(c.soa.Answer, c.zone, dns.TypeRRSIG), func(rr dns.RR) bool {
		return rr.(*dns.RRSIG).ValidityPeriod(time.Now())
	})
}
