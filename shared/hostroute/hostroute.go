// Package hostroute queries the kernel where it would send a packet: out through a link, to this host itself, or
// nowhere. The answer follows every table and rule of the host's routing at that moment. No packet is sent.
//
// The query is RTM_GETROUTE of rtnetlink(7). One socket serves the whole process from its start, so that it still works
// when the host has run out of files. Another one receives every change, so that callers need not poll (Changes).
package hostroute

import (
	"errors"
	"net/netip"
	"time"
)

// Kind is where packets to an address go.
type Kind int

const (
	// Out is through a link of this host.
	Out Kind = iota + 1
	// Here is to this host itself, or to all on one of its links: a route of type local, broadcast, anycast or multicast.
	Here
	// Nowhere is no route, or one whose every link is down.
	Nowhere
	// Refused is a route or a rule that refuses (unreachable, prohibit, blackhole): set on purpose, and no fault.
	Refused
)

// Route is where packets to an address go, and the numbers of the links that they may leave by. There are some only for
// Out and Nowhere, and not always.
type Route struct {
	Kind  Kind
	Links []int
}

// Link is a link of this host.
type Link struct {
	Index int
	// Up is that it is switched on and has a carrier.
	Up bool
	// Downs is how often it has lost its carrier, which the kernel reports at once; its state up to a second later.
	Downs uint32
}

// Packets are the packets of a query: rules may route those of one protocol, or of the sockets that are bound to a
// link, by a table of their own (ip-rule(8), ip-vrf(8)).
type Packets struct {
	Protocol Protocol
	// Link is the number of the link or VRF that the sockets are bound to (SO_BINDTOIFINDEX), or 0.
	Link int
}

// Protocol is what a packet carries.
type Protocol int

const (
	// TCP is what most of this service's connections are.
	TCP Protocol = iota
	// ICMP is ICMPv6 for an address of IPv6.
	ICMP
)

// Anchors are addresses that stand for all the internet of a family. Any public ones would do: nothing is sent there.
func Anchors(v6 bool) []netip.Addr {
	if v6 {
		return []netip.Addr{
			netip.MustParseAddr("2606:4700:4700::1111"), netip.MustParseAddr("2001:4860:4860::8888"),
		}
	}
	return []netip.Addr{netip.MustParseAddr("1.1.1.1"), netip.MustParseAddr("8.8.8.8")}
}

// Lost reports whether this host has lost its route to an address, where ask returns the route to any. One
// that a route refuses is lost only where all the internet is refused with it, as by an "unreachable default" that is
// left when the real one has gone.
func (w Kind) Lost(to netip.Addr, ask func(netip.Addr) (Kind, error)) bool {
	if w != Refused {
		return w == Nowhere
	}
	for _, anchor := range Anchors(to.Is6()) {
		if kind, err := ask(anchor); err != nil || kind != Nowhere && kind != Refused {
			return false
		}
	}
	return true
}

// answerWithin bounds the wait for an answer. The kernel gives it before the question's system call has returned.
const answerWithin = 250 * time.Millisecond

// ErrNoAnswer is that the kernel gave no answer in time, or none that can be read.
var ErrNoAnswer = errors.New("hostroute: no usable answer of the kernel")

// usable reports whether the kernel can be queried about an address.
func usable(a netip.Addr) bool { return a.IsValid() && !a.Is4In6() && a.Zone() == "" }
