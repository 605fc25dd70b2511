// Package egress is the only way out of the gateway: its only dialer, resolver and HTTP client. Every connection, retries
// and redirects included, dials an address that was judged for that dial, and judges it once more in the socket's
// control hook. Nothing is read from a proxy variable of the environment.
//
// One connection goes through four steps, a file each: a name is looked up (dns_*.go, through the operator's resolvers),
// all of its answers are judged (resolve.go, policy.go), one of them is dialled (dial.go), and an exchange is spoken over
// it (http*.go, redirect.go). There is no option that skips the judgement: tests replace the socket layer below it.
package egress

import (
	"context"
	"net/netip"
	"time"

	"diagnostics/gateway/internal/certcheck"
	"diagnostics/shared/flight"
)

// Bounds of CONTRACT.md section 6.
const (
	HTTPTimeout    = 8 * time.Second
	ConnectTimeout = 7 * time.Second
	DNSTimeout     = 2500 * time.Millisecond
	DNSTries       = 2
	DNSCacheFor    = 60 * time.Second
	MaxHeaderBytes = 64 << 10
	MaxBodyBytes   = 512 << 10
)

// bounds are the times of section 6 as values, so that the tests of this package need not wait for them.
type bounds struct {
	http, connect, dnsTry time.Duration
}

// Client is the way out. It is safe for concurrent use.
type Client struct {
	settings Settings
	bounds   bounds

	// dialPermitted connects to addresses that were judged; the real one judges them again in the control hook.
	dialPermitted DialFunc
	// dialExempt connects to the operator's own resolvers and to ExemptHosts, which are exempt from the policy.
	dialExempt DialFunc
	// lookupExempt finds ExemptHosts as this host's other programs would.
	lookupExempt LookupFunc

	// own and families tell what is known of this host; an error means that nothing is yet.
	own      func() (map[netip.Addr]bool, error)
	families func() (Families, error)
	system   *systemResolvers
	checker  certcheck.Checker
	now      func() time.Time

	answers *dnsCache
	flights flight.Group[dnsKey, Answer]

	// life ends with Close, and with it every lookup that is still under way.
	life context.Context
	end  context.CancelFunc
}

// New makes the way out. An error means a setting that it cannot take.
func New(s Settings, opts ...Option) (*Client, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	answers, err := newDNSCache()
	if err != nil {
		return nil, err
	}
	life, end := context.WithCancel(context.Background())
	c := &Client{
		settings: s,
		bounds:   bounds{http: HTTPTimeout, connect: ConnectTimeout, dnsTry: DNSTimeout},
		system:   newSystemResolvers(resolvConf),
		now:      time.Now,
		answers:  answers,
		life:     life,
		end:      end,
	}
	c.own = newHostFact(interfaceAddresses).get
	c.families = newHostFact(func() (Families, error) { return detectFamilies(sourceFor) }).get
	c.dialPermitted = c.dialSocket
	c.dialExempt = dialExempt
	c.lookupExempt = lookupSystem
	for _, o := range opts {
		o(c)
	}
	return c, nil
}

// Close ends the lookups that are still under way. The Client is not used afterwards.
func (c *Client) Close() {
	c.end()
	c.answers.close()
}
