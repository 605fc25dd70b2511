// Package bimi judges a domain's BIMI record, which offers mail programs a logo to show beside its mail
// (draft-brand-indicators-for-message-identification, on which all who show such logos agree). It is pure: no I/O, and
// nothing that a record points to is fetched.
package bimi

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/shared/netpolicy"
)

const version = "BIMI1"

// Report is what the records say.
type Report struct {
	// Record is the one record, empty where there is none or several.
	Record string
	// Unused says why what is published is not used at all; nil if a record is used, and if there is nothing.
	Unused *mail.Issue
	// Several means that there is more than one record, which ends the search for one.
	Several bool
	// Logo and Evidence are https URLs, empty where the record has none that can be used.
	Logo, Evidence string
	// Declined means that the record says openly that there is no logo.
	Declined bool
	Issues   mail.Issues
}

// Read judges the TXT records of default._bimi.
func Read(txt []string) Report {
	records := slices.DeleteFunc(slices.Clone(txt), func(t string) bool { return !mail.HasVersion(t, version) })
	if len(records) == 1 {
		r := Report{Record: records[0]}
		r.read()
		return r
	}
	if len(records) > 1 {
		return Report{Several: true, Unused: &mail.Issue{Code: "BIMI_SEVERAL_RECORDS",
			Args: finding.Args{"records": len(records)}}}
	}
	for _, t := range txt {
		if mail.NearVersion(t, version) {
			return Report{Unused: &mail.Issue{Code: "BIMI_VERSION", Args: finding.Args{"record": mail.Quoted(t)}}}
		}
	}
	return Report{}
}

func (r *Report) read() {
	tags, broken := mail.ParseTags(r.Record)
	if len(broken) > 0 {
		r.Issues.Add("BIMI_SYNTAX", finding.Args{"part": mail.Quoted(broken[0])})
	}
	if doubles := tags.Doubles(); len(doubles) > 0 {
		r.Issues.Add("BIMI_TAG_TWICE", finding.Args{"tag": mail.Show(doubles[0])})
	}
	logo, hasLogo := tags.Get("l")
	evidence, _ := tags.Get("a")
	switch {
	case logo != "":
		r.logo(logo)
	case hasLogo && evidence == "":
		r.Declined = true
		r.Issues.Add("BIMI_DECLINED", nil)
		return
	default:
		r.Issues.Add("BIMI_NO_LOGO", nil)
	}
	r.evidence(evidence)
}

func (r *Report) logo(text string) {
	address, problem := location(text)
	if problem != "" {
		r.Issues.Add("BIMI_LOGO_INVALID", finding.Args{"address": mail.Quoted(text), "problem": problem})
		return
	}
	r.Logo = text
	if suffix := strings.ToLower(path.Ext(address.Path)); suffix != ".svg" && suffix != ".svgz" {
		r.Issues.Add("BIMI_LOGO_FORMAT", nil)
	}
}

func (r *Report) evidence(text string) {
	if text == "" {
		r.Issues.Add("BIMI_NO_EVIDENCE", nil)
		return
	}
	if _, problem := location(text); problem != "" {
		r.Issues.Add("BIMI_EVIDENCE_INVALID", finding.Args{"address": mail.Quoted(text), "problem": problem})
		return
	}
	r.Evidence = text
}

// location takes an https URL of a public name; problem is the code of a clause on what is wrong with another.
func location(text string) (address *url.URL, problem string) {
	address, err := url.Parse(text)
	if err != nil || strings.ContainsAny(text, " ,") {
		return nil, "BIMI_URL_NOT_ONE"
	}
	if address.Scheme != "https" {
		return nil, "BIMI_URL_NOT_HTTPS"
	}
	if _, err := netpolicy.ParseName(address.Hostname(), true); err != nil {
		return nil, "BIMI_URL_NOT_PUBLIC"
	}
	return address, ""
}
