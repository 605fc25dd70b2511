package redirectchecker

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/text/bound"
	"diagnostics/gateway/internal/tools/internal/toolstest"
)

// TestConflictingLocations: a chain ends where browsers stop, and says nothing of where either field leads.
func TestConflictingLocations(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name, status string
		locations    []string
		outcome      egress.ChainEnd
		flags        string
		others       []string
		summary      string
	}{
		{"two that differ", "302 Found", []string{"https://www.example.com/", "/next"}, "invalidLocation",
			"temporary conflictingLocation", []string{"/next"},
			"No redirect was followed. example.com names 2 conflicting destinations (Location) in one redirect. Browsers stop " +
				"there and show an error, and so does this check."},
		{"three, two of them equal", "301 Moved", []string{"/next", "/next", "/else"}, "invalidLocation",
			"permanent conflictingLocation", []string{"/else"},
			"No redirect was followed. example.com names 2 conflicting destinations (Location) in one redirect. Browsers stop " +
				"there and show an error, and so does this check."},
		{"one is blank", "302 Found", []string{"", "/next"}, "invalidLocation", "temporary conflictingLocation",
			[]string{"/next"}, "No redirect was followed. example.com names 2 conflicting destinations (Location) in one " +
				"redirect. Browsers stop there and show an error, and so does this check."},
		{"two that are equal", "302 Found", []string{"/next", "/next"}, "final", "temporary relativeLocation", nil,
			"One redirect was followed. example.com answers 200 OK."},
		{"a page", "200 OK", []string{"/a", "/b"}, "final", "conflictingLocation", []string{"/b"},
			"No redirect was followed. example.com answers 200 OK. It sends conflicting Location headers, and browsers show an error instead of such an answer."},
		{"a page with one", "200 OK", []string{"/a"}, "final", "", nil,
			"No redirect was followed. example.com answers 200 OK."},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			got := runConflict(t, r.status, r.locations)
			first := got.Hops[0]
			if got.Outcome != r.outcome || got.Summary != r.summary {
				t.Errorf("%s: %s", got.Outcome, got.Summary)
			}
			if flags := strings.Join(first.Flags, " "); flags != r.flags || !slices.Equal(first.OtherLocations, r.others) {
				t.Errorf("flags %s, others %q", flags, first.OtherLocations)
			}
		})
	}
}

// runConflict checks a site whose first page has these fields and whose others are plain pages.
func runConflict(t *testing.T, status string, locations []string) Result {
	t.Helper()
	n := toolstest.WebNetwork(t)
	head := "HTTP/1.1 " + status + "\r\n"
	for _, location := range locations {
		head += "Location: " + location + "\r\n"
	}
	var asked atomic.Int32
	n.ServeConn(toolstest.WebV4Port80, func(c net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(c)); err != nil {
			return
		}
		answer := head
		if asked.Add(1) > 1 {
			answer = "HTTP/1.1 200 OK\r\n"
		}
		_, _ = io.WriteString(c, answer+"Content-Length: 0\r\n\r\n")
	})
	return mustRun(t, n, "http://example.com/")
}

// TestConflictingLocationsAreBounded: a head full of them makes no answer longer than it may be, and the cut is told.
func TestConflictingLocationsAreBounded(t *testing.T) {
	t.Parallel()
	var locations []string
	for i := range 15 {
		locations = append(locations, fmt.Sprintf("/%d?%s", i, strings.Repeat("&", 4000)))
	}
	got := runConflict(t, "302 Found", locations)
	if size := bound.Size(got.Hops[0].OtherLocations); size > maxOtherLocations+2 || !got.Truncated ||
		!got.Hops[0].Truncated {
		t.Errorf("%d bytes, truncated %t", size, got.Truncated)
	}
}
