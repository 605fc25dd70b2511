package icmp

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"diagnostics/shared/parallel"
	"diagnostics/worker/internal/exchange"

	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
	"golang.org/x/sys/unix"
)

// socket is one raw ICMP socket with its reader and its flows.
type socket struct {
	*rawConn
	sender      *sendSocket // for sending; nil where that is done by conn
	sized       sizedSender // for what has a size of its own
	requestType byte
	level, ttl  int32 // of the control message that sets a packet's TTL
	flows       *flows
	unlabelled  atomic.Bool // the system refuses flow labels
	receive     func(ipv4.Message) (arrived, bool)
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
	sized, err := openSized4()
	if err != nil {
		return nil, errors.Join(err, conn.conn.Close(), sender.close())
	}
	return (&socket{
		rawConn: conn, sender: sender, sized: sized, receive: receiver(protocolICMP, parse4), requestType: v4EchoRequest,
		level: unix.IPPROTO_IP, ttl: unix.IP_TTL, flows: newFlows(), closed: make(chan struct{}),
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
	sized, err := openSized6(c)
	if err != nil {
		return nil, errors.Join(err, conn.conn.Close())
	}
	return (&socket{
		rawConn: conn, sized: sized, receive: receiver(overIPv6, parse6), requestType: v6EchoRequest,
		level: unix.IPPROTO_IPV6, ttl: unix.IPV6_HOPLIMIT, flows: newFlows(), closed: make(chan struct{}),
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
	oob := append(ttlControl(s.level, s.ttl, ttl), extra...)
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
	err := errors.Join(s.conn.Close(), s.sized.close())
	if s.sender != nil {
		err = errors.Join(err, s.sender.close())
	}
	s.reader.Wait()
	return err
}

const maxFlowLabel = 1<<20 - 1 // 0 is no label

// flows is the table from ICMP identifier to the live flow that owns it. Looking up takes no lock, since every packet
// that comes in does it.
type flows struct {
	byID [identifiers]atomic.Pointer[flow]
	pool *identifierPool
	suspects
}

func newFlows() *flows {
	return &flows{pool: newIdentifierPool(), suspects: newSuspects(rawLimit, rawPace)}
}

// add makes a flow with an identifier that no live flow has.
func (t *flows) add(s *socket, dst netip.Addr, deliver func(exchange.Answer)) (*flow, error) {
	id, ok := t.pool.take()
	if !ok {
		return nil, exchange.ErrNoFlow
	}
	f := &flow{socket: s, dst: dst, identity: newIdentity(id, dst), label: newLabel(dst), deliver: deliver,
		forged: t.enter(dst)}
	t.byID[id].Store(f)
	return f, nil
}

// remove gives a flow's identifier back; a second call does nothing.
func (t *flows) remove(f *flow) {
	if !t.byID[f.id].CompareAndSwap(f, nil) {
		return
	}
	t.leave(f.dst)
	t.pool.give(f.id)
}

// owner returns the live flow that the message answers, and how well it proves that; nil for none.
func (t *flows) owner(m message) (*flow, proof) {
	if f := t.byID[m.id].Load(); f != nil {
		if p := m.prove(f.dst, f.identity, f.sent.count()); p != unproved {
			return f, p
		}
	}
	return nil, unproved
}

// unmatched records a message that answers no flow. Other programs of this host get whole replies, so of replies only
// those without a payload from a probed destination count: a forger of damaged replies sends such.
func (t *flows) unmatched(m message, now time.Time) {
	about := m.quoted
	if m.kind == exchange.Reply {
		if about = m.sender; !m.bare() || t.of(about) == nil {
			return
		}
	}
	t.forged.note(now)
	if forged := t.of(about); forged != nil {
		forged.note(now)
	}
}

// flow implements exchange.Flow.
type flow struct {
	socket *socket
	dst    netip.Addr
	identity
	label   []byte // control message of the IPv6 flow label; nil for IPv4
	deliver func(exchange.Answer)
	forged  *suspicion // about errors that quote dst, and damaged replies from it
	sent    sequences
}

func (f *flow) Close() { f.socket.flows.remove(f) }

func (f *flow) Send(seq uint16, ttl int) (time.Time, error) {
	packet := f.request(f.socket.requestType, seq)
	f.sent.add(seq)
	return f.socket.counters.sendProbe(ttl, func() (time.Time, error) { return f.attempt(packet[:], ttl) })
}

// attempt sends a packet with the flow's label.
func (f *flow) attempt(packet []byte, ttl int) (time.Time, error) {
	return sendLabelled(f.label, &f.socket.unlabelled, func(label []byte) (time.Time, error) {
		return f.socket.send(packet, f.dst, ttl, label)
	})
}

const (
	// A burst of answers must fit until the reader runs: about 8,000 small packets.
	receiveBuffer = 8 << 20
	sendBuffer    = 2 << 20

	batchSize = 64
	// A quote is at most 576 bytes in IPv4 (RFC 1812) and 1280 in IPv6 (RFC 4443); what is longer is cut, and nothing
	// that is read lies that far behind.
	packetSize = 2048
)

// readPause keeps a reader whose socket fails for a moment (out of memory) from spinning.
const readPause = 10 * time.Millisecond

// rawConn is a raw socket with its one reader.
type rawConn struct {
	conn     *net.IPConn
	raw      syscall.RawConn
	batch    func([]ipv4.Message) (int, error)
	counters *counters
	dropped  atomic.Uint32 // packets that the kernel has lost for want of room
	reader   parallel.Group
}

// noteDropped keeps the socket's own count, which the kernel attaches to packets only once it is above zero.
func (s *rawConn) noteDropped(k received) {
	if k.dropped > 0 {
		s.dropped.Store(k.dropped)
	}
}

// openConn opens a raw socket of a network, such as "ip4:icmp", with the options that all of a family share.
func openConn(network string, c *counters) (*rawConn, error) {
	address, v6 := "0.0.0.0", strings.HasPrefix(network, "ip6:")
	if v6 {
		address = "::"
	}
	conn, err := new(net.ListenConfig).ListenPacket(context.Background(), network, address)
	if err != nil {
		return nil, err
	}
	batches := ipv4.NewPacketConn(conn) // which reads those of IPv6 just so
	s := &rawConn{conn: conn.(*net.IPConn), counters: c}
	s.batch = func(ms []ipv4.Message) (int, error) { return batches.ReadBatch(ms, 0) }
	if s.raw, err = s.conn.SyscallConn(); err != nil {
		conn.Close()
		return nil, err
	}
	if v6 {
		err = s.setOption(unix.IPPROTO_IPV6, unix.IPV6_RECVHOPLIMIT, 1)
	}
	err = errors.Join(err,
		s.setOption(unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1),
		s.setOption(unix.SOL_SOCKET, unix.SO_RXQ_OVFL, 1),
		s.growBuffer(unix.SO_RCVBUFFORCE, unix.SO_RCVBUF, receiveBuffer),
		s.growBuffer(unix.SO_SNDBUFFORCE, unix.SO_SNDBUF, sendBuffer),
	)
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("set socket options: %w", err)
	}
	return s, nil
}

func (s *rawConn) setOption(level, name, value int) error {
	var set error
	err := s.raw.Control(func(fd uintptr) { set = unix.SetsockoptInt(int(fd), level, name, value) })
	return errors.Join(err, set)
}

// growBuffer requests the full size, which takes CAP_NET_ADMIN, and otherwise as much of it as the system allows.
func (s *rawConn) growBuffer(force, plain, size int) error {
	if s.setOption(unix.SOL_SOCKET, force, size) == nil {
		return nil
	}
	return s.setOption(unix.SOL_SOCKET, plain, size)
}

// sendByConn sends one packet without waiting for room, and gives the moment right before.
func (s *rawConn) sendByConn(packet, oob []byte, to unix.Sockaddr) (at time.Time, err error) {
	closed := s.raw.Write(func(fd uintptr) bool {
		for err = unix.EINTR; errors.Is(err, unix.EINTR); {
			at = time.Now()
			err = unix.Sendmsg(int(fd), packet, oob, to, unix.MSG_DONTWAIT)
		}
		return true
	})
	if closed != nil {
		return at, closed
	}
	return at, err
}

// read is the socket's one reader, which gives each packet to dispatch. It ends when the socket is closed.
func (s *rawConn) read(dispatch func(now time.Time, m ipv4.Message)) {
	batch := make([]ipv4.Message, batchSize)
	for i := range batch {
		batch[i].Buffers = [][]byte{make([]byte, packetSize)}
		batch[i].OOB = make([]byte, oobSpace)
	}
	for {
		n, err := s.batch(batch)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(readPause)
			continue
		}
		now := time.Now()
		for _, m := range batch[:n] {
			s.counters.guard(func() { dispatch(now, m) })
		}
	}
}

// arrived is a received message with its packet.
type arrived struct {
	message
	packet
}

// dispatch delivers one received packet to the flow that it answers.
func (s *socket) dispatch(now time.Time, m ipv4.Message) {
	s.counters.received.Add(1)
	a, ok := s.receive(m)
	s.noteDropped(a.kernel)
	if !ok {
		s.counters.unmatched.Add(1)
		return
	}
	f, p := s.flows.owner(a.message)
	switch {
	case f == nil:
		s.counters.unmatched.Add(1)
		s.flows.unmatched(a.message, now)
	case !p.suffices(now, f.forged, s.flows.forged):
		s.counters.doubted.Add(1)
	default:
		f.deliver(a.answer(f.identity, now))
	}
}

// answer is the message as the flow receives it; now is the moment at which it was read.
func (a arrived) answer(i identity, now time.Time) exchange.Answer {
	return exchange.Answer{Seq: i.seq(a.seq), Kind: a.kind, From: a.source, TTL: a.ttl, At: arrival(now, a.kernel.stamp),
		Damaged: a.kind == exchange.Reply && !i.returns(a.payload, a.seq), Labels: a.labels, MTU: a.mtu}
}

// receiver reads the packets of a raw socket; protocol is that of the packets of an IPv4 socket, see readPacket.
func receiver(protocol byte, parse func([]byte) (message, bool)) func(ipv4.Message) (arrived, bool) {
	return func(m ipv4.Message) (a arrived, ok bool) {
		if a.packet, ok = readPacket(m, protocol); ok {
			a.message, ok = parse(a.data)
			a.sender = a.source
		}
		return a, ok
	}
}

// packet is a received packet from its ICMP or TCP header on, with what its IP header and the kernel say of it.
type packet struct {
	source netip.Addr
	ttl    int
	data   []byte
	kernel received
}

// overIPv6 stands for the protocol of an IPv6 socket, whose packets come without their IP header.
const overIPv6 = 0

// readPacket reads a packet of a raw socket; ok is false where it is not one whole packet of the protocol. The kernel
// verifies the ICMP checksum (RFC 792) only after a raw IPv4 socket is served, so readPacket does, as far as the packet
// was read whole.
func readPacket(m ipv4.Message, protocol byte) (p packet, ok bool) {
	p = packet{data: m.Buffers[0][:m.N], kernel: parseControl(m.OOB[:m.NN])}
	if protocol == overIPv6 {
		from, is := m.Addr.(*net.IPAddr)
		if !is {
			return p, false
		}
		p.source, ok = netip.AddrFromSlice(from.IP)
		p.ttl = p.kernel.hopLimit
		return p, ok
	}
	if !p.splitIPv4(protocol) {
		return p, false
	}
	return p, protocol != protocolICMP || m.Flags&unix.MSG_TRUNC != 0 || checksum(p.data) == 0
}

// splitIPv4 takes off the IP header of a packet of a raw IPv4 socket (raw(7)), and reports whether it was one of the
// protocol.
func (p *packet) splitIPv4(protocol byte) bool {
	header, ok := ipv4Header(p.data, protocol)
	if ok {
		p.source, p.ttl = netip.AddrFrom4([4]byte(p.data[12:16])), int(p.data[8])
		p.data = p.data[header:]
	}
	return ok
}

// message is what one received ICMP packet says about one echo request.
type message struct {
	kind    exchange.Kind
	id, seq uint16
	// sum is the checksum that the message has, or that of the request which an ICMP error quotes.
	sum uint16
	// quoted is the destination of the request that an ICMP error quotes; the zero Addr for an echo reply.
	quoted netip.Addr
	// sender is the source address of the message.
	sender netip.Addr
	// payload is that of an echo reply, or as much as an ICMP error quotes of the request's.
	payload []byte
	// labels is the MPLS label stack of an ICMP error.
	labels []exchange.Label
	// mtu is the next-hop MTU that a TooBig states.
	mtu int
}

// readEcho reports whether this is an echo message of a type, and reads the part that both families share: the ICMP
// header of an echo message and what follows it.
func (m *message) readEcho(b []byte, typ byte) bool {
	if len(b) < headerLength || b[0] != typ || b[1] != 0 {
		return false
	}
	m.sum = binary.BigEndian.Uint16(b[2:])
	m.id = binary.BigEndian.Uint16(b[4:])
	m.seq = binary.BigEndian.Uint16(b[6:])
	m.payload = b[headerLength:]
	return true
}
