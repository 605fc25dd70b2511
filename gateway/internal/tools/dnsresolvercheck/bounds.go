package dnsresolvercheck

import "diagnostics/gateway/internal/bound"

// The shares of an answer, in bytes of JSON: four resolvers, and as many groups, have a set of values each.
const (
	maxValues = 96 << 10
	maxValue  = 16 << 10
	maxTold   = 4 << 10 // the extended errors
)

// bound cuts what is too long for an answer, once it is known who agrees with whom.
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
}
