// Package exchange holds the words that the probes and the ICMP engine share: what can be sent, and what can come back.
// What it says of echo requests holds for UDP and TCP probes too (Probe), where nothing else is said. It does no I/O,
// so that probes run on real sockets and on a simulated network alike.
package exchange

import (
	"errors"
	"net/netip"
	"time"
)

// Kind says what an answer to an echo request means.
type Kind int

// The kinds, with their ICMP types and codes (RFC 792, RFC 1122 section 3.2.2.1, RFC 1812 section 5.2.7, RFC 4443).
const (
	// Reply is the echo reply: the destination answered. See Protocol for the answers to other probes.
	Reply Kind = iota + 1
	// TimeExceeded is a router at which the TTL ran out (v4 11/0, v6 3/0).
	TimeExceeded
	// TooBig is a router whose next link is too narrow (v4 3/4, v6 2). It ends nothing.
	TooBig
	// NetUnreachable is a router without a route (v4 3/0, 5, 6, 8, 11; v6 1/0, 1/2).
	NetUnreachable
	// HostUnreachable is a router that cannot find the host on its last link (v4 3/1, 7, 12; v6 1/3).
	HostUnreachable
	// ProtocolUnreachable is a host that does not speak ICMP echo (v4 3/2).
	ProtocolUnreachable
	// PortUnreachable is, in answer to an echo request, a firewall's REJECT (v4 3/3; v6 1/4).
	PortUnreachable
	// Prohibited is a firewall that says so (v4 3/9, 10, 13, 14, 15; v6 1/1, 1/5, 1/6).
	Prohibited
)

// Ends reports whether an answer of this kind says that probes of this flow get no farther than its sender.
func (k Kind) Ends() bool { return k != 0 && k != TimeExceeded && k != TooBig }

// Refuses reports whether an answer of this kind says that the destination cannot be reached.
func (k Kind) Refuses() bool { return k.Ends() && k != Reply }

// Answer is one ICMP message that answers an echo request of a flow.
type Answer struct {
	Seq  uint16
	Kind Kind
	// From is the source address of the message. For an echo reply it may differ from the destination (NAT, anycast).
	From netip.Addr
	// Damaged is set for an echo reply that does not return the whole payload of its request (RFC 1122 section 3.2.2.6,
	// RFC 4443 section 4.2). Without the cookie it counts as one only if it comes from the destination itself.
	Damaged bool
	// TTL is the remaining TTL or hop limit with which the message arrived; 0 where unknown.
	TTL int
	// At is the moment of arrival, comparable with the moment that Send gave.
	At time.Time
	// Labels is the MPLS label stack with which the probe came to the router, outermost first, where the router reports it
	// (RFC 4950); nil where it does not.
	Labels []Label
	// MTU is the next-hop MTU that a TooBig states, unchecked (RFC 1191 section 4, RFC 4443 section 3.2); 0 where it
	// states none.
	MTU int
}

// Label is one entry of an MPLS label stack (RFC 3032 section 2.1).
type Label struct {
	Value  uint32 // 20 bits
	TC     uint8  // traffic class, 3 bits; once called experimental (RFC 5462)
	Bottom bool   // whether it is the last of its stack
	TTL    uint8
}

// Errors of Open and Send. Other errors are the system's.
var (
	// ErrFamily: no socket of the destination's address family is open.
	ErrFamily = errors.New("no socket of this address family is open")
	// ErrNoRoute: this host has no route to the destination.
	ErrNoRoute = errors.New("this host has no route to the destination")
	// ErrForbidden: a rule of this host's own forbids the packet.
	ErrForbidden = errors.New("a local rule forbids the packet")
	// ErrCutOff: this host had a route to addresses of the family, and lost it or its link, if only for a moment.
	ErrCutOff = errors.New("this host has lost its route to the destination")
	// ErrShortage: this host has no room for the packet, or its link is down.
	ErrShortage = errors.New("this host cannot send at the moment")
	// ErrSize: the packet is larger than what this host's own link carries.
	ErrSize = errors.New("the packet is larger than what the link of this host carries")
	// ErrNoFlow: every flow identifier is taken.
	ErrNoFlow = errors.New("every flow identifier is taken")
	// ErrClosed: the network was closed.
	ErrClosed = errors.New("the network is closed")
)

// Network opens flows. It is safe for concurrent use.
type Network interface {
	// Open starts a flow of echo requests to dst. Answers to them are given to deliver, one at a time, from a goroutine
	// that serves every flow: deliver must not block. One delivery may still be under way when Close returns.
	// Errors: ErrFamily, ErrNoFlow, ErrClosed.
	Open(dst netip.Addr, deliver func(Answer)) (Flow, error)
	// Follow watches over the route to dst from now on, until the RouteWatch is closed. A link without a carrier takes
	// packets and drops them: Send returns no error then, and the silence is not the destination's.
	Follow(dst netip.Addr) RouteWatch
}

// RouteWatch follows this host's own route to a destination. A family that it never had is not cut off;
// there Send gives ErrNoRoute. It is safe for concurrent use.
type RouteWatch interface {
	// Cut is ErrCutOff while there is none. It costs next to nothing.
	Cut() error
	// WasCut is ErrCutOff where there is none, or was none at any moment since Follow, and ErrShortage where this host has
	// dropped packets to it without an error of Send.
	WasCut() error
	// Close ends the watch. It may be called more than once.
	Close()
}

// Flow is a row of echo requests that share an identifier and a checksum, so that routers that spread load by either
// send all of them the same way. It is safe for concurrent use.
type Flow interface {
	// Send sends the echo request seq with a TTL (hop limit) of 1 to 255, and gives the moment right before it left.
	// Errors: ErrNoRoute, ErrShortage, ErrForbidden, ErrClosed, the system's.
	Send(seq uint16, ttl int) (time.Time, error)
	// Close ends the flow; answers that come later are dropped. It may be called more than once.
	Close()
}

// SizedFlow is a Flow that also sends echo requests of a given size, which no router fragments.
type SizedFlow interface {
	Flow
	// SendSized is Send for a packet of size octets with its IP header, from the least MTU of the family to MaxSize. What
	// this host has learnt of the path MTU is ignored. Errors: ErrSize besides those of Send.
	SendSized(seq uint16, ttl, size int) (time.Time, error)
}

// MaxSize is the largest size of a packet with its IP header, in octets.
const MaxSize = 1500

// Protocol is what the probes of a flow are.
type Protocol int

// The protocols.
const (
	// ICMP probes are echo requests. Only an echo reply is the destination's own answer to one.
	ICMP Protocol = iota
	// UDP probes are datagrams to a port at which nothing is expected to listen: that the destination itself says so
	// (v4 3/3, v6 1/4) is its answer. What does listen there takes them without a word.
	UDP
	// TCP probes are SYNs. SYN-ACK and RST are the destination's answers.
	TCP
)

// String is the protocol's name as the contract has it.
func (p Protocol) String() string { return [...]string{"icmp", "udp", "tcp"}[p] }

// Probe is what a flow sends.
type Probe struct {
	Protocol Protocol
	// Port is the destination's, the same for every probe; 0 for ICMP.
	Port uint16
	// Size is the size of each UDP packet with its IP header, from 128 to MaxSize octets; 0 for one of about 100.
	Size int
}

// ErrProtocol is that only ICMP probes can be sent: the sockets for others take a right that was not granted.
var ErrProtocol = errors.New("only ICMP probes can be sent")

// PortNetwork is a Network that opens flows of UDP and TCP probes too.
//
// Probes of such a flow share source and destination port, so that routers that spread load send all of them the same
// way. No connection ever comes of a SYN: no program owns its source port, so the kernel answers a SYN-ACK with a RST.
type PortNetwork interface {
	// OpenPort is Network.Open for a Probe with a port. Of UDP and TCP the destination's own answer is a Reply.
	// Errors: ErrProtocol besides those of Open.
	OpenPort(p Probe, dst netip.Addr, deliver func(Answer)) (Flow, error)
}
