//go:build e2e

package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"diagnostics/lab"
	"diagnostics/lab/internal/site"
	"diagnostics/shared/waittest"
)

const openssl = `timeout 10 openssl s_client -brief -CAfile "$0" -connect "$@" </dev/null 2>&1 |` +
	` grep -E '^Protocol|^Verif|^Server Temp|errno|:error:' | tr '\n' ';'`

// short are arguments of openssl for a ClientHello of less than 300 octets.
var short = []string{"-tls1_2", "-groups", "P-256", "-cipher", "ECDHE-ECDSA-AES128-GCM-SHA256"}

// reportedTLS are servers of internal/tlsserver, and one that resets long hellos.
func reportedTLS(t *testing.T) []reportedInput {
	for _, s := range tlsServers(t) {
		if label, _, _ := strings.Cut(s.Host, "."); label == "ffdhe3072" || label == "ending" || label == "x448-tls13" {
			beside(t, "S1, S7 "+s.Host, openssl, net.JoinHostPort(s.Addresses[0].String(), "443"), "-tls1_3")
		}
	}
	s := play(t, "short-hellos", func(s *playedServer, n int32, c net.Conn) {
		answerWith(map[string]string{"/": page(fine, "Content-Length: 2\r\n", "ok")})(s, n, shortHellos{c, resets})
	}, "443")
	beside(t, "S2 a reset, a short hello", openssl, append([]string{s.address + ":443"}, short...)...)
	beside(t, "S2 a reset, a long hello", openssl, s.address+":443", "-servername", strings.Repeat("long.", 40)+"com")
	all := []reportedInput{
		{id: "S1 ffdhe3072 alone", slug: "ssl-checker", input: "ffdhe3072." + lab.TLSZone, facts: facts{"authorized": true,
			"protocol": "TLSv1.3", "keyExchange": "ffdhe3072", "groups": []string{"ffdhe3072"}}},
		{id: "S1 a group that cannot be computed", slug: "ssl-checker", input: "x448-tls13." + lab.TLSZone, status: 502},
		{id: "S7 the only intermediate ends in 4 days, the leaf in 60", slug: "ssl-checker", input: "ending." + lab.TLSZone,
			facts: facts{"authorized": true, "certificate.daysRemaining": between(58, 60),
				"issues": has("code", "CHAIN_EXPIRES_FIRST")}},
		{id: "S7 a spare certificate that ends in 4 days", slug: "ssl-checker", input: "spare." + lab.TLSZone,
			facts: facts{"authorized": true, "issues": none("code", "CHAIN_EXPIRES_FIRST")}},
	}
	for slug, f := range map[string]facts{
		"ssl-checker":      {"authorized": true, "helloTooLong": true, "issues": has("code", "HELLO_INTOLERANT")},
		"uptime":           {"verdict": "degraded", "helloTooLong": true, "findings": has("code", "HELLO_INTOLERANT")},
		"http-headers":     {"status": 200, "findings": has("code", "HELLO_INTOLERANT")},
		"security-headers": {"status": 200, "findings": has("code", "HELLO_INTOLERANT")},
		"redirect-checker": {"outcome": "final", "hops.0.helloTooLong": true},
		"robots-sitemap":   {"helloTooLong": true},
	} {
		input := "https://" + s.host + "/"
		if slug == "ssl-checker" {
			input = s.host
		}
		all = append(all, reportedInput{id: "S2 a reset", slug: slug, input: input, facts: f})
	}
	return all
}

// reportedMail are mail servers that limit connections, are slow or inconsistent.
func reportedMail(t *testing.T) []reportedInput {
	smtp := func(s *playedServer, c net.Conn) { site.TalkMail(t.Context(), c, "smtp", s.config) }
	says := func(c net.Conn, line string) { _, _ = io.WriteString(c, line) }
	refusing := func(line string) func(*playedServer, int32, net.Conn) {
		return func(s *playedServer, n int32, c net.Conn) {
			if n > 2 {
				says(c, line)
				return
			}
			smtp(s, c)
		}
	}
	limited := play(t, "limited", refusing("421 4.7.0 too many connections\r\n"), "25")
	closing := play(t, "closing", refusing(""), "25")
	silent := play(t, "silent", func(s *playedServer, _ int32, c net.Conn) { smtp(s, shortHellos{c, staysSilent}) }, "25")
	slow := play(t, "slow-greeting", func(_ *playedServer, _ int32, c net.Conn) {
		says(c, "220-mail.example\r\n")
		time.AfterFunc(10*time.Second, func() { says(c, "220 mail.example\r\n") }) // the behaviour itself
		staysSilent(c)
	}, "25")
	odd := play(t, "odd", func(s *playedServer, n int32, c net.Conn) {
		if n%2 == 1 {
			smtp(s, c)
			return
		}
		says(c, "220 mail.example\r\n")
		for in := bufio.NewScanner(c); in.Scan(); {
			says(c, "250 mail.example\r\n")
		}
	}, "25")
	beside(t, "S2 silence, a short hello", openssl, append([]string{silent.address + ":25", "-starttls", "smtp"},
		short...)...)
	// Nothing is reported as refused.
	refused := facts{"complete": false, "issues": has("code", "CONNECTIONS_REFUSED"),
		"supportedProtocols": func(v any) bool { return !strings.Contains(brief(v), "false") }}
	return []reportedInput{
		{id: "S2 silence after STARTTLS", slug: "ssl-checker", input: silent.host + ":25", facts: facts{
			"authorized": true, "helloTooLong": true, "issues": has("code", "HELLO_INTOLERANT")}},
		{id: "S3 421 from the third connection", slug: "ssl-checker", input: limited.host + ":25", facts: refused},
		{id: "S3 an end from the third", slug: "ssl-checker", input: closing.host + ":25", facts: refused},
		playIMAPS(t),
		{id: "S5 half a greeting", slug: "ssl-checker", input: slow.host + ":25", status: 504},
		{id: "S6 STARTTLS in every second connection", slug: "ssl-checker", input: odd.host + ":25", facts: facts{
			"issues": has("code", "STARTTLS_INCONSISTENT")}},
	}
}

// playIMAPS wants one connection at a time to port 993, and at most eight.
func playIMAPS(t *testing.T) reportedInput {
	t.Helper()
	var open atomic.Int32
	var several atomic.Bool
	s := play(t, "imaps", func(s *playedServer, n int32, c net.Conn) {
		defer open.Add(-1)
		open.Add(1)
		// The end of the connection before may be noticed after this one.
		if !waittest.Within(time.Second, func() bool { return open.Load() == 1 }) {
			several.Store(true)
		}
		answerWith(nil)(s, n, c)
	}, "993")
	t.Cleanup(func() {
		answers(t, "S4 port 993", fmt.Sprintf("%d connections, several at once: %t", s.connections.Load(), several.Load()))
		if s.connections.Load() > 8 || several.Load() {
			t.Errorf("%d connections to port 993, several at once: %t", s.connections.Load(), several.Load())
		}
	})
	return reportedInput{id: "S4 port 993", slug: "ssl-checker", input: s.host + ":993",
		facts: facts{"authorized": true, "complete": true}}
}
