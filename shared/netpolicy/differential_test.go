package netpolicy

import (
	"encoding/binary"
	"net/netip"
	"testing"

	"code.dny.dev/ssrf"
	"pgregory.net/rapid"
)

// differences are all the blocks in which this policy and code.dny.dev/ssrf disagree, each with why ours is right for a
// service that may probe any public host.
var differences = []struct {
	block  netip.Prefix
	public bool // our verdict; theirs is the other one
	why    string
}{
	{netip.MustParsePrefix("192.31.196.0/24"), true, "AS112: globally reachable by its row; a public anycast service"},
	{netip.MustParsePrefix("192.52.193.0/24"), true, "AMT: globally reachable by its row"},
	{netip.MustParsePrefix("192.175.48.0/24"), true, "AS112 direct delegation: globally reachable by its row"},
	{netip.MustParsePrefix("2620:4f:8000::/48"), true, "AS112 direct delegation: globally reachable by its row"},
	{netip.MustParsePrefix("168.63.129.16/32"), false, "a global address that is host-local on every Azure machine and serves credentials"},
}

// knownDifference returns the difference, if any, that explains that the two disagree on the address.
func knownDifference(a netip.Addr, public bool) bool {
	for _, d := range differences {
		if d.block.Contains(a) && d.public == public {
			return true
		}
	}
	// ISATAP: they look at prefixes alone, so the embedded non-public address passes them.
	v4, ok := isatap(a)
	return ok && !public && a.Is6() && !Judge(v4).Public
}

func compareWithSSRF(t interface{ Errorf(string, ...any) }, guard *ssrf.Guardian, a netip.Addr) (differs bool) {
	ours, theirs := Judge(a).Public, guard.SafeAddr(a) == nil
	if ours == theirs {
		return false
	}
	if !knownDifference(a, ours) {
		t.Errorf("%s: public %t here, %t in code.dny.dev/ssrf, and no known difference says why", a, ours, theirs)
	}
	return true
}

func TestDifferentialAtEdges(t *testing.T) {
	t.Parallel()
	guard := ssrf.New(ssrf.WithAnyPort(), ssrf.WithAnyNetwork())
	seen := make(map[netip.Prefix]bool)
	var edges []netip.Addr
	for _, r := range Rows() {
		first, last := r.Prefix.Addr(), LastOf(r.Prefix)
		edges = append(edges, first, last, first.Prev(), last.Next())
	}
	for _, p := range append(ssrf.IPv4DeniedPrefixes, ssrf.IPv6DeniedPrefixes...) {
		edges = append(edges, p.Addr(), LastOf(p), p.Addr().Prev(), LastOf(p).Next())
	}
	for _, a := range edges {
		if a.IsValid() && compareWithSSRF(t, guard, a) {
			seen[Judge(a).Prefix] = true
		}
	}
	for _, d := range differences {
		if !seen[d.block] {
			t.Errorf("%s is listed as a difference (%s), but the two agree", d.block, d.why)
		}
	}
}

func TestDifferentialAtRandom(t *testing.T) {
	t.Parallel()
	guard := ssrf.New(ssrf.WithAnyPort(), ssrf.WithAnyNetwork())
	rapid.Check(t, func(t *rapid.T) {
		compareWithSSRF(t, guard, drawAddr(t))
	})
}

// drawAddr draws addresses of all kinds, most of them inside or near a special-purpose block: uniform ones never hit
// any.
func drawAddr(t *rapid.T) netip.Addr {
	if rapid.IntRange(0, 3).Draw(t, "uniform") == 0 {
		if rapid.Bool().Draw(t, "v4") {
			return addr4(rapid.Uint32().Draw(t, "addr"))
		}
		return netip.AddrFrom16([16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "addr")))
	}
	row := rapid.SampledFrom(Rows()).Draw(t, "row")
	b := row.Prefix.Addr().AsSlice()
	// Any byte from the one that holds the last prefix bit on may change, so that the result is inside or next door.
	for i := max(0, (row.Prefix.Bits()-1)/8); i < len(b); i++ {
		b[i] ^= rapid.Byte().Draw(t, "host")
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}

func addr4(n uint32) netip.Addr {
	return netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, n)))
}

// TestJudgeIsTheLongestMatch compares with the longest match over all rows at random.
func TestJudgeIsTheLongestMatch(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := drawAddr(t)
		v, want := Judge(a), longestMatch(a)
		if v.Prefix != want.Prefix {
			t.Errorf("%s is judged by %s, want %s", a, v.Prefix, want.Prefix)
		}
		if v.Public && !want.Public() {
			t.Errorf("%s is public although %s is not", a, want.Prefix)
		}
	})
}
