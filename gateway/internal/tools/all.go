// Package tools is the literal list of the diagnostics; each is a package of its own below it. Tools dial only through
// egress and know neither the web framework nor the settings, nor each other.
package tools

import (
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/analyze/rootzone"
	"diagnostics/gateway/internal/cache"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/providers/asn"
	"diagnostics/gateway/internal/providers/rdap"
	"diagnostics/gateway/internal/providers/whois"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tools/asnlookup"
	"diagnostics/gateway/internal/tools/dnsdelegation"
	"diagnostics/gateway/internal/tools/dnslookup"
	"diagnostics/gateway/internal/tools/dnsresolvercheck"
	"diagnostics/gateway/internal/tools/emaildnshealth"
	"diagnostics/gateway/internal/tools/httpheaders"
	"diagnostics/gateway/internal/tools/ipgeolocation"
	"diagnostics/gateway/internal/tools/myip"
	"diagnostics/gateway/internal/tools/packetloss"
	"diagnostics/gateway/internal/tools/ping"
	"diagnostics/gateway/internal/tools/portchecker"
	"diagnostics/gateway/internal/tools/redirectchecker"
	"diagnostics/gateway/internal/tools/robotssitemap"
	"diagnostics/gateway/internal/tools/securityheaders"
	"diagnostics/gateway/internal/tools/sslchecker"
	"diagnostics/gateway/internal/tools/traceroute"
	"diagnostics/gateway/internal/tools/uptime"
	"diagnostics/gateway/internal/tools/whoislookup"
	"diagnostics/gateway/internal/workerclient"
)

// Deps are what the tools need.
type Deps struct {
	Egress *egress.Client
	// RDAP asks for registration data.
	RDAP *rdap.Client
	// WHOIS asks registries that offer no RDAP.
	WHOIS *whois.Client
	// ASN asks who announces an address.
	ASN *asn.Client
	// Worker is nil where the worker is not enabled.
	Worker *workerclient.Client
	// Hints and Anchors are where dns-delegation begins.
	Hints   rootzone.Hints
	Anchors rootzone.Anchors
	// Certs judges the certificates that ssl-checker sees.
	Certs certs.Checker
	// Cache keeps what ssl-checker has learnt of servers for some minutes.
	Cache cache.Store
	// Now is time.Now outside tests.
	Now func() time.Time
}

// All is every tool, in the order of the table in the README.
func All(d Deps) []tool.Tool {
	return []tool.Tool{
		dnslookup.New(d.Egress),
		httpheaders.New(d.Egress),
		sslchecker.New(d.Egress, d.Certs, d.Cache, d.Now),
		uptime.New(d.Egress),
		portchecker.New(d.Egress),
		myip.New(),
		ipgeolocation.New(d.Egress, d.RDAP, d.ASN),
		asnlookup.New(d.ASN),
		whoislookup.New(d.RDAP, d.WHOIS),
		redirectchecker.New(d.Egress),
		robotssitemap.New(d.Egress),
		dnsresolvercheck.New(d.Egress),
		dnsdelegation.New(dnsdelegation.Config{
			Egress: d.Egress, Hints: d.Hints, Anchors: d.Anchors, Shared: dnsdelegation.NewShared(d.Now),
			Now: d.Now,
		}),
		emaildnshealth.New(d.Egress),
		securityheaders.New(d.Egress, d.Now),
		traceroute.New(d.Egress, d.Worker, d.ASN),
		ping.New(d.Egress, d.Worker),
		packetloss.New(d.Egress, d.Worker),
	}
}
