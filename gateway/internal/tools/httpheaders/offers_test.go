package httpheaders

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/text/bound"
	"diagnostics/gateway/internal/tools/internal/toolstest"

	"github.com/google/go-cmp/cmp"
)

// say writes an alternative as "protocol host port age".
func say(list []alternative) string {
	var words []string
	for _, a := range list {
		words = append(words, fmt.Sprintf("%s %s %d %d", a.Protocol, toolstest.Text(a.Host), a.Port, a.MaxAgeSeconds))
	}
	return strings.Join(words, ", ")
}

func TestAlternatives(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]string{
		``:          "",
		`clear`:     "",
		`h3=":443"`: "h3 <null> 443 86400",
		`h3=":443"; ma=93600,h3-29=":443"; ma=93600`:        "h3 <null> 443 93600, h3-29 <null> 443 93600",
		` h2 = "alt.example.com:8443" ; MA="60"; persist=1`: "h2 alt.example.com 8443 60",
		`h3="[2001:db8::1]:443"`:                            "h3 2001:db8::1 443 86400",
		`h3=:443`:                                           "h3 <null> 443 86400",
		`w%3Dx%3Ay=":443"`:                                  "w=x:y <null> 443 86400",
		`h3=":443"; x="a,b;c\",d"; ma=5, h2=":1"`:           "h3 <null> 443 5, h2 <null> 1 86400",
		`h3=":443"; ma=0`:                                   "h3 <null> 443 0",
		`h3=":443"; ma=-1`:                                  "h3 <null> 443 86400",
		`h3=":443"; ma=4294967295`:                          "h3 <null> 443 4294967295",
		`h3=":443"; ma=4294967296`:                          "h3 <null> 443 86400",
		`h3=":1", h3=":0", h3=":65535", h3=":65536", h3=":x", h3="443", h3="", h3, ="", =":1", %zz=":1"`: "h3 <null> 1 86400, h3 <null> 65535 86400",
	} {
		if got := say(alternatives(http.Header{"Alt-Svc": {field}})); got != want {
			t.Errorf("%s: got %s, want %s", field, got, want)
		}
	}
	two := http.Header{"Alt-Svc": {`h3=":443"`, strings.Repeat(`h2=":1",`, 40)}}
	if got := alternatives(two); len(got) != maxAlternatives || got[0].Protocol != "h3" {
		t.Errorf("got %s", say(got))
	}
}

// FuzzAlternatives: whatever a server offers, what is told of it is short and fits its schema.
func FuzzAlternatives(f *testing.F) {
	f.Add(`h3=":443"; ma=86400, h2="alt.example.com:8443"; persist=1`)
	f.Add(`clear`)
	f.Add(`"\`)
	f.Add(`a="\":1";ma="\`)
	f.Fuzz(func(t *testing.T, field string) {
		list := alternatives(http.Header{"Alt-Svc": {field}})
		if list == nil || len(list) > maxAlternatives || bound.Size(list) > maxAlternatives*(4*maxAlternativeText+200) {
			t.Errorf("%d alternatives, %d bytes", len(list), bound.Size(list))
		}
		for _, a := range list {
			if a.Port < 1 || a.Port > 65535 || a.MaxAgeSeconds < 0 {
				t.Errorf("got %+v", a)
			}
		}
	})
}

func TestCompression(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		coding, vary []string
		want         string
		varies       bool
	}{
		{nil, nil, "<null>", false},
		{[]string{"gzip"}, []string{"Accept-Encoding"}, "gzip", true},
		{[]string{" BR "}, []string{"Origin, accept-encoding"}, "br", true},
		{[]string{"gzip, br"}, []string{"Origin", "*"}, "gzip, br", true},
		{[]string{"gzip", "zstd"}, []string{"Accept"}, "gzip, zstd", false},
		{[]string{"identity"}, nil, "<null>", false},
		{[]string{"", ","}, []string{""}, "<null>", false},
	} {
		got := describeCompression(&egress.Response{Header: http.Header{"Content-Encoding": row.coding, "Vary": row.vary}})
		if toolstest.Text(got.Coding) != row.want || got.Varies != row.varies ||
			!cmp.Equal(got.Offered, []string{"gzip", "deflate", "br", "zstd"}) {
			t.Errorf("%q, %q: got %s, %t", row.coding, row.vary, toolstest.Text(got.Coding), got.Varies)
		}
	}
}

// TestCodingsAreOffered: what the answer says of compression is said to a client that takes it.
func TestCodingsAreOffered(t *testing.T) {
	t.Parallel()
	n := toolstest.WebNetwork(t)
	n.Serve(toolstest.WebV4Port80, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Offered", r.Header.Get("Accept-Encoding"))
		w.Header().Set("Content-Encoding", "br")
	}))
	got, err := run(t.Context(), n, "http://example.com/")
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range got.Headers {
		if h.Name == "x-offered" && h.Value != "gzip, deflate, br, zstd" {
			t.Errorf("offered: %s", h.Value)
		}
	}
	if toolstest.Text(got.Compression.Coding) != "br" {
		t.Errorf("got %+v", got.Compression)
	}
}

// hints answers with 103 first.
var hints = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
	w.Header().Add("Link", "</style.css>; rel=preload; as=style")
	w.Header().Add("Link", "</app.js>; rel=preload; as=script")
	w.Header().Set("Set-Cookie", "id=secret")
	w.WriteHeader(http.StatusEarlyHints)
	w.WriteHeader(http.StatusOK)
})

// TestInformational: what comes before the answer is told over either protocol, cookies masked.
func TestInformational(t *testing.T) {
	t.Parallel()
	n := toolstest.WebNetwork(t)
	n.Serve(toolstest.WebV4Port80, hints)
	authority := toolstest.NewAuthority(t)
	n.ServeTLS(toolstest.WebV4+":443", authority.Issue("example.com", time.Now().Add(time.Hour)), hints)
	for url, version := range map[string]string{"http://example.com/": "HTTP/1.1", "https://example.com/": "HTTP/2"} {
		got, err := run(t.Context(), n, url)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Informational) != 1 || got.Status != 200 || got.HTTPVersion != version {
			t.Fatalf("%s: %s %d, %+v", url, got.HTTPVersion, got.Status, got.Informational)
		}
		first := got.Informational[0]
		var lines []string
		for _, h := range first.Headers {
			lines = append(lines, h.Name+": "+h.Value)
		}
		want := []string{"link: </style.css>; rel=preload; as=style", "link: </app.js>; rel=preload; as=script",
			"set-cookie: id=***"}
		if first.Status != 103 || first.StatusText != "Early Hints" || !cmp.Equal(lines, want) {
			t.Errorf("%s: %d %s, %q", url, first.Status, first.StatusText, lines)
		}
	}
}

// TestInformationalIsBounded: of many interim answers the first are told, and that there were more.
func TestInformationalIsBounded(t *testing.T) {
	t.Parallel()
	for sent, told := range map[int]int{0: 0, 1: 1, 16: 16, 17: 16, 100: 16} {
		n := toolstest.WebNetwork(t)
		n.ServeConn(toolstest.WebV4Port80, func(c net.Conn) {
			if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
				_, _ = io.WriteString(c, strings.Repeat("HTTP/1.1 102 \r\nx-fill: "+strings.Repeat("<", 400)+"\r\n\r\n", sent)+
					"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			}
		})
		got, err := run(t.Context(), n, "http://example.com/")
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Informational) != told || got.Truncated != (sent > told) {
			t.Errorf("%d sent: %d told, truncated %t", sent, len(got.Informational), got.Truncated)
		}
		if told > 0 && got.Informational[0].StatusText != "Processing" {
			t.Errorf("got %+v", got.Informational[0])
		}
	}
}

// TestChallengeAndConflict: both are told of the one answer, and neither of a plain one.
func TestChallengeAndConflict(t *testing.T) {
	t.Parallel()
	n := toolstest.WebNetwork(t)
	toolstest.ServeRaw(n, toolstest.WebV4Port80, "HTTP/1.1 302 Found\r\nLocation: /a\r\nLocation: /b\r\n"+
		"cf-mitigated: challenge\r\nContent-Length: 0\r\n\r\n")
	got, err := run(t.Context(), n, "http://example.com/")
	if err != nil || got.RedirectsTo != nil || got.Challenge == nil || got.Challenge.Vendor != "Cloudflare" {
		t.Errorf("got %+v, %v", got, err)
	}
	n = toolstest.WebNetwork(t)
	toolstest.ServeRaw(n, toolstest.WebV4Port80, "HTTP/1.1 302 Found\r\nLocation: /a\r\nLocation: /a\r\n"+
		"server: cloudflare\r\nContent-Length: 0\r\n\r\n")
	got, err = run(t.Context(), n, "http://example.com/")
	if err != nil || toolstest.Text(got.RedirectsTo) != "http://example.com/a" || got.Challenge != nil {
		t.Errorf("got %+v, %v", got, err)
	}
}
