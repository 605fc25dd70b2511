package csp

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var plainPolicy = cmpopts.IgnoreUnexported(Policy{})

func TestParse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want Policy
	}{
		{"", Policy{}},
		{" ; ;\t", Policy{}},
		{"default-src 'self'", Policy{Directives: []Directive{{"default-src", []string{"'self'"}}}}},
		{"  Default-SRC\t'self'\n https://a.example ;sandbox;", Policy{Directives: []Directive{{"default-src", []string{"'self'", "https://a.example"}}, {"sandbox", []string{}}}}},
		{
			"img-src a; IMG-SRC b; img-src c; font-src d; font-src e",
			Policy{Directives: []Directive{{"img-src", []string{"a"}}, {"font-src", []string{"d"}}},
				Duplicates: []string{"img-src", "font-src"}},
		},
		// All of a directive is lost with one character, and its name is free again.
		{"script-src caf\u00e9; script-src 'self'", Policy{Directives: []Directive{{"script-src", []string{"'self'"}}}, NonASCII: 1}},
		// Non-breaking space is no ASCII whitespace.
		{"script-src\u00a0'self'", Policy{NonASCII: 1}},
		{"script-src\v'self'", Policy{Directives: []Directive{{"script-src\v'self'", []string{}}}}},
	} {
		if diff := cmp.Diff(c.want, Parse(c.text), plainPolicy); diff != "" {
			t.Errorf("%q: -want +got\n%s", c.text, diff)
		}
	}
}

func TestParseHeaders(t *testing.T) {
	t.Parallel()
	got := ParseHeaders([]string{"default-src 'none', script-src 'self'", "", ",;, ", "img-src \u00e9"})
	if len(got) != 3 || got[0].Directives[0].Name != "default-src" || got[1].Directives[0].Name != "script-src" ||
		got[2].NonASCII != 1 {
		t.Errorf("%+v", got)
	}
	if got := ParseHeaders(nil); got != nil {
		t.Errorf("nothing gives %+v", got)
	}
}

func TestParseSource(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Source{
		"'none'":                          {Kind: None},
		"'NONE'":                          {Kind: None},
		"'Self'":                          {Kind: Keyword, Keyword: "'self'"},
		"'strict-dynamic'":                {Kind: Keyword, Keyword: "'strict-dynamic'"},
		"'selfish'":                       {},
		"'self":                           {},
		"'":                               {},
		"''":                              {},
		"'nonce-aZ09+/-_'":                {Kind: Nonce, Value: "aZ09+/-_"},
		"'NONCE-Ab=='":                    {Kind: Nonce, Value: "Ab=="},
		"'nonce-'":                        {},
		"'nonce-a==='":                    {},
		"'nonce-a=b'":                     {},
		"'nonce-a b'":                     {},
		"'nonce-a":                        {},
		"'SHA256-abc='":                   {Kind: Hash, Algorithm: "sha256", Value: "abc="},
		"'sha512-abc'":                    {Kind: Hash, Algorithm: "sha512", Value: "abc"},
		"'sha1-abc'":                      {},
		"'sha256-'":                       {},
		"HTTPS:":                          {Kind: Scheme, Scheme: "https"},
		"data:":                           {Kind: Scheme, Scheme: "data"},
		"a+b-c.9:":                        {Kind: Scheme, Scheme: "a+b-c.9"},
		"9a:":                             {},
		":":                               {},
		"*":                               {Kind: Host, Host: "*"},
		"https://*":                       {Kind: Host, Scheme: "https", Host: "*"},
		"*:*":                             {Kind: Host, Host: "*", Port: "*"},
		"*:443":                           {Kind: Host, Host: "*", Port: "443"},
		"*.Example.com":                   {Kind: Host, Host: "*.example.com"},
		"example.com.":                    {Kind: Host, Host: "example.com"},
		"a_b.example.com":                 {Kind: Host, Host: "a_b.example.com"},
		"localhost:8080":                  {Kind: Host, Host: "localhost", Port: "8080"},
		"HTTP://Example.com:80/Path/x.js": {Kind: Host, Scheme: "http", Host: "example.com", Port: "80", Path: "/Path/x.js"},
		"wss://a.example/":                {Kind: Host, Scheme: "wss", Host: "a.example", Path: "/"},
		"127.0.0.1":                       {Kind: Host, Host: "127.0.0.1"},
		"*.*":                             {},
		"a.*.example":                     {},
		"*example.com":                    {},
		"**":                              {},
		"*.":                              {},
		"a..b":                            {},
		".example.com":                    {},
		"":                                {},
		"/path":                           {},
		"https://":                        {},
		"https:///x":                      {},
		"1://a":                           {},
		"a:b":                             {},
		"a:":                              {Kind: Scheme, Scheme: "a"},
		"example.com:":                    {Kind: Scheme, Scheme: "example.com"},
		"a:123456":                        {},
		"a.example/x?y":                   {},
		"a.example/x#y":                   {},
		"[::1]":                           {},
		"https://[2606:4700::1]/":         {},
		"user@example.com":                {},
	} {
		want.Text = text
		if got := ParseSource(text); got != want {
			t.Errorf("%q gives %+v, want %+v", text, got, want)
		}
	}
}

// TestFallbacks holds section 6.8.3: each directive, what speaks for it, and in which order.
func TestFallbacks(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"script-src": "default-src", "script-src-elem": "script-src default-src", "script-src-attr": "script-src default-src",
		"style-src": "default-src", "style-src-elem": "style-src default-src", "style-src-attr": "style-src default-src",
		"worker-src": "child-src script-src default-src", "frame-src": "child-src default-src", "fenced-frame-src": "frame-src child-src default-src",
		"child-src": "default-src", "connect-src": "default-src", "font-src": "default-src", "img-src": "default-src", "manifest-src": "default-src",
		"media-src": "default-src", "object-src": "default-src", "prefetch-src": "default-src",
		"base-uri": "", "form-action": "", "frame-ancestors": "", "default-src": "",
	} {
		chain := append([]string{name}, strings.Fields(want)...)
		for i := range chain {
			var text strings.Builder
			for _, present := range chain[i:] {
				fmt.Fprintf(&text, "%s %s.example; ", present, present)
			}
			d, ok := Parse(text.String()).Effective(name)
			if !ok || d.Name != chain[i] {
				t.Errorf("%s in %q: %s, %t; want %s", name, text.String(), d.Name, ok, chain[i])
			}
		}
		if d, ok := Parse("report-uri /x; img-src-x a").Effective(name); ok {
			t.Errorf("%s is governed by %s", name, d.Name)
		}
	}
}

const nonce = "'nonce-4AEemGb0xJptoIGFP3Nd5w=='"

func TestAllows(t *testing.T) {
	t.Parallel()
	const (
		inline  = "inline"
		handler = "handler"
		style   = "style"
		eval    = "eval"
		wasm    = "wasm"
		https   = "https"
		http    = "http"
		data    = "data"
		plugin  = "plugin"
		base    = "base"
		form    = "form"
	)
	all := []string{inline, handler, style, eval, wasm, https, http, data, plugin, base, form}
	for _, c := range []struct {
		policies string
		allows   []string
	}{
		{"", all},
		{"default-src 'none'", []string{base, form}},
		{"default-src", []string{base, form}},
		{"default-src 'self'; base-uri 'none'; form-action 'self'", nil},
		{"script-src 'self'", []string{style, plugin, base, form}},
		{"default-src 'self' 'unsafe-inline' 'unsafe-eval'", []string{inline, handler, style, eval, wasm, base, form}},
		{"default-src 'self'; script-src 'self' 'unsafe-inline' " + nonce, []string{base, form}},
		{"default-src 'self'; script-src 'unsafe-inline' 'sha256-abc='", []string{base, form}},
		{"default-src 'self'; script-src 'unsafe-inline' 'strict-dynamic'", []string{base, form}},
		{"default-src 'self'; script-src 'strict-dynamic' " + nonce + " https: http: data: *", []string{base, form}},
		{"default-src 'self'; style-src 'unsafe-inline' 'strict-dynamic'", []string{style, base, form}},
		{"default-src 'self'; style-src-attr 'unsafe-inline'", []string{style, base, form}},
		{"default-src 'self'; style-src 'unsafe-inline' " + nonce, []string{base, form}},
		{"default-src 'self'; script-src-attr 'unsafe-inline'", []string{handler, base, form}},
		{"default-src 'self'; script-src 'unsafe-inline'; script-src-elem 'self'; script-src-attr 'none'", []string{base, form}},
		{"default-src 'self'; script-src-elem 'unsafe-inline' https:", []string{inline, https, base, form}},
		{"default-src 'self'; script-src-elem 'unsafe-eval'", []string{base, form}}, // eval asks script-src
		{"default-src 'self'; script-src 'wasm-unsafe-eval'", []string{wasm, base, form}},
		{"default-src 'self'; script-src *", []string{https, http, base, form}},
		{"default-src 'self'; script-src https:", []string{https, base, form}},
		{"default-src 'self'; script-src http:", []string{https, http, base, form}},
		{"default-src 'self'; script-src https://*", []string{https, base, form}},
		{"default-src 'self'; script-src data:", []string{data, base, form}},
		{"default-src 'self'; script-src *.com", []string{https, http, base, form}},
		{"default-src 'self'; script-src *.co.uk", []string{https, http, base, form}},
		{"default-src 'self'; script-src *.github.io", []string{base, form}},
		{"default-src 'self'; script-src *.example.com", []string{base, form}},
		{"default-src 'self'; script-src *.intranet", []string{base, form}},
		{"default-src 'self'; script-src 'none' https:", []string{https, base, form}},
		{"default-src *", []string{https, http, plugin, base, form}},
		{"default-src 'self'; object-src data:", []string{plugin, base, form}},
		{"default-src 'self'; base-uri *; form-action https:", []string{base, form}},
		{"default-src 'self'; base-uri 'self'; form-action http://a.example", nil},
		// Policies are enforced together.
		{"default-src *, default-src 'self'", []string{base, form}},
		{"script-src 'unsafe-inline', script-src 'self', base-uri 'none', form-action 'none', object-src 'none'", []string{style}},
		{"script-src https: 'unsafe-inline', script-src data: 'unsafe-inline'", []string{inline, handler, style, plugin, base, form}},
		{"script-src 'unsafe-eval', script-src 'wasm-unsafe-eval'", []string{wasm, style, plugin, base, form}},
		{"img-src 'none'", all},
	} {
		s := Set(ParseHeaders([]string{c.policies}))
		got := map[string]bool{
			inline: s.AllowsInlineScripts(), handler: s.AllowsInlineHandlers(), style: s.AllowsInlineStyles(),
			eval: s.AllowsEval(),
			wasm: s.AllowsWASM(), https: s.AllowsAnyScript("https"), http: s.AllowsAnyScript("http"),
			data:   s.AllowsAnyScript("data"),
			plugin: s.AllowsAnyPlugin(), base: s.AllowsAnyBase(), form: s.AllowsAnyForm(),
		}
		for _, what := range all {
			want := false
			for _, allowed := range c.allows {
				want = want || allowed == what
			}
			if got[what] != want {
				t.Errorf("%q: %s allowed: %t", c.policies, what, got[what])
			}
		}
	}
}

func TestFraming(t *testing.T) {
	t.Parallel()
	for policies, want := range map[string]Framing{
		"":                                               FramingUnset,
		"default-src 'none'":                             FramingUnset, // no fallback
		"frame-ancestors":                                FramingNone,
		"frame-ancestors 'none'":                         FramingNone,
		"frame-ancestors 'nonsense'":                     FramingNone,
		"frame-ancestors 'self'":                         FramingSelf,
		"frame-ancestors 'none' 'self'":                  FramingSelf,
		"frame-ancestors 'self' a.example":               FramingHosts,
		"frame-ancestors *.example.com":                  FramingHosts,
		"frame-ancestors chrome-extension:":              FramingHosts,
		"frame-ancestors *":                              FramingAnyone,
		"frame-ancestors 'self' https:":                  FramingAnyone,
		"frame-ancestors http:":                          FramingAnyone,
		"frame-ancestors https://*":                      FramingAnyone,
		"frame-ancestors *.co.uk":                        FramingAnyone,
		"frame-ancestors *, frame-ancestors x.y":         FramingHosts,
		"frame-ancestors *, default-src 'self'":          FramingAnyone,
		"frame-ancestors 'self', frame-ancestors 'none'": FramingNone,
	} {
		if got := Set(ParseHeaders([]string{policies})).Framing(); got != want {
			t.Errorf("%q: %d, want %d", policies, got, want)
		}
	}
}

func codes(issues []Issue) string {
	var list []string
	for _, issue := range issues {
		list = append(list, strings.TrimPrefix(issue.Code, "CSP_"))
	}
	return strings.Join(list, ", ")
}

func TestAssess(t *testing.T) {
	t.Parallel()
	const rest = "; object-src 'none'; base-uri 'none'; form-action 'none'"
	for policies, want := range map[string]string{
		"":                                  "",
		"default-src 'none'" + rest:         "",
		"img-src 'none'":                    "NO_SCRIPT_POLICY, FORM_ACTION",
		"script-src-attr 'none'":            "SCRIPT_ELEMENTS_OPEN, FORM_ACTION",
		"script-src 'unsafe-inline'" + rest: "INLINE_SCRIPTS",
		"script-src-elem 'self'" + rest:     "INLINE_HANDLERS",
		"script-src 'self'; script-src-attr 'unsafe-inline'" + rest: "INLINE_HANDLERS",
		"script-src *" + rest:                                              "ANY_SCRIPT_SOURCE",
		"script-src data: filesystem:" + rest:                              "ANY_SCRIPT_SOURCE",
		"script-src blob: 'self'" + rest:                                   "BLOB_SCRIPTS",
		"script-src http://cdn.example.com https://cdn.example.com" + rest: "PLAIN_SCRIPT_HOST",
		"script-src cdn.jsdelivr.net" + rest:                               "BYPASS_HOST",
		"script-src *.googleapis.com" + rest:                               "BYPASS_HOST",
		"script-src *.github.io" + rest:                                    "BYPASS_HOST",
		"script-src *.github.io" + rest + ", script-src 'self'":            "",
		"script-src *.com" + rest:                                          "ANY_SCRIPT_SOURCE",
		"script-src https://www.google.com/recaptcha/" + rest:              "",
		"script-src https://www.google.com:8443" + rest:                    "",
		"script-src cdn.jsdelivr.net 'strict-dynamic' " + nonce + rest:     "STRICT_DYNAMIC_FALLBACKS",
		"script-src cdn.jsdelivr.net" + rest + ", script-src 'self'":       "",
		"script-src cdn.jsdelivr.net" + rest + ", script-src https:":       "BYPASS_HOST",
		"script-src 'strict-dynamic' 'self'" + rest:                        "STRICT_DYNAMIC_ALONE",
		"script-src 'self' 'unsafe-eval'" + rest:                           "EVAL",
		"script-src 'self' 'wasm-unsafe-eval'" + rest:                      "WASM",
		"script-src 'self' 'unsafe-hashes' 'sha256-x'" + rest:              "UNSAFE_HASHES",
		"script-src 'self'; object-src 'none'; form-action 'none'":         "BASE_URI",
		"script-src " + nonce + "; object-src 'none'; form-action 'none'":  "BASE_URI_WITH_NONCE",
		"script-src 'self'; base-uri 'none'; form-action 'none'":           "PLUGINS",
		"script-src 'self'; base-uri 'none'; object-src 'none'":            "FORM_ACTION",
		"default-src 'self'; style-src 'unsafe-inline'" + rest:             "INLINE_STYLES",
		"sandbox": "SANDBOX, FORM_ACTION",
		"script-src 'unsafe-inline'; sandbox Allow-Forms":               "SANDBOX, FORM_ACTION",
		"script-src 'unsafe-inline'; sandbox Allow-Scripts" + rest:      "INLINE_SCRIPTS",
		"script-src 'unsafe-inline'" + rest + ", sandbox":               "SANDBOX",
		"default-src 'self'; upgrade-insecure-requests" + rest:          "UPGRADE",
		"default-src 'self'; require-trusted-types-for 'script'" + rest: "TRUSTED_TYPES",
	} {
		if got := codes(Set(ParseHeaders([]string{policies})).Assess()); got != want {
			t.Errorf("%q: %s; want %s", policies, got, want)
		}
	}
}

func TestLint(t *testing.T) {
	t.Parallel()
	digest := strings.Repeat("A", 43) + "="
	for policy, want := range map[string]string{
		"default-src 'self'":                                   "",
		"default-src 'self'; default-src *":                    "DUPLICATE_DIRECTIVE",
		"script-src \u00e9":                                    "NOT_ASCII",
		"skript-src 'self'":                                    "UNKNOWN_DIRECTIVE",
		"script-src: 'self'":                                   "DIRECTIVE_WITH_COLON",
		"https://a.example":                                    "SOURCE_AS_DIRECTIVE",
		"plugin-types application/pdf; referrer origin":        "RETIRED_DIRECTIVE, RETIRED_DIRECTIVE",
		"report-uri /x":                                        "REPORT_URI",
		"report-to a":                                          "",
		"report-to a b":                                        "REPORT_TO_NAMES",
		"script-src self":                                      "UNQUOTED_KEYWORD",
		"script-src none unsafe-inline":                        "UNQUOTED_KEYWORD, UNQUOTED_KEYWORD",
		"script-src nonce-abc sha256-abc":                      "UNQUOTED_KEYWORD, UNQUOTED_KEYWORD",
		"script-src https://self":                              "",
		"script-src 'self' object-src 'none'":                  "MISSING_SEMICOLON, NONE_WITH_OTHERS",
		"script-src 'none' 'self'":                             "NONE_WITH_OTHERS",
		"script-src":                                           "EMPTY_LIST",
		"script-src 'selfish'":                                 "UNKNOWN_KEYWORD",
		"script-src 'nonce-a":                                  "MALFORMED_NONCE",
		"script-src 'sha256-'":                                 "MALFORMED_HASH",
		"script-src https://[::1]":                             "IPV6_SOURCE",
		"script-src a..b a..b":                                 "INVALID_SOURCE", // one remark once
		"script-src 'nonce-" + strings.Repeat("a1Z", 7) + "'":  "SHORT_NONCE",    // 21 characters
		"script-src 'nonce-" + strings.Repeat("a1Z", 7) + "x'": "",
		"script-src 'nonce-" + strings.Repeat("a1", 15) + "b'": "SHORT_NONCE", // 31 hexadecimal digits
		"script-src 'nonce-" + strings.Repeat("a1", 16) + "'":  "",
		"script-src 'sha256-" + digest + "'":                   "",
		"script-src 'sha384-" + digest + "'":                   "BAD_HASH",
		"script-src 'sha256-abc'":                              "BAD_HASH",
		"script-src 'unsafe-inline' " + nonce:                  "INLINE_IGNORED",
		"img-src 'unsafe-inline' 'self'":                       "MISPLACED_SOURCE",
		"frame-ancestors " + nonce:                             "MISPLACED_SOURCE",
		"sandbox":                                              "",
		"sandbox allow-scripts Allow-Forms":                    "",
		"sandbox allow-everything":                             "UNKNOWN_SANDBOX_TOKEN",
		"upgrade-insecure-requests":                            "",
		"upgrade-insecure-requests script-src 'self'":          "UNEXPECTED_VALUE",
		"require-trusted-types-for 'script'; trusted-types a":  "",
		"require-trusted-types-for script":                     "TRUSTED_TYPES_SINK",
	} {
		if got := codes(Parse(policy).Lint()); got != want {
			t.Errorf("%q: %s; want %s", policy, got, want)
		}
	}
}

// TestHostileHeaderIsCheap: a header as long as any may be takes no time worth a word. The bound is on the clock, since
// processor time is the very thing that such a header attacks; quadratic work would take minutes.
func TestHostileHeaderIsCheap(t *testing.T) {
	t.Parallel()
	const most, bound = 64 << 10, time.Second // under the race detector, beside other tests
	for _, part := range []string{"a b,", "a;", "*.github.io ", "'nonce-", "script-src *.a%d.github.io,", "x%d ", "d%d;",
		"d%d e;d%d;", ";", ","} {
		var header strings.Builder
		header.WriteString("script-src *.github.io ")
		for i := 0; header.Len() < most; i++ {
			header.WriteString(strings.ReplaceAll(part, "%d", fmt.Sprint(i)))
		}
		if took := fastestOf(3, func() { judge(header.String()) }); took > 5*bound {
			t.Errorf("%q repeated took %v", part, took)
		}
	}
}

func judge(header string) {
	set := Set(ParseHeaders([]string{header}))
	set.Assess()
	set.Framing()
	for _, p := range set {
		p.Lint()
	}
}

// fastestOf is how long the fastest of some tries took: the others may have waited for the processor.
func fastestOf(tries int, try func()) time.Duration {
	fastest := time.Duration(math.MaxInt64)
	for range tries {
		began := time.Now()
		try()
		fastest = min(fastest, time.Since(began))
	}
	return fastest
}

func TestShown(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a": "a", "": "", "\x1b[31m\u202e": "\uFFFD[31m\uFFFD", strings.Repeat("a", 60): strings.Repeat("a", 60),
		strings.Repeat("a", 61): strings.Repeat("a", 60) + "…",
	} {
		if got := Shown(in); got != want {
			t.Errorf("%q gives %s, want %s", in, got, want)
		}
	}
}

// FuzzParse holds that what is enforced together never allows more than one of its parts, that parsing what was parsed
// changes nothing, and that no argument repeats raw what a stranger wrote.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"default-src 'self'; script-src " + nonce + " 'strict-dynamic' https: 'unsafe-inline'", "script-src *.com:*/x https://[::1] 'sha256-abc=' 'nonce-'",
		"frame-ancestors *, default-src 'none'", "sandbox allow-scripts;;, ,x:y", "img-src \xff", "script-src a..b;script-src 'none' self",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, header string) {
		policies := ParseHeaders([]string{header})
		set := Set(policies)
		for _, p := range policies {
			alone := Set{p}
			if set.AllowsInlineScripts() && !alone.AllowsInlineScripts() || set.AllowsAnyScript("https") &&
				!alone.AllowsAnyScript("https") ||
				set.AllowsEval() && !alone.AllowsEval() || set.Framing() < alone.Framing() {
				t.Fatalf("%q allows together what a part forbids", header)
			}
			for _, issue := range append(p.Lint(), alone.Assess()...) {
				shown := fmt.Sprint(issue.Args)
				if issue.Code == "" || strings.ContainsFunc(shown, func(r rune) bool { return r < ' ' }) || len(shown) > 500 {
					t.Fatalf("%q: %+v", header, issue)
				}
			}
			var text []string
			for _, d := range p.Directives {
				text = append(text, strings.Join(append([]string{d.Name}, d.Values...), " "))
			}
			again := Parse(strings.Join(text, ";"))
			if diff := cmp.Diff(p.Directives, again.Directives); diff != "" {
				t.Fatalf("%q: %s", header, diff)
			}
		}
	})
}
