package dnsdelegation

import (
	"context"
	"errors"
	"math"
	"net/netip"

	"diagnostics/shared/parallel"
	"diagnostics/shared/progress"

	"github.com/miekg/dns"
)

// descent is the way from the root to a name.
type descent struct {
	zones []*zone // the root first; the last one contains the name
	// denied is the answer of the last zone, a registry's, that the name has no delegation.
	denied *reply
	// err is why the servers of the last zone could not be queried.
	err error
}

func (d descent) last() *zone { return d.zones[len(d.zones)-1] }

// descend walks from the root along each zone cut to the zone that contains a name.
func (r *run) descend(ctx context.Context, name string) descent {
	root, err := r.root(ctx)
	d := descent{zones: []*zone{root}, err: err}
	for d.err == nil {
		z := d.last()
		if z.name == name {
			return d
		}
		next, denied, err := r.step(ctx, z, name, r.enter)
		switch {
		case err != nil:
			d.err = err
			return d
		case next == nil:
			if z.registry {
				d.denied = denied
			}
			return d
		}
		d.zones = append(d.zones, next)
	}
	return d
}

// step goes one zone further; next is nil where the zone contains the name. enter makes the zone of a cut.
func (r *run) step(ctx context.Context, z *zone, name string, enter func(context.Context, *zone, cut) *zone) (
	next *zone, denied *reply, err error,
) {
	if child := childOf(z.name, name); isRegistry(child) {
		if kept := r.keptZone(ctx, child); kept != nil {
			return kept, nil, nil
		}
	}
	c, denied, err := r.below(ctx, z, name)
	if err != nil || c.name == "" {
		return nil, denied, err
	}
	return enter(ctx, z, c), nil, nil
}

// below finds the next zone cut on the way from a zone to a name, label by label: a server may serve a zone and one
// below the next. The zero cut means that there is none; denied is then the last answer.
func (r *run) below(ctx context.Context, z *zone, name string) (c cut, denied *reply, err error) {
	at, long := childOf(z.name, name), false
	for tried := 1; ; tried++ {
		got, err := r.query(ctx, z, question{name: at, qtype: dns.TypeNS, long: long})
		if err != nil {
			return cut{}, nil, err
		}
		long = got.long
		if c, ok := r.cutBelow(ctx, z, at, got); ok {
			return c, nil, nil
		}
		gone := got.Rcode == dns.RcodeNameError
		switch {
		case at == name || gone && z.registry:
			return cut{}, &got, nil
		case gone || tried == maxLabels:
			// By RFC 8020 nothing is below a name that does not exist; some servers deny empty non-terminals.
			if gone {
				z.emptyDenied = append(z.emptyDenied, at)
			}
			at = name
		default:
			at = childOf(at, name)
		}
	}
}

// cutBelow reads the cut out of an answer. Where the servers of a zone serve one below it too, the SOA record of a
// denial names that.
func (r *run) cutBelow(ctx context.Context, z *zone, at string, got reply) (cut, bool) {
	if c, ok := readCut(z.name, at, got); ok {
		return c, true
	}
	soa := soaOf(got.Ns)
	if soa == nil {
		return cut{}, false
	}
	apex := dns.CanonicalName(soa.Hdr.Name)
	if apex == z.name || apex == at || !below(apex, z.name) || !below(at, apex) {
		return cut{}, false
	}
	own, err := r.query(ctx, z, question{name: apex, qtype: dns.TypeNS})
	if err != nil {
		return cut{}, false
	}
	return readCut(z.name, apex, own)
}

// query sends a question to the servers of a zone, once in a run: callers share the reply.
func (r *run) query(ctx context.Context, z *zone, q question) (reply, error) {
	key := memo{z.name, q}
	key.long = false
	return r.once(ctx, key, func(ctx context.Context) (reply, error) {
		if z.registry {
			return r.ask(ctx, z.name, r.registryEndpoints(ctx, z.cut), q)
		}
		return r.ask(ctx, z.name, z.good(ctx), q)
	})
}

// maxRegistry is how many servers of the root and of a top-level zone are queried.
const maxRegistry = 2

func (r *run) registryEndpoints(ctx context.Context, c cut) []endpoint {
	found := r.lightEndpoints(ctx, c, true, nil)
	return found[:min(len(found), maxRegistry)]
}

// enter begins to learn about a zone whose delegation was found.
func (r *run) enter(ctx context.Context, parent *zone, c cut) *zone {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known := r.zones[c.name]; known != nil {
		return known
	}
	z := &zone{cut: c, parent: parent.name, registry: isRegistry(c.name) && parent.registry,
		collected: make(chan struct{})}
	r.zones[c.name] = z
	if z.registry {
		r.group.Go(func() { r.learn(ctx, parent, z) })
		return z
	}
	z.begin()
	progress.Report(ctx, "zone", trimmed(z.name), z.announce())
	r.group.Go(func() { r.checkZone(ctx, z) })
	r.group.Go(func() { r.collect(ctx, parent, z) })
	return z
}

// lightly is enter for lookups: the servers of a zone that no registry runs are not checked.
func (r *run) lightly(ctx context.Context, parent *zone, c cut) *zone {
	if isRegistry(c.name) {
		return r.enter(ctx, parent, c)
	}
	return &zone{cut: c}
}

// collect queries what a validator needs of a zone of the name's own: its DS, its keys, and, where it is signed, what
// it announces of a rollover (RFC 7344).
func (r *run) collect(ctx context.Context, parent, z *zone) {
	var asking parallel.Group
	asking.Go(func() {
		z.ds, z.dsErr = r.pointer(r.query(ctx, parent, question{name: z.name, qtype: dns.TypeDS}))
	})
	asking.Go(func() { z.keys, _ = r.pointer(r.query(ctx, z, question{name: z.name, qtype: dns.TypeDNSKEY})) })
	asking.Wait()
	close(z.collected)
	if !z.keys.has(z.name, dns.TypeDNSKEY) || !r.isDecided(ctx, z) {
		return
	}
	z.cds, _ = r.pointer(r.query(ctx, z, question{name: z.name, qtype: dns.TypeCDS}))
	if z.cds.has(z.name, dns.TypeCDS) { // zones have both records or neither (RFC 7344 section 4)
		z.cdnskey, _ = r.pointer(r.query(ctx, z, question{name: z.name, qtype: dns.TypeCDNSKEY}))
	}
}

// has reports whether a reply has records of a type that a name owns. The nil reply has none.
func (p *reply) has(name string, qtype uint16) bool {
	return p != nil && len(recordsOf(p.Answer, name, qtype)) > 0
}

// root is the root zone.
func (r *run) root(ctx context.Context) (*zone, error) {
	if kept := r.keptZone(ctx, "."); kept != nil {
		return kept, nil
	}
	c := cut{name: ".", glue: make(map[string][]netip.Addr)}
	for _, s := range r.Hints.Servers {
		c.parentNS = append(c.parentNS, s.Name)
		c.glue[s.Name] = s.Addresses
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if known := r.zones["."]; known != nil {
		return known, nil
	}
	z := &zone{cut: c, registry: true, collected: make(chan struct{})}
	r.zones["."] = z
	r.group.Go(func() { r.learn(ctx, nil, z) })
	return z, nil
}

// keptZone is a zone of this run, or one of the store.
func (r *run) keptZone(ctx context.Context, name string) *zone {
	r.mu.Lock()
	known := r.zones[name]
	if known != nil {
		r.mu.Unlock()
		return known
	}
	kept := r.Shared.get(name)
	if kept != nil {
		r.zones[name], r.fromStore[name] = kept, true
	}
	r.mu.Unlock()
	if kept != nil {
		progress.Report(ctx, "zone", trimmed(name), kept.describe(r, nil, false))
	}
	return kept
}

// learn collects what all runs share of the root or a top-level zone, and keeps it if nothing failed.
func (r *run) learn(ctx context.Context, parent, z *zone) {
	var asking parallel.Group
	asking.Go(func() { z.ns, _ = r.pointer(r.query(ctx, z, question{name: z.name, qtype: dns.TypeNS})) })
	asking.Go(func() { z.keys, _ = r.pointer(r.query(ctx, z, question{name: z.name, qtype: dns.TypeDNSKEY})) })
	if parent != nil {
		asking.Go(func() {
			z.ds, z.dsErr = r.pointer(r.query(ctx, parent, question{name: z.name, qtype: dns.TypeDS}))
		})
	}
	asking.Wait()
	close(z.collected)
	complete := z.ns != nil && z.keys != nil && (z.ds != nil || parent == nil)
	progress.Report(ctx, "zone", trimmed(z.name), z.describe(r, nil, false))
	if ttl := leastTTL(z.ns, z.keys, z.ds); complete && ttl > 0 {
		r.Shared.put(z, ttl)
	}
}

// leastTTL is the least TTL of the answers of replies; a denial lasts as its SOA record says (RFC 2308).
func leastTTL(replies ...*reply) uint32 {
	least := uint32(math.MaxUint32)
	for _, p := range replies {
		if p == nil {
			continue
		}
		if p.Cut {
			return 0
		}
		for _, rr := range p.Answer {
			least = min(least, rr.Header().Ttl)
		}
		if soa := soaOf(p.Ns); len(p.Answer) == 0 && soa != nil {
			least = min(least, soa.Hdr.Ttl, soa.Minttl)
		}
	}
	return least
}

// pointer makes the outcome of a query a field's value.
func (r *run) pointer(p reply, err error) (*reply, error) {
	switch {
	case errors.Is(err, errBudget):
		r.budget.exceeded()
		return nil, err
	case err != nil:
		return nil, err
	}
	return &p, nil
}
