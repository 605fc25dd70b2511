package tlsserver

import "diagnostics/lab/internal/site"

// primeOfDHE is why others report a finite-field group otherwise.
const primeOfDHE = "it reports the group by its prime, as for the DHE suites of TLS 1.2"

// reported are servers that public bug reports describe. They come last, so that the others keep their addresses.
func reported() []Server {
	ending := shown("ending", "its only intermediate ends in four days, the leaf in sixty",
		site.Order{SignedBy: "ending", Sent: []string{"ending"}},
		Truth{Issues: []string{"CHAIN_EXPIRES_FIRST"}, Sent: []string{"ending." + Zone, "Lab Issuing CA E3"}})
	spare := shown("spare", "an intermediate that ends in four days and that the chain does not use",
		site.Order{Sent: []string{"intermediate", "ending"}},
		Truth{Issues: []string{"CHAIN_FOREIGN"}, Sent: []string{"spare." + Zone, issuing, "Lab Issuing CA E3"}})
	return []Server{
		{Host: "ffdhe3072", Note: "TLS 1.3 with finite-field Diffie-Hellman of 3,072 bits alone", Program: "openssl",
			start: sServer(site.Order{}, "-tls1_3", "-groups", "ffdhe3072"),
			Truth: Truth{Suites: suites{tls13: {aes256, chacha, aes128}}, Groups: []string{"ffdhe3072"},
				Sent: signed("ffdhe3072"), Issues: []string{onlyRead}, Differs: map[string]string{
					"sslscan: DH": primeOfDHE, "testssl: groups, DH": primeOfDHE}}},
		{Host: "x448-tls13", Note: "TLS 1.3 with X448 alone, which the service cannot compute", Program: "openssl",
			start: sServer(site.Order{}, "-tls1_3", "-groups", "X448"),
			Truth: Truth{Status: 502, Suites: suites{tls13: {aes256, chacha, aes128}}, Groups: []string{"x448"},
				Sent: signed("x448-tls13")}},
		ending, spare,
	}
}
