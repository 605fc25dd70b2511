package httpapi

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestParseOrigin(t *testing.T) {
	t.Parallel()
	good := map[string]string{
		"https://tools.example.com":      "https://tools.example.com",
		"https://tools.example.com:443":  "https://tools.example.com",
		"HTTPS://Tools.Example.COM:0443": "https://tools.example.com",
		"http://example.com:80":          "http://example.com",
		"http://example.com:8080":        "http://example.com:8080",
		"https://example.com:80":         "https://example.com:80",
		"http://example.com:65535":       "http://example.com:65535",
		"http://[2001:DB8::1]:8080":      "http://[2001:db8::1]:8080",
		"http://[::1]":                   "http://[::1]",
		"http://localhost:1":             "http://localhost:1",
	}
	for in, want := range good {
		if got, err := ParseOrigin(in); err != nil || got.String() != want {
			t.Errorf("%s: %v, %v; want %s", in, got, err, want)
		}
	}
	bad := []string{"", "null", "https://", "https://example.com/", "https://example.com/path", "https://example.com?x",
		"https://example.com#x",
		"https://user@example.com", "ftp://example.com", "example.com", "//example.com", "https:example.com", "https://example.com:0",
		"https://example.com:65536", "https://example.com:http", "https://example.com:-1", "https://a b", "https://ex%61mple.com", "https://bücher.example",
		"https://example.com\n", " https://example.com", "https://::1", "https://:443", "https://[::1", "file://", "https://example.com, https://example.com",
		"chrome-extension://abcdef"}
	for _, in := range bad {
		if got, err := ParseOrigin(in); err == nil {
			t.Errorf("%q: taken as %v", in, got)
		}
	}
}

func TestOwnOrigin(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, host string
		headers    []string
		public     string
		tls        bool
		trusted    bool
		want       bool
	}{
		{name: "no Origin", want: true},
		{name: "same host, http", headers: []string{"Origin: http://tools.example.com"}, want: true},
		{name: "same host, https: the scheme is not known here", headers: []string{"Origin: https://tools.example.com"}, want: true},
		{name: "host in other case", headers: []string{"Origin: https://TOOLS.example.com"}, want: true},
		{name: "the Origin's own default port, http", host: "tools.example.com:80", headers: []string{"Origin: http://tools.example.com"}, want: true},
		{name: "the Origin's own default port, https", host: "tools.example.com:443", headers: []string{"Origin: https://tools.example.com"}, want: true},
		{name: "the other scheme's default port", host: "tools.example.com:443", headers: []string{"Origin: http://tools.example.com"}},
		{name: "explicit default port in the Origin", headers: []string{"Origin: https://tools.example.com:443"}, want: true},
		{name: "same port", host: "tools.example.com:8080", headers: []string{"Origin: http://tools.example.com:8080"}, want: true},
		{name: "other port", host: "tools.example.com:8080", headers: []string{"Origin: http://tools.example.com:8081"}},
		{name: "no port against one", host: "tools.example.com:8080", headers: []string{"Origin: http://tools.example.com"}},
		{name: "IPv6", host: "[2001:db8::1]:8080", headers: []string{"Origin: http://[2001:db8::1]:8080"}, want: true},
		{name: "other host", headers: []string{"Origin: https://evil.example"}},
		{name: "subdomain", headers: []string{"Origin: https://a.tools.example.com"}},
		{name: "parent", headers: []string{"Origin: https://example.com"}},
		{name: "suffix", headers: []string{"Origin: https://eviltools.example.com"}},
		{name: "null", headers: []string{"Origin: null"}},
		{name: "empty", headers: []string{"Origin:"}},
		{name: "twice the same", headers: []string{"Origin: http://tools.example.com", "Origin: http://tools.example.com"}},
		{name: "other scheme", headers: []string{"Origin: ftp://tools.example.com"}},
		{name: "user information", headers: []string{"Origin: http://tools.example.com@evil.example"}},
		{name: "TLS and https", tls: true, headers: []string{"Origin: https://tools.example.com"}, want: true},
		{name: "TLS and http", tls: true, headers: []string{"Origin: http://tools.example.com"}},
		{name: "trusted proto https", trusted: true, headers: []string{"X-Forwarded-Proto: https", "Origin: https://tools.example.com"}, want: true},
		{name: "trusted proto https, Origin http", trusted: true, headers: []string{"X-Forwarded-Proto: HTTPS", "Origin: http://tools.example.com"}},
		{name: "trusted proto http, Origin https", trusted: true, headers: []string{"X-Forwarded-Proto: http", "Origin: https://tools.example.com"}},
		{name: "first of several protos", trusted: true, headers: []string{"X-Forwarded-Proto: https, http", "Origin: http://tools.example.com"}},
		{name: "first of several lines of protos", trusted: true, headers: []string{"X-Forwarded-Proto: https", "X-Forwarded-Proto: http", "Origin: http://tools.example.com"}},
		{name: "a forged proto lets no other origin in", trusted: true, headers: []string{"X-Forwarded-Proto: http, https", "Origin: http://evil.example"}},
		{name: "nor an unknown one", trusted: true, headers: []string{"X-Forwarded-Proto: , https", "Origin: https://evil.example"}},
		{name: "nor does a forged proto beside a public origin", trusted: true, public: "https://tools.example.com", headers: []string{"X-Forwarded-Proto: http", "Origin: http://tools.example.com"}},
		{name: "a proto that is none is not known", trusted: true, headers: []string{"X-Forwarded-Proto: gopher", "Origin: http://tools.example.com"}, want: true},
		{name: "untrusted proto is ignored", headers: []string{"X-Forwarded-Proto: https", "Origin: http://tools.example.com"}, want: true},
		{name: "X-Forwarded-Host is always ignored", trusted: true, headers: []string{"X-Forwarded-Host: evil.example", "Origin: https://evil.example"}},
		{name: "public origin", host: "gateway:8080", public: "https://tools.example.com", headers: []string{"Origin: https://tools.example.com"}, want: true},
		{name: "public origin, default port", host: "gateway:8080", public: "https://tools.example.com", headers: []string{"Origin: https://tools.example.com:443"}, want: true},
		{name: "public origin, other scheme", host: "gateway:8080", public: "https://tools.example.com", headers: []string{"Origin: http://tools.example.com"}},
		{name: "public origin alone, not the Host", host: "gateway:8080", public: "https://tools.example.com", headers: []string{"Origin: http://gateway:8080"}},
		{name: "public origin, null", public: "https://tools.example.com", headers: []string{"Origin: null"}},
		{name: "cross-site without Origin", headers: []string{"Sec-Fetch-Site: cross-site"}},
		{name: "cross-site in capitals", headers: []string{"Sec-Fetch-Site: Cross-Site"}},
		{name: "cross-site beside an own Origin", headers: []string{"Sec-Fetch-Site: cross-site", "Origin: http://tools.example.com"}},
		{name: "cross-site among several", headers: []string{"Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: cross-site"}},
		{name: "same-origin", headers: []string{"Sec-Fetch-Site: same-origin", "Origin: http://tools.example.com"}, want: true},
		{name: "same-site", headers: []string{"Sec-Fetch-Site: same-site"}, want: true},
		{name: "typed by the person", headers: []string{"Sec-Fetch-Site: none"}, want: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &Server{}
			if tt.public != "" {
				if err := s.config.PublicOrigin.UnmarshalText([]byte(tt.public)); err != nil {
					t.Fatal(err)
				}
			}
			r := httptest.NewRequest(http.MethodPost, "/api/tools/echo", nil)
			r.Host = "tools.example.com"
			if tt.host != "" {
				r.Host = tt.host
			}
			if tt.tls {
				r.TLS = &tls.ConnectionState{}
			}
			for _, h := range tt.headers {
				name, value, _ := strings.Cut(h, ":")
				r.Header.Add(name, strings.TrimSpace(value))
			}
			if got := s.ownOrigin(r, tt.trusted); got != tt.want {
				t.Errorf("own: %v, want %v", got, tt.want)
			}
		})
	}
}

// The rule holds on every route of the API but its description.
func TestOriginOnEveryRoute(t *testing.T) {
	t.Parallel()
	e := newEdge(t, nil)
	own := "Origin: http://" + e.addr
	for _, bad := range []string{foreign, "Origin: null", "Sec-Fetch-Site: cross-site"} {
		e.post(t, "echo", `{"input":"a"}`, bad).envelope(t, 403)
		e.send(t, "GET", "/api/connection/ping", "", bad).envelope(t, 403)
		e.send(t, "HEAD", "/api/connection/packet-loss", "", bad)
		if a := e.send(t, "GET", "/api/openapi.yaml", "", bad); a.StatusCode != http.StatusOK {
			t.Errorf("the description: %d", a.StatusCode)
		}
	}
	e.post(t, "echo", `{"input":"a"}`, own).envelope(t, 200)
	e.send(t, "GET", "/api/connection/ping", "", own).envelope(t, 200)
	a := e.post(t, "echo", `{"input":"a"}`, own)
	for name := range a.Header {
		if strings.HasPrefix(name, "Access-Control-") {
			t.Errorf("there is no CORS, but %s", name)
		}
	}
}

func FuzzParseOrigin(f *testing.F) {
	for _, s := range []string{"https://example.com", "http://[::1]:80", "null", "https://a@b", "http://a:b:c",
		"https://[::1%25x]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		o, err := ParseOrigin(s)
		if err != nil {
			return
		}
		again, err := ParseOrigin(o.String())
		if err != nil || again != o {
			t.Errorf("%q is %+v, and that is %+v, %v", s, o, again, err)
		}
		if strings.ContainsAny(o.String(), " \r\n\t@?#") || strings.Count(o.String(), "/") != 2 {
			t.Errorf("%q gives %q", s, o)
		}
	})
}
