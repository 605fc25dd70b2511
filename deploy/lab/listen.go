package lab

import (
	"fmt"
	"net"
)

// Listen opens a listening socket in a node, for a test that plays a server of its own; address is a literal.
func (l *Lab) Listen(node, network, address string) (net.Listener, error) {
	ns, ok := l.ns[node]
	if !ok {
		return nil, fmt.Errorf("the lab has no node %q", node)
	}
	return ns.Listen(network, address)
}
