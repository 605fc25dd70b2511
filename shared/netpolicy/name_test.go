package netpolicy

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// longName is a name of exactly n octets in labels of at most 63.
func longName(n int) string {
	var labels []string
	for n > 63 {
		labels = append(labels, strings.Repeat("a", 63))
		n -= 64
	}
	return strings.Join(append(labels, strings.Repeat("a", n)), ".")
}

// acceptedNames are names of public hosts with their canonical form.
var acceptedNames = map[string]string{
	"example.com": "example.com", "EXAMPLE.Com": "example.com", "example.com.": "example.com",
	"example.net": "example.net", "example.org": "example.org", "a.b.c.d.example.com": "a.b.c.d.example.com",
	"münchen.de": "xn--mnchen-3ya.de", "MÜNCHEN.DE": "xn--mnchen-3ya.de", "xn--mnchen-3ya.de": "xn--mnchen-3ya.de",
	"XN--MNCHEN-3YA.de": "xn--mnchen-3ya.de", "straße.de": "xn--strae-oqa.de", "日本語。jp": "xn--wgv71a119e.jp",
	"xn--mnchen-3ya.xn--p1ai": "xn--mnchen-3ya.xn--p1ai", "☕.example.com": "xn--53h.example.com",
	"ｅｘａｍｐｌｅ．ｃｏｍ": "example.com", "exam\u00adple.com": "example.com",
	"x--y.com": "x--y.com", "1.example.com": "1.example.com", "123.com": "123.com", "3com.com": "3com.com", "0x7f.com": "0x7f.com",
	"1.0.0.127.example.com": "1.0.0.127.example.com", "a-b.example.com": "a-b.example.com",
	// Names that merely contain or resemble special ones.
	"localhost.com": "localhost.com", "notlocalhost.com": "notlocalhost.com", "local.example.com": "local.example.com",
	"internal.io": "internal.io", "test.com": "test.com", "mylocal.dev": "mylocal.dev", "onion.com": "onion.com",
	"alt.org": "alt.org", "a.mylocal": "a.mylocal", "a.localx": "a.localx", "home.arpa.example.com": "home.arpa.example.com",
	"xhome.arpa": "xhome.arpa", "a.hometest": "a.hometest", "in-addr.arpa": "in-addr.arpa",
	"xmetadata.goog": "xmetadata.goog", "about.goog": "about.goog", "metadata.goog.com": "metadata.goog.com",
	"cloudapp.net": "cloudapp.net", "myinternal.cloudapp.net": "myinternal.cloudapp.net", "app.cloudapp.net": "app.cloudapp.net",
	"chinacloudapp.cn": "chinacloudapp.cn", "oraclevcn.example.com": "oraclevcn.example.com", "notoraclevcn.com": "notoraclevcn.com",
	"metadata.cloud.ibm.com": "metadata.cloud.ibm.com", "cloud.ibm.com": "cloud.ibm.com", "tencentyun.com": "tencentyun.com",
	"xmetadata.tencentyun.com": "xmetadata.tencentyun.com", "platformequinix.com": "platformequinix.com", "packet.net": "packet.net",
	"novalocal.com": "novalocal.com", "a.xopenstacklocal": "a.xopenstacklocal",
	// Reverse zones of public addresses, also next door to private ones.
	"8.8.8.8.in-addr.arpa": "8.8.8.8.in-addr.arpa", "11.in-addr.arpa": "11.in-addr.arpa",
	"15.172.in-addr.arpa": "15.172.in-addr.arpa", "32.172.in-addr.arpa": "32.172.in-addr.arpa",
	"63.100.in-addr.arpa": "63.100.in-addr.arpa", "128.100.in-addr.arpa": "128.100.in-addr.arpa",
	"169.192.in-addr.arpa": "169.192.in-addr.arpa", "172.0.0.192.in-addr.arpa": "172.0.0.192.in-addr.arpa",
	"110.in-addr.arpa": "110.in-addr.arpa", "1.0.0.2.ip6.arpa": "1.0.0.2.ip6.arpa",
	// Bounds.
	longName(63) + ".com":        longName(63) + ".com",
	longName(249) + ".com":       longName(249) + ".com",
	longName(249) + ".com" + ".": longName(249) + ".com",
}

// refusedNames are others, by what is wrong with them.
var refusedNames = []struct {
	problem NameProblem
	names   []string
}{
	{NameEmpty, []string{""}},
	{NameEmptyLabel, []string{".", "..", ".example.com", "example..com", "example.com..", "\u00ad", "。", "xn--.com"}},
	{NameTooLong, []string{longName(250) + ".com", strings.Repeat("é", 2049), strings.Repeat("a.", 1000)}},
	{NameLabelTooLong, []string{strings.Repeat("a", 64) + ".com", strings.Repeat("ü", 63) + ".com"}},
	{NameCharacter, []string{
		"exa mple.com", "example.com;id", "example.com|id", "$(id).example.com", "`id`.example.com", "example.com>x", "example.com'",
		`example.com"`, `example.com\`, "*.example.com", "user@example.com", "example.com:443", "example.com/x", "a%2e.com", "8.8.8.8,127.0.0.1",
		"0/0", "[::1]", "::1", "=example.com", "?", "example.com#x", "℀.com", "ａ：８０.com",
	}},
	{NameUnderscore, []string{"_dmarc.example.com", "a_b.example.com", "example._tcp"}},
	{NameHyphen, []string{"-example.com", "example-.com", "a.-b.com", "--help", "-h", "example.com-"}},
	{NameUnmappable, []string{
		"\xff.com", "a\x80b.com", "\ufffd.com", "a\u202eb.com", "example.com\u0085x", "xn--a.com", "xn--localhost-", "xn--localhost-.com", "xn--0ca24w.com",
		"a\u200db.com", "١٢٧.٠.٠.١", "xn--a-.com",
	}},
	{NameNumeric, []string{
		"127.0.0.1", "127.0.0.1.", "127.1", "0x7f.1", "0x7f000001", "0", "00", "2130706433", "0177.0.0.1", "256.256.256.256", "1.2.3.4.5", "foo.127",
		"example.com.1", "example.0x7f", "8.8.8.8-9", "1e2.0.0.1", "１２７.０.０.１", "①②⑦.⓪.⓪.①", "𝟏𝟐𝟕.𝟎.𝟎.𝟏", "127。0。0。1", "0Ⅹ7f000001", "a.1com",
	}},
	{NameSingleLabel, []string{"router", "redis", "kubernetes", "metadata", "com", "ip6-localhost", "broadcasthost", "router.", "münchen"}},
	{NameSpecialUse, []string{
		"localhost", "LOCALHOST", "localhost.", "LocalHost.", "foo.localhost", "a.b.localhost.", "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "loc\u00adalhost", "loc\u200balhost",
		"loca\u2060lhost", "ⅼocalhost", "localhoſt", "a.test", "x.invalid", "a.example", "example", "nas.local", "x.LOCAL.", "printer．local",
		"x.onion", "foo.alt", "alt", "home.arpa", "router.home.arpa", "resolver.arpa", "default.service.arpa", "ipv4only.arpa", "eap-noob.arpa", "eap.arpa",
		"6tisch.arpa", "metadata.google.internal", "metadata．google．internal", "internal", "host.docker.internal", "a.intranet", "a.private",
		"router.lan", "intranet.corp", "nas.home", "mx.mail", "localhost.localdomain", "a.localdomain6", "kubernetes.default.svc", "x.svc.cluster.local",
		"consul.service.consul",
		"metadata.goog", "METADATA.goog.", "x.metadata.goog", "metadata\u3002goog", "vm1.abc.bx.internal.cloudapp.net", "internal.chinacloudapp.cn",
		"db.sub.vcn1.oraclevcn.com", "api.metadata.cloud.ibm.com", "metadata.tencentyun.com", "metadata.platformequinix.com", "metadata.packet.net",
		"host-10-0-0-5.openstacklocal", "vm.novalocal",
		"10.in-addr.arpa", "1.0.0.10.in-addr.arpa", "1.0.0.127.in-addr.arpa", "16.172.in-addr.arpa", "31.172.in-addr.arpa", "1.20.172.in-addr.arpa",
		"168.192.in-addr.arpa", "254.169.in-addr.arpa", "64.100.in-addr.arpa", "1.127.100.in-addr.arpa", "170.0.0.192.in-addr.arpa",
		"171.0.0.192.in-addr.arpa", "0.in-addr.arpa", "1.2.0.192.in-addr.arpa", "255.255.255.255.in-addr.arpa", "d.f.ip6.arpa", "1.c.f.ip6.arpa",
		"8.e.f.ip6.arpa", "b.e.f.ip6.arpa", "8.b.d.0.1.0.0.2.ip6.arpa", "1." + strings.Repeat("0.", 31) + "ip6.arpa", strings.Repeat("0.", 32) + "ip6.arpa",
	}},
}

// nameFailures holds all of them against what parses.
func nameFailures(parse func(string, bool) (string, error)) (failures []string) {
	fail := func(format string, args ...any) { failures = append(failures, fmt.Sprintf(format, args...)) }
	for typed, want := range acceptedNames {
		if got, err := parse(typed, false); err != nil || got != want {
			fail("%.80q: %q, %v; want %q", typed, got, err, want)
		}
	}
	for _, c := range refusedNames {
		for _, name := range c.names {
			got, err := parse(name, false)
			var ne *NameError
			if !errors.As(err, &ne) {
				fail("%.80q is %q, want %s", name, got, c.problem)
				continue
			}
			if ne.Problem != c.problem {
				fail("%.80q: %s, want %s", name, ne.Problem, c.problem)
			}
			if ne.Say() == "" || strings.ContainsFunc(ne.Say(), func(r rune) bool { return r < ' ' }) {
				fail("%.80q: bad words %q", name, ne.Say())
			}
		}
	}
	return failures
}

func TestParseName(t *testing.T) {
	t.Parallel()
	report(t, nameFailures(ParseName))
}

func TestUnderscores(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"_dmarc.example.com", "selector1._domainkey.example.com", "a_b.example.com",
		"_.example.com", "_443._tcp.example.com", "redis.project_inside.com", "a_.b_.com"} {
		if got, err := ParseName(name, true); err != nil || got != name {
			t.Errorf("%s with underscores: %q, %v", name, got, err)
		}
		if got, err := ParseName(name, false); err == nil {
			t.Errorf("%s without underscores: %q", name, got)
		}
	}
	for _, name := range []string{"_dns.resolver.arpa", "_tcp.local", "_dmarc", "example._tcp", "_-.example.com",
		"a b_.example.com"} {
		if got, err := ParseName(name, true); err == nil {
			t.Errorf("%s with underscores: %q, want an error", name, got)
		}
	}
	// The names of container networks end so, in every spelling that maps to an underscore.
	for _, name := range []string{"redis.project_inside", "REDIS.Project_Inside.", "redis.default_", "a.b_1", "_a._b",
		"example._tcp", "_dmarc", "redis.project＿inside"} {
		_, err := ParseName(name, true)
		var ne *NameError
		if !errors.As(err, &ne) || ne.Problem != NameUnderscoreEnd || !ne.Refused() {
			t.Errorf("%s with underscores: %v, want %s", name, err, NameUnderscoreEnd)
		}
	}
}

// TestRefusedIsPolicy draws the line between malformed and refused.
func TestRefusedIsPolicy(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"localhost": true, "router": true, "127.1": true, "a..b": false,
		"a b.com": false, "_a.com": false} {
		_, err := ParseName(name, false)
		var ne *NameError
		if !errors.As(err, &ne) || ne.Refused() != want {
			t.Errorf("%s: %v, want refused %t", name, err, want)
		}
	}
}

func TestCanonicalNameIsSyntaxAlone(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{"Internal": "internal", "LOCALHOST.": "localhost", "127.1": "127.1",
		"ＣＯＲＰ": "corp", "münchen": "xn--mnchen-3ya"} {
		if got, err := CanonicalName(typed, false); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", typed, got, err, want)
		}
	}
}

// TestNamesAtRandom builds well-formed names and expects them back, in every spelling that means the same.
func TestNamesAtRandom(t *testing.T) {
	t.Parallel()
	label := rapid.StringMatching(`[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?`).Filter(func(s string) bool {
		return !strings.HasPrefix(s, "xn--")
	})
	rapid.Check(t, func(t *rapid.T) {
		labels := append(rapid.SliceOfN(label, 1, 6).Draw(t, "labels"),
			rapid.SampledFrom([]string{"com", "de", "museum", "arpa"}).Draw(t, "tld"))
		name := strings.Join(labels, ".")
		if _, special := zones.find(name); special {
			return
		}
		for _, spelling := range []string{name, strings.ToUpper(name), name + ".", strings.ReplaceAll(name, ".", "。"),
			fullwidth(name)} {
			if got, err := ParseName(spelling, false); err != nil || got != name {
				t.Fatalf("%q: %q, %v; want %q", spelling, got, err, name)
			}
		}
		if got, err := ParseName(name+".localhost", false); err == nil {
			t.Fatalf("%s.localhost: %q", name, got)
		}
	})
}

// fullwidth writes ASCII letters, digits and dots in the fullwidth forms block.
func fullwidth(s string) string {
	return strings.Map(func(r rune) rune { return r + 0xFF01 - '!' }, s)
}

// FuzzParseName holds what every caller relies on: a name that passes is canonical, plain ASCII and not special.
func FuzzParseName(f *testing.F) {
	for _, s := range []string{"example.com", "MÜNCHEN.de.", "127.0.0.1", "ⓛⓞⓒⓐⓛ", "xn--a.com", "a\u00ad.b", "_a.b_c.com",
		"８.8", "\xff"} {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, s string, underscores bool) {
		name, err := ParseName(s, underscores)
		if err != nil {
			var ne *NameError
			if !errors.As(err, &ne) || name != "" {
				t.Fatalf("%q: %q with %v", s, name, err)
			}
			return
		}
		if len(name) > MaxNameOctets || !strings.Contains(name, ".") || strings.HasSuffix(name, ".") {
			t.Fatalf("%q passes as %q", s, name)
		}
		for _, c := range name {
			if !isLowerAlnum(c) && c != '-' && c != '.' && (c != '_' || !underscores) {
				t.Fatalf("%q passes as %q", s, name)
			}
		}
		if again, err := ParseName(name, underscores); err != nil || again != name {
			t.Fatalf("%q is %q at first and %q, %v again", s, name, again, err)
		}
	})
}

// TestReverseZonesAreNotPublic turns each reverse zone back into its block and asks Judge about both ends.
func TestReverseZonesAreNotPublic(t *testing.T) {
	t.Parallel()
	n := 0
	for name, zone := range zones {
		if zone.Kind != kindReverse {
			continue
		}
		n++
		block, ok := blockOf(name)
		if !ok {
			t.Errorf("%s is not a reverse zone", name)
			continue
		}
		for _, a := range []netip.Addr{block.Addr(), LastOf(block)} {
			if v := Judge(a); v.Public {
				t.Errorf("%s is refused, but %s is public", name, a)
			}
		}
	}
	if want := len(reverseZones) + 16 + 64; n != want {
		t.Errorf("%d reverse zones, want %d", n, want)
	}
}

// blockOf is the block whose reverse zone the name is.
func blockOf(name string) (netip.Prefix, bool) {
	if labels, ok := strings.CutSuffix(name, ".in-addr.arpa"); ok {
		return blockFrom(strings.Split(labels, "."), 10, 8, 4)
	}
	labels, ok := strings.CutSuffix(name, ".ip6.arpa")
	if !ok {
		return netip.Prefix{}, false
	}
	return blockFrom(strings.Split(labels, "."), 16, 4, 16)
}

func blockFrom(labels []string, base, width, size int) (netip.Prefix, bool) {
	b := make([]byte, size)
	for i := range labels {
		n, err := strconv.ParseUint(labels[len(labels)-1-i], base, width)
		if err != nil {
			return netip.Prefix{}, false
		}
		bit := i * width
		b[bit/8] |= byte(n << (8 - width - bit%8))
	}
	a, ok := netip.AddrFromSlice(b)
	return netip.PrefixFrom(a, len(labels)*width), ok
}

func TestZonesAreCanonical(t *testing.T) {
	t.Parallel()
	for name, zone := range zones {
		if got, err := CanonicalName(name, false); err != nil || got != name || zone.Name != name {
			t.Errorf("%s: canonical %q, %v", name, got, err)
		}
		if zone.Source == "" || zone.Kind == "" {
			t.Errorf("%s has an empty column", name)
		}
		if _, ok := zones.find("x." + name); !ok {
			t.Errorf("x.%s is not covered", name)
		}
		if z, ok := zones.find("x" + name); ok && z.Name == name {
			t.Errorf("x%s is covered by %s", name, name)
		}
	}
	if want := len(specialNames) + len(cloudNames) + len(reverseZones) + 16 + 64; len(zones) != want {
		t.Errorf("%d zones, want %d: one is written twice", len(zones), want)
	}
}
