//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"diagnostics/lab"
	"diagnostics/lab/internal/browser"
)

// A link of another website must not send packets in the visitor's name: the page fills the form in and waits.
func TestForeignLinksWaitForAClick(t *testing.T) {
	origin, err := pagesGateway()
	if err != nil {
		t.Fatal(err)
	}
	target := "clean." + lab.TransitZone
	follow := func(t *testing.T, path string) *browser.Tab {
		// A page without a site of its own is another site's to every other.
		tab := openTab(t, browser.Options{Origin: "data:text/html,"})
		tab.Open("elsewhere")
		tab.Forget()
		tab.Run(`location.href = "` + origin + path + `"`)
		tab.Until(`location.origin === "` + origin + `" && document.readyState === "complete"`)
		tab.Settle()
		return tab
	}
	asked := func(tab *browser.Tab) (requests []string) {
		for _, request := range tab.Record().Requests {
			if strings.Contains(request, "/api/") {
				requests = append(requests, request)
			}
		}
		return requests
	}
	t.Run("traceroute", func(t *testing.T) {
		t.Parallel()
		tab := follow(t, toolPath("traceroute", target, "family", "ipv4"))
		tab.WaitFor("#waits")
		if sent := asked(tab); len(sent) > 0 {
			t.Fatalf("asked without a click: %v", sent)
		}
		if got := tab.String(`document.querySelector("#input").value + " " + document.querySelector("#family").value`); got != target+" ipv4" {
			t.Errorf("the form holds %q", got)
		}
		if wrong := tab.Axe(); len(wrong) > 0 {
			t.Errorf("axe: %v", wrong)
		}
		tab.Screenshot("traceroute-waiting")
		tab.Click("#run")
		untilAnswered(tab)
		if n := tab.Count("#waits"); n != 0 {
			t.Error("it still says that it waits")
		}
		// What has run once here runs again.
		tab.Reload()
		untilAnswered(tab)
	})
	t.Run("report", func(t *testing.T) {
		t.Parallel()
		tab := follow(t, "/report?target="+target)
		tab.WaitFor("#waits")
		if sent := asked(tab); len(sent) > 0 || !tab.Holds(`!document.querySelector("#catalogue").hidden`) {
			t.Errorf("asked without a click: %v", sent)
		}
		tab.Click("#run")
		tab.WaitFor("#report-title")
	})
	// The visitor runs a target of their own, and goes back to the link: no one has clicked that one.
	for _, c := range []struct{ path, field, shown string }{
		{toolPath("traceroute", target), "#input", "#result > *"},
		{"/report?target=" + target, "#target", "#report-title"},
	} {
		t.Run("going back to "+c.path, func(t *testing.T) {
			t.Parallel()
			tab := follow(t, c.path)
			tab.WaitFor("#waits")
			tab.Fill(c.field, "fast.lab-site.com")
			tab.Click("#run")
			tab.UntilWithin(`document.querySelector("`+c.shown+`")`, patience)
			tab.Back()
			tab.WaitFor("#waits")
			tab.Forget()
			tab.Settle()
			if sent := asked(tab); len(sent) > 0 {
				t.Errorf("asked without a click: %v", sent)
			}
			if got := tab.String(`document.querySelector("` + c.field + `").value`); got != target {
				t.Errorf("the form holds %q", got)
			}
			if n := tab.Count(c.shown); n != 0 {
				t.Error("the answer of the other target is still there")
			}
		})
	}
	// A watch of another site's link waits, whatever the tool is, and keeps the pace of the link.
	t.Run("watch", func(t *testing.T) {
		t.Parallel()
		tab := follow(t, toolPath("uptime", "http://fast.lab-site.com/", "watch", "20"))
		tab.WaitFor("#waits")
		if sent := asked(tab); len(sent) > 0 {
			t.Fatalf("asked without a click: %v", sent)
		}
		tab.Click("#watch")
		tab.UntilWithin(rounds(1), patience)
		holdText(t, tab, ".watch-line", "Checked every 20 seconds")
	})
	t.Run("our own links start a watch", func(t *testing.T) {
		t.Parallel()
		tab := openTab(t, browser.Options{})
		hurry(tab, 6)
		tab.Open("/")
		tab.Run(`location.href = "` + toolPath("uptime", "http://fast.lab-site.com/", "watch", "1") + `"`)
		tab.UntilWithin(rounds(1), patience)
		holdText(t, tab, ".watch-line", "Checked every 10 seconds")
		// A refusal for the number of requests says nothing of the target, and slows the watch.
		tab.Run(`globalThis.fetch = async () => new Response('{"error":"Too many requests."}',
			{ status: 429, headers: { "Retry-After": "600" } })`)
		tab.UntilWithin(`document.querySelector(".watch-strip .is-unmeasured")`, patience)
		tab.Until(`document.querySelector(".watch[data-state=waiting]")`)
		holdText(t, tab, ".watch-line", "The service is limiting requests", "then every 20 seconds")
		holdText(t, tab, ".watch .verdict", "1 round was not measured: the service limits requests.")
		if title := tab.String(`document.title`); !strings.HasPrefix(title, "✓ works · ") {
			t.Errorf("the title is %q", title)
		}
		// With the page loaded again, the record goes on.
		tab.Reload()
		tab.UntilWithin(rounds(3), patience)
		// Run takes its place, and the link says so.
		tab.Click("#run")
		untilAnswered(tab)
		if tab.Count(".watch") > 0 || tab.Holds(`location.search.includes("watch")`) {
			t.Error("the watch is still there")
		}
	})
	t.Run("what sends no packets of the worker's runs at once", func(t *testing.T) {
		t.Parallel()
		untilAnswered(follow(t, toolPath("dns-lookup", "lab-dns.com")))
	})
	t.Run("our own links run at once", func(t *testing.T) {
		t.Parallel()
		tab := openTab(t, browser.Options{})
		tab.Open("/")
		tab.Run(`location.href = "` + toolPath("traceroute", target) + `"`)
		tab.Until(`location.pathname === "/tools/traceroute"`)
		untilAnswered(tab)
	})
}
