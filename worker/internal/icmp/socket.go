package icmp

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"diagnostics/worker/internal/exchange"

	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
	"golang.org/x/sys/unix"
)

// socket is one raw ICMP socket with its reader and its flows.
type socket struct {
	*rawConn
	sender      *sendSocket // for sending; nil where that is done by conn
	requestType byte
	controls    [maxTTL + 1][]byte
	flows       *flows
	unlabelled  atomic.Bool // the system refuses flow labels
	receive     func(*socket, ipv4.Message) (arrived, bool)
	closed      chan struct{}
}

// openRaw4 opens the raw IPv4 socket and starts its reader.
func openRaw4(c *counters) (family, error) {
	conn, err := openFiltered("ip4:icmp", filter4(), c)
	if err != nil {
		return nil, err
	}
	sender, err := openSendSocket(unix.IPPROTO_ICMP)
	if err != nil {
		conn.conn.Close()
		return nil, err
	}
	return (&socket{
		rawConn: conn, sender: sender, receive: (*socket).receive4, requestType: v4EchoRequest,
		controls: ttlControls(unix.IPPROTO_IP, unix.IP_TTL), flows: newFlows(), closed: make(chan struct{}),
	}).start(), nil
}

// openRaw6 opens the raw IPv6 socket and starts its reader.
func openRaw6(c *counters) (family, error) {
	conn, err := openConn("ip6:ipv6-icmp", c)
	if err != nil {
		return nil, err
	}
	if err := installFilter6(ipv6.NewPacketConn(conn.conn)); err != nil {
		conn.conn.Close()
		return nil, fmt.Errorf("install the packet filter: %w", err)
	}
	return (&socket{
		rawConn: conn, receive: (*socket).receive6, requestType: v6EchoRequest,
		controls: ttlControls(unix.IPPROTO_IPV6, unix.IPV6_HOPLIMIT), flows: newFlows(), closed: make(chan struct{}),
	}).start(), nil
}

// start begins to read.
func (s *socket) start() *socket {
	s.reader.Go(func() {
		defer close(s.closed)
		s.counters.keepReading(func() { s.read(s.dispatch) })
	})
	return s
}

// send sends one packet without waiting for room in the socket's buffer, and gives the moment right before. extra is a
// further control message, or nil.
func (s *socket) send(packet []byte, dst netip.Addr, ttl int, extra []byte) (time.Time, error) {
	oob := s.controls[ttl]
	if extra != nil {
		oob = slices.Concat(oob, extra)
	}
	if s.sender != nil {
		return s.sender.send(packet, oob, sockaddr(dst))
	}
	return s.sendByConn(packet, oob, sockaddr(dst))
}

func sockaddr(a netip.Addr) unix.Sockaddr {
	if a.Is4() {
		return &unix.SockaddrInet4{Addr: a.As4()}
	}
	return &unix.SockaddrInet6{Addr: a.As16()}
}

func (s *socket) open(dst netip.Addr, deliver func(exchange.Answer)) (exchange.Flow, error) {
	select {
	case <-s.closed:
		return nil, exchange.ErrClosed
	default:
	}
	// A nil *flow must not become a non-nil exchange.Flow.
	f, err := s.flows.add(s, dst, deliver)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// check implements family: a raw socket once opened serves every flow.
func (s *socket) check() error { return nil }

func (s *socket) close() error {
	err := s.conn.Close()
	if s.sender != nil {
		err = errors.Join(err, s.sender.close())
	}
	s.reader.Wait()
	return err
}
