package icmp

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"diagnostics/worker/internal/exchange"

	"golang.org/x/sys/unix"
)

// A full queue of a device or a socket has room again within milliseconds, on a narrow link some tens of them. A probe
// waits that long for it rather than end its job; its round trip counts from when it leaves.
const (
	queuePatience = 40 * time.Millisecond
	shortestPause = time.Millisecond
	longestPause  = 8 * time.Millisecond
)

// pendingTries bounds how often a send is repeated because an ICMP error was pending on the socket. They come no faster
// than they are cleared. EMSGSIZE may also be this host's own, of which every try leaves a copy in the error queue.
const (
	pendingTries = 128
	sizeTries    = 8
)

// pastFullQueue sends, and again as long as there is no room for the packet and patience for that.
func pastFullQueue(send func() (time.Time, error)) (time.Time, error) {
	pause := shortestPause
	for waited := time.Duration(0); ; waited += pause {
		at, err := send()
		if !isFull(err) || waited >= queuePatience {
			return at, err
		}
		if waited > 0 {
			pause = min(2*pause, longestPause)
		}
		time.Sleep(pause)
	}
}

// sendProbe sends a probe with a TTL, once there is room for it, and counts it.
func (c *counters) sendProbe(ttl int, attempt func() (time.Time, error)) (time.Time, error) {
	if ttl < 1 || ttl > maxTTL {
		return time.Time{}, fmt.Errorf("TTL %d is not from 1 to %d", ttl, maxTTL)
	}
	at, err := pastFullQueue(attempt)
	if err != nil {
		c.sendErrors.Add(1)
		return at, sendError(err)
	}
	c.sent.Add(1)
	return at, nil
}

// sendLabelled sends with a flow label, or with none where there is none (nil). Where the system keeps labels to itself
// (a flow label was leased as exclusive, ipv6(7)), it goes without, from then on.
func sendLabelled(
	label []byte, unlabelled *atomic.Bool, send func(label []byte) (time.Time, error),
) (time.Time, error) {
	if label == nil || unlabelled.Load() {
		return send(nil)
	}
	at, err := send(label)
	if !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOENT) {
		return at, err
	}
	at, err = send(nil)
	if err == nil {
		unlabelled.Store(true)
	}
	return at, err
}

// sendPastErrors sends a packet. An ICMP error that came for an earlier packet makes the next call on the socket fail,
// whatever that call is for, and is cleared by it; what is read of such errors comes from the error queue. So the call
// is repeated: an error of this host's own stays. past is how many errors of earlier packets were in the way of one
// that then left.
func sendPastErrors(fd int, packet, control []byte, to unix.Sockaddr) (at time.Time, past uint64, err error) {
	for past = range uint64(pendingTries) {
		at = time.Now()
		err = unix.Sendmsg(fd, packet, control, to, unix.MSG_DONTWAIT)
		if err == nil {
			return at, past, nil
		}
		if !isPending(err) || errors.Is(err, unix.EMSGSIZE) && past >= sizeTries {
			break
		}
	}
	return at, 0, err
}

// isPending reports whether an error of a send may be that of an earlier packet: it is one of those to which the kernel
// translates ICMP errors (icmp_err_convert, icmpv6_err_convert), or a signal.
func isPending(err error) bool {
	return isAny(err, unix.EHOSTUNREACH, unix.ENETUNREACH, unix.ECONNREFUSED, unix.EACCES, unix.EMSGSIZE, unix.EPROTO,
		unix.ENOPROTOOPT, unix.EOPNOTSUPP, unix.EHOSTDOWN, unix.ENONET, unix.EREMOTEIO, unix.EINTR)
}

func isFull(err error) bool { return isAny(err, unix.ENOBUFS, unix.EAGAIN, unix.ENOMEM) }

func isAny(err error, of ...error) bool {
	return slices.ContainsFunc(of, func(e error) bool { return errors.Is(err, e) })
}

// sendError names the system's errors in the terms of exchange.Flow.
func sendError(err error) error {
	switch {
	case isAny(err, unix.ENETUNREACH, unix.EHOSTUNREACH, unix.EADDRNOTAVAIL, unix.EINVAL):
		return errors.Join(exchange.ErrNoRoute, err)
	case isFull(err), errors.Is(err, unix.ENETDOWN):
		return errors.Join(exchange.ErrShortage, err)
	case errors.Is(err, unix.EMSGSIZE):
		return errors.Join(exchange.ErrSize, err)
	case isAny(err, unix.EPERM, unix.EACCES):
		return errors.Join(exchange.ErrForbidden, err)
	case errors.Is(err, net.ErrClosed):
		return errors.Join(exchange.ErrClosed, err)
	default:
		return err
	}
}

// sendSocket is a raw IPv4 socket that only sends. For a packet that this host's own queue dropped, Linux returns no
// error to a raw IPv4 socket unless IP_RECVERR is set (ip(7)): the packet would count as the destination's loss. On the
// receiving socket that option would make every ICMP error fail a read. Raw IPv6 sockets get the error without it.
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
		// The socket is not read: the filters keep packets from it, and of ICMP errors it keeps one or two.
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
