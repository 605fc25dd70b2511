package target

import (
	"net/netip"
	"testing"

	"diagnostics/gateway/internal/fault"
)

func TestParseASN(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]ASN{
		"AS15169": 15169, "as15169": 15169, "As15169": 15169, "15169": 15169, "AS1": 1, "1": 1, "AS112": 112, "AS131072": 131072, "AS4199999999": 4199999999,
		"16777215": 16777215, "AS16777215": 16777215, "AS16777216": 16777216, "AS167772161": 167772161,
	} {
		got, err := ParseASN(typed)
		if err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", typed, got, err, want)
		}
	}
	if key := ASN(15169).LimitKey(); key != "AS15169" {
		t.Errorf("limit key %q", key)
	}
}

func TestParseASNRefuses(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"", "AS", "ASfoo", "foo", "AS-1", "AS+1", "-1", "AS1.2", "AS1.2.3", "AS 15169", "AS15169 AS3356", "AS15169\r\n", "AS015169", "015169", "00", "0x3B41", "AS4294967296", "AS１５１６９",
		"ASN15169", "AS1_5169", "16777216", "167772161", "2130706433", "4294967295", "4294967296", "99999999999999999999",
	} {
		_, err := ParseASN(s)
		checkFault(t, s, err, fault.Invalid)
		_, err = ParseNetworkQuery(s)
		checkFault(t, s, err, fault.Invalid)
	}
	for _, s := range []string{
		"0", "AS0", "AS23456", "23456", "AS64496", "AS64511", "64512", "AS65534", "AS65535", "AS65536", "AS65551", "AS65552", "AS131071", "AS4200000000", "AS4294967294", "AS4294967295",
	} {
		_, err := ParseASN(s)
		checkFault(t, s, err, fault.Refused)
		_, err = ParseNetworkQuery(s)
		checkFault(t, s, err, fault.Refused)
	}
}

func TestParseNetworkQuery(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"as15169": "AS15169", "15169": "AS15169", "8.8.8.8": "8.8.8.8", "2606:4700:4700:0::1111": "2606:4700:4700::1111",
	} {
		q, err := ParseNetworkQuery(typed)
		if err != nil || q.String() != want || q.LimitKey() != want {
			t.Errorf("%q: %q, %v; want %q", typed, q, err, want)
			continue
		}
		if _, err := netip.ParseAddr(want); q.IsAddr() != (err == nil) || q.IsAddr() == (q.ASN() != 0) ||
			q.IsAddr() != q.Addr().IsValid() {
			t.Errorf("%q: IsAddr %t, ASN %d, Addr %s", typed, q.IsAddr(), q.ASN(), q.Addr())
		}
	}
	for _, s := range []string{"example.com", "asus.com", "8.8.8", "8.8.8.8:53", "[::1]", "::1/128", "8.8.8.8/32",
		"0x7f.1"} {
		_, err := ParseNetworkQuery(s)
		checkFault(t, s, err, fault.Invalid)
		if _, args := fault.Reason(err); args["advice"] != wantQuery {
			t.Errorf("%q: %v; want both an AS number and an address to be named", s, err)
		}
	}
	for _, s := range []string{"10.0.0.1", "::1", "fe80::1%eth0", "::ffff:8.8.8.8"} {
		_, err := ParseNetworkQuery(s)
		checkFault(t, s, err, fault.Refused)
	}
}
