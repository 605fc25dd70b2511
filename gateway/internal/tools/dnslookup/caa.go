package dnslookup

import (
	"fmt"
	"slices"

	"diagnostics/gateway/internal/analyze/caa"
	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/tool/finding"

	"github.com/miekg/dns"
)

// mostIssuers is how many authorities or records a sentence names.
const mostIssuers = 6

// caa reports on the CAA records if they were requested. Records that were not all kept prove nothing, and a name
// without any inherits those of its parents, which were not looked up.
func (o outcome) caa(report *finding.Draft, about string) {
	i := slices.Index(o.types, dns.TypeCAA)
	if i < 0 || o.answers[i].Cut {
		return
	}
	if answer := &o.answers[i]; !answer.Conclusive() {
		report.Add(codeCAANotKnown, about, finding.Args{"host": o.name})
	} else if answer.Code == "" {
		o.judgeCAA(report, caaPolicy(answer))
	}
}

func caaPolicy(answer *dnsclient.Answer) caa.Policy {
	var shown recordSet
	shown.take(dns.TypeCAA, answer)
	var records []caa.Record
	for _, r := range shown.CAA {
		records = append(records, caa.Record{Flags: r.Flags, Tag: r.Tag, Value: r.Value})
	}
	return caa.Read(records)
}

func (o outcome) judgeCAA(report *finding.Draft, p caa.Policy) {
	host := finding.Args{"host": o.name}
	add := func(code string, names []string) {
		var shown []string
		for _, name := range names {
			shown = append(shown, text.Show(name, remark))
		}
		report.Add(code, "", host.WithList("names", mostIssuers, shown))
	}
	for _, r := range p.Critical[:min(len(p.Critical), mostIssuers)] {
		report.Add(codeCAACritical, "", host.With(finding.Args{"record": showCAA(r)}))
	}
	for _, r := range p.Unparsable[:min(len(p.Unparsable), mostIssuers)] {
		report.Add(codeCAAUnparsable, "", host.With(finding.Args{"record": showCAA(r)}))
	}
	switch {
	case len(p.Critical) > 0: // which says it
	case !p.Restricted:
		report.Add(codeCAAAny, "", host)
	case len(p.Issuers) == 0:
		report.Add(codeCAANoIssuer, "", host)
	default:
		add(codeCAAIssuers, p.Issuers)
	}
	switch {
	case p.Restricted == p.WildRestricted && slices.Equal(p.Issuers, p.Wildcards): // they are no exception
	case len(p.Wildcards) == 0:
		report.Add(codeCAANoWildcards, "", host)
	default:
		add(codeCAAWildcards, p.Wildcards)
	}
	if len(p.Reports) > 0 {
		add(codeCAAReports, p.Reports)
	}
}

func showCAA(r caa.Record) string {
	return fmt.Sprintf(`%d %s "%s"`, r.Flags, text.Show(r.Tag, remark), text.Show(r.Value, remark))
}
