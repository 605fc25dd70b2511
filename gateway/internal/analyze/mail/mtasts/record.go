// Package mtasts judges a domain's MTA-STS record and policy (RFC 8461). It is pure: the policy is fetched by the
// caller.
package mtasts

import (
	"fmt"
	"regexp"

	"diagnostics/gateway/internal/analyze/mail"
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

const sectionRecord = "RFC 8461 section 3.1"

// ReadRecord judges the TXT records at _mta-sts.
func ReadRecord(txt []string) Record {
	var r Record
	records, near := mail.RecordsOf(txt, version)
	for _, record := range near {
		r.fail("MTASTS_VERSION", "The TXT record %q is not recognized as MTA-STS. It must begin with v=STSv1; in exactly "+
			"this spelling.", mail.Show(record))
	}
	switch len(records) {
	case 0:
	case 1:
		r.Found, r.Text = true, records[0]
		r.read()
	default:
		r.Found = true
		r.fail("MTASTS_SEVERAL_RECORDS",
			"There are %d MTA-STS records, so senders act as if there were no policy. Keep one.", len(records))
	}
	return r
}

func (r *Record) fail(code, format string, args ...any) {
	r.Issues.Add(mail.Fail, code, sectionRecord, fmt.Sprintf(format, args...))
}

func (r *Record) read() {
	tags, broken := mail.ParseTags(r.Text)
	for _, part := range broken {
		r.fail("MTASTS_RECORD_SYNTAX", "%q is not a tag with a value. Write v=STSv1; id=…;", mail.Show(part))
	}
	id, ok := tags.Get("id")
	switch {
	case !ok:
		r.fail("MTASTS_ID", "The record has no id. Add one, such as id=20260101000000, and change it whenever the policy "+
			"changes.")
	case !validID.MatchString(id):
		r.fail("MTASTS_ID", "The id %q is not valid. Use up to 32 letters and digits.", mail.Show(id))
	default:
		r.ID = id
	}
}
