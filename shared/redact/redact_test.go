package redact

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"diagnostics/shared/parallel"

	"go.uber.org/goleak"
)

func TestText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"template: no such field":                                  "template: no such field",
		"index out of range [5] with length 3":                     "index out of range [5] with length 3",
		"the script's reply has another shape":                     "the script's reply has another shape",
		"dial tcp 192.0.2.1:443: connect: connection refused":      "dial tcp [name]: connect: connection refused",
		"dial tcp [2001:db8::1]:443: no route":                     "dial tcp [address]: no route",
		"from ::1: refused":                                        "from [address] refused",
		"route to 2001:db8::192.0.2.1%eth0 lost":                   "route to [address][name]%eth0 lost",
		"lookup www.example.com. on 9.9.9.9:53: no such host":      "lookup [name] on [name]: no such host",
		"lookup bücher.example: no such host":                      "lookup [name]: no such host",
		"lookup _dmarc.example.com failed":                         "lookup [name] failed",
		`Get "https://example.com/?token=x y": EOF`:                `Get [text]: EOF`,
		`malformed HTTP response "secret \" and more"`:             `malformed HTTP response [text]`,
		"read \"secret \\\nword\" there":                           "read [text] there",
		`read "secret word\`:                                       "read [text]",
		`parse "a b" and "c"`:                                      `parse [text] and [text]`,
		`cut off in "the middle`:                                   `cut off in [text]`,
		"ERR unknown command 'X', with args beginning with: 'key'": "ERR unknown command [text], with args beginning with: [text]",
		"function `name` fails":                                    "function [text] fails",
		"bad \xff bytes":                                           "bad � bytes",
	} {
		if got := Text(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestTextIsBounded(t *testing.T) {
	t.Parallel()
	x := func(n int) string { return strings.Repeat("x", n) }
	for name, tt := range map[string]struct{ text, want string }{
		"as long as may be":    {x(4096), x(4096)},
		"one byte more":        {x(4097), x(4096-len("… [cut]")) + "… [cut]"},
		"short without a name": {x(4000) + " " + x(1000) + ".example", x(4000) + " [name]"},
		"the cut in a name":    {x(4070) + " hunter2" + x(40) + ".example " + x(40), x(4070) + " [name] xxxxxxxxx… [cut]"},
		"the cut in a letter":  {x(4096-len("… [cut]")-1) + "éé" + x(20), x(4096-len("… [cut]")-1) + "… [cut]"},
	} {
		if got := Text(tt.text); got != tt.want {
			t.Errorf("%s: %d bytes that end in %q, want %d that end in %q", name, len(got), got[max(0, len(got)-30):],
				len(tt.want), tt.want[len(tt.want)-30:])
		}
	}
	p := parallel.Catch(func() { panic(x(1 << 20)) })
	p.Stack = []byte(x(8192))
	if got := Message(p, nil); got != "panic: "+x(4096-len("… [cut]"))+"… [cut]\n\n"+x(8192) {
		t.Errorf("a panic has %d bytes", len(got))
	}
}

func TestMessage(t *testing.T) {
	t.Parallel()
	nested := fmt.Errorf("encode: %w", errors.New("no field of www.example.com"))
	if got := Message(nested, nil); got != "encode: no field of [name]" {
		t.Errorf("%q", got)
	}
	p := parallel.Catch(func() { panic("cannot read hunter2.example") })
	got := Message(fmt.Errorf("run: %w", p), nil)
	if !strings.HasPrefix(got, "panic: cannot read [name]\n\n") || !strings.Contains(got, "redact.TestMessage") ||
		strings.Contains(got, "hunter2") {
		t.Errorf("%q", got)
	}
	cut := func(text string) string { return strings.ReplaceAll(text, "read hunter2.example", "[input]") }
	if got := Message(p, cut); !strings.HasPrefix(got, "panic: cannot [input]\n\n") {
		t.Errorf("%q", got)
	}
}

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

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
