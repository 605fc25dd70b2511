package workerclient

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

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

// newTransport makes the transport of the one place that the operator, not the visitor, chose: it goes past egress and
// its policy on purpose. No proxy of the environment is read, since the token would pass through it. Every exchange has
// a connection of its own, so the worker's name is looked up anew each time and a moved worker is found at once; beside
// a job of a tenth of a second and more the handshake costs nothing.
func newTransport(l limits, dial dialFunc) *http.Transport {
	breaker := gobreaker.NewCircuitBreaker[net.Conn](gobreaker.Settings{
		Name:        "worker",
		Timeout:     l.open,
		ReadyToTrip: func(n gobreaker.Counts) bool { return n.ConsecutiveFailures >= l.trip },
		// A visitor who leaves during the dial says nothing about the worker.
		IsExcluded: func(err error) bool { return errors.Is(err, context.Canceled) },
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

func dialer(l limits) dialFunc {
	d := &net.Dialer{Timeout: l.connect, Resolver: &net.Resolver{PreferGo: true}}
	return d.DialContext
}
