package workerclient

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"time"

	"diagnostics/gateway/internal/egress/shortage"
	"diagnostics/gateway/internal/fault"
	"diagnostics/shared/parallel"
)

const (
	maxHeaderBytes  = 16 << 10
	tlsTimeout      = 3 * time.Second
	maxFailureBytes = 4 << 10 // of a failure's body, for the log
)

// ownFaultFunc gives the failure to tell where an error of talking to an address is this host's own fault, else nil.
type ownFaultFunc func(err error, to netip.Addr) error

// of is the same for an error of package net, which names the address itself.
func (f ownFaultFunc) of(err error) error {
	var at netip.Addr
	if failed, ok := errors.AsType[*net.OpError](err); ok && failed.Addr != nil {
		to, _ := netip.ParseAddrPort(failed.Addr.String()) // the zero address is no way to anywhere
		at = to.Addr()
	}
	return f(err, at)
}

// newTransport makes the transport of the one place that the operator, not the visitor, chose: it goes past egress and
// its policy on purpose. No proxy of the environment is read, since the token would pass through it. Every request has
// a connection of its own, so the worker's name is looked up anew each time and a moved worker is found at once; beside
// a job of a tenth of a second and more the handshake costs nothing.
func newTransport(dial dialFunc, config *tls.Config) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		Proxy:                  nil,
		Protocols:              protocols,
		TLSClientConfig:        config,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeaderBytes,
		TLSHandshakeTimeout:    tlsTimeout,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			// net/http dials in a goroutine of its own, where nobody would catch a panic.
			conn, err := parallel.Try(func() (net.Conn, error) { return dial(ctx, network, addr) })
			switch {
			case err == nil:
				return conn, nil
			case fault.Is(err, fault.Busy):
				return nil, &ownFaultError{told: err}
			}
			return nil, notConnected(err)
		},
	}
}

type dialFunc func(ctx context.Context, network, addr string) (net.Conn, error)

// dial connects to the worker. An error that is this host's own fault is the failure to tell.
func (c *Client) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	recorder := shortage.DialRecorder{Dial: new(net.Dialer).DialContext, OwnFault: c.ownFault}
	d := net.Dialer{Timeout: c.limits.connect, Resolver: &net.Resolver{PreferGo: true, Dial: recorder.Connect}}
	conn, err := d.DialContext(ctx, network, addr)
	if err == nil {
		c.warnOfClearText(conn)
		return conn, nil
	}
	return nil, cmp.Or(recorder.Of(err), c.ownFault.of(err), err)
}
