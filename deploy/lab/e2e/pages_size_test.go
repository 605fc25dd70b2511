//go:build e2e

package e2e

import (
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"diagnostics/lab/internal/browser"
)

// The most that a page may transfer, compressed.
const (
	maxScript = 65 << 10
	maxStyle  = 20 << 10
)

// The most that a page with its answer takes: a report, and the page of ssl-checker, by requests and bytes on the wire.
const (
	maxReportRequests = 60
	maxReportBytes    = 150_000
	maxTLSBytes       = 90_000
)

// holdTransfer holds all that a page has sent and received, the checks and their answers included, within its bounds.
func holdTransfer(t *testing.T, tab *browser.Tab, path string) {
	t.Helper()
	record := tab.Record()
	t.Logf("%d requests, %d bytes", len(record.Requests), record.Received)
	switch {
	case strings.HasPrefix(path, "/report?target="):
		if len(record.Requests) > maxReportRequests || record.Received > maxReportBytes {
			t.Errorf("%d requests, at most %d; %d bytes, at most %d", len(record.Requests), maxReportRequests,
				record.Received, maxReportBytes)
		}
	case strings.HasPrefix(path, "/tools/ssl-checker?input="):
		if record.Received > maxTLSBytes {
			t.Errorf("%d bytes, at most %d", record.Received, maxTLSBytes)
		}
	}
}

// holdBudget holds what a page has loaded, in all that a visitor did there, within the budget. Its parts are kept for a
// year, and the page itself is requested again each time.
func holdBudget(t *testing.T, tab *browser.Tab) {
	t.Helper()
	requests := tab.Record().Requests
	slices.Sort(requests)
	var script, style int
	for _, link := range slices.Compact(requests) {
		at, err := url.Parse(link)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(at.Path, "/api/") {
			continue
		}
		size, cache := transfer(t, link)
		switch {
		case strings.HasSuffix(at.Path, ".js"):
			script += size
		case strings.HasSuffix(at.Path, ".css"):
			style += size
		}
		if asset := strings.HasPrefix(at.Path, "/assets/"); asset && cache != "public, max-age=31536000, immutable" ||
			!asset && cache != "no-cache" {
			t.Errorf("%s: Cache-Control %q", at.Path, cache)
		}
	}
	t.Logf("JavaScript %d bytes, CSS %d bytes", script, style)
	if script > maxScript || style > maxStyle || script == 0 || style == 0 {
		t.Errorf("JavaScript %d of %d bytes, CSS %d of %d bytes", script, maxScript, style, maxStyle)
	}
}

// transfer is the size of an answer as a browser takes it, and how long it may be kept.
func transfer(t *testing.T, link string) (size int, cache string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, link, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept-Encoding", "gzip")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return len(body), resp.Header.Get("Cache-Control")
}
