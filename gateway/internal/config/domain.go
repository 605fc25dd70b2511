package config

import (
	"net/netip"

	"diagnostics/gateway/internal/httpapi"
	"diagnostics/shared/netpolicy"
)

// domain is the public name of the service, which leads to its host.
type domain string

func (d *domain) Decode(s string) error {
	name, err := netpolicy.CanonicalName(s, false)
	*d = domain(name)
	return err
}

// ownProxyHeader is the header that our Caddy overwrites (deploy/proxies/Caddyfile).
const ownProxyHeader = "X-Real-Ip"

// nearby are the ranges of a proxy of our own: on this host, or in a private network with the gateway.
var nearby = cidrs{
	netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128"),
	netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("172.16.0.0/12"), netip.MustParsePrefix("192.168.0.0/16"),
	netip.MustParsePrefix("fc00::/7"),
}

// followDomain derives the settings of the proxy in front from PUBLIC_DOMAIN, except those that are set.
func (c *Config) followDomain() error {
	if c.PublicDomain == "" {
		return nil
	}
	if c.PublicOrigin == (httpapi.Origin{}) {
		origin, err := httpapi.ParseOrigin("https://" + string(c.PublicDomain))
		if err != nil {
			return err
		}
		c.PublicOrigin = origin
	}
	c.TrustProxyHeaders = true
	if c.ClientHeader == "" {
		c.ClientHeader = ownProxyHeader
	}
	if len(c.TrustedCIDRs) == 0 {
		c.TrustedCIDRs = nearby
	}
	return nil
}
