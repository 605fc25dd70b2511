package dnsresolvercheck

import (
	"cmp"
	"crypto/sha256"
	"net/netip"
	"slices"

	"diagnostics/gateway/internal/egress/dnsclient"
)

// The statuses, in the order in which they are tried.
const (
	statusUnavailable   = "unavailable"
	statusInconclusive  = "inconclusive"
	statusMixedPresence = "mixedPresence"
	statusVariation     = "variation"
	statusConflict      = "conflict"
	statusPartial       = "partial"
	statusAgree         = "agree"
	statusAgreeAbsent   = "agreeAbsent"
)

// resolverGroup is a set of values and the resolvers that gave it; the set of those that say that there is nothing is
// empty.
type resolverGroup struct {
	Values    []string `json:"values" bound:"text=16k list=72k"`
	Resolvers []string `json:"resolvers" wire:"len=1.. enum=cloudflare|google|quad9|opendns"` // their ids
	Truncated bool     `json:"truncated,omitempty"`

	// Digest is that of its answers.
	Digest [sha256.Size]byte `json:"-"`
}

// same reports whether two resolvers gave the same values, or none.
func (a resolverAnswer) same(other resolverAnswer) bool {
	return a.Digest == other.Digest && slices.Equal(a.Values, other.Values)
}

// status is the first that holds. Addresses that differ are what a CDN gives to resolvers in different places, and so
// are aliases that lead to them.
func (c query) status(answers []resolverAnswer) string {
	groups := groupResolvers(answers)
	with, conclusive := len(groups), 0
	for _, group := range groups {
		conclusive += len(group.Resolvers)
		if len(group.Values) == 0 {
			with--
		}
	}
	switch {
	case conclusive == 0:
		return statusUnavailable
	case conclusive == 1:
		return statusInconclusive
	case with > 0 && with < len(groups):
		return statusMixedPresence
	case with > 1 && c.answeredByPlace():
		return statusVariation
	case with > 1:
		return statusConflict
	case conclusive < len(answers):
		return statusPartial
	case with == 1:
		return statusAgree
	}
	return statusAgreeAbsent
}

// groupResolvers puts those with the same values together, the largest group first. Errors are in none.
func groupResolvers(answers []resolverAnswer) []resolverGroup {
	groups := []resolverGroup{}
	for _, answer := range answers {
		if !answer.conclusive() {
			continue
		}
		at := slices.IndexFunc(groups, func(g resolverGroup) bool {
			return g.Digest == answer.Digest && slices.Equal(g.Values, answer.Values)
		})
		if at < 0 {
			at = len(groups)
			groups = append(groups, resolverGroup{Values: answer.Values, Digest: answer.Digest, Truncated: answer.Truncated})
		}
		groups[at].Resolvers = append(groups[at].Resolvers, answer.ID)
	}
	slices.SortStableFunc(groups, func(a, b resolverGroup) int { return cmp.Compare(len(b.Resolvers), len(a.Resolvers)) })
	return groups
}

// blockPages are the addresses that OpenDNS gives in place of those that it blocks.
var blockPages = struct{ first, last netip.Addr }{netip.MustParseAddr("146.112.61.104"),
	netip.MustParseAddr("146.112.61.110")}

// markFiltered finds the answers that look as if the resolver keeps something from its users. What a resolver says of
// itself (RFC 8914) is enough; the other signs count only where another resolver, which shows none, answers
// differently.
func markFiltered(answers []resolverAnswer) {
	for i, answer := range answers {
		contradicted := func(other resolverAnswer) bool {
			return other.conclusive() && !other.looksFiltered() && contradicts(other, answer)
		}
		answers[i].FilteredSuspected = answer.saysFiltered() || answer.looksFiltered() &&
			slices.ContainsFunc(answers, contradicted)
	}
}

// saysFiltered reports whether an answer has one of the errors Forged Answer, Blocked, Censored, Filtered and
// Prohibited.
func (a resolverAnswer) saysFiltered() bool {
	return slices.ContainsFunc(a.ExtendedErrors, func(e dnsclient.ExtendedError) bool {
		return e.Code == 4 || e.Code >= 15 && e.Code <= 18
	})
}

// looksFiltered reports whether there are the weaker signs: Quad9 denies without an authority section what it blocks,
// others give an address that leads nowhere or to a page of theirs.
func (a resolverAnswer) looksFiltered() bool {
	switch a.Outcome {
	case outcomeNXDomain:
		return a.ID == "quad9" && a.bare
	case outcomeAnswer:
		return !slices.ContainsFunc(a.Values, func(value string) bool { return !isBlockAddress(value) })
	}
	return false
}

func isBlockAddress(value string) bool {
	addr, err := netip.ParseAddr(value)
	if err != nil {
		return false
	}
	addr = addr.Unmap()
	return addr.IsUnspecified() || addr.IsLoopback() ||
		addr.Compare(blockPages.first) >= 0 && addr.Compare(blockPages.last) <= 0
}

// contradicts reports whether two answers cannot both be the zone's: a name that exists for one and not for the other,
// or other values.
func contradicts(a, b resolverAnswer) bool {
	return (a.Outcome == outcomeNXDomain) != (b.Outcome == outcomeNXDomain) || !a.same(b)
}

// which are those for which it holds.
func which[T any](all []T, holds func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(all), func(one T) bool { return !holds(one) })
}

// namesOf returns the names of the resolvers for which it holds; nil for none.
func namesOf(answers []resolverAnswer, holds func(resolverAnswer) bool) []string {
	return listed(which(answers, holds))
}

func listed(answers []resolverAnswer) (names []string) {
	for _, a := range answers {
		names = append(names, a.Name)
	}
	return names
}
