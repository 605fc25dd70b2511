package target

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"diagnostics/gateway/internal/fault"
)

func mustURL(t *testing.T, s string) URL {
	t.Helper()
	u, err := ParseURL(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestResolve(t *testing.T) {
	t.Parallel()
	base := mustURL(t, "https://example.com:8443/a/b/c?q=1#f")
	for location, want := range map[string]string{
		"https://example.org/":        "https://example.org/",
		"http://example.org":          "http://example.org/",
		"HTTP://EXAMPLE.ORG:80/x":     "http://example.org/x",
		"//example.org/x":             "https://example.org/x",
		"//example.org:8443":          "https://example.org:8443/",
		"/":                           "https://example.com:8443/",
		"/x?y":                        "https://example.com:8443/x?y",
		"x":                           "https://example.com:8443/a/b/x",
		"./x":                         "https://example.com:8443/a/b/x",
		"../x":                        "https://example.com:8443/a/x",
		"../../x":                     "https://example.com:8443/x",
		"../../../../x":               "https://example.com:8443/x",
		"..":                          "https://example.com:8443/a/",
		".":                           "https://example.com:8443/a/b/",
		"?x":                          "https://example.com:8443/a/b/c?x",
		"?":                           "https://example.com:8443/a/b/c?",
		"#frag":                       "https://example.com:8443/a/b/c?q=1",
		"x#frag?y":                    "https://example.com:8443/a/b/x",
		"x/../y//z":                   "https://example.com:8443/a/b/y//z",
		".//x":                        "https://example.com:8443/a/b//x",
		" \thttps://example.org/ \t":  "https://example.org/",
		"/a b":                        "https://example.com:8443/a%20b",
		"/ü":                          "https://example.com:8443/%C3%BC",
		"/\xfc":                       "https://example.com:8443/%FC",
		"/%41?50%":                    "https://example.com:8443/%41?50%25",
		"/100%-off":                   "https://example.com:8443/100%25-off",
		"%zz":                         "https://example.com:8443/a/b/%25zz",
		`/a\b`:                        "https://example.com:8443/a/b",
		`x\..\y?\z#\`:                 "https://example.com:8443/a/b/y?%5Cz",
		"/a\tb?c\td":                  "https://example.com:8443/ab?cd",
		"\t\x01 /a\r\nb\x1f ":         "https://example.com:8443/ab",
		"/a\x01b\x7f\u0085":           "https://example.com:8443/a%01b%7F%C2%85",
		"/a?b\x00#\x00":               "https://example.com:8443/a?b%00",
		"http:///www.example.com/":    "http://www.example.com/",
		"https://///example.org/a//b": "https://example.org/a//b",
		`/\www.example.com/`:          "https://www.example.com/",
		`\\\www.example.com\x`:        "https://www.example.com/x",
		"///example.org:8443?x":       "https://example.org:8443/?x",
		`http:\\www.example.com\a?\`:  "http://www.example.com/a?%5C",
		"ht\ntp:/\t/example.org":      "http://example.org/",
		`//example.com\@127.0.0.1/`:   "https://example.com/@127.0.0.1/",
		"/a#x\x01":                    "https://example.com:8443/a",
		"https://münchen.de/":         "https://xn--mnchen-3ya.de/",
		"./a:b":                       "https://example.com:8443/a/b/a:b",
		"/a:b@c":                      "https://example.com:8443/a:b@c",
		"1:b":                         "https://example.com:8443/a/b/1:b",
		"https://[2606:4700::1]:1/":   "https://[2606:4700::1]:1/",
		"http://example.com:22/":      "http://example.com:22/",
		"/?next=http://127.0.0.1/":    "https://example.com:8443/?next=http://127.0.0.1/",
		"https:////example.org/":      "https://example.org/",
		strings.Repeat("a", 16<<10-1): "https://example.com:8443/a/b/" + strings.Repeat("a", 16<<10-1),
	} {
		got, err := base.Resolve(location)
		if want == "" {
			if err == nil {
				t.Errorf("%.80q: %q, want an error", location, got)
			}
			continue
		}
		if err != nil || got.String() != want {
			t.Errorf("%.80q: %.80q, %v; want %.80q", location, got, err, want)
			continue
		}
		checkURL(t, location, got)
	}
}

// TestResolveRFC3986 is the list of examples of RFC 3986 section 5.4, those with a scheme of their own left out.
func TestResolveRFC3986(t *testing.T) {
	t.Parallel()
	base := mustURL(t, "http://a.example.com/b/c/d;p?q")
	for location, want := range map[string]string{
		"g": "/b/c/g", "./g": "/b/c/g", "g/": "/b/c/g/", "/g": "/g", "?y": "/b/c/d;p?y", "g?y": "/b/c/g?y", "#s": "/b/c/d;p?q", "g#s": "/b/c/g", "g?y#s": "/b/c/g?y",
		";x": "/b/c/;x", "g;x": "/b/c/g;x", "g;x?y#s": "/b/c/g;x?y", ".": "/b/c/", "./": "/b/c/", "..": "/b/", "../": "/b/", "../g": "/b/g", "../..": "/", "../../": "/", "../../g": "/g",
		"../../../g": "/g", "../../../../g": "/g", "/./g": "/g", "/../g": "/g", "g.": "/b/c/g.", ".g": "/b/c/.g", "g..": "/b/c/g..", "..g": "/b/c/..g", "./../g": "/b/g", "./g/.": "/b/c/g/",
		"g/./h": "/b/c/g/h", "g/../h": "/b/c/h", "g;x=1/./y": "/b/c/g;x=1/y", "g;x=1/../y": "/b/c/y", "g?y/./x": "/b/c/g?y/./x", "g?y/../x": "/b/c/g?y/../x", "g#s/../x": "/b/c/g",
	} {
		got, err := base.Resolve(location)
		if err != nil || got.String() != "http://a.example.com"+want {
			t.Errorf("%q: %q, %v; want %q", location, got, err, want)
		}
	}
}

func TestResolveTellsProblemsApart(t *testing.T) {
	t.Parallel()
	base := mustURL(t, "https://example.com/a/b?q")
	for problem, locations := range map[LocationProblem][]string{
		LocationMissing: {"", " ", "\t", " \t "},
		LocationInvalid: {
			"http:foo", "http:", "https:/x", "http://", "http:///", "///", "//", "http://example.com:0/", "http://example.com:99999/", "//example.com:0/",
			"http://example.com:80:80/", "//exa\x01mple.com/", "//example.com\x7f/", "//example.com:8\x0b0/", "//exam\u0085ple.com",
			"https://exa mple.com/", "https://a..b/", "https://[::1", "https://[example.com]/", "http://%6cocalhost/", "http://2606:4700::1/",
			"http://" + strings.Repeat("a", 60000) + "/", strings.Repeat("a", 16<<10+1), "http://\xff.com/",
		},
		LocationScheme: {
			"file:///etc/passwd", "ftp://example.com/", "javascript:alert(1)", "data:text/plain,x", "gopher://example.com/", "mailto:a@example.com", "ws://example.com/", "about:blank", "foo:bar",
			"example.com:80", "intent://x",
		},
		LocationCredentials: {
			"http://user:pass@example.com/", "https://user@example.com/", "https://@example.com/", "//user@example.com/", "http://example.com@127.0.0.1/", "http://user:pass@127.0.0.1/", "http://:@example.com/",
		},
		LocationRefused: {
			"http://127.0.0.1/", "//127.0.0.1/", "http://10.0.0.1/", "http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://[64:ff9b::7f00:1]/", "http://localhost/", "//localhost", "http://127.1/",
			"http://0x7f000001/", "http://2130706433/", "http://metadata.google.internal/", "http://１２７.０.０.１/", "http://127。0。0。1/", "http://redis:6379/", `http:\\127.0.0.1\`, `\\127.0.0.1\`, `/\127.0.0.1/`, "///x", "http:///x/", "http:/\t/localhost", `/\localhost`, "//127\t.1",
			"//_a.com/", "//a.b_c/", "http://169.254.169.254/latest/",
		},
	} {
		for _, location := range locations {
			got, err := base.Resolve(location)
			var le *LocationError
			if !errors.As(err, &le) {
				t.Errorf("%.80q: %.80q, %v; want problem %d", location, got, err, problem)
				continue
			}
			if le.Problem != problem {
				t.Errorf("%.80q: problem %d, want %d (%v)", location, le.Problem, problem, err)
			}
			sentence := checkFault(t, location, err, fault.Invalid, fault.Refused)
			if (problem == LocationRefused) != fault.Is(err, fault.Refused) {
				t.Errorf("%.80q: problem %d with %v", location, problem, err)
			}
			if strings.Contains(sentence, "Enter ") {
				t.Errorf("%.80q: advice for someone who did not write it: %q", location, sentence)
			}
		}
	}
}

// TestDialtimeLocations resolves every redirect of testdata/dialtime.json.
func TestDialtimeLocations(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/dialtime.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		ID       string
		Location *string `json:"redirect_location"`
		Expect   string
	}
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	base := mustURL(t, "https://example.com/a/b")
	n := 0
	for _, c := range cases {
		if c.Location == nil {
			continue
		}
		n++
		location := *c.Location
		switch c.ID {
		case "d086": // in words: "https -> http downgrade (report it)"
			location = "http://example.com/"
		case "d087": // in words: "relative ../../x (accept)"
			location = "../../x"
		case "d082": // no header can hold a line break, and browsers leave out one that it does hold
			if next, err := base.Resolve(location); err != nil || next.String() != "https://example.com/X:%20y" {
				t.Errorf("%s: %s, %v", c.ID, next, err)
			}
			continue
		}
		_, err := base.Resolve(location)
		switch c.Expect {
		case "stop-before-connect":
			if err == nil {
				t.Errorf("%s: %.80q is followed", c.ID, location)
			}
		case "accept", "policy: ports": // every port is allowed: the port checker exists
			if err != nil {
				t.Errorf("%s: %.80q: %v", c.ID, location, err)
			}
		case "treated-as-final-or-relative":
			var le *LocationError
			if err != nil && (!errors.As(err, &le) || le.Problem != LocationMissing) {
				t.Errorf("%s: %.80q: %v", c.ID, location, err)
			}
		default:
			t.Errorf("%s: unknown expectation %q", c.ID, c.Expect)
		}
	}
	if n != 22 {
		t.Errorf("%d redirects, want 22", n)
	}
}

// TestBrowsersFollow holds which refusals are of this service alone.
func TestBrowsersFollow(t *testing.T) {
	t.Parallel()
	base := mustURL(t, "https://example.com/a/b?q")
	for location, want := range map[string]bool{
		"http:foo": true, "https:/x": true, `https:\x`: true, "http://%6cocalhost/": true, "http://exa%6dple.com/": true,
		"http://example.com:080/": true, "http://127.1/": true, "http://0x7f000001/": true, `/\localhost/`: true,
		"///10.0.0.1": true, "http://\t10.0.0.1/": true, `\\user@example.com`: true,
		"": false, "http:": false, "http://": false, "http://%zz.com/": false, "http://%00.com/": false, "http://%20.com/": false,
		"http://example.com:99999/": false, "http://example.com:099999/": false, "http://example.com:x/": false,
		"http://exa mple.com/": false, "//10.0.0.1": false, "ftp://example.com/": false, `/\exa mple.com`: false,
	} {
		_, err := base.Resolve(location)
		var le *LocationError
		if !errors.As(err, &le) || le.BrowsersFollow != want {
			t.Errorf("%q: %+v, want browsers to follow %t", location, err, want)
		}
	}
}

func TestRepair(t *testing.T) {
	t.Parallel()
	for location, want := range map[string]string{
		"": "", "/": "/", " /a ": "/a", "https://example.com": "https://example.com", "HTTP://Example.com:80/a?b#c d": "HTTP://Example.com:80/a?b#c d",
		"//münchen.de/": "//münchen.de/", "/a//b": "/a//b", "?": "?", "#": "#", "/%41?a[]=%20": "/%41?a[]=%20", "mailto:a\\b c": "mailto:a\\b c",
		"javascript://x\\y%": "javascript://x\\y%", "http:foo bar": "http:foo bar", "//exa mple.com/": "//exa mple.com/",
	} {
		if got, changed := Repair(location); got != want || changed {
			t.Errorf("%q: %q, changed %t", location, got, changed)
		}
	}
	for location, want := range map[string]string{
		"/ü": "/%C3%BC", "/\xff": "/%FF", "/a b": "/a%20b", "/?50%": "/?50%25", "/100%-off": "/100%25-off", "?a|b": "?a%7Cb",
		"\x01/a": "/a", "/a\r\n": "/a", "/\tb": "/b", "java\tscript:x": "javascript:x", `/\a`: "//a", `a\b`: "a/b", "///a": "//a",
		"https:///a\\b": "https://a/b", "https:\\/a": "https://a", `http:\a`: "http:/a", "//a?\\": "//a?%5C", "/a#\tb": "/a#b",
	} {
		if got, changed := Repair(location); got != want || !changed {
			t.Errorf("%q: %q, changed %t, want %q", location, got, changed, want)
		}
	}
}

func FuzzRepair(f *testing.F) {
	for _, s := range []string{"/x", `\x`, "http:///x", "ht\ttp:\\\\x", "/%", "#\t", "//a b/c d?e f#g h", "http:x", "mailto:x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, location string) {
		once, _ := Repair(location)
		if again, changed := Repair(once); changed || again != strings.Trim(once, blanks) {
			t.Fatalf("%q is %q at first and %q, changed %t again", location, once, again, changed)
		}
		if strings.ContainsAny(once, "\t\r\n") {
			t.Fatalf("%q is %q", location, once)
		}
	})
}

func FuzzResolve(f *testing.F) {
	for _, s := range []string{"/x", "../../x?y#z", "//example.org", "http:foo", `/\x`, "http://u@x.com", "?",
		"http://[::1]/", "%2e%2e/x", "x:y", " "} {
		f.Add(s)
	}
	base, err := ParseURL("https://example.com:8443/a/b/../c?q")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, location string) {
		u, err := base.Resolve(location)
		if err != nil {
			var le *LocationError
			if !errors.As(err, &le) || le.Problem < LocationMissing || le.Problem > LocationRefused {
				t.Fatalf("%q: %v is no LocationError", location, err)
			}
			checkFault(t, location, err, fault.Invalid, fault.Refused)
			return
		}
		checkURL(t, location, u)
		if again, err := base.Resolve(u.String()); err != nil || again != u {
			t.Fatalf("%q is %q at first and %q, %v again", location, u, again, err)
		}
	})
}
