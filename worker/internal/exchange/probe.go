package exchange

import (
	"errors"
	"net/netip"
)

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
