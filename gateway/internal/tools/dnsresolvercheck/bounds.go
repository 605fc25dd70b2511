package dnsresolvercheck

import "diagnostics/gateway/internal/text/bound"

// The shares of an answer, in bytes of JSON: four resolvers, as many groups, three of the domain's own servers and what
// those agree on have a set of values each.
const (
	maxValues = 72 << 10
	maxValue  = 16 << 10
	maxTold   = 4 << 10 // the extended errors
)

// bound cuts what is too long for an answer, after the comparison.
func (r *Result) bound() {
	for i := range r.Resolvers {
		a := &r.Resolvers[i]
		r.Truncated = r.Truncated || a.Truncated
		a.Values = bound.Texts(a.Values, maxValue, maxValues, &a.Truncated, &r.Truncated)
		a.ExtendedErrors = bound.List(a.ExtendedErrors, maxTold, &a.Truncated, &r.Truncated)
	}
	for i := range r.Groups {
		g := &r.Groups[i]
		g.Values = bound.Texts(g.Values, maxValue, maxValues, &g.Truncated, &r.Truncated)
	}
	if r.Authoritative != nil {
		r.Authoritative.bound(&r.Truncated)
	}
}

func (a *authority) bound(whole *bool) {
	a.Values = bound.Texts(a.Values, maxValue, maxValues, &a.Truncated, whole)
	for i := range a.Servers {
		s := &a.Servers[i]
		s.Values = bound.Texts(s.Values, maxValue, maxValues, &s.Truncated, whole)
		*whole = *whole || s.Truncated
	}
}
