package lab

import (
	"fmt"
	"net"

	"diagnostics/lab/internal/netns"
)

// Listen opens a listening socket in a node, for a test that plays a server of its own; address is a literal. An
// address that no server of the service has is ListenBeside's to choose.
func (l *Lab) Listen(node, network, address string) (net.Listener, error) {
	ns, err := l.node(node)
	if err != nil {
		return nil, err
	}
	return ns.Listen(network, address)
}

// ListenPacket is Listen for a server of packets.
func (l *Lab) ListenPacket(node, network, address string) (net.PacketConn, error) {
	ns, err := l.node(node)
	if err != nil {
		return nil, err
	}
	return ns.ListenPacket(network, address)
}

func (l *Lab) node(name string) (*netns.NS, error) {
	ns, ok := l.ns[name]
	if !ok {
		return nil, fmt.Errorf("the lab has no node %q", name)
	}
	return ns, nil
}
