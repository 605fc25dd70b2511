package config

import (
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"diagnostics/daemon/settings"
	"diagnostics/gateway/internal/clientip"
)

// headerName is a header's name in net/http's spelling.
type headerName string

func (h *headerName) Decode(s string) error {
	name, err := clientip.ParseHeader(s)
	*h = headerName(name)
	return err
}

// hops counts proxies.
type hops int

func (h *hops) Decode(s string) error {
	n, err := strconv.ParseUint(s, 10, 8)
	if err != nil || n < 1 || n > clientip.MaxHops {
		return settings.ErrMalformed
	}
	*h = hops(n)
	return nil
}

// TrustsHeaders reports whether any of the grants of trust holds.
func (c *Config) TrustsHeaders() bool {
	return bool(c.TrustProxyHeaders) || c.TrustedPlatform != "" || bool(c.CFPages) || bool(c.Vercel)
}

// Trust returns which headers of which peers give the client's address.
func (c *Config) Trust() clientip.Trust {
	return clientip.Trust{
		Headers: c.TrustsHeaders(),
		Peers:   c.TrustedCIDRs,
		Header:  string(c.ClientHeader),
		Hops:    int(c.ProxyHops),
	}
}

// ClientAddress describes where a client's address is taken from.
func (c *Config) ClientAddress() string {
	switch header := strings.ToLower(string(c.ClientHeader)); {
	case !c.TrustsHeaders():
		return "the connection"
	case header == "":
		return "cf-connecting-ip, x-real-ip or the first of x-forwarded-for"
	case clientip.IsList(string(c.ClientHeader)):
		return fmt.Sprintf("%s, entry %d from the right", header, c.ProxyHops)
	default:
		return header
	}
}

// WarnOfProxies warns of settings that a client could exploit, or that do nothing.
func (c *Config) WarnOfProxies(log *slog.Logger) {
	// Cloudflare overwrites the first of the three headers, and the ranges exclude other peers.
	forgeable := c.TrustsHeaders() && c.ClientHeader == "" &&
		(c.TrustedPlatform != "cloudflare" || len(c.TrustedCIDRs) == 0)
	if forgeable {
		log.Warn("proxy headers are trusted, but CLIENT_ADDRESS_HEADER is not set: through a proxy that passes " +
			"cf-connecting-ip or x-real-ip on, visitors can forge their address and escape every limit; set " +
			"CLIENT_ADDRESS_HEADER to the one header that your proxy overwrites (deploy/proxies has examples)")
	}
	if c.ClientHeader != "" && !c.TrustsHeaders() {
		log.Warn("CLIENT_ADDRESS_HEADER is set, but no headers are trusted: it is not read; set PUBLIC_DOMAIN, or " +
			"TRUST_PROXY_HEADERS=true behind a CDN")
	}
	if c.ProxyHops > 1 && !clientip.IsList(string(c.ClientHeader)) {
		log.Warn("TRUSTED_PROXY_HOPS counts entries of x-forwarded-for or forwarded: without one of them as " +
			"CLIENT_ADDRESS_HEADER it does nothing")
	}
}
