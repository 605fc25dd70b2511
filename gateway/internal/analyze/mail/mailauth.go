// Package mail holds what the parsers and walkers of a domain's mail records share: issues, the errors of a lookup,
// tag lists and report addresses. The packages below it judge one kind of record each, ask the DNS through a small
// interface of their own, and do no other I/O.
package mail

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/text"
)

// Severity says how bad an issue is.
type Severity string

// The severities. Fail is a record that receivers refuse, ignore or are misled by; Warn works, but not as it should, or
// could not be looked up; Info is worth knowing.
const (
	Fail Severity = "fail"
	Warn Severity = "warn"
	Info Severity = "info"
)

// Issue is one finding.
type Issue struct {
	// Code is stable, in capitals with underscores.
	Code     string   `json:"code"`
	Severity Severity `json:"severity" wire:"enum=fail|warn|info"`
	// Message says what is wrong and what to change.
	Message string `json:"message"`
	// Reference is the RFC and its section.
	Reference string `json:"reference"`
	// Subject is the part of the domain's mail that the issue is about, such as a mail exchange; empty for a whole record.
	Subject string `json:"-"`
}

// Issues is a list of findings without doubles.
type Issues []Issue

// Add appends an issue, once.
func (list *Issues) Add(severity Severity, code, reference, message string) {
	issue := Issue{Code: code, Severity: severity, Message: message, Reference: reference}
	// The first fail is kept whatever came before it: it decides what the record comes to.
	room := len(*list) < maxIssues || severity == Fail && !list.Has(Fail)
	if room && !slices.Contains(*list, issue) {
		*list = append(*list, issue)
	}
}

// About sets the subject of the issues.
func (list Issues) About(subject string) {
	for i := range list {
		list[i].Subject = subject
	}
}

// maxIssues bounds what one hostile record can make us keep, one more than MaxShown so that it is known that there are
// more.
const maxIssues = MaxShown + 1

// MaxShown is how many issues of a record are worth showing.
const MaxShown = 100

// Has reports whether the list has an issue of the severity.
func (list Issues) Has(severity Severity) bool {
	return slices.ContainsFunc(list, func(i Issue) bool { return i.Severity == severity })
}

// HasCode reports whether the list has an issue with the code.
func (list Issues) HasCode(code string) bool {
	return slices.ContainsFunc(list, func(i Issue) bool { return i.Code == code })
}

// ErrNotFound is the answer that a name does not exist (NXDOMAIN). A name that exists without records of the type
// queried for is an empty list and no error.
var ErrNotFound = errors.New("the name does not exist")

// LookupError is a lookup without a usable answer: nothing is known about the name.
type LookupError struct {
	// Code is that of Node's dns module (ESERVFAIL, ETIMEOUT …), CodeBound, CodeLong, CodeName, CodeBusy or
	// CodeResolver.
	Code string
}

// The codes of a LookupError that no server gave.
const (
	// CodeBound is a lookup that was not made, because the run had made as many as it may.
	CodeBound = "EBOUND"
	// CodeLong is an answer with more records than are read, or one that there was no room for beside the run's others.
	CodeLong = "ELONG"
	// CodeName is a lookup that was not made, because the name is not one of the public DNS.
	CodeName = "EBADNAME"
	// CodeBusy is a lookup that this service lacked the means to make.
	CodeBusy = "EBUSY"
	// CodeResolver is a lookup that failed because this service's own resolver does not work.
	CodeResolver = "ERESOLVER"
)

func (e *LookupError) Error() string { return "the lookup failed (" + e.Code + ")" }

// reasons say what the codes mean; the others are those of name servers.
var reasons = map[string]string{
	CodeBound:    "the records lead to more lookups than one run makes",
	CodeLong:     "the answers are larger than this service reads",
	CodeName:     "it is not a name in the public DNS",
	CodeBusy:     "this service " + fault.ShortagePhrase,
	CodeResolver: "this service's own resolver does not work",
	"ETIMEOUT":   "its name servers did not answer in time",
	"ESERVFAIL":  "its name servers or its DNSSEC signatures failed (SERVFAIL)",
}

// Reason puts a LookupError in words that follow "could not be looked up: ".
func (e *LookupError) Reason() string {
	return cmp.Or(reasons[e.Code], "the name servers failed ("+strings.TrimPrefix(e.Code, "E")+")")
}

// Advice is a sentence on what to do about the failure. The name servers are to be repaired where they may have failed.
func (e *LookupError) Advice() string {
	switch e.Code {
	case CodeBusy, CodeResolver, CodeBound, CodeLong:
		return "Try again later."
	}
	return "Try again later; if it persists, repair the name servers."
}

// Failure gives the LookupError in err, or nil where the lookup had a usable answer.
func Failure(err error) *LookupError {
	if err == nil || errors.Is(err, ErrNotFound) {
		return nil
	}
	if failure, is := errors.AsType[*LookupError](err); is {
		return failure
	}
	return &LookupError{Code: "EBADRESP"}
}

// maxShown keeps sentences short.
const maxShown = 80

// Show makes a stranger's text fit for a sentence: one line, printable, at most 80 characters.
func Show(s string) string { return text.Marked(s, maxShown) }

// Under reports whether name is the zone itself or below it. Both are lower case, without a trailing dot.
func Under(name, zone string) bool {
	return name == zone || strings.HasSuffix(name, "."+zone)
}
