package dnsdelegation

import "diagnostics/gateway/internal/text/bound"

// The shares of records, the longest part of an answer, in bytes of JSON: there is one for each zone and one for all.
// What they leave is for the zones of aliases.
const (
	maxRecords    = 64 << 10
	maxAllRecords = 256 << 10
	maxRecord     = 16 << 10
	maxAliasList  = 128 << 10
)

var limits = bound.LimitsOf[Result]()

// bound cuts what is too long for an answer, once all of it was judged.
func (r *Result) bound() {
	left := maxAllRecords
	for i := range r.Zones {
		r.Zones[i].boundRecords(&left)
	}
	for i := range r.Aliases {
		for j := range r.Aliases[i].Zones {
			r.Aliases[i].Zones[j].boundRecords(&left)
		}
	}
	limits.Enforce(r)
	r.Aliases = bound.List(r.Aliases, maxAliasList+max(left, 0), &r.Truncated)
}

func (z *zoneResult) boundRecords(left *int) {
	z.Records = bound.Texts(z.Records, maxRecord, min(maxRecords, max(*left, 0)), &z.Truncated)
	*left -= bound.Size(z.Records)
}
