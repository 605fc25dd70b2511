package daemon

import (
	"math"
	"syscall"

	"golang.org/x/sys/unix"
)

// noInterface is the index of no network interface: the kernel counts them from 1.
const noInterface = math.MaxInt32

// refuseNew binds a listening socket to an interface that does not exist. No SYN finds the socket from then on, so the
// kernel refuses it as at a closed port. The handshakes that have begun finish, since their state has its own entry in
// the kernel's table. Since Linux 5.7 a socket that is not bound to an interface yet needs no right for this.
func refuseNew(listener syscall.RawConn) error {
	var refused error
	err := listener.Control(func(fd uintptr) {
		refused = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_BINDTOIFINDEX, noInterface)
	})
	if err != nil {
		return err
	}
	return refused
}

// backlogEmpty reports whether all connections of a listening socket have been taken: of such a socket, tcpi_unacked
// is how many have not.
func backlogEmpty(listener syscall.RawConn) bool {
	none := true
	_ = listener.Control(func(fd uintptr) {
		if info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
			none = info.Unacked == 0
		}
	})
	return none
}
