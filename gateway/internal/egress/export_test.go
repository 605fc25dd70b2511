package egress

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"syscall"
	"time"

	"diagnostics/gateway/internal/egress/dnsclient"
)

// WithBounds shortens the times of docs/contract.md#times-and-sizes, which production code cannot.
func WithBounds(http, connect, dnsTry time.Duration) Option {
	return func(c *Client) { c.bounds = bounds{http: http, connect: connect, dnsTry: dnsTry, http3: http} }
}

// WithHTTP3Timeout shortens HTTP3Timeout.
func WithHTTP3Timeout(d time.Duration) Option { return func(c *Client) { c.bounds.http3 = d } }

// Discover is one search for the network's translation prefixes.
func (c *Client) Discover(ctx context.Context, log *slog.Logger) time.Duration {
	return c.discover(ctx, log)
}

// LookUpOwnName is one lookup of the service's public name.
func (c *Client) LookUpOwnName(ctx context.Context, name string, log *slog.Logger) time.Duration {
	return c.lookUpOwnName(ctx, name, log)
}

// DialSocket is the real socket layer with its control hook.
func (c *Client) DialSocket(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
	return c.dialSocket(ctx, network, to)
}

// ControlFor is the control hook of a dial to wanted.
func (c *Client) ControlFor(wanted netip.AddrPort) func(context.Context, string, string, syscall.RawConn) error {
	return c.controlFor(wanted)
}

// Addresses are those that a host with these answers is given.
func Addresses(a, aaaa dnsclient.Answer) []netip.Addr { return new(Client).addressesOf(a, aaaa) }

// Exported for the tests of their bounds.
const (
	MaxDials       = maxDials
	MaxConnections = maxConnections
	HeadStart      = headStart
	MaxIdlePieces  = maxIdlePieces
	OctetsPerPiece = octetsPerPiece

	MaxQUICDatagrams  = maxQUICDatagrams
	MaxQUICUnanswered = maxQUICUnanswered

	MaxBodyPieces      = maxBodyPieces
	OctetsPerBodyPiece = octetsPerBodyPiece
)

// IsPrivateName judges the name of an alias.
func IsPrivateName(name string) bool { return isPrivateName(name) }

// DetectFamilies is EGRESS_FAMILIES=auto over a kernel that the test plays.
func DetectFamilies(source func(network, to string) (netip.Addr, error)) (Families, error) {
	return detectFamilies(source)
}

// HostFact is a fact about this host, kept by the given clock.
func HostFact[T any](read func() (T, error), now func() time.Time) func() (T, error) {
	f := newHostFact(read)
	f.now = now
	return f.get
}

// WithHost replaces the sources of this host's addresses and routes, and the clock by which the answers are kept.
func WithHost(own func() (map[netip.Addr]bool, error), families func() (Families, error), now func() time.Time) Option {
	return func(c *Client) {
		c.own, c.families = HostFact(own, now), HostFact(everPresent(families), now)
	}
}

// InterfaceAddresses lists this host's own.
func InterfaceAddresses() (map[netip.Addr]bool, error) { return interfaceAddresses() }

// SourceFor returns the kernel's source address towards to.
func SourceFor(network, to string) (netip.Addr, error) { return sourceFor(network, to) }

// NotQueried returns the error where it means that the kernel could not be queried for a route.
func NotQueried(err error) error { return notQueried(err) }

// The sizes of receive buffers.
const (
	HeadBuffer = headBuffer
	BodyBuffer = bodyBuffer
)

// WithBodyBuffer is the context of a round trip whose body is read.
func WithBodyBuffer(ctx context.Context) context.Context { return WithReceiveBuffer(ctx, bodyBuffer) }

// NewQUICSocket is the socket of a QUIC connection.
func NewQUICSocket(conn net.Conn, to netip.AddrPort) net.PacketConn { return newQUICSocket(conn, to) }

// AgeResolverName makes the name that is shown of a resolver as old as it may become.
func (c *Client) AgeResolverName() {
	last := *c.shown.Load()
	last.until = last.until.Add(-refreshAfter)
	c.shown.Store(&last)
}
