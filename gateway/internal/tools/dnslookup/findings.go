package dnslookup

import (
	"fmt"
	"slices"

	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/tool/finding"

	"github.com/miekg/dns"
)

// The codes of this tool.
const (
	codePointsTo      = "POINTS_TO"
	codeHasRecords    = "HAS_RECORDS"
	codeAlias         = "IS_ALIAS"
	codeNoRecords     = "NO_RECORDS"
	codeNoRecord      = "NO_RECORD_OF_TYPE"
	codeNoSuchName    = "NO_SUCH_NAME"
	codeNoAliasTarget = "ALIAS_TARGET_MISSING"
	codeNotProved     = "ABSENCE_NOT_PROVED"
	codeFails         = "RESOLUTION_FAILS"
	codeNotLookedUp   = "LOOKUP_FAILED"
	codeTypeFails     = "TYPE_FAILS"
	codeTypeNotKnown  = "TYPE_NOT_LOOKED_UP"
	codeContradicts   = "DNS_CONTRADICTS"
	codeRemark        = "RESOLVER_REMARK"

	codeCAACritical    = "CAA_CRITICAL_UNKNOWN"
	codeCAAUnparsable  = "CAA_UNPARSABLE"
	codeCAANoIssuer    = "CAA_NO_ISSUER"
	codeCAAIssuers     = "CAA_ISSUERS"
	codeCAAAny         = "CAA_NOT_RESTRICTED"
	codeCAANoWildcards = "CAA_NO_WILDCARDS"
	codeCAAWildcards   = "CAA_WILDCARDS"
	codeCAAReports     = "CAA_REPORTS"
	codeCAANotKnown    = "CAA_NOT_KNOWN"
)

const (
	messageNoRecords     = "%[1]s has none of the requested records."
	messageNoRecord      = "%s has no %s records."
	messageNoSuchName    = "%s does not exist in the DNS."
	messageNoAliasTarget = "%s is an alias of %s, which does not exist."
	messageNotProved     = "%s was denied for %s, but this service could not verify that the name does not exist."
	messageFails         = "%s could not be looked up: %s."
)

var catalogue = finding.Catalogue{
	Conclusions: map[string]finding.Outcome{
		codePointsTo:      {State: finding.OK, Message: "%s points to %s."},
		codeHasRecords:    {State: finding.OK, Message: "%s has %s."},
		codeAlias:         {State: finding.OK, Message: "%s is an alias of %s."},
		codeNoRecords:     {State: finding.Warned, Message: messageNoRecords},
		codeNoRecord:      {State: finding.Noted, Message: messageNoRecord},
		codeNoSuchName:    {State: finding.Failed, Message: messageNoSuchName},
		codeNoAliasTarget: {State: finding.Failed, Message: messageNoAliasTarget},
		codeNotProved:     {State: finding.Unknown, Message: messageNotProved},
		codeFails:         {State: finding.Failed, Message: messageFails},
		codeNotLookedUp:   {State: finding.Unknown, Message: messageFails},
		codeTypeFails:     {State: finding.Warned, Message: "%s The lookup of %s failed."},
		codeTypeNotKnown:  {State: finding.Warned, Message: "%s The lookup of %s failed."},
		codeContradicts:   {State: finding.Warned, Message: "%s The DNS denies the name when asked for %s."},
	},
	Findings: map[string]finding.Entry{
		codeNoSuchName: {Severity: finding.Fail, Group: finding.Broken, Weight: 95, Message: messageNoSuchName,
			Remedy:    "Check the spelling. If the name is yours, check that its domain is registered and that its zone has it.",
			Reference: "https://www.rfc-editor.org/rfc/rfc8020"},
		codeNoAliasTarget: {Severity: finding.Fail, Group: finding.Broken, Weight: 95, Message: messageNoAliasTarget,
			Remedy:    "Remove the alias, or point it to a name that exists.",
			Reference: "https://www.rfc-editor.org/rfc/rfc2308#section-2.1"},
		codeFails: {Severity: finding.Fail, Group: finding.Broken, Weight: 90, Message: messageFails,
			Remedy: "Check that the name servers of the domain answer, and that its DNSSEC signatures are valid."},
		codeTypeFails: {Severity: finding.Warn, Group: finding.Broken, Weight: 60,
			Message: "The lookup of %[2]s for %[1]s failed: %[3]s.",
			Remedy:  "Check that the name servers of the domain answer every type, at least that there is none."},
		codeContradicts: {Severity: finding.Warn, Group: finding.Broken, Weight: 60,
			Message: "%[1]s exists, but the DNS denies the name when asked for %[2]s.",
			Remedy: "Let the name servers answer NOERROR without records, instead of NXDOMAIN, for types that the name " +
				"does not have.",
			Reference: "https://www.rfc-editor.org/rfc/rfc4074#section-4.2"},
		codeNoRecords:   {Severity: finding.Warn, Group: finding.Note, Weight: 30, Message: messageNoRecords},
		codeNoRecord:    {Severity: finding.Info, Group: finding.Note, Weight: 10, Message: messageNoRecord},
		codeNotProved:   {Severity: finding.Warn, Group: finding.Note, Weight: 25, Message: messageNotProved},
		codeNotLookedUp: {Severity: finding.Warn, Group: finding.Note, Weight: 30, Message: messageFails},
		codeTypeNotKnown: {Severity: finding.Warn, Group: finding.Note, Weight: 20,
			Message: "The lookup of %[2]s for %[1]s failed: %[3]s."},
		codeRemark: {Severity: finding.Warn, Group: finding.Note, Weight: 20,
			Message:   "The resolver adds about %[1]s: %[2]s.",
			Reference: "https://www.rfc-editor.org/rfc/rfc8914"},

		codeCAACritical: {Severity: finding.Warn, Group: finding.Safer, Weight: 55,
			Message: "No authority may issue certificates for %[1]s: its CAA record “%[2]s” is critical, and no authority " +
				"knows its tag.",
			Remedy:    "Remove the record, correct its tag, or set its flags to 0.",
			Reference: "https://www.rfc-editor.org/rfc/rfc8659#section-4.1"},
		codeCAAUnparsable: {Severity: finding.Warn, Group: finding.Safer, Weight: 45,
			Message:   "The CAA record “%[2]s” of %[1]s is malformed, so authorities read it as naming no issuer.",
			Remedy:    "Write the domain name of the authority, or \";\" for none.",
			Reference: "https://www.rfc-editor.org/rfc/rfc8659#section-4.2"},
		codeCAANoIssuer: {Severity: finding.Info, Group: finding.Note, Weight: 20,
			Message: "No authority may issue certificates for %[1]s (CAA)."},
		codeCAAIssuers: {Severity: finding.Info, Group: finding.Note, Weight: 6,
			Message: "Only %[2]s may issue certificates for %[1]s (CAA)."},
		codeCAAAny: {Severity: finding.Info, Group: finding.Note, Weight: 6,
			Message: "Any authority may issue certificates for %[1]s: its CAA records do not restrict that."},
		codeCAANoWildcards: {Severity: finding.Info, Group: finding.Note, Weight: 5,
			Message: "No authority may issue wildcard certificates for %[1]s (CAA)."},
		codeCAAWildcards: {Severity: finding.Info, Group: finding.Note, Weight: 5,
			Message: "Only %[2]s may issue wildcard certificates for %[1]s (CAA)."},
		codeCAAReports: {Severity: finding.Info, Group: finding.Note, Weight: 4,
			Message: "Authorities may report refused requests for %[1]s to %[2]s (CAA)."},
		codeCAANotKnown: {Severity: finding.Info, Group: finding.Note, Weight: 10,
			Message: "Who may issue certificates for %[1]s is not known: the lookup of its CAA records failed."},
	},
}

// failures are the codes of failed lookups in words that follow a colon.
var failures = map[string]string{
	dnsclient.CodeServFail:    "its name servers fail, or its DNSSEC signatures are not valid (SERVFAIL)",
	dnsclient.CodeRefused:     "the resolver refused to answer (REFUSED)",
	dnsclient.CodeFormErr:     "the resolver could not read the query (FORMERR)",
	dnsclient.CodeNotImp:      "the resolver does not support this kind of query (NOTIMP)",
	dnsclient.CodeBadResp:     "the answer was malformed, or its aliases form a loop",
	dnsclient.CodeTimeout:     "no answer came in time",
	dnsclient.CodeConnRefused: "the resolver could not be reached",
}

// outcome is what the report of a result is made from.
type outcome struct {
	name      string
	types     []uint16
	answers   []dnsclient.Answer
	existence dnsclient.Existence
}

// report returns the conclusion and the findings.
func (o outcome) report() finding.Report {
	found := append(o.remarks(), o.caa()...)
	failed := o.which(func(a *dnsclient.Answer) bool { return !a.Conclusive() })
	switch {
	case len(failed) == len(o.types):
		return o.failed(failed, found)
	case o.existence.Absent:
		return o.absent(found)
	case !o.existence.Exists:
		return o.both(codeNotProved, found, listTypes(o.existence.Denied))
	}
	base := o.records(len(failed) > 0)
	if code := base.Code; code == codeNoRecords || code == codeNoRecord {
		found = append(found, catalogue.Find(code, o.who(), listTypes(o.types[:1])))
	}
	c := base
	for _, code := range o.codesOf(failed) {
		types := o.which(func(a *dnsclient.Answer) bool { return a.Code == code })
		kind := codeTypeNotKnown
		if code == dnsclient.CodeServFail {
			kind = codeTypeFails
		}
		f := catalogue.Find(kind, o.name, listTypes(types), failures[code])
		found = append(found, f.About(finding.Resolution(o.name)))
		c = catalogue.Conclude(kind, base.Message, listTypes(failed))
	}
	if o.existence.Contradicts() {
		denied := listTypes(o.existence.Denied)
		found = append(found, catalogue.Find(codeContradicts, o.name, denied).About(finding.Denials(o.name)))
		c = catalogue.Conclude(codeContradicts, base.Message, denied)
	}
	return finding.NewReport(c, found...)
}

// both is a report whose conclusion is a finding, too: one about the resolution of the name.
func (o outcome) both(code string, found []finding.Finding, args ...any) finding.Report {
	args = append([]any{o.name}, args...)
	f := catalogue.Find(code, args...).About(finding.Resolution(o.name))
	return finding.NewReport(catalogue.Conclude(code, args...), append(found, f)...)
}

// failed is the report where no type was answered.
func (o outcome) failed(failed []uint16, found []finding.Finding) finding.Report {
	codes := o.codesOf(failed)
	for i := range found { // of why it failed
		found[i] = found[i].About(finding.Resolution(o.name))
	}
	if slices.Contains(codes, dnsclient.CodeServFail) {
		return o.both(codeFails, found, failures[dnsclient.CodeServFail])
	}
	return o.both(codeNotLookedUp, found, failures[codes[0]])
}

func (o outcome) absent(found []finding.Finding) finding.Report {
	if alias := o.alias(); alias != "" {
		return o.both(codeNoAliasTarget, found, alias)
	}
	return o.both(codeNoSuchName, found)
}

// records concludes from the types that were answered. Where others failed an absence is only one of records found.
func (o outcome) records(someFailed bool) finding.Conclusion {
	if alias := o.alias(); len(o.types) == 1 && o.types[0] == dns.TypeCNAME && alias != "" {
		return catalogue.Conclude(codeAlias, o.name, alias)
	}
	var addresses []string
	var found []int // the types that have records, by their place
	more := false
	for i, qtype := range o.types {
		answer := &o.answers[i]
		if answer.Code != "" || qtype == dns.TypeCNAME {
			continue
		}
		if qtype == dns.TypeA || qtype == dns.TypeAAAA {
			var shown recordSet
			shown.take(qtype, answer)
			addresses, more = append(addresses, append(shown.A, shown.AAAA...)...), more || answer.Cut
		}
		found = append(found, i)
	}
	switch {
	case len(addresses) > 0:
		return catalogue.Conclude(codePointsTo, o.who(), listAddresses(addresses, more))
	case len(found) > 0:
		var counts []string
		for _, i := range found {
			counts = append(counts, countOf(o.types[i], &o.answers[i]))
		}
		if len(found) == 1 && !o.answers[found[0]].Cut { // the sentence has room for the answer itself
			counts[0] += named(o.types[found[0]], &o.answers[found[0]])
		}
		return catalogue.Conclude(codeHasRecords, o.who(), text.Listed(counts))
	case len(o.types) == 1 && !someFailed:
		return catalogue.Conclude(codeNoRecord, o.who(), listTypes(o.types))
	}
	return catalogue.Conclude(codeNoRecords, o.who())
}

// mostAddresses is how many addresses a sentence names.
const mostAddresses = 4

func listAddresses(all []string, more bool) string {
	if more {
		return text.Listed(append(slices.Clone(all[:min(len(all), mostAddresses)]), "others"))
	}
	return text.ListedUpTo(mostAddresses, all, func(a string) string { return a })
}

// countOf is "2 MX records", without a number where the server sent more than are kept. A name has one SOA record.
func countOf(qtype uint16, answer *dnsclient.Answer) string {
	n, kind := len(answer.Records), dns.TypeToString[qtype]
	if answer.Cut {
		return kind + " records"
	}
	if qtype == dns.TypeSOA {
		n = 1
	}
	return fmt.Sprintf("%d %s %s", n, kind, text.Number(n, "record", "records"))
}

// mostOfValue is how many characters of a name or text a sentence has.
const mostOfValue = 100

// named is the first values of one type after a colon; empty for types whose values take more words.
func named(qtype uint16, answer *dnsclient.Answer) string {
	var shown recordSet
	shown.take(qtype, answer)
	values, format := slices.Concat(shown.NS, shown.PTR), "%s"
	for _, mx := range shown.MX {
		values = append(values, mx.Exchange)
	}
	if qtype == dns.TypeTXT {
		values, format = shown.TXT, "“%s”"
	}
	if len(values) == 0 {
		return ""
	}
	return ": " + text.ListedUpTo(mostAddresses, values, func(value string) string {
		return fmt.Sprintf(format, text.Show(value, mostOfValue))
	})
}

// remark is how many characters of a resolver's own words are quoted, and maxRemarks how many remarks are reported.
const (
	remark     = 200
	maxRemarks = 5
)

// remarks are the extended errors, each once.
func (o outcome) remarks() []finding.Finding {
	var found []finding.Finding
	var seen []dnsclient.ExtendedError
	for i := range o.answers {
		for _, e := range o.answers[i].Extended {
			if len(seen) == maxRemarks || slices.Contains(seen, e) {
				continue
			}
			seen = append(seen, e)
			words := fmt.Sprintf("%s (extended error %d)", e.Name, e.Code)
			if quoted := text.Show(e.Text, remark); quoted != "" {
				words += fmt.Sprintf(": “%s”", quoted)
			}
			found = append(found, catalogue.Find(codeRemark, o.name, words))
		}
	}
	return found
}

// which are the types whose answer is such.
func (o outcome) which(is func(*dnsclient.Answer) bool) []uint16 {
	var types []uint16
	for i, qtype := range o.types {
		if is(&o.answers[i]) {
			types = append(types, qtype)
		}
	}
	return types
}

// codesOf are the codes of the answers for these types, each once.
func (o outcome) codesOf(types []uint16) []string {
	var codes []string
	for i, qtype := range o.types {
		if slices.Contains(types, qtype) && !slices.Contains(codes, o.answers[i].Code) {
			codes = append(codes, o.answers[i].Code)
		}
	}
	return codes
}

// alias is the end of the longest chain of aliases, empty where the name is none.
func (o outcome) alias() string {
	var longest []string
	for i, qtype := range o.types {
		answer := &o.answers[i]
		chain := answer.CNAMEChain
		if qtype == dns.TypeCNAME && answer.Code == "" {
			var shown recordSet
			shown.take(qtype, answer)
			chain = shown.CNAME
		}
		if len(chain) > len(longest) {
			longest = chain
		}
	}
	if len(longest) == 0 {
		return ""
	}
	return longest[len(longest)-1]
}

// who is the name, with what it is an alias of.
func (o outcome) who() string {
	if alias := o.alias(); alias != "" {
		return fmt.Sprintf("%s (an alias of %s)", o.name, alias)
	}
	return o.name
}

func listTypes(types []uint16) string {
	return text.ListedUpTo(len(types), types, func(t uint16) string { return dns.TypeToString[t] })
}
