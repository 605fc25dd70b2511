//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/netip"
	"os/exec"
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

// A head that Chromium and curl both accept is accepted here, with the same status and fields; one that both reject is
// rejected here.
func TestHeadsAsChromiumAndCurlReadThem(t *testing.T) {
	t.Parallel()
	heads := internet.Site("heads")
	at, err := internet.Forward("127.0.0.1:0", netip.AddrPortFrom(heads.V4, 80).String())
	if err != nil {
		t.Fatal(err)
	}
	inBrowser := headsInChromium(t, at)
	agreed := 0
	for n := range site.HeadCount {
		curl, chromium := headInCurl(t, fmt.Sprintf("http://%s/%d", at, n)), inBrowser[n]
		if (curl.Status == 0) != (chromium.Status == 0) {
			continue // They do not decide together.
		}
		agreed++
		here := headHere(t, fmt.Sprintf("http://%s/%d", heads.Host, n))
		if here.Status != chromium.Status || here.Status != curl.Status {
			t.Errorf("%d: status %d here, %d in Chromium, %d in curl: %.300q",
				n, here.Status, chromium.Status, curl.Status, site.Head(n))
			continue
		}
		for name, value := range chromium.Headers {
			if here.Headers[name] != value {
				t.Errorf("%d: %s is %.60q here, %.60q in Chromium: %.300q", n, name, here.Headers[name], value, site.Head(n))
			}
		}
	}
	if agreed < site.HeadCount*3/4 {
		t.Errorf("Chromium and curl agree on %d of %d heads: too few to compare with", agreed, site.HeadCount)
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
	tab.Until(`globalThis.heads !== undefined`)
	var all []headRead
	if err := json.Unmarshal([]byte(tab.String(`globalThis.heads`)), &all); err != nil || len(all) != site.HeadCount {
		t.Fatalf("%d heads, %v", len(all), err)
	}
	return all
}

// headInCurl reads the status alone: curl hands lines on as they were sent.
func headInCurl(t *testing.T, url string) headRead {
	t.Helper()
	var status int
	command := exec.CommandContext(t.Context(), "curl", "--silent", "--max-time", "5", "--output", "/dev/null",
		"--write-out", "%{http_code} %{exitcode}", url)
	out, _ := command.Output() // Its exit code is in the output.
	var exit int
	if _, err := fmt.Fscan(bytes.NewReader(out), &status, &exit); err != nil {
		t.Fatalf("curl: %q: %v", out, err)
	}
	// Errors of the body are not about the head: 18 is one that ended early.
	if exit != 0 && exit != 18 {
		status = 0
	}
	return headRead{Status: status}
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
