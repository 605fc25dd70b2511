package tlsserver

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"time"

	"diagnostics/lab/internal/site"
)

// Why OpenSSL, and testssl.sh with it, judges otherwise.
const (
	anyKey = "OpenSSL takes keys that may encrypt for keys of a server, whatever the key exchange"
	byName = "OpenSSL wants the usage for servers by name; browsers and Go take any"
)

const day = 24 * time.Hour

// names are servers that look at the name that the client sends, or whose addresses differ.
func names() []Server {
	elsewhere := site.Order{Names: []string{"other." + Zone}}
	const lines = "ssl_protocols TLSv1.2 TLSv1.3;\nssl_ecdh_curve X25519:prime256v1;\n" +
		"ssl_prefer_server_ciphers on;\nssl_ciphers ECDHE-ECDSA-AES128-GCM-SHA256;"
	plain := suites{tls13: {aes256, chacha, aes128}, tls12: {ecdsa12}}
	return []Server{
		{Host: "default-other", Note: "clients that send no name get another certificate", Program: "nginx",
			start: both(nginxServer(lines, site.Order{}), nginxDefault(lines, elsewhere)),
			Truth: Truth{Suites: plain, Order: Servers, Groups: twoGroups, Sent: signed("default-other"),
				Nameless: "other." + Zone}},
		{Host: "needs-name", Note: "clients that send no name, or another, are refused", Program: "nginx",
			start: both(nginxServer(lines, site.Order{}), nginxDefault(lines+"\nssl_reject_handshake on;")),
			Truth: Truth{Suites: plain, Order: Servers, Groups: twoGroups, Sent: signed("needs-name"),
				Nameless: Refused}},
		{Host: "several", Note: "four addresses of two families; one still has the certificate that expired", more: 3,
			start: several,
			Truth: Truth{Order: Rules, Suites: modern(), Groups: twoGroups, Sent: signed("several"), Error: "CERT_HAS_EXPIRED",
				Issues: []string{"ENDPOINTS_DIFFER"}, Endpoints: []string{"", "", "", "CERT_HAS_EXPIRED"}}},
		{Host: "members", Note: "wants a client's certificate, in TLS 1.2", Program: "openssl",
			start: sServer(site.Order{}, "-tls1_2", "-Verify", "1", "-groups", "X25519:P-256",
				"-cipher", "ECDHE-ECDSA-AES128-GCM-SHA256"),
			Truth: Truth{Suites: suites{tls12: {ecdsa12}}, Groups: twoGroups, Sent: signed("members"), Requests: true,
				Differs: map[string]string{"sslscan: TLSv1.2 suites": noCertificate,
					"sslscan: groups": oneGroup, "testssl: groups": oneGroup}}},
		{Host: "members13", Note: "wants a client's certificate, in TLS 1.3",
			start: goServer(site.Order{}, func(c *tls.Config) { c.ClientAuth = tls.RequireAnyClientCert }),
			Truth: Truth{Order: Rules, Suites: modern(), Groups: twoGroups, Sent: signed("members13"), Requests: true,
				Differs: map[string]string{"sslscan: TLSv1.2 suites": noCertificate}}},
	}
}

// several serves one certificate in order at all addresses but the last.
func several(w *workshop, s Server) error {
	last := len(s.Addresses) - 1
	good, err := w.served(s, site.Order{})
	if err != nil {
		return err
	}
	for i := range last {
		if err := w.serve(s.at(i), answering(usual(good))); err != nil {
			return err
		}
	}
	s.Addresses = s.Addresses[last:]
	return goServer(expiredOrder)(w, s)
}

var expiredOrder = site.Order{NotBefore: -100 * day, NotAfter: -10 * day}

// shown is a server of Go that differs from one in order in its certificates alone.
func shown(label, note string, o site.Order, t Truth) Server {
	t.Suites, t.Groups, t.Order, t.Alike = modern(), twoGroups, Rules, label != "good" && o.Key == ""
	if o.Key == "rsa" || o.Key == "ed25519" {
		t.Suites[tls12] = []string{map[string]string{"rsa": rsa12, "ed25519": ecdsa12}[o.Key]}
	}
	if t.Sent == nil {
		t.Sent = signed(label)
	}
	return Server{Host: label, Note: note, start: goServer(o), Truth: t}
}

func certificates() []Server {
	const root, stranger, second = "Lab Root R1", "Unknown Root X9", "Lab Issuing CA E2"
	sent := func(label string, more ...string) []string { return append([]string{label + "." + Zone}, more...) }
	wrong := func(code string, more ...string) Truth {
		return Truth{Error: code, Issues: more}
	}
	with := func(t Truth, sent []string) Truth { t.Sent = sent; return t }
	suffix := shown("suffix-of-lab.net", "a wildcard of a whole public suffix", site.Order{Names: []string{"*.net"}},
		with(wrong("ERR_TLS_CERT_ALTNAME_INVALID"), []string{"*.net", issuing}))
	suffix.Truth.Differs = map[string]string{"testssl: trust": "testssl.sh takes a wildcard for any name that it fits"}
	return []Server{
		shown("good", "a certificate in order, without timestamps of a log", site.Order{}, Truth{}),
		shown("expired", "expired ten days ago", expiredOrder, wrong("CERT_HAS_EXPIRED")),
		shown("self-signed", "signed by itself", site.Order{SignedBy: "self"},
			with(wrong("DEPTH_ZERO_SELF_SIGNED_CERT"), sent("self-signed"))),
		shown("wrong-host", "a certificate of another name", site.Order{Names: []string{"other." + Zone}},
			with(wrong("ERR_TLS_CERT_ALTNAME_INVALID"), signed("other"))),
		shown("unknown-root", "signed by an unknown authority, which it sends",
			site.Order{SignedBy: "stranger", Sent: []string{"stranger"}},
			with(wrong("SELF_SIGNED_CERT_IN_CHAIN"), sent("unknown-root", stranger))),
		shown("no-intermediate", "leaves its intermediate out", site.Order{Sent: []string{}},
			with(wrong("UNABLE_TO_VERIFY_LEAF_SIGNATURE", "INCOMPLETE_CHAIN"), sent("no-intermediate"))),
		shown("wrong-intermediate", "sends an intermediate that signed something else", site.Order{Sent: []string{"another"}},
			with(wrong("UNABLE_TO_VERIFY_LEAF_SIGNATURE"), sent("wrong-intermediate", second))),
		shown("out-of-order", "sends root and intermediate the wrong way round",
			site.Order{Sent: []string{"root", "intermediate"}},
			Truth{Issues: []string{"CHAIN_NOT_IN_ORDER", "CHAIN_HAS_ROOT"}, Sent: sent("out-of-order", root, issuing)}),
		shown("repeated", "sends its intermediate twice", site.Order{Sent: []string{"intermediate", "intermediate"}},
			Truth{Issues: []string{"CHAIN_REPEATED"}, Sent: sent("repeated", issuing, issuing)}),
		shown("foreign", "sends an intermediate that does not belong", site.Order{Sent: []string{"intermediate", "another"}},
			Truth{Issues: []string{"CHAIN_FOREIGN"}, Sent: sent("foreign", issuing, second)}),
		shown("with-root", "sends the root as well", site.Order{Sent: []string{"intermediate", "root"}},
			Truth{Issues: []string{"CHAIN_HAS_ROOT"}, Sent: sent("with-root", issuing, root)}),
		shown("no-signing", "an RSA key that may not sign, which ECDHE needs",
			site.Order{Key: "rsa", Usage: x509.KeyUsageKeyEncipherment},
			Truth{Error: "INVALID_PURPOSE", Differs: map[string]string{
				"openssl: trust": anyKey, "testssl: trust": anyKey}}),
		suffix,
		shown("any-usage", "an extended key usage of anything alone",
			site.Order{ExtUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}},
			Truth{Issues: []string{"ANY_PURPOSE_ONLY"}, Differs: map[string]string{
				"openssl: trust": byName, "testssl: trust": byName}}),
		shown("client-usage", "an extended key usage of clients alone",
			site.Order{ExtUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}, wrong("INVALID_PURPOSE")),
		shown("ed25519", "an Ed25519 key, which no browser takes", site.Order{Key: "ed25519"},
			Truth{Issues: []string{"UNSUPPORTED_KEY"}}),
		shown("must-staple", "demands a stapled response, and staples none", site.Order{MustStaple: true},
			Truth{Issues: []string{mustStapleMissing}}),
		shown("stapled", "demands a stapled response, and staples it", site.Order{MustStaple: true, Staple: true},
			Truth{Staple: "good"}),
	}
}

// mail are servers that start TLS on request, and such that then refuse.
func mail() (all []Server) {
	for _, m := range []struct {
		protocol string
		port     int
		refusal  string
	}{{"smtp", 25, "454"}, {"pop3", 110, "-ERR"}, {"imap", 143, "NO"}} {
		label := m.protocol
		all = append(all,
			Server{Host: label, Port: m.port, Note: "starts TLS in " + m.protocol, start: mailServer(m.protocol, &site.Order{}),
				Truth: Truth{Suites: suites{tls12: {}, tls13: {}}, VersionsOnly: true, Sent: signed(label),
					Issues: []string{"POST_QUANTUM"}}},
			Server{Host: "refusing-" + label, Port: m.port, Note: "offers TLS in " + label + " and then answers " + m.refusal,
				start: mailServer(m.protocol, nil), Truth: Truth{Status: 502}})
	}
	return all
}

func slow() []Server {
	return []Server{
		{Host: "late", Note: "takes ten seconds before it reads", start: lateServer(10 * time.Second),
			Truth: Truth{Status: 504}},
		{Host: "drip", Note: "sends one octet a second", start: afterHello(drip), Truth: Truth{Status: 504}},
	}
}

// hostile are servers that no client can speak to, one of which means well.
func hostile() []Server {
	broken := func(label, note string, talk func(context.Context, net.Conn)) Server {
		return Server{Host: label, Note: note, start: afterHello(talk), Truth: Truth{Status: 502}}
	}
	return []Server{
		broken("oversized", "announces and sends 16 MB of certificates", oversized),
		broken("endless-warnings", "sends warnings without end", endless),
		broken("empty-records", "sends empty records without end", emptyRecords),
		broken("wrong-length", "a session that is longer than its message", wrongLength),
		broken("wrong-record", "a record of 65,535 octets", wrongRecord),
		{Host: "one-read", Note: "resets clients whose ClientHello takes more than one packet", start: oneRead(site.Order{}),
			Truth: Truth{Suites: suites{tls12: {ecdsa12}}, Groups: twoGroups, Sent: signed("one-read"),
				ShortHellos: true, Issues: []string{intolerant}}},
	}
}
