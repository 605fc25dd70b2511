package target

import (
	"net/netip"
	"strconv"
	"strings"
	"testing"
)

func TestDenylist(t *testing.T) {
	t.Parallel()
	d, err := ParseDenylist(" 8.8.8.0/24, 1.1.1.1 ,2606:4700::/32,9.9.9.9/24,::ffff:5.5.5.0/120,::ffff:4.4.4.4,, " +
		".Example.COM ,münchen.de,gov,_a.example.net.,")
	if err != nil {
		t.Fatal(err)
	}
	for addr, want := range map[string]bool{
		"8.8.7.255": false, "8.8.8.0": true, "8.8.8.255": true, "8.8.9.0": false, "::ffff:8.8.8.8": true,
		"1.1.1.0": false, "1.1.1.1": true, "1.1.1.2": false,
		"9.9.8.255": false, "9.9.9.0": true, "9.9.9.255": true, "9.9.10.0": false,
		"5.5.4.255": false, "5.5.5.0": true, "5.5.5.255": true, "5.5.6.0": false, "4.4.4.4": true,
		"2606:46ff:ffff:ffff:ffff:ffff:ffff:ffff": false, "2606:4700::": true, "2606:4700:ffff:ffff:ffff:ffff:ffff:ffff": true, "2606:4701::": false, "2606:4700::1%eth0": true,
	} {
		if got := d.DeniesAddr(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s: %t, want %t", addr, got, want)
		}
		if got := d.DeniesKey(addr); got != want {
			t.Errorf("key %s: %t, want %t", addr, got, want)
		}
	}
	for name, want := range map[string]bool{
		"example.com": true, "a.example.com": true, "a.b.example.com": true, "notexample.com": false, "example.com.au": false, "example.org": false, "com": false,
		"xn--mnchen-3ya.de": true, "www.xn--mnchen-3ya.de": true, "gov": true, "nasa.gov": true, "gov.uk": false, "x._a.example.net": true, "example.net": false,
	} {
		if got := d.DeniesName(name); got != want {
			t.Errorf("%s: %t, want %t", name, got, want)
		}
		if got := d.DeniesKey(name); got != want {
			t.Errorf("key %s: %t, want %t", name, got, want)
		}
	}
	for _, key := range []string{"AS15169", "", "AS8"} {
		if d.DeniesKey(key) {
			t.Errorf("key %q is denied", key)
		}
	}
	if d.DeniesAddr(netip.Addr{}) {
		t.Error("the zero Addr is denied")
	}
}

func TestEmptyDenylist(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", " ", ",", " , "} {
		d, err := ParseDenylist(s)
		if err != nil {
			t.Errorf("%q: %v", s, err)
		}
		if d.DeniesKey("example.com") || d.DeniesKey("8.8.8.8") || d.DeniesName("") {
			t.Errorf("%q denies something", s)
		}
	}
}

func TestDenylistErrorsNameTheEntry(t *testing.T) {
	t.Parallel()
	for _, entry := range []string{
		"8.8.8.0/33", "8.8.8", "8.8.8.256", "2606:4700::/129", "fe80::1%eth0", "*.example.com", "https://example.com", "exa mple.com", "a..b", ".", "..a", "example.com/24", "-a.com", "8.8.8.8:53",
		"[2606:4700::1]", "0x7f", "\xff.com",
	} {
		_, err := ParseDenylist("example.org," + entry + ",10.0.0.0/8")
		if err == nil {
			t.Errorf("%q is taken", entry)
			continue
		}
		if !strings.Contains(err.Error(), strconv.Quote(entry)) {
			t.Errorf("%q: %v does not name it", entry, err)
		}
	}
}

// TestDenylistMatchesTargets couples the keys that jobs are denied by with the list.
func TestDenylistMatchesTargets(t *testing.T) {
	t.Parallel()
	d, err := ParseDenylist("www.example.com,8.8.8.0/24")
	if err != nil {
		t.Fatal(err)
	}
	for typed, want := range map[string]bool{"WWW.example.com.": true, "a.www.example.com": true, "example.com": false,
		"8.8.8.8": true, "8.8.4.4": false} {
		r, err := ParseRegistration(typed)
		if err != nil {
			t.Fatal(err)
		}
		if got := d.DeniesKey(r.DenyKey()); got != want {
			t.Errorf("%s: %t, want %t", typed, got, want)
		}
	}
	u := mustURL(t, "https://[2606:4700::1]:8443/")
	v6, err := ParseDenylist("2606:4700::/32")
	if err != nil {
		t.Fatal(err)
	}
	if !v6.DeniesKey(u.LimitKey()) {
		t.Errorf("%s is not denied", u)
	}
}
