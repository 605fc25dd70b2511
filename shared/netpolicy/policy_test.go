package netpolicy

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// judgedAddresses are addresses of every kind with what is to be said of them.
var judgedAddresses = []struct {
	addr   string
	public bool
	source string
}{
	// Ordinary addresses, and the neighbours of the global unicast space.
	{"1.0.0.0", true, ""}, {"8.8.8.8", true, ""}, {"223.255.255.255", true, ""},
	{"2606:4700:4700::1111", true, ""}, {"2001:4860:4860::8888", true, ""},
	{"2000::", true, ""}, {"2000::1", true, ""}, {"2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", true, ""},
	{"2001:200::", true, ""}, {"2003::", true, ""}, {"3ffe:ffff::1", true, ""}, {"3fff:1000::", true, ""},
	{"1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false, "RFC 4291"},
	{"3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", true, ""}, {"4000::", false, "RFC 4291"},
	{"::2", false, "RFC 4291"}, {"8000::1", false, "RFC 4291"}, {"fe00::1", false, "RFC 4291"}, {"fe7f::1", false, "RFC 4291"},
	// Multicast and class E.
	{"224.0.0.0", false, "RFC 5771"}, {"239.255.255.255", false, "RFC 5771"}, {"232.1.1.1", false, "RFC 5771"},
	{"240.0.0.0", false, "RFC 1112"}, {"254.255.255.255", false, "RFC 1112"},
	{"ff00::", false, "RFC 4291"}, {"ff02::1", false, "RFC 4291"}, {"ff0e::1", false, "RFC 4291"},
	{"fec0::", false, "RFC 3879"}, {"feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false, "RFC 3879"},
	// The whole of 192.0.0.0/24 and of 2001::/23, whatever their rows say.
	{"192.0.0.7", false, "RFC 7335"}, {"192.0.0.8", false, "RFC 7600"}, {"192.0.0.9", false, "RFC 7723"},
	{"192.0.0.10", false, "RFC 8155"}, {"192.0.0.11", false, "RFC 6890"}, {"192.0.0.192", false, "RFC 6890"},
	{"2001:1::", false, "RFC 2928"}, {"2001:1::4", false, "RFC 2928"}, {"2001:3::1", false, "RFC 7450"},
	{"2001:40::", false, "RFC 2928"}, {"2001:100::1", false, "RFC 2928"},
	// One address that clouds keep for themselves, and its neighbours.
	{"168.63.129.15", true, ""}, {"168.63.129.16", false, "Azure documentation"}, {"168.63.129.17", true, ""},
	// IPv4 inside IPv6.
	{"::ffff:8.8.8.8", false, "RFC 4291"}, {"::ffff:127.0.0.1", false, "RFC 4291"}, {"::8.8.8.8", false, "RFC 4291"},
	{"::ffff:0:8.8.8.8", false, "RFC 2765"}, {"64:ff9b::8.8.8.8", false, "RFC 6052"}, {"64:ff9b::10.0.0.1", false, "RFC 6052"},
	{"64:ff9b::1:0:0", false, "RFC 4291"}, {"64:ff9b:1::8.8.8.8", false, "RFC 8215"},
	{"2002:808:808::1", false, "RFC 3056"}, {"2001:0:4136:e378:8000:63bf:3fff:fdd2", false, "RFC 4380"},
	// ISATAP under a global prefix: refused where the embedded address is not public.
	{"2606:4700::5efe:7f00:1", false, "RFC 5214"}, {"2606:4700::200:5efe:a9fe:a9fe", false, "RFC 5214"},
	{"2606:4700::5efe:10.255.255.255", false, "RFC 5214"}, {"2606:4700::5efe:11.0.0.0", true, ""},
	{"2606:4700::200:5efe:8.8.8.8", true, ""}, {"2606:4700:0:0:0100:5efe:10.0.0.1", true, ""},
	{"2606:4700:0:0:0001:5efe:10.0.0.1", true, ""}, {"2606:4700::5eff:10.0.0.1", true, ""},
	{"2620:4f:8000::5efe:10.0.0.1", false, "RFC 5214"}, {"2620:4f:8000::1", true, ""},
	{"fe80::5efe:8.8.8.8", false, "RFC 4291"},
	// Zones never leave the link.
	{"fe80::1%eth0", false, "RFC 4007"}, {"2606:4700:4700::1111%eth0", false, "RFC 4007"}, {"::1%1", false, "RFC 4007"},
}

// addressFailures holds them against what judges.
func addressFailures(judge func(netip.Addr) Verdict) (failures []string) {
	for _, c := range judgedAddresses {
		v := judge(netip.MustParseAddr(c.addr))
		if v.Public != c.public {
			failures = append(failures, fmt.Sprintf("%s: public %t, want %t (%+v)", c.addr, v.Public, c.public, v))
		}
		if !c.public && v.Source != c.source {
			failures = append(failures, fmt.Sprintf("%s: source %q, want %q", c.addr, v.Source, c.source))
		}
		if c.public != (v.Reason == "") {
			failures = append(failures, fmt.Sprintf("%s: public %t with reason %q", c.addr, v.Public, v.Reason))
		}
	}
	return failures
}

// report reports failures.
func report(t *testing.T, failures []string) {
	t.Helper()
	for _, f := range failures {
		t.Error(f)
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	report(t, addressFailures(Judge))
}

func TestJudgeInvalid(t *testing.T) {
	t.Parallel()
	if v := Judge(netip.Addr{}); v.Public || v.Reason == "" {
		t.Errorf("the zero Addr: %+v", v)
	}
}

// TestJudgeWords holds the words that visitors read.
func TestJudgeWords(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{
		"10.0.0.1": "a private address (RFC 1918)", "127.0.0.1": "a loopback address (RFC 1122)",
		"169.254.169.254": "a link-local address (RFC 3927)", "224.0.0.1": "a multicast address (RFC 5771)",
		"192.0.2.1": "a documentation address (RFC 5737)", "fd00::1": "a private address (RFC 4193)",
		"::1": "a loopback address (RFC 4291)", "2001:db8::1": "a documentation address (RFC 3849)",
	} {
		v := Judge(netip.MustParseAddr(addr))
		if got := v.Reason + " (" + v.Source + ")"; got != want {
			t.Errorf("%s is %q, want %q", addr, got, want)
		}
	}
	for _, r := range Rows() {
		if r.Kind != "" && !strings.HasPrefix(r.Kind, "a ") && !strings.HasPrefix(r.Kind, "an ") &&
			!strings.HasPrefix(r.Kind, "the ") {
			t.Errorf("%s: %q does not complete a sentence", r.Prefix, r.Kind)
		}
	}
}

func TestNAT64(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]bool{
		"64:ff9b::": true, "64:ff9b::ffff:ffff": true, "64:ff9b::1:0:0": false, "64:ff9a:ffff:ffff:ffff:ffff:ffff:ffff": false,
		"64:ff9b:1::1": false, "8.8.8.8": false,
	} {
		if got := NAT64(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s: %t, want %t", addr, got, want)
		}
	}
}

func TestPrivateAddressesAreNear(t *testing.T) {
	t.Parallel()
	for address, near := range map[string]bool{
		"127.0.0.1": true, "127.255.255.255": true, "128.0.0.0": false, "::1": true, "::2": false,
		"9.255.255.255": false, "10.0.0.0": true, "10.255.255.255": true, "11.0.0.0": false,
		"172.15.255.255": false, "172.16.0.0": true, "172.31.255.255": true, "172.32.0.0": false,
		"192.167.255.255": false, "192.168.0.0": true, "192.168.255.255": true, "192.169.0.0": false,
		"100.63.255.255": false, "100.64.0.0": true, "100.127.255.255": true, "100.128.0.0": false,
		"169.253.255.255": false, "169.254.0.0": true, "169.254.255.255": true, "169.255.0.0": false,
		"fbff::1": false, "fc00::1": true, "fdff::1": true, "fe00::1": false, "fe80::1%eth0": true, "febf::1": true,
		"fec0::1": false, "2001:db8::1": false, "::ffff:10.0.0.1": true, "::ffff:11.0.0.1": false,
	} {
		if got := Near(netip.MustParseAddr(address)); got != near {
			t.Errorf("%s: %v", address, got)
		}
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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
