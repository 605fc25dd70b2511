// Package fault holds the kinds of failure that a request can end in. A failure is typed where it arises and becomes a
// status and a sentence in one table, in httpapi; anything that is not a *fault.Error is a 500 without detail.
package fault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"
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

// Error is a failure with a sentence for the visitor. Cause is for the log alone and never leaves the service.
type Error struct {
	Kind Kind
	// Sentence is one short sentence that a person can act on. It holds no private address, no internal URL and no
	// Go error text.
	Sentence string
	// Option names the request's option that the failure is about, where it is about one; else it is about the input.
	Option string
	// Local is set on Upstream and Timeout where what failed is this service's own, such as its resolver: it says nothing
	// about a target or a provider.
	Local bool
	// Rule is what refused, where that has a name.
	Rule Rule
	// RetryAfter is set on Limited and Busy, and on Upstream where a provider named it.
	RetryAfter time.Duration
	Cause      error
}

// Error gives the sentence and its cause, for logs.
func (e *Error) Error() string {
	if e.Cause == nil {
		return e.Sentence
	}
	return e.Sentence + ": " + e.Cause.Error()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// New makes a failure of the kind with a sentence for the visitor.
func New(kind Kind, sentence string) *Error { return &Error{Kind: kind, Sentence: sentence} }

// Newf is New with a formatted sentence.
func Newf(kind Kind, format string, args ...any) *Error {
	return New(kind, fmt.Sprintf(format, args...))
}

// OfOption makes an Invalid failure that is about one of the request's options, with a formatted sentence.
func OfOption(name, format string, args ...any) *Error {
	e := Newf(Invalid, format, args...)
	e.Option = name
	return e
}

// LimitedFor makes a Limited failure whose sentence goes on to say when to come again: after wait, a second at least.
func LimitedFor(wait time.Duration, sentence string) *Error {
	wait = max(wait, time.Second)
	e := New(Limited, AgainIn(wait, sentence))
	e.RetryAfter = wait
	return e
}

// AgainIn ends a sentence with when to come again: after wait, a second at least.
func AgainIn(wait time.Duration, sentence string) string {
	return strings.TrimSuffix(sentence, ".") + "; try again in " + inWords(max(wait, time.Second)) + "."
}

// inWords rounds up, as Retry-After does.
func inWords(wait time.Duration) string {
	seconds := int64((wait + time.Second - 1) / time.Second)
	switch {
	case seconds == 1:
		return "1 second"
	case seconds < 120:
		return fmt.Sprintf("%d seconds", seconds)
	}
	return fmt.Sprintf("%d minutes", (seconds+59)/60)
}

// Wrap makes a failure of the kind whose cause goes to the log.
func Wrap(kind Kind, cause error, sentence string) *Error {
	return &Error{Kind: kind, Sentence: sentence, Cause: cause}
}

// Wrapf is Wrap with a formatted sentence.
func Wrapf(kind Kind, cause error, format string, args ...any) *Error {
	return Wrap(kind, cause, fmt.Sprintf(format, args...))
}

// OfServer gives a failure to reach a server the words that it has for a visitor who did not choose that server; who
// names it. What this service lacks is not the server's fault and stays as it is. otherwise is the sentence of what has
// no other here, that of err where it is empty.
func OfServer(err error, who, otherwise string) error {
	failed, is := errors.AsType[*Error](err)
	if !is || IsOwn(err) {
		return err
	}
	switch failed.Kind {
	case Timeout:
		return Wrap(Timeout, err, who+" did not answer in time.")
	case Refused:
		return Wrap(Upstream, err, who+" is not at a public address, so it was not asked.")
	case NoAddress:
		return Wrap(Upstream, err, who+" has no address.")
	}
	return Wrap(Upstream, err, cmp.Or(otherwise, failed.Sentence))
}

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

// ShortagePhrase is the predicate of "this service" where this host lacks files, ports, memory or a link.
const ShortagePhrase = "cannot make connections at the moment"
