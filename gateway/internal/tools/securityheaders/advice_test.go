package securityheaders

import (
	"testing"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/tools/internal/toolstest"

	"github.com/google/go-cmp/cmp"
)

const wholePolicy = "default-src 'self'; script-src 'nonce-{RANDOM}' 'strict-dynamic'; object-src 'none'; " +
	"base-uri 'none'; form-action 'self'; frame-ancestors 'self'"

const wholePolicyHint = " (with {RANDOM} as at least 128 random bits in base64, new in every answer and repeated in " +
	"the nonce attribute of each script element)"

const wholePolicyNote = "With {RANDOM} as at least 128 random bits in base64, new in every answer and repeated in " +
	"the nonce attribute of each script element."

// adviceCases hold every way to recommend something: the whole sentence, and the header that it is about in fields.
var adviceCases = []struct {
	id       string
	url      string
	fields   []string
	sentence string
	set      *headerLine
	remove   []string
}{
	{"hsts", "", nil, "Strict-Transport-Security: max-age=31536000; includeSubDomains",
		&headerLine{Name: "Strict-Transport-Security", Value: "max-age=31536000; includeSubDomains"}, nil},
	{"hsts", "", []string{"Strict-Transport-Security: max-age=31536000; preload"}, "Strict-Transport-Security: max-age=31536000; includeSubDomains; preload",
		&headerLine{Name: "Strict-Transport-Security", Value: "max-age=31536000; includeSubDomains; preload"}, nil},
	{"hsts", "http://example.com/", nil, "Redirect every http URL to https, and send there: Strict-Transport-Security: max-age=31536000; includeSubDomains",
		&headerLine{Name: "Strict-Transport-Security", Value: "max-age=31536000; includeSubDomains",
			Note: "Redirect every http URL to https, and send there."}, nil},

	{"csp", "", nil, "Content-Security-Policy: " + wholePolicy + wholePolicyHint,
		&headerLine{Name: "Content-Security-Policy", Value: wholePolicy, StartingPoint: true, Note: wholePolicyNote}, nil},
	{"csp", "", []string{"Content-Security-Policy: default-src *"}, "Content-Security-Policy: " + wholePolicy + wholePolicyHint,
		&headerLine{Name: "Content-Security-Policy", Value: wholePolicy, StartingPoint: true, Note: wholePolicyNote}, nil},
	{"csp", "", []string{"Content-Security-Policy: default-src 'self'"}, "Send one more line beside it: Content-Security-Policy: base-uri 'none'; form-action 'self'",
		&headerLine{Name: "Content-Security-Policy", Value: "base-uri 'none'; form-action 'self'",
			Note: "Send one more line beside it."}, nil},
	{"csp", "", []string{"Content-Security-Policy: default-src 'self'; script-src 'self' 'unsafe-eval'"}, "Correct what is named above, and send beside it: Content-Security-Policy: base-uri 'none'; form-action 'self'",
		&headerLine{Name: "Content-Security-Policy", Value: "base-uri 'none'; form-action 'self'",
			Note: "Correct what is named above, and send beside it."}, nil},
	{"csp", "", []string{"Content-Security-Policy: default-src 'self'; script-src 'self' 'unsafe-eval'; base-uri 'none'; form-action 'none'"},
		"Correct what is named above; a policy to compare with: Content-Security-Policy: " + wholePolicy + wholePolicyHint, nil, nil},

	{"frame-protection", "", nil, "Content-Security-Policy: frame-ancestors 'self'",
		&headerLine{Name: "Content-Security-Policy", Value: "frame-ancestors 'self'"}, nil},
	{"frame-protection", "", []string{"X-Frame-Options: ALLOW-FROM https://a.example"}, "Content-Security-Policy: frame-ancestors 'self' https://the-site-that-may.example",
		&headerLine{Name: "Content-Security-Policy", Value: "frame-ancestors 'self' https://the-site-that-may.example",
			ExampleHost: true}, nil},

	{"content-type-options", "", nil, "X-Content-Type-Options: nosniff", &headerLine{Name: "X-Content-Type-Options", Value: "nosniff"}, nil},
	{"content-type-options", "", []string{"X-Content-Type-Options: nosniff"}, "Content-Type: text/html; charset=utf-8",
		&headerLine{Name: "Content-Type", Value: "text/html; charset=utf-8"}, nil},

	{"referrer-policy", "", nil, "Referrer-Policy: strict-origin-when-cross-origin",
		&headerLine{Name: "Referrer-Policy", Value: "strict-origin-when-cross-origin"}, nil},

	{"permissions-policy", "", nil, "Permissions-Policy: camera=(), microphone=(), geolocation=(), payment=(), usb=()",
		&headerLine{Name: "Permissions-Policy", Value: "camera=(), microphone=(), geolocation=(), payment=(), usb=()"}, nil},
	{"permissions-policy", "", []string{"Permissions-Policy: usb=*, camera=*"}, "Permissions-Policy: usb=(self), camera=(self), microphone=(), geolocation=(), payment=()",
		&headerLine{Name: "Permissions-Policy",
			Value: "usb=(self), camera=(self), microphone=(), geolocation=(), payment=()"}, nil},
	{"permissions-policy", "", []string{"Permissions-Policy: camera=none"}, "Permissions-Policy: camera=()",
		&headerLine{Name: "Permissions-Policy", Value: "camera=()"}, nil},

	{"coop", "", nil, "Cross-Origin-Opener-Policy: same-origin", &headerLine{Name: "Cross-Origin-Opener-Policy", Value: "same-origin"}, nil},
	{"coop", "http://example.com/", []string{"Cross-Origin-Opener-Policy: same-origin"}, "Send this header over https with a valid certificate.", nil, nil},
	{"coep", "", nil, "Cross-Origin-Embedder-Policy: require-corp", &headerLine{Name: "Cross-Origin-Embedder-Policy", Value: "require-corp"}, nil},
	{"corp", "", nil, "Cross-Origin-Resource-Policy: same-origin", &headerLine{Name: "Cross-Origin-Resource-Policy", Value: "same-origin"}, nil},

	{"cors", "", []string{"Access-Control-Allow-Origin: *", "Access-Control-Allow-Credentials: true"}, "Access-Control-Allow-Origin: https://the-site-that-may.example (with Vary: Origin)",
		&headerLine{Name: "Access-Control-Allow-Origin", Value: "https://the-site-that-may.example", ExampleHost: true,
			Note: "With Vary: Origin."}, nil},
	{"cors", "", []string{"Access-Control-Allow-Origin: null"}, "Access-Control-Allow-Origin: https://the-site-that-may.example",
		&headerLine{Name: "Access-Control-Allow-Origin", Value: "https://the-site-that-may.example", ExampleHost: true}, nil},
	{"cors", "", []string{"Access-Control-Allow-Origin: a, b"}, "Access-Control-Allow-Origin: https://the-site-that-may.example",
		&headerLine{Name: "Access-Control-Allow-Origin", Value: "https://the-site-that-may.example", ExampleHost: true}, nil},
	{"cors", "", []string{"Access-Control-Allow-Origin: http://shop.examples.com", "Access-Control-Allow-Credentials: true"}, "Access-Control-Allow-Origin: https://shop.examples.com",
		&headerLine{Name: "Access-Control-Allow-Origin", Value: "https://shop.examples.com"}, nil},

	{"cookies", "", []string{"Set-Cookie: a=b"}, "Set-Cookie: __Host-name=value; Path=/; Secure; HttpOnly; SameSite=Lax", nil, nil},

	{"information-leak", "", []string{"X-Powered-By: Express"}, "Do not send: x-powered-by", nil, []string{"x-powered-by"}},
	{"information-leak", "", []string{"X-Runtime: 0.1", "Server: nginx/1.2.3"}, "Do not send: server, x-runtime; or name the product alone, as in: Server: nginx",
		nil, []string{"server", "x-runtime"}},
	{"information-leak", "", []string{"X-Upstream: 10.1.2.3"}, "Remove private addresses from: x-upstream", nil, nil},
	{"information-leak", "", []string{"X-Upstream: 10.1.2.3", "Server: nginx/1.2.3"},
		"Remove private addresses from: x-upstream. Do not send: server; or name the product alone, as in: Server: nginx", nil, []string{"server"}},

	{"deprecated", "", []string{"Expect-CT: max-age=0", "P3P: CP=x"}, "Do not send: expect-ct, p3p", nil, []string{"expect-ct", "p3p"}},
}

func checkAdvice(t *testing.T, got controlResult, sentence string, set *headerLine, remove []string) {
	t.Helper()
	if text := toolstest.Text(got.Recommendation); text != sentence {
		t.Errorf("the sentence is %q, want %q", text, sentence)
	}
	if diff := cmp.Diff(set, got.Set); diff != "" {
		t.Error("set: ", diff)
	}
	if diff := cmp.Diff(remove, got.Remove); diff != "" {
		t.Error("remove: ", diff)
	}
}

func TestAdvice(t *testing.T) {
	t.Parallel()
	advised := make(map[string]bool)
	for _, c := range adviceCases {
		advised[c.id] = true
		t.Run(c.id+" "+c.sentence, func(t *testing.T) {
			t.Parallel()
			url := c.url
			if url == "" {
				url = "https://example.com/"
			}
			checkAdvice(t, controlOf(t, controlsOf(t, answerTo(t, url, 200, c.fields...)), c.id), c.sentence, c.set, c.remove)
		})
	}
	for _, control := range controls() {
		if !advised[control.id] {
			t.Errorf("no case of %s", control.id)
		}
	}
}

// TestAdviceOnTheWay: what else must be done stands around the header in the sentence, and in the note.
func TestAdviceOnTheWay(t *testing.T) {
	t.Parallel()
	const name, value = "Strict-Transport-Security", "max-age=31536000; includeSubDomains"
	final := answerTo(t, "https://www.example.com/", 200, name+": "+value)
	redirected := controlsOf(t, answerTo(t, "https://example.com/", 301), final)
	checkAdvice(t, controlOf(t, redirected, "hsts"), name+": "+value+" (on the redirects too)",
		&headerLine{Name: name, Value: value, Note: "On the redirects too."}, nil)

	expired := answerTo(t, "https://example.com/", 200)
	expired.TLS.Verdict = certs.Verdict{Code: certs.CodeExpired}
	checkAdvice(t, controlOf(t, controlsOf(t, expired), "hsts"),
		"Install a valid certificate, then send: "+name+": "+value,
		&headerLine{Name: name, Value: value, Note: "Install a valid certificate, then send."}, nil)
}

// TestNoAdvice: where nothing is recommended there are no fields either.
func TestNoAdvice(t *testing.T) {
	t.Parallel()
	for _, control := range controlsOf(t, answerTo(t, "https://example.com/", 200, goodFields()...)).Controls {
		checkAdvice(t, control, "<null>", nil, nil)
	}
}
