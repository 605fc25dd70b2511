//go:build !linux

package connections

import "net"

// tune does nothing where the system is not the one that the service is shipped for.
func tune(net.Conn) {}
