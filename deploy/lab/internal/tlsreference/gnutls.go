package tlsreference

import (
	"context"
	"maps"
	"net"
	"regexp"
	"slices"
	"strings"

	"diagnostics/lab/internal/tlsserver"
)

// gnuTLSSuites are suites that OpenSSL lacks, and one that both have, by GnuTLS's priorities.
var gnuTLSSuites = map[string]string{
	"TLS_RSA_WITH_3DES_EDE_CBC_SHA":      "+3DES-CBC:+RSA",
	"TLS_ECDHE_RSA_WITH_RC4_128_SHA":     "+ARCFOUR-128:+ECDHE-RSA",
	"TLS_RSA_WITH_RC4_128_SHA":           "+ARCFOUR-128:+RSA",
	"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA": "+AES-128-CBC:+ECDHE-RSA",
	"TLS_RSA_WITH_AES_128_CBC_SHA":       "+AES-128-CBC:+RSA",
}

// gnuTLSDescription is the line of gnutls-cli with what was negotiated.
var gnuTLSDescription = regexp.MustCompile(`(?m)^- Description: \(TLS1\.\d-X\.509\)-\((ECDHE|RSA)-?([^)]*)\)-` +
	`(?:\([^)]*\)-)?\((ARCFOUR-128|3DES-CBC|AES-128-CBC)\)-\(SHA1\)`)

// gnuTLSSubject is in the line of each certificate that was sent.
var gnuTLSSubject = regexp.MustCompile("(?m)^ - subject `CN=([^,']+)")

// AskGnuTLS offers each of gnuTLSSuites with gnutls-cli, and once for all that the server is said to take, in the
// reverse of the order that it is said to have: what it chooses of those is the first in the answer.
func (c Client) AskGnuTLS(ctx context.Context, s tlsserver.Server, address string) Seen {
	seen := Seen{Suites: map[string][]string{}}
	for _, protocol := range []string{"TLSv1.2", "TLSv1.1", "TLSv1.0"} {
		var taken []string
		for _, name := range slices.Sorted(maps.Keys(gnuTLSSuites)) {
			if chosen, _ := c.gnuTLS(ctx, s, address, protocol, []string{name}); chosen == name {
				taken = append(taken, name)
			}
		}
		if taken == nil {
			continue
		}
		all := slices.Clone(s.Truth.Suites[protocol])
		slices.Reverse(all)
		chosen, printed := c.gnuTLS(ctx, s, address, protocol, all)
		if agreed := gnuTLSDescription.FindStringSubmatch(printed); agreed != nil && agreed[2] != "" {
			seen.Groups = []string{strings.ToLower(agreed[2])}
		}
		if seen.Sent == nil {
			for _, m := range gnuTLSSubject.FindAllStringSubmatch(printed, -1) {
				seen.Sent = append(seen.Sent, m[1])
			}
		}
		if i := slices.Index(taken, chosen); i > 0 {
			taken = slices.Insert(slices.Delete(taken, i, i+1), 0, chosen)
		}
		seen.Suites[protocol] = taken
	}
	return seen
}

// gnuTLS is what the server chooses of the suites, empty where it refuses all, and all that the client printed.
func (c Client) gnuTLS(
	ctx context.Context, s tlsserver.Server, address, protocol string, offer []string,
) (chosen, printed string) {
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", ""
	}
	priorities := "NONE:+COMP-NULL:+SIGN-ALL:+CTYPE-SRV-X509:+SHA1:+GROUP-SECP256R1:+VERS-TLS" +
		strings.TrimPrefix(protocol, "TLSv")
	for _, name := range offer {
		priorities += ":" + gnuTLSSuites[name]
	}
	out, _ := c.Run(ctx, "gnutls-cli", "--x509cafile", c.Roots, "--sni-hostname", s.Host, "--verify-hostname", s.Host,
		"--port", port, "--priority", priorities, host)
	agreed := gnuTLSDescription.FindSubmatch(out)
	if agreed == nil {
		return "", string(out)
	}
	for name, parts := range gnuTLSSuites {
		if parts == "+"+string(agreed[3])+":+"+map[string]string{"RSA": "RSA", "ECDHE": "ECDHE-RSA"}[string(agreed[1])] {
			return name, string(out)
		}
	}
	return "", string(out)
}
