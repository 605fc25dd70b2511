//go:build e2e

package e2e

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"diagnostics/lab/internal/browser"
)

// states gives the state of every card of a report by its tool.
func states(tab *browser.Tab) map[string]string {
	found := map[string]string{}
	tab.Value(`Object.fromEntries([...document.querySelectorAll("article.tool-card")].map((card) => [card.dataset.slug, card.dataset.state]))`, &found)
	return found
}

// A report is complete although one tool fails, one is limited for an hour and one is switched off here.
func testReportWithFailures(t *testing.T) {
	const target = "notls.lab-site.com"
	origin, err := startPages("gateway-pages-limited", "TRUST_PROXY_HEADERS=true",
		"RATE_LIMIT_REQUESTS=1", "RATE_LIMIT_WINDOW=3600s", "DISABLED_TOOLS=asn-lookup,uptime")
	if err != nil {
		t.Fatal(err)
	}
	spend(t, origin, "whois-lookup", target)
	tab := openTab(t, browser.Options{Origin: origin})
	tab.Open("/report?target=" + target)
	tab.UntilWithin(reported, patience)
	got := states(tab)
	for slug, want := range map[string]string{
		"whois-lookup": "limited", "ssl-checker": "failed", "dns-lookup": "done", "email-dns-health": "done", "port-checker": "done", "uptime": "",
	} {
		if got[slug] != want {
			t.Errorf("%s is %q, want %q", slug, got[slug], want)
		}
	}
	for slug, state := range got {
		if !slices.Contains([]string{"done", "failed", "limited"}, state) {
			t.Errorf("%s is %s", slug, state)
		}
	}
	if len(got) < 8 {
		t.Errorf("only %d tools ran: %v", len(got), got)
	}
	holdText(t, tab, `article.tool-card[data-slug=ssl-checker]`, "TLS")
	holdText(t, tab, "#attention", "Registration lookup")
	holdRecord(t, tab, "/api/tools/")
	holdLooks(t, tab, "report-failing")
	tab.Open("/tools/uptime")
	holdText(t, tab, "main", "switched off")
}

// spend uses up the one request that a limited gateway allows.
func spend(t *testing.T, origin, slug, input string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, origin+"/api/tools/"+slug,
		strings.NewReader(`{"input":"`+input+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Real-IP", visitor)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
}

// A tool that is limited for seconds is asked again when the pause is over, and the report comes to its end.
func TestReportWaitsForItsTurn(t *testing.T) {
	origin, err := startPages("gateway-pages-pausing", "TRUST_PROXY_HEADERS=true", "RATE_LIMIT_CLIENT_REQUESTS=6",
		"RATE_LIMIT_WINDOW=2s")
	if err != nil {
		t.Fatal(err)
	}
	tab := openTab(t, browser.Options{Origin: origin})
	tab.Open("/report?target=11.80.0.5")
	tab.UntilWithin(reported, patience)
	tab.Open("/report?target=fast.lab-site.com")
	tab.Until(`document.querySelector("article.tool-card[data-state=limited]")`)
	tab.UntilWithin(reported, patience)
	for slug, state := range states(tab) {
		if state != "done" && state != "failed" {
			t.Errorf("%s is %s", slug, state)
		}
	}
	holdRecord(t, tab, "429", "502")
}

func TestReportIsCancelled(t *testing.T) {
	tab := openTab(t, browser.Options{})
	tab.Open("/report?target=never.lab-site.com")
	tab.Until(`document.querySelector("article.tool-card[data-state=running]")`)
	tab.Click("#cancel")
	tab.Until(reported)
	if !slices.Contains(slices.Collect(maps.Values(states(tab))), "cancelled") {
		t.Errorf("no tool is cancelled: %v", states(tab))
	}
	holdRecord(t, tab, "/api/tools/")
}

// Both files hold the whole report of a domain whose records are markup: the one as data, the other as a page that
// loads nothing and runs nothing.
func TestReportExport(t *testing.T) {
	const target = "lab-hostile-mail.com"
	tab := openTab(t, browser.Options{})
	tab.Open("/report?target=" + target)
	tab.UntilWithin(reported, patience)
	tab.Until(`!document.querySelector("#export-json").disabled`)
	holdTextOnly(t, tab, "#result")
	name, file := tab.Download(func() { tab.Click("#export-json") })
	if !strings.Contains(name, target) || !strings.HasSuffix(name, ".json") {
		t.Errorf("the file is called %s", name)
	}
	var data any
	if err := json.Unmarshal(file, &data); err != nil {
		t.Fatal(err)
	}
	for slug := range states(tab) {
		if !strings.Contains(string(file), `"`+slug+`"`) {
			t.Errorf("the JSON file lacks %s", slug)
		}
	}
	name, file = tab.Download(func() { tab.Click("#export-html") })
	if !strings.Contains(name, target) || !strings.HasSuffix(name, ".html") {
		t.Errorf("the file is called %s", name)
	}
	holdFile(t, file)
	for _, want := range []string{target, "&lt;script&gt;"} {
		if !strings.Contains(string(file), want) {
			t.Errorf("the file lacks %q", want)
		}
	}
	holdRecord(t, tab, "/api/tools/")
}

// holdFile fails for all that a saved page must not have: scripts, and whatever loads something.
func holdFile(t *testing.T, file []byte) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(string(file)))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if slices.Contains([]string{"script", "img", "iframe", "object", "embed", "base", "link", "video", "audio", "image"},
			n.Data) {
			t.Errorf("<%s> in the file", n.Data)
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "src" || a.Key == "srcset" ||
				a.Key == "href" && strings.HasPrefix(strings.ToLower(strings.TrimSpace(a.Val)), "javascript:") {
				t.Errorf("<%s %s=%q> in the file", n.Data, a.Key, a.Val)
			}
		}
	}
	if strings.Contains(string(file), "@import") || strings.Contains(string(file), "url(") {
		t.Error("the file's styles load something")
	}
}
