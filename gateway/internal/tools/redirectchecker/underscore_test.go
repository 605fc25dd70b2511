package redirectchecker

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/tools/internal/toolstest"
)

// A name with an underscore is looked up, dialled, sent as SNI and Host and in cookies, and named by a wildcard.
func TestNamesWithUnderscores(t *testing.T) {
	t.Parallel()
	n := toolstest.WebNetwork(t)
	n.Records("julia_b.example.com. 300 IN A "+toolstest.WebV4, "j_b.example.com. 300 IN A "+toolstest.WebV4)
	n.Serve(toolstest.WebV4Port80, toolstest.RedirectHandler("https://J_B.example.com/first"))
	ca := toolstest.NewAuthority(t)
	config := ca.Issue("*.example.com", time.Now().Add(time.Hour))
	n.ServeTLS(toolstest.WebV4+":443", config, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Host != "j_b.example.com" || r.TLS.ServerName != r.Host:
			t.Errorf("Host %q, SNI %q", r.Host, r.TLS.ServerName)
		case r.URL.Path == "/first":
			w.Header().Set("Set-Cookie", "seen=1; Domain=j_b.example.com")
			http.Redirect(w, r, "/second", http.StatusFound)
		case r.Header.Get("Cookie") != "seen=1":
			t.Errorf("cookies %q", r.Header.Get("Cookie"))
		}
	}))
	got := mustRun(t, n, "http://julia_b.example.com/", ca.Option())
	if got.Outcome != egress.EndFinal || toolstest.Text(got.FinalURL) != "https://j_b.example.com/second" {
		t.Fatalf("%s: %+v", got.Outcome, chainOf(got))
	}
	for _, hop := range got.Hops {
		if slices.Contains(hop.Flags, flagCertificateInvalid) {
			t.Errorf("the certificate of %s is not valid", hop.URL)
		}
	}
}
