package remote

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http/httptrace"
	"slices"
	"sync/atomic"
	"syscall"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool/finding"
)

// unreachableError is a connection that could not be made.
type unreachableError struct {
	name  string
	cause error
}

func (e *unreachableError) Error() string { return "connect to " + e.name + ": " + e.cause.Error() }
func (e *unreachableError) Unwrap() error { return e.cause }

// notConnected is the error of a connection that could not be made: of an attempt that nothing answered it is silence.
func notConnected(name string, err error) error {
	failed := &unreachableError{name, err}
	if fault.IsTimeout(err) {
		return &silenceError{name, failed}
	}
	return failed
}

// silenceError is a side that did not answer in time.
type silenceError struct {
	name  string
	cause error
}

func (e *silenceError) Error() string { return e.name + " does not answer: " + e.cause.Error() }
func (e *silenceError) Unwrap() error { return e.cause }

// brokenOffError is a connection that ended before the answer did.
type brokenOffError struct {
	name  string
	cause error
}

func (e *brokenOffError) Error() string { return e.name + " broke off: " + e.cause.Error() }
func (e *brokenOffError) Unwrap() error { return e.cause }

// ownFaultError is what this host lacks, with the failure to report.
type ownFaultError struct{ err error }

func (e *ownFaultError) Error() string { return e.err.Error() }
func (e *ownFaultError) Unwrap() error { return e.err }

func is[E error](err error) bool {
	_, found := errors.AsType[E](err)
	return found
}

func isUnreachable(err error) bool { return is[*unreachableError](err) }
func isOwnFault(err error) bool    { return is[*ownFaultError](err) }
func isSilence(err error) bool     { return is[*silenceError](err) }

// isRefusal reports whether the other host itself refused the connection. Any other connection that could not be made
// may have been bad luck: a packet that was lost, a full queue, a name server that was late.
func isRefusal(err error) bool { return isUnreachable(err) && errors.Is(err, syscall.ECONNREFUSED) }

// unreachable are the errors by which routers and neighbours say that nothing reaches the other host.
var unreachable = []error{syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.EHOSTDOWN}

// isCut reports whether nothing comes of the other side any more, not even the answer to a request that it has begun.
// One that takes no connections may still finish those: so does a process that is stopped in order.
func isCut(err error) bool {
	return isSilence(err) ||
		slices.ContainsFunc(unreachable, func(errno error) bool { return errors.Is(err, errno) })
}

// IsLoss reports whether there was no answer: a side that answers anything is there.
func IsLoss(err error) bool { return isUnreachable(err) || isSilence(err) || is[*brokenOffError](err) }

// notBegunError is the reason why a request was not sent, or was not taken.
type notBegunError struct{ cause error }

func (e *notBegunError) Error() string { return e.cause.Error() }
func (e *notBegunError) Unwrap() error { return e.cause }

// begunError is the reason why a request was given up that had been sent.
type begunError struct{ cause error }

func (e *begunError) Error() string { return e.cause.Error() }
func (e *begunError) Unwrap() error { return e.cause }

// MayHaveBegun reports whether the other side may have begun a request that ended in err, which is one of Do.
func MayHaveBegun(err error) bool {
	return is[*begunError](err) || !isUnreachable(err) && !is[*notBegunError](err)
}

// Own makes a failure of the other side, which is a part of this service: it says nothing about a target.
func Own(kind fault.Kind, cause error, code string, args finding.Args) *fault.Error {
	f := fault.Wrap(kind, cause, code, args)
	f.Local = true
	return f
}

const unreachableCode = "UNREACHABLE"

// own is Own with a code of the other side.
func (c *Client) own(kind fault.Kind, cause error, code string) *fault.Error {
	return Own(kind, cause, c.config.CodePrefix+code, c.config.Args)
}

// classify makes the failure of an error of call.
func (c *Client) classify(err error) error {
	var known *fault.Error
	switch {
	case errors.As(err, &known):
		return known
	case isSilence(err):
		return c.own(fault.Timeout, err, "LATE")
	case isUnreachable(err):
		return c.own(fault.Upstream, err, unreachableCode)
	case is[*brokenOffError](err):
		return c.own(fault.Upstream, err, "BROKE_OFF")
	}
	return c.Unusable(err)
}

// Unusable is the failure of an answer that breaks the contract.
func (c *Client) Unusable(err error) error {
	return c.own(fault.Upstream, err, "UNUSABLE")
}

// whileLost is the failure of a request that is not begun, or given up, since the other side is lost.
func (c *Client) whileLost(reason error) error {
	if isSilence(reason) {
		return c.own(fault.Timeout, reason, "SILENT")
	}
	return c.own(fault.Upstream, reason, unreachableCode)
}

// stages is how far a round trip came with whom.
type stages struct {
	name        string
	noHandshake atomic.Bool
	answered    atomic.Bool
}

func (p *stages) trace(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) {
			if err != nil {
				p.noHandshake.Store(true)
			}
		},
		GotFirstResponseByte: func() { p.answered.Store(true) },
	})
}

// judgeStream is judge for the lines of a stream, some of whose errors are refusals of the other side itself.
func (p *stages) judgeStream(ctx context.Context, err error) error {
	if err == nil || is[*fault.Error](err) || is[*StatusError](err) {
		return err
	}
	return p.judge(ctx, err)
}

// isAlert reports whether the other side ended the connection by a TLS alert. In TLS 1.3 it refuses a client's
// certificate once the handshake is over on this side.
func isAlert(err error) bool {
	failed, ok := errors.AsType[*net.OpError](err)
	return ok && failed.Op == "remote error"
}

// judge says what an error of the connection means. That a connection ended before a byte of the answer, net/http
// reports by text alone.
func (p *stages) judge(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil, isUnreachable(err), isOwnFault(err):
		return err
	case p.noHandshake.Load(), !p.answered.Load() && isAlert(err):
		return notConnected(p.name, err)
	case !p.answered.Load(), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, syscall.ECONNRESET):
		return &brokenOffError{p.name, err}
	}
	return err
}
