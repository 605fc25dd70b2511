package uptime

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/toolstest"
)

func runHTTP3(t *testing.T, n *egresstest.Network, url string, opts ...egress.Option) Result {
	t.Helper()
	got, err := toolstest.Run(t.Context(), newWithin(n.Client(nil, opts...), quick),
		tool.Input{Text: url, Options: tool.Options{"http3": json.RawMessage("true")}})
	if err != nil {
		t.Fatal(err)
	}
	return *got.(*Result)
}

// HTTP/3 is that of the origin where the chain ends, and changes no verdict.
func TestUptimeHTTP3(t *testing.T) {
	t.Parallel()
	n := network(t)
	authority := toolstest.NewAuthority(t)
	config := authority.Issue("four.example.com", time.Now().Add(time.Hour))
	n.Serve(toolstest.WebV4Port80, http.RedirectHandler("https://four.example.com/", http.StatusFound))
	n.ServeTLS(toolstest.WebV4+":443", config, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Alt-Svc", `h3=":443"`)
	}))
	udp := n.ListenPacket(toolstest.WebV4 + ":443")
	_ = udp.Close()
	got := runHTTP3(t, n, "http://four.example.com/", authority.Option())
	if h := got.HTTP3; h == nil || !h.Tried || h.Works == nil || *h.Works || h.Advertised == nil || h.Reason == nil {
		t.Fatalf("%+v", h)
	}
	if got.Verdict != verdictUp || got.Conclusion.State != finding.OK ||
		!slices.ContainsFunc(got.Findings, func(f finding.Finding) bool { return f.Code == "HTTP3_REFUSED" }) {
		t.Errorf("%s, %+v", got.Verdict, got.Findings)
	}
	if !slices.IsSortedFunc(got.Findings, finding.Compare) {
		t.Errorf("findings out of order: %+v", got.Findings)
	}
}

// A site that is down is not tried over HTTP/3, and one over http is not either.
func TestUptimeHTTP3NotTried(t *testing.T) {
	t.Parallel()
	n := network(t)
	serveBoth(n, toolstest.StatusHandler(200), toolstest.StatusHandler(200))
	for _, url := range []string{"http://example.com/", "https://four.example.com/", "https://absent.example.com/"} {
		h := runHTTP3(t, n, url).HTTP3
		if h == nil || h.Tried || h.Works != nil || h.Reason == nil || h.Address != nil || h.HandshakeMs != nil {
			t.Errorf("%s: %+v", url, h)
		}
	}
}
