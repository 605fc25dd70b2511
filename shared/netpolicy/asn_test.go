package netpolicy

import "testing"

// TestJudgeASN goes to both ends of every special-purpose range, just inside and just outside.
func TestJudgeASN(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n      uint32
		public bool
		source string
	}{
		{0, false, "RFC 7607"}, {1, true, ""},
		{111, true, ""}, {112, true, "RFC 7534"}, {113, true, ""},
		{15169, true, ""}, {23455, true, ""}, {23456, false, "RFC 6793"}, {23457, true, ""},
		{64495, true, ""}, {64496, false, "RFC 5398"}, {64511, false, "RFC 5398"},
		{64512, false, "RFC 6996"}, {65534, false, "RFC 6996"}, {65535, false, "RFC 7300"},
		{65536, false, "RFC 5398"}, {65551, false, "RFC 5398"}, {65552, false, "RFC 5398"}, {131071, false, "RFC 5398"},
		{131072, true, ""}, {4199999999, true, ""}, {4200000000, false, "RFC 6996"},
		{4294967294, false, "RFC 6996"}, {4294967295, false, "RFC 7300"},
	} {
		v := JudgeASN(c.n)
		if v.Public != c.public || v.Source != c.source || (v.Reason == "") != c.public {
			t.Errorf("AS%d: %+v, want public %t by %q", c.n, v, c.public, c.source)
		}
		if v.Name != "" && (c.n < v.First || c.n > v.Last) {
			t.Errorf("AS%d is outside %d to %d", c.n, v.First, v.Last)
		}
	}
}

func TestASNRowsAreInOrder(t *testing.T) {
	t.Parallel()
	for i, r := range asnRows {
		if r.first > r.last || i > 0 && r.first <= asnRows[i-1].last {
			t.Errorf("row %d (%d to %d) is out of order", i, r.first, r.last)
		}
	}
}
