package dnsdelegation

import (
	"fmt"
	"slices"
	"time"

	"diagnostics/gateway/internal/analyze/dnssec"
	"diagnostics/gateway/internal/tool/finding"
)

// judgeDNSSEC reports the verdict on the name, and the warnings beside it.
func (p *report) judgeDNSSEC(found outcome, c *chain) {
	verdict := c.verdict(found)
	if verdict.Reason != nil {
		p.reason(found, *verdict.Reason)
	}
	seen := []dnssec.Reason{}
	for _, v := range c.verdicts(found) {
		for _, w := range v.Warnings {
			if !slices.ContainsFunc(seen, func(s dnssec.Reason) bool { return s.Code == w.Code && s.Zone == w.Zone }) {
				seen = append(seen, w)
			}
		}
	}
	for _, w := range append(seen, c.contradictions[:min(len(c.contradictions), 1)]...) {
		p.warning(found, w)
	}
	p.judgeServersDNSSEC(found, c, verdict.Status)
}

// verdicts are those on all zones and answers of a run, in the order of the walk.
func (c *chain) verdicts(found outcome) []dnssec.Verdict {
	var all []dnssec.Verdict
	add := func(way descent, answers []*answer) {
		for _, z := range way.zones {
			all = append(all, c.cuts[z.name].Verdict, c.zones[z.name].Verdict)
		}
		for _, a := range answers {
			all = append(all, c.answers[a].Verdict)
		}
	}
	add(found.way, found.answers)
	for _, a := range found.aliases {
		add(a.way, a.answers)
	}
	return all
}

// reason reports the reason of a verdict on the name, or a warning.
func (p *report) reason(found outcome, r dnssec.Reason) {
	args := reasonArgs(r)
	if rows.Takes(codeOf(r.Code), "reason") {
		args["reason"] = string(r.Code)
	}
	if rows.Takes(codeOf(r.Code), "host") {
		args["host"] = shown(found.name)
		if !rows.Takes(codeOf(r.Code), "reason") {
			args = finding.Args{"host": shown(found.name)}
		}
	}
	p.add(codeOf(r.Code), r.Zone, "", args)
}

// warning reports a reason that does not decide the verdict. One that could, elsewhere, is less severe here.
func (p *report) warning(found outcome, r dnssec.Reason) {
	if r.Code.Status() == "" {
		p.reason(found, r)
		return
	}
	p.add(codeAside, r.Zone, "", reasonArgs(r).With(finding.Args{"reason": string(r.Code)}))
}

// clockSkew is how wrong a clock may be that was set by hand.
const clockSkew = time.Hour

// reasonArgs are the arguments of the row of a reason.
func reasonArgs(r dnssec.Reason) finding.Args {
	args := finding.Args{}
	for name, value := range (finding.Args{
		"zone": ownerShown(r.Zone), "name": ownerShown(r.Name), "type": r.Type, "tag": r.KeyTag, "number": r.Number,
		"algorithm": fmt.Sprintf("%d (%s)", r.Algorithm, dnssec.AlgorithmName(r.Algorithm)),
		"date":      r.Date.Format("2006-01-02 15:04 UTC"), "off": r.Off, "clock": r.Off <= clockSkew,
	}) {
		if rows.Takes(string(r.Code), name) {
			args[name] = value
		}
	}
	return args
}

// reasonSentence is the reason of a zone or a signature.
func reasonSentence(r dnssec.Reason) *string {
	return new(rows.Sentence(string(r.Code), reasonArgs(r)))
}

// judgeServersDNSSEC reports servers whose answers do not validate while those of others do.
func (p *report) judgeServersDNSSEC(found outcome, c *chain, status dnssec.Status) {
	if status != dnssec.Secure {
		return
	}
	for _, z := range found.way.zones {
		for _, one := range z.goodChecks() {
			if v := c.soas[one]; v.Status == dnssec.Bogus {
				p.add(codeServerBogus, z.name, one.name, reasonArgs(*v.Reason).With(finding.Args{"server": shown(one.name),
					"address": one.address, "of": zoneShown(z.name), "reason": string(v.Reason.Code)}))
			}
		}
	}
}
