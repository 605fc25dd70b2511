package egress

import (
	"context"
	"net"
	"net/netip"
	"syscall"
	"time"

	"github.com/miekg/dns"
)

// WithBounds shortens the times of CONTRACT.md section 6, which production code cannot.
func WithBounds(http, connect, dnsTry time.Duration) Option {
	return func(c *Client) { c.bounds = bounds{http: http, connect: connect, dnsTry: dnsTry} }
}

// WithSystemResolvers reads another file than /etc/resolv.conf.
func WithSystemResolvers(path string) Option {
	return func(c *Client) { c.system = newSystemResolvers(path) }
}

// SystemResolvers are those of the file.
func (c *Client) SystemResolvers() []netip.AddrPort { return c.system.servers() }

// DialSocket is the real socket layer with its control hook.
func (c *Client) DialSocket(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
	return c.dialSocket(ctx, network, to)
}

// ControlFor is the control hook of a dial to asked.
func (c *Client) ControlFor(asked netip.AddrPort) func(context.Context, string, string, syscall.RawConn) error {
	return c.controlFor(asked)
}

// ReadPacket reads a packet as the answer to a question, as the exchange does; ok is false where it is not one.
func ReadPacket(packet []byte, query *dns.Msg) (answer Answer, ok bool) {
	message, err := readMessage(packet, query)
	if err != nil || message == nil {
		return Answer{}, false
	}
	q := query.Question[0]
	return readAnswer(message, question{name: q.Name, qtype: q.Qtype}), true
}

// Addresses are those that a host with these answers is given.
func Addresses(a, aaaa Answer) []netip.Addr { return addressesOf(a, aaaa) }

// KeepFor is how long the cache keeps the answer.
func (a Answer) KeepFor() time.Duration { return a.keepFor() }

// CachedBytes is the weight of the answers kept.
func (c *Client) CachedBytes() uint64 {
	c.answers.kept.CleanUp()
	return c.answers.kept.WeightedSize()
}

// Exported for the tests of their bounds.
const (
	MaxAliases       = maxAliases
	MaxDNSCacheBytes = maxDNSCacheBytes
	MaxRaced         = maxRaced
	MaxConnections   = maxConnections
	HeadStart        = headStart
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

// WithHost replaces what is asked for this host's addresses and routes, and the clock by which the answers are kept.
func WithHost(own func() (map[netip.Addr]bool, error), families func() (Families, error), now func() time.Time) Option {
	return func(c *Client) {
		c.own, c.families = HostFact(own, now), HostFact(families, now)
	}
}

// InterfaceAddresses lists this host's own.
func InterfaceAddresses() (map[netip.Addr]bool, error) { return interfaceAddresses() }

// ExtendedErrorName names a code of RFC 8914.
func ExtendedErrorName(code uint16) string { return extendedErrorName(code) }

// SourceFor asks the kernel for the source address towards to.
func SourceFor(network, to string) (netip.Addr, error) { return sourceFor(network, to) }

// Shortage gives the error where it says that this host has run out of something.
func Shortage(err error) error { return shortage(err) }
