// Package bimi judges a domain's BIMI record, which offers mail programs a logo to show beside its mail
// (draft-brand-indicators-for-message-identification, on which all who show such logos agree). It is pure: no I/O, and
// nothing that a record points to is fetched.
package bimi

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/shared/netpolicy"
)

const version = "BIMI1"

// Section is where the record is defined.
const Section = "draft-brand-indicators-for-message-identification"

// Report is what the records say.
type Report struct {
	// Record is the one record, empty where there is none or several.
	Record string
	// Unused says in a sentence why what is published is not used at all; empty where a record is used, or where there is
	// nothing.
	Unused string
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
		return Report{Several: true, Unused: fmt.Sprintf("There are %d BIMI records, so mail programs use none of them. "+
			"Keep one.", len(records))}
	}
	for _, t := range txt {
		if mail.NearVersion(t, version) {
			return Report{Unused: fmt.Sprintf("The TXT record %q is not recognized as BIMI. It must begin with v=BIMI1; in "+
				"exactly this spelling.", mail.Show(t))}
		}
	}
	return Report{}
}

func (r *Report) add(severity mail.Severity, code, format string, args ...any) {
	r.Issues.Add(severity, code, Section, fmt.Sprintf(format, args...))
}

func (r *Report) read() {
	tags, broken := mail.ParseTags(r.Record)
	if len(broken) > 0 {
		r.add(mail.Warn, "BIMI_SYNTAX", "%q is not a tag with a value. Write tag=value pairs, separated by semicolons.",
			mail.Show(broken[0]))
	}
	if doubles := tags.Doubles(); len(doubles) > 0 {
		r.add(mail.Fail, "BIMI_TAG_TWICE", "The tag %s appears more than once. Keep one.", mail.Show(doubles[0]))
	}
	logo, hasLogo := tags.Get("l")
	evidence, _ := tags.Get("a")
	switch {
	case logo != "":
		r.logo(logo)
	case hasLogo && evidence == "":
		r.Declined = true
		r.add(mail.Info, "BIMI_DECLINED", "The record asks for no logo to be shown: its l tag is empty.")
		return
	default:
		r.add(mail.Fail, "BIMI_NO_LOGO", "The record names no logo, so none is shown. Set l= to the https address of "+
			"an SVG file.")
	}
	r.evidence(evidence)
}

func (r *Report) logo(text string) {
	address, problem := location(text)
	if problem != "" {
		r.add(mail.Fail, "BIMI_LOGO_INVALID", "The address of the logo, %q, %s. Use an https address of an SVG file.",
			mail.Show(text), problem)
		return
	}
	r.Logo = text
	if suffix := strings.ToLower(path.Ext(address.Path)); suffix != ".svg" && suffix != ".svgz" {
		r.add(mail.Warn, "BIMI_LOGO_FORMAT", "The address of the logo does not end in .svg or .svgz, and no other "+
			"format is shown.")
	}
}

func (r *Report) evidence(text string) {
	if text == "" {
		r.add(mail.Info, "BIMI_NO_EVIDENCE", "The record names no mark certificate (a=), without which Gmail and Apple "+
			"Mail, among others, show no logo.")
		return
	}
	if _, problem := location(text); problem != "" {
		r.add(mail.Fail, "BIMI_EVIDENCE_INVALID", "The address of the mark certificate, %q, %s. Use an https address.",
			mail.Show(text), problem)
		return
	}
	r.Evidence = text
}

// location takes an https URL of a public name; problem says what is wrong with another.
func location(text string) (*url.URL, string) {
	address, err := url.Parse(text)
	if err != nil || strings.ContainsAny(text, " ,") {
		return nil, "is not a single URL"
	}
	if address.Scheme != "https" {
		return nil, "does not begin with https://"
	}
	if _, err := netpolicy.ParseName(address.Hostname(), true); err != nil {
		return nil, "names no public host"
	}
	return address, ""
}
