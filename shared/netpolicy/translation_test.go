package netpolicy

import (
	"net/netip"
	"slices"
	"testing"
)

// The rows are those of the table in RFC 6052 section 2.4.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	for prefix, address := range map[string]string{
		"2001:db8::/32":             "2001:db8:c000:221::",
		"2001:db8:100::/40":         "2001:db8:1c0:2:21::",
		"2001:db8:122::/48":         "2001:db8:122:c000:2:2100::",
		"2001:db8:122:300::/56":     "2001:db8:122:3c0:0:221::",
		"2001:db8:122:344::/64":     "2001:db8:122:344:c0:2:2100::",
		"2001:db8:122:344::/96":     "2001:db8:122:344::192.0.2.33",
		"64:ff9b::/96":              "64:ff9b::192.0.2.33",
		"2a0e:1:2:64:0:1:2:0/112":   "",
		"2001:db8:122:344:1::/96":   "2001:db8:122:344:1::c000:221",
		"2001:db8:0:0:100::/96":     "",
		"2001:db8:122:345::/64":     "2001:db8:122:345:ffc0:2:21ff:ffff",
		"2001:db8:122:344:0:1::/64": "",
		"192.0.2.0/24":              "",
		"::ffff:0:0/96":             "",
		"2001:db8::/33":             "",
		"2001:db8::1/96":            "",
		"x":                         "",
	} {
		p, err := ParseTranslationPrefix(prefix)
		if (err != nil) != (address == "") {
			t.Errorf("%s: %v", prefix, err)
		}
		if err != nil || address == "" {
			continue
		}
		v4, ok := Embedded(p, netip.MustParseAddr(address))
		if !ok || v4 != netip.MustParseAddr("192.0.2.33") {
			t.Errorf("%s in %s: %s, %t", address, prefix, v4, ok)
		}
	}
}

func TestNotEmbedded(t *testing.T) {
	t.Parallel()
	p := netip.MustParsePrefix("2001:db8:122:344::/96")
	for _, a := range []string{
		"2001:db8:122:344:0:1::", "2001:db8:122:343:ffff:ffff:ffff:ffff", "192.0.2.33", "::ffff:192.0.2.33",
	} {
		if v4, ok := Embedded(p, netip.MustParseAddr(a)); ok {
			t.Errorf("%s: %s", a, v4)
		}
	}
}

func TestTranslationPrefixes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		records []string
		want    []string
	}{
		{nil, nil},
		{[]string{"2a0e:1:2:64::c000:aa", "2a0e:1:2:64::c000:ab"}, []string{"2a0e:1:2:64::/96"}},
		{[]string{"64:ff9b::192.0.0.170"}, []string{"64:ff9b::/96"}},
		{[]string{"2a0e:1:c000:aa::"}, []string{"2a0e:1::/32"}},
		{[]string{"2a0e:1:1c0:0:aa::"}, []string{"2a0e:1:100::/40"}},
		{[]string{"2a0e:1:2:c000:0:aa00::"}, []string{"2a0e:1:2::/48"}},
		{[]string{"2a0e:1:2:3c0::aa:0:0"}, []string{"2a0e:1:2:300::/56"}},
		{[]string{"2a0e:1:2:3:c0:0:aa00:0"}, []string{"2a0e:1:2:3::/64"}},
		{[]string{"2a0e:1:2:64::c000:a9", "192.0.0.170", "::ffff:192.0.0.170", "2001:db8::1"}, nil},
	} {
		var records []netip.Addr
		for _, r := range tt.records {
			records = append(records, netip.MustParseAddr(r))
		}
		var want []netip.Prefix
		for _, p := range tt.want {
			want = append(want, netip.MustParsePrefix(p))
		}
		if got := TranslationPrefixes(records); !slices.Equal(got, want) {
			t.Errorf("%v: %v, want %v", tt.records, got, want)
		}
	}
}

// What a prefix embeds is found again by the records that a resolver would synthesise with it.
func FuzzTranslation(f *testing.F) {
	f.Add([]byte("\x20\x01\x0d\xb8\x01\x22\x03\x44\x00\x00\x00\x00\xc0\x00\x02\x21"), uint8(5))
	f.Fuzz(func(t *testing.T, octets []byte, length uint8) {
		if len(octets) != 16 {
			return
		}
		a := netip.AddrFrom16([16]byte(octets))
		p := netip.PrefixFrom(a, translationLengths[int(length)%len(translationLengths)]).Masked()
		if _, err := ParseTranslationPrefix(p.String()); err != nil {
			return
		}
		v4, ok := Embedded(p, a)
		if !ok && !a.Is4In6() {
			t.Fatalf("%s in %s: not found", a, p)
		}
		if ok && slices.Contains(ipv4Only, v4) && !slices.Contains(TranslationPrefixes([]netip.Addr{a}), p) {
			t.Fatalf("%s: %s is not among %v", a, p, TranslationPrefixes([]netip.Addr{a}))
		}
	})
}
