// Package fault holds the kinds of failure that a request can end in. A failure is typed where it arises and becomes a
// status and a sentence in one table, in httpapi; anything that is not a *fault.Error is a 500 without detail.
package fault

import (
	"cmp"
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"time"
	"unicode"

	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/tool/finding"
)

// Kind says what went wrong, in the terms of the API's own promises.
type Kind int

// The kinds, with the status that httpapi's table gives each.
const (
	// Invalid is input that the tool cannot take (400).
	Invalid Kind = iota + 1
	// Refused is a target that the public-address rules or the operator refuse, before or at the dial (400).
	Refused
	// NoAddress is a name without any address, in a tool that must connect to it (400).
	NoAddress
	// NotEnabled is a tool that this instance does not offer (501).
	NotEnabled
	// Limited is a client over its limit (429 with Retry-After).
	Limited
	// Busy is an instance or a worker without a free slot, or that lacks what it needs of its host (503 with
	// Retry-After).
	Busy
	// Upstream is a target or provider that failed (502).
	Upstream
	// Timeout is a target or provider that did not answer in time (504).
	Timeout
)

// Error is a failure that has a sentence for the client: the message of Code in Rows, with Args. The sentence holds no
// private address, no internal URL and no Go error text.
type Error struct {
	Kind Kind
	Code string
	Args finding.Args
	// Option names the request's option that the failure is about, where it is about one; else it is about the input.
	Option string
	// Local is set on Upstream and Timeout where what failed is this service's own, such as its resolver: it says nothing
	// about a target or a provider.
	Local bool
	// Rule is what refused, where that has a name.
	Rule Rule
	// RetryAfter is set on Limited and Busy, and on Upstream where a provider named it.
	RetryAfter time.Duration
	// Cause is for the log alone and never leaves the service.
	Cause error
}

// Sentence is one short sentence that a person can act on.
func (e *Error) Sentence() string { return Rows.Sentence(e.Code, e.Args) }

// Error gives the sentence and its cause, for logs.
func (e *Error) Error() string {
	if e.Cause == nil {
		return e.Sentence()
	}
	return e.Sentence() + ": " + e.Cause.Error()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// New makes a failure of the kind, with a code of Rows.
func New(kind Kind, code string, args finding.Args) *Error {
	return &Error{Kind: kind, Code: code, Args: args}
}

// Wrap makes a failure of the kind whose cause goes to the log.
func Wrap(kind Kind, cause error, code string, args finding.Args) *Error {
	return &Error{Kind: kind, Code: code, Args: args, Cause: cause}
}

// OfOption makes an Invalid failure that is about one of the request's options.
func OfOption(name, code string, args finding.Args) *Error {
	return &Error{Kind: Invalid, Code: code, Args: args, Option: name}
}

// LimitedFor makes a Limited failure that says when to come again: after wait, a second at least.
func LimitedFor(wait time.Duration, code string) *Error {
	return New(Limited, code, nil).Again(max(wait, time.Second))
}

// Again sets when to come again of a failure that is being made, and its argument wait.
func (e *Error) Again(after time.Duration) *Error {
	e.RetryAfter = after
	e.Args = e.Args.With(finding.Args{"wait": after})
	return e
}

// OfServer gives a failure to reach a server the words that it has for a client who did not choose that server; args
// name it as the provider. What this service lacks is not the server's fault and stays as it is. otherwise is the code
// of what has no other here; if it is empty, the code and the arguments of err stay.
func OfServer(err error, args finding.Args, otherwise string) error {
	failed, is := errors.AsType[*Error](err)
	if !is || IsOwn(err) {
		return err
	}
	switch failed.Kind {
	case Timeout:
		return Wrap(Timeout, err, "PROVIDER_TIMEOUT", args)
	case Refused:
		return Wrap(Upstream, err, "PROVIDER_NOT_PUBLIC", args)
	case NoAddress:
		return Wrap(Upstream, err, "PROVIDER_NO_ADDRESS", args)
	}
	if otherwise == "" {
		return Wrap(Upstream, err, failed.Code, failed.Args)
	}
	return Wrap(Upstream, err, otherwise, args)
}

// Reason returns the code and the arguments of a failure, for a row that has it as an argument of type code.
func Reason(err error) (code string, args finding.Args) {
	if e, is := errors.AsType[*Error](err); is {
		return e.Code, e.Args
	}
	return "", nil
}

// Conclude returns the conclusion of a run that failed. A failure at another place has the conclusion of the code that
// the place sent. It returns false for a failure before any run, such as an invalid input.
func Conclude(code string, args finding.Args) (finding.Conclusion, bool) {
	if seen, is := args[argSeen].(string); is && Rows[seen].State != "" {
		args = args.With(nil)
		delete(args, argSeen)
		delete(args, "place")
		code = seen
	}
	if Rows[code].State == "" {
		return finding.Conclusion{}, false
	}
	return Rows.Conclude(code, args), true
}

// argSeen is the argument of PLACE_SEES that names the code of what the place saw.
const argSeen = "seen"

// SeenFrom makes the failure that a run at another place ended with, of what it concluded there.
func SeenFrom(kind Kind, cause error, place string, there finding.Conclusion) *Error {
	args := finding.Args{"place": place, argSeen: there.Code}
	for name, value := range there.Args {
		if _, own := args[name]; !own {
			args[name] = value
		}
	}
	return Wrap(kind, cause, "PLACE_SEES", args)
}

// BogusArgs are the arguments of DNSSEC_FAILED: the host, and the resolver's reason if it sent one (RFC 8914).
func BogusArgs(host, remark string, number int, said string) finding.Args {
	args := finding.Args{"host": host, "remark": remark, "text": text.Show(said, maxReason)}
	if remark != "" {
		args["number"] = number
	}
	return args
}

// maxReason is the number of characters that are quoted of a resolver's text.
const maxReason = 200

// IsOwn reports whether err is, or wraps, a failure that is this service's own, and so no outcome of any target: Busy
// is one always.
func IsOwn(err error) bool {
	e, is := errors.AsType[*Error](err)
	return is && (e.Kind == Busy || e.Local)
}

// Is reports whether err is, or wraps, a failure of the kind.
func Is(err error, kind Kind) bool {
	e, is := errors.AsType[*Error](err)
	return is && e.Kind == kind
}

// IsTimeout reports whether an error says that time was up: that of a context, of a deadline, or the system's patience.
// What of it is a failure of kind Timeout is for the caller to say.
func IsTimeout(err error) bool {
	timeout, is := errors.AsType[net.Error](err)
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) || is && timeout.Timeout()
}

// ofTargets makes findings of the rows about what a target does: it does not work for clients.
func ofTargets(rows finding.Rows) finding.Rows {
	for code, row := range rows {
		if row.Message == "" {
			continue
		}
		row.State, row.Severity, row.Group = finding.Failed, finding.Fail, finding.Broken
		row.Weight = cmp.Or(row.Weight, noAnswer)
		rows[code] = row
	}
	return rows
}

// ofNoTarget makes each row a conclusion about something other than the target, of which nothing is known then. Rows
// that have no Brief or Meaning get the given ones.
func ofNoTarget(brief, meaning string, rows finding.Rows) finding.Rows {
	for code, row := range rows {
		if row.State == "" {
			row.State = finding.Unknown
			row.Brief, row.Meaning = cmp.Or(row.Brief, brief), cmp.Or(row.Meaning, meaning)
			rows[code] = row
		}
	}
	return rows
}

const notAboutTarget = "This says nothing about the target, which may be fine."

// ofBounds makes each row a conclusion and a note: what lies beyond a bound of this service was not seen.
func ofBounds(rows finding.Rows) finding.Rows {
	for code, row := range rows {
		row.State, row.Severity, row.Group, row.Weight = finding.Unknown, finding.Info, finding.Note, beyondBound
		row.Meaning = "That is a limit of this service; browsers may show the page all the same."
		rows[code] = row
	}
	return rows
}

// BeyondBound reports whether a request failed because its answer goes beyond a bound of this service. The target
// answers, and is not at fault.
func BeyondBound(err error) bool {
	code, _ := Reason(err)
	_, is := boundRows[code]
	return is || code == "CERTIFICATE_KEY_TOO_LONG" || code == "CHECK_READS_TOO_MUCH"
}

// beyondBound is the weight of an answer that goes beyond a bound of this service.
const beyondBound = 15

// noAnswer is the weight of a target that does not answer.
const noAnswer = 96

// withClauses adds the clauses that are missing.
func withClauses(rows finding.Rows) finding.Rows {
	for code, row := range rows {
		if row.Clause == "" {
			row.Clause = clauseOf(row.Message)
			rows[code] = row
		}
	}
	return rows
}

// clauseOf is a message without its period and without when to try again, and with "it" in place of the host at its
// beginning.
func clauseOf(message string) string {
	clause, _, _ := strings.Cut(message, ".[ Try again")
	clause = strings.TrimSuffix(clause, ".")
	for _, subject := range []string{"{host}", "[{host}]{host?|The target}"} {
		if rest, is := strings.CutPrefix(clause, subject); is {
			return "it" + rest
		}
	}
	if len(clause) > 1 && !unicode.IsUpper(rune(clause[1])) {
		return strings.ToLower(clause[:1]) + clause[1:]
	}
	return clause
}
