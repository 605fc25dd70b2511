package config

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"diagnostics/daemon/daemontest"
	"diagnostics/daemon/settings"
)

var update = flag.Bool("update", false, "rewrite the generated tables of README and docs")

const settingsPage = "../../../docs/settings.md"

func TestDefaults(t *testing.T) {
	t.Parallel()
	c, err := Parse(nil)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%v %v %v %v|%v %v %v %v|%v %v %v|%v %v|%v|%v|%v %v %v %v", c.ListenAddr,
		c.MetricsListenAddr == "", c.PublicOrigin.IsZero(), c.EnableWorkerTools,
		c.TrustsHeaders(), len(c.TrustedCIDRs), c.RedisURL.IsZero(), c.WorkerEnabled(),
		c.Requests, time.Duration(c.Window), c.ClientRequests, c.TargetRequests, c.Samples, c.EgressFamilies,
		c.RDAPBaseURL.String(),
		c.ASNZone, []any{c.MaxInFlight, c.MaxInFlightEach, c.MaxConnections}, []any{c.LogLevel, c.LogFormat},
		[]any{time.Duration(c.ShutdownDelay), time.Duration(c.ShutdownTimeout)})
	if c.ClientHeader != "" || c.ProxyHops != 1 {
		t.Errorf("client header %q, hops %d", c.ClientHeader, c.ProxyHops)
	}
	want := "127.0.0.1:8080 true true false|false 0 true false|30 1m0s 120|300 " +
		"1800|auto|https://rdap.org/|asn.cymru.com [512 8 8192] [info json] [0s 30s]"
	if got != want {
		t.Errorf("defaults\n%s, want\n%s", got, want)
	}
}

// Every setting with what it takes and what it does not; a set-but-empty one is absent.
func TestValues(t *testing.T) {
	t.Parallel()
	const yes, no = true, false
	tests := []struct {
		name, value string
		ok          bool
	}{
		{"GATEWAY_LISTEN_ADDR", ":8080", yes}, {"GATEWAY_LISTEN_ADDR", "8080", no}, {"METRICS_LISTEN_ADDR", "127.0.0.1:9090", yes}, {"METRICS_LISTEN_ADDR", "x", no},
		{"PUBLIC_ORIGIN", "https://tools.example.com", yes}, {"PUBLIC_ORIGIN", "https://tools.example.com/", no}, {"PUBLIC_ORIGIN", "tools.example.com", no}, {"PUBLIC_ORIGIN", "null", no},
		{"ENABLE_WORKER_TOOLS", "true", yes}, {"ENABLE_WORKER_TOOLS", "false", yes}, {"ENABLE_WORKER_TOOLS", "1", no},
		{"DIAGNOSTICS_WORKER_URL", "http://worker:8081", yes}, {"DIAGNOSTICS_WORKER_URL", "https://worker/base", yes}, {"DIAGNOSTICS_WORKER_URL", "worker:8081", no},
		{"DIAGNOSTICS_WORKER_URL", "http://a:1, https://b", yes}, {"DIAGNOSTICS_WORKER_URL", "http://a:1,b", no},
		{"DIAGNOSTICS_WORKER_URL", ",", no},
		{"DIAGNOSTICS_WORKER_URL", "http://u:p@worker", no}, {"DIAGNOSTICS_WORKER_URL", "http://worker?x", no}, {"DIAGNOSTICS_WORKER_URL", "http://worker#x", no},
		{"DIAGNOSTICS_WORKER_URL", "http://worker:0", no}, {"DIAGNOSTICS_WORKER_URL", "http://worker:65536", no}, {"DIAGNOSTICS_WORKER_URL", "http://", no},
		{"DIAGNOSTICS_WORKER_TOKEN", "o", yes}, {"DIAGNOSTICS_WORKER_TOKEN", "one,two", yes}, {"DIAGNOSTICS_WORKER_TOKEN", "one,two,three", no}, {"DIAGNOSTICS_WORKER_TOKEN", "one,", no},
		{"TRUST_PROXY_HEADERS", "true", yes}, {"TRUST_PROXY_HEADERS", "on", no},
		{"TRUSTED_PROXY_PLATFORM", "cloudflare", yes}, {"TRUSTED_PROXY_PLATFORM", "vercel", yes}, {"TRUSTED_PROXY_PLATFORM", "Cloudflare", no}, {"TRUSTED_PROXY_PLATFORM", "netlify", no},
		{"TRUSTED_PROXY_CIDRS", "10.0.0.0/8, fd00::/8,192.0.2.1", yes}, {"TRUSTED_PROXY_CIDRS", "10.0.0.0/33", no}, {"TRUSTED_PROXY_CIDRS", "10.0.0.0/8,x", no},
		{"HOST_ADDRESSES", "192.0.2.10, 2001:db8::/64,198.51.100.0/24", yes}, {"HOST_ADDRESSES", "", yes}, {"HOST_ADDRESSES", "192.0.2.0/33", no},
		{"HOST_ADDRESSES", "host.example.com", no}, {"HOST_ADDRESSES", ",", no}, {"HOST_ADDRESSES", "::ffff:192.0.2.1", no}, {"HOST_ADDRESSES", "fe80::1%eth0", no},
		{"NAT64_PREFIXES", "auto", yes}, {"NAT64_PREFIXES", "2a0e:1:2:64::/96, auto,2a0e:1::/32", yes}, {"NAT64_PREFIXES", "2a0e:1:2:64::/95", no},
		{"NAT64_PREFIXES", "10.0.0.0/32", no}, {"NAT64_PREFIXES", ",", no}, {"NAT64_PREFIXES", "off", no}, {"NAT64_PREFIXES", "2a0e:1:2:64::1/96", no},
		{"TRUSTED_PROXY_CIDRS", ",", no}, {"TRUSTED_PROXY_CIDRS", "::ffff:10.0.0.0/104", no}, {"TRUSTED_PROXY_CIDRS", "example.com", no},
		{"CLIENT_ADDRESS_HEADER", "X-Real-IP", yes}, {"CLIENT_ADDRESS_HEADER", "x_any~thing", yes}, {"CLIENT_ADDRESS_HEADER", "x-real-ip, x-forwarded-for", no},
		{"CLIENT_ADDRESS_HEADER", "x-real-ip:", no}, {"CLIENT_ADDRESS_HEADER", " x-real-ip", no}, {"CLIENT_ADDRESS_HEADER", "x-réal-ip", no},
		{"TRUSTED_PROXY_HOPS", "1", yes}, {"TRUSTED_PROXY_HOPS", "16", yes}, {"TRUSTED_PROXY_HOPS", "0", no}, {"TRUSTED_PROXY_HOPS", "17", no}, {"TRUSTED_PROXY_HOPS", "-1", no},
		{"TRUSTED_PROXY_HOPS", "1.5", no}, {"TRUSTED_PROXY_HOPS", "257", no}, {"TRUSTED_PROXY_HOPS", "x", no},
		{"RATE_LIMIT_REDIS_URL", "redis://localhost", yes}, {"RATE_LIMIT_REDIS_URL", "http://localhost", no},
		{"RATE_LIMIT_REDIS_TOKEN", "any thing", yes},
		{"PLACE_ID", "fra-1", yes}, {"PLACE_ID", "FRA", no}, {"PLACE_ID", "all", no}, {"PLACE_NAME", "Frankfurt am Main", yes}, {"PLACE_NAME", " ", no},
		{"PLACE_HASH_KEY_FILE", "/key", yes}, {"PLACE_HASH_KEY_FILE", "a\nb", no},
		{"PEER_TLS_NAMES", "fra.example.net,192.0.2.7", yes}, {"PEER_TLS_NAMES", ",", no},
		{"PEER_TOKEN", "0123456789abcdef", yes}, {"PEER_TOKEN", "0123456789abcde", no}, {"PEER_TOKENS_FILE", "/tokens", yes}, {"PEER_TOKENS_FILE", "a\nb", no},
		{"PEER_LISTEN_ADDR", "8443", no}, {"PLACES_FILE", "a\nb", no},
		{"PEER_TLS_CERT_FILE", "a\nb", no}, {"PEER_TLS_KEY_FILE", "a\nb", no}, {"PEER_TLS_CLIENT_CA_FILE", "a\nb", no},
		{"RATE_LIMIT_REQUESTS", "0", yes}, {"RATE_LIMIT_REQUESTS", "x", no}, {"RATE_LIMIT_WINDOW", "1m30s", yes}, {"RATE_LIMIT_WINDOW", "0s", no},
		{"RATE_LIMIT_CLIENT_REQUESTS", "0", yes}, {"RATE_LIMIT_CLIENT_REQUESTS", "x", no},
		{"RATE_LIMIT_TARGET_REQUESTS", "0", yes}, {"RATE_LIMIT_TARGET_REQUESTS", "x", no},
		{"RATE_LIMIT_ADDRESS_REQUESTS", "0", yes}, {"RATE_LIMIT_ADDRESS_REQUESTS", "x", no},
		{"RATE_LIMIT_PAGES", "0", yes}, {"RATE_LIMIT_PAGES", "x", no},
		{"RATE_LIMIT_SAMPLES", "0", yes}, {"RATE_LIMIT_SAMPLES", "x", no},
		{"MAX_IN_FLIGHT", "1", yes}, {"MAX_IN_FLIGHT", "0", no}, {"MAX_IN_FLIGHT_PER_CLIENT", "0", yes}, {"MAX_IN_FLIGHT_PER_CLIENT", "-1", no},
		{"MAX_CONNECTIONS", "0", yes}, {"MAX_CONNECTIONS", "1000000000", yes}, {"MAX_CONNECTIONS", "-1", no}, {"MAX_CONNECTIONS", "1000000001", no},
		{"DNS_RESOLVERS", "9.9.9.9", yes}, {"DNS_RESOLVERS", "127.0.0.53:53, [2620:fe::fe]:5353, 2620:fe::9, [2620:fe::9]", yes}, {"DNS_RESOLVERS", "dns.quad9.net", no},
		{"DNS_RESOLVERS", "9.9.9.9:0", no}, {"DNS_RESOLVERS", "9.9.9.9:65536", no}, {"DNS_RESOLVERS", "9.9.9.9 1.1.1.1", no}, {"DNS_RESOLVERS", ",", no},
		{"EGRESS_FAMILIES", "auto", yes}, {"EGRESS_FAMILIES", "ipv4", yes}, {"EGRESS_FAMILIES", "ipv6", yes}, {"EGRESS_FAMILIES", "both", yes}, {"EGRESS_FAMILIES", "4", no},
		{"DENY_TARGETS", "192.0.2.0/24,example.com", yes}, {"DENY_TARGETS", "192.0.2.0/33", no}, {"DENY_TARGETS", "a b", no}, {"DENY_TARGETS", " , ", no},
		{"ALLOW_OWN_ADDRESSES", "true", yes}, {"ALLOW_OWN_ADDRESSES", "t", no},
		{"DISABLED_TOOLS", "ping, traceroute", yes}, {"DISABLED_TOOLS", "ping,,", yes}, {"DISABLED_TOOLS", ",", no},
		{"CONTACT_URL", "https://example.com/contact", yes}, {"CONTACT_URL", "mailto:noc@example.com", yes}, {"CONTACT_URL", "javascript:alert(1)", no}, {"CONTACT_URL", "mailto:", no},
		{"CONTACT_URL", "noc@example.com", no}, {"CONTACT_URL", "https://example.com/\r\nX: y", no}, {"CONTACT_URL", "https://example.com/)", no}, {"CONTACT_URL", "https://", no},
		{"RDAP_BASE_URL", "https://rdap.example.com/base/", yes}, {"RDAP_BASE_URL", "http://rdap.example.com", no}, {"RDAP_BASE_URL", "https://rdap.example.com?x=y", no},
		{"RDAP_BOOTSTRAP_URL", "https://lists.example.com/rdap/", yes}, {"RDAP_BOOTSTRAP_URL", "https://10.0.0.1:8443", yes}, {"RDAP_BOOTSTRAP_URL", "off", yes},
		{"RDAP_BOOTSTRAP_URL", "http://lists.example.com", no}, {"RDAP_BOOTSTRAP_URL", "https://lists.example.com/?x=y", no}, {"RDAP_BOOTSTRAP_URL", "on", no},
		{"ASN_DNS_ZONE", "asn.example.com", yes}, {"ASN_DNS_ZONE", "a..b", no}, {"ASN_DNS_ZONE", "https://x", no},
		{"DIAGNOSTICS_WORKER_CA_FILE", "/etc/ca.pem", yes}, {"DIAGNOSTICS_WORKER_CA_FILE", "ca\n.pem", no},
		{"DIAGNOSTICS_WORKER_CLIENT_CERT_FILE", "cert\n.pem", no}, {"DIAGNOSTICS_WORKER_CLIENT_KEY_FILE", "key\n.pem", no},
		{"DNS_ROOT_HINTS_FILE", "/etc/root.hints", yes}, {"DNS_ROOT_HINTS_FILE", "root\n.hints", no},
		{"DNS_TRUST_ANCHORS_FILE", "/etc/root.ds", yes}, {"DNS_TRUST_ANCHORS_FILE", "root\n.ds", no},
		{"DENY_TARGETS_FILE", "/etc/targets", yes}, {"DENY_TARGETS_FILE", "tar\ngets", no},
		{"DENY_CLIENTS_FILE", "/etc/clients", yes}, {"DENY_CLIENTS_FILE", "cli\nents", no},
		{"CLIENT_LIMITS_FILE", "/etc/limits", yes}, {"CLIENT_LIMITS_FILE", "lim\nits", no},
		{"HOST_ADDRESSES_FILE", "/etc/addresses", yes}, {"HOST_ADDRESSES_FILE", "addr\nesses", no},
		{"AUDIT_LOG_FILE", "/var/log/diagnostics/audit.log", yes}, {"AUDIT_LOG_FILE", "audit\nlog", no},
		{"LOG_LEVEL", "debug", yes}, {"LOG_LEVEL", "error", yes}, {"LOG_LEVEL", "INFO", no}, {"LOG_LEVEL", "trace", no},
		{"LOG_FORMAT", "text", yes}, {"LOG_FORMAT", "logfmt", no},
		{"PUBLIC_DOMAIN", "tools.example.com", yes}, {"PUBLIC_DOMAIN", "https://tools.example.com", no},
		{"PPROF_ENABLED", "true", yes}, {"PPROF_ENABLED", "1", no},
		{"SHUTDOWN_DELAY", "0s", yes}, {"SHUTDOWN_DELAY", "5", no}, {"SHUTDOWN_TIMEOUT", "1h", yes}, {"SHUTDOWN_TIMEOUT", "-1s", no},
	}
	tested := map[string]bool{}
	for _, tt := range tests {
		tested[tt.name] = true
		_, err := Parse([]string{tt.name + "=" + tt.value})
		if tt.ok != (err == nil) {
			t.Errorf("%s=%q: %v", tt.name, tt.value, err)
		}
		if err != nil && (!strings.HasPrefix(err.Error(), tt.name+" takes ") || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s=%q: the line is %q", tt.name, tt.value, err)
		}
	}
	for _, s := range settings.Of[Config]() {
		if !s.Hidden && !tested[s.Name] {
			t.Errorf("no case for %s", s.Name)
		}
		if _, err := Parse([]string{s.Name + "="}); err != nil {
			t.Errorf("%s set but empty: %v", s.Name, err)
		}
	}
}

// No value is repeated, secret or not: which one is a secret is a matter of luck where a line is pasted wrong.
func TestErrorsHoldNoValue(t *testing.T) {
	t.Parallel()
	for _, s := range settings.Of[Config]() {
		value := "hunter2 \x01\n,,,"
		_, err := Parse([]string{s.Name + "=" + value})
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
	_, err := Parse([]string{"RATE_LIMIT_REDIS_URL=redis://user:hunter2@host:port/"})
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%v", err)
	}
}

// Package settings has the rules for the files; which settings take one is the gateway's.
func TestSecretsFromFiles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte("the-token\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Parse([]string{"DIAGNOSTICS_WORKER_TOKEN_FILE=" + path, "RATE_LIMIT_REDIS_TOKEN_FILE=" + path})
	if err != nil || c.WorkerToken.Reveal() != "the-token" || c.RedisToken.Reveal() != "the-token" {
		t.Errorf("%q, %q, %v", c.WorkerToken.Reveal(), c.RedisToken.Reveal(), err)
	}
}

// The gateway sends the first of two tokens.
func TestTwoTokens(t *testing.T) {
	t.Parallel()
	c, err := Parse([]string{"DIAGNOSTICS_WORKER_TOKEN=first-token, second-token"})
	if err != nil || c.WorkerToken.Reveal() != "first-token" {
		t.Errorf("%q, %v", c.WorkerToken.Reveal(), err)
	}
}

func TestTrust(t *testing.T) {
	t.Parallel()
	for env, want := range map[string]bool{
		"TRUST_PROXY_HEADERS=true": true, "TRUST_PROXY_HEADERS=false": false, "TRUSTED_PROXY_PLATFORM=cloudflare": true, "TRUSTED_PROXY_PLATFORM=vercel": true,
		"CF_PAGES=1": true, "VERCEL=1": true, "CF_PAGES=0": false, "CF_PAGES=true": false, "VERCEL=yes": false, "VERCEL=": false,
		"TRUSTED_PROXY_CIDRS=10.0.0.0/8": false, "VERCEL_ENV=1": false,
	} {
		c, err := Parse([]string{env})
		if err != nil || c.TrustsHeaders() != want {
			t.Errorf("%s: %v, %v; want %v", env, c.TrustsHeaders(), err, want)
		}
	}
}

func TestWorkerEnabled(t *testing.T) {
	t.Parallel()
	all := []string{"ENABLE_WORKER_TOOLS=true", "DIAGNOSTICS_WORKER_URL=http://worker", "DIAGNOSTICS_WORKER_TOKEN=token"}
	for skip := range len(all) + 1 {
		env := slices.Clone(all)
		if skip < len(all) {
			env = slices.Delete(env, skip, skip+1)
		}
		c, err := Parse(env)
		if err != nil || c.WorkerEnabled() != (skip == len(all)) {
			t.Errorf("%v: %v, %v", env, c.WorkerEnabled(), err)
		}
	}
}

func TestDisabledToolsAreKnown(t *testing.T) {
	t.Parallel()
	known := []string{"ping", "traceroute"}
	c, err := Parse([]string{"DISABLED_TOOLS=ping, traceroute,,ping"})
	if err != nil || c.CheckSlugs(known) != nil || !slices.Equal(c.DisabledTools, []string{"ping", "traceroute"}) {
		t.Errorf("%v, %v", c.DisabledTools, err)
	}
	c, err = Parse([]string{"DISABLED_TOOLS=ping,pong"})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.CheckSlugs(known); err == nil || !strings.HasPrefix(err.Error(), "DISABLED_TOOLS takes ") {
		t.Errorf("%v", err)
	}
}

func TestConfigPrintsNoSecret(t *testing.T) {
	t.Parallel()
	c, err := Parse([]string{"DIAGNOSTICS_WORKER_TOKEN=hunter2", "RATE_LIMIT_REDIS_URL=redis://:hunter2@localhost",
		"RATE_LIMIT_REDIS_TOKEN=hunter2"})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, v := range []any{c, &c, c.WorkerToken, &c.WorkerToken, c.RedisURL, c.RedisToken} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
	}
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	out.Write(text)
	for _, handler := range []slog.Handler{slog.NewJSONHandler(&out, nil), slog.NewTextHandler(&out, nil)} {
		slog.New(handler).Info("x", "token", c.WorkerToken, "url", c.RedisURL, "config", c)
	}
	fmt.Fprintln(&out, c.WorkerToken.String(), c.RedisURL)
	if printed := out.String(); strings.Contains(printed, "hunter2") ||
		strings.Contains(printed, fmt.Sprintf("%x", "hunter2")) {
		t.Errorf("printed: %s", printed)
	}
	if !strings.Contains(out.String(), "[redacted]") {
		t.Error("nothing was printed at all")
	}
}

func TestSettingsTable(t *testing.T) {
	t.Parallel()
	daemontest.Section(
		t, settingsPage, "<!-- settings:gateway -->", "<!-- /settings -->", settings.Table[Config](), *update,
	)
}

// IANA's lists belong to the public redirector: an operator's own one is asked for everything, and nothing is fetched.
func TestListsAndRedirector(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		env   []string
		lists bool
		hosts []string
	}{
		{nil, true, []string{"rdap.org:443", "data.iana.org:443"}},
		{[]string{"RDAP_BASE_URL=https://rdap.org/"}, true, []string{"rdap.org:443", "data.iana.org:443"}},
		{[]string{"RDAP_BOOTSTRAP_URL=off"}, true, []string{"rdap.org:443"}},
		{[]string{"RDAP_BOOTSTRAP_URL=https://10.0.0.1:8443/x"}, true, []string{"rdap.org:443", "10.0.0.1:8443"}},
		{[]string{"RDAP_BASE_URL=https://rdap.example.com"}, false, []string{"rdap.example.com:443"}},
		{[]string{"RDAP_BASE_URL=https://rdap.org/other"}, false, []string{"rdap.org:443"}},
		{[]string{"RDAP_BASE_URL=https://rdap.org:8443"}, false, []string{"rdap.org:8443"}},
		{[]string{"RDAP_BASE_URL=https://rdap.example.com", "RDAP_BOOTSTRAP_URL=https://lists.example.com"}, false,
			[]string{"rdap.example.com:443"}},
	} {
		config, err := Parse(c.env)
		if err != nil {
			t.Fatal(err)
		}
		if got := config.RDAPHosts(); config.UsesLists() != c.lists || !slices.Equal(got, c.hosts) {
			t.Errorf("%v: lists %t, exempt hosts %v", c.env, config.UsesLists(), got)
		}
	}
}

func TestWorkerTLSSettings(t *testing.T) {
	t.Parallel()
	const cert, key = "DIAGNOSTICS_WORKER_CLIENT_CERT_FILE=/c", "DIAGNOSTICS_WORKER_CLIENT_KEY_FILE=/k"
	for _, tt := range []struct {
		env  []string
		says string // empty where it starts
	}{
		{[]string{cert, key}, ""},
		{[]string{cert}, "DIAGNOSTICS_WORKER_CLIENT_CERT_FILE is set without DIAGNOSTICS_WORKER_CLIENT_KEY_FILE"},
		{[]string{key}, "DIAGNOSTICS_WORKER_CLIENT_KEY_FILE is set without DIAGNOSTICS_WORKER_CLIENT_CERT_FILE"},
	} {
		_, err := Parse(tt.env)
		if (err == nil) != (tt.says == "") || err != nil && !strings.HasPrefix(err.Error(), tt.says) {
			t.Errorf("%v: %v", tt.env, err)
		}
	}
}

// The image sets the listener.
func TestComposePassesSettingsOn(t *testing.T) {
	t.Parallel()
	daemontest.Compose(t, "../../../docker-compose.yml", "gateway", settings.Of[Config](), "GATEWAY_LISTEN_ADDR")
}

// TestEnvironmentFile keeps the example that the package installs equal to the code.
func TestEnvironmentFile(t *testing.T) {
	t.Parallel()
	daemontest.EnvFile(t, "../../../deploy/systemd/gateway.env",
		"Settings of diagnostics-gateway.service. Lines are defaults. To change one, uncomment it and run:\n"+
			"systemctl restart diagnostics-gateway\n"+
			"The service itself sets DIAGNOSTICS_WORKER_TOKEN_FILE=/etc/diagnostics/worker-token. "+
			"With the package diagnostics-worker on this host, ENABLE_WORKER_TOOLS and DIAGNOSTICS_WORKER_URL are set as well. "+
			"Settings in this file take precedence over all of these. AUDIT_LOG_FILE has to be below /var/log/diagnostics/.",
		settings.Of[Config](), *update)
}

func TestPublicDomain(t *testing.T) {
	t.Parallel()
	const nearby = "[127.0.0.0/8 ::1/128 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7]"
	for _, tt := range []struct{ env, origin, header, peers string }{
		{"", "", "", "[]"},
		{"PUBLIC_DOMAIN=tools.example.com", "https://tools.example.com", "X-Real-Ip", nearby},
		{"PUBLIC_DOMAIN=Bücher.example.", "https://xn--bcher-kva.example", "X-Real-Ip", nearby},
		{"PUBLIC_DOMAIN=a.example PUBLIC_ORIGIN=https://b.example:8443", "https://b.example:8443", "X-Real-Ip", nearby},
		{"PUBLIC_DOMAIN=a.example CLIENT_ADDRESS_HEADER=x-client", "https://a.example", "X-Client", nearby},
		{"PUBLIC_DOMAIN=a.example TRUSTED_PROXY_CIDRS=10.1.0.0/16", "https://a.example", "X-Real-Ip", "[10.1.0.0/16]"},
	} {
		c, err := Parse(strings.Fields(tt.env))
		if err != nil {
			t.Fatal(err)
		}
		trust := c.Trust()
		if c.PublicOrigin.String() != tt.origin || trust.Header != tt.header || fmt.Sprint(trust.Peers) != tt.peers ||
			trust.Headers != (tt.env != "") {
			t.Errorf("%s: %s, %+v", tt.env, c.PublicOrigin, trust)
		}
	}
}

// The warnings at startup about the settings of proxies: each setting that a client could abuse, or that has no effect,
// in one line that names what to set.
func TestWarningsAboutProxies(t *testing.T) {
	t.Parallel()
	const (
		forgeable = "can forge their address"
		unread    = "it is not read"
		hops      = "TRUSTED_PROXY_HOPS counts"
	)
	tests := []struct {
		env  string
		want []string
	}{
		{"", nil},
		{"TRUST_PROXY_HEADERS=true", []string{forgeable}},
		{"TRUST_PROXY_HEADERS=true TRUSTED_PROXY_CIDRS=10.0.0.0/8", []string{forgeable}},
		{"TRUST_PROXY_HEADERS=true CLIENT_ADDRESS_HEADER=x-real-ip", nil},
		{"TRUST_PROXY_HEADERS=true CLIENT_ADDRESS_HEADER=X-Forwarded-For TRUSTED_PROXY_HOPS=2", nil},
		{"TRUSTED_PROXY_PLATFORM=vercel", []string{forgeable}},
		{"TRUSTED_PROXY_PLATFORM=vercel TRUSTED_PROXY_CIDRS=10.0.0.0/8", []string{forgeable}},
		{"TRUSTED_PROXY_PLATFORM=cloudflare", []string{forgeable}},
		{"TRUSTED_PROXY_PLATFORM=cloudflare TRUSTED_PROXY_CIDRS=10.0.0.0/8", nil},
		{"CF_PAGES=1 TRUSTED_PROXY_CIDRS=10.0.0.0/8", []string{forgeable}},
		{"VERCEL=1", []string{forgeable}},
		{"VERCEL=1 CLIENT_ADDRESS_HEADER=x-vercel-forwarded-for", nil},
		{"TRUSTED_PROXY_CIDRS=10.0.0.0/8", nil},
		{"CLIENT_ADDRESS_HEADER=x-real-ip", []string{unread}},
		{"TRUST_PROXY_HEADERS=true CLIENT_ADDRESS_HEADER=forwarded TRUSTED_PROXY_HOPS=2", nil},
		{"TRUST_PROXY_HEADERS=true TRUSTED_PROXY_HOPS=2", []string{forgeable, hops}},
		{"TRUST_PROXY_HEADERS=true CLIENT_ADDRESS_HEADER=x-real-ip TRUSTED_PROXY_HOPS=2", []string{hops}},
		{"TRUST_PROXY_HEADERS=true CLIENT_ADDRESS_HEADER=x-real-ip TRUSTED_PROXY_HOPS=1", nil},
	}
	for _, tt := range tests {
		c, err := Parse(strings.Fields(tt.env))
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		c.WarnOfProxies(slog.New(slog.NewTextHandler(&log, nil)))
		if got := strings.Count(log.String(), "\n"); got != len(tt.want) {
			t.Errorf("%s: %d lines, want %d: %s", tt.env, got, len(tt.want), log.String())
		}
		for _, want := range tt.want {
			if !strings.Contains(log.String(), want) {
				t.Errorf("%s: no line with %q in %s", tt.env, want, log.String())
			}
		}
	}
}

func TestStartTellsWhereAddressesComeFrom(t *testing.T) {
	t.Parallel()
	for env, want := range map[string]string{
		"":                         "the connection",
		"TRUST_PROXY_HEADERS=true": "cf-connecting-ip, x-real-ip or the first of x-forwarded-for",
		"TRUST_PROXY_HEADERS=true CLIENT_ADDRESS_HEADER=X-Real-IP":                            "x-real-ip",
		"TRUST_PROXY_HEADERS=true CLIENT_ADDRESS_HEADER=x-forwarded-for":                      "x-forwarded-for, entry 1 from the right",
		"TRUST_PROXY_HEADERS=true CLIENT_ADDRESS_HEADER=X-Forwarded-For TRUSTED_PROXY_HOPS=3": "x-forwarded-for, entry 3 from the right",
		"CLIENT_ADDRESS_HEADER=x-real-ip":                                                     "the connection",
	} {
		c, err := Parse(strings.Fields(env))
		if err != nil || c.ClientAddress() != want {
			t.Errorf("%s: %q, %v; want %q", env, c.ClientAddress(), err, want)
		}
	}
}

// The settings that deploy/proxies shows are taken as they stand, trust one header of one peer, and leave nothing to
// warn of. What the proxies of Caddy and nginx make of them is tried in the lab.
func TestSettingsOfDocumentedProxies(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../../deploy/proxies/*.env")
	if err != nil || len(files) != 4 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c, err := Parse(strings.Split(string(text), "\n"))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		var log bytes.Buffer
		c.WarnOfProxies(slog.New(slog.NewTextHandler(&log, nil)))
		if trust := c.Trust(); !trust.Headers || trust.Header == "" || len(trust.Peers) != 1 || log.Len() != 0 {
			t.Errorf("%s: %+v, %s", file, trust, log.String())
		}
	}
}

func TestAContainerIsToldOfItsHost(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		settings, env []string
		file          string
		warns         bool
	}{
		"not in one":           {nil, []string{"PATH=/bin", "containers=3"}, "", false},
		"Docker":               {nil, nil, "/.dockerenv", true},
		"Podman":               {nil, nil, "/run/.containerenv", true},
		"Kubernetes":           {nil, []string{"KUBERNETES_SERVICE_HOST=10.96.0.1"}, "", true},
		"LXC":                  {nil, []string{"container=lxc"}, "", true},
		"another file":         {nil, nil, "/etc/passwd", false},
		"addresses are listed": {[]string{"HOST_ADDRESSES=192.0.2.1"}, nil, "/.dockerenv", false},
		"a name is looked up":  {[]string{"PUBLIC_DOMAIN=tools.example.com"}, nil, "/.dockerenv", false},
		"they may be reached":  {[]string{"ALLOW_OWN_ADDRESSES=true"}, nil, "/.dockerenv", false},
	} {
		config, err := Parse(test.settings)
		if err != nil {
			t.Fatal(err)
		}
		stat := func(file string) (fs.FileInfo, error) {
			if file == test.file {
				return nil, nil
			}
			return nil, fs.ErrNotExist
		}
		var log bytes.Buffer
		WarnOfHost(config, test.env, stat, slog.New(slog.NewTextHandler(&log, nil)))
		if warns := strings.Contains(log.String(), "HOST_ADDRESSES"); warns != test.warns ||
			strings.Count(log.String(), "\n") > 1 {
			t.Errorf("%s: %q", name, log.String())
		}
	}
}

func TestOnLoopback(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]bool{
		"127.0.0.1:80": true, "127.7.7.7:80": true, "[::1]:80": true, "localhost:80": true,
		":80": false, "0.0.0.0:80": false, "128.0.0.1:80": false, "[::]:80": false, "10.0.0.0/8:80": false,
	} {
		c, err := Parse([]string{"GATEWAY_LISTEN_ADDR=" + addr})
		if err != nil {
			t.Fatal(err)
		}
		if c.OnLoopback() != want {
			t.Errorf("%s: %t", addr, !want)
		}
	}
}

// The log has the hosts of Redis and of the worker, and never what may be a password.
func TestAddressesForTheLog(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"redis://user:hunter2@10.0.0.1": "10.0.0.1:6379", "unix://:hunter2@/run/redis.sock?db=1": "/run/redis.sock",
		"redis+cluster://:hunter2@a:1,b:2": "a:1,b:2", "rediss://cache.example.com:7000/3": "cache.example.com:7000", "": "",
	} {
		c, err := Parse([]string{
			"RATE_LIMIT_REDIS_URL=" + url, "DIAGNOSTICS_WORKER_URL=https://worker:8081/base, http://[::1]:80",
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.RedisURL.Addresses(); got != want {
			t.Errorf("%s: %q", url, got)
		}
		if got := c.WorkerURL.Addresses(); got != "worker:8081,[::1]:80" {
			t.Errorf("worker: %q", got)
		}
	}
}

func TestFilesNeeded(t *testing.T) {
	t.Parallel()
	for env, want := range map[string]uint64{
		"":                                    8192 + 512*FilesOfRun + filesOfProcess,
		"MAX_CONNECTIONS=0":                   512*FilesOfRun + filesOfProcess,
		"MAX_CONNECTIONS=100 MAX_IN_FLIGHT=3": 100 + 3*FilesOfRun + filesOfProcess,
		"MAX_CONNECTIONS=100 MAX_IN_FLIGHT=3 PEER_LISTEN_ADDR=127.0.0.1:0 PEER_TOKEN=a-token-of-sixteen": 2*100 +
			3*FilesOfRun + filesOfProcess,
	} {
		c, err := Parse(strings.Fields(env))
		if err != nil {
			t.Fatal(err)
		}
		if got := filesNeeded(c); got != want {
			t.Errorf("%s: %d, want %d", env, got, want)
		}
	}
}

// The limit of this process, on both sides.
func TestWarnOfFiles(t *testing.T) {
	t.Parallel()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if limit.Cur > 1<<30 {
		limit.Cur = 1 << 20 // without a limit there is no other side
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
			t.Fatal(err)
		}
	}
	enough := Config{}
	enough.MaxInFlight = 1
	enough.MaxConnections += settings.Count(limit.Cur - FilesOfRun - filesOfProcess)
	tooMany := enough
	tooMany.MaxConnections++
	for _, tt := range []struct {
		name   string
		config Config
		warns  bool
	}{{"as many as there are", enough, false}, {"one more", tooMany, true}} {
		var log bytes.Buffer
		WarnOfFiles(tt.config, slog.New(slog.NewTextHandler(&log, nil)))
		if warned := strings.Contains(log.String(), "MAX_CONNECTIONS"); warned != tt.warns {
			t.Errorf("%s: %q", tt.name, log.String())
		}
	}
}
