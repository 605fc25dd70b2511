package daemon

import (
	"log/slog"
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

// drainBacklogs makes the kernel refuse new connections to listeners that are about to be closed, and waits until the
// servers have accepted the existing ones. The kernel finishes handshakes by itself, and closing a listener resets the
// connections that its server has not accepted yet: their clients may have sent a request already.
func drainBacklogs(listeners []net.Listener, patience time.Duration, log *slog.Logger) {
	var refusing []syscall.RawConn
	for _, l := range listeners {
		socket, ok := l.(syscall.Conn)
		if !ok {
			continue
		}
		raw, err := socket.SyscallConn()
		if err == nil {
			err = refuseNew(raw)
		}
		if err != nil {
			log.Warn("clients that connect just now may be reset: their connections cannot be refused",
				"listen", l.Addr().String(), "cause", err.Error())
			continue
		}
		refusing = append(refusing, raw)
	}
	if len(refusing) == 0 {
		return
	}
	end := time.Now().Add(patience)
	time.Sleep(min(handshake, patience))
	for _, raw := range refusing {
		for !backlogEmpty(raw) && time.Now().Before(end) {
			time.Sleep(backlogPoll)
		}
	}
}
