// Package hostroute asks the kernel where it would send a packet: out through a link, to this host itself, or nowhere.
// The answer follows every table and rule of the host's routing, at the moment of the question. No packet is sent.
//
// The question is RTM_GETROUTE of rtnetlink(7). One socket serves the whole process from its start, so that a host
// which has run out of files can still be asked.
package hostroute

import (
	"errors"
	"net/netip"
	"time"
)

// Way is where packets to an address go.
type Way int

const (
	// Out is through a link of this host.
	Out Way = iota + 1
	// Here is to this host itself, or to all on one of its links: a route of type local, broadcast, anycast or multicast.
	Here
	// Nowhere is no route, one that refuses (unreachable, prohibit, blackhole), or one whose every link is down.
	Nowhere
)

// answerWithin bounds the wait for an answer. The kernel gives it before the question's system call has returned.
const answerWithin = 250 * time.Millisecond

// ErrNoAnswer is that the kernel gave no answer in time, or none that can be read.
var ErrNoAnswer = errors.New("hostroute: no usable answer of the kernel")

// usable tells whether the kernel can be asked about an address.
func usable(a netip.Addr) bool { return a.IsValid() && !a.Is4In6() && a.Zone() == "" }
