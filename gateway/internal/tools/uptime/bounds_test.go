package uptime

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"diagnostics/gateway/internal/egress/budget/traffic"
	"diagnostics/gateway/internal/tools/internal/toolstest"
)

// A site whose redirects are more than a run may send is degraded, for a reason that names this check, and not down.
func TestARunSendsNoMoreThanItMay(t *testing.T) {
	t.Parallel()
	n := network(t)
	serve := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var step int
		_, _ = fmt.Sscanf(r.URL.Path, "/%d", &step)
		http.Redirect(w, r, fmt.Sprintf("/%d?%s", step+1, strings.Repeat("x", 16_000)), http.StatusFound)
	})
	n.Serve(toolstest.WebV4Port80, serve)
	n.Serve("["+toolstest.WebV6+"]:80", serve)
	tl := newWithin(n.Client(nil), quick)
	run := traffic.WithMeter(t.Context(), new(traffic.Totals))
	got, err := toolstest.Run(run, tl, toolstest.URLInput("http://example.com/"))
	if err != nil {
		t.Fatal(err)
	}
	r := got.(Result)
	if r.Verdict != verdictDegraded || !r.Online ||
		!strings.Contains(toolstest.Text(r.Reason), "may not send any more") {
		t.Errorf("%s, online %t: %s", r.Verdict, r.Online, toolstest.Text(r.Reason))
	}
	for _, f := range []familyState{r.Families.IPv4, r.Families.IPv6} {
		if f.State != uptimeUp {
			t.Errorf("%+v", f)
		}
	}
}
