package egress

import (
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"

	"diagnostics/gateway/internal/fault"
)

// What one QUIC connection may come to. A server that means well answers in some ten datagrams, most of them its
// certificates, and each datagram costs this service time, however little it holds.
const (
	maxQUICDatagrams = 240
	maxQUICBytes     = 256 << 10
	// maxQUICSent is how many datagrams are sent, acknowledgements included, and maxQUICUnanswered how many to a server
	// from which nothing has come: the library repeats its first flight for as long as it waits.
	maxQUICSent       = 150
	maxQUICUnanswered = 6
	// quicConversation is what those come to, in bytes on the wire.
	quicConversation = maxQUICUnanswered * (1252 + 62)
	// quicBuffer is the receive buffer of the socket, in the kernel's count.
	quicBuffer = 64 << 10
)

var (
	errManyDatagrams = errors.New("too many datagrams, or octets in them")
	errOtherAddress  = errors.New("datagram to another address than was permitted")
)

// quicSocket is the net.PacketConn of one QUIC connection: a UDP socket that the kernel has connected to the one
// address that was permitted, so that nothing comes from another one and ICMP errors arrive. A datagram to another
// address, as for a migration or the server's preferred address (RFC 9000 section 9), is an error and is not sent. The
// kernel's control hook has judged the address, and the connection below counts each datagram for the run.
type quicSocket struct {
	conn net.Conn
	to   *net.UDPAddr

	mu                     sync.Mutex
	received, octets, sent int
	failed                 error
}

func newQUICSocket(conn net.Conn, to netip.AddrPort) *quicSocket {
	return &quicSocket{conn: conn, to: net.UDPAddrFromAddrPort(to)}
}

// ReadFrom gives the next datagram. An error other than a timeout ends the connection for the library.
func (s *quicSocket) ReadFrom(p []byte) (int, net.Addr, error) {
	n, err := s.conn.Read(p)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		return 0, nil, s.fail(err)
	}
	s.received++
	s.octets += n
	if s.received > maxQUICDatagrams || s.octets > maxQUICBytes {
		return 0, nil, s.fail(errManyDatagrams)
	}
	return n, s.to, nil
}

// WriteTo sends a datagram to the address of the socket. Past maxQUICUnanswered it is dropped.
func (s *quicSocket) WriteTo(p []byte, to net.Addr) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if other, is := to.(*net.UDPAddr); !is || other.AddrPort() != s.to.AddrPort() {
		return 0, s.fail(errOtherAddress)
	}
	if s.received == 0 && s.sent >= maxQUICUnanswered {
		return len(p), nil
	}
	if s.sent++; s.sent > maxQUICSent {
		return 0, s.fail(errManyDatagrams)
	}
	n, err := s.conn.Write(p)
	if err != nil {
		return n, s.fail(err)
	}
	return n, nil
}

// fail keeps the first error that is the network's or a bound's, since the library may keep the text alone.
func (s *quicSocket) fail(err error) error {
	if s.failed == nil && !fault.IsTimeout(err) && !errors.Is(err, net.ErrClosed) {
		s.failed = err
	}
	return err
}

// outcome returns whether anything came, and the first error of fail.
func (s *quicSocket) outcome() (answered bool, failed error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.received > 0, s.failed
}

func (s *quicSocket) Close() error                       { return s.conn.Close() }
func (s *quicSocket) LocalAddr() net.Addr                { return s.conn.LocalAddr() }
func (s *quicSocket) SetDeadline(t time.Time) error      { return s.conn.SetDeadline(t) }
func (s *quicSocket) SetReadDeadline(t time.Time) error  { return s.conn.SetReadDeadline(t) }
func (s *quicSocket) SetWriteDeadline(t time.Time) error { return s.conn.SetWriteDeadline(t) }

// SetReadBuffer and SetWriteBuffer keep the library from requesting 7 MiB, and from a line in the log where it gets
// less.
func (s *quicSocket) SetReadBuffer(int) error  { return nil }
func (s *quicSocket) SetWriteBuffer(int) error { return nil }
