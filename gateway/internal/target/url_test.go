package target

import (
	"net/url"
	"strings"
	"testing"

	"diagnostics/gateway/internal/fault"
)

func TestParseURL(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"https://example.com":                      "https://example.com/",
		"HTTPS://EXAMPLE.com./":                    "https://example.com/",
		"https://example.com:443/":                 "https://example.com/",
		"http://example.com:80/":                   "http://example.com/",
		"http://example.com:443/":                  "http://example.com:443/",
		"https://example.com:80":                   "https://example.com:80/",
		"https://example.com:/":                    "https://example.com/",
		"https://example.com:65535/":               "https://example.com:65535/",
		"https://example.com:1/":                   "https://example.com:1/",
		"https://münchen.de/straße?q=ü#ö":          "https://xn--mnchen-3ya.de/stra%C3%9Fe?q=%C3%BC",
		"https://[2606:4700:4700:0::1111]/":        "https://[2606:4700:4700::1111]/",
		"https://[2606:4700:4700::1111]:8443/x":    "https://[2606:4700:4700::1111]:8443/x",
		"https://1.1.1.1":                          "https://1.1.1.1/",
		"https://example.com?x=1":                  "https://example.com/?x=1",
		"https://example.com#frag":                 "https://example.com/",
		"https://example.com/?":                    "https://example.com/?",
		"https://example.com/#?x":                  "https://example.com/",
		"https://example.com/a@b:c;d=e":            "https://example.com/a@b:c;d=e",
		"https://example.com/http://127.0.0.1/":    "https://example.com/http://127.0.0.1/",
		"https://example.com/?u=http://a@[::1]/":   "https://example.com/?u=http://a@[::1]/",
		"https://example.com/a b?c d":              "https://example.com/a%20b?c%20d",
		"https://example.com/%41%c3%9f%2F":         "https://example.com/%41%c3%9f%2F",
		`https://example.com/<">^{|}` + "`":        "https://example.com/%3C%22%3E%5E%7B%7C%7D%60",
		`https://example.com/?<">^{|}\` + "`'[]":   "https://example.com/?%3C%22%3E%5E%7B%7C%7D%5C%60'[]",
		"https://example.com/?discount=50%&x=%zz%": "https://example.com/?discount=50%25&x=%25zz%25",
		"https://example.com/a/./b/../c":           "https://example.com/a/c",
		"https://example.com/a/%2e%2E/c":           "https://example.com/c",
		"https://example.com/../../etc":            "https://example.com/etc",
		"https://example.com/a/..":                 "https://example.com/",
		"https://example.com/a/.":                  "https://example.com/a/",
		"https://example.com//a//b/":               "https://example.com//a//b/",
		"https://example.com/...":                  "https://example.com/...",
		"https://example.com/?/../x":               "https://example.com/?/../x",
		"https://example.com/\xff?\xfe":            "https://example.com/%FF?%FE",
		"https://localhost.example.com/":           "https://localhost.example.com/",
		"https://127.0.0.1.example.com/":           "https://127.0.0.1.example.com/",
		"http://julia_b.example.com/":              "http://julia_b.example.com/",
	} {
		u, err := ParseURL(typed)
		if err != nil || u.String() != want {
			t.Errorf("%q: %q, %v; want %q", typed, u, err, want)
			continue
		}
		checkURL(t, typed, u)
	}
}

func TestURLParts(t *testing.T) {
	t.Parallel()
	u, err := ParseURL("HTTP://[2606:4700:4700::1111]:8080/a?b#c")
	if err != nil {
		t.Fatal(err)
	}
	if u.Scheme() != "http" || u.Port() != 8080 || u.RequestURI() != "/a?b" ||
		u.Host().String() != "2606:4700:4700::1111" || u.LimitKey() != "2606:4700:4700::1111" {
		t.Errorf("parts of %s: %q %d %q %q %q", u, u.Scheme(), u.Port(), u.RequestURI(), u.Host(), u.LimitKey())
	}
	for typed, want := range map[string]uint16{"http://example.com/": 80, "https://example.com/": 443} {
		if u, err := ParseURL(typed); err != nil || u.Port() != want {
			t.Errorf("%s: port %d, %v; want %d", typed, u.Port(), err, want)
		}
	}
}

func TestParseURLRefuses(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"", "example.com", "www.example.com/x", "//example.com/", "/x", "://example.com/", "ftp://example.com/", "file:///etc/passwd", "javascript:alert(1)",
		"data:text/plain,x", "mailto:a@example.com", "ws://example.com/", "view-source:http://example.com/", "localhost:8080", "1http://example.com/", "ht_tp://example.com/",
		"http:", "http:/", "http:example.com", "http:/example.com", "http:foo", "http://", "https://", "http:///x", "http:///127.0.0.1/", "http://#x", "http://?x", "http://:80/",
		"http://@example.com/", "http://user@example.com/", "http://u:p@example.com/", "http://:@example.com/", "http://example.com@127.0.0.1/", "http://a%40b@example.com/",
		`http:\\example.com\`, `http:/\example.com/`, `http://example.com\@127.0.0.1/`, `http://example.com\.127.0.0.1/`, `http://exa\mple.com/`, `\\127.0.0.1\share`,
		`http://example.com/\..\x`,
		"http://example.com:0/", "http://example.com:65536/", "http://example.com:99999/", "http://example.com:-1/", "http://example.com:+80/", "http://example.com:8 0/",
		"http://example.com:0x50/", "http://example.com:080/", "http://example.com:80:80/", "http://example.com:８０/",
		"http://[2606:4700:4700::1111]80/", "http://2606:4700:4700::1111/", "http://[2606:4700:4700::1111/", "http://2606:4700:4700::1111]/", "http://[example.com]/", "http://[8.8.8.8]/",
		"http://example.com[::1]/", "http://[[2606:4700::1]]/", "http://[]/", "http://[v1.fe80::a]/",
		"http://%6c%6f%63alhost/", "http://m%C3%BCnchen.de/", "http://127.0.0.1%00.example.com/", "http://[fe80::1%25eth0]/",
		"http:// example.com/", "http://exa mple.com/", "http://example..com/", "http://.example.com/", "http://example.com,127.0.0.1/", "http://*.example.com/",
		"http://example.com/\r\nX: y", "http://example.com/\x00", "ht\ntp://example.com/", "http://exa\tmple.com/", "http://example.com/\x7f", "http://example.com/\u0085", "http://example.com/#\n",
		"http://example.com/%", "http://example.com/%z", "http://example.com/%zz", "http://example.com/%4", "http://example.com/a%4gb",
		"http://\xff.com/", "http://" + strings.Repeat("a", 64) + ".com/",
	} {
		_, err := ParseURL(s)
		checkFault(t, s, err, fault.Invalid)
	}
	for _, s := range []string{
		"http://127.0.0.1/", "http://127.1/", "http://0x7f.1/", "http://2130706433/", "http://0/", "http://localhost/", "http://LOCALHOST./", "http://redis/", "http://[::1]/",
		"http://[::ffff:8.8.8.8]/", "http://169.254.169.254/latest/", "http://metadata.google.internal/", "http://１２７.０.０.１/", "http://127。0。0。1/", "http://ⓛocalhost/",
		"http://[fe80::1%eth0]/", "http://10.0.0.1:8080/",
	} {
		_, err := ParseURL(s)
		if strings.Contains(s, "%") { // a zone is percent-encoding's sign in a URL
			checkFault(t, s, err, fault.Invalid)
			continue
		}
		checkFault(t, s, err, fault.Refused)
	}
}

// checkURL holds the promises of a URL that a parser gave, against our own parser and against net/url, which is what
// sends it.
func checkURL(t *testing.T, input string, u URL) {
	t.Helper()
	checkHost(t, input, u.Host())
	checkPlain(t, input, u.String())
	if again, err := ParseURL(u.String()); err != nil || again != u {
		t.Fatalf("%q is %q at first and %q, %v again", input, u, again, err)
	}
	std, err := url.Parse(u.String())
	if err != nil {
		t.Fatalf("%q gives %q, which net/url cannot read: %v", input, u, err)
	}
	if std.Hostname() != u.Host().String() || std.User != nil || std.Fragment != "" || std.Scheme != u.Scheme() {
		t.Fatalf("%q gives %q, which net/url reads as host %q", input, u, std.Hostname())
	}
	if std.RequestURI() != u.RequestURI() {
		t.Fatalf("%q gives the request target %q, net/url would send %q", input, u.RequestURI(), std.RequestURI())
	}
	if !strings.HasPrefix(u.RequestURI(), "/") || strings.Contains(u.RequestURI(), "#") || u.Port() == 0 {
		t.Fatalf("%q gives %q", input, u)
	}
}

func FuzzParseURL(f *testing.F) {
	for _, s := range []string{
		"https://example.com/", "http://[2606:4700::1]:8080/a/../b?c#d", "http://u@example.com", `http:\\x`, "http://127.1/", "https://example.com/%2e%2e/%zz?%", "https://münchen.de/ü?ü",
		"https://example.com//..//./%2E%2e/;a=b?[]'|", "http://example.com:080",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := ParseURL(s)
		if err != nil {
			checkFault(t, s, err, fault.Invalid, fault.Refused)
			return
		}
		checkURL(t, s, u)
	})
}
