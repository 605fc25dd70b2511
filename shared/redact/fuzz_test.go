package redact

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzText holds that no name, no address and nothing in quotation marks stays, whatever stands around it.
func FuzzText(f *testing.F) {
	f.Add("lookup : no such host", 7)
	f.Add("a \"quoted\\\" text", 3)
	f.Add("it's `b` (c) [d] http://e", 0)
	f.Add("\\\n", 1)
	f.Fuzz(func(t *testing.T, text string, at int) {
		at = min(max(at, 0), len(text))
		for _, secret := range []string{"secret.example.com", "192.0.2.77", "2001:db8::77", "https://secret.example/a?b"} {
			got := Text(text[:at] + " " + secret + " " + text[at:])
			if strings.Contains(got, secret) || len(got) > longest || !utf8.ValidString(got) {
				t.Errorf("%q at %d of %q gives %q", secret, at, text, got)
			}
		}
		if inner := strings.ReplaceAll(text, `"`, ""); len(inner) < longest {
			if got := Text(`read "` + inner + `"`); got != "read [text]" {
				t.Errorf("quoted %q gives %q", inner, got)
			}
		}
	})
}
