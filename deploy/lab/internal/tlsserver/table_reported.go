package tlsserver

import "diagnostics/lab/internal/site"

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
				Sent: signed("ffdhe3072"), Issues: []string{onlyRead}}},
		ending, spare,
	}
}
