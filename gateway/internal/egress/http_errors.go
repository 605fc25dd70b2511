package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"

	"diagnostics/gateway/internal/fault"
)

// phase is how far a trip has come, so that a failure can be told by what it broke.
type phase int

const (
	phaseConnect phase = iota
	phaseTLS
	phaseAnswer
	phaseBody
)

// fault gives a failure of the exchange its kind and its sentence. The library's errors are often untyped: those are told
// by their text, which the tests hold on to.
func (x *trip) fault(err error) error {
	var known *fault.Error
	if errors.As(err, &known) {
		return known
	}
	x.mu.Lock()
	p := x.phase
	x.mu.Unlock()
	if x.ctx.Err() != nil || isTimeout(err) || errors.Is(err, context.Canceled) {
		return x.say(fault.Timeout, err, timeoutSentences[p])
	}
	switch p {
	case phaseConnect:
		return x.say(fault.Upstream, err, connectSentence(err))
	case phaseTLS:
		return x.say(fault.Upstream, err, handshakeSentence(err))
	}
	return x.say(fault.Upstream, err, answerSentence(err))
}

// say fills the host into a sentence that begins with it.
func (x *trip) say(kind fault.Kind, cause error, sentence string) error {
	return fault.Wrap(kind, cause, x.host()+" "+sentence)
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
		return "cannot be reached: the connection is prohibited on the way."
	}
	return "cannot be reached."
}

func handshakeSentence(err error) string {
	var notTLS tls.RecordHeaderError
	var alert *net.OpError
	switch {
	case errors.As(err, &notTLS) && string(notTLS.RecordHeader[:]) == "HTTP/":
		return "speaks plain HTTP on this port, not TLS. Use http:// in the URL."
	case errors.As(err, &notTLS):
		return "does not speak TLS on this port."
	case errors.As(err, &alert) && alert.Op == "remote error":
		return "refused the TLS handshake" + alertReason(alert.Err) + "."
	case isClosed(err):
		return "closed the connection during the TLS handshake."
	}
	return "did not complete a TLS handshake that this service understands."
}

// alertReason puts a TLS alert in words, from the texts that crypto/tls gives them.
func alertReason(err error) string {
	reasons := map[string]string{
		"tls: handshake failure":              " (handshake_failure)",
		"tls: protocol version not supported": " (protocol_version)",
		"tls: unrecognized name":              " (unrecognized_name)",
		"tls: internal error":                 " (internal_error)",
		"tls: insufficient security level":    " (insufficient_security)",
		"tls: no application protocol":        " (no_application_protocol)",
		"tls: certificate required":           " (certificate_required)",
		"tls: bad certificate":                " (bad_certificate)",
		"tls: access denied":                  " (access_denied)",
		"tls: illegal parameter":              " (illegal_parameter)",
		"tls: error decoding message":         " (decode_error)",
		"tls: unexpected message":             " (unexpected_message)",
		"tls: inappropriate fallback":         " (inappropriate_fallback)",
	}
	return reasons[err.Error()]
}

func answerSentence(err error) string {
	text := err.Error()
	has := func(parts ...string) bool {
		for _, part := range parts {
			if strings.Contains(text, part) {
				return true
			}
		}
		return false
	}
	switch {
	case has("response headers exceeded", "header list larger"):
		return "sent response headers of more than 64 KiB."
	case has("COMPRESSION_ERROR"): // also for one field that is longer than all may be together
		return "sent HTTP/2 headers that are broken or longer than 64 KiB."
	case has(`malformed HTTP response "\x15\x03`):
		return "speaks TLS on this port. Use https:// in the URL."
	case has("malformed", "invalid header", "Content-Length", "transfer encoding", "transfer-encoding"):
		return "did not answer with valid HTTP."
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "reset the connection without an answer."
	case isClosed(err):
		return "closed the connection without an answer."
	case has("http2:", "stream error", "connection error"):
		return "broke off the HTTP/2 connection without an answer."
	}
	return "gave no usable HTTP answer."
}

func isClosed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || strings.HasSuffix(err.Error(), "EOF") ||
		strings.Contains(err.Error(), "server closed idle connection")
}
