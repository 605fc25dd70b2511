package main

import (
	"encoding/json"
	"html"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"diagnostics/gateway/internal/config"
)

var curlOnPage = regexp.MustCompile(`(?s)<noscript>.*?<pre>(.*?)</pre>.*?</noscript>`)

// shellWords are the words that a POSIX shell makes of a line of plain words and of texts in single quotes. It fails
// for anything else that a shell would read as more than text.
func shellWords(t *testing.T, line string) (words []string) {
	t.Helper()
	word := regexp.MustCompile(`^(?:[A-Za-z0-9-]+|'[^']*'|\\')+`)
	for line != "" {
		found := word.FindString(line)
		if found == "" {
			t.Fatalf("a shell reads more than words in %q", line)
		}
		quotes := regexp.MustCompile(`'([^']*)'|\\(')`)
		words = append(words, quotes.ReplaceAllString(found, "$1$2"))
		line = strings.TrimPrefix(line[len(found):], " ")
	}
	return words
}

// Without JavaScript a page has its own request as a line for a shell, made of what the tool accepts alone.
func TestCurlLine(t *testing.T) {
	t.Parallel()
	site, err := newPages(config.Config{}, registry(), true, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		slug, input, options string
		want                 string // the body, empty for no line
	}{
		"a name":               {"dns-lookup", " example.com ", "", `{"input":"example.com"}`},
		"a quote":              {"http-headers", "https://example.com/it's'", "", `{"input":"https://example.com/it's'"}`},
		"a substitution":       {"http-headers", "https://example.com/$(id)?a=$HOME&b=<i>", "", `{"input":"https://example.com/$(id)?a=$HOME&b=<i>"}`},
		"backquotes":           {"http-headers", "https://example.com/`id`", "", "{\"input\":\"https://example.com/`id`\"}"},
		"double quotes":        {"http-headers", `https://example.com/?a="b"`, "", `{"input":"https://example.com/?a=\"b\""}`},
		"a line break":         {"http-headers", "https://example.com/\nid", "", ""},
		"a line break behind":  {"dns-lookup", "example.com\n; id", "", ""},
		"another direction":    {"http-headers", "https://example.com/\u202eexe", "", ""},
		"an isolate":           {"http-headers", "https://example.com/\u2066a\u2069", "", ""},
		"a line separator":     {"http-headers", "https://example.com/\u2028a", "", ""},
		"a lone byte":          {"http-headers", "https://example.com/\xff", "", ""},
		"a private address":    {"ping", "10.0.0.1", "", ""},
		"no target":            {"ping", "", "", ""},
		"not a name":           {"dns-lookup", "'; rm -rf /", "", ""},
		"options":              {"traceroute", "example.com", "&protocol=tcp&port=443", `{"input":"example.com","options":{"port":443,"protocol":"tcp"}}`},
		"a number that is not": {"traceroute", "example.com", "&protocol=tcp&port=1%3Bid", ""},
		"an option's quote":    {"email-dns-health", "example.com", "&dkimSelector=a'b", ""},
		"an option's newline":  {"email-dns-health", "example.com", "&dkimSelector=a%0Ab", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := httptest.NewRecorder()
			r := httptest.NewRequestWithContext(t.Context(), "GET", "/tools/"+c.slug+"?input="+url.QueryEscape(c.input)+
				c.options, nil)
			if err := site.Serve(w, r); err != nil {
				t.Fatal(err)
			}
			found := curlOnPage.FindStringSubmatch(w.Body.String())
			if c.want == "" {
				if found != nil {
					t.Errorf("the page has %q", found[1])
				}
				return
			}
			if found == nil {
				t.Fatal("the page has no line")
			}
			words := shellWords(t, html.UnescapeString(found[1]))
			want := []string{"curl", "-sS", "-H", "Content-Type: application/json", "-d", c.want,
				"https://tools.example.com/api/tools/" + c.slug}
			if got := strings.Join(words, "\n"); got != strings.Join(want, "\n") || !json.Valid([]byte(words[5])) {
				t.Errorf("%q\nwant %q", words, want)
			}
		})
	}
}

// Options that the tool refuses are in view from the start, since the answer is about them; others are folded away.
func TestRefusedOptionsAreOpen(t *testing.T) {
	t.Parallel()
	site, err := newPages(config.Config{}, registry(), true, nil)
	if err != nil {
		t.Fatal(err)
	}
	for link, open := range map[string]bool{
		"/tools/email-dns-health?input=example.com&dkimSelector=s1":  false,
		"/tools/email-dns-health?input=example.com&dkimSelector=a+b": true,
		"/tools/traceroute?input=example.com&protocol=tcp&port=443":  false,
		"/tools/traceroute?input=example.com&protocol=tcp&port=no":   true,
		"/tools/traceroute?input=10.0.0.1":                           false,
	} {
		w := httptest.NewRecorder()
		if err := site.Serve(w, httptest.NewRequestWithContext(t.Context(), "GET", link, nil)); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(w.Body.String(), `<details class="options" open data-refused>`); got != open {
			t.Errorf("%s: options are open: %t", link, got)
		}
	}
}
