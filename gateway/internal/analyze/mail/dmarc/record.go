package dmarc

import (
	"regexp"
	"slices"
	"strings"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/gateway/internal/tool/finding"
)

// Policy is what a domain requests receivers to do with mail that fails.
type Policy string

// The policies of RFC 9989 section 4.7.
const (
	None       Policy = "none"
	Quarantine Policy = "quarantine"
	Reject     Policy = "reject"
)

// milder is one step below the policy, which is what receivers apply while it is tested (t=y).
func (p Policy) milder() Policy {
	if p == Reject {
		return Quarantine
	}
	return None
}

func (p Policy) rank() int { return slices.Index([]Policy{None, Quarantine, Reject}, p) }

const version = "DMARC1"

// Record is a DMARC policy record.
type Record struct {
	Text string
	// P, SP and NP are empty where the tag is absent or not valid.
	P, SP, NP Policy
	// PSD is y, n or u.
	PSD        string
	Test       bool
	StrictDKIM bool
	StrictSPF  bool
	Aggregate  []mail.ReportURI
	Failure    []mail.ReportURI
	// invalid lists each p, sp or np that has a value and no meaning.
	invalid bool
	tags    mail.Tags
	broken  []string
}

// versionTag is dmarc-version of RFC 9989 section 4.8, with what may follow it: the name of the tag has no case, its
// value has, blanks may stand around the equals sign, and nothing before the tag.
var versionTag = regexp.MustCompile(`^[vV][ \t]*=[ \t]*` + version + `[ \t]*(;|$)`)

// IsRecord reports whether a TXT record is a DMARC record.
func IsRecord(txt string) bool { return versionTag.MatchString(txt) }

// Parse reads a DMARC record. What is not valid is left at its default, as RFC 9989 section 4.7 says, and reported in
// issues.
func Parse(text string) (Record, mail.Issues) {
	r := Record{Text: text, PSD: "u"}
	r.tags, r.broken = mail.ParseTags(text)
	// Tag names are ABNF strings, which have no case.
	for i := range r.tags {
		r.tags[i].Name = strings.ToLower(r.tags[i].Name)
	}
	p := parser{record: &r}
	p.syntax()
	p.policies()
	p.flags()
	r.Aggregate = p.addresses("rua")
	r.Failure = p.addresses("ruf")
	p.retired()
	return r, p.issues
}

// parser reads the tags of one record.
type parser struct {
	record *Record
	issues mail.Issues
}

func (p *parser) syntax() {
	for _, part := range p.record.broken {
		p.issues.Add("DMARC_SYNTAX", finding.Args{"part": mail.Quoted(part)})
	}
	for _, name := range p.record.tags.Doubles() {
		p.issues.Add("DMARC_TAG_TWICE", finding.Args{"tag": mail.Show(name)})
	}
	if strings.Contains(p.record.Text, `\`) {
		p.issues.Add("DMARC_BACKSLASH", nil)
	}
	for _, tag := range p.record.tags {
		if !known[tag.Name] {
			p.issues.Add("DMARC_TAG_UNKNOWN", finding.Args{"tag": mail.Show(tag.Name)})
		}
	}
}

var known = map[string]bool{
	"v": true, "p": true, "sp": true, "np": true, "adkim": true, "aspf": true, "fo": true, "rua": true, "ruf": true,
	"psd": true, "t": true,
	"pct": true, "rf": true, "ri": true,
}

func (p *parser) policies() {
	for name, into := range map[string]*Policy{"p": &p.record.P, "sp": &p.record.SP, "np": &p.record.NP} {
		value, ok := p.record.tags.Get(name)
		if !ok {
			continue
		}
		switch policy := Policy(strings.ToLower(value)); policy {
		case None, Quarantine, Reject:
			*into = policy
		default:
			p.record.invalid = true
		}
	}
	if p.record.invalid {
		p.issues.Add("DMARC_POLICY_INVALID", nil)
	}
	if _, ok := p.record.tags.Get("p"); !ok {
		p.issues.Add("DMARC_POLICY_ABSENT", nil)
		return
	}
	if len(p.record.tags) > 1 && p.record.tags[1].Name != "p" {
		p.issues.Add("DMARC_POLICY_NOT_SECOND", nil)
	}
}

// flags reads the tags of one letter.
func (p *parser) flags() {
	p.record.StrictDKIM = p.letter("adkim", "rs", 'r') == 's'
	p.record.StrictSPF = p.letter("aspf", "rs", 'r') == 's'
	p.record.Test = p.letter("t", "yn", 'n') == 'y'
	p.record.PSD = string(p.letter("psd", "ynu", 'u'))
	value, ok := p.record.tags.Get("fo")
	if !ok {
		return
	}
	for option := range strings.SplitSeq(strings.ToLower(value), ":") {
		if option = strings.TrimSpace(option); option != "0" && option != "1" && option != "d" && option != "s" {
			p.issues.Add("DMARC_VALUE_INVALID", finding.Args{"tag": "fo"})
			break
		}
	}
	if _, ok := p.record.tags.Get("ruf"); !ok {
		p.issues.Add("DMARC_FO_WITHOUT_RUF", nil)
	}
}

func (p *parser) letter(name, allowed string, otherwise byte) byte {
	value, ok := p.record.tags.Get(name)
	if !ok {
		return otherwise
	}
	if value = strings.ToLower(value); len(value) == 1 && strings.Contains(allowed, value) {
		return value[0]
	}
	p.issues.Add("DMARC_VALUE_INVALID", finding.Args{"tag": name, "used": string(otherwise),
		"allowed": strings.Join(strings.Split(allowed, ""), ", ")})
	return otherwise
}

// maxAddresses bounds how many report addresses of a tag are read.
const maxAddresses = 20

func (p *parser) addresses(name string) []mail.ReportURI {
	value, ok := p.record.tags.Get(name)
	if !ok {
		return nil
	}
	var valid []mail.ReportURI
	for i, part := range strings.SplitN(value, ",", maxAddresses+1) {
		if i == maxAddresses {
			p.issues.Add("DMARC_TOO_MANY_ADDRESSES", finding.Args{"tag": name, "most": maxAddresses})
			break
		}
		uri, problem := mail.ParseReportURI(part)
		if problem != "" {
			p.issues.Add("DMARC_REPORT_URI_INVALID", finding.Args{"address": mail.Quoted(part), "tag": name,
				"problem": problem})
			continue
		}
		if uri.Scheme != "mailto" {
			p.issues.Add("DMARC_REPORT_URI_SCHEME", finding.Args{"address": mail.Quoted(part), "tag": name})
		}
		if uri.Size != "" {
			p.issues.Add("DMARC_REPORT_SIZE", finding.Args{"tag": name})
		}
		valid = append(valid, uri)
	}
	return valid
}

// retired names the tags of RFC 7489 that RFC 9989 took back.
func (p *parser) retired() {
	for _, name := range []string{"rf", "ri"} {
		if _, ok := p.record.tags.Get(name); ok {
			p.issues.Add("DMARC_TAG_RETIRED", finding.Args{"tag": name})
		}
	}
	pct, ok := p.record.tags.Get("pct")
	switch {
	case !ok:
	case pct == "100":
		p.issues.Add("DMARC_TAG_RETIRED", finding.Args{"tag": "pct", "default": pct})
	default:
		p.issues.Add("DMARC_PCT", nil)
	}
}
