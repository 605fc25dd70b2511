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
	"diagnostics/gateway/internal/tlswire"
)

// phase is how far a round trip has come, so that a failure can be told by what it broke.
type phase int

const (
	phaseConnect phase = iota
	phaseTLS
	phaseAnswer
	phaseBody
)

// fault gives a failure of the round trip its kind and its sentence.
func (x *roundTrip) fault(err error) error {
	var known *fault.Error
	if errors.As(err, &known) {
		return known
	}
	if failure := x.cost.failure(); failure != nil {
		return failure // the library may have kept its text alone
	}
	x.mu.Lock()
	p, address := x.phase, x.address
	x.mu.Unlock()
	if own := x.client.OwnFault(err, address); own != nil {
		return own
	}
	if x.ctx.Err() != nil || fault.IsTimeout(err) || errors.Is(err, context.Canceled) {
		return x.say(fault.Timeout, err, timeoutSentences[p])
	}
	if errors.Is(err, tlswire.ErrRecords) {
		return x.say(fault.Upstream, err, sentenceNoSense)
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
func (x *roundTrip) say(kind fault.Kind, cause error, sentence string) error {
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

func alertReason(alert error) string {
	name := alertName(alert)
	if name == "" {
		return ""
	}
	return " (" + name + ")"
}

func answerSentence(err error) string {
	told := sentenceByText(err)
	switch {
	case told != "":
		return told
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
