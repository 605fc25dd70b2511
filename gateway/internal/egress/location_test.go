package egress_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/target"
)

// TestLocations: fields that are equal are one, and the least difference is a conflict, as in Chromium.
func TestLocations(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name    string
		fields  []string
		want    []string
		next    string
		problem target.LocationProblem
	}{
		{"none", nil, nil, "", target.LocationMissing},
		{"blank", []string{""}, []string{""}, "", target.LocationMissing},
		{"one", []string{"/a"}, []string{"/a"}, "http://example.com/a", 0},
		{"two that are equal", []string{"/a", "/a"}, []string{"/a"}, "http://example.com/a", 0},
		{"blanks around one", []string{"/a", " \t/a "}, []string{"/a"}, "http://example.com/a", 0},
		{"two that differ", []string{"/a", "/b"}, []string{"/a", "/b"}, "", target.LocationConflicting},
		{"the last differs", []string{"/a", "/a", "/b"}, []string{"/a", "/b"}, "", target.LocationConflicting},
		{"one is blank", []string{"/a", ""}, []string{"/a", ""}, "", target.LocationConflicting},
		{"two spellings of one URL", []string{"/a", "http://example.com/a"}, []string{"/a", "http://example.com/a"}, "",
			target.LocationConflicting},
		{"capitals", []string{"/a", "/A"}, []string{"/a", "/A"}, "", target.LocationConflicting},
		{"a comma is no second field", []string{"/a,/b"}, []string{"/a,/b"}, "http://example.com/a,/b", 0},
		{"one that is no URL", []string{"http:foo"}, []string{"http:foo"}, "", target.LocationInvalid},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			answer := &egress.Response{URL: parseURL(t, "http://example.com/"), Header: http.Header{"Location": r.fields}}
			if got := answer.Locations(); !slices.Equal(got, r.want) {
				t.Errorf("got %q", got)
			}
			next, err := answer.Destination()
			var location *target.LocationError
			if errors.As(err, &location) != (r.problem != 0) || location != nil && location.Problem != r.problem {
				t.Fatalf("got %v", err)
			}
			if err == nil && next.String() != r.next {
				t.Errorf("leads to %s", next)
			}
		})
	}
}

// TestChainEndsAtConflictingLocations: neither of two destinations is asked.
func TestChainEndsAtConflictingLocations(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records("example.com. 300 IN A 93.184.216.34")
	n.ServeConn("93.184.216.34:80", func(c net.Conn) {
		request := make([]byte, 4096)
		read, _ := c.Read(request)
		first := "/next"
		if strings.HasPrefix(string(request[:read]), "GET /equal ") {
			first = "/two"
		}
		_, _ = io.WriteString(c, "HTTP/1.1 302 Found\r\nLocation: "+first+"\r\nLocation: /two\r\nContent-Length: 0\r\n\r\n")
	})
	client := n.Client(nil)
	for _, row := range []struct {
		path     string
		hops     int
		followed int
	}{{"/", 1, 0}, {"/equal", 2, 1}} {
		chain := client.Follow(t.Context(), egress.Request{URL: parseURL(t, "http://example.com"+row.path)}, 5)
		if chain.End != egress.EndInvalidLocation || len(chain.Hops) != row.hops || chain.Followed != row.followed {
			t.Errorf("%s: %s after %d hops, %d followed", row.path, chain.End, len(chain.Hops), chain.Followed)
		}
		if chain.Err == nil || !strings.Contains(chain.Err.Error(), "browsers stop there") {
			t.Errorf("%s: %v", row.path, chain.Err)
		}
	}
}
