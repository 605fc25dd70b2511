package netpolicy

import (
	"fmt"
	"testing"
)

// asnCases go to both ends of every special-purpose range, just inside and just outside.
var asnCases = []struct {
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
}

// asnReasons distinguish neighbours that one document reserves.
var asnReasons = map[uint32]string{
	65536: "a documentation AS number", 65551: "a documentation AS number", 65552: "a reserved AS number",
	131071: "a reserved AS number",
}

// asnFailures holds all cases against what judges.
func asnFailures(judge func(uint32) ASNVerdict) (failures []string) {
	for _, c := range asnCases {
		v := judge(c.n)
		if v.Public != c.public || v.Source != c.source || (v.Reason == "") != c.public {
			failures = append(failures, fmt.Sprintf("AS%d: %+v, want public %t by %q", c.n, v, c.public, c.source))
		}
		if want := asnReasons[c.n]; want != "" && v.Reason != want {
			failures = append(failures, fmt.Sprintf("AS%d is %q, want %q", c.n, v.Reason, want))
		}
		if v.Name != "" && (c.n < v.First || c.n > v.Last) {
			failures = append(failures, fmt.Sprintf("AS%d is outside %d to %d", c.n, v.First, v.Last))
		}
	}
	return failures
}

func TestJudgeASN(t *testing.T) {
	t.Parallel()
	report(t, asnFailures(JudgeASN))
}

func TestASNRowsAreInOrder(t *testing.T) {
	t.Parallel()
	for i, r := range asnRows {
		if r.first > r.last || i > 0 && r.first <= asnRows[i-1].last {
			t.Errorf("row %d (%d to %d) is out of order", i, r.first, r.last)
		}
	}
}
