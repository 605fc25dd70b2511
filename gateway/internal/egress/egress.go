// Package egress is the only way out of the gateway: its only dialer, resolver and HTTP client. Every connection,
// retries and redirects included, dials an address that was judged for that dial, and judges it once more in the
// socket's control hook. Nothing is read from a proxy variable of the environment.
//
// One connection goes through four steps: a name is looked up (package dnsclient, over connections that are made here),
// all of its answers are judged (resolve.go, policy.go), one of them is dialled (dial.go), and a round trip is spoken
// over it (http*.go, redirect.go). There is no option that skips the judgement: tests replace the socket layer below
// it.
package egress

import (
	"context"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/egress/upstream"
	"diagnostics/hostroute"
	"diagnostics/shared/netpolicy"
)

// Bounds promised in docs/contract.md#times-and-sizes.
const (
	HTTPTimeout    = 8 * time.Second
	ConnectTimeout = 7 * time.Second
	MaxHeaderBytes = 64 << 10
	MaxBodyBytes   = 512 << 10
)

// bounds are the times above as values, so that the tests of this package need not wait for them.
type bounds struct {
	http, connect, dnsTry, http3 time.Duration
}

// Client is the way out. It is safe for concurrent use.
type Client struct {
	settings Settings
	bounds   bounds
	lists    lists

	// dialPermitted connects to addresses that were judged; the real one judges them again in the control hook.
	dialPermitted DialFunc
	// dialExempt connects to the operator's own resolvers and to ExemptHosts, which are exempt from the policy.
	dialExempt DialFunc
	// lookupExempt finds ExemptHosts as this host's other programs would.
	lookupExempt LookupFunc

	// own and families are facts about this host; an error means that none is available yet.
	own      func() (map[netip.Addr]bool, error)
	families func() (Families, error)
	// route returns the kernel's route to an address; an error means that the kernel cannot be queried.
	route   func(netip.Addr) (hostroute.Kind, error)
	kernel  *hostroute.Kernel // nil where a test plays it
	checker certs.Checker
	dns     *dnsclient.Client
	shown   atomic.Pointer[shownResolver] // the last one

	translation translation
	ownName     ownName
	ends        []func() // which end what goes on in the background
}

// New makes the way out. An error means a setting that it cannot take.
func New(s Settings, opts ...Option) (*Client, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	if s.Observer == nil {
		s.Observer = unobserved{}
	}
	s.Providers = upstream.Or(s.Providers)
	c := &Client{
		settings: s,
		bounds:   bounds{http: HTTPTimeout, connect: ConnectTimeout, dnsTry: dnsclient.Timeout, http3: HTTP3Timeout},
		checker:  HostChecker(),
	}
	c.lists.deny.Store(&s.Deny)
	c.lists.host.Store(&s.HostAddresses)
	c.own = newHostFact(interfaceAddresses).get
	c.families = newHostFact(everPresent(func() (Families, error) { return detectFamilies(sourceFor) })).get
	c.dialPermitted = c.dialSocket
	c.dialExempt = dialExempt
	c.lookupExempt = c.lookupSystem
	for _, o := range opts {
		o(c)
	}
	names, err := c.newDNS()
	if err != nil {
		return nil, err
	}
	c.dns = names
	if c.route == nil {
		c.kernel = hostroute.Open(hostroute.Packets{Protocol: hostroute.TCP})
		c.route = c.kernel.To
	}
	return c, nil
}

// newDNS makes the DNS client. The dial functions that it gets decide which servers it may query: the operator's
// resolvers are exempt from the policy, a server that a lookup names is judged like every other address.
func (c *Client) newDNS() (*dnsclient.Client, error) {
	return dnsclient.New(dnsclient.Settings{
		Resolvers: c.settings.Resolvers,
		DialResolver: func(ctx context.Context, transport string, to netip.AddrPort) (net.Conn, error) {
			return c.connect(ctx, c.dialExempt, networkFor(transport, to.Addr()), to)
		},
		DialServer:  c.dial,
		OwnFault:    c.OwnFault,
		Public:      func(a netip.Addr) bool { return netpolicy.Judge(a).Public },
		PrivateName: isPrivateName,
		Timeout:     c.bounds.dnsTry,
		Counts:      c.settings.DNSCache,
		Observer:    c.settings.Providers,
	})
}

// DNS queries name servers: the operator's resolvers, or a public one that is named. What Permit refuses is
// ECONNREFUSED there, with no packet sent. Answers are returned as they are, but for the names of a network inside,
// which do not exist; addresses to connect to come from Resolve.
func (c *Client) DNS() *dnsclient.Client { return c.dns }

// Providers is the observer of the requests to providers.
func (c *Client) Providers() upstream.Observer { return c.settings.Providers }

// Close ends the lookups that are still under way. The Client is not used afterwards.
func (c *Client) Close() {
	for _, end := range c.ends {
		end()
	}
	c.dns.Close()
	if c.kernel != nil {
		c.kernel.Close()
	}
}
