//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"diagnostics/lab/internal/browser"
)

// A check that cannot be made says what can: the addresses of a name, what is known of an address, the common ports.
func TestErrorsLeadOn(t *testing.T) {
	for _, c := range []struct{ name, slug, input, label, leads string }{
		{"a name for an address", "ip-geolocation", "fast.lab-site.com", "Look up the addresses of fast.lab-site.com",
			"/tools/dns-lookup?input=fast.lab-site.com"},
		{"an address for a name", "dns-lookup", "11.90.0.1", "Look up 1.0.90.11.in-addr.arpa",
			"/tools/dns-lookup?input=1.0.90.11.in-addr.arpa"},
		{"no port", "port-checker", "fast.lab-site.com", "Port 443", "/tools/port-checker?input=fast.lab-site.com%3A443"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tab := openTab(t, browser.Options{})
			tab.Open(toolPath(c.slug, c.input))
			tab.WaitFor("#input[aria-invalid=true]")
			if label := tab.Text(".next a"); label != c.label {
				t.Errorf("offered first is %q", label)
			}
			for _, finding := range tab.Axe() {
				t.Error(finding)
			}
			for _, width := range []int{360, 1280} {
				tab.Look(width, false)
				holdNothingEmpty(t, tab, ".next")
				tab.Screenshot("error-" + strings.ReplaceAll(c.name, " ", "-"))
			}
			tab.Click(".next a")
			tab.Until(`location.pathname + location.search === "` + c.leads + `"`)
			untilAnswered(tab)
			holdRecord(t, tab, "400")
		})
	}
}

// holdNothingEmpty fails where there is an empty space between what an error says and what follows it.
func holdNothingEmpty(t *testing.T, tab *browser.Tab, said string) {
	t.Helper()
	var empty int
	tab.Value(`Math.round(document.querySelector(".about").getBoundingClientRect().top -
		document.querySelector("`+said+`").getBoundingClientRect().bottom)`, &empty)
	if empty > 100 {
		t.Errorf("%d px of nothing are below the error", empty)
	}
}

// What was refused for a while counts down in one sentence, and can be tried again then and not before.
func TestTryAgain(t *testing.T) {
	tab := openTab(t, browser.Options{})
	tab.Open("/tools/dns-lookup")
	tab.Run(`const real = fetch; let refused = false; globalThis.fetch = async (...all) => {
		if (refused) return real(...all);
		refused = true;
		return new Response(JSON.stringify({ error: "Too many requests; try again in 5 seconds.", requestId: "lab" }),
			{ status: 429, headers: { "Retry-After": "5" } });
	};`)
	tab.Fill("#input", "lab-dns.com")
	tab.Click("#run")
	tab.WaitFor("#again[disabled]")
	tab.Run(`globalThis.sentences = []; const place = document.querySelector(".again [aria-hidden]");
		new MutationObserver(() => sentences.push(place.textContent))
			.observe(place, { childList: true, characterData: true, subtree: true });`)
	if said := strings.Count(tab.String(textOf("#result .notice")), "gain in "); said != 2 {
		t.Errorf("when to try again is told %d times, want once to see and once to hear", said)
	}
	holdText(t, tab, "#result .notice", "They say nothing about the target.")
	holdNothingEmpty(t, tab, "#result .notice")
	tab.Screenshot("error-limited")
	for _, finding := range tab.Axe() {
		t.Error(finding)
	}
	tab.WaitFor("#again:not([disabled])")
	if counted := tab.String(`sentences.join("|")`); !strings.Contains(counted, "in 1 second.") {
		t.Errorf("it counts %q", counted)
	}
	tab.Click("#again")
	untilAnswered(tab)
	holdText(t, tab, "#result .verdict", "lab-dns.com")
	holdRecord(t, tab)
}

// A private address is recognised while it is typed, in every field that takes a target, and nothing is asked for that.
func TestPrivateAddressesAreRecognised(t *testing.T) {
	for path, field := range map[string]string{
		"/": "target", "/report": "target", "/tools/ping": "input", "/tools/ssl-checker": "input",
		"/tools/whois-lookup": "input",
	} {
		t.Run(path[1:], func(t *testing.T) {
			t.Parallel()
			tab := openTab(t, browser.Options{Width: 360})
			tab.Open(path)
			if path == "/tools/ping" {
				tab.Click("[role=tab]:nth-child(2)")
			}
			tab.Run(`document.querySelector("#` + field + `").focus()`)
			tab.Type("192.168.1.1")
			tab.Until(`document.querySelector("form:has(#` + field + `)").textContent
				.includes("192.168.1.1 is a private address: only public addresses can be checked from here.")`)
			for _, finding := range tab.Axe() {
				t.Error(finding)
			}
			tab.Fill("#"+field, "lab-dns.com")
			tab.Until(`!document.querySelector("form:has(#` + field + `)").textContent.includes("private")`)
			for _, request := range tab.Record().Requests {
				if strings.Contains(request, "/api/") {
					t.Errorf("typing asks %s", request)
				}
			}
			holdRecord(t, tab)
		})
	}
}
