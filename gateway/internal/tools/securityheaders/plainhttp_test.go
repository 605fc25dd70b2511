package securityheaders

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tools/internal/toolstest"
)

func redirectTo(status int, location string) http.Handler {
	return runFields(status, "Location: "+location)
}

// plainLine is the field of an answer in a line: status, whether it leads to https, the verdict.
func plainLine(r *httpRedirect) string {
	if r == nil {
		return "<null>"
	}
	toHTTPS := "null"
	if r.ToHTTPS != nil {
		toHTTPS = fmt.Sprint(*r.ToHTTPS)
	}
	return fmt.Sprintf("%d %s %s", toolstest.Number(r.Status), toHTTPS, r.Verdict)
}

func TestHTTPRedirect(t *testing.T) {
	t.Parallel()
	const onHost = "Redirect every http URL to https on the same host, with 301 or 308."
	for name, test := range map[string]struct {
		plain              http.Handler // nil where port 80 is closed
		want, says, advice string
	}{
		"to https": {redirectTo(301, "https://example.com/"), "301 true pass",
			"http://example.com redirects to https at once (301).", "<null>"},
		"to https, for now": {redirectTo(302, "https://example.com/"), "302 true pass",
			"http://example.com redirects to https at once (302). The redirect is temporary: with 301 or 308 browsers " +
				"remember it.", "<null>"},
		"to https elsewhere": {redirectTo(308, "https://www.example.com/"), "308 true info",
			"http://example.com redirects to https at once (308), but to another host (www.example.com), so browsers that come this way learn no HSTS policy for the first.",
			"Redirect http to https on the same host first, and from there onward."},
		"to http": {redirectTo(301, "http://www.example.com/"), "301 false warn",
			"http://example.com redirects to another http URL (301), where the network can read and change what is sent.",
			"Redirect every http URL straight to https on the same host, with 301 or 308."},
		"to http of its own": {redirectTo(301, "/home"), "301 false warn", "redirects to another http URL (301)",
			"Redirect every http URL straight to https on the same host, with 301 or 308."},
		"a page": {runFields(200), "200 false warn", "http://example.com answers 200 and does not redirect to https, so visitors who come that way are served without encryption.", onHost},
		"an error": {runFields(404), "404 false info",
			"http://example.com answers 404 Not Found and does not redirect to https.", onHost},
		"to nowhere": {runFields(301), "301 false info", "301 Moved Permanently and does not redirect", onHost},
		"to two places": {runFields(301, "Location: https://example.com/", "Location: https://example.com/home"),
			"301 false info", "does not redirect", onHost},
		"to the inside": {redirectTo(301, "http://10.0.0.1/"), "301 false info", "does not redirect", onHost},
		"to a scheme":   {redirectTo(301, "ftp://example.com/"), "301 false info", "does not redirect", onHost},
		"nothing": {nil, "-1 null pass", "http://example.com does not answer (port 80), so no page is served there without " +
			"encryption.", "<null>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, trust := secureSite(t, runFields(200, goodFields()...))
			if test.plain != nil {
				n.Serve(toolstest.WebV4+":80", test.plain)
			}
			got, err := run(t.Context(), n, "https://example.com/private?token=x", trust)
			if err != nil {
				t.Fatal(err)
			}
			plain := got.HTTPRedirect
			if answer := plainLine(plain); answer != test.want || !strings.Contains(plain.Finding, test.says) ||
				toolstest.Text(plain.Recommendation) != test.advice {
				t.Errorf("%s: %s %s; want %s", answer, plain.Finding, toolstest.Text(plain.Recommendation), test.want)
			}
			if got.Summary.Pass != 13 {
				t.Errorf("the controls speak of the headers alone: %+v", got.Summary)
			}
			toolstest.WantDials(t, n, toolstest.WebV4+":443", toolstest.WebV4+":80")
		})
	}
}

// The path and the query stay out of what goes over the network in the clear.
func TestPlainRequestTellsNoPath(t *testing.T) {
	t.Parallel()
	n, trust := secureSite(t, runFields(200))
	asked := make(chan string, 1)
	n.Serve(toolstest.WebV4+":80", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.RequestURI
		w.WriteHeader(http.StatusOK)
	}))
	if _, err := run(t.Context(), n, "https://example.com/private?token=x", trust); err != nil {
		t.Fatal(err)
	}
	if got := <-asked; got != "/" {
		t.Errorf("asked for %s", got)
	}
}

func TestHTTPRedirectOfOtherInputs(t *testing.T) {
	t.Parallel()
	n, ca := toolstest.WebNetwork(t), toolstest.NewAuthority(t)
	n.Serve(toolstest.WebV4+":80", runFields(200))
	n.ServeTLS(toolstest.WebV4+":8443", ca.Issue("example.com", time.Now().Add(time.Hour)), runFields(200))
	got, err := run(t.Context(), n, "http://example.com/", ca.Option())
	if err != nil || got.HTTPRedirect != nil {
		t.Errorf("an http URL: %v %+v", err, got.HTTPRedirect)
	}
	got, err = run(t.Context(), n, "https://example.com:8443/", ca.Option())
	if err != nil {
		t.Fatal(err)
	}
	const own = "The URL that was checked has its own port, 8443, and may be another service."
	if plainLine(got.HTTPRedirect) != "200 false info" || !strings.Contains(got.HTTPRedirect.Finding, own) {
		t.Errorf("a port of its own: %+v", got.HTTPRedirect)
	}
	// Where the URL itself fails, nothing else is reported.
	if _, err := run(t.Context(), n, "https://example.com/", ca.Option()); !fault.Is(err, fault.Upstream) {
		t.Errorf("a closed port 443: %v", err)
	}
}

// What keeps this service from asking says nothing about the host.
func TestPlainNotAsked(t *testing.T) {
	t.Parallel()
	u, err := target.ParseURL("https://example.com/")
	if err != nil {
		t.Fatal(err)
	}
	limited := fault.New(fault.Limited, "TOO_MANY_REQUESTS", nil)
	for name, test := range map[string]struct {
		on   func(*egresstest.Network)
		want string
	}{
		"our own fault": {func(n *egresstest.Network) { n.Fail(toolstest.WebV4+":80", toolstest.OurFault) }, "<null>"},
		"a limit":       {func(n *egresstest.Network) { n.Fail(toolstest.WebV4+":80", limited) }, "<null>"},
		"a name that turned inward": {func(n *egresstest.Network) { n.Records("example.com. 1 IN A 10.0.0.1") },
			"<null>"},
		"a reset":      {func(n *egresstest.Network) { n.Fail(toolstest.WebV4+":80", errors.New("reset")) }, "-1 null pass"},
		"silence":      {func(n *egresstest.Network) { n.Drop(toolstest.WebV4 + ":80") }, "-1 null pass"},
		"no HTTP":      {func(n *egresstest.Network) { n.ServeConn(toolstest.WebV4+":80", greet) }, "-1 null pass"},
		"a silent one": {func(n *egresstest.Network) { n.ServeConn(toolstest.WebV4+":80", wait) }, "-1 null pass"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := toolstest.WebNetwork(t)
			test.on(n)
			if got := plainLine(fetchPlain(t.Context(), n.Client(nil), u, 100*time.Millisecond).result()); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

func greet(c net.Conn) { _, _ = c.Write([]byte("220 ftp ready\r\n")) }

func wait(c net.Conn) { _, _ = c.Read(make([]byte, 1<<16)); _, _ = c.Read(make([]byte, 1)) }

func TestPlainOfAnAddress(t *testing.T) {
	t.Parallel()
	u, err := target.ParseURL("https://[2606:2800:220:1:248:1893:25c8:1946]/")
	if err != nil {
		t.Fatal(err)
	}
	n := egresstest.New(t)
	n.Serve("[2606:2800:220:1:248:1893:25c8:1946]:80", redirectTo(301, "https://[2606:2800:220:1:248:1893:25c8:1946]/"))
	got := fetchPlain(t.Context(), n.Client(nil, egress.WithFamilies(egress.Families{V4: true, V6: true})), u, time.Second)
	if plainLine(got.result()) != "301 true pass" {
		t.Errorf("%s: %+v", plainLine(got.result()), got)
	}
}
