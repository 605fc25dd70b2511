package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"

	"diagnostics/gateway/internal/egress/tlswire"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool/finding"
)

// phase is how far a round trip has come, so that a failure is reported by what it ended.
type phase int

const (
	phaseConnect phase = iota
	phaseTLS
	phaseAnswer
	phaseBody
)

// fault makes a fault.Error of an error of the round trip, by the phase that it ended.
func (rt *roundTrip) fault(err error) error {
	if known, is := errors.AsType[*fault.Error](err); is {
		return known
	}
	if failure := rt.cost.failure(); failure != nil {
		return failure // the library may have kept its text alone
	}
	rt.mu.Lock()
	p, address := rt.phase, rt.address
	rt.mu.Unlock()
	if ended := rt.ctx.Err(); errors.Is(ended, context.DeadlineExceeded) {
		err = errors.Join(err, ended)
	}
	if own := rt.client.OwnFault(err, address, rt.clock.began); own != nil {
		return own
	}
	if rt.ctx.Err() != nil || fault.IsTimeout(err) || errors.Is(err, context.Canceled) {
		if p == phaseConnect {
			return rt.faultWith(fault.Timeout, err, codeConnectTimeout, connectSeconds)
		}
		return rt.newFault(fault.Timeout, err, timeouts[p])
	}
	if errors.Is(err, tlswire.ErrRecords) {
		return rt.newFault(fault.Upstream, err, codeInvalid)
	}
	switch p {
	case phaseConnect:
		return rt.newFault(fault.Upstream, err, connectCode(err))
	case phaseTLS:
		code, args := handshakeCode(err)
		return rt.faultWith(fault.Upstream, err, code, args)
	}
	return rt.newFault(fault.Upstream, err, answerCode(err))
}

// newFault returns a fault about the host.
func (rt *roundTrip) newFault(kind fault.Kind, cause error, code string) error {
	return rt.faultWith(kind, cause, code, nil)
}

// faultWith is newFault with more arguments than the host.
func (rt *roundTrip) faultWith(kind fault.Kind, cause error, code string, args finding.Args) error {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return fault.Wrap(kind, phaseError{rt.phase, cause}, code, finding.Args{"host": rt.host()}.With(args))
}

// phaseError is the cause of a failed round trip and the phase that it ended.
type phaseError struct {
	phase phase
	cause error
}

func (e phaseError) Error() string { return e.cause.Error() }

func (e phaseError) Unwrap() error { return e.cause }

// ConnectTimedOut reports whether err is the failure of a round trip for which no connection was made in time.
func ConnectTimedOut(err error) bool {
	e, is := errors.AsType[phaseError](err)
	return is && e.phase == phaseConnect && fault.Is(err, fault.Timeout)
}

// KeyTooLong reports whether err is the failure of a handshake that this service ended for the length of a
// certificate's key. It says nothing about the server.
func KeyTooLong(err error) bool {
	e, is := errors.AsType[phaseError](err)
	return is && e.phase == phaseTLS && strings.HasPrefix(e.Error(), textLongKey)
}

// The codes of failures that stand at several places, rows of fault.Rows.
const (
	codeConnectTimeout = "CONNECT_TIMEOUT"
	codeInvalid        = "ANSWER_INVALID"
	codeTinyPieces     = "ANSWER_IN_PIECES"
	codeNotHTTP        = "ANSWER_NOT_HTTP"
	codeLongHeaders    = "HEADERS_TOO_LONG"
	codeBrokenOff      = "HTTP2_BROKEN_OFF"
	codeLongKey        = "CERTIFICATE_KEY_TOO_LONG"
)

// connectSeconds is an argument of codeConnectTimeout.
var connectSeconds = finding.Args{"seconds": ConnectTimeout.Seconds()}

var timeouts = map[phase]string{phaseTLS: "TLS_TIMEOUT", phaseAnswer: "ANSWER_TIMEOUT", phaseBody: "BODY_TIMEOUT"}

func connectCode(err error) string {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "CONNECTION_REFUSED"
	case errors.Is(err, syscall.ECONNRESET):
		return "CONNECTION_RESET"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "NO_ROUTE"
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return "CONNECTION_BLOCKED"
	}
	return "HOST_UNREACHABLE"
}

func handshakeCode(err error) (code string, args finding.Args) {
	var notTLS tls.RecordHeaderError
	var alert *net.OpError
	switch {
	case errors.Is(err, tlswire.ErrHandshake):
		return "TLS_TOO_LONG", nil
	case strings.HasPrefix(err.Error(), textLongKey):
		return codeLongKey, nil
	case errors.As(err, &notTLS) && string(notTLS.RecordHeader[:]) == "HTTP/":
		return "TLS_PLAIN_HTTP", nil
	case errors.As(err, &notTLS):
		return "TLS_NOT_SPOKEN", finding.Args{"here": true}
	case errors.As(err, &alert) && alert.Op == "remote error":
		return "TLS_REFUSED", finding.Args{"alert": alertName(alert.Err)}
	case isClosed(err):
		return "TLS_BROKEN_OFF", nil
	}
	return "TLS_NOT_UNDERSTOOD", nil
}

func answerCode(err error) string {
	code := codeByText(err)
	switch {
	case code != "":
		return code
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "ANSWER_RESET"
	case isClosed(err):
		return "ANSWER_MISSING"
	}
	return "ANSWER_UNUSABLE"
}

func isClosed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// alertNames are the alerts that are informative, by their registered names (RFC 8446 section 6).
var alertNames = map[tls.AlertError]string{
	10:  "unexpected_message",
	40:  "handshake_failure",
	42:  "bad_certificate",
	47:  "illegal_parameter",
	49:  "access_denied",
	50:  "decode_error",
	70:  "protocol_version",
	71:  "insufficient_security",
	80:  "internal_error",
	86:  "inappropriate_fallback",
	112: "unrecognized_name",
	116: "certificate_required",
	120: "no_application_protocol",
}

// alertName names the alert that a server ended a handshake with, or is empty. Over TCP crypto/tls
// gives an alert a type of its own, but the text that its exported one has.
func alertName(alert error) string {
	for known, name := range alertNames {
		if alert.Error() == known.Error() {
			return name
		}
	}
	return ""
}
