package daemon

import (
	"net"
	"syscall"
	"time"
)

const (
	// handshake is how long the kernel may take to finish the handshakes that have begun.
	handshake = 100 * time.Millisecond
	// backlogPoll is the time between two checks whether all connections have been accepted.
	backlogPoll = 5 * time.Millisecond
)

// drainBacklog makes the kernel begin no more connections for a listener that is about to be closed, and waits until
// the server has accepted the existing ones. The kernel finishes handshakes by itself, and closing the listener
// resets the connections that the server has not accepted yet: their clients may have sent a request already. A new
// SYN is dropped meanwhile; the client retries a second later, and is refused then.
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
