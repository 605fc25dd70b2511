package icmp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

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
	discover, probe  int   // the option and its value with which packets of any size leave whole
	lengthOption     int   // reports where a quote ends (RFC 4884)
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
		discover: unix.IP_MTU_DISCOVER, probe: unix.IP_PMTUDISC_PROBE,
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
		options:  []int{unix.IPV6_RECVERR, unix.IPV6_RECVHOPLIMIT},
		discover: unix.IPV6_MTU_DISCOVER, probe: unix.IPV6_PMTUDISC_PROBE, lengthOption: unix.IPV6_RECVERR_RFC4884,
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
	// Kernels before 5.9 do not report the length of a quote; labels behind quotes of other than 128 bytes are missed
	// there.
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

// datagramFlow implements exchange.Flow on a datagram socket of its own.
type datagramFlow struct {
	network *datagrams
	dst     netip.Addr
	to      unix.Sockaddr
	identity
	label   []byte // control message of the IPv6 flow label; nil for IPv4
	deliver func(exchange.Answer)
	forged  *suspicion
	sent    sequences
	key     uint64 // in the poller

	// mu keeps the descriptor from being closed, and so from becoming another flow's, while it is used.
	mu     sync.Mutex
	fd     int
	ttl    int  // as set on the socket; 0 for the system's own
	whole  bool // discover was set
	closed bool
}

// Close implements exchange.Flow.
func (f *datagramFlow) Close() {
	f.network.poller.remove(f)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	f.closed = true
	f.network.counters.droppedDatagrams.Add(uint64(drops(f.fd)))
	unix.Close(f.fd)
	f.network.pool.give(f.id)
}

// drops is how many packets a socket lost for want of room (SO_MEMINFO); 0 where the system does not report it. x/sys
// has no getsockopt for numbers in a row.
func drops(fd int) uint32 {
	var info [unix.SK_MEMINFO_VARS]uint32
	length := uint32(unsafe.Sizeof(info))
	_, _, failed := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_MEMINFO,
		uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&length)), 0) // #nosec G103 -- length is the size of info
	if failed != 0 {
		return 0
	}
	return info[unix.SK_MEMINFO_DROPS]
}

// Send implements exchange.Flow.
func (f *datagramFlow) Send(seq uint16, ttl int) (time.Time, error) {
	packet := f.request(f.network.protocol.requestType, seq)
	f.sent.add(seq)
	return f.network.counters.sendProbe(ttl, func() (time.Time, error) { return f.attempt(packet[:], ttl) })
}

// attempt sends a packet with a TTL. The TTL is the socket's, since kernels before 5.18 take none along with an IPv6
// packet.
func (f *datagramFlow) attempt(packet []byte, ttl int) (time.Time, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return time.Time{}, net.ErrClosed
	}
	if f.ttl != ttl {
		p := f.network.protocol
		if err := unix.SetsockoptInt(f.fd, p.level, p.ttlOption, ttl); err != nil {
			return time.Time{}, err
		}
		f.ttl = ttl
	}
	return sendLabelled(f.label, &f.network.unlabelled, func(label []byte) (time.Time, error) {
		return f.leave(packet, label)
	})
}

// leave sends a packet. Of IPv6 Linux counts a send that failed because of an error of an earlier packet as a packet
// that was dropped (see dropped6).
func (f *datagramFlow) leave(packet, control []byte) (time.Time, error) {
	at, past, err := sendPastErrors(f.fd, packet, control, f.to)
	if f.dst.Is6() {
		f.network.counters.past6.Add(past)
	}
	return at, err
}

// buffers hold one received packet.
type buffers struct{ data, control []byte }

func newBuffers() buffers {
	return buffers{make([]byte, packetSize), make([]byte, errorSpace)}
}

// datagram is what one call gave: data and control messages within the buffers.
type datagram struct {
	data, control []byte
	from          unix.Sockaddr
}

// receive reads what has come, first the error queue and then the replies, and delivers what answers the flow. What is
// left over after a batch makes the poller call again.
func (f *datagramFlow) receive(b buffers) {
	for _, flags := range []int{unix.MSG_ERRQUEUE, 0} {
		for range batchSize {
			d, got := f.take(b, flags)
			if !got {
				break
			}
			f.network.counters.received.Add(1)
			f.network.counters.guard(func() { f.dispatch(d, flags) })
		}
	}
}

// take reads one packet; got is false where there is none.
func (f *datagramFlow) take(b buffers, flags int) (d datagram, got bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return d, false
	}
	for range pendingTries {
		n, controls, _, from, err := unix.Recvmsg(f.fd, b.data, b.control, flags|unix.MSG_DONTWAIT)
		if isPending(err) {
			continue
		}
		if err != nil {
			return d, false
		}
		return datagram{b.data[:n], b.control[:controls], from}, true
	}
	return d, false
}

// dispatch delivers a packet that answers the flow.
func (f *datagramFlow) dispatch(d datagram, flags int) {
	now := time.Now()
	a, ok := f.network.protocol.read(d, flags)
	if !ok {
		f.network.counters.unmatched.Add(1)
		return
	}
	switch p := a.prove(f.dst, f.identity, f.sent.count()); {
	case p == unproved:
		f.network.counters.unmatched.Add(1)
		f.unmatched(a.message, now)
	case !p.suffices(now, f.forged, f.network.forged):
		f.network.counters.doubted.Add(1)
	default:
		f.deliver(a.answer(f.identity, now))
	}
}

// unmatched records a message that does not answer the flow; of replies only those that a forger of damaged ones sends.
func (f *datagramFlow) unmatched(m message, now time.Time) {
	if m.kind != exchange.Reply || m.bare() && m.sender == f.dst {
		f.forged.note(now)
		f.network.forged.note(now)
	}
}

// read reports whether a packet is an ICMP message that answers some request.
func (p datagramProtocol) read(d datagram, flags int) (a arrived, ok bool) {
	a.kernel = parseControl(d.control)
	if flags == unix.MSG_ERRQUEUE {
		ok = a.readError(p, d.data, d.control, address(d.from))
		return a, ok
	}
	a.source, a.ttl = address(d.from), a.kernel.hopLimit
	a.message, ok = p.parse(d.data)
	a.sender = a.source
	return a, ok && a.source.IsValid()
}

// Where sock_extended_err (linux/errqueue.h) holds what is read of it, and where the sockaddr_in or sockaddr_in6 of the
// offender behind it holds the address.
const (
	errorOrigin     = 4
	errorType       = 5
	errorCode       = 6
	errorInfo       = 8  // four bytes: the MTU that a TooBig states
	errorQuote      = 12 // two bytes: how long the quote behind its IP header is, before extensions (RFC 4884)
	errorLength     = 16
	offenderFamily  = errorLength
	offenderAddress = errorLength + 4
	offenderIPv6    = errorLength + 8
)

// errorSpace is room for the control messages of one error: the extended error with the longer address, a timestamp and
// a TTL.
var errorSpace = unix.CmsgSpace(errorLength+unix.SizeofSockaddrInet6) + oobSpace

// readError reads what the error queue gave: quote is the request from its ICMP header on, to the address to. It
// reports whether that is an ICMP error about an echo request.
func (a *arrived) readError(p datagramProtocol, quote, control []byte, to netip.Addr) bool {
	extended := findControl(control, int32(p.level), int32(p.errorOption))
	if len(extended) < errorLength || extended[errorOrigin] != p.origin {
		return false
	}
	a.source = offender(extended)
	a.ttl = a.kernel.hopLimit
	a.kind = p.kind(extended[errorType], extended[errorCode])
	a.quoted = to
	if a.kind == 0 || !a.source.IsValid() || !a.readEcho(quote, p.requestType) {
		return false
	}
	if a.kind == exchange.TooBig {
		a.mtu = int(binary.NativeEndian.Uint32(extended[errorInfo:]))
	}
	if a.kind != exchange.TooBig || p.requestType == v4EchoRequest {
		a.labels = p.labels(quote, int(binary.NativeEndian.Uint16(extended[errorQuote:])))
	}
	return true
}

// labels reads the label stack behind a quote without its IP header; length is where the kernel found the extension, 0
// where it found none.
func (p datagramProtocol) labels(quote []byte, length int) []exchange.Label {
	proof := length == 0
	if proof {
		length = quoteBeforeExtension - p.quotedHeader
	}
	if len(quote) < length {
		return nil
	}
	return readExtension(quote[length:], proof)
}

// offender is the router or host that sent the error (SO_EE_OFFENDER); the zero Addr where it is not reported.
func offender(extended []byte) netip.Addr {
	if len(extended) < offenderFamily+2 {
		return netip.Addr{}
	}
	switch family := binary.NativeEndian.Uint16(extended[offenderFamily:]); {
	case family == unix.AF_INET && len(extended) >= offenderAddress+4:
		return netip.AddrFrom4([4]byte(extended[offenderAddress:]))
	case family == unix.AF_INET6 && len(extended) >= offenderIPv6+16:
		return netip.AddrFrom16([16]byte(extended[offenderIPv6:]))
	default:
		return netip.Addr{}
	}
}

// findControl returns the data of the first control message of a kind; nil where there is none.
func findControl(b []byte, level, typ int32) []byte {
	for len(b) >= unix.CmsgLen(0) {
		h, data, rest, err := unix.ParseOneSocketControlMessage(b)
		if err != nil {
			return nil
		}
		if h.Level == level && h.Type == typ {
			return data
		}
		b = rest
	}
	return nil
}

// address is that of a socket address; the zero Addr where it has none.
func address(a unix.Sockaddr) netip.Addr {
	switch a := a.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrFrom4(a.Addr)
	case *unix.SockaddrInet6:
		return netip.AddrFrom16(a.Addr)
	default:
		return netip.Addr{}
	}
}
