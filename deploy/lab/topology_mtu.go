package lab

import (
	"fmt"
	"net/netip"
)

// Paths that narrow.
//
//	c4 ─ m5 ─1400─ m6 ─ told                      routers that report it, as Linux does
//	│              └─1350─ m7 ─ twice-told
//	└─ n5 ─ n6 ─ ends                             n5 drops packets to some ranges that are larger than NarrowTo:
//	                                              in silence, or with reports that are wrong (liar.go)
var (
	told4, told6 = netip.MustParsePrefix("11.99.0.0/24"), netip.MustParsePrefix("2a10:99::/64")
	both4, both6 = netip.MustParsePrefix("11.99.1.0/24"), netip.MustParsePrefix("2a10:99:1::/64")
	hole4, hole6 = netip.MustParsePrefix("11.99.2.0/24"), netip.MustParsePrefix("2a10:99:2::/64")
	back4, back6 = netip.MustParsePrefix("11.99.3.0/24"), netip.MustParsePrefix("2a10:99:3::/64")
	zero4, zero6 = netip.MustParsePrefix("11.99.4.0/24"), netip.MustParsePrefix("2a10:99:4::/64")
	sixt4, sixt6 = netip.MustParsePrefix("11.99.5.0/24"), netip.MustParsePrefix("2a10:99:5::/64")
	more4, more6 = netip.MustParsePrefix("11.99.6.0/24"), netip.MustParsePrefix("2a10:99:6::/64")
	fake4, fake6 = netip.MustParsePrefix("11.99.7.0/24"), netip.MustParsePrefix("2a10:99:7::/64")
)

// NarrowTo is what passes where the path narrows once, in octets, and NarrowTwice where it does again.
const (
	NarrowTo    = 1400
	NarrowTwice = 1350
)

const liarNode = "n5"

func mtuPaths() ([]node, []link) {
	liar := withFilter(router(liarNode, "11.77.88.1", "2a10:77:88::1", Answers), fmt.Sprintf(`
	chain narrow { type filter hook forward priority 0;
		ip daddr { %s, %s, %s, %s } meta length > %d drop
		ip6 daddr { %s, %s, %s, %s } meta length > %d drop
	}`, hole4, zero4, sixt4, more4, NarrowTo, hole6, zero6, sixt6, more6, NarrowTo))
	ends := withFilter(withLocal(host("ends", "11.99.3.254", "2a10:99:3::fe"), hole4, hole6, back4, back6, zero4, zero6,
		sixt4, sixt6, more4, more6, fake4, fake6), fmt.Sprintf(`
	chain back { type filter hook output priority 0;
		ip saddr %s icmp type echo-reply meta length > %d drop
		ip6 saddr %s icmpv6 type echo-reply meta length > %d drop
	}`, back4, NarrowTo, back6, NarrowTo))
	nodes := []node{
		router("m5", "11.77.85.1", "2a10:77:85::1", Answers),
		router("m6", "11.77.86.1", "2a10:77:86::1", Answers),
		router("m7", "11.77.87.1", "2a10:77:87::1", Answers),
		withLocal(host("told", "11.99.0.254", "2a10:99::fe"), told4, told6),
		withLocal(host("twice-told", "11.99.1.254", "2a10:99:1::fe"), both4, both6),
		liar,
		router("n6", "11.77.89.1", "2a10:77:89::1", Answers),
		ends,
	}
	return nodes, []link{
		{a: "c4", b: "m5"},
		{a: "m5", b: "m6", mtu: NarrowTo},
		{a: "m6", b: "told"},
		{a: "m6", b: "m7", mtu: NarrowTwice},
		{a: "m7", b: "twice-told"},
		{a: "c4", b: liarNode},
		{a: liarNode, b: "n6"},
		{a: "n6", b: "ends"},
	}
}

// Reported is the n-th destination behind a link of NarrowTo octets, whose router reports what is larger.
func Reported(n int) (v4, v6 netip.Addr) { return destination(told4, n), destination(told6, n) }

// ReportedTwice is one behind a further link of NarrowTwice octets.
func ReportedTwice(n int) (v4, v6 netip.Addr) { return destination(both4, n), destination(both6, n) }

// BlackHole is one behind a router that drops what is larger than NarrowTo octets in silence.
func BlackHole(n int) (v4, v6 netip.Addr) { return destination(hole4, n), destination(hole6, n) }

// NarrowBack is one whose echo replies are lost where they are larger than that.
func NarrowBack(n int) (v4, v6 netip.Addr) { return destination(back4, n), destination(back6, n) }

// StatesZero is one behind a router that drops what is larger, and states a next-hop MTU of 0; StatesLeast states 68,
// and StatesMore more than the packet has.
func StatesZero(n int) (v4, v6 netip.Addr) { return destination(zero4, n), destination(zero6, n) }

// StatesLeast is described with StatesZero.
func StatesLeast(n int) (v4, v6 netip.Addr) { return destination(sixt4, n), destination(sixt6, n) }

// StatesMore is described with StatesZero.
func StatesMore(n int) (v4, v6 netip.Addr) { return destination(more4, n), destination(more6, n) }

// ForgedReports is one about which reports come that do not quote the packet, of which none is dropped.
func ForgedReports(n int) (v4, v6 netip.Addr) { return destination(fake4, n), destination(fake6, n) }
