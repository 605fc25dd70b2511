package icmp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"diagnostics/worker/internal/exchange"

	"golang.org/x/sys/unix"
)

// sizedSender sends packets of a given size. Its socket sets "do not fragment", and ignores what the kernel has learnt
// of the path MTU (IP_PMTUDISC_PROBE): only the MTU of this host's link bounds a packet.
type sizedSender interface {
	send(packet, oob []byte, to unix.Sockaddr) (time.Time, error)
	close() error
}

func openSized4() (sizedSender, error) {
	s, err := openSendSocket(unix.IPPROTO_ICMP)
	if err != nil {
		return nil, err
	}
	if err := unix.SetsockoptInt(s.fd, unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_PROBE); err != nil {
		return nil, errors.Join(fmt.Errorf("set socket options: %w", err), s.close())
	}
	return s, nil
}

// sized6 is a raw IPv6 socket that is never read.
type sized6 struct{ *rawConn }

func openSized6(c *counters) (sizedSender, error) {
	s, err := openFiltered("ip6:ipv6-icmp", filterNothing(), c)
	if err != nil {
		return nil, err
	}
	if err := s.setOption(unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, unix.IPV6_PMTUDISC_PROBE); err != nil {
		return nil, errors.Join(fmt.Errorf("set socket options: %w", err), s.conn.Close())
	}
	return sized6{s}, nil
}

func (s sized6) send(packet, oob []byte, to unix.Sockaddr) (time.Time, error) {
	return s.sendByConn(packet, oob, to)
}

func (s sized6) close() error { return s.conn.Close() }

// sizedRequest builds the echo request for a probe whose packet has size octets with its IP header. What is added
// leaves the checksum as it is, so that all sizes take one path: zeros, and in IPv6, whose checksum covers the length
// (RFC 8200 section 8.1), the complement of what the length has grown by.
func (i identity) sizedRequest(typ byte, seq uint16, dst netip.Addr, size int) ([]byte, error) {
	small := i.request(typ, seq)
	if least := ipHeader(dst) + len(small) + 2; size < least || size > exchange.MaxSize {
		return nil, fmt.Errorf("size %d is not from %d to %d", size, least, exchange.MaxSize)
	}
	b := make([]byte, size-ipHeader(dst))
	n := copy(b, small[:])
	if !dst.Is4() {
		binary.BigEndian.PutUint16(b[n:], ^uint16(len(b)-n))
	}
	return b, nil
}

// SendSized implements exchange.SizedFlow.
func (f *flow) SendSized(seq uint16, ttl, size int) (time.Time, error) {
	packet, err := f.sizedRequest(f.socket.requestType, seq, f.dst, size)
	if err != nil {
		return time.Time{}, err
	}
	f.sent.add(seq)
	s := f.socket
	return s.counters.sendProbe(ttl, func() (time.Time, error) {
		return sendLabelled(f.label, &s.unlabelled, func(label []byte) (time.Time, error) {
			return s.sized.send(packet, append(ttlControl(s.level, s.ttl, ttl), label...), sockaddr(f.dst))
		})
	})
}

// SendSized implements exchange.SizedFlow.
func (f *datagramFlow) SendSized(seq uint16, ttl, size int) (time.Time, error) {
	packet, err := f.sizedRequest(f.network.protocol.requestType, seq, f.dst, size)
	if err != nil {
		return time.Time{}, err
	}
	f.sent.add(seq)
	return f.network.counters.sendProbe(ttl, func() (time.Time, error) {
		if err := f.keepWhole(); err != nil {
			return time.Time{}, err
		}
		return f.attempt(packet, ttl)
	})
}

// keepWhole makes the socket send packets whole, whatever the path MTU.
func (f *datagramFlow) keepWhole() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.whole || f.closed {
		return nil
	}
	p := f.network.protocol
	if err := unix.SetsockoptInt(f.fd, p.level, p.discover, p.probe); err != nil {
		return fmt.Errorf("set socket options: %w", err)
	}
	f.whole = true
	return nil
}
