package icmp

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// sendSocket is a raw IPv4 socket that only sends. Of a packet that this host's own queue has dropped Linux tells a raw
// IPv4 socket nothing, unless it asks for ICMP errors too (IP_RECVERR, ip(7)): it would be told as the destination's
// loss. On the socket that receives every ICMP error would make a read fail then. Raw IPv6 sockets are told as they
// are.
type sendSocket struct {
	// mu keeps the descriptor from being closed, and so from becoming another's, while it is used.
	mu sync.RWMutex
	fd int // -1 when closed
}

// blockAll is an ICMP_FILTER (raw(7)) that keeps the first 32 types from a socket.
const (
	icmpFilter = 1
	blockAll   = -1
)

// openSendSocket opens one of a protocol. That of IPPROTO_RAW takes whole packets, of any protocol, and is given none.
func openSendSocket(protocol int) (*sendSocket, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, protocol)
	if err != nil {
		return nil, fmt.Errorf("socket: %w", err)
	}
	err = attachNothing(fd)
	if protocol == unix.IPPROTO_ICMP {
		err = errors.Join(err, unix.SetsockoptInt(fd, unix.SOL_RAW, icmpFilter, blockAll))
	}
	err = errors.Join(err,
		// Nobody reads the socket: the filters keep packets from it, and of ICMP errors it keeps one or two.
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 1),
		unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_RECVERR, 1),
	)
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("set socket options: %w", err)
	}
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, sendBuffer) != nil {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, sendBuffer)
	}
	return &sendSocket{fd: fd}, nil
}

// send sends one packet without waiting for room, and gives the moment right before.
func (s *sendSocket) send(packet, oob []byte, to unix.Sockaddr) (time.Time, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.fd < 0 {
		return time.Time{}, net.ErrClosed
	}
	at, _, err := sendPastErrors(s.fd, packet, oob, to)
	return at, err
}

func (s *sendSocket) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	fd := s.fd
	if s.fd = -1; fd < 0 {
		return nil
	}
	return unix.Close(fd)
}
