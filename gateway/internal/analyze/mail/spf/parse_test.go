package spf

import (
	"net/netip"
	"strings"
	"testing"
)

// TestSyntax tries both sides of the grammar of RFC 7208 section 12.
func TestSyntax(t *testing.T) {
	t.Parallel()
	for field, kind := range map[string]Kind{
		"all": All, "-ALL": All, "include:a.b": Include, "include:_spf.a-b.c1": Include, "include:%{d}": Include, "include:a.%{i}": Include, "include:a.b.": Include, "include:%%": Include,
		"a": A, "A": A, "+a": A, "a/0": A, "a/32": A, "a//0": A, "a//128": A, "a/24//64": A, "a:b.c": A, "a:b.c/24//64": A, "a:%{d/}.b.c/24": A, "a:1.1-2": A, "a:x!$&'.b": A, "a:foo:bar/baz.example.com": A, "a:foo:bar/baz.b/24//64": A, "a:%{d}/24": A, "a:b.%{d/}//64": A, "a:b.c./24": A, "a:b..c": A, "include:a/b.c": Include,
		"mx": MX, "?mx:b.c/8": MX, "ptr": PTR, "ptr:b.c": PTR, "exists:%{ir}.%{l1r+-}._spf.%{d3}": Exists, "exists:%{S}%-%_.b.c": Exists,
		"ip4:1.2.3.4": IP4, "ip4:1.2.3.4/0": IP4, "IP4:1.2.3.4/32": IP4, "ip6:::": IP6, "ip6:::1/128": IP6, "ip6:::ffff:1.2.3.4": IP6,
		"redirect=a.b": Redirect, "Redirect=%{d}": Redirect, "exp=a.b": Exp, "x=": UnknownModifier, "x-1_.=%{c}:/": UnknownModifier, "include=a.b": UnknownModifier,
	} {
		if term := parseTerm(field); term.Problem != "" || term.Kind != kind {
			t.Errorf("%q: kind %d, %q", field, term.Kind, term.Problem)
		}
	}
	for _, field := range []string{
		"all:", "all/0", "-", "include", "include:", "include/24", "include:b", "include:1.2", "include:a.b-", "include:a.-b", "include:a.b..", "include:a.b/24", "include:%{x}.b.c", "include:%{d", "include:%d.b.c", "include:a%",
		"include:%{d0}", "include:%{d}x", "include:%{c}", "a:", "a/", "a//", "a/33", "a//129", "a/024", "a/24/64", "a/-1", "a/+1", "a:b.c/x", "a:b.c/d", "a:foo/24", "a/b.c/24", "a:%{d/}b/24", "a24", "mx:b c", "ptr:", "ptr/24", "exists", "exists:",
		"ip4", "ip4:", "ip4:1.2.3", "ip4:1.2.3.4/33", "ip4:1.2.3.4/08", "ip4:1.2.3.4/", "ip4:::1", "ip4:01.2.3.4", "ip6:1.2.3.4", "ip6:::1/129", "ip6:fe80::1%eth0", "ip4/1.2.3.4",
		"redirect=", "redirect=b", "exp=", "x=%", "x=é", "-redirect=a.b", "=x", "1=x", "foo", "foo:bar", "ipv6:::1", ";",
	} {
		if term := parseTerm(field); term.Problem == "" {
			t.Errorf("%q is accepted as %+v", field, term)
		}
	}
	if got := parseTerm("~ip4:192.0.2.9/24"); got.Prefix != netip.MustParsePrefix("192.0.2.9/24") || got.Qualifier != '~' {
		t.Errorf("%+v", got)
	}
	if got := parseTerm("a:b.%{d/}.c/24//64"); got.Spec != "b.%{d/}.c" || !got.Macros {
		t.Errorf("%+v", got)
	}
}

func TestExpand(t *testing.T) {
	t.Parallel()
	from := names{current: "mail.Strong-Mind.example.com", sender: "example.com"}
	long := strings.Repeat("a.", 130)
	for spec, want := range map[string]string{
		"b.c": "b.c", "%{d}": "mail.Strong-Mind.example.com", "%{o}.b.c": "example.com.b.c", "%{O}": "example.com",
		"%{d4}": "mail.Strong-Mind.example.com", "%{d3}": "Strong-Mind.example.com", "%{d1}.c": "com.c", "%{d99999999999999999999}": "mail.Strong-Mind.example.com",
		"%{dr}": "com.example.Strong-Mind.mail", "%{d1r}": "mail", "%{dr-}": "Mind.example.com.mail.Strong", "%{d-}": "mail.Strong.Mind.example.com", "%{d2-.}": "example.com", "%{D2R}": "Strong-Mind.mail",
		"a%%b%_c%-.com": "a%b c%20.com", long + "%{o}": strings.Repeat("a.", 121) + "example.com",
	} {
		if got, known := expand(spec, from); !known || got != want {
			t.Errorf("%q: %q, %t", spec, got, known)
		}
	}
	for _, letter := range "slihvpSLIHVP" {
		if got, known := expand("%{d}.%{"+string(letter)+"r}.b.c", from); known {
			t.Errorf("%c: %q", letter, got)
		}
	}
	if got := escapeURL("a-._~Z:/b"); got != "a-._~Z%3A%2Fb" {
		t.Error(got)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][2]bool{
		"b.c.com": {true, true}, "_spf.b.com": {true, true}, "-b-.com": {true, true}, "foo:bar/baz.com": {true, true}, "xn--zzzzzzz.com": {true, true}, "a b.com": {true, true},
		"b..com": {false, false}, ".com": {false, false}, "b.com.": {false, false}, "": {false, false}, strings.Repeat("b", 64) + ".com": {false, false},
		"com": {true, false}, "b.internal": {true, false}, "a:b.localhost": {true, false}, "1.0.0.10.in-addr.arpa": {true, false}, "1.2.3.4": {true, false}, "%": {true, false},
	} {
		if got := [2]bool{canBeName(name), canBeName(name) && isPublic(name)}; got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
	if got := presentation("a b@(c);'\"\\d:/$%é.com"); got != `a\ b\@\(c\)\;\'\"\\d:/$%\195\169.com` {
		t.Error(got)
	}
}
