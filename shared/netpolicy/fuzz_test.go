package netpolicy

import (
	"net/netip"
	"testing"
)

// FuzzJudge compares Judge on any sixteen or four bytes with the scan over the rows that it stands for.
func FuzzJudge(f *testing.F) {
	for _, s := range []string{"8.8.8.8", "10.0.0.1", "::1", "2606:4700::5efe:7f00:1", "64:ff9b::1", "::ffff:1.2.3.4"} {
		f.Add(netip.MustParseAddr(s).AsSlice())
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		a, ok := netip.AddrFromSlice(raw)
		if !ok {
			return
		}
		v := Judge(a)
		if v.Public == (v.Reason != "") {
			t.Fatalf("%s: public %t with reason %q", a, v.Public, v.Reason)
		}
		if v.Prefix.IsValid() && !v.Prefix.Contains(a) {
			t.Fatalf("%s is judged by %s", a, v.Prefix)
		}
		rows := ipv6Rows
		if a.Is4() {
			rows = ipv4Rows
		}
		if row := firstRow(rows, a); row != nil && row.Prefix != v.Prefix {
			t.Fatalf("%s is judged by %s, the rows say %s", a, v.Prefix, row.Prefix)
		}
		if v.Public && (a.IsPrivate() || a.IsLoopback() || a.IsMulticast() || a.IsLinkLocalUnicast() || a.IsUnspecified()) {
			t.Fatalf("%s is public", a)
		}
	})
}
