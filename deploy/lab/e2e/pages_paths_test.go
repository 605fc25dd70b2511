//go:build e2e

package e2e

import (
	"net/url"
	"strings"
	"testing"

	"diagnostics/lab/internal/browser"
)

// A link holds the whole check with its options, a new check makes a new link, and Back shows the one before.
func TestDeepLinks(t *testing.T) {
	tab := openTab(t, browser.Options{})
	tab.Open(toolPath("dns-resolver-check", "agree.lab-resolve.com", "recordType", "AAAA"))
	untilAnswered(tab)
	if got := tab.String(`document.querySelector("#recordType").value`); got != "AAAA" {
		t.Errorf("the record type is %s", got)
	}
	tab.Fill("#input", "https://alias.lab-resolve.com/some/page")
	tab.Choose("#recordType", "MX")
	tab.Click("#run")
	tab.Until(`location.search.includes("alias")`)
	untilAnswered(tab)
	query, err := url.ParseQuery(strings.TrimPrefix(tab.String(`location.search`), "?"))
	if err != nil || query.Get("input") != "alias.lab-resolve.com" || query.Get("recordType") != "MX" {
		t.Errorf("the link is %v, %v", query, err)
	}
	holdText(t, tab, "#input-note", "alias.lab-resolve.com")
	holdText(t, tab, "#result", "alias.lab-resolve.com")
	tab.Back()
	tab.Until(`document.querySelector("#input").value === "agree.lab-resolve.com" && document.querySelector("#recordType").value === "AAAA"`)
	untilAnswered(tab)
	holdText(t, tab, "#result", "agree.lab-resolve.com")
	tab.Open(toolPath("email-dns-health", "lab-good-mail.com", "dkimSelector", "s1"))
	untilAnswered(tab)
	if got := tab.String(`document.querySelector("#dkimSelector").value`); got != "s1" {
		t.Errorf("the selector is %s", got)
	}
	holdRecord(t, tab)
}

// A whole check without a mouse: the order of the stops, the answer in focus, and what can be done with it.
func TestKeyboardOnly(t *testing.T) {
	tab := openTab(t, browser.Options{})
	tab.Open("/tools/dns-resolver-check")
	stops := []string{"a.skip", "a.skip[href='#result']", "header a.home", "header nav a", "header nav a", "header nav a",
		"header input[name=theme]",
		"main .crumb a", "#input", "#recordType", "#run"}
	for _, stop := range stops {
		tab.Press("Tab")
		if !tab.Holds(`document.activeElement.matches("` + stop + `")`) {
			t.Fatalf("the focus is at %s, want %s", tab.String(`document.activeElement.outerHTML.slice(0, 200)`), stop)
		}
		if !tab.Holds(`(() => { const at = document.activeElement, seen = at.matches("[type=radio]") ? at.nextElementSibling : at;
			return at.matches(":focus-visible") && getComputedStyle(seen).outlineStyle !== "none"; })()`) {
			t.Errorf("nothing shows that %s has the focus", stop)
		}
	}
	tab.Run(`document.activeElement.blur()`)
	tab.Type("/")
	tab.Type("agree.lab-resolve.com")
	tab.Press("Enter")
	untilAnswered(tab)
	tab.Until(`document.activeElement.id === "result"`)
	tab.Until(`document.querySelector("#live").textContent !== ""`)
	if said, verdict := tab.Text("#live"), tab.String(textOf("#result .verdict")); !strings.Contains(verdict, said) {
		t.Errorf("a screen reader gets %q, the page says %q", said, verdict)
	}
	for range 30 {
		tab.Press("Tab")
		if tab.Holds(`document.activeElement.matches(".menu > summary")`) {
			tab.Press("Enter")
			for range 2 { // the link to copy comes before
				tab.Press("Tab")
			}
			tab.Press("Enter")
			tab.Until(`document.querySelector("#show-json").getAttribute("aria-pressed") === "true" && document.querySelector("section.json").checkVisibility()`)
			holdRecord(t, tab)
			return
		}
	}
	t.Error("the answer's buttons are not to be reached")
}

// A refusal appears at the field that it is about, in the API's own words.
func TestErrorAtTheField(t *testing.T) {
	ipv6 := map[string]any{"family": "ipv6"}
	for _, c := range []struct {
		slug, input string
		options     map[string]any
		field       string
	}{
		{"port-checker", "fast.lab-site.com:99999", nil, "input"},
		{"dns-lookup", "not a domain", nil, "input"},
		{"ping", "10.0.0.1", nil, "input"},
		{"http-headers", "http://private.lab-site.com/", nil, "input"},
		{"ping", "family.local", ipv6, "input"},
		{"ping", "11.90.0.1", ipv6, "family"},
		{"email-dns-health", "lab-good-mail.com", map[string]any{"dkimSelector": "a b"}, "dkimSelector"},
		{"dns-lookup", "lab-dns.com", map[string]any{"types": "A,ANY"}, "types"},
	} {
		t.Run(c.slug+" "+c.input, func(t *testing.T) {
			t.Parallel()
			want := call(t, c.slug, c.input, c.options).Error
			link := []string{}
			for name, value := range c.options {
				link = append(link, name, value.(string))
			}
			tab := openTab(t, browser.Options{})
			tab.Open(toolPath(c.slug, c.input, link...))
			tab.WaitFor("#" + c.field + "[aria-invalid=true]")
			if n := tab.Count("[aria-invalid]"); n != 1 {
				t.Errorf("%d fields are marked", n)
			}
			if got := tab.Text("#" + c.field + "-error"); got != want {
				t.Errorf("the field says %q, the API %q", got, want)
			}
			if !strings.Contains(tab.Attribute("#"+c.field, "aria-describedby"), c.field+"-error") {
				t.Error("the sentence is not joined to the field")
			}
			tab.Click("#run")
			tab.Until(`document.activeElement.matches("#` + c.field + `[aria-invalid=true]")`)
			for _, finding := range tab.Axe() {
				t.Error(finding)
			}
			holdRecord(t, tab, "400")
		})
	}
}

func TestWithoutJavaScript(t *testing.T) {
	tab := openTab(t, browser.Options{NoScript: true})
	for _, path := range []string{"/", "/report", toolPath("dns-lookup", "lab-dns.com"), "/tools/ping"} {
		tab.Open(path)
		if shown := tab.Text("main"); !strings.Contains(shown, "needs JavaScript") {
			t.Errorf("%s does not say what it needs:\n%s", path, shown)
		}
	}
	for _, request := range tab.Record().Requests {
		if strings.Contains(request, "/api/") {
			t.Errorf("a request to %s", request)
		}
	}
}
