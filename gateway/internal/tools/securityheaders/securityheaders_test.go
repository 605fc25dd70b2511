package securityheaders

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"diagnostics/gateway/internal/analyze/weight"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/budget/processor"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tools/internal/toolstest"
	"diagnostics/gateway/internal/tools/internal/webview"

	"github.com/google/go-cmp/cmp"
)

// testNow is the clock of these tests.
var testNow = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func run(ctx context.Context, n *egresstest.Network, url string, opts ...egress.Option) (Result, error) {
	tl := New(n.Client(nil, opts...), func() time.Time { return testNow })
	got, err := toolstest.Run(ctx, tl, toolstest.URLInput(url))
	if err != nil {
		return Result{}, err
	}
	return got.(Result), nil
}

// runFields answers with a status and these very field lines.
func runFields(status int, fields ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Date"] = nil
		for _, field := range fields {
			name, value, _ := strings.Cut(field, ": ")
			w.Header().Add(name, value)
		}
		w.WriteHeader(status)
	})
}

// goodFields are what a site sends that has done its work.
func goodFields() []string {
	return []string{
		"Content-Type: text/html; charset=utf-8",
		"Strict-Transport-Security: max-age=63072000; includeSubDomains; preload",
		"Content-Security-Policy: default-src 'self'; script-src 'nonce-4AEemGb0xJptoIGFP3Nd5w==' 'strict-dynamic'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'",
		"X-Content-Type-Options: nosniff",
		"Referrer-Policy: strict-origin-when-cross-origin",
		"Permissions-Policy: camera=(), geolocation=(self), payment=(self \"https://pay.example.com\")",
		"Cross-Origin-Opener-Policy: same-origin",
		"Cross-Origin-Embedder-Policy: require-corp",
		"Cross-Origin-Resource-Policy: same-origin",
		"Set-Cookie: __Host-session=secret; Path=/; Secure; HttpOnly; SameSite=Lax",
	}
}

// secureSite answers https://example.com/ with a certificate that its client trusts.
func secureSite(t *testing.T, h http.Handler) (*egresstest.Network, egress.Option) {
	t.Helper()
	n, ca := toolstest.WebNetwork(t), toolstest.NewAuthority(t)
	n.ServeTLS(toolstest.WebV4+":443", ca.Issue("example.com", time.Now().Add(time.Hour)), h)
	return n, ca.Option()
}

func TestSecurityHeadersOfAGoodSite(t *testing.T) {
	t.Parallel()
	n, trust := secureSite(t, runFields(200, goodFields()...))
	got, err := run(t.Context(), n, "https://example.com/", trust)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range got.Controls {
		if c.Status != controlPass || c.Recommendation != nil {
			t.Errorf("%s: %s, %s, %s", c.ID, c.Status, c.Finding, toolstest.Text(c.Recommendation))
		}
	}
	if got.Summary != (summary{Pass: 13}) || got.Notice != nil || got.RedirectCount != 0 ||
		got.FinalURL != "https://example.com/" {
		t.Errorf("got %+v", got)
	}
	if got.TLS == nil || !got.TLS.Authorized || got.TLS.Version != "TLSv1.3" {
		t.Errorf("TLS is %+v", got.TLS)
	}
	lax := "Lax"
	want := []cookie{{Name: "__Host-session", Secure: true, HTTPOnly: true, SameSite: &lax, Issues: []cookieIssue{}}}
	if diff := cmp.Diff(want, got.Cookies); diff != "" {
		t.Error(diff)
	}
	for _, h := range got.Headers {
		if strings.Contains(h.Value, "secret") {
			t.Errorf("%+v shows a cookie's value", h)
		}
	}
}

// TestSecurityHeadersShape: every control is there, in order, whatever the answer holds.
func TestSecurityHeadersShape(t *testing.T) {
	t.Parallel()
	n := toolstest.WebNetwork(t)
	n.Serve(toolstest.WebV4+":80", runFields(200, "Content-Type: text/html"))
	got, err := run(t.Context(), n, "http://example.com/")
	if err != nil {
		t.Fatal(err)
	}
	fields := toolstest.Fields(t, got)
	for _, name := range []string{"url", "finalUrl", "status", "redirectCount", "redirects", "tls", "headers", "controls",
		"cookies", "summary", "notice", "httpRedirect", "newerHeaders", "conclusion", "findings", "notes"} {
		if _, ok := fields[name]; !ok {
			t.Errorf("no %s", name)
		}
	}
	if len(fields) != 16 || fields["tls"] != nil || fields["notice"] != nil || fields["redirects"] == nil ||
		fields["cookies"] == nil || fields["httpRedirect"] != nil || fields["newerHeaders"] == nil {
		t.Errorf("%v", fields)
	}
	var ids []string
	for _, c := range fields["controls"].([]any) {
		control := c.(map[string]any)
		ids = append(ids, control["id"].(string))
		keys := 8
		for _, optional := range []string{"set", "remove"} {
			if control[optional] != nil {
				keys++
			}
		}
		if len(control) != keys || control["name"] == "" || control["finding"] == "" ||
			!strings.HasPrefix(control["reference"].(string), "https://") {
			t.Errorf("%v", control)
		}
	}
	want := []string{"hsts", "csp", "frame-protection", "content-type-options", "referrer-policy", "permissions-policy",
		"coop", "coep", "corp", "cors", "cookies", "information-leak", "deprecated"}
	if diff := cmp.Diff(want, ids); diff != "" {
		t.Error(diff)
	}
}

// countdownTo redirects /n to /n-1 and answers at /0.
func countdownTo(final http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var n int
		if _, err := fmt.Sscanf(r.URL.Path, "/%d", &n); err != nil || n == 0 {
			final.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Location", fmt.Sprintf("/%d", n-1))
		w.WriteHeader(http.StatusMovedPermanently)
	})
}

// TestSecurityHeadersFollowsFive: five redirects are followed, a sixth is a failure.
func TestSecurityHeadersFollowsFive(t *testing.T) {
	t.Parallel()
	n := toolstest.WebNetwork(t)
	n.Serve(toolstest.WebV4+":80", countdownTo(runFields(200, "X-Content-Type-Options: nosniff")))
	got, err := run(t.Context(), n, "http://example.com/5")
	if err != nil {
		t.Fatal(err)
	}
	var want []redirect
	for i := 5; i > 0; i-- {
		want = append(want, redirect{URL: fmt.Sprintf("http://example.com/%d", i), Status: 301})
	}
	if diff := cmp.Diff(want, got.Redirects); diff != "" {
		t.Error(diff)
	}
	if got.RedirectCount != 5 || got.FinalURL != "http://example.com/0" || got.URL != "http://example.com/5" ||
		got.Status != 200 {
		t.Errorf("got %+v", got)
	}
	if c := controlOf(t, got, "content-type-options"); c.Status != controlPass {
		t.Errorf("judged another answer: %+v", c)
	}
	if _, err := run(t.Context(), n, "http://example.com/6"); !fault.Is(err, fault.Upstream) ||
		!strings.Contains(err.Error(), "more than 5 times") {
		t.Errorf("a sixth: %v", err)
	}
}

func controlOf(t *testing.T, r Result, id string) controlResult {
	t.Helper()
	for _, c := range r.Controls {
		if c.ID == id {
			return c
		}
	}
	t.Fatalf("no control %s", id)
	return controlResult{}
}

// TestSecurityHeadersRedirectsThatEnd: nothing is sent to what is refused, and the answer is a sentence without the
// address.
func TestSecurityHeadersRedirectsThatEnd(t *testing.T) {
	t.Parallel()
	for _, location := range []string{
		"http://10.0.0.1/", "http://127.0.0.1:8080/", "http://[::1]/", "http://localhost/", "http://inside.example.com/", "http://user@example.com/",
		"ftp://example.com/", "http:foo", "/loop", "http://nowhere.example.com/", "http://example.com:81/",
	} {
		t.Run(location, func(t *testing.T) {
			t.Parallel()
			n := toolstest.WebNetwork(t)
			n.Records("inside.example.com. 300 IN A 10.0.0.1")
			n.Serve(toolstest.WebV4+":80", toolstest.RedirectHandler(location))
			_, err := run(t.Context(), n, "http://example.com/loop")
			if !fault.Is(err, fault.Upstream) {
				t.Fatalf("got %v", err)
			}
			if sentence := webview.FaultSentence(err); strings.Contains(sentence, "10.0.0.1") ||
				strings.Contains(sentence, "127.0.0.1") || !strings.HasSuffix(sentence, ".") {
				t.Errorf("sentence: %s", sentence)
			}
			toolstest.WantDials(t, n, toolstest.WebV4+":80", toolstest.WebV4+":81")
		})
	}
}

func TestSecurityHeadersRedirectWithoutDestination(t *testing.T) {
	t.Parallel()
	n := toolstest.WebNetwork(t)
	n.Serve(toolstest.WebV4+":80", runFields(302, "Content-Type: text/html"))
	got, err := run(t.Context(), n, "http://example.com/")
	if err != nil || got.Status != 302 || got.RedirectCount != 0 || len(got.Redirects) != 0 ||
		!strings.Contains(toolstest.Text(got.Notice), "302 Found") {
		t.Fatalf("got %+v, %v", got, err)
	}
}

func TestSecurityHeadersWithoutAnswer(t *testing.T) {
	t.Parallel()
	toolstest.CheckWithoutAnswer(t, func(ctx context.Context, n *egresstest.Network) error {
		_, err := run(ctx, n, "http://example.com/")
		return err
	})
}

func TestSecurityHeadersRefusesTheFirstURL(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records("bad.example.com. 60 IN A 10.0.0.1", "empty.example.com. 60 IN TXT x")
	if _, err := run(t.Context(), n, "http://bad.example.com/"); !fault.Is(err, fault.Refused) {
		t.Errorf("private: %v", err)
	}
	if _, err := run(t.Context(), n, "http://empty.example.com/"); !fault.Is(err, fault.NoAddress) {
		t.Errorf("without address: %v", err)
	}
	if dials := n.Dials(); len(dials) != 0 {
		t.Errorf("dials: %v", dials)
	}
}

// TestSecurityHeadersDoesNotReadTheBody: an endless one costs nothing, and a document is what is asked for.
func TestSecurityHeadersDoesNotReadTheBody(t *testing.T) {
	t.Parallel()
	var sent atomic.Int64
	n := toolstest.WebNetwork(t)
	n.Serve(toolstest.WebV4+":80", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || !strings.HasPrefix(r.Header.Get("Accept"), "text/html,") {
			w.WriteHeader(http.StatusNotAcceptable)
		}
		for r.Context().Err() == nil {
			n, err := io.WriteString(w, strings.Repeat("x", 32<<10))
			sent.Add(int64(n))
			if err != nil {
				return
			}
		}
	}))
	got, err := run(t.Context(), n, "http://example.com/")
	if err != nil || got.Status != 200 {
		t.Fatalf("got %+v, %v", got, err)
	}
	// Sockets hold some of it, on both sides.
	if bytes := sent.Load(); bytes > 16<<20 {
		t.Fatalf("%d bytes were sent", bytes)
	}
}

// Policies are charged by their length, before they are parsed.
func TestSecurityHeadersChargesPolicies(t *testing.T) {
	t.Parallel()
	policy := "default-src " + strings.Repeat("a.example ", 2000)
	n, trust := secureSite(t, runFields(200, "Content-Security-Policy: "+policy,
		"Content-Security-Policy-Report-Only: "+policy))
	spentBy := func(used time.Duration) (time.Duration, error) {
		ctx, end := context.WithCancelCause(t.Context())
		defer end(nil)
		ctx = processor.WithMeter(ctx, end)
		meter := processor.Of(ctx)
		if err := meter.SpendTime(used); err != nil {
			t.Fatal(err)
		}
		_, err := run(ctx, n, "https://example.com/", trust)
		return meter.Spent() - used, err
	}
	cost := weight.CSP.Of(2 * len(strings.TrimSpace(policy)))
	if spent, err := spentBy(0); err != nil || spent < cost {
		t.Errorf("%v, %v; the policies alone cost %v", spent, err, cost)
	}
	if _, err := spentBy(processor.Max - cost); !fault.Is(err, fault.Busy) {
		t.Errorf("without room for them: %v", err)
	}
}
