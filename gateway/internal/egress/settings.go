package egress

import (
	"context"
	"fmt"
	"net"
	"net/netip"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/cache/cachestats"
	"diagnostics/gateway/internal/egress/shortage"
	"diagnostics/gateway/internal/egress/upstream"
	"diagnostics/gateway/internal/target"
	"diagnostics/hostroute"
)

// FamilySetting is EGRESS_FAMILIES.
type FamilySetting string

// The values of EGRESS_FAMILIES.
const (
	FamiliesAuto FamilySetting = "auto"
	FamiliesIPv4 FamilySetting = "ipv4"
	FamiliesIPv6 FamilySetting = "ipv6"
	FamiliesBoth FamilySetting = "both"
)

// Settings are what the operator chose.
type Settings struct {
	// Resolvers are DNS_RESOLVERS; empty means the system's.
	Resolvers []netip.AddrPort
	// Families is FamiliesAuto where empty.
	Families FamilySetting
	Deny     target.Denylist
	// HostAddresses are those of a host around a container, which cannot see them: they are refused as this host's own.
	HostAddresses []netip.Prefix
	// OwnAddress reports whether an address is of another part of this service, which is refused as this host's own is;
	// nil is never. It must be safe for concurrent use.
	OwnAddress func(netip.Addr) bool
	// NAT64 are prefixes by which the network translates IPv6 addresses to IPv4, besides those that WatchTranslation
	// finds. An address below one is judged and counted as the IPv4 address that it embeds, too.
	NAT64 []netip.Prefix
	// AllowOwnAddresses lifts the refusal of this host's own addresses, HostAddresses and what WatchOwnName finds
	// included.
	AllowOwnAddresses bool
	// ExemptHosts are the services that the operator chose by name, such as the host of RDAP_BASE_URL: "host:port" as
	// target.URL.Authority gives it. A request to one of them with Request.Exempt is resolved by the system's
	// resolver and not judged. They exempt nothing else: the same host without the asking, on another port, or after a
	// redirect that Follow follows is judged as any other.
	ExemptHosts []string
	// RootServers are the addresses of DNS_ROOT_HINTS_FILE, which the operator chose: an Exchange with one of them for the
	// root or a top-level zone is not judged.
	RootServers []netip.Addr
	// Charge is called before every dial that a visitor's input leads to and that this host can make, and not for
	// resolvers, ExemptHosts and requests that are Uncharged. Nil charges nothing.
	Charge ChargeFunc
	// Delay measures how long this process waits for processor time; nil is never. A timeout of which it was much is
	// this host's own fault.
	Delay shortage.Delay
	// UserAgent goes with every HTTP request.
	UserAgent string
	// Observer records outcomes; it may be nil.
	Observer Observer
	// Providers records the requests to providers, of which egress itself makes those to the resolvers; it may be
	// nil.
	Providers upstream.Observer
	// DNSCache counts how often the cache of DNS answers had one; nil counts nothing.
	DNSCache *cachestats.Counts
}

func (s Settings) validate() error {
	switch s.Families {
	case "", FamiliesAuto, FamiliesIPv4, FamiliesIPv6, FamiliesBoth:
	default:
		return fmt.Errorf("egress: %q is none of auto, ipv4, ipv6, both", s.Families)
	}
	for _, r := range s.Resolvers {
		if !r.IsValid() || r.Port() == 0 {
			return fmt.Errorf("egress: resolver %v is not an address with a port", r)
		}
	}
	return nil
}

// Option changes what tests must inject; there is none that loosens the policy.
type Option func(*Client)

// DialFunc connects to an address that has been judged already. network is "tcp4" or "tcp6" (or "udp4", "udp6").
type DialFunc func(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error)

// WithDialer replaces the socket layer below the policy, so that a test can serve a public address from loopback. It
// carries the HTTP, TLS, TCP and DNS connections alike. All addresses are then reached through a link, whatever the
// kernel below has routes for.
func WithDialer(dial DialFunc) Option {
	return func(c *Client) {
		c.dialPermitted = dial
		c.dialExempt = dial
		c.route = func(netip.Addr) (hostroute.Kind, error) { return hostroute.Out, nil }
	}
}

// WithRoutes replaces the kernel's routes. It is called for every judgement and every failure.
func WithRoutes(route func(netip.Addr) (hostroute.Kind, error)) Option {
	return func(c *Client) { c.route = route }
}

// LookupFunc finds the addresses of a host, in the order in which they are to be tried.
type LookupFunc func(ctx context.Context, host string) ([]netip.Addr, error)

// WithSystemLookup replaces the system's resolver, which finds ExemptHosts alone.
func WithSystemLookup(lookup LookupFunc) Option {
	return func(c *Client) { c.lookupExempt = lookup }
}

// WithOwnAddresses replaces the list of this host's interface addresses. It is called for every judgement.
func WithOwnAddresses(list func() []netip.Addr) Option {
	return func(c *Client) {
		c.own = func() (map[netip.Addr]bool, error) { return setOf(list()), nil }
	}
}

// WithFamilies replaces what auto detects.
func WithFamilies(f Families) Option {
	return func(c *Client) { c.families = func() (Families, error) { return f, nil } }
}

// WithChecker replaces the certificate judgement (roots, clock).
func WithChecker(checker certs.Checker) Option {
	return func(c *Client) { c.checker = checker }
}
