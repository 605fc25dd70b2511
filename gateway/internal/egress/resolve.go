package egress

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"time"

	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/shared/netpolicy"
	"diagnostics/shared/parallel"

	"github.com/miekg/dns"
)

// Resolution is one lookup of a host for one dial. Every address in it has been permitted.
type Resolution struct {
	// V4 and V6 are all addresses of the host, also those of a family that this host lacks.
	V4, V6   []netip.Addr
	Duration time.Duration
	// Delay is that part of Duration in which this process waited for processor time.
	Delay time.Duration
	// Unanswered are the families whose lookup failed, so that it is not known whether the host has addresses of them.
	Unanswered Families
	// lacking are the families that this host has no route of.
	lacking Families
}

// All is V6 and V4 interleaved in the order in which they are to be tried (RFC 8305), families that this host lacks
// left out.
func (r Resolution) All() []netip.Addr {
	v4, v6 := r.V4, r.V6
	if r.lacking.V4 {
		v4 = nil
	}
	if r.lacking.V6 {
		v6 = nil
	}
	all := make([]netip.Addr, 0, len(v4)+len(v6))
	for i := range max(len(v4), len(v6)) {
		if i < len(v6) {
			all = append(all, v6[i])
		}
		if i < len(v4) {
			all = append(all, v4[i])
		}
	}
	return all
}

// Reachable is nil where All has an address, else the *fault.Error of kind Upstream that says which family this host
// lacks.
func (r Resolution) Reachable() error {
	code, args := "NO_IPV4_HERE", finding.Args{"only": true}
	switch {
	case len(r.All()) > 0:
		return nil
	case len(r.V6) > 0 && len(r.V4) > 0:
		code, args = "NO_INTERNET_HERE", nil
	case len(r.V6) > 0:
		code = "NO_IPV6_HERE"
	}
	return fault.New(fault.Upstream, code, args).ByRule(fault.RuleShortage)
}

// NoRoute returns a *fault.Error of kind Upstream if this host has no route of the address's family, else nil.
func (r Resolution) NoRoute(a netip.Addr) error {
	if !r.lacking.Has(a) {
		return nil
	}
	code := "NO_IPV6_HERE"
	if a.Is4() {
		code = "NO_IPV4_HERE"
	}
	return fault.New(fault.Upstream, code, nil)
}

// Only returns the resolution with the addresses of one family, 4 or 6.
func (r Resolution) Only(family int) Resolution {
	if family != 4 {
		r.V4 = nil
	}
	if family != 6 {
		r.V6 = nil
	}
	return r
}

// Resolve looks up both families of a host, or takes its literal address, and permits every answer: one refused address
// refuses the host. An AAAA in 64:ff9b::/96 is ignored where an A record exists, and one below a prefix of the network
// where the A record that it embeds does. Errors are *fault.Error: Refused,
// NoAddress (no such name, or no address of any family), Upstream or Timeout (the resolver), Busy (this host lacks what
// a lookup takes, or its own addresses or routes are not known).
//
// A family whose lookup failed is left out where the other has addresses. That this host lacks a family is no error
// here; Reachable reports it.
func (c *Client) Resolve(ctx context.Context, h target.Host) (Resolution, error) {
	return c.resolve(ctx, h, c.bothFamilies)
}

// lookup finds the addresses of a name, of both families.
type lookup func(ctx context.Context, name string) (a, aaaa dnsclient.Answer)

func (c *Client) resolve(ctx context.Context, h target.Host, both lookup) (Resolution, error) {
	has, err := c.knownFamilies()
	if err != nil {
		return Resolution{}, err
	}
	r := Resolution{lacking: Families{V4: !has.V4, V6: !has.V6}}
	parallel.Apart(func() { err = c.find(ctx, h, both, &r) })
	if err != nil {
		return Resolution{}, c.refused(err)
	}
	return r, nil
}

// find adds the addresses of a host.
func (c *Client) find(ctx context.Context, h target.Host, both lookup, r *Resolution) error {
	if h.IsAddr() {
		return r.permit(c, h.Addr())
	}
	if c.deny().DeniesName(h.Name()) {
		return denied()
	}
	began := time.Now()
	a, aaaa := both(ctx, h.Name())
	r.Duration, r.Delay = time.Since(began), c.settings.Delay.Since(began)
	r.Unanswered = Families{V4: !a.Conclusive(), V6: !aaaa.Conclusive()}
	if err := c.judgeAliases(a, aaaa); err != nil {
		return err
	}
	if err := r.permit(c, c.addressesOf(a, aaaa)...); err != nil {
		if refused, is := errors.AsType[*fault.Error](err); is && refused.Code == codeNotPublic {
			refused.Args = finding.Args{"host": h.Short()}
		}
		return err
	}
	if len(r.V4)+len(r.V6) == 0 {
		return c.withoutAddress(ctx, h, a, aaaa)
	}
	return nil
}

// permit adds the addresses, unless one is refused.
func (r *Resolution) permit(c *Client, addresses ...netip.Addr) error {
	for _, a := range addresses {
		if err := c.Permit(a); err != nil {
			return err
		}
		if a.Is4() {
			r.V4 = append(r.V4, a)
		} else {
			r.V6 = append(r.V6, a)
		}
	}
	return nil
}

// bothFamilies queries both at once. Both are queried whatever this host can reach: a private address in either refuses
// the name.
func (c *Client) bothFamilies(ctx context.Context, name string) (a, aaaa dnsclient.Answer) {
	return both(ctx, name, c.dns.Query)
}

// bothUnchecked is bothFamilies without the resolver's validation.
func (c *Client) bothUnchecked(ctx context.Context, name string) (a, aaaa dnsclient.Answer) {
	return both(ctx, name, c.dns.QueryUnchecked)
}

func both(
	ctx context.Context, name string, query func(context.Context, string, uint16) dnsclient.Answer,
) (a, aaaa dnsclient.Answer) {
	var queries parallel.Group
	queries.Go(func() { a = query(ctx, name, dns.TypeA) })
	queries.Go(func() { aaaa = query(ctx, name, dns.TypeAAAA) })
	queries.Wait()
	return a, aaaa
}

// judgeAliases refuses a name that is an alias of one that a visitor could not have typed: a resolver inside a private
// network answers for such names, and what it answers need not look private.
func (c *Client) judgeAliases(answers ...dnsclient.Answer) error {
	for _, answer := range answers {
		for _, name := range answer.CNAMEChain {
			if isPrivateName(name) {
				return fault.New(fault.Refused, "TARGET_ALIAS_NOT_PUBLIC", nil).
					ByRule(fault.RulePrivateAlias)
			}
			if c.deny().DeniesName(name) {
				return denied()
			}
		}
	}
	return nil
}

// isPrivateName reports whether the name of an alias is private, by its zone. Its own spelling is no concern of ours
// (owner names may hold any octet), so labels that no hostname can have are stepped over until a name is left that can
// be judged.
func isPrivateName(name string) bool {
	for {
		_, err := netpolicy.ParseName(name, true)
		if err == nil {
			return false
		}
		bad, is := errors.AsType[*netpolicy.NameError](err)
		if !is || bad.Refused() || bad.Problem == netpolicy.NameEmpty {
			return true
		}
		next, end := dns.NextLabel(name, 0)
		if end {
			return true
		}
		name = name[next:]
	}
}

// addressesOf gives the addresses of both answers, once each. What a DNS64 resolver adds to a name that has an IPv4
// address of its own is left out.
func (c *Client) addressesOf(a, aaaa dnsclient.Answer) []netip.Addr {
	v4 := dnsclient.Addresses(a.Records)
	v6 := c.WithoutSynthesised(v4, dnsclient.Addresses(aaaa.Records))
	var list []netip.Addr
	seen := make(map[netip.Addr]bool)
	for _, address := range slices.Concat(v4, v6) {
		if !seen[address] {
			seen[address] = true
			list = append(list, address)
		}
	}
	return list
}

// withoutAddress returns why a name has no address that could be used.
func (c *Client) withoutAddress(ctx context.Context, h target.Host, a, aaaa dnsclient.Answer) error {
	name := h.Short()
	both := []dnsclient.Answer{a, aaaa}
	if dnsclient.ExistenceOf([]uint16{dns.TypeA, dns.TypeAAAA}, both).Absent {
		return fault.New(fault.NoAddress, "NAME_NOT_FOUND", finding.Args{"host": name})
	}
	if busy := cmp.Or(a.Busy, aaaa.Busy); busy != nil {
		return busy
	}
	failed := a
	if a.Conclusive() {
		failed = aaaa
	}
	if failed.Conclusive() {
		return fault.New(fault.NoAddress, "NO_ADDRESS", finding.Args{"host": name})
	}
	if own := c.ResolverFault(ctx, h.Name(), name, failed); own != nil {
		return own
	}
	qtype := dns.TypeA
	if a.Conclusive() {
		qtype = dns.TypeAAAA
	}
	if reason, fails := c.dns.FailsDNSSEC(ctx, h.Name(), qtype, failed); fails {
		return fault.New(fault.Upstream, "DNSSEC_FAILED", fault.BogusArgs(name, reason.Name, int(reason.Code), reason.Text))
	}
	switch failed.Code {
	case dnsclient.CodeTimeout:
		return fault.Wrap(fault.Timeout, context.Cause(ctx), "NAME_SERVERS_SILENT", finding.Args{"name": name})
	case dnsclient.CodeBadResp:
		return fault.New(fault.Upstream, "NAME_SERVERS_INVALID", finding.Args{"name": name})
	}
	return fault.New(fault.Upstream, "NAME_SERVERS_FAILED",
		finding.Args{"name": name, "rcode": strings.TrimPrefix(failed.Code, "E")})
}

// systemResolver is what is shown of a resolver whose address is not to be shown.
const systemResolver = "system"

// ResolverName is what is shown of a resolver that answered: its address where it is public and not this host's own,
// else only that it is the system's. It is a fact about this host, and as old as one may be: a query of the kernel
// would be a twelfth of an answer from the cache.
func (c *Client) ResolverName(resolver netip.AddrPort) string {
	now := time.Now()
	if last := c.shown.Load(); last != nil && last.resolver == resolver && now.Before(last.until) {
		return last.name
	}
	name := resolver.String()
	if c.Permit(resolver.Addr()) != nil {
		name = systemResolver
	}
	c.shown.Store(&shownResolver{resolver, name, now.Add(refreshAfter)})
	return name
}

// shownResolver is what is shown of a resolver, and until when.
type shownResolver struct {
	resolver netip.AddrPort
	name     string
	until    time.Time
}

// ResolverFault is the *fault.Error (Upstream or Timeout, Local) to report where a lookup of the name failed because
// the operator's resolver fails: one that cannot name the servers of the name's last label either. It is nil where
// that resolver works, so that the name's own servers are at fault. A resolver that is down must not make a site
// down. shown stands for the name in the sentence;
// empty is the announcement of a network.
func (c *Client) ResolverFault(ctx context.Context, name, shown string, failed dnsclient.Answer) error {
	if failed.Conclusive() || failed.Busy != nil || c.dns.ResolverAnswers(ctx, name, failed) || ctx.Err() != nil {
		return nil //nolint:nilerr // what this host lacks, and that the caller has left, is reported elsewhere
	}
	own := fault.New(fault.Upstream, "", finding.Args{"name": shown})
	own.Local = true
	switch failed.Code {
	case dnsclient.CodeTimeout:
		own.Kind, own.Code = fault.Timeout, "RESOLVER_TIMEOUT"
	case dnsclient.CodeConnRefused:
		own.Code = "RESOLVER_UNREACHABLE"
	case dnsclient.CodeBadResp:
		own.Code = "RESOLVER_INVALID"
	default:
		own.Code, own.Args["rcode"] = "RESOLVER_FAILED", strings.TrimPrefix(failed.Code, "E")
	}
	return own
}

// ResolveNameServer is Resolve for the name server of a zone, which has an address also where DNSSEC fails for its
// name: the caller reports what is wrong with the zone.
func (c *Client) ResolveNameServer(ctx context.Context, h target.Host) (Resolution, error) {
	return c.resolve(ctx, h, c.bothUnchecked)
}

// AskAuthority queries a name server of a zone itself. The visitor's input led to it, so that its address is judged and
// charged as any other; the error is that of Admit.
func (c *Client) AskAuthority(
	ctx context.Context, server netip.AddrPort, name string, qtype uint16,
) (dnsclient.Answer, error) {
	if err := c.Admit(ctx, server); err != nil {
		return dnsclient.Answer{}, err
	}
	return c.dns.AskAuthority(ctx, server, name, qtype), nil
}
