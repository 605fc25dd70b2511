package dnsdelegation

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"time"

	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/fault"
	"diagnostics/shared/parallel"
	"diagnostics/shared/progress"

	"diagnostics/gateway/internal/tool/finding"
	"github.com/miekg/dns"
)

// The outcomes of a transport.
const (
	stateAnswer  = "answer"
	stateTimeout = "timeout"
	stateRefused = "refused" // the connection
	stateError   = "error"
	stateSkipped = "skipped"
)

// check is what one address of a name server does for a zone.
type check struct {
	endpoint
	zone string

	good     bool // it answers for the zone; guarded by the lock of servers, as are the next three
	settled  bool // its outcome over UDP is there
	ended    bool
	reported bool // what is wrong with it was reported as a step
	udp, tcp string
	soa      *reply // over UDP
	ns       *reply // over TCP, or over UDP where that fails
	edns     *bool
	tested   bool // the option was sent
	option   *bool
	offers   *bool // recursion
	took     time.Duration
	reason   string
	private  bool  // the address is not public
	err      error // why this service did not query it: its own failure, or a limit
}

// checkZone finds the addresses of a zone's servers and checks each, those of the child's own NS records included.
func (r *run) checkZone(ctx context.Context, z *zone) {
	var finding parallel.Group
	names := z.parentNS
	if len(names) > maxNames {
		names = names[:maxNames]
		r.budget.exceeded()
	}
	for _, name := range names {
		h := z.addHost(name, true)
		z.begin()
		finding.Go(func() {
			defer r.concludeServers(ctx, z)
			defer z.end(nil)
			r.findHost(ctx, z, h)
		})
	}
	z.end(nil)
	finding.Wait()
	r.checkOwnNames(ctx, z)
}

func (z *zone) addHost(name string, inParent bool) *host {
	z.mu.Lock()
	defer z.mu.Unlock()
	h := &host{name: name, inParent: inParent, glue: z.glue[name]}
	z.hosts = append(z.hosts, h)
	return h
}

// findHost begins to check the addresses of the glue, and looks up those of a name outside the zone.
func (r *run) findHost(ctx context.Context, z *zone, h *host) {
	r.checkAddresses(ctx, z, h, h.glue)
	if below(h.name, z.name) {
		return // the zone itself has them
	}
	z.mu.Lock()
	z.outside++
	allowed := z.outside <= maxOutside
	z.mu.Unlock()
	if !allowed {
		if len(h.glue) == 0 {
			h.reason = reasonNotLookedUp
			r.budget.exceeded()
		}
		return
	}
	r.setOwn(ctx, z, h, r.outside(ctx, z, h.name))
}

// outside finds the addresses of a name server outside a zone: in the parent, where that contains it and its servers
// are known, else from the root down.
func (r *run) outside(ctx context.Context, z *zone, name string) found {
	if parent := r.keptZone(ctx, z.parent); !parent.registry && below(name, parent.name) {
		if ns := parent.ownNS(ctx); ns != nil {
			if got := r.inside(ctx, parent, *ns, name); got.err == nil {
				return got
			}
		}
	}
	return r.lookup(ctx, name, nil)
}

// setOwn takes the addresses that a name server's own zone gives.
func (r *run) setOwn(ctx context.Context, z *zone, h *host, got found) {
	if got.err == nil {
		h.own, h.known, h.partial, h.alias = got.addresses, true, got.partial, got.alias
	} else if len(h.glue) == 0 {
		h.reason = reasonLookup(got.err)
	}
	r.checkAddresses(ctx, z, h, got.addresses)
}

func reasonLookup(err error) string {
	switch {
	case errors.Is(err, errCircle):
		return reasonCircle
	case errors.Is(err, errDeep):
		return reasonDeep
	case errors.Is(err, errBudget):
		return reasonNoBudget
	}
	return reasonNotFound
}

// checkAddresses begins to check addresses, each once in a zone.
func (r *run) checkAddresses(ctx context.Context, z *zone, h *host, addresses []netip.Addr) {
	z.mu.Lock()
	defer z.mu.Unlock()
	for _, a := range addresses {
		if slices.Contains(h.addresses, a) {
			continue
		}
		h.addresses = append(h.addresses, a)
		known := func(c *check) bool { return c.address == a }
		switch {
		case slices.ContainsFunc(z.checks, known):
			continue
		case len(z.checks) == maxAddresses:
			r.budget.exceeded()
			continue
		}
		c := &check{endpoint: endpoint{name: h.name, address: a}, zone: z.name, udp: stateSkipped, tcp: stateSkipped}
		z.checks = append(z.checks, c)
		z.pending++
		z.unsettled++
		r.group.Go(func() {
			r.checkAddress(ctx, z, h, c)
			if c.good && !c.tested && r.isDecided(ctx, z) {
				r.checkOption(ctx, z, c)
				r.reportServer(ctx, z, h, c)
			}
		})
	}
}

func (r *run) checkAddress(ctx context.Context, z *zone, h *host, c *check) {
	defer r.concludeServers(ctx, z)
	defer z.end(c)
	r.checkServer(ctx, z, c)
	r.reportServer(ctx, z, h, c)
}

func (r *run) reportServer(ctx context.Context, z *zone, h *host, c *check) {
	progress.Report(ctx, "server", trimmed(z.name)+" "+trimmed(c.name)+" "+c.address.String(), rowOf(h, c))
}

// checkServer queries one address: over UDP, once more without EDNS beside a silent first time, over TCP, and with an
// EDNS option if the zone has another address that answers.
func (r *run) checkServer(ctx context.Context, z *zone, c *check) {
	if r.skips(c) {
		return
	}
	soa := question{name: z.name, qtype: dns.TypeSOA}
	var rest parallel.Group
	answered := make(chan struct{})
	rest.Go(func() {
		select {
		case <-answered:
		case <-time.After(r.times.stagger + r.times.stagger/2): // UDP comes first where sockets are short
		case <-ctx.Done():
		}
		r.checkTCP(ctx, z, c)
	})
	first, err := r.firstAnswer(ctx, c, &soa)
	close(answered)
	if err == nil && !soa.plain && rejectsEDNS(first.Msg) {
		soa.plain = true
		c.edns = new(false)
		first, err = r.send(ctx, c.endpoint, udp, soa)
	}
	c.udp, c.err = r.outcome(err)
	if err == nil && first.Truncated {
		if whole, err := r.send(ctx, c.endpoint, tcp, soa); err == nil {
			whole.Took, first = first.Took, whole
		}
	}
	if err == nil {
		if c.edns == nil && !soa.plain {
			c.edns = new(first.IsEdns0() != nil)
		}
		c.offers = new(first.RecursionAvailable)
		z.set(func() {
			c.took, c.soa = first.Took, &first
			c.good = c.authoritative()
		})
	}
	z.hear(c)
	r.concludeServers(ctx, z)
	if c.good && len(z.good(ctx)) > 1 {
		z.set(func() { c.tested = true })
		r.checkOption(ctx, z, c)
	}
	rest.Wait()
	if c.good && c.ns == nil {
		if got, err := r.send(ctx, c.endpoint, udp, question{name: z.name, qtype: dns.TypeNS, plain: soa.plain}); err == nil {
			z.set(func() { c.ns = &got })
		}
	}
}

// firstAnswer is the answer for the zone's SOA record over UDP. Where none comes for a while, the query is repeated
// without EDNS, which some firewalls drop; q is then that query if it is the one that was answered.
func (r *run) firstAnswer(ctx context.Context, c *check, q *question) (reply, error) {
	type answer struct {
		reply
		err   error
		plain bool
	}
	got, err := race(ctx, 2, r.times.stagger, func(ctx context.Context, i int) (answer, error) {
		soa := question{name: q.name, qtype: q.qtype, plain: i == 1}
		got, err := r.send(ctx, c.endpoint, udp, soa)
		if isTimeout(err) {
			return answer{}, err
		}
		return answer{got, err, soa.plain}, nil
	})
	if err != nil {
		return reply{}, err
	}
	q.plain = got.plain
	return got.reply, got.err
}

// skips reports whether an address is not to be queried, and records why.
func (r *run) skips(c *check) bool {
	err := r.Egress.Permit(c.address)
	switch refused, is := errors.AsType[*fault.Error](err); {
	case is && refused.Kind == fault.Refused && (refused.Rule == fault.RuleDenied || refused.Rule == fault.RuleOwnAddress):
		c.err = err
	case is && refused.Kind == fault.Refused:
		c.reason, c.private = reasonPrivate, true
	case !r.usable(c.address):
		c.reason = reasonNoFamily
	default:
		return false
	}
	return true
}

// authoritative reports whether the server answers for the zone's SOA record as one of its servers.
func (c *check) authoritative() bool {
	return c.soa != nil && c.soa.Authoritative &&
		c.soa.Rcode == dns.RcodeSuccess && c.soa.has(c.zone, dns.TypeSOA)
}

func (r *run) checkTCP(ctx context.Context, z *zone, c *check) {
	got, err := r.send(ctx, c.endpoint, tcp, question{name: c.zone, qtype: dns.TypeNS})
	z.set(func() {
		c.tcp, _ = r.outcome(err)
		if err == nil && got.Rcode == dns.RcodeSuccess {
			c.ns = &got
		}
	})
}

// checkOption sends an EDNS option that the server cannot have, and must ignore (RFC 6891 section 6.1.2). The same
// query requests recursion, which a server that offers it to everyone announces. An address that serves several zones
// of the run is queried once.
func (r *run) checkOption(ctx context.Context, z *zone, c *check) {
	q := question{name: c.zone, qtype: dns.TypeSOA, strange: true}
	got, err := r.once(ctx, memo{zone: "option " + c.address.String()}, func(ctx context.Context) (reply, error) {
		got, err := r.send(ctx, c.endpoint, udp, q)
		if isTimeout(err) {
			got, err = r.send(ctx, c.endpoint, udp, q)
		}
		return got, err
	})
	if errors.Is(err, errBudget) {
		if c.edns == nil || *c.edns { // a server without EDNS is judged already
			r.budget.exceeded()
		}
		return
	}
	z.set(func() {
		c.reported = false
		switch {
		case err == nil:
			c.offers = new(*c.offers || got.RecursionAvailable)
			opt := got.IsEdns0()
			if c.edns == nil {
				c.edns = new(opt != nil)
			}
			if *c.edns {
				c.option = new(opt != nil && got.Rcode == c.soa.Rcode && !echoes(opt))
			}
		case isTimeout(err) && c.edns != nil && *c.edns:
			c.option = new(false)
		case isTimeout(err) && c.edns == nil:
			c.edns = new(false) // it answers without EDNS alone
		}
	})
	r.concludeServers(ctx, z)
}

// echoes reports whether a server sends the unknown option back, as if it had it.
func echoes(opt *dns.OPT) bool {
	return slices.ContainsFunc(opt.Option, func(o dns.EDNS0) bool { return o.Option() == unknownOption })
}

// outcome is what a transport's failure is; own is why this service could not or may not query.
func (r *run) outcome(err error) (state string, own error) {
	switch {
	case err == nil:
		return stateAnswer, nil
	case errors.Is(err, errBudget):
		r.budget.exceeded()
		return stateSkipped, err
	case ours(err):
		return stateSkipped, err
	case fault.Is(err, fault.Refused):
		return stateSkipped, err
	}
	switch dnsclient.CodeOf(err) {
	case dnsclient.CodeTimeout:
		return stateTimeout, nil
	case dnsclient.CodeConnRefused:
		return stateRefused, nil
	}
	return stateError, nil
}

func isTimeout(err error) bool {
	return err != nil && !ours(err) && dnsclient.CodeOf(err) == dnsclient.CodeTimeout
}

// checkOwnNames checks the servers that only the zone's own NS records name, and finds the addresses that the zone
// gives for those inside it.
func (r *run) checkOwnNames(ctx context.Context, z *zone) {
	z.good(ctx)
	got := z.ownNS(ctx)
	if got == nil {
		for _, h := range z.hosts {
			if len(h.addresses) == 0 && h.reason == "" && below(h.name, z.name) {
				h.reason = reasonNoGlue
			}
		}
		return
	}
	own := nsNames(got.Answer, z.name)
	var finding parallel.Group
	for _, h := range slices.Clone(z.hosts) {
		h.inChild = slices.Contains(own, h.name)
		if below(h.name, z.name) {
			finding.Go(func() { r.setOwn(ctx, z, h, r.inside(ctx, z, *got, h.name)) })
		}
	}
	for _, name := range own {
		if slices.Contains(z.parentNS, name) {
			continue
		}
		if len(z.hosts) >= maxNames {
			r.budget.exceeded()
			break
		}
		h := z.addHost(name, false)
		h.inChild = true
		finding.Go(func() {
			if below(name, z.name) {
				r.setOwn(ctx, z, h, r.inside(ctx, z, *got, name))
			} else {
				r.findHost(ctx, z, h)
			}
		})
	}
	finding.Wait()
}

// ownNS is the first answer of a good server for the zone's NS records, or nil.
func (z *zone) ownNS(ctx context.Context) *reply {
	ns := func(c *check) *reply { return c.ns }
	for {
		if p := z.best(ns); p != nil {
			return p
		}
		_, _, changed := z.state()
		if z.ended() || ctx.Err() != nil {
			return z.best(ns)
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// inside gives the addresses that a zone has for a name inside it: those beside its NS records, else it is queried.
func (r *run) inside(ctx context.Context, z *zone, ns reply, name string) found {
	if beside := addressesIn(ns.Extra, name); len(beside) > 0 {
		return found{addresses: beside}
	}
	var families [2]found
	var both parallel.Group
	for i, qtype := range []uint16{dns.TypeA, dns.TypeAAAA} {
		both.Go(func() {
			got, err := r.query(ctx, z, question{name: name, qtype: qtype})
			families[i] = readAddresses(got, err, name)
		})
	}
	both.Wait()
	return merged(families[0], families[1])
}

// why is what is to be said of a server beside its states; no code for nothing.
func (c *check) why() (code string, args finding.Args) {
	switch {
	case c.reason != "":
		return c.reason, nil
	case errors.Is(c.err, errBudget):
		return reasonOverBudget, nil
	case c.err != nil:
		return fault.Reason(c.err)
	case c.soa != nil && !c.authoritative():
		return reasonLame, nil
	}
	return "", nil
}
