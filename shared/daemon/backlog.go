package daemon

import (
	"net"
	"syscall"
	"time"
)

const (
	// handshake is how long the kernel may take to finish the handshakes that have begun.
	handshake = 100 * time.Millisecond
	// backlogPoll is how often is looked whether all connections have been taken.
	backlogPoll = 5 * time.Millisecond
)

// drainBacklog has the kernel begin no more connections for a listener that is about to be closed, and waits until the
// server has taken those that there are. The kernel finishes handshakes by itself, and closing the listener resets
// the connections that the server has not taken yet: their clients may have sent a request already. Who asks for a
// connection meanwhile hears nothing, asks again a second later, and is refused then.
func drainBacklog(public net.Listener, patience time.Duration) {
	socket, ok := public.(syscall.Conn)
	if !ok {
		return
	}
	raw, err := socket.SyscallConn()
	if err != nil || !refuseNew(raw) {
		return
	}
	end := time.Now().Add(patience)
	time.Sleep(min(handshake, patience))
	for !backlogEmpty(raw) && time.Now().Before(end) {
		time.Sleep(backlogPoll)
	}
}
