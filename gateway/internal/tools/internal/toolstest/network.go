package toolstest

import (
	"testing"

	"diagnostics/gateway/internal/egress/egresstest"

	"github.com/miekg/dns"
)

// The addresses of example.com on a WebNetwork, and its site over plain HTTP at each.
const (
	WebV4       = "93.184.216.34"
	WebV6       = "2606:2800:220:1::34"
	WebV4Port80 = WebV4 + ":80"
	WebV6Port80 = "[" + WebV6 + "]:80"
)

// WebNetwork has example.com, over IPv4 alone, and has no server yet.
func WebNetwork(t *testing.T) *egresstest.Network {
	t.Helper()
	n := egresstest.New(t)
	n.Records("example.com. 300 IN A " + WebV4)
	return n
}

// The addresses of the names on a ProbeNetwork.
const (
	ProbeV4 = "93.184.216.34"
	ProbeV6 = "2606:2800:220:1:248:1893:25c8:1946"
)

// ProbeNetwork has a name for every mix of families that a worker tool may meet.
func ProbeNetwork(t *testing.T) *egresstest.Network {
	t.Helper()
	n := egresstest.New(t)
	n.Records(
		"both.example.com. 300 IN A "+ProbeV4,
		"both.example.com. 300 IN AAAA "+ProbeV6,
		"four.example.com. 300 IN A "+ProbeV4,
		"six.example.com. 300 IN AAAA "+ProbeV6,
		"mixed.example.com. 300 IN A "+ProbeV4,
		"mixed.example.com. 300 IN A 10.0.0.1",
		"inside.example.com. 300 IN AAAA fd00::1",
		"none.example.com. 300 IN TXT nothing",
	)
	return n
}

// SilentName makes the network's resolver say nothing about a name.
func SilentName(n *egresstest.Network, name string) {
	n.Handle(name, func(*dns.Msg) *dns.Msg { return nil })
}

// WantDials fails where anything but the given ports of public addresses was dialled.
func WantDials(t *testing.T, n *egresstest.Network, want ...string) {
	t.Helper()
	allowed := make(map[string]bool)
	for _, w := range want {
		allowed[w] = true
	}
	for _, d := range n.Dials() {
		if !allowed[d.String()] {
			t.Errorf("%s was dialled", d)
		}
	}
}
