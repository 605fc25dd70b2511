// Package caa interprets the CAA records of a name as certification authorities must (RFC 8659). It is pure: no I/O.
package caa

import (
	"regexp"
	"slices"
	"strings"
)

// Record is one CAA record.
type Record struct {
	Flags uint8
	Tag   string
	Value string
}

// Policy is who may issue certificates for a name by its own records. A name without any inherits those of its parents
// (section 3), which are not part of it.
type Policy struct {
	// Restricted means that only Issuers may issue, in order and each once: none where the list is empty.
	Restricted bool
	Issuers    []string
	// WildRestricted and Wildcards are the same for wildcard certificates, which follow Restricted where no record is
	// about them alone.
	WildRestricted bool
	Wildcards      []string
	// Reports are where authorities may report requests that they refused.
	Reports []string
	// Critical are the records that are marked as critical and whose tag no authority understands: none may issue (section
	// 4.1).
	Critical []Record
	// Unparsable are the issue and issuewild records that name no issuer because their value is malformed (section 4.2).
	Unparsable []Record
}

// critical is the flag of a property that an authority must understand.
const critical = 128

// known are the properties that authorities understand: those of IANA's registry but for the ones that it only
// reserves.
var known = []string{"issue", "issuewild", "iodef", "issuemail", "issuevmc", "contactemail", "contactphone"}

// Read interprets records.
func Read(records []Record) Policy {
	var p Policy
	for _, r := range records {
		tag := strings.ToLower(r.Tag)
		switch {
		case tag == "issue":
			p.Restricted = true
			p.Issuers = p.issuer(r, p.Issuers)
		case tag == "issuewild":
			p.WildRestricted = true
			p.Wildcards = p.issuer(r, p.Wildcards)
		case tag == "iodef":
			p.Reports = append(p.Reports, r.Value)
		case r.Flags&critical != 0 && !slices.Contains(known, tag):
			p.Critical = append(p.Critical, r)
		}
	}
	if !p.WildRestricted {
		p.WildRestricted, p.Wildcards = p.Restricted, p.Issuers
	}
	if len(p.Critical) > 0 {
		p.Restricted, p.Issuers, p.WildRestricted, p.Wildcards = true, nil, true, nil
	}
	return p
}

// issuer adds the issuer that a record names, where it names one.
func (p *Policy) issuer(r Record, to []string) []string {
	name, ok := Issuer(r.Value)
	if !ok {
		p.Unparsable = append(p.Unparsable, r)
	}
	if name == "" || slices.Contains(to, name) {
		return to
	}
	return append(to, name)
}

// The grammar of section 4.2; its blanks are spaces and tabs.
const (
	label     = `[0-9A-Za-z](?:-*[0-9A-Za-z])*`
	blank     = `[ \t]*`
	parameter = label + blank + `=` + blank + `[\x21-\x3a\x3c-\x7e]*`
)

var issueValue = regexp.MustCompile(`^` + blank + `(` + label + `(?:\.` + label + `)*)?` + blank +
	`(?:;` + blank + `(?:` + parameter + `(?:` + blank + `;` + blank + parameter + `)*)?` + blank + `)?$`)

// Issuer returns the issuer-domain-name of a value of issue or issuewild, in lower case, or an empty one, which stands
// for no authority at all. ok is false for a malformed value, which counts as one with an empty name.
func Issuer(value string) (name string, ok bool) {
	parts := issueValue.FindStringSubmatch(value)
	if parts == nil {
		return "", false
	}
	return strings.ToLower(parts[1]), true
}
