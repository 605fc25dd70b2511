//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/netip"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"diagnostics/lab/internal/browser"
	"diagnostics/lab/internal/site"
)

// headRead is what one client made of a head: status 0 where it rejected the answer.
type headRead struct {
	Status  int
	Headers map[string]string
}

// refusedHere are heads of which Chromium shows the page, and curl in part: what is no status line of HTTP/1
// (Chromium takes any first line for HTTP/0.9 or ICY), and a Content-Length that is no number.
var refusedHere = regexp.MustCompile(`^ICY|^HTTP/1.1 OK|Content-Length: five`)

// A head is read as Chromium reads it, with the same status and fields, and accepted wherever curl accepts it.
// It runs alone: its three hundred requests would starve the tests that watch a page.
func TestHeadsAsChromiumAndCurlReadThem(t *testing.T) {
	heads := internet.Site("heads")
	at, err := internet.Forward("127.0.0.1:0", netip.AddrPortFrom(heads.V4, 80).String())
	if err != nil {
		t.Fatal(err)
	}
	accepted := 0
	for n, chromium := range headsInChromium(t, at) {
		head, here := site.Head(n), headHere(t, fmt.Sprintf("http://%s/%d", heads.Host, n))
		if refusedHere.MatchString(head) {
			if here.Status != 0 {
				t.Errorf("%d: status %d here: %.300q", n, here.Status, head)
			}
			continue
		}
		curl := statusInCurl(t, fmt.Sprintf("http://%s/%d", at, n))
		if here.Status != chromium.Status || curl != 0 && here.Status != curl {
			t.Errorf("%d: status %d here, %d in Chromium, %d in curl: %.300q", n, here.Status, chromium.Status, curl, head)
			continue
		}
		if here.Status != 0 {
			accepted++
		}
		for name, value := range chromium.Headers {
			// Control characters are escaped here.
			if value = strings.ReplaceAll(value, "\x01", `\x01`); here.Headers[name] != value {
				t.Errorf("%d: %s is %.60q here, %.60q in Chromium: %.300q", n, name, here.Headers[name], value, head)
			}
		}
	}
	if accepted < site.HeadCount/2 {
		t.Errorf("%d of %d heads were accepted: too few to compare", accepted, site.HeadCount)
	}
}

// headsInChromium fetches all heads from a page of the same origin.
func headsInChromium(t *testing.T, at string) []headRead {
	t.Helper()
	b, err := chromium()
	if err != nil {
		t.Fatal(err)
	}
	tab := b.Tab(t, browser.Options{Origin: "http://" + at})
	tab.Open("/")
	tab.Run(fmt.Sprintf(`(async () => {
		const all = [];
		for (let n = 0; n < %d; n++) {
			try {
				const answer = await fetch("/" + n);
				all.push({ Status: answer.status, Headers: Object.fromEntries(answer.headers) });
			} catch { all.push({ Status: 0, Headers: {} }); }
		}
		globalThis.heads = JSON.stringify(all);
	})()`, site.HeadCount))
	tab.UntilWithin(`globalThis.heads !== undefined`, patience)
	var all []headRead
	if err := json.Unmarshal([]byte(tab.String(`globalThis.heads`)), &all); err != nil || len(all) != site.HeadCount {
		t.Fatalf("%d heads, %v", len(all), err)
	}
	return all
}

// statusInCurl is the status that curl reads; 0 where it rejects the head. It shows fields as they were sent.
func statusInCurl(t *testing.T, url string) (status int) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "curl", "--silent", "--max-time", "5", "--output", "/dev/null",
		"--write-out", "%{http_code} %{exitcode}", url)
	out, _ := command.Output() // Its exit code is in the output.
	var exit int
	if _, err := fmt.Fscan(bytes.NewReader(out), &status, &exit); err != nil {
		t.Fatalf("curl: %q: %v", out, err)
	}
	const partial = 18 // the body ended early: nothing about the head
	if exit != 0 && exit != partial {
		return 0
	}
	return status
}

func headHere(t *testing.T, url string) headRead {
	t.Helper()
	a := call(t, "http-headers", url, nil)
	if a.Status != 200 {
		return headRead{}
	}
	read := headRead{Status: int(a.number("status")), Headers: map[string]string{}}
	fields, _ := a.at("headers").([]any)
	for _, f := range fields {
		field, _ := f.(map[string]any)
		name := strings.ToLower(fmt.Sprint(field["name"]))
		values := []string{fmt.Sprint(field["value"])}
		if before, sent := read.Headers[name]; sent {
			values = slices.Insert(values, 0, before)
		}
		read.Headers[name] = strings.Join(values, ", ")
	}
	return read
}
