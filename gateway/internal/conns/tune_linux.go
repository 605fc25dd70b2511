package conns

import (
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	// mostUnsent is how much of an answer the kernel takes beyond what the reader's window lets it send. Without it
	// an unread answer of megabytes would be the kernel's at once: written for us, and held for minutes by the system.
	// Unlike a small send buffer it does not slow down a reader who is far away.
	mostUnsent = 16 << 10
	// unacknowledgedMs is how long the kernel tries to deliver what it took, and what it keeps for a closed
	// connection: the time that a whole answer has. A reader who closes its window is given up as well.
	unacknowledgedMs = 30_000
)

// tune bounds what the kernel keeps for a connection. Where it cannot, the connection serves all the same.
func tune(control syscall.RawConn) {
	_ = control.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, mostUnsent)
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, unacknowledgedMs)
	})
}

// acknowledged reports whether the other end has acknowledged all that was written to it.
func acknowledged(control syscall.RawConn) bool {
	waiting := -1
	_ = control.Control(func(fd uintptr) {
		if n, err := unix.IoctlGetInt(int(fd), unix.SIOCOUTQ); err == nil {
			waiting = n
		}
	})
	return waiting == 0
}
