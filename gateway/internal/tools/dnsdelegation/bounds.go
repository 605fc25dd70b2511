package dnsdelegation

import "diagnostics/gateway/internal/text/bound"

// The shares of an answer, in bytes of JSON. Records, the longest part, have a bound for each zone and one for all.
const (
	maxRecords    = 64 << 10
	maxAllRecords = 256 << 10
	maxRecord     = 16 << 10
	maxList       = 8 << 10  // of the names of one zone's servers
	maxZone       = 64 << 10 // without records
	maxZones      = 384 << 10
	maxAnswers    = 96 << 10
	maxAnswer     = 24 << 10
	maxFindings   = 96 << 10
	maxAliasList  = 128 << 10
)

// bound cuts what is too long for an answer, once all of it was judged.
func (r *Result) bound() {
	left := maxAllRecords
	for i := range r.Zones {
		r.Zones[i].bound(&left, &r.Truncated)
	}
	r.Zones = bound.List(r.Zones, maxZones+maxAllRecords, &r.Truncated)
	for i := range r.Aliases {
		for j := range r.Aliases[i].Zones {
			r.Aliases[i].Zones[j].bound(&left, &r.Truncated)
		}
	}
	r.Aliases = bound.List(r.Aliases, maxAliasList+max(left, 0), &r.Truncated)
	for i := range r.Answers {
		a := &r.Answers[i]
		a.Values = bound.Texts(a.Values, maxRecord, maxAnswer, &a.Truncated)
		r.Truncated = r.Truncated || a.Truncated
	}
	r.Answers = bound.List(r.Answers, maxAnswers, &r.Truncated)
	r.Findings = bound.List(r.Findings, maxFindings, &r.Truncated)
}

func (z *zoneResult) bound(left *int, whole *bool) {
	cut := &z.Truncated
	z.ParentNS = bound.List(z.ParentNS, maxList, cut)
	z.ChildNS = bound.List(z.ChildNS, maxList, cut)
	for i := range z.Servers {
		z.Servers[i].NS = bound.List(z.Servers[i].NS, maxList/4, cut)
	}
	z.Servers = bound.List(z.Servers, maxZone/2, cut)
	for i := range z.DS {
		z.DS[i].Digest = bound.Text(z.DS[i].Digest, 1<<10, cut)
	}
	if z.Rollover != nil {
		z.Rollover.CDS = bound.Texts(z.Rollover.CDS, maxRecord/8, maxList, cut)
		z.Rollover.CDNSKEY = bound.Texts(z.Rollover.CDNSKEY, maxRecord/8, maxList, cut)
	}
	z.Records = bound.Texts(z.Records, maxRecord, min(maxRecords, max(*left, 0)), cut)
	*left -= bound.Size(z.Records)
	*whole = *whole || z.Truncated
}
