// Package tlsrpt judges a domain's SMTP TLS reporting records (RFC 8460 section 3). It is pure: no I/O.
package tlsrpt

import (
	"strings"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/gateway/internal/tool/finding"
)

const version = "TLSRPTv1"

// Report is what the records say.
type Report struct {
	// Record is the one record, empty where there is none or several.
	Record string
	// Found reports whether there is any.
	Found bool
	// Addresses are the valid URIs that reports go to.
	Addresses []string
	Issues    mail.Issues
}

// maxAddresses bounds how many are read.
const maxAddresses = 20

// Read judges the TXT records at _smtp._tls.
func Read(txt []string) Report {
	var r Report
	records, near := mail.RecordsOf(txt, version)
	for _, record := range near {
		r.Issues.Add("TLSRPT_VERSION", finding.Args{"record": mail.Quoted(record)})
	}
	switch len(records) {
	case 0:
	case 1:
		r.Found, r.Record = true, records[0]
		r.read()
	default:
		r.Found = true
		r.Issues.Add("TLSRPT_SEVERAL_RECORDS", finding.Args{"records": len(records)})
	}
	return r
}

func (r *Report) read() {
	tags, broken := mail.ParseTags(r.Record)
	for _, part := range broken {
		r.Issues.Add("TLSRPT_SYNTAX", finding.Args{"part": mail.Quoted(part)})
	}
	rua, ok := tags.Get("rua")
	if !ok || rua == "" {
		r.Issues.Add("TLSRPT_NO_ADDRESS", nil)
		return
	}
	for i, part := range strings.SplitN(rua, ",", maxAddresses+1) {
		if i == maxAddresses {
			r.Issues.Add("TLSRPT_TOO_MANY_ADDRESSES", finding.Args{"most": maxAddresses})
			break
		}
		r.address(part)
	}
	if len(r.Addresses) == 0 {
		r.Issues.Add("TLSRPT_NO_USABLE_ADDRESS", nil)
	}
}

func (r *Report) address(part string) {
	uri, problem := mail.ParseReportURI(part)
	if problem == "" && uri.Scheme != "mailto" && uri.Scheme != "https" {
		problem = "REPORT_URI_OTHER_SCHEME"
	}
	if problem != "" {
		r.Issues.Add("TLSRPT_URI_INVALID", finding.Args{"address": mail.Quoted(part), "problem": problem})
		return
	}
	r.Addresses = append(r.Addresses, uri.Text)
}
