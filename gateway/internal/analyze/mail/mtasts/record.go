// Package mtasts judges a domain's MTA-STS record and policy (RFC 8461). It is pure: the policy is fetched by the
// caller.
package mtasts

import (
	"regexp"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/gateway/internal/tool/finding"
)

const version = "STSv1"

// Record is what the TXT records at _mta-sts say.
type Record struct {
	// Text is the one record, empty where there is none or several.
	Text string
	// Found reports whether there is any.
	Found  bool
	ID     string
	Issues mail.Issues
}

// validID is sts-id of RFC 8461 section 3.1.
var validID = regexp.MustCompile(`^[A-Za-z0-9]{1,32}$`)

// ReadRecord judges the TXT records at _mta-sts.
func ReadRecord(txt []string) Record {
	var r Record
	records, near := mail.RecordsOf(txt, version)
	for _, record := range near {
		r.Issues.Add("MTASTS_VERSION", finding.Args{"record": mail.Quoted(record)})
	}
	switch len(records) {
	case 0:
	case 1:
		r.Found, r.Text = true, records[0]
		r.read()
	default:
		r.Found = true
		r.Issues.Add("MTASTS_SEVERAL_RECORDS", finding.Args{"records": len(records)})
	}
	return r
}

func (r *Record) read() {
	tags, broken := mail.ParseTags(r.Text)
	for _, part := range broken {
		r.Issues.Add("MTASTS_RECORD_SYNTAX", finding.Args{"part": mail.Quoted(part)})
	}
	id, ok := tags.Get("id")
	switch {
	case !ok:
		r.Issues.Add("MTASTS_ID_MISSING", nil)
	case !validID.MatchString(id):
		r.Issues.Add("MTASTS_ID", finding.Args{"id": mail.Quoted(id)})
	default:
		r.ID = id
	}
}
