package httpheaders

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tools/internal/toolstest"
	"diagnostics/gateway/internal/tools/internal/webview"

	"github.com/google/go-cmp/cmp"
)

func run(ctx context.Context, n *egresstest.Network, url string) (Result, error) {
	got, err := toolstest.Run(ctx, New(n.Client(nil)), toolstest.URLInput(url))
	if err != nil {
		return Result{}, err
	}
	return got.(Result), nil
}

func TestHTTPHeadersOverPlainHTTP(t *testing.T) {
	t.Parallel()
	n := toolstest.WebNetwork(t)
	toolstest.ServeRaw(n, toolstest.WebV4+":80",
		"HTTP/1.1 200 Fine today\r\nX-B: 2\r\nx-a: caf\xe9\r\nSet-Cookie: b=secret; Path=/; HttpOnly\r\n"+
			"X-B: 1\r\nSet-Cookie: a=secret\r\nContent-Length: 5\r\n\r\nhello")
	got, err := run(t.Context(), n, "HTTP://EXAMPLE.com:80/a?b=c#d")
	if err != nil {
		t.Fatal(err)
	}
	want := []webview.Header{
		{Name: "content-length", Value: "5"},
		{Name: "set-cookie", Value: "b=***; Path=/; HttpOnly"}, {Name: "set-cookie", Value: "a=***"},
		{Name: "x-a", Value: "café"}, {Name: "x-b", Value: "2"}, {Name: "x-b", Value: "1"},
	}
	if diff := cmp.Diff(want, got.Headers); diff != "" {
		t.Errorf("headers: -want +got\n%s", diff)
	}
	if got.URL != "http://example.com/a?b=c" || got.Status != 200 || got.StatusText != "Fine today" ||
		got.HTTPVersion != "HTTP/1.1" || got.Address != toolstest.WebV4 {
		t.Errorf("got %+v", got)
	}
	if got.TLS != nil || got.Timings.TLSMs != nil || got.RedirectsTo != nil {
		t.Errorf("TLS %v, timings %+v, redirect %v", got.TLS, got.Timings, got.RedirectsTo)
	}
	if got.ResponseTimeMs <= 0 || got.ResponseTimeMs != got.Timings.TotalMs || got.Timings.DNSMs <= 0 {
		t.Errorf("response time %v, timings %+v", got.ResponseTimeMs, got.Timings)
	}
	toolstest.WantDials(t, n, toolstest.WebV4+":80")
}

func TestHTTPHeadersShape(t *testing.T) {
	t.Parallel()
	n := toolstest.WebNetwork(t)
	n.Serve(toolstest.WebV4+":80", toolstest.StatusHandler(204))
	got, err := run(t.Context(), n, "http://example.com/")
	if err != nil {
		t.Fatal(err)
	}
	fields := toolstest.Fields(t, got)
	for _, name := range []string{"url", "status", "statusText", "responseTimeMs", "httpVersion", "address", "headers",
		"timings", "tls", "redirectsTo", "challenge", "informational", "alternatives", "compression"} {
		if _, ok := fields[name]; !ok {
			t.Errorf("no %s", name)
		}
	}
	if len(fields) != 14 {
		t.Errorf("%d fields: %v", len(fields), fields)
	}
}

func TestHTTPHeadersOverHTTP2(t *testing.T) {
	t.Parallel()
	n, ca := toolstest.WebNetwork(t), toolstest.NewAuthority(t)
	n.ServeTLS(toolstest.WebV4+":443", ca.Issue("example.com", time.Now().Add(time.Hour)), toolstest.StatusHandler(200))
	r := toolstest.MustRun[Result](t, New(n.Client(nil, ca.Option())), toolstest.URLInput("https://example.com"))
	if r.HTTPVersion != "HTTP/2" || r.StatusText != "OK" || r.Timings.TLSMs == nil || *r.Timings.TLSMs <= 0 {
		t.Errorf("got %+v", r)
	}
	if r.TLS == nil || r.TLS.Version != "TLSv1.3" || !r.TLS.Authorized || r.TLS.AuthorizationError != nil ||
		!strings.HasPrefix(r.TLS.Cipher, "TLS_") {
		t.Errorf("TLS is %+v", r.TLS)
	}
}

// TestHTTPHeadersInvalidCertificates: they do not stop the tool, and are told.
func TestHTTPHeadersInvalidCertificates(t *testing.T) {
	t.Parallel()
	cases := map[string]func(*toolstest.Authority) *tls.Config{
		"CERT_HAS_EXPIRED":             func(a *toolstest.Authority) *tls.Config { return a.Issue("example.com", time.Now().Add(-time.Hour)) },
		"DEPTH_ZERO_SELF_SIGNED_CERT":  func(a *toolstest.Authority) *tls.Config { return a.SelfSign("example.com") },
		"ERR_TLS_CERT_ALTNAME_INVALID": func(a *toolstest.Authority) *tls.Config { return a.Issue("example.org", time.Now().Add(time.Hour)) },
	}
	for code, config := range cases {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			n, ca := toolstest.WebNetwork(t), toolstest.NewAuthority(t)
			n.ServeTLS(toolstest.WebV4+":443", config(ca), toolstest.StatusHandler(200))
			r := toolstest.MustRun[Result](t, New(n.Client(nil, ca.Option())), toolstest.URLInput("https://example.com/"))
			if r.Status != 200 || r.TLS == nil || r.TLS.Authorized || r.TLS.AuthorizationError == nil ||
				*r.TLS.AuthorizationError != code {
				t.Fatalf("got %+v with TLS %+v", r, r.TLS)
			}
		})
	}
}

func TestHTTPHeadersRedirectsTo(t *testing.T) {
	t.Parallel()
	cases := []struct {
		status   int
		location string
		want     string // empty: null
	}{
		{301, "https://www.example.com/x?y#z", "https://www.example.com/x?y"},
		{302, "/next", "http://example.com/next"},
		{307, "?q", "http://example.com/a/b?q"},
		{308, "//www.example.com", "http://www.example.com/"},
		{301, "", ""},
		{301, "http://127.0.0.1/", ""},
		{301, "http://[::ffff:127.0.0.1]/", ""},
		{301, "http://localhost/", ""},
		{301, "//127.0.0.1/", ""},
		{301, "javascript:alert(1)", ""},
		{301, "http://user:password@example.com/", ""},
		{301, "http://example.com:99999/", ""},
		{300, "/choice", ""},
		{304, "/cached", ""},
		{200, "/nowhere", ""},
	}
	for _, c := range cases {
		t.Run(fmt.Sprint(c.status, " ", c.location), func(t *testing.T) {
			t.Parallel()
			n := toolstest.WebNetwork(t)
			n.Serve(toolstest.WebV4+":80", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if c.location != "" {
					w.Header().Set("Location", c.location)
				}
				w.WriteHeader(c.status)
			}))
			got, err := run(t.Context(), n, "http://example.com/a/b")
			if err != nil {
				t.Fatal(err)
			}
			to := ""
			if got.RedirectsTo != nil {
				to = *got.RedirectsTo
			}
			if got.Status != c.status || to != c.want {
				t.Fatalf("status %d, redirects to %q, want %q", got.Status, to, c.want)
			}
			toolstest.WantDials(t, n, toolstest.WebV4+":80")
			if len(n.Dials()) != 1 {
				t.Fatalf("dials: %v", n.Dials())
			}
		})
	}
}

// TestHTTPHeadersWithoutAnswer: for this tool no HTTP answer is a failure.
func TestHTTPHeadersWithoutAnswer(t *testing.T) {
	t.Parallel()
	toolstest.CheckWithoutAnswer(t, func(ctx context.Context, n *egresstest.Network) error {
		_, err := run(ctx, n, "http://example.com/")
		return err
	})
}

// TestHTTPHeadersRefusesWithoutADial covers the names whose answers are not public, whatever stands beside them.
func TestHTTPHeadersRefusesWithoutADial(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name    string
		records []string
		want    fault.Kind
	}{
		{"private", []string{"bad.example.com. 60 IN A 10.0.0.1"}, fault.Refused},
		{"private IPv6", []string{"bad.example.com. 60 IN AAAA fd00::1"}, fault.Refused},
		{"mixed", []string{"bad.example.com. 60 IN A " + toolstest.WebV4, "bad.example.com. 60 IN A 127.0.0.1"}, fault.Refused},
		{"mixed families", []string{"bad.example.com. 60 IN A 10.0.0.1", "bad.example.com. 60 IN AAAA " + toolstest.WebV6}, fault.Refused},
		{"alias of an inside name", []string{"bad.example.com. 60 IN CNAME metadata.google.internal."}, fault.Refused},
		{"no address", []string{"bad.example.com. 60 IN TXT x"}, fault.NoAddress},
		{"no name", nil, fault.NoAddress},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n := egresstest.New(t)
			n.Records(c.records...)
			if _, err := run(t.Context(), n, "http://bad.example.com/"); !fault.Is(err, c.want) {
				t.Fatalf("got %v, want kind %d", err, c.want)
			}
			if dials := n.Dials(); len(dials) != 0 {
				t.Fatalf("dials: %v", dials)
			}
		})
	}
}

// TestHTTPHeadersTriesTheNextAddress: one dead address of several is not the end.
func TestHTTPHeadersTriesTheNextAddress(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records("example.com. 300 IN AAAA "+toolstest.WebV6, "example.com. 300 IN A "+toolstest.WebV4)
	n.Drop("[" + toolstest.WebV6 + "]:80")
	n.Serve(toolstest.WebV4+":80", toolstest.StatusHandler(200))
	got, err := run(t.Context(), n, "http://example.com/")
	if err != nil || got.Address != toolstest.WebV4 {
		t.Fatalf("got %+v, %v", got, err)
	}
}
