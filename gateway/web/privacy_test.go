package web_test

import (
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/web"
)

// TestPrivacyTellsWhatIsTrueHere: each setting changes what the page says, and nothing is said of what does not run.
func TestPrivacyTellsWhatIsTrueHere(t *testing.T) {
	t.Parallel()
	usual := everything()
	usual.Tools = registry("traceroute", "ping", "packet-loss")
	usual.Privacy = web.Privacy{Window: time.Minute, ASNZone: "asn.cymru.com"}
	before := text(t, get(t, newSite(t, usual), "/privacy"))
	for name, tt := range map[string]struct {
		change  func(*web.Config)
		on, off string
	}{
		"audit log":   {func(c *web.Config) { c.Privacy.AuditLog = true }, "this instance records the time of each check", "This instance keeps none"},
		"in short":    {func(c *web.Config) { c.Privacy.AuditLog = true }, "A bounded audit log records which address", "No record says which address"},
		"redis":       {func(c *web.Config) { c.Privacy.Shared = true }, "and in a database, Redis", ""},
		"answers":     {func(c *web.Config) { c.Privacy.Shared = true }, "partly in Redis", ""},
		"window":      {func(c *web.Config) { c.Privacy.Window = 5 * time.Minute }, "usually within 5 minutes", "usually within a minute"},
		"resolvers":   {func(c *web.Config) { c.Privacy.OwnResolvers = true }, "the resolvers that the operator of this instance has chosen", "the resolvers of this instance’s network"},
		"redirector":  {func(c *web.Config) { c.Privacy.Redirector = "rdap.example.net" }, "<code>rdap.example.net</code>, and the registries that it names", "rdap.org"},
		"zone":        {func(c *web.Config) { c.Privacy.ASNZone = "asn.example.net" }, "the list at <code>asn.example.net</code>", "Team Cymru"},
		"places":      {func(c *web.Config) { c.Places = threePlaces }, "if you choose one: Frankfurt, Sydney.", ""},
		"contact":     {func(c *web.Config) { c.ContactURL = "mailto:noc@example.com" }, "the operator of this instance", ""},
		"no worker":   {func(c *web.Config) { c.WorkerEnabled = false }, "", "Routers on the path"},
		"its hashes":  {func(c *web.Config) { c.WorkerEnabled = false }, "", "keyed hashes"},
		"comparison":  {disable("dns-resolver-check"), "", "Quad9"},
		"mail":        {disable("email-dns-health"), "", "mail policies"},
		"tls":         {disable("ssl-checker"), "", "what a server accepts over TLS"},
		"port 43":     {disable("whois-lookup"), "", "WHOIS protocol"},
		"registries":  {disable("whois-lookup", "ip-geolocation"), "", "Registries</strong> of domain names"},
		"their cache": {disable("whois-lookup", "ip-geolocation"), "", "registrations for an hour"},
		"networks":    {disable("ip-geolocation", "asn-lookup", "traceroute"), "", "A list of networks"},
		"one of them": {disable("ip-geolocation", "asn-lookup"), "A list of networks", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changed := usual
			tt.change(&changed)
			after := text(t, get(t, newSite(t, changed), "/privacy"))
			if tt.on != "" && !strings.Contains(after, tt.on) {
				t.Errorf("the page does not say %q: %s", tt.on, after)
			}
			if tt.off != "" && (strings.Contains(after, tt.off) || !strings.Contains(before, tt.off)) {
				t.Errorf("the page says %q: %s", tt.off, after)
			}
			if name != "one of them" && tt.on != "" && strings.Contains(before, tt.on) {
				t.Errorf("the page said %q before: %s", tt.on, before)
			}
		})
	}
}

func disable(slugs ...string) func(*web.Config) { return func(c *web.Config) { c.Disabled = slugs } }

func TestPrivacyTellsTheWindowInWords(t *testing.T) {
	t.Parallel()
	for window, want := range map[time.Duration]string{
		time.Second: "within a second.", 90 * time.Second: "within 90 seconds.", time.Minute: "within a minute.",
		2 * time.Minute: "within 2 minutes.", time.Hour: "within an hour.", 24 * time.Hour: "within 24 hours.",
		1500 * time.Millisecond: "within 1.5s.",
	} {
		config := everything()
		config.Privacy.Window = window
		if page := text(t, get(t, newSite(t, config), "/privacy")); !strings.Contains(page, want) {
			t.Errorf("%v: no %q: %s", window, want, page)
		}
	}
}
