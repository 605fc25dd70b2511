package spf

import (
	"context"
	"net/netip"
	"slices"
	"strings"

	"diagnostics/shared/parallel"
)

// AddressResolver returns all addresses of a name, of both families, in the manner of Resolver.
type AddressResolver interface {
	AllAddresses(ctx context.Context, name string) ([]netip.Addr, error)
}

// maxNames bounds how many names' addresses are looked up to write a record shorter.
const maxNames = 20

// addresses are those of the names that a and mx terms lead to, as far as they were looked up and are known.
type addresses map[string][]netip.Addr

// ask looks up what the a and mx terms of the whole tree lead to, those of the domain's own record first.
func (a addresses) ask(ctx context.Context, dns AddressResolver, root *visit) {
	names := hosts(root)
	names = names[:min(len(names), maxNames)]
	found, failed := make([][]netip.Addr, len(names)), make([]error, len(names))
	var lookups parallel.Group
	for i, name := range names {
		lookups.Go(func() { found[i], failed[i] = dns.AllAddresses(ctx, presentation(name)) })
	}
	lookups.Wait()
	for i, name := range names {
		if failed[i] == nil {
			a[name] = found[i]
		}
	}
}

// hosts are the names whose addresses decide what the terms match, level by level.
func hosts(root *visit) []string {
	var names []string
	add := func(name string) {
		if canBeName(name) && isPublic(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for level := []*visit{root}; len(level) > 0; {
		var next []*visit
		for _, v := range level {
			for _, b := range v.branches {
				switch {
				case b.visit == nil || b.node.Void:
				case b.visit.record():
					next = append(next, b.visit)
				case b.term.Kind == A:
					add(b.visit.domain)
				case b.term.Kind == MX:
					for _, exchange := range b.visit.exchanges {
						add(canonical(exchange))
					}
				}
			}
		}
		level = next
	}
	return names
}

func canonical(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

// matches is the set of senders that a term of a visit's record matches; known is false where that depends on more than
// their address, or was not seen.
func (a addresses) matches(v *visit, b branch) (set networks, known bool) {
	switch {
	case b.node.Void || matchesNone(v, b):
		return nil, true
	case b.term.Kind == IP4, b.term.Kind == IP6:
		// Receivers read an IPv6 address with an IPv4 one inside as that.
		return setOf(spanOf(b.term.Prefix)), !b.term.Prefix.Overlaps(mapped)
	case b.visit == nil:
		return nil, false
	}
	switch b.term.Kind {
	case Include:
		return a.passing(b.visit)
	case A:
		return a.around(b.term, b.visit.domain)
	case MX:
		return a.around(b.term, b.visit.exchanges...)
	}
	return nil, false
}

var mapped = netip.MustParsePrefix("::ffff:0:0/96")

// matchesNone reports whether a term matches no sender: its name is known and was not looked up, since it cannot exist
// or is not public.
func matchesNone(v *visit, b branch) bool {
	if b.visit != nil || b.term.Spec == "" || b.term.Kind != A && b.term.Kind != MX && b.term.Kind != Exists {
		return false
	}
	_, known := expand(b.term.Spec, names{current: v.domain, sender: v.sender()})
	return known
}

// sender is the domain whose record is walked.
func (v *visit) sender() string {
	for v.parent != nil {
		v = v.parent
	}
	return v.domain
}

// around are the networks of a term's lengths around the addresses of names.
func (a addresses) around(t Term, names ...string) (set networks, known bool) {
	var spans []span
	for _, name := range names {
		name = canonical(name)
		list, known := a[name]
		if !known && canBeName(name) && isPublic(name) {
			return nil, false
		}
		for _, address := range list {
			bits := t.Four
			if address.Is6() {
				bits = t.Six
			}
			spans = append(spans, spanOf(netip.PrefixFrom(address, bits)))
		}
	}
	return setOf(spans...), true
}

// passing is the set of senders that pass the record of a visit.
func (a addresses) passing(v *visit) (pass networks, known bool) {
	if v.node.Record == nil || v.node.Truncated || v.node.Fault != nil {
		return nil, false
	}
	var spans []span
	var refused networks
	var redirect *visit
	refusals := 0
	for _, b := range v.branches {
		switch {
		case b.term.Problem != "":
			return nil, false
		case b.node.Ignored:
			continue
		case b.term.Kind == All:
			return setOf(spans...), b.term.Qualifier != '+'
		case b.term.Kind == Redirect:
			if redirect = b.visit; redirect == nil {
				return nil, false
			}
			continue
		case b.term.Kind.Modifier():
			continue
		}
		set, known := a.matches(v, b)
		if !known {
			return nil, false
		}
		if b.term.Qualifier == '+' {
			spans = append(spans, set.without(refused)...)
			continue
		}
		if refusals++; refusals > maxRefusals {
			return nil, false
		}
		refused = refused.with(set)
	}
	if redirect == nil {
		return setOf(spans...), true
	}
	further, known := a.passing(redirect)
	return setOf(append(spans, further.without(refused)...)...), known
}

// maxRefusals bounds the terms of a record that turn senders away before others let them in, which few have any of.
const maxRefusals = 20
