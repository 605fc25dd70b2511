//go:build e2e

package e2e

import (
	"encoding/json"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"diagnostics/lab"
	"diagnostics/lab/internal/browser"
)

// Whatever is typed or pasted on the front page leads to the tool that fits it best, by the keyboard alone.
func TestHomeRecognition(t *testing.T) {
	for _, c := range []struct{ name, text, slug, input string }{
		{"a domain", "lab-dns.com", "report", "lab-dns.com"},
		{"a URL", "https://upgrade.lab-site.com/path?x=1", "uptime", "https://upgrade.lab-site.com/path?x=1"},
		{"an e-mail address", "postmaster@lab-good-mail.com", "email-dns-health", "lab-good-mail.com"},
		{"an address", "11.80.0.5", "ip-geolocation", "11.80.0.5"},
		{"an IPv6 address", "2a10:80::5", "ip-geolocation", "2a10:80::5"},
		{"a host and a port", "fast.lab-site.com:443", "port-checker", "fast.lab-site.com:443"},
		{"an AS number", "as 212002", "asn-lookup", "AS212002"},
		{"a sentence", "could you see why mail for (postmaster@lab-good-mail.com) bounces, please", "email-dns-health", "lab-good-mail.com"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tab := openTab(t, browser.Options{})
			tab.Open("/")
			tab.Type("/")
			tab.Until(`document.activeElement.id === "target"`)
			tab.Type(c.text)
			tab.Until(`document.querySelector("#offers [role=option]")`)
			if first := tab.Attribute("#offers [role=option]", "data-slug"); first != c.slug {
				t.Errorf("%s is offered first", first)
			}
			// The first is chosen from the start; the arrows lead away and back.
			chosen := `[...document.querySelectorAll("#offers [role=option]")].findIndex((o) => o.getAttribute("aria-selected") === "true")`
			tab.Press("ArrowDown")
			tab.Until(chosen + ` === 1`)
			tab.Press("ArrowUp")
			tab.Until(chosen + ` === 0`)
			tab.Press("Enter")
			tab.Until(`location.pathname !== "/"`)
			path, ready, field := "/tools/"+c.slug, answered, "#input"
			if c.slug == "report" {
				path, ready, field = "/report", reported, "#target"
			}
			tab.UntilWithin(ready, patience)
			if at := tab.String(`location.pathname`); at != path {
				t.Errorf("it leads to %s", at)
			}
			if input := tab.String(`document.querySelector("` + field + `").value`); input != c.input {
				t.Errorf("the field there has %q", input)
			}
			holdRecord(t, tab, "Failed to load resource")
		})
	}
	t.Run("nothing", func(t *testing.T) {
		t.Parallel()
		tab := openTab(t, browser.Options{})
		tab.Open("/")
		tab.Fill("#target", "nothing of the kind here")
		tab.Settle()
		if n := tab.Count("#offers [role=option]"); n != 0 {
			t.Errorf("%d tools are offered", n)
		}
		holdRecord(t, tab)
	})
}

// The front page remembers what was looked at, in this browser, until it is told to forget.
func TestRecentTargets(t *testing.T) {
	tab := openTab(t, browser.Options{})
	tab.Open(toolPath("dns-lookup", "lab-dns.com"))
	untilAnswered(tab)
	tab.Open("/")
	tab.Until(`document.querySelector("#recent")?.textContent.includes("lab-dns.com")`)
	tab.Click("#recent button")
	tab.Until(`!document.querySelector("#recent")?.textContent.includes("lab-dns.com")`)
	tab.Reload()
	tab.Settle()
	if strings.Contains(tab.Text("main"), "lab-dns.com") {
		t.Error("the target is still there")
	}
	if kept := tab.String(`JSON.stringify(localStorage)`); strings.Contains(kept, "lab-dns.com") {
		t.Errorf("the browser still keeps %s", kept)
	}
	holdRecord(t, tab)
}

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

func TestCancel(t *testing.T) {
	tab := openTab(t, browser.Options{})
	tab.Open("/tools/http-headers")
	tab.Fill("#input", "http://never.lab-site.com/")
	tab.Press("Enter")
	tab.Until(`document.querySelector("#result[aria-busy=true]") && document.querySelector("#clock").textContent !== ""`)
	tab.Click("#cancel")
	tab.UntilWithin(`document.querySelector("#result[aria-busy=false]") && document.querySelector("#cancel").hidden`,
		3*time.Second)
	holdText(t, tab, "#status", "Cancelled.")
	if focus := tab.String(`document.activeElement.id`); focus != "run" {
		t.Errorf("the focus is at %q", focus)
	}
	// The page can be used again at once.
	tab.Fill("#input", "http://v4only.lab-site.com/")
	tab.Press("Enter")
	untilAnswered(tab)
	holdText(t, tab, "#result", "200")
	holdRecord(t, tab)
}

// What is shown and saved as JSON is the data of the API's answer, no more and no less.
func TestJSONDownload(t *testing.T) {
	tab := openTab(t, browser.Options{})
	tab.Open("/tools/dns-lookup")
	tab.Run(`const real = fetch; globalThis.fetch = async (...all) => {
		const answer = await real(...all); globalThis.lastAnswer = await answer.clone().json(); return answer; };`)
	tab.Fill("#input", "lab-dns.com")
	tab.Press("Enter")
	untilAnswered(tab)
	var data any
	tab.Value(`lastAnswer.data`, &data)
	tab.Click("#show-json")
	tab.Until(`document.querySelector("section.json").checkVisibility()`)
	name, file := tab.Download(func() { tab.Click("#download-json") })
	if !strings.Contains(name, "dns-lookup") || !strings.Contains(name, "lab-dns.com") ||
		!strings.HasSuffix(name, ".json") {
		t.Errorf("the file is called %s", name)
	}
	for from, text := range map[string]string{"the file": string(file), "the page": tab.Text("section.json pre")} {
		var got any
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatalf("%s: %v", from, err)
		}
		if !reflect.DeepEqual(got, data) {
			t.Errorf("%s has\n%v\nthe API answered\n%v", from, got, data)
		}
	}
	holdRecord(t, tab)
}

// A whole check without a mouse: the order of the stops, the answer in focus, and what can be done with it.
func TestKeyboardOnly(t *testing.T) {
	tab := openTab(t, browser.Options{})
	tab.Open("/tools/dns-resolver-check")
	stops := []string{"a.skip", "header a.home", "header nav a", "header nav a", "header nav a",
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
		t.Errorf("a screen reader is told %q, the page says %q", said, verdict)
	}
	for range 30 {
		tab.Press("Tab")
		if tab.Holds(`document.activeElement.id === "show-json"`) {
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

// A second run says what is different, or that nothing is.
func TestCompareWithTheRunBefore(t *testing.T) {
	const name = "changes." + lab.ProbeZone
	answer := func(address string) {
		internet.Script(name, lab.Step{Records: []string{"@ 0 IN A " + address}})
	}
	tab := openTab(t, browser.Options{})
	answer("11.80.0.1")
	tab.Open(toolPath("dns-lookup", name))
	untilAnswered(tab)
	if tab.Count("#result :is(.unchanged, .changed)") != 0 {
		t.Error("the first run is compared with something")
	}
	again := func(want string) {
		tab.Run(`document.querySelector("#result").replaceChildren()`)
		tab.Click("#run")
		untilAnswered(tab)
		tab.WaitFor("#result " + want)
	}
	again(".unchanged")
	holdText(t, tab, "#result .unchanged", "Nothing changed")
	answer("11.80.0.2")
	again(".changed")
	holdText(t, tab, "#result .changed", "11.80.0.1", "11.80.0.2")
	tab.Reload()
	untilAnswered(tab)
	tab.WaitFor("#result .unchanged")
	holdRecord(t, tab)
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

// A theme is chosen once, and no later page is first drawn in another.
func TestTheme(t *testing.T) {
	tab := openTab(t, browser.Options{})
	tab.Before(
		`requestAnimationFrame(() => { globalThis.firstFrame = document.documentElement.dataset.theme ?? "auto"; })`)
	ground := func() string {
		return tab.String(
			`getComputedStyle(document.documentElement).backgroundColor + getComputedStyle(document.body).backgroundColor`)
	}
	tab.Open("/")
	light := ground()
	tab.Choose("input[name=theme][value=dark]", "dark")
	dark := ground()
	if light == dark {
		t.Errorf("dark has the ground of light: %s", dark)
	}
	for _, load := range []func(){tab.Reload, func() { tab.Open("/report") }} {
		load()
		tab.Until(`globalThis.firstFrame !== undefined`)
		if first := tab.String(`firstFrame`); first != "dark" || ground() != dark {
			t.Errorf("first drawn as %s, then on %s, want dark on %s", first, ground(), dark)
		}
		if !tab.Holds(`document.querySelector("input[name=theme][value=dark]").checked`) {
			t.Error("the choice is not shown")
		}
	}
	tab.Choose("input[name=theme][value=auto]", "auto")
	tab.Look(1280, true)
	if got := ground(); got != dark {
		t.Errorf("automatic is %s in the dark", got)
	}
	tab.Look(1280, false)
	if got := ground(); got != light {
		t.Errorf("automatic is %s in the light", got)
	}
	holdRecord(t, tab)
}

// A module that does not load takes nothing of the answer away: the page shows what it has, says what is missing, and
// offers to load itself again.
func TestModulesThatDoNotLoad(t *testing.T) {
	const missing = "Failed to fetch dynamically imported module"
	for _, c := range []struct{ name, blocked, verdict string }{
		{"the view", "/assets/*/tools/my-ip/view.js", "Your public address is " + visitor},
		{"the verdict", "/assets/*/tools/my-ip/verdict.js", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tab := openTab(t, browser.Options{})
			tab.Block(c.blocked)
			tab.Open("/tools/my-ip")
			untilAnswered(tab)
			holdText(t, tab, "#result", "did not load", "Reload the page")
			if shown := tab.Count("#result .verdict") > 0; shown != (c.verdict != "") {
				t.Errorf("a verdict is shown: %t", shown)
			} else if shown {
				holdText(t, tab, "#result .verdict", c.verdict)
			}
			if json := tab.Text("#result .json pre"); !strings.Contains(json, `"ip": "`+visitor+`"`) {
				t.Errorf("the answer is not there: %s", json)
			}
			tab.Until(`document.querySelector("#live").textContent !== ""`)
			for _, finding := range tab.Axe() {
				t.Error(finding)
			}
			holdRecord(t, tab, missing)
			tab.Block()
			tab.Click("#result .notice button")
			tab.Until(`document.querySelector("#show-json")`)
			holdText(t, tab, "#result .verdict", "Your public address is "+visitor)
		})
	}
	t.Run("what draws all answers", func(t *testing.T) {
		t.Parallel()
		tab := openTab(t, browser.Options{})
		tab.Block("/assets/*/lib/answer.js")
		tab.Open("/tools/my-ip")
		untilAnswered(tab)
		holdText(t, tab, "#result", "Your public address is "+visitor, "did not load", "Reload the page")
		holdRecord(t, tab, missing, "net::ERR")
	})
	t.Run("a report's verdict and its file", func(t *testing.T) {
		t.Parallel()
		tab := openTab(t, browser.Options{})
		tab.Block("/assets/*/tools/dns-lookup/verdict.js", "/assets/*/lib/export.js")
		tab.Open("/report?target=lab-dns.com")
		tab.UntilWithin(reported, patience)
		holdText(t, tab, `article.tool-card[data-slug=dns-lookup] .notice`, "did not load", "Reload the page")
		holdText(t, tab, "#attention", "This page could not read the answer of 1 check: DNS lookup.")
		if n := tab.Count("article.tool-card .verdict"); n == 0 {
			t.Error("the other checks have no verdict either")
		}
		tab.Click("#export-json")
		tab.WaitFor("#result > div > .notice")
		holdText(t, tab, "#result > div > .notice", "The file was not made", "Reload the page")
		for _, finding := range tab.Axe() {
			t.Error(finding)
		}
		holdRecord(t, tab, missing, "/api/tools/")
	})
}
