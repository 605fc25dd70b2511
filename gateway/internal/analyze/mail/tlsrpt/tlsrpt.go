// Package tlsrpt judges a domain's SMTP TLS reporting records (RFC 8460 section 3). It is pure: no I/O.
package tlsrpt

import (
	"fmt"
	"strings"

	"diagnostics/gateway/internal/analyze/mail"
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

const section = "RFC 8460 section 3"

// Read judges the TXT records at _smtp._tls.
func Read(txt []string) Report {
	var r Report
	records, near := mail.RecordsOf(txt, version)
	for _, record := range near {
		r.add(mail.Fail, "TLSRPT_VERSION", "The TXT record %q is not recognized as TLS reporting. It must begin with "+
			"v=TLSRPTv1; in exactly this spelling.", mail.Show(record))
	}
	switch len(records) {
	case 0:
	case 1:
		r.Found, r.Record = true, records[0]
		r.read()
	default:
		r.Found = true
		r.add(mail.Fail, "TLSRPT_SEVERAL_RECORDS",
			"There are %d TLS reporting records, so senders use none of them. Keep one.", len(records))
	}
	return r
}

func (r *Report) add(severity mail.Severity, code, format string, args ...any) {
	r.Issues.Add(severity, code, section, fmt.Sprintf(format, args...))
}

func (r *Report) read() {
	tags, broken := mail.ParseTags(r.Record)
	for _, part := range broken {
		r.add(mail.Warn, "TLSRPT_SYNTAX", "%q is not a tag with a value. Write tag=value pairs, separated by semicolons.",
			mail.Show(part))
	}
	rua, ok := tags.Get("rua")
	if !ok || rua == "" {
		r.add(mail.Fail, "TLSRPT_NO_ADDRESS",
			"The record has no rua tag, so it requests no reports. Add rua=mailto:… or rua=https://….")
		return
	}
	for i, part := range strings.SplitN(rua, ",", maxAddresses+1) {
		if i == maxAddresses {
			r.add(mail.Warn, "TLSRPT_TOO_MANY_ADDRESSES",
				"The record has more than %d addresses; the others were not read.", maxAddresses)
			break
		}
		r.address(part)
	}
	if len(r.Addresses) == 0 {
		r.add(mail.Fail, "TLSRPT_NO_ADDRESS",
			"None of the addresses in rua can be used. Use mailto:name@example.com or an https URL.")
	}
}

func (r *Report) address(part string) {
	uri, problem := mail.ParseReportURI(part)
	if problem == "" && uri.Scheme != "mailto" && uri.Scheme != "https" {
		problem = "is neither mailto nor https"
	}
	if problem != "" {
		r.add(mail.Warn, "TLSRPT_URI_INVALID", "The address %q %s, so no reports go there. Use mailto:name@example.com "+
			"or an https URL.", mail.Show(part), problem)
		return
	}
	r.Addresses = append(r.Addresses, uri.Text)
}
