package lab

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"diagnostics/lab/internal/cable"
)

// Temper is how a router treats the packets that it should answer itself.
type Temper string

// The tempers of routers.
const (
	Answers     Temper = "answers"
	Private     Temper = "private"     // answers from an address that is not public
	Silent      Temper = "silent"      // never answers for itself
	RateLimited Temper = "ratelimited" // answers a few times a second
	Lossy       Temper = "lossy"       // leaves out every third of its own answers
)

const (
	// ServiceHost is the node where the shipped binaries run.
	ServiceHost = "svc"
	// NearHost is the node of the resolver. No cable is on the way to it, and in a lab without servers its ports are
	// free.
	NearHost = "dns"
)

// node is one namespace. Each has exactly one address a family of its own, used as the source of all its routes, so
// that every answer of a router comes from the address that the truth tables name.
type node struct {
	name   string
	v4, v6 netip.Addr
	temper Temper
	// local are whole ranges that answer here (routes of type local), beside the node's own addresses.
	local []netip.Prefix
	// extra are single further addresses of the node.
	extra []netip.Addr
	// dead are ranges that are routed here and that the node's filter turns away.
	dead []netip.Prefix
	// filter is nftables text inside a table, beside what the temper needs.
	filter string
}

// link joins two nodes: a veth pair, or a cable where it does anything to packets.
type link struct {
	a, b  string
	delay time.Duration
	// What a cable does to packets from a to b beside that (cable.Spec).
	dropEvery, repeatEvery, holdEvery int
	hold                              time.Duration
	// mtu is the largest packet of a veth pair; 0 for 1,500 octets.
	mtu int
	// own is a link that only b uses, for all that it sends itself and does not pass on. No path counts it.
	own bool
}

// cable is what the link does to packets; a veth pair does nothing.
func (l link) cable() cable.Spec {
	return cable.Spec{Delay: l.delay, DropEvery: l.dropEvery, RepeatEvery: l.repeatEvery, HoldEvery: l.holdEvery,
		Hold: l.hold}
}

func (l link) isCable() bool { return l.cable() != cable.Spec{} }

// The ranges of destinations.
var (
	clean4, clean6 = netip.MustParsePrefix("11.90.0.0/24"), netip.MustParsePrefix("2a10:90::/64")
	wild4, wild6   = netip.MustParsePrefix("11.91.0.0/24"), netip.MustParsePrefix("2a10:91::/64")
	web4, web6     = netip.MustParsePrefix("11.80.0.0/24"), netip.MustParsePrefix("2a10:80::/64")
	tls4, tls6     = netip.MustParsePrefix("11.81.0.0/24"), netip.MustParsePrefix("2a10:81::/64")
	loss4, loss6   = netip.MustParsePrefix("11.93.0.0/24"), netip.MustParsePrefix("2a10:93::/64")
	near4, near6   = netip.MustParsePrefix("11.94.0.0/24"), netip.MustParsePrefix("2a10:94::/64")
	names4, names6 = netip.MustParsePrefix("11.60.0.0/16"), netip.MustParsePrefix("2a10:60::/32")
	mute4, mute6   = netip.MustParsePrefix("11.74.0.0/24"), netip.MustParsePrefix("2a10:74::/64")

	fives4, fives6   = netip.MustParsePrefix("11.98.0.0/24"), netip.MustParsePrefix("2a10:98::/64")
	ones4, ones6     = netip.MustParsePrefix("11.98.1.0/24"), netip.MustParsePrefix("2a10:98:1::/64")
	late4, late6     = netip.MustParsePrefix("11.98.2.0/24"), netip.MustParsePrefix("2a10:98:2::/64")
	twice4, twice6   = netip.MustParsePrefix("11.98.3.0/24"), netip.MustParsePrefix("2a10:98:3::/64")
	swap4, swap6     = netip.MustParsePrefix("11.98.4.0/24"), netip.MustParsePrefix("2a10:98:4::/64")
	narrow4, narrow6 = netip.MustParsePrefix("11.98.5.0/24"), netip.MustParsePrefix("2a10:98:5::/64")

	unreachable4, unreachable6 = netip.MustParsePrefix("11.92.1.0/24"), netip.MustParsePrefix("2a10:92:1::/64")
	prohibited4, prohibited6   = netip.MustParsePrefix("11.92.2.0/24"), netip.MustParsePrefix("2a10:92:2::/64")
	silent4, silent6           = netip.MustParsePrefix("11.92.3.0/24"), netip.MustParsePrefix("2a10:92:3::/64")
)

// resolverNode's addresses: the operator's resolver of the lab.
const (
	resolver4 = "11.77.53.1"
	resolver6 = "2a10:77:53::1"
)

// PublicResolvers are the four that dns-resolver-check queries, by id.
var PublicResolvers = map[string][2]netip.Addr{
	"cloudflare": {netip.MustParseAddr("1.1.1.1"), netip.MustParseAddr("2606:4700:4700::1111")},
	"google":     {netip.MustParseAddr("8.8.8.8"), netip.MustParseAddr("2001:4860:4860::8888")},
	"quad9":      {netip.MustParseAddr("9.9.9.9"), netip.MustParseAddr("2620:fe::fe")},
	"opendns":    {netip.MustParseAddr("208.67.222.222"), netip.MustParseAddr("2620:119:35::35")},
}

// spreader is the router that spreads packets over two legs, by marks: a mark's packets are routed by the table of the
// same number past pathTable.
const (
	spreader  = "x5"
	path1Mark = 1
	path2Mark = 2
	pathTable = 100
	// ownTable routes what a node sends itself, where that takes a link of its own.
	ownTable = 200
)

// limitedHost answers only so many echo requests a second, and is at the end of a route with a small MTU.
const limitedHost = "few"

// narrow are the ranges that the last router reaches over a route of such an MTU, the least of their family (RFC 791,
// RFC 8200).
var narrow = map[netip.Prefix]int{narrow4: 68, narrow6: 1280}

// The two legs of the dirty path's spread: where the first is, the second may answer as well.
var twins = map[string]string{"a6": "b6", "a7": "b7"}

// topology is the lab's internet:
//
//	svc ─ c1 ─ c2 ═10═ c3 ─ c4 ─ c5 ═12═ c6 ─ c7 ═9═ c8 ─ far        the clean path, and behind c8 the dead ranges
//	      │    ├═4═ web        ├─ pub (off c3)
//	      │    │               └═6═ mute (off c4; drops echo requests)
//	      │    ├─ tls
//	      │    ├═5═ loss (every tenth packet lost)
//	      │    ├═20═ names (authoritative name servers)
//	      │    ├─ few (limits on its answers to echoes, and a narrow route)
//	      │    ├═1200═ lag
//	      │    ├═ twice (every fourth packet repeated)
//	      │    └═ swap (every fourth packet overtaken)
//	      ├─ dns
//	      └─ p2 ─ s3 ═10═ l4 ═12═ x5 ┬ a6 ─ a7 ┬ j8 ═9═ wild         the dirty path
//	                                 └ b6 ─ b7 ┘
//
// ═n═ is a cable of n ms one way. More paths are in topology_traces.go, topology_mtu.go and places.go.
func topology() ([]node, []link) {
	nodes := []node{
		host(ServiceHost, "11.77.0.2", "2a10:77::2"),
		withLocal(host("far", "11.90.0.254", "2a10:90::fe"), clean4, clean6),
		withLocal(host("wild", "11.91.0.254", "2a10:91::fe"), wild4, wild6),
		withFilter(withLocal(host("web", "11.80.0.254", "2a10:80::fe"), web4, web6), webFilter),
		withLocal(host("tls", "11.81.0.254", "2a10:81::fe"), tls4, tls6),
		withPackaged(withLocal(host(namesNode, "11.60.0.254", "2a10:60::fe"), names4, names6)),
		withLocal(host("loss", "11.93.0.254", "2a10:93::fe"), loss4, loss6),
		withFilter(withLocal(host("mute", "11.74.0.254", "2a10:74::fe"), mute4, mute6), muteFilter),
		withFilter(withLocal(host(limitedHost, "11.98.0.254", "2a10:98::fe"), fives4, fives6, ones4, ones6, narrow4, narrow6),
			limitFilter),
		withLocal(host("lag", "11.98.2.254", "2a10:98:2::fe"), late4, late6),
		withLocal(host("twice", "11.98.3.254", "2a10:98:3::fe"), twice4, twice6),
		withLocal(host("swap", "11.98.4.254", "2a10:98:4::fe"), swap4, swap6),
		withLocal(host(NearHost, resolver4, resolver6), near4, near6),
		withExtra(host("pub", "11.77.54.1", "2a10:77:54::1")),
		router("p2", "10.66.0.2", "fd66::2", Private),
		router("s3", "11.78.3.1", "2a10:78:3::1", Silent),
		router("l4", "11.78.4.1", "2a10:78:4::1", RateLimited),
		withFilter(router(spreader, "11.78.5.1", "2a10:78:5::1", Answers), spreadFilter),
		router("a6", "11.78.6.1", "2a10:78:6::1", Answers),
		router("b6", "11.78.6.2", "2a10:78:6::2", Answers),
		router("a7", "11.78.7.1", "2a10:78:7::1", Answers),
		router("b7", "11.78.7.2", "2a10:78:7::2", Answers),
		router("j8", "11.78.8.1", "2a10:78:8::1", Lossy),
	}
	for i := 1; i <= 8; i++ {
		c := router(fmt.Sprintf("c%d", i), fmt.Sprintf("11.77.%d.1", i), fmt.Sprintf("2a10:77:%d::1", i), Answers)
		if i == 8 {
			c.dead = []netip.Prefix{unreachable4, unreachable6, prohibited4, prohibited6, silent4, silent6}
			c.filter = deadFilter
		}
		nodes = append(nodes, c)
	}
	more, ways := tracePaths()
	narrowing, further := mtuPaths()
	places, roads := placeTopology()
	nodes = slices.Concat(nodes, more, narrowing, places)
	ways = slices.Concat(ways, further, roads)
	return nodes, append([]link{
		{a: ServiceHost, b: "c1"},
		{a: "c1", b: "c2"},
		{a: "c2", b: "c3", delay: 10 * time.Millisecond},
		{a: "c3", b: "c4"},
		{a: "c4", b: "c5"},
		{a: "c5", b: "c6", delay: 12 * time.Millisecond},
		{a: "c6", b: "c7"},
		{a: "c7", b: "c8", delay: 9 * time.Millisecond},
		{a: "c8", b: "far"},
		{a: "c1", b: NearHost},
		{a: "c3", b: "pub"},
		{a: "c4", b: "mute", delay: 6 * time.Millisecond},
		{a: "c2", b: "web", delay: 4 * time.Millisecond},
		{a: "c2", b: "tls"},
		{a: "c2", b: "loss", delay: 5 * time.Millisecond, dropEvery: 10},
		{a: "c2", b: namesNode, delay: 20 * time.Millisecond},
		{a: "c2", b: limitedHost},
		{a: "c2", b: "lag", delay: 1200 * time.Millisecond},
		{a: "c2", b: "twice", repeatEvery: 4},
		{a: "c2", b: "swap", holdEvery: 4, hold: 330 * time.Millisecond},
		{a: "c1", b: "p2"},
		{a: "p2", b: "s3"},
		{a: "s3", b: "l4", delay: 10 * time.Millisecond},
		{a: "l4", b: "x5", delay: 12 * time.Millisecond},
		{a: "x5", b: "a6"},
		{a: "x5", b: "b6"},
		{a: "a6", b: "a7"},
		{a: "b6", b: "b7"},
		{a: "a7", b: "j8"},
		{a: "b7", b: "j8"},
		{a: "j8", b: "wild", delay: 9 * time.Millisecond},
	}, ways...)
}

func host(name, v4, v6 string) node {
	return node{name: name, v4: netip.MustParseAddr(v4), v6: netip.MustParseAddr(v6), temper: Answers}
}

func router(name, v4, v6 string, t Temper) node {
	n := host(name, v4, v6)
	n.temper = t
	return n
}

func withLocal(n node, local ...netip.Prefix) node {
	n.local = append([]netip.Prefix{}, local...)
	return n
}

func withExtra(n node) node {
	for _, both := range PublicResolvers {
		n.extra = append(n.extra, both[0], both[1])
	}
	return n
}

func withFilter(n node, filter string) node {
	n.filter = filter
	return n
}
