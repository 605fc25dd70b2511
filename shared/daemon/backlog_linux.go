package daemon

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// The flags of a TCP header (RFC 9293 section 3.1).
const (
	tcpFlags = 13 // their octet
	tcpSYN   = 0x02
	tcpACK   = 0x10
)

// notBegun drops a SYN and passes the segment that finishes a handshake. A socket's filter sees a segment from its TCP
// header on (socket(7), SO_ATTACH_FILTER).
var notBegun = [...]unix.SockFilter{
	{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: tcpFlags},
	{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: tcpSYN | tcpACK},
	{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: tcpSYN, Jf: 1},
	{Code: unix.BPF_RET | unix.BPF_K, K: 0},
	{Code: unix.BPF_RET | unix.BPF_K, K: 0xffffffff}, // all of it
}

// refuseNew makes a listening socket take no more connections, and reports whether the system allows it.
func refuseNew(listener syscall.RawConn) (done bool) {
	program := unix.SockFprog{Len: uint16(len(notBegun)), Filter: &notBegun[0]}
	err := listener.Control(func(fd uintptr) {
		done = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &program) == nil
	})
	return done && err == nil
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
