package mtasts

import (
	"strings"
	"testing"

	"diagnostics/gateway/internal/analyze/mail/mailtest"
)

func FuzzParsePolicy(f *testing.F) {
	for _, seed := range []string{
		"version: STSv1\nmode: enforce\nmx: mail.example.com\nmx: *.example.net\nmax_age: 86400\n", "version: STSv1\r\nmode: none\r\nmax_age: 1\r\n",
		"mode: x\nmax_age: 99999999999\nmx: *\nmx: a.*.b\n:\nx", "",
	} {
		f.Add(seed, "a.example.net")
	}
	f.Fuzz(func(t *testing.T, text, exchange string) {
		p := ParsePolicy(text)
		if p.MaxAge < -1 || p.MaxAge > MaxAge || len(p.MX) > maxPatterns || p.MX == nil {
			t.Fatalf("%q: %+v", text, p)
		}
		if len(p.Issues) == 0 && (p.Mode == "" || p.MaxAge < 0) {
			t.Fatalf("%q is accepted without a mode or max_age", text)
		}
		if p.Covers(exchange) && !strings.Contains(strings.ToLower(text), exchange[strings.IndexByte(exchange, '.')+1:]) {
			t.Fatalf("%q covers %q", text, exchange)
		}
		r := ReadRecord([]string{text})
		mailtest.Showable(t, append(p.Issues, r.Issues...))
	})
}
