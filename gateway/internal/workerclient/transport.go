package workerclient

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/shortage"
	"diagnostics/shared/parallel"

	"github.com/sony/gobreaker/v2"
)

const (
	maxHeaderBytes  = 16 << 10
	tlsTimeout      = 3 * time.Second
	maxFailureBytes = 4 << 10 // of a failure's body, for the log
)

// unreachableError is a connection that could not be made: the one failure that trips the breaker.
type unreachableError struct{ cause error }

func (e *unreachableError) Error() string { return "connect to the worker: " + e.cause.Error() }
func (e *unreachableError) Unwrap() error { return e.cause }

// ownFaultFunc gives the failure to tell where an error of talking to an address is this host's own fault, else nil.
type ownFaultFunc func(err error, to netip.Addr) error

// of is the same for an error of package net, which names the address itself.
func (f ownFaultFunc) of(err error) error {
	var failed *net.OpError
	var at netip.Addr
	if errors.As(err, &failed) && failed.Addr != nil {
		to, _ := netip.ParseAddrPort(failed.Addr.String()) // the zero address is no way to anywhere
		at = to.Addr()
	}
	return f(err, at)
}

// newTransport makes the transport of the one place that the operator, not the visitor, chose: it goes past egress and
// its policy on purpose. No proxy of the environment is read, since the token would pass through it. Every exchange has
// a connection of its own, so the worker's name is looked up anew each time and a moved worker is found at once; beside
// a job of a tenth of a second and more the handshake costs nothing.
func newTransport(l limits, dial dialFunc) *http.Transport {
	breaker := gobreaker.NewCircuitBreaker[net.Conn](gobreaker.Settings{
		Name:        "worker",
		Timeout:     l.open,
		ReadyToTrip: func(n gobreaker.Counts) bool { return n.ConsecutiveFailures >= l.trip },
		// A visitor who leaves during the dial says nothing about the worker, and neither does what this host lacks.
		IsExcluded: func(err error) bool { return errors.Is(err, context.Canceled) || fault.Is(err, fault.Busy) },
	})
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		Proxy:                  nil,
		Protocols:              protocols,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeaderBytes,
		TLSHandshakeTimeout:    tlsTimeout,
		// The breaker stands around the dial alone. So a worker that answers, be it with 401, 429 or nonsense, never
		// trips it, and when it is half open the trial costs a handshake and not a job of ten seconds, during which
		// all others would be turned away.
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := breaker.Execute(func() (net.Conn, error) {
				// net/http dials in a goroutine of its own, where nobody would catch a panic.
				return parallel.Try(func() (net.Conn, error) { return dial(ctx, network, addr) })
			})
			if err != nil {
				return nil, &unreachableError{cause: err}
			}
			return conn, nil
		},
	}
}

type dialFunc func(ctx context.Context, network, addr string) (net.Conn, error)

// dial connects to the worker. An error that is this host's own fault is the failure to tell.
func (c *Client) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	witness := shortage.Witness{Dial: new(net.Dialer).DialContext, OwnFault: c.ownFault}
	d := net.Dialer{Timeout: c.limits.connect, Resolver: &net.Resolver{PreferGo: true, Dial: witness.Connect}}
	conn, err := d.DialContext(ctx, network, addr)
	if err == nil {
		return conn, nil
	}
	return nil, cmp.Or(witness.Of(err), c.ownFault.of(err), err)
}
