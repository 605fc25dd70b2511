package egress

import (
	"context"
	"errors"
	"syscall"

	"diagnostics/gateway/internal/fault"
)

// Observer records outcomes of egress. Its methods are safe for concurrent use and do not block.
type Observer interface {
	// Refused records that the policy refused what a run was led to: the answers for a name, a redirect's Location, or
	// the address of a socket.
	Refused(by fault.Rule)
	// Connected records the outcome of a TCP connection.
	Connected(Connection)
}

// Connection is what became of a TCP connection that was begun.
type Connection string

// The outcomes of connections.
const (
	ConnectionOK          Connection = "ok"
	ConnectionRefused     Connection = "refused"     // by the other side
	ConnectionUnreachable Connection = "unreachable" // as a router or neighbour says
	ConnectionTimeout     Connection = "timeout"
	ConnectionCanceled    Connection = "canceled" // the caller has left
	ConnectionDenied      Connection = "denied"   // by the policy, at the socket
	ConnectionShortage    Connection = "shortage" // this host lacks something
	ConnectionFailed      Connection = "failed"   // otherwise
)

// Connections are all of them.
func Connections() []Connection {
	return []Connection{ConnectionOK, ConnectionRefused, ConnectionUnreachable, ConnectionTimeout, ConnectionCanceled,
		ConnectionDenied, ConnectionShortage, ConnectionFailed}
}

// unobserved is an Observer that does nothing.
type unobserved struct{}

func (unobserved) Refused(fault.Rule)   {}
func (unobserved) Connected(Connection) {}

// refused records an error that is a refusal, and returns the error.
func (c *Client) refused(err error) error {
	if refusal, is := errors.AsType[*fault.Error](err); is && refusal.Kind == fault.Refused {
		c.settings.Observer.Refused(refusal.Rule)
	}
	return err
}

// connectionOf is what a dial has ended with; own is the fault of this host that err is, if any.
func connectionOf(ctx context.Context, err, own error) Connection {
	switch {
	case err == nil:
		return ConnectionOK
	case fault.Is(err, fault.Refused):
		return ConnectionDenied
	case own != nil:
		return ConnectionShortage
	case errors.Is(ctx.Err(), context.Canceled), errors.Is(err, context.Canceled):
		return ConnectionCanceled
	case fault.IsTimeout(err):
		return ConnectionTimeout
	case errors.Is(err, syscall.ECONNREFUSED):
		return ConnectionRefused
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTDOWN):
		return ConnectionUnreachable
	}
	return ConnectionFailed
}
