package icmp

import (
	"errors"
	"net"
	"net/netip"
	"time"

	"diagnostics/worker/internal/echo"

	"golang.org/x/sys/unix"
)

// A full device queue empties within a few milliseconds; a probe waits that long for it rather than count as lost.
const (
	sendTries = 5
	sendPause = time.Millisecond
)

// flow implements echo.Flow.
type flow struct {
	socket *socket
	dst    netip.Addr
	identity
	label   []byte // control message of the IPv6 flow label; nil for IPv4
	deliver func(echo.Answer)
	forged  *suspicion // about errors that quote dst
}

func (f *flow) Close() { f.socket.flows.remove(f) }

func (f *flow) Send(seq uint16, ttl int) (time.Time, error) {
	packet := f.request(f.socket.requestType, seq)
	for try := 1; ; try++ {
		at, err := f.attempt(packet[:], ttl)
		if err == nil {
			return at, nil
		}
		if !isFull(err) || try == sendTries {
			return at, sendError(err)
		}
		time.Sleep(sendPause)
	}
}

// attempt sends a packet with the flow's label. Where the system keeps labels to itself (a flow label was leased as
// exclusive, ipv6(7)), it goes without.
func (f *flow) attempt(packet []byte, ttl int) (time.Time, error) {
	if f.label == nil || f.socket.unlabelled.Load() {
		return f.socket.send(packet, f.dst, ttl, nil)
	}
	at, err := f.socket.send(packet, f.dst, ttl, f.label)
	if !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOENT) {
		return at, err
	}
	at, err = f.socket.send(packet, f.dst, ttl, nil)
	if err == nil {
		f.socket.unlabelled.Store(true)
	}
	return at, err
}

// believes tells whether the flow takes an answer that is proved so well.
func (f *flow) believes(p proof, now time.Time) bool {
	return p == proved || p == short && f.forged.quiet(now) && f.socket.flows.forged.quiet(now)
}

func isFull(err error) bool {
	return errors.Is(err, unix.ENOBUFS) || errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.ENOMEM)
}

// sendError names the system's errors in the terms of echo.Flow.
func sendError(err error) error {
	for _, e := range []error{unix.ENETUNREACH, unix.EHOSTUNREACH, unix.EADDRNOTAVAIL, unix.EINVAL} {
		if errors.Is(err, e) {
			return errors.Join(echo.ErrNoRoute, err)
		}
	}
	switch {
	case isFull(err), errors.Is(err, unix.ENETDOWN):
		return errors.Join(echo.ErrShortage, err)
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return errors.Join(echo.ErrForbidden, err)
	case errors.Is(err, net.ErrClosed):
		return errors.Join(echo.ErrClosed, err)
	default:
		return err
	}
}
