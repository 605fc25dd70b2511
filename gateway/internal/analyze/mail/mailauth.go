// Package mail holds what the parsers and walkers of a domain's mail records share: issues, the errors of a lookup,
// tag lists and report addresses. The packages below it judge one kind of record each, ask the DNS through a small
// interface of their own, and do no other I/O.
package mail

import (
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/tool/finding"
)

// Issue is one finding, as a row of the catalogue of email-dns-health has it.
type Issue struct {
	Code string
	Args finding.Args
	// Subject is the part of the domain's mail that the issue is about, such as a mail exchange; empty for a whole record.
	Subject string
}

// Issues is a list of findings without doubles.
type Issues []Issue

// Add appends an issue, once.
func (list *Issues) Add(code string, args finding.Args) {
	issue := Issue{Code: code, Args: args}
	// The first of each code is kept whatever came before it: one that decides what the record comes to may be the last.
	room := len(*list) < maxIssues || !list.HasCode(code)
	if room && !slices.ContainsFunc(*list, func(i Issue) bool { return reflect.DeepEqual(i, issue) }) {
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

func (e *LookupError) Error() string { return "lookup: " + e.Code }

// reasons are the clauses that name the causes of the codes; the others are codes of name servers.
var reasons = map[string]string{
	CodeBound:    "LOOKUPS_TOO_MANY",
	CodeLong:     "LOOKUP_ANSWER_TOO_LONG",
	CodeName:     "LOOKUP_NAME_NOT_PUBLIC",
	CodeBusy:     "SHORTAGE_HERE",
	CodeResolver: "LOOKUP_RESOLVER_BROKEN",
	"ETIMEOUT":   "LOOKUP_NOT_ANSWERED",
	"ESERVFAIL":  "LOOKUP_SERVFAIL",
}

// Reason returns the clause for the cause of the failure, and its arguments.
func (e *LookupError) Reason() (code string, args finding.Args) {
	if code, known := reasons[e.Code]; known {
		return code, nil
	}
	return "LOOKUP_FAILED", finding.Args{"rcode": strings.TrimPrefix(e.Code, "E")}
}

// Args returns the arguments of a row that quotes the cause of a failed lookup.
func (e *LookupError) Args() finding.Args {
	code, args := e.Reason()
	return args.With(finding.Args{"failure": code})
}

// Advised returns Args, and whether the domain's name servers need repair, for a row that advises it.
func (e *LookupError) Advised() finding.Args {
	own := slices.Contains([]string{CodeBusy, CodeResolver, CodeBound, CodeLong}, e.Code)
	return e.Args().With(finding.Args{"repair": !own})
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

// Quoted is Show for a text that stands between quotation marks: what would end them is escaped.
func Quoted(s string) string {
	quoted := strconv.Quote(Show(s))
	return quoted[1 : len(quoted)-1]
}

// Under reports whether name is the zone itself or below it. Both are lower case, without a trailing dot.
func Under(name, zone string) bool {
	return name == zone || strings.HasSuffix(name, "."+zone)
}
