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

// caa are the findings of the CAA records, where they were requested. Records that were not all kept prove nothing, and
// a name without any inherits those of its parents, which were not looked up.
func (o outcome) caa() []finding.Finding {
	i := slices.Index(o.types, dns.TypeCAA)
	if i < 0 || o.answers[i].Cut {
		return nil
	}
	switch answer := &o.answers[i]; {
	case !answer.Conclusive():
		return []finding.Finding{catalogue.Find(codeCAANotKnown, o.name)}
	case answer.Code != "":
		return nil
	default:
		return o.judgeCAA(caaPolicy(answer))
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

func (o outcome) judgeCAA(p caa.Policy) []finding.Finding {
	var found []finding.Finding
	add := func(code string, args ...any) {
		found = append(found, catalogue.Find(code, append([]any{o.name}, args...)...))
	}
	for _, r := range p.Critical[:min(len(p.Critical), mostIssuers)] {
		add(codeCAACritical, showCAA(r))
	}
	for _, r := range p.Unparsable[:min(len(p.Unparsable), mostIssuers)] {
		add(codeCAAUnparsable, showCAA(r))
	}
	switch {
	case len(p.Critical) > 0: // which says it
	case !p.Restricted:
		add(codeCAAAny)
	case len(p.Issuers) == 0:
		add(codeCAANoIssuer)
	default:
		add(codeCAAIssuers, listShown(p.Issuers))
	}
	switch {
	case p.Restricted == p.WildRestricted && slices.Equal(p.Issuers, p.Wildcards): // they are no exception
	case len(p.Wildcards) == 0:
		add(codeCAANoWildcards)
	default:
		add(codeCAAWildcards, listShown(p.Wildcards))
	}
	if len(p.Reports) > 0 {
		add(codeCAAReports, listShown(p.Reports))
	}
	return found
}

func showCAA(r caa.Record) string {
	return fmt.Sprintf(`%d %s "%s"`, r.Flags, text.Show(r.Tag, remark), text.Show(r.Value, remark))
}

func listShown(all []string) string {
	return text.ListedUpTo(mostIssuers, all, func(s string) string { return text.Show(s, remark) })
}
