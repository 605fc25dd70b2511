package lab

import (
	"net/netip"
	"time"
)

// Paths on which traces go wrong easily: what a router or a host sends itself takes another way, or longer, than what
// passes it.
//
//	c3 ─ c4 ─ k5 ─ k6 ─ short                     k5 and k6 silent; what short sends goes straight to k5
//	│
//	├─ d4 ─ d5 ─ d6 ─ d7 ─ slow                   their own answers take 90, 200, 250 and 800 ms, those of slow 20
//	└═590═ distant
var (
	short4, short6     = netip.MustParsePrefix("11.71.0.0/24"), netip.MustParsePrefix("2a10:71::/64")
	slow4, slow6       = netip.MustParsePrefix("11.72.0.0/24"), netip.MustParsePrefix("2a10:72::/64")
	distant4, distant6 = netip.MustParsePrefix("11.73.0.0/24"), netip.MustParsePrefix("2a10:73::/64")
)

func tracePaths() ([]node, []link) {
	nodes := []node{
		router("k5", "11.77.65.1", "2a10:77:65::1", Silent),
		router("k6", "11.77.66.1", "2a10:77:66::1", Silent),
		withLocal(host("short", "11.71.0.254", "2a10:71::fe"), short4, short6),
		router("d4", "11.77.74.1", "2a10:77:74::1", Answers),
		router("d5", "11.77.75.1", "2a10:77:75::1", Answers),
		router("d6", "11.77.76.1", "2a10:77:76::1", Answers),
		router("d7", "11.77.77.1", "2a10:77:77::1", Answers),
		withLocal(host("slow", "11.72.0.254", "2a10:72::fe"), slow4, slow6),
		withLocal(host("distant", "11.73.0.254", "2a10:73::fe"), distant4, distant6),
	}
	// Every answer from behind c3 takes 20 ms; these are for the rest.
	after := func(ms time.Duration) time.Duration { return (ms - 20) * time.Millisecond }
	return nodes, []link{
		{a: "c4", b: "k5"},
		{a: "k5", b: "k6"},
		{a: "k6", b: "short"},
		{a: "k5", b: "short", own: true},
		{a: "c3", b: "d4"},
		{a: "d4", b: "d5"},
		{a: "d5", b: "d6"},
		{a: "d6", b: "d7"},
		{a: "d7", b: "slow"},
		{a: "c3", b: "d4", own: true, delay: after(90)},
		{a: "d4", b: "d5", own: true, delay: after(200)},
		{a: "d5", b: "d6", own: true, delay: after(250)},
		{a: "d6", b: "d7", own: true, delay: after(800)},
		{a: "c3", b: "distant", delay: 590 * time.Millisecond},
	}
}

// Shortcut is the n-th destination behind two silent routers, whose answers come back over a router less than probes
// pass.
func Shortcut(n int) (v4, v6 netip.Addr) { return destination(short4, n), destination(short6, n) }

// SlowRouters is one behind four routers that answer after 90, 200, 250 and 800 ms; it answers after 20 itself.
func SlowRouters(n int) (v4, v6 netip.Addr) { return destination(slow4, n), destination(slow6, n) }

// Distant is one that answers after 1.2 s.
func Distant(n int) (v4, v6 netip.Addr) { return destination(distant4, n), destination(distant6, n) }
