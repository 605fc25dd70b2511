package target

import (
	"net/netip"
	"strings"
	"testing"
	"unicode"

	"diagnostics/gateway/internal/fault"
	"diagnostics/shared/netpolicy"
)

func TestParseHost(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"example.com": "example.com", "EXAMPLE.com.": "example.com", "münchen.de": "xn--mnchen-3ya.de", "8.8.8.8": "8.8.8.8",
		"2606:4700:4700::1111": "2606:4700:4700::1111", "2606:4700:4700:0:0:0:0:1111": "2606:4700:4700::1111",
		"Julia_B.example.com": "julia_b.example.com", "_a.b_.example.com": "_a.b_.example.com", "x＿y.com": "x_y.com",
		"2606:4700:4700::AbCd": "2606:4700:4700::abcd", "2606:4700::1.2.3.4": "2606:4700::102:304", "192.31.196.1": "192.31.196.1",
	} {
		h, err := ParseHost(typed)
		if err != nil || h.String() != want || h.LimitKey() != want {
			t.Errorf("%q: %q, %v; want %q", typed, h, err, want)
			continue
		}
		_, addrErr := netip.ParseAddr(want)
		if h.IsAddr() != (addrErr == nil) || h.IsAddr() == (h.Name() != "") || h.IsAddr() != h.Addr().IsValid() {
			t.Errorf("%q: IsAddr %t, Name %q, Addr %s", typed, h.IsAddr(), h.Name(), h.Addr())
		}
	}
}

func TestParseHostRefuses(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"", " ", ".", "..", "a..b", "8.8.8.8 ", " 8.8.8.8", "example.com:443", "[2606:4700:4700::1111]", "8.8.8.0/24", "https://example.com", "user@example.com",
		"-h", "\xff.com", "example.com/", "*.example.com", "example.com\x00", "8.8.8.8%0", "fe80::1%", "::ffff:127.1",
	} {
		_, err := ParseHost(s)
		checkFault(t, s, err, fault.Invalid)
	}
	for _, s := range []string{
		"127.0.0.1", "10.0.0.1", "::1", "::ffff:8.8.8.8", "fe80::1%eth0", "2606:4700:4700::1111%eth0", "localhost", "router", "127.1", "0x7f.1", "2130706433",
		"8.8.8.8.", "0177.0.0.1", "a_b", "x_y.local", "redis.t_d", "１２７.０.０.１", "①②⑦.⓪.⓪.①", "loc\u00adalhost", "2606:4700::5efe:10.0.0.1", "192.0.0.9", "64:ff9b::8.8.8.8",
	} {
		_, err := ParseHost(s)
		checkFault(t, s, err, fault.Refused)
	}
}

func TestParseDomain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		typed    string
		anyOwner bool
		want     string
	}{
		{"Example.COM.", false, "example.com"}, {"_dmarc.Example.com", true, "_dmarc.example.com"},
		{"8.8.8.8.in-addr.arpa", true, "8.8.8.8.in-addr.arpa"}, {"_dmarc.com", true, "_dmarc.com"},
		{"a_b.example.com", false, "a_b.example.com"}, {"_dmarc.example.com", false, "_dmarc.example.com"},
		{"MÜNCHEN.de", true, "xn--mnchen-3ya.de"},
	} {
		d, err := ParseDomain(c.typed, c.anyOwner)
		if err != nil || d.String() != c.want || d.LimitKey() != c.want {
			t.Errorf("%q: %q, %v; want %q", c.typed, d, err, c.want)
		}
	}
	for _, s := range []string{"8.8.8.8", "10.0.0.1", "::1", "2606:4700:4700::1111", "", "a b.com",
		"example.com:53", "https://example.com/"} {
		_, err := ParseDomain(s, false)
		checkFault(t, s, err, fault.Invalid)
	}
	for _, s := range []string{"localhost", "1.0.0.10.in-addr.arpa", "127.1", "router"} {
		_, err := ParseDomain(s, true)
		checkFault(t, s, err, fault.Refused)
	}
}

func TestParseAddress(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{"8.8.8.8": "8.8.8.8", "2606:4700:4700::1111": "2606:4700:4700::1111",
		"2606:4700:4700:0::1111": "2606:4700:4700::1111"} {
		a, err := ParseAddress(typed)
		if err != nil || a.String() != want || a.LimitKey() != want || a.Addr() != netip.MustParseAddr(want) {
			t.Errorf("%q: %q, %v; want %q", typed, a, err, want)
		}
	}
	for _, s := range []string{"", "example.com", "8.8.8.8:53", "[::1]", "8.8.8", "010.8.8.8", "134744072", "8.8.8.8.",
		"::1/128", "8.8.8.8%0"} {
		_, err := ParseAddress(s)
		checkFault(t, s, err, fault.Invalid)
	}
	for _, s := range []string{"10.0.0.1", "::1", "::ffff:8.8.8.8", "fe80::1%;id", "2606:4700::1%eth0",
		"2606:4700::5efe:10.0.0.1", "168.63.129.16"} {
		_, err := ParseAddress(s)
		checkFault(t, s, err, fault.Refused)
	}
}

// TestUnderscores covers both ends of the registrable label, in the section of registries and where no rule matches.
func TestUnderscores(t *testing.T) {
	t.Parallel()
	for name, accepted := range map[string]bool{
		"a_b.com": true, "a_b.co.uk": true, "_a.example.co.uk": true, "_.example.com": true, "a_.b.example.com": true,
		"_a.com": false, "a_.com": false, "_.com": false, "_a.co.uk": false, "a_.co.uk": false, "x._a.com": false,
		"x.y.a_.co.uk": false, "＿a.com": false, "a＿.com": false, "_x.ck": false, "a._x.ck": true,
		// The section of companies that lend names is no part of it, as in whois-lookup.
		"_a.github.io": true, "a_b.github.io": true, "x._github.io": false,
		// Where no public suffix matches, the last label is the registrable one.
		"_a.nosuchtld": true, "a_.nosuchtld": true, "a.b_c": false, "a._b": false,
	} {
		_, err := ParseHost(name)
		_, domainErr := ParseDomain(name, false)
		_, urlErr := ParseURL("http://" + name + "/")
		_, locationErr := mustURL(t, "https://example.com/").Resolve("//" + name)
		for _, err := range []error{err, domainErr, urlErr, locationErr} {
			if (err == nil) != accepted {
				t.Errorf("%s: %v, want accepted %t", name, err, accepted)
			}
			if err != nil {
				checkFault(t, name, err, fault.Refused)
			}
		}
	}
}

// checkHost holds the promises of a Host that a parser gave.
func checkHost(t *testing.T, input string, h Host) {
	t.Helper()
	if h.IsAddr() {
		if a := h.Addr(); !netpolicy.Judge(a).Public || a.Zone() != "" || a.Is4In6() {
			t.Fatalf("%q gives the address %s", input, a)
		}
	} else if name, err := netpolicy.ParseName(h.Name(), true); err != nil || name != h.Name() {
		t.Fatalf("%q gives the name %q: %v", input, h.Name(), err)
	}
	checkPlain(t, input, h.String())
	if again, err := ParseHost(h.String()); err != nil || again != h {
		t.Fatalf("%q is %q at first and %q, %v again", input, h, again, err)
	}
}

// checkPlain holds that a canonical text is printable ASCII without spaces.
func checkPlain(t *testing.T, input, s string) {
	t.Helper()
	if strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > unicode.MaxASCII || r == 0x7F }) {
		t.Fatalf("%q gives %q", input, s)
	}
}

func FuzzParseHost(f *testing.F) {
	for _, s := range []string{"example.com", "8.8.8.8", "2606:4700::1", "１２７.０.０.１", "fe80::1%eth0", "a_b.com", "[::1]",
		"xn--mnchen-3ya.de", "münchen.de."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		h, err := ParseHost(s)
		if err != nil {
			checkFault(t, s, err, fault.Invalid, fault.Refused)
			return
		}
		checkHost(t, s, h)
	})
}
