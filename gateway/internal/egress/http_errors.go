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
)

// phase is how far a round trip has come, so that a failure is reported by what it ended.
type phase int

const (
	phaseConnect phase = iota
	phaseTLS
	phaseAnswer
	phaseBody
)

// fault gives a failure of the round trip its kind and its sentence.
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
		return rt.newFault(fault.Timeout, err, timeoutSentences[p])
	}
	if errors.Is(err, tlswire.ErrRecords) {
		return rt.newFault(fault.Upstream, err, sentenceNoSense)
	}
	switch p {
	case phaseConnect:
		return rt.newFault(fault.Upstream, err, connectSentence(err))
	case phaseTLS:
		return rt.newFault(fault.Upstream, err, handshakeSentence(err))
	}
	return rt.newFault(fault.Upstream, err, answerSentence(err))
}

// newFault returns a fault whose sentence begins with the host.
func (rt *roundTrip) newFault(kind fault.Kind, cause error, sentence string) error {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return fault.Wrap(kind, phaseError{rt.phase, cause}, rt.host()+" "+sentence)
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

var timeoutSentences = map[phase]string{
	phaseConnect: "did not accept a connection in time.",
	phaseTLS:     "did not finish the TLS handshake in time.",
	phaseAnswer:  "accepted the connection but did not answer in time.",
	phaseBody:    "did not send its whole answer in time.",
}

func connectSentence(err error) string {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused the connection."
	case errors.Is(err, syscall.ECONNRESET):
		return "reset the connection."
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "cannot be reached: there is no route to its address."
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return "cannot be reached: the connection is blocked on the way."
	}
	return "cannot be reached."
}

func handshakeSentence(err error) string {
	var notTLS tls.RecordHeaderError
	var alert *net.OpError
	switch {
	case errors.Is(err, tlswire.ErrHandshake):
		return "sent a TLS handshake of more than 128 KiB."
	case strings.HasPrefix(err.Error(), textLongKey):
		return "has an RSA key of more than 8192 bits in its certificates, which this service does not verify."
	case errors.As(err, &notTLS) && string(notTLS.RecordHeader[:]) == "HTTP/":
		return "answers in plain HTTP on this port, not TLS. Use http:// in the URL."
	case errors.As(err, &notTLS):
		return "does not use TLS on this port."
	case errors.As(err, &alert) && alert.Op == "remote error":
		return "refused the TLS handshake" + alertReason(alert.Err) + "."
	case isClosed(err):
		return "closed the connection during the TLS handshake."
	}
	return "sent a TLS handshake that this service does not understand."
}

func answerSentence(err error) string {
	sentence := sentenceByText(err)
	switch {
	case sentence != "":
		return sentence
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "reset the connection without an answer."
	case isClosed(err):
		return "closed the connection without an answer."
	}
	return "did not send a usable HTTP answer."
}

func isClosed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// net/http and crypto/tls have no types for most of what can be wrong with an answer or in a handshake, so in this
// file, and nowhere else, their texts decide. How a text begins decides alone: the rest may quote the server. The tests
// provoke each of these errors, so that they fail where a release of Go words one differently.

const (
	sentenceNoSense     = "sent an invalid answer."
	sentenceTinyPieces  = "sent its answer in too many tiny pieces."
	sentenceNotHTTP     = "did not answer with valid HTTP."
	sentenceWantsTLS    = "expects TLS on this port. Use https:// in the URL."
	sentenceLongHeaders = "sent response headers of more than 64 KiB."
	sentenceManyLines   = "sent response headers of more than 1,000 lines."
	sentenceBrokenOff   = "closed the HTTP/2 connection without an answer."
)

// answerTexts are how the texts of errors begin that a server's answer ended in, and the sentences for them. They are
// looked for in this order. A connection of ours carries one request, so a stream of HTTP/2 is always the first.
var answerTexts = []struct{ begins, sentence string }{
	{"stream error: stream ID 1; PROTOCOL_ERROR; http2: response header list larger ", sentenceLongHeaders},
	// Also for one field that is longer than all may be together.
	{"connection error: COMPRESSION_ERROR", "sent HTTP/2 headers that are broken or longer than 64 KiB."},
	{"stream error: stream ID 1; PROTOCOL_ERROR; malformed ", sentenceNotHTTP},
	{"stream error: stream ID 1; PROTOCOL_ERROR; invalid header ", sentenceNotHTTP},
	{"stream error: ", sentenceBrokenOff},
	{"connection error: ", sentenceBrokenOff},
	{"http2: ", sentenceBrokenOff},
}

// sentenceByText is empty where the text of the error says nothing.
func sentenceByText(err error) string {
	text := rootOf(err).Error()
	for _, t := range answerTexts {
		if strings.HasPrefix(text, t.begins) {
			return t.sentence
		}
	}
	return ""
}

func rootOf(err error) error {
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return err
}

// textLongKey begins the error of a handshake in which any certificate has a key that crypto/tls does not take.
const textLongKey = "tls: server sent certificate containing RSA key larger than "

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

// alertReason names, in brackets, the alert that a server ended a handshake with, or is empty. Over TCP crypto/tls
// gives an alert a type of its own, but the text that its exported one has.
func alertReason(alert error) string {
	for known, name := range alertNames {
		if alert.Error() == known.Error() {
			return " (" + name + ")"
		}
	}
	return ""
}
