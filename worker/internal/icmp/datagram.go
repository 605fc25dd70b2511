package icmp

import (
	"errors"
	"fmt"
	"net/netip"
	"sync/atomic"

	"diagnostics/worker/internal/exchange"

	"golang.org/x/sys/unix"
)

// datagrams serves flows with datagram ICMP sockets ("ping sockets", icmp(7)), which Linux grants without a capability
// to the groups of net.ipv4.ping_group_range. The kernel hands each socket only what answers its identifier, so every
// flow has a socket of its own. Echo replies come as data; ICMP errors come through the socket's error queue
// (IP_RECVERR, ip(7)).
type datagrams struct {
	protocol   datagramProtocol
	poller     *poller
	counters   *counters
	pool       *identifierPool
	forged     *suspicion  // about the errors of all flows
	unlabelled atomic.Bool // the system refuses flow labels
}

// datagramProtocol is in what the families differ.
type datagramProtocol struct {
	domain, protocol int
	any              func(id uint16) unix.Sockaddr
	level            int
	ttlOption        int
	options          []int // switched on
	lengthOption     int   // tells where a quote ends (RFC 4884)
	requestType      byte
	origin           byte // of errors that came by ICMP
	errorOption      int  // control message of the error queue
	// quotedHeader is the length of the IP header that the kernel strips off a quote: that of our own requests.
	quotedHeader int
	kind         func(typ, code byte) exchange.Kind
	parse        func([]byte) (message, bool)
}

// openDatagram4 makes ready for IPv4.
func openDatagram4(c *counters) (family, error) {
	return openDatagrams(datagramProtocol{
		domain: unix.AF_INET, protocol: unix.IPPROTO_ICMP,
		any:   func(id uint16) unix.Sockaddr { return &unix.SockaddrInet4{Port: int(id)} },
		level: unix.IPPROTO_IP, ttlOption: unix.IP_TTL, options: []int{unix.IP_RECVERR, unix.IP_RECVTTL},
		lengthOption: unix.IP_RECVERR_RFC4884,
		requestType:  v4EchoRequest, origin: unix.SO_EE_ORIGIN_ICMP, errorOption: unix.IP_RECVERR,
		quotedHeader: minIPv4Header, kind: kind4, parse: parse4,
	}, c)
}

// openDatagram6 makes ready for IPv6.
func openDatagram6(c *counters) (family, error) {
	return openDatagrams(datagramProtocol{
		domain: unix.AF_INET6, protocol: unix.IPPROTO_ICMPV6,
		any:   func(id uint16) unix.Sockaddr { return &unix.SockaddrInet6{Port: int(id)} },
		level: unix.IPPROTO_IPV6, ttlOption: unix.IPV6_UNICAST_HOPS,
		options: []int{unix.IPV6_RECVERR, unix.IPV6_RECVHOPLIMIT}, lengthOption: unix.IPV6_RECVERR_RFC4884,
		requestType: v6EchoRequest, origin: unix.SO_EE_ORIGIN_ICMP6, errorOption: unix.IPV6_RECVERR,
		quotedHeader: ipv6Header, kind: kind6, parse: parse6,
	}, c)
}

func openDatagrams(p datagramProtocol, c *counters) (family, error) {
	d := &datagrams{
		protocol: p, counters: c, pool: newIdentifierPool(), forged: newSuspicion(datagramsLimit, datagramsPace),
	}
	if err := d.check(); err != nil {
		return nil, err
	}
	var err error
	if d.poller, err = newPoller(); err != nil {
		return nil, err
	}
	d.poller.reader.Go(func() { c.keepReading(d.poller.read) })
	return d, nil
}

func (d *datagrams) check() error {
	fd, id, err := d.socket()
	if err != nil {
		return err
	}
	d.pool.give(id)
	return unix.Close(fd)
}

func (d *datagrams) close() error { return d.poller.close() }

func (d *datagrams) open(dst netip.Addr, deliver func(exchange.Answer)) (exchange.Flow, error) {
	fd, id, err := d.socket()
	if err != nil {
		return nil, openError(err)
	}
	f := &datagramFlow{network: d, dst: dst, to: sockaddr(dst), identity: newIdentity(id, dst), deliver: deliver, fd: fd,
		label: newLabel(dst), forged: newSuspicion(datagramLimit, datagramPace)}
	if err := d.poller.add(f); err != nil {
		unix.Close(fd)
		d.pool.give(id)
		return nil, openError(err)
	}
	return f, nil
}

// bindTries is how often an identifier is drawn: another program's datagram sockets may have some.
const bindTries = 16

// socket opens a socket with an identifier of its own. The kernel would choose one too, but numbers in sequence, which
// are predictable.
func (d *datagrams) socket() (fd int, id uint16, err error) {
	p := d.protocol
	fd, err = unix.Socket(p.domain, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, p.protocol)
	if err != nil {
		return -1, 0, fmt.Errorf("socket: %w", err)
	}
	if err = d.prepare(fd); err == nil {
		id, err = d.bind(fd)
	}
	if err != nil {
		unix.Close(fd)
		return -1, 0, err
	}
	return fd, id, nil
}

func (d *datagrams) prepare(fd int) error {
	p := d.protocol
	for _, option := range p.options {
		if err := unix.SetsockoptInt(fd, p.level, option, 1); err != nil {
			return fmt.Errorf("set socket options: %w", err)
		}
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1); err != nil {
		return fmt.Errorf("set socket options: %w", err)
	}
	// Kernels before 5.9 do not tell the length of a quote; labels behind quotes of other than 128 bytes are missed there.
	_ = unix.SetsockoptInt(fd, p.level, p.lengthOption, 1)
	return nil
}

// bind gives a socket its identifier, which for these sockets is what a port is for others.
func (d *datagrams) bind(fd int) (id uint16, err error) {
	for range bindTries {
		id, ok := d.pool.take()
		if !ok {
			return 0, unix.EADDRINUSE
		}
		if err = unix.Bind(fd, d.protocol.any(id)); err == nil {
			return id, nil
		}
		d.pool.give(id)
		if !errors.Is(err, unix.EADDRINUSE) {
			break
		}
	}
	return 0, fmt.Errorf("bind: %w", err)
}

// openError names the system's errors in the terms of exchange.Network: no file descriptor, or no identifier, is left.
func openError(err error) error {
	if isAny(err, unix.EMFILE, unix.ENFILE, unix.EADDRINUSE, unix.EAGAIN, unix.ENOMEM, unix.ENOBUFS) {
		return errors.Join(exchange.ErrNoFlow, err)
	}
	return err
}
