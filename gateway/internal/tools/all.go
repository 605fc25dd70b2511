// Package tools holds the diagnostics, one file a tool, and the literal list of them. Tools dial only through egress and know
// neither the web framework nor the settings.
package tools

import (
	"time"

	"diagnostics/gateway/internal/certcheck"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/providers/asn"
	"diagnostics/gateway/internal/providers/rdap"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/workerclient"
)

// Deps are what the tools need.
type Deps struct {
	Egress *egress.Client
	// RDAP asks for registration data.
	RDAP *rdap.Client
	// ASN asks who announces an address.
	ASN *asn.Client
	// Worker is nil where the worker is not enabled.
	Worker *workerclient.Client
	// Certs judges the certificates that ssl-checker sees.
	Certs certcheck.Checker
	// Now is time.Now outside tests.
	Now func() time.Time
}

// All is every tool of the specification, in its order.
func All(d Deps) []tool.Tool {
	return []tool.Tool{
		dnsLookup(d.Egress),
		httpHeaders(d.Egress),
		sslChecker(d.Egress, d.Certs, d.Now),
		uptime(d.Egress),
		portChecker(d.Egress),
		myIP(),
		ipGeolocation(d.RDAP, d.ASN),
		asnLookup(d.ASN),
		whoisLookup(d.RDAP),
		redirectChecker(d.Egress),
		robotsSitemap(d.Egress),
		dnsResolverCheck(d.Egress),
		emailDNSHealth(d.Egress),
		securityHeaders(d.Egress, d.Now),
		traceroute(d.Egress, d.Worker, d.ASN),
		ping(d.Egress, d.Worker),
		packetLoss(d.Egress, d.Worker),
	}
}
