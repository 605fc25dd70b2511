package main

import (
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/config"
	"diagnostics/gateway/web"
)

// TestPrivacyFollowsTheSettings: what the page tells is what the settings are.
func TestPrivacyFollowsTheSettings(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		env  []string
		want web.Privacy
	}{
		"none": {nil, web.Privacy{Window: time.Minute, ASNZone: "asn.cymru.com"}},
		"all": {[]string{"RATE_LIMIT_WINDOW=5m", "DNS_RESOLVERS=192.0.2.53", "RDAP_BASE_URL=https://rdap.example.net/",
			"ASN_DNS_ZONE=asn.example.net", "AUDIT_LOG_FILE=/audit.log", "RATE_LIMIT_REDIS_URL=redis://192.0.2.6"},
			web.Privacy{AuditLog: true, Shared: true, Window: 5 * time.Minute, OwnResolvers: true,
				Redirector: "rdap.example.net", ASNZone: "asn.example.net"}},
		"a port of the redirector": {[]string{"RDAP_BASE_URL=https://[2001:db8::1]:8443/rdap"},
			web.Privacy{Window: time.Minute, ASNZone: "asn.cymru.com", Redirector: "2001:db8::1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := config.Parse(tt.env)
			if err != nil {
				t.Fatal(err)
			}
			if got := privacy(c); got != tt.want {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
}

// TestThePageOnPrivacy is that of a gateway that runs.
func TestThePageOnPrivacy(t *testing.T) {
	t.Parallel()
	s := start(t, "RATE_LIMIT_WINDOW=5m", "DISABLED_TOOLS=dns-resolver-check")
	_, page := s.get(t, s.url+"/privacy")
	if !strings.Contains(page, "within 5 minutes") || strings.Contains(page, "Quad9") ||
		!strings.Contains(page, "that the operator of this instance has chosen") {
		t.Error(page)
	}
}
