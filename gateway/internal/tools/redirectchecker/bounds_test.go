package redirectchecker

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/budget/traffic"
	"diagnostics/gateway/internal/tools/internal/toolstest"
)

// A long URL for another host is a blocked hop to which nothing was sent.
func TestALongURLForAnotherHost(t *testing.T) {
	t.Parallel()
	for length, want := range map[int]egress.ChainEnd{4096: egress.EndFinal, 4097: egress.EndBlocked} {
		n := toolstest.WebNetwork(t)
		n.Records("long.example.net. 300 IN A " + toolstest.WebV4)
		next := "http://long.example.net/?"
		next += strings.Repeat("x", length-len(next))
		asked := 0
		n.Serve(toolstest.WebV4Port80, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked++
			if r.Host == "example.com" {
				http.Redirect(w, r, next, http.StatusFound)
			}
		}))
		r := mustRun(t, n, "http://example.com/")
		if r.Outcome != want || len(r.Hops) != 2 {
			t.Errorf("%d characters: %s, %d hops", length, r.Outcome, len(r.Hops))
		}
		if want == egress.EndFinal {
			continue
		}
		last := r.Hops[len(r.Hops)-1]
		if asked != 1 || r.RedirectCount != 0 || last.Status != nil || last.URL != next ||
			!strings.Contains(last.StatusText, "4,096 characters") || !strings.Contains(r.Summary, "not visited") {
			t.Errorf("asked %d times; %+v", asked, r)
		}
	}
}

// A chain that has sent what a run may ends as blocked, and says why.
func TestAChainSendsNoMoreThanItMay(t *testing.T) {
	t.Parallel()
	n := toolstest.WebNetwork(t)
	asked := 0
	n.Serve(toolstest.WebV4Port80, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		http.Redirect(w, r, fmt.Sprintf("/%d?%s", asked, strings.Repeat("x", 16_000)), http.StatusFound)
	}))
	ctx := traffic.WithMeter(t.Context(), new(traffic.Totals))
	got, err := toolstest.Run(ctx, New(n.Client(nil)), toolstest.URLInput("http://example.com/"))
	if err != nil {
		t.Fatal(err)
	}
	r := got.(Result)
	if r.Outcome != egress.EndBlocked || len(r.Hops) != asked+1 || !strings.Contains(r.Summary, "may not send any more") {
		t.Errorf("asked %d times: %s, %d hops, %s", asked, r.Outcome, len(r.Hops), r.Summary)
	}
}
