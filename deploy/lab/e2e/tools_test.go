//go:build e2e

package e2e

import (
	"strings"
	"testing"
)

// check is one request to a tool with the facts that must hold of its answer.
type check struct {
	name    string
	input   string
	options map[string]any
	status  int // 200 where 0
	facts   facts
	// shown answers are printed with -v, one of each tool.
	shown bool
}

func runChecks(t *testing.T, slug string, checks []check) {
	t.Parallel()
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := call(t, slug, c.input, c.options)
			want := c.status
			if want == 0 {
				want = 200
			}
			if a.Status != want {
				t.Fatalf("%s %q: status %d, want %d: %.500s", slug, c.input, a.Status, want, a.Body)
			}
			c.facts.hold(t, a)
			if c.shown {
				show(t, slug+" "+c.input, a)
			}
		})
	}
}

func TestDNSLookup(t *testing.T) {
	runChecks(t, "dns-lookup", []check{
		{name: "every type", input: "lab-dns.com", shown: true, facts: facts{
			"domain":                 "lab-dns.com",
			"records.A":              []string{"11.80.0.1"},
			"records.AAAA":           []string{"2a10:80::1"},
			"records.MX.0.exchange":  "mail.lab-site.com",
			"records.MX.0.priority":  10,
			"records.NS":             []string{"ns1.lab-transit.net"},
			"records.CNAME":          []string{},
			"records.SOA.0.nsname":   "ns1.lab-transit.net",
			"records.SOA.0.minttl":   300,
			"errors.CNAME":           "ENODATA",
			"errors.A":               "(absent)",
			"details.A.rcode":        "NOERROR",
			"details.A.resolver":     nonEmpty,
			"details.A.cnameChain":   []string{},
			"details.A.ttl":          between(1, 3600),
			"details.TXT.durationMs": between(0, 2500),
		}},
		{name: "unescaped text", input: "lab-dns.com.", facts: facts{
			"records.TXT": func(v any) bool {
				list, _ := v.([]any)
				for _, text := range list {
					if text == `two chunks, a quote " and a semicolon;` {
						return len(list) == 3
					}
				}
				return false
			},
		}},
		{name: "a chain of aliases", input: "alias.lab-dns.com", facts: facts{
			"records.A":            []string{"11.80.0.1"},
			"records.CNAME":        []string{"second.lab-dns.com"},
			"details.A.cnameChain": []string{"second.lab-dns.com", "third.lab-dns.com"},
			"errors.AAAA":          "ENODATA",
		}},
		{name: "no such name", input: "nowhere.lab-dns.com", facts: facts{"errors.A": "ENOTFOUND", "errors.SOA": "ENOTFOUND", "records.A": []string{}}},
		{name: "an alias to no name", input: "dangling.lab-dns.com", facts: facts{"errors.A": "ENOTFOUND", "records.CNAME": []string{"nowhere.lab-dns.com"}}},
		{name: "a loop of aliases", input: "loop.lab-dns.com", facts: facts{"errors.A": "ESERVFAIL"}},
		{name: "servfail", input: "servfail.lab-dns.com", facts: facts{"errors.A": "ESERVFAIL", "errors.TXT": "ESERVFAIL"}},
		{name: "refused", input: "refused.lab-dns.com", facts: facts{"errors.A": "EREFUSED"}},
		{name: "extended error", input: "bogus.lab-dns.com", facts: facts{
			"errors.A": "ESERVFAIL", "details.A.extendedErrors.0.code": 6, "details.A.extendedErrors.0.text": "signature expired"}},
		{name: "silence", input: "timeout.lab-dns.com", facts: facts{"errors.A": "ETIMEOUT", "errors.SOA": "ETIMEOUT"}},
		{name: "over TCP", input: "truncated.lab-dns.com", facts: facts{"records.TXT": []string{"came over TCP"}}},
		{name: "authenticated", input: "signed.lab-dns.com", facts: facts{"details.A.authenticated": true, "details.A.cached": false, "details.A.ttl": 60}},
		{name: "a private answer is only told", input: "private.lab-site.com", facts: facts{"records.A": []string{"10.1.2.3"}}},
		{name: "a name inside is not there", input: "redis.backend", facts: facts{
			"records.A": []string{}, "errors.A": "ENOTFOUND", "errors.MX": "ENOTFOUND", "errors.SOA": "ENOTFOUND", "details.A.rcode": "NXDOMAIN"}},
		{name: "nor through an alias", input: "inside.probe-case.com", facts: facts{
			"records.A": []string{}, "errors.A": "ENOTFOUND", "records.CNAME": []string{"redis.backend"}}},
		{name: "a network's name", input: "redis.project_inside", status: 400},
		{name: "a cloud's name", input: "metadata.goog", status: 400},
		{name: "an underscore label", input: "_dmarc.lab-dns.com", facts: facts{"records.TXT": []string{"v=DMARC1; p=reject"}}},
		{name: "a bad name", input: "lab dns.com", status: 400},
		{name: "some types", input: "types.lab-dns.com", options: map[string]any{"types": "hinfo, HTTPS"}, facts: facts{
			"records.HTTPS.0.params.alpn": "h3,h2", "records.HTTPS.1.target": "edge.lab-site.com", "records.HINFO.0.os": "Red Hat; Linux\\ \u00c8",
			"records.A": "(absent)", "details.A": "(absent)", "errors": map[string]any{}}},
		{name: "all types", input: "types.lab-dns.com", options: map[string]any{"types": "all"}, facts: facts{
			"records.SVCB.1.params.key65280": `a b\"c;\\\001`, "records.DNSKEY.1.keyTag": 2371, "records.SOA.0.hostmaster": `host\.master.lab-dns.com`,
			"records.TLSA.0.data": "0c72ac70b745ac19998811b131d662c9ac69dbdbe7cb23e5b514b56664c5d3d6", "errors": map[string]any{"CNAME": "ENODATA"}}},
		{name: "unknown type", input: "types.lab-dns.com", options: map[string]any{"types": "A,ANY"}, status: 400},
		{name: "no type", input: "types.lab-dns.com", options: map[string]any{"types": ""}, status: 400},
		{name: "types of the wrong kind", input: "types.lab-dns.com", options: map[string]any{"types": []string{"A"}}, status: 400},
		{name: "a reverse name", input: "1.0.90.11.in-addr.arpa", options: map[string]any{"types": "PTR"}, facts: facts{
			"records.PTR": []string{"clean.lab-transit.net"}}},
		{name: "a private address's reverse name", input: "1.0.0.10.in-addr.arpa", options: map[string]any{"types": "PTR"}, status: 400},
		{name: "a reserved address's reverse name", input: "1.0.0.240.in-addr.arpa", status: 400},
		{name: "an address", input: "11.90.0.1", status: 400},
	})
}

func TestHTTPHeaders(t *testing.T) {
	fast := internet.Site("fast")
	runChecks(t, "http-headers", []check{
		{name: "https", input: "https://v4only.lab-site.com/", shown: true, facts: facts{
			"status": 200, "httpVersion": "HTTP/2", "address": internet.Site("v4only").V4.String(), "redirectsTo": nil,
			"tls.authorized": true, "tls.authorizationError": nil, "tls.version": "TLSv1.3", "timings.tlsMs": between(8, 2000),
			"timings.connectMs": between(8, 2000), "headers.0.name": nonEmpty}},
		{name: "http", input: "http://v4only.lab-site.com/path?x=1#gone", facts: facts{
			"status": 200, "statusText": "OK", "httpVersion": "HTTP/1.1", "tls": nil, "timings.tlsMs": nil, "url": "http://v4only.lab-site.com/path?x=1"}},
		{name: "both families", input: "https://fast.lab-site.com", facts: facts{"address": func(v any) bool { return v == fast.V4.String() || v == fast.V6.String() }}},
		{name: "IPv6 only", input: "https://v6only.lab-site.com/", facts: facts{"status": 200, "address": internet.Site("v6only").V6.String()}},
		{name: "an address", input: "http://" + fast.V4.String() + "/", facts: facts{"status": 200}},
		{name: "an IPv6 address", input: "http://[" + fast.V6.String() + "]/", facts: facts{"status": 200}},
		{name: "IPv6 is a black hole", input: "http://broken6.lab-site.com/", facts: facts{"status": 200, "address": fast.V4.String()}},
		{name: "slow", input: "http://slow.lab-site.com/", facts: facts{"status": 200, "responseTimeMs": between(3000, 7000)}},
		{name: "never", input: "http://never.lab-site.com/", status: 504},
		{name: "mute", input: "http://mute.lab-site.com/", status: 504},
		{name: "huge headers", input: "http://huge.lab-site.com/", status: 502},
		{name: "an endless body is not read", input: "http://endless.lab-site.com/", facts: facts{"status": 200, "responseTimeMs": between(0, 3000)}},
		{name: "a redirect is not followed", input: "http://redirects.lab-site.com/chain/3", facts: facts{
			"status": 301, "redirectsTo": "http://redirects.lab-site.com/chain/2"}},
		{name: "404", input: "http://notfound.lab-site.com/", facts: facts{"status": 404}},
		{name: "500", input: "http://broken.lab-site.com/", facts: facts{"status": 500}},
		{name: "expired certificate", input: "https://expired.lab-site.com/", facts: facts{
			"status": 200, "tls.authorized": false, "tls.authorizationError": "CERT_HAS_EXPIRED"}},
		{name: "wrong name", input: "https://wronghost.lab-site.com/", facts: facts{"tls.authorizationError": "ERR_TLS_CERT_ALTNAME_INVALID"}},
		{name: "repeats kept, cookies masked", input: "http://rich.lab-site.com/", facts: facts{"headers": func(v any) bool {
			links, cookies := 0, 0
			for _, h := range v.([]any) {
				header := h.(map[string]any)
				switch header["name"] {
				case "link":
					links++
				case "set-cookie":
					cookies++
					if value, ok := header["value"].(string); !ok || containsAny(value, "top-secret-value", "dark") {
						return false
					}
				}
			}
			return links == 2 && cookies == 2
		}}},
		{name: "HTTP/1.0", input: "http://http10.lab-site.com/", facts: facts{"status": 200, "httpVersion": "HTTP/1.0", "statusText": "Fine"}},
		{name: "no HTTP", input: "http://nothttp.lab-site.com/", status: 502},
		{name: "reset", input: "http://reset.lab-site.com/", status: 502},
		{name: "no TLS", input: "https://notls.lab-site.com/", status: 502},
		{name: "closed port", input: "http://fast.lab-site.com:81/", status: 502},
		{name: "silent host", input: "http://silent.lab-site.com/", status: 504},
		{name: "a private answer", input: "http://private.lab-site.com/", status: 400},
		{name: "a mixed answer", input: "http://mixed.lab-site.com/", status: 400},
		{name: "no address", input: "http://noaddress.lab-site.com/", status: 400},
		{name: "no such name", input: "http://nowhere.lab-site.com/", status: 400},
	})
}

func TestUptime(t *testing.T) {
	fast := internet.Site("fast")
	runChecks(t, "uptime", []check{
		{name: "up", input: "https://fast.lab-site.com/", shown: true, facts: facts{
			"online": true, "verdict": "up", "status": 200, "certificateValid": true, "reason": nil, "finalUrl": "https://fast.lab-site.com/",
			"families.ipv4.state": "up", "families.ipv4.address": fast.V4.String(), "families.ipv6.state": "up", "families.ipv6.address": fast.V6.String()}},
		{name: "a chain of five", input: "http://redirects.lab-site.com/chain/5", facts: facts{"verdict": "up", "status": 200, "finalUrl": "http://redirects.lab-site.com/chain/0"}},
		{name: "a chain of six", input: "http://redirects.lab-site.com/chain/6", facts: facts{"verdict": "degraded", "reason": nonEmpty}},
		{name: "to https", input: "http://upgrade.lab-site.com/", facts: facts{"verdict": "up", "finalUrl": "https://upgrade.lab-site.com/"}},
		{name: "404", input: "http://notfound.lab-site.com/", facts: facts{"online": true, "verdict": "degraded", "status": 404}},
		{name: "500", input: "http://broken.lab-site.com/", facts: facts{"online": false, "verdict": "down", "status": 500}},
		{name: "503", input: "http://unavailable.lab-site.com/", facts: facts{"online": false, "verdict": "down", "status": 503}},
		{name: "expired certificate", input: "https://expired.lab-site.com/", facts: facts{
			"online": true, "verdict": "degraded", "certificateValid": false, "reason": nonEmpty}},
		{name: "IPv6 is a black hole", input: "http://broken6.lab-site.com/", facts: facts{
			"online": true, "verdict": "degraded", "families.ipv4.state": "up", "families.ipv6.state": "down"}},
		{name: "IPv4 only", input: "http://v4only.lab-site.com/", facts: facts{"verdict": "up", "families.ipv4.state": "up", "families.ipv6.state": "noAddress"}},
		{name: "IPv6 only", input: "http://v6only.lab-site.com/", facts: facts{"verdict": "up", "families.ipv4.state": "noAddress", "families.ipv6.state": "up"}},
		{name: "never", input: "http://never.lab-site.com/", facts: facts{"online": false, "verdict": "down", "status": nil, "reason": nonEmpty}},
		{name: "closed", input: "http://fast.lab-site.com:81/", facts: facts{"online": false, "verdict": "down", "families.ipv4.state": "down"}},
		{name: "reset", input: "http://reset.lab-site.com/", facts: facts{"online": false, "verdict": "down"}},
		{name: "no address", input: "http://noaddress.lab-site.com/", facts: facts{"online": false, "verdict": "down"}},
		{name: "a private answer", input: "http://private.lab-site.com/", status: 400},
	})
}

func TestSSLChecker(t *testing.T) {
	code := func(code string) facts { return facts{"authorized": false, "authorizationError": code} }
	runChecks(t, "ssl-checker", []check{
		{name: "good", input: "fast.lab-site.com", shown: true, facts: facts{
			"host": "fast.lab-site.com", "port": 443, "authorized": true, "authorizationError": nil, "protocol": "TLSv1.3",
			"hostnameMatches": true, "chainComplete": true, "starttls": nil, "certificate.daysRemaining": between(58, 60),
			"certificate.keyType": nonEmpty, "certificate.selfSigned": false,
			"certificate.subjectAltNames.dns": []string{"fast.lab-site.com"}}},
		{name: "expired", input: "expired.lab-site.com", facts: facts{"authorized": false, "authorizationError": "CERT_HAS_EXPIRED",
			"certificate.daysRemaining": between(-12, -9), "hostnameMatches": true, "chainComplete": true}},
		{name: "not yet valid", input: "notyet.lab-site.com", facts: code("CERT_NOT_YET_VALID")},
		{name: "self-signed", input: "selfsigned.lab-site.com", facts: code("DEPTH_ZERO_SELF_SIGNED_CERT")},
		{name: "wrong name", input: "wronghost.lab-site.com", facts: facts{"authorizationError": "ERR_TLS_CERT_ALTNAME_INVALID", "hostnameMatches": false, "chainComplete": true}},
		{name: "missing intermediate", input: "nointermediate.lab-site.com", facts: facts{"authorizationError": "UNABLE_TO_VERIFY_LEAF_SIGNATURE", "chainComplete": false}},
		{name: "unknown root sent", input: "untrusted.lab-site.com", facts: code("SELF_SIGNED_CERT_IN_CHAIN")},
		{name: "expired and self-signed", input: "expiredself.lab-site.com", facts: facts{"authorizationError": "CERT_HAS_EXPIRED", "issues": func(v any) bool {
			codes := map[any]bool{}
			for _, issue := range v.([]any) {
				codes[issue.(map[string]any)["code"]] = true
			}
			return codes["CERT_HAS_EXPIRED"] && codes["DEPTH_ZERO_SELF_SIGNED_CERT"]
		}}},
		{name: "RSA", input: "rsa.lab-site.com:443", facts: facts{"authorized": true, "certificate.keyBits": 2048}},
		{name: "TLS 1.2 only", input: "tls12.lab-site.com", facts: facts{"authorized": true, "protocol": "TLSv1.2", "supportedProtocols": versions(false, false, true, false)}},
		{name: "TLS 1.3 only", input: "tls13.lab-site.com", facts: facts{"protocol": "TLSv1.3", "supportedProtocols": versions(false, false, false, true)}},
		{name: "TLS 1.0 only", input: "tls10.lab-site.com", facts: facts{"authorized": true, "supportedProtocols": versions(true, false, false, false)}},
		{name: "a client's certificate wanted", input: "clientcert.lab-site.com", facts: facts{"authorized": true}},
		{name: "SMTP", input: "mail.lab-site.com:25", facts: facts{"authorized": true, "starttls": "smtp"}},
		{name: "submission", input: "mail.lab-site.com:587", facts: facts{"authorized": true, "starttls": "smtp"}},
		{name: "POP3", input: "mail.lab-site.com:110", facts: facts{"authorized": true, "starttls": "pop3"}},
		{name: "IMAP", input: "mail.lab-site.com:143", facts: facts{"authorized": true, "starttls": "imap"}},
		{name: "IPv6 only", input: "v6only.lab-site.com", facts: facts{"authorized": true, "address": internet.Site("v6only").V6.String()}},
		{name: "no TLS", input: "notls.lab-site.com", status: 502},
		{name: "mute", input: "mute.lab-site.com", status: 504},
		{name: "closed", input: "fast.lab-site.com:81", status: 502},
		{name: "silent", input: "silent.lab-site.com", status: 504},
		{name: "a private answer", input: "private.lab-site.com", status: 400},
		{name: "a mixed answer", input: "mixed.lab-site.com", status: 400},
		{name: "no address", input: "noaddress.lab-site.com", status: 400},
	})
}

// versions is a predicate on supportedProtocols, oldest first.
func versions(want ...bool) func(any) bool {
	return func(v any) bool {
		m, ok := v.(map[string]any)
		for i, name := range []string{"TLSv1.0", "TLSv1.1", "TLSv1.2", "TLSv1.3"} {
			ok = ok && m[name] == want[i]
		}
		return ok
	}
}

func TestPortChecker(t *testing.T) {
	fast := internet.Site("fast")
	runChecks(t, "port-checker", []check{
		{name: "open", input: "fast.lab-site.com:443", shown: true, facts: facts{
			"host": "fast.lab-site.com", "port": 443, "reachable": true, "state": "open", "responseTimeMs": between(8, 2000),
			"addresses": func(v any) bool { return len(v.([]any)) == 2 }, "addresses.0.state": "open", "addresses.1.state": "open"}},
		{name: "closed", input: "fast.lab-site.com:81", facts: facts{"reachable": false, "state": "closed"}},
		{name: "filtered", input: "v4only.lab-site.com:4444", facts: facts{"reachable": false, "state": "filtered", "responseTimeMs": nil}},
		{name: "silent host", input: "silent.lab-site.com:443", facts: facts{"reachable": false, "state": "filtered"}},
		{name: "host unreachable", input: "unreachable.lab-transit.net:443", facts: facts{"reachable": false, "state": "unreachable"}},
		{name: "one family is a black hole", input: "broken6.lab-site.com:80", facts: facts{
			"reachable": true, "state": "open", "address": fast.V4.String(), "addresses": func(v any) bool {
				for _, a := range v.([]any) {
					entry := a.(map[string]any)
					if entry["family"] == float64(6) {
						return entry["state"] == "filtered"
					}
				}
				return false
			}}},
		{name: "IPv6", input: "[" + fast.V6.String() + "]:443", facts: facts{"state": "open", "addresses.0.family": 6}},
		{name: "IPv4", input: fast.V4.String() + ":443", facts: facts{"state": "open", "addresses.0.family": 4}},
		{name: "a private answer", input: "private.lab-site.com:443", status: 400},
		{name: "a mixed answer", input: "mixed.lab-site.com:443", status: 400},
		{name: "no address", input: "noaddress.lab-site.com:443", status: 400},
		{name: "no port", input: "fast.lab-site.com", status: 400},
	})
}

func containsAny(s string, parts ...string) bool {
	for _, part := range parts {
		if strings.Contains(s, part) {
			return true
		}
	}
	return false
}
