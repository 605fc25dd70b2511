package tlsserver

import (
	"crypto/tls"
	"strings"

	"diagnostics/lab/internal/site"
)

// The certificates of servers in order.
const issuing = "Lab Issuing CA E1"

// Why Debian's OpenSSL reports less.
const (
	noSSL3   = "Debian's OpenSSL has no SSL 3.0"
	noExport = "Debian's OpenSSL has no export suites"
	noMLKEM  = "OpenSSL has ML-KEM since 3.5"
)

// Why sslscan does, and testssl.sh in part.
const (
	noOldSuites   = "sslscan asks for suites of SSL 3.0 with OpenSSL, which has it no more"
	oneGroup      = "it offers one group at a time, and OpenSSL then finds none for an ECDSA key on another curve"
	fewSuites     = "it asks for groups with a few suites alone, none of which the server takes"
	fewGroups     = "it offers OpenSSL's own groups alone in TLS 1.2, or the NIST curves"
	rc4Apart      = "sslscan asks for RC4 apart, after all that its OpenSSL has"
	noCertificate = "sslscan counts a suite only where the handshake ends, and has no client certificate"
)

// byOpenSSL is why testssl.sh reports less.
const byOpenSSL = "testssl.sh asks for the order with OpenSSL, which has none of the suites"

// signed are the names of the certificates that a server in order sends: its own, and the intermediate.
func signed(label string) []string { return []string{label + "." + Zone, issuing} }

func versions() []Server {
	onlyDHE := []string{"TLS_DHE_RSA_WITH_AES_128_CBC_SHA", "TLS_DHE_RSA_WITH_AES_256_CBC_SHA"}
	old := []string{"TLS_RSA_WITH_3DES_EDE_CBC_SHA", "TLS_RSA_WITH_RC4_128_SHA", "TLS_RSA_WITH_RC4_128_MD5"}
	export := []string{"TLS_RSA_EXPORT_WITH_RC4_40_MD5", "TLS_RSA_EXPORT_WITH_RC2_CBC_40_MD5",
		"TLS_RSA_EXPORT_WITH_DES40_CBC_SHA", "TLS_RSA_WITH_DES_CBC_SHA"}
	return []Server{
		{Host: "old-dhe", Note: "TLS 1.0 and 1.1 with DHE suites only, a prime of 1,024 bits", Program: "openssl",
			start: withDH(1024, "-min_protocol", "TLSv1", "-max_protocol", "TLSv1.1",
				"-cipher", "DHE-RSA-AES128-SHA:DHE-RSA-AES256-SHA:@SECLEVEL=0"),
			Truth: Truth{Suites: suites{tls10: onlyDHE, tls11: onlyDHE}, DHBits: 1024, Sent: signed("old-dhe"),
				Issues: []string{onlyRead, cbc}}},
		{Host: "ssl3", Note: "SSL 3.0 alone, with RC4 and 3DES",
			start: spokenServer(spoken{oldest: wireSSL3, newest: wireSSL3, suites: []uint16{tripleDES, rc4SHA, rc4MD5}}),
			Truth: Truth{Suites: suites{ssl3: old}, Order: Servers, Sent: signed("ssl3"),
				Issues: []string{onlyRead, noSecrecy}, Differs: map[string]string{"openssl: sent": noSSL3,
					"sslscan: SSLv3 suites": noOldSuites, "testssl: SSLv3 suites": byOpenSSL}}},
		{Host: "export", Note: "SSL 3.0 and TLS 1.0 with export suites and DES",
			start: spokenServer(spoken{oldest: wireSSL3, newest: wireTLS10,
				suites: []uint16{exportRC4, exportRC2, exportDES, singleDES}, exchange: map[uint16][]byte{
					exportRC4: exportKey(), exportRC2: exportKey(), exportDES: exportKey()}}),
			Truth: Truth{Suites: suites{ssl3: export, tls10: export}, Order: Servers, Sent: signed("export"),
				Issues: []string{onlyRead, noSecrecy}, Differs: map[string]string{"openssl: TLSv1.0, sent": noExport,
					"sslscan: SSLv3 suites":                 noOldSuites,
					"testssl: SSLv3 suites, TLSv1.0 suites": byOpenSSL}}},
		{Host: "only-tls13", Note: "TLS 1.3 alone", Program: "openssl",
			start: sServer(site.Order{}, "-tls1_3", "-groups", "X25519:P-256"),
			Truth: Truth{Suites: suites{tls13: {aes256, chacha, aes128}}, Groups: twoGroups, Sent: signed("only-tls13")}},
		{Host: "only-tls12", Note: "TLS 1.2 alone", Program: "openssl",
			start: sServer(site.Order{}, "-tls1_2", "-groups", "X25519:P-256", "-cipher", "ECDHE-ECDSA-AES128-GCM-SHA256"),
			Truth: Truth{Suites: suites{tls12: {ecdsa12}}, Groups: twoGroups, Sent: signed("only-tls12"),
				Differs: map[string]string{"sslscan: groups": oneGroup, "testssl: groups": oneGroup}}},
		{Host: "all-versions", Note: "TLS 1.0 to 1.3", Program: "openssl",
			start: sServer(site.Order{Key: "rsa"}, "-min_protocol", "TLSv1", "-groups", "X25519:P-256",
				"-cipher", "ECDHE-RSA-AES128-SHA:ECDHE-RSA-AES128-GCM-SHA256:@SECLEVEL=0"),
			Truth: Truth{Suites: suites{tls13: {aes256, chacha, aes128},
				tls12: {rsa12, "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA"}, tls11: {"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA"},
				tls10: {"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA"}},
				Groups: twoGroups, Sent: signed("all-versions")}},
		{Host: "caddy", Note: "Caddy, TLS 1.2 and 1.3", Program: "caddy",
			start: caddyServer("ciphers TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256\ncurves x25519 secp256r1"),
			Truth: Truth{Order: Rules, Suites: modern(), Groups: twoGroups, Sent: signed("caddy"), Nameless: Refused}},
	}
}

func suitesAndGroups() []Server {
	all := append(preferred(),
		Server{Host: "dh1024", Note: "DHE with a prime of 1,024 bits", Program: "openssl",
			start: withDH(1024, "-tls1_2", "-cipher", "DHE-RSA-AES128-GCM-SHA256:@SECLEVEL=0"),
			Truth: Truth{Suites: suites{tls12: {"TLS_DHE_RSA_WITH_AES_128_GCM_SHA256"}}, DHBits: 1024,
				Sent: signed("dh1024"), Issues: []string{onlyRead}}},
		Server{Host: "dh2048", Note: "DHE with a prime of 2,048 bits", Program: "openssl",
			start: withDH(2048, "-tls1_2", "-cipher", "DHE-RSA-AES128-GCM-SHA256:DHE-RSA-CHACHA20-POLY1305"),
			Truth: Truth{Suites: suites{tls12: {"TLS_DHE_RSA_WITH_AES_128_GCM_SHA256",
				"TLS_DHE_RSA_WITH_CHACHA20_POLY1305_SHA256"}}, DHBits: 2048,
				Sent: signed("dh2048"), Issues: []string{onlyRead}}},
		Server{Host: "ccm", Note: "CCM suites only, in TLS 1.2 and 1.3", Program: "openssl",
			start: sServer(site.Order{}, "-min_protocol", "TLSv1.2", "-groups", "X25519:P-256",
				"-cipher", "ECDHE-ECDSA-AES128-CCM:ECDHE-ECDSA-AES256-CCM8",
				"-ciphersuites", "TLS_AES_128_CCM_SHA256:TLS_AES_128_CCM_8_SHA256"),
			Truth: Truth{Suites: suites{tls13: {"TLS_AES_128_CCM_SHA256", "TLS_AES_128_CCM_8_SHA256"},
				tls12: {"TLS_ECDHE_ECDSA_WITH_AES_128_CCM", "TLS_ECDHE_ECDSA_WITH_AES_256_CCM_8"}},
				Groups: twoGroups, Sent: signed("ccm"), Issues: []string{onlyRead}}},
		withoutGroups(onlyTLS12("camellia", "Camellia suites only", "ECDHE-RSA-CAMELLIA128-SHA256:CAMELLIA256-SHA",
			onlyRead+" "+cbc,
			"TLS_ECDHE_RSA_WITH_CAMELLIA_128_CBC_SHA256", "TLS_RSA_WITH_CAMELLIA_256_CBC_SHA")),
		withoutGroups(onlyTLS12("aria", "ARIA suites only", "ECDHE-ARIA128-GCM-SHA256:ARIA256-GCM-SHA384", onlyRead,
			"TLS_ECDHE_RSA_WITH_ARIA_128_GCM_SHA256", "TLS_RSA_WITH_ARIA_256_GCM_SHA384")),
		nowhereGroups(onlyTLS12("null", "suites without encryption", "ECDHE-RSA-NULL-SHA:NULL-SHA256:@SECLEVEL=0", onlyRead,
			"TLS_ECDHE_RSA_WITH_NULL_SHA", "TLS_RSA_WITH_NULL_SHA256")),
		onlyTLS12("part-anonymous", "a suite without a certificate beside one with it",
			"ECDHE-RSA-AES128-GCM-SHA256:AECDH-AES128-SHA:@SECLEVEL=0", "", rsa12, "TLS_ECDH_anon_WITH_AES_128_CBC_SHA"),
		rsaOnly(), anonymous(),
		Server{Host: "x448", Note: "X448 only", Program: "openssl",
			start: sServer(site.Order{Key: "rsa"}, "-min_protocol", "TLSv1.2", "-groups", "X448",
				"-cipher", "ECDHE-RSA-AES128-GCM-SHA256"),
			Truth: Truth{Suites: suites{tls13: {aes256, chacha, aes128}, tls12: {rsa12}}, Groups: []string{"x448"},
				Sent: signed("x448"), Issues: []string{onlyRead}, Differs: map[string]string{"sslscan: TLSv1.2": fewGroups}}},
		Server{Host: "brainpool", Note: "Brainpool's curves only", Program: "openssl",
			start: sServer(site.Order{Key: "rsa"}, "-tls1_2", "-groups", "brainpoolP256r1:brainpoolP384r1",
				"-cipher", "ECDHE-RSA-AES128-GCM-SHA256"),
			Truth: Truth{Suites: suites{tls12: {rsa12}}, Groups: []string{"brainpoolP256r1", "brainpoolP384r1"},
				Sent: signed("brainpool"), Issues: []string{onlyRead},
				Differs: map[string]string{"sslscan: TLSv1.2 suites": fewGroups, "testssl: groups": fewGroups}}},
		Server{Host: "mlkem", Note: "X25519MLKEM768 only",
			start: goServer(site.Order{}, func(c *tls.Config) {
				c.MinVersion, c.CurvePreferences = tls.VersionTLS13, []tls.CurveID{tls.X25519MLKEM768}
			}),
			Truth: Truth{Order: Rules, Suites: suites{tls13: {aes128, aes256, chacha}}, Groups: []string{"X25519MLKEM768"},
				Sent: signed("mlkem"), Differs: map[string]string{"openssl: TLSv1.3, sent": noMLKEM,
					"sslscan: TLSv1.3, groups": noMLKEM, "testssl: TLSv1.3, groups, sent": noMLKEM}}},
		Server{Host: "post-quantum", Note: "X25519MLKEM768 beside X25519",
			start: goServer(site.Order{}, func(c *tls.Config) {
				c.CurvePreferences = []tls.CurveID{tls.X25519MLKEM768, tls.X25519}
			}),
			Truth: Truth{Order: Rules, Suites: modern(), Groups: []string{"X25519MLKEM768", "x25519"},
				Sent: signed("post-quantum"), Differs: map[string]string{
					"sslscan: groups": noMLKEM, "sslscan: TLSv1.2": fewGroups, "testssl: groups": noMLKEM}}},
	)
	return append(all, gnuTLSServers()...)
}

// onlyTLS12 is OpenSSL with TLS 1.2 and two groups: suites as OpenSSL names them, and as IANA does, and further codes.
func onlyTLS12(label, note, ciphers, codes string, names ...string) Server {
	return Server{Host: label, Note: note, Program: "openssl",
		start: sServer(site.Order{Key: "rsa"}, "-tls1_2", "-groups", "X25519:P-256", "-cipher", ciphers),
		Truth: Truth{Suites: suites{tls12: names}, Groups: twoGroups, Sent: signed(label), Issues: strings.Fields(codes)}}
}

// withoutGroups marks a server of which sslscan finds no groups.
func withoutGroups(s Server) Server {
	s.Truth.Differs = map[string]string{"sslscan: groups": fewSuites}
	return s
}

// nowhereGroups marks one of which testssl.sh finds none either.
func nowhereGroups(s Server) Server {
	s.Truth.Differs = map[string]string{"sslscan: groups": fewSuites, "testssl: groups": fewSuites}
	return s
}

func rsaOnly() Server {
	s := onlyTLS12("rsa-transport", "the key is sent under the server's RSA key, without forward secrecy",
		"AES128-GCM-SHA256:AES256-SHA", noSecrecy, "TLS_RSA_WITH_AES_128_GCM_SHA256", "TLS_RSA_WITH_AES_256_CBC_SHA")
	s.Truth.Groups = nil
	return s
}

// anonymous has no certificate, so that there is nothing to judge.
func anonymous() Server {
	s := onlyTLS12("anonymous", "suites without a certificate", "ADH-AES128-GCM-SHA256:AECDH-AES128-SHA:@SECLEVEL=0", "",
		"TLS_DH_anon_WITH_AES_128_GCM_SHA256", "TLS_ECDH_anon_WITH_AES_128_CBC_SHA")
	s.Truth.Status, s.Truth.Sent, s.Truth.DHBits = 502, nil, 1024
	return nowhereGroups(s)
}

// preferred are servers that choose, and such that leave it to the client.
func preferred() []Server {
	const ciphers = "ECDHE-RSA-CHACHA20-POLY1305:ECDHE-RSA-AES256-GCM-SHA384:ECDHE-RSA-AES128-GCM-SHA256"
	taken := suites{tls13: {chacha, aes256, aes128}, tls12: {"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
		"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", rsa12}}
	arguments := []string{"-min_protocol", "TLSv1.2", "-groups", "X25519:P-256", "-cipher", ciphers,
		"-ciphersuites", "TLS_CHACHA20_POLY1305_SHA256:TLS_AES_256_GCM_SHA384:TLS_AES_128_GCM_SHA256"}
	lines := "ssl_protocols TLSv1.2 TLSv1.3;\nssl_ecdh_curve X25519:prime256v1;\n"
	return []Server{
		{Host: "server-order", Note: "the server chooses the suite, ChaCha20 first", Program: "openssl",
			start: sServer(site.Order{Key: "rsa"}, append([]string{"-serverpref"}, arguments...)...),
			Truth: Truth{Suites: taken, Order: Servers, Groups: twoGroups, Sent: signed("server-order")}},
		{Host: "client-order", Note: "the client chooses the suite", Program: "openssl",
			start: sServer(site.Order{Key: "rsa"}, arguments...),
			Truth: Truth{Suites: taken, Groups: twoGroups, Sent: signed("client-order")}},
		{Host: "nginx", Note: "nginx, with an RSA and an ECDSA certificate; it chooses the suite", Program: "nginx",
			start: nginxServer(lines+"ssl_prefer_server_ciphers on;\n"+
				"ssl_ciphers ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256;",
				site.Order{Key: "rsa"}, site.Order{}),
			Truth: Truth{Suites: suites{tls13: {aes256, chacha, aes128},
				tls12: {"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", ecdsa12}}, Order: Servers, Groups: twoGroups,
				Sent: signed("nginx")}},
		{Host: "two-certificates", Note: "an RSA and an ECDSA certificate", Program: "openssl",
			start: twoCertificates("-min_protocol", "TLSv1.2", "-groups", "X25519:P-256",
				"-cipher", "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256"),
			Truth: Truth{Suites: suites{tls13: {aes256, chacha, aes128}, tls12: {ecdsa12, rsa12}}, Groups: twoGroups,
				Sent: signed("two-certificates")}},
	}
}

func gnuTLSServers() []Server {
	const none = "NONE:+COMP-NULL:+SIGN-ALL:+CTYPE-SRV-X509:"
	triple := []string{"TLS_RSA_WITH_3DES_EDE_CBC_SHA"}
	return []Server{
		{Host: "3des", Port: 4431, Note: "3DES only, TLS 1.0 to 1.2", Program: "gnutls-serv",
			start: gnuTLS(none + "+VERS-TLS1.0:+VERS-TLS1.1:+VERS-TLS1.2:+3DES-CBC:+RSA:+SHA1"),
			Truth: Truth{Suites: suites{tls12: triple, tls11: triple, tls10: triple}, Sent: signed("3des"),
				Issues: []string{noSecrecy}}},
		{Host: "rc4", Port: 4432, Note: "RC4 before AES, in the server's order", Program: "gnutls-serv",
			start: gnuTLS(none + "+VERS-TLS1.2:+ARCFOUR-128:+AES-128-CBC:+ECDHE-RSA:+SHA1:+GROUP-SECP256R1:%SERVER_PRECEDENCE"),
			Truth: Truth{Suites: suites{tls12: {"TLS_ECDHE_RSA_WITH_RC4_128_SHA", "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA"}},
				Order: Servers, Groups: []string{"secp256r1"}, Sent: signed("rc4"),
				Differs: map[string]string{"sslscan: TLSv1.2 suites": rc4Apart}}},
	}
}
