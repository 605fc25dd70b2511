package icmp

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"diagnostics/worker/internal/echo"

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
	s, err := openRaw("ip4:icmp", "0.0.0.0", c)
	if err != nil {
		return nil, err
	}
	p := ipv4.NewPacketConn(s.conn)
	if err := installFilter4(p); err != nil {
		s.conn.Close()
		return nil, fmt.Errorf("install the packet filter: %w", err)
	}
	if s.sender, err = openSendSocket(unix.IPPROTO_ICMP); err != nil {
		s.conn.Close()
		return nil, err
	}
	s.batch = func(ms []ipv4.Message) (int, error) { return p.ReadBatch(ms, 0) }
	s.receive = (*socket).receive4
	s.requestType = v4EchoRequest
	s.fillControls(unix.IPPROTO_IP, unix.IP_TTL)
	s.start()
	return s, nil
}

// openRaw6 opens the raw IPv6 socket and starts its reader.
func openRaw6(c *counters) (family, error) {
	s, err := openRaw("ip6:ipv6-icmp", "::", c)
	if err != nil {
		return nil, err
	}
	p := ipv6.NewPacketConn(s.conn)
	if err := errors.Join(installFilter6(p), s.setOption(unix.IPPROTO_IPV6, unix.IPV6_RECVHOPLIMIT, 1)); err != nil {
		s.conn.Close()
		return nil, fmt.Errorf("install the packet filter: %w", err)
	}
	s.batch = func(ms []ipv6.Message) (int, error) { return p.ReadBatch(ms, 0) }
	s.receive = (*socket).receive6
	s.requestType = v6EchoRequest
	s.fillControls(unix.IPPROTO_IPV6, unix.IPV6_HOPLIMIT)
	s.start()
	return s, nil
}

// start begins to read.
func (s *socket) start() {
	s.reader.Go(func() {
		defer close(s.closed)
		s.counters.keepReading(func() { s.read(s.dispatch) })
	})
}

// openRaw opens a raw socket with the options that both families share.
func openRaw(network, address string, c *counters) (*socket, error) {
	conn, err := openConn(network, address, c)
	if err != nil {
		return nil, err
	}
	return &socket{rawConn: conn, flows: newFlows(), closed: make(chan struct{})}, nil
}

func (s *socket) fillControls(level, typ int32) {
	for ttl := range s.controls {
		s.controls[ttl] = ttlControl(level, typ, ttl)
	}
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

func (s *socket) open(dst netip.Addr, deliver func(echo.Answer)) (echo.Flow, error) {
	select {
	case <-s.closed:
		return nil, echo.ErrClosed
	default:
	}
	// A nil *flow must not become a non-nil echo.Flow.
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
