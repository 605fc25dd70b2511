package dnslookup

import (
	"fmt"
	"net/netip"
	"slices"

	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/shared/netpolicy"

	"github.com/miekg/dns"
)

// outcome is what the report of a result is made from.
type outcome struct {
	name      string
	types     []uint16
	answers   []dnsclient.Answer
	existence dnsclient.Existence
	bogus     bool // an answer fails the resolver's validation
	reason    dnsclient.ExtendedError
	loop      bool // its aliases lead back to one of them
}

// report returns the conclusion and the findings.
func (o outcome) report() finding.Report {
	report := rows.Draft()
	failed := o.which(func(a *dnsclient.Answer) bool { return !a.Conclusive() })
	about := ""
	if len(failed) == len(o.types) { // the remarks say why
		about = finding.Resolution(o.name)
	}
	o.remarks(report, about)
	o.caa(report, about)
	host := finding.Args{"host": o.name}
	switch {
	case o.loop:
		return o.both(report, codeAliasLoop, host)
	case about == "" && o.aliasFails():
		reason := o.codesOf(failed)[0]
		return o.both(report, codeAliasFails, o.who().With(finding.Args{"reason": reason}))
	case about != "":
		codes := o.codesOf(failed)
		if o.bogus {
			return o.both(report, codeBogus, fault.BogusArgs(o.name, o.reason.Name, int(o.reason.Code), o.reason.Text))
		}
		if slices.Contains(codes, dnsclient.CodeServFail) {
			return o.both(report, codeFails, host.With(finding.Args{"reason": dnsclient.CodeServFail}))
		}
		return o.both(report, codeNotLookedUp, host.With(finding.Args{"reason": codes[0]}))
	case o.existence.Absent && o.alias() != "":
		return o.both(report, codeNoAliasTarget, o.who())
	case o.existence.Absent:
		return o.both(report, codeNoSuchName, host)
	case !o.existence.Exists:
		return o.both(report, codeNotProved, host.With(finding.Args{"types": names(o.existence.Denied)}))
	}
	found, args := o.records(len(failed) > 0)
	if found == codeNoRecords || found == codeNoRecord || found == codeInside {
		report.Add(found, "", args)
	}
	code, concluded := found, args
	beside := args.With(finding.Args{"found": found})
	for _, failure := range o.codesOf(failed) {
		code = codeTypeNotKnown
		if failure == dnsclient.CodeServFail {
			code = codeTypeFails
		}
		types := o.which(func(a *dnsclient.Answer) bool { return a.Code == failure })
		report.Add(code, finding.Resolution(o.name),
			finding.Args{"types": names(types), "of": o.name, "reason": failure})
		concluded = beside.With(finding.Args{"types": names(failed)})
	}
	if o.existence.Contradicts() {
		code = codeContradicts
		denied := names(o.existence.Denied)
		report.Add(code, finding.Denials(o.name), finding.Args{"of": o.name, "types": denied})
		concluded = beside.With(finding.Args{"types": denied})
	}
	switch o.chainOfTrust() {
	case noSuchKey:
		return o.both(report, codeDSWithoutKey, host)
	case noDS:
		report.Add(codeKeysWithoutDS, "", host)
	}
	return report.Conclude(code, concluded)
}

type trust int

const (
	unbroken  trust = iota // or not looked at
	noSuchKey              // no DS record at the parent names a key of the zone
	noDS                   // the zone has keys, and its parent has no DS record
)

// chainOfTrust compares the DS and DNSKEY records, if both types were asked for and came whole (RFC 4035, section 5.2).
func (o outcome) chainOfTrust() trust {
	i, j := slices.Index(o.types, dns.TypeDS), slices.Index(o.types, dns.TypeDNSKEY)
	if i < 0 || j < 0 || o.alias() != "" {
		return unbroken
	}
	ds, keys := &o.answers[i], &o.answers[j]
	var shown recordSet
	shown.take(dns.TypeDS, ds)
	shown.take(dns.TypeDNSKEY, keys)
	whole := func(a *dnsclient.Answer) bool { return !a.Cut && (a.Code == "" || a.Code == dnsclient.CodeNoData) }
	named := slices.ContainsFunc(shown.DS, func(ds dsRecord) bool {
		return slices.ContainsFunc(shown.DNSKEY, func(key dnskeyRecord) bool {
			return key.KeyTag == ds.KeyTag && key.Algorithm == ds.Algorithm
		})
	})
	switch {
	case named || !whole(ds) || !whole(keys):
		return unbroken
	case len(shown.DS) > 0:
		return noSuchKey
	case len(shown.DNSKEY) > 0:
		return noDS
	}
	return unbroken
}

// aliasFails reports whether the name is an alias, and the lookup of every other type failed.
func (o outcome) aliasFails() bool {
	failed := o.which(func(a *dnsclient.Answer) bool {
		return a.Code == dnsclient.CodeServFail || a.Code == dnsclient.CodeBadResp
	})
	return len(failed) > 0 && len(failed) == len(o.types)-1 && !slices.Contains(failed, dns.TypeCNAME) &&
		slices.Contains(o.types, dns.TypeCNAME) && o.alias() != ""
}

// both concludes with a finding about the resolution of the name.
func (o outcome) both(report *finding.Draft, code string, args finding.Args) finding.Report {
	report.Add(code, finding.Resolution(o.name), args)
	return report.Conclude(code, args)
}

// records returns the code of what was found, and its arguments. If other types failed, an absence is only one of
// records found.
func (o outcome) records(someFailed bool) (code string, args finding.Args) {
	if len(o.types) == 1 && o.types[0] == dns.TypeCNAME && o.alias() != "" {
		return codeAlias, o.who()
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
	case len(addresses) > 0 && allInside(addresses):
		return codeInside, o.who().WithList("addresses", mostAddresses, addresses)
	case len(addresses) > 0:
		args := o.who().WithList("addresses", mostAddresses, addresses)
		if more {
			args["more"] = true
		}
		return codePointsTo, args
	case len(found) > 0:
		var counts []string
		for _, i := range found {
			counts = append(counts, countOf(o.types[i], &o.answers[i]))
		}
		args := o.who().With(finding.Args{"counts": counts})
		if len(found) == 1 && !o.answers[found[0]].Cut { // the sentence has room for the answer itself
			args = args.WithList("values", mostAddresses, valuesOf(o.types[found[0]], &o.answers[found[0]]))
		}
		return codeHasRecords, args
	case someFailed && o.alias() != "":
		return codeAlias, o.who()
	case len(o.types) == 1 && !someFailed:
		return codeNoRecord, o.who().With(finding.Args{"type": dns.TypeToString[o.types[0]]})
	}
	return codeNoRecords, o.who()
}

// allInside reports whether nobody outside of a private network can reach any of the addresses.
func allInside(addresses []string) bool {
	return !slices.ContainsFunc(addresses, func(address string) bool {
		a, err := netip.ParseAddr(address)
		return err != nil || netpolicy.Judge(a).Public
	})
}

// mostAddresses is how many addresses a sentence names.
const mostAddresses = 4

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

// valuesOf returns the values of a type whose values are short; none for the others.
func valuesOf(qtype uint16, answer *dnsclient.Answer) []string {
	var shown recordSet
	shown.take(qtype, answer)
	values, format := slices.Concat(shown.NS, shown.PTR), "%s"
	for _, mx := range shown.MX {
		values = append(values, mx.Exchange)
	}
	if qtype == dns.TypeTXT {
		values, format = shown.TXT, "“%s”"
	}
	for i, value := range values {
		values[i] = fmt.Sprintf(format, text.Show(value, mostOfValue))
	}
	return values
}

// remark is how many characters of a resolver's own words are quoted, and maxRemarks how many remarks are reported.
const (
	remark     = 200
	maxRemarks = 5
)

// remarks reports the extended errors, each once.
func (o outcome) remarks(report *finding.Draft, about string) {
	var seen []dnsclient.ExtendedError
	for i := range o.answers {
		for _, e := range o.answers[i].Extended {
			if len(seen) == maxRemarks || slices.Contains(seen, e) || o.bogus && e == o.reason {
				continue
			}
			seen = append(seen, e)
			report.Add(codeRemark, about, finding.Args{"host": o.name, "remark": e.Name, "number": e.Code,
				"text": text.Show(e.Text, remark)})
		}
	}
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

// who returns the name, and the name that it is an alias of.
func (o outcome) who() finding.Args { return finding.Args{"host": o.name, "alias": o.alias()} }

func names(types []uint16) []string {
	var all []string
	for _, t := range types {
		all = append(all, dns.TypeToString[t])
	}
	return all
}
