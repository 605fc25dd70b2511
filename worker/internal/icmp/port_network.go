package icmp

import (
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"diagnostics/worker/internal/exchange"

	"golang.org/x/net/bpf"
	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"
)

// What is short of proof about UDP and TCP probes is accepted while fewer than this of it was forged; see suspicion.go.
const portLimit, portPace = 512, 20 * time.Millisecond

// portNetwork sends UDP and TCP probes through raw sockets, from reserved ports, and finds the answers.
//
// For each family a raw ICMP socket is given the errors about them, and a raw TCP socket what destinations answer. Both
// are given nothing that is not about the reserved ports. IPv4 probes leave through a socket that takes whole packets,
// so that they have identifications of our own; IPv6 probes through one of their protocol, whose checksum the kernel
// does.
type portNetwork struct {
	ports    *reserved
	flows    [exchange.TCP + 1][blockSize]atomic.Pointer[portFlow] // by reserved port: who has it or had it last
	suspects suspects
	counters *counters

	readers    []*portReader
	sender     *sendSocket // nil without IPv4
	udp6, tcp6 *rawConn
	unlabelled atomic.Bool
	closed     atomic.Bool
}

// portReader is one of the sockets that are read.
type portReader struct {
	*rawConn
	network  *portNetwork
	protocol byte // see readPacket
	parse    func(packet) (portMessage, bool)
}

// openPorts reserves ports and opens the sockets of some families.
func openPorts(families []int, c *counters) (n *portNetwork, err error) {
	n = &portNetwork{counters: c, suspects: newSuspects(portLimit, portPace)}
	if n.ports, err = reserve(); err != nil {
		return nil, err
	}
	for _, family := range families {
		open := n.open6
		if family == 4 {
			open = n.open4
		}
		if err := open(); err != nil {
			return nil, errors.Join(fmt.Errorf("IPv%d: %w", family, err), n.close())
		}
	}
	for _, r := range n.readers {
		r.reader.Go(func() { c.keepReading(func() { r.read(r.dispatch) }) })
	}
	return n, nil
}

func (n *portNetwork) open4() (err error) {
	if n.sender, err = openSendSocket(unix.IPPROTO_RAW); err != nil {
		return err
	}
	first := n.ports.first
	return errors.Join(
		n.listen("ip4:icmp", protocolICMP, errorFilter4(first), parsePort4),
		n.listen("ip4:tcp", protocolTCP, segmentFilter4(first), parseSegment))
}

func (n *portNetwork) open6() (err error) {
	first := n.ports.first
	if err := n.listen("ip6:ipv6-icmp", overIPv6, errorFilter6(first), parsePort6); err != nil {
		return err
	}
	if err := n.listen("ip6:tcp", overIPv6, segmentFilter6(first), parseSegment); err != nil {
		return err
	}
	n.tcp6 = n.readers[len(n.readers)-1].rawConn
	if n.udp6, err = openFiltered("ip6:udp", filterNothing(), n.counters); err != nil {
		return err
	}
	// The kernel fills in the checksums, and drops what comes with a wrong one.
	return errors.Join(n.tcp6.setOption(unix.IPPROTO_IPV6, unix.IPV6_CHECKSUM, 16),
		n.udp6.setOption(unix.IPPROTO_IPV6, unix.IPV6_CHECKSUM, 6))
}

// listen opens a socket that is given what a filter passes.
func (n *portNetwork) listen(
	network string, protocol byte, filter []bpf.Instruction, parse func(packet) (portMessage, bool),
) error {
	s, err := openFiltered(network, filter, n.counters)
	if err != nil {
		return err
	}
	n.readers = append(n.readers, &portReader{rawConn: s, network: n, protocol: protocol, parse: parse})
	return nil
}

func openFiltered(network string, filter []bpf.Instruction, c *counters) (*rawConn, error) {
	s, err := openConn(network, c)
	if err != nil {
		return nil, err
	}
	var attached error
	err = s.raw.Control(func(fd uintptr) { attached = attach(int(fd), filter) })
	if err := errors.Join(err, attached); err != nil {
		s.conn.Close()
		return nil, fmt.Errorf("install the packet filter: %w", err)
	}
	return s, nil
}

func (n *portNetwork) open(p exchange.Probe, dst netip.Addr, deliver func(exchange.Answer)) (exchange.Flow, error) {
	if n.closed.Load() {
		return nil, exchange.ErrClosed
	}
	var source netip.Addr
	if dst.Is4() {
		var err error
		if source, err = sourceTo(dst); err != nil {
			return nil, sendError(err)
		}
	}
	// A nil *portFlow must not become a non-nil exchange.Flow.
	f, err := n.add(p, source, dst, deliver)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// add makes a flow with a port that no live flow of its protocol has.
func (n *portNetwork) add(p exchange.Probe, source, dst netip.Addr, deliver func(exchange.Answer)) (*portFlow, error) {
	local, ok := n.ports.free[p.Protocol].take()
	if !ok {
		return nil, exchange.ErrNoFlow
	}
	f := &portFlow{
		network: n, portIdentity: newPortIdentity(p, local, source, dst), label: newLabel(dst), deliver: deliver,
		forged: n.suspects.enter(dst),
	}
	n.flows[p.Protocol][local%blockSize].Store(f)
	return f, nil
}

// sourceTo is the address from which the kernel would send to another.
func sourceTo(dst netip.Addr) (netip.Addr, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return netip.Addr{}, openError(err)
	}
	defer unix.Close(fd)
	// Connecting a datagram socket sends nothing; the port is no matter.
	if err := unix.Connect(fd, &unix.SockaddrInet4{Addr: dst.As4(), Port: 9}); err != nil {
		return netip.Addr{}, err
	}
	own, err := unix.Getsockname(fd)
	if err != nil {
		return netip.Addr{}, err
	}
	return address(own), nil
}

// send sends the nth probe of a flow, and gives the moment right before.
func (n *portNetwork) send(f *portFlow, nth, ttl int) (time.Time, error) {
	if f.dst.Is4() {
		return n.sender.send(f.packet4(nth, ttl), nil, sockaddr(f.dst))
	}
	s := n.udp6
	if f.protocol == exchange.TCP {
		s = n.tcp6
	}
	packet := f.segment(nth)
	return sendLabelled(f.label, &n.unlabelled, func(label []byte) (time.Time, error) {
		return s.sendByConn(packet, append(ttlControl(unix.IPPROTO_IPV6, unix.IPV6_HOPLIMIT, ttl), label...), sockaddr(f.dst))
	})
}

// dispatch delivers one received packet to the flow that it is about.
func (r *portReader) dispatch(now time.Time, received ipv4.Message) {
	n := r.network
	n.counters.received.Add(1)
	p, ok := readPacket(received, r.protocol)
	r.noteDropped(p.kernel)
	var m portMessage
	if ok {
		m, ok = r.parse(p)
	}
	if !ok {
		n.counters.unmatched.Add(1)
		return
	}
	n.deliver(now, p, m)
}

func (n *portNetwork) deliver(now time.Time, packet packet, m portMessage) {
	f := n.flows[m.protocol][m.local%blockSize].Load()
	if f == nil {
		n.unmatched(m, now)
		return
	}
	seq, p := f.match(m)
	switch {
	case f.closed.Load():
		n.counters.unmatched.Add(1)
	case p == unproved:
		n.unmatched(m, now)
	case !p.suffices(now, f.forged, n.suspects.forged):
		n.counters.doubted.Add(1)
	default:
		f.deliver(exchange.Answer{Seq: seq, Kind: f.meaning(m.kind, packet.source), From: packet.source, TTL: packet.ttl,
			At: arrival(now, packet.kernel.stamp), Labels: m.labels})
	}
}

// unmatched takes note of a message about no live probe. What does not even name a destination that is probed is no
// guess at an answer.
func (n *portNetwork) unmatched(m portMessage, now time.Time) {
	n.counters.unmatched.Add(1)
	if forged := n.suspects.of(m.peer); forged != nil {
		forged.note(now)
		n.suspects.forged.note(now)
	}
}

// close closes the sockets, waits for their readers and gives the ports back.
func (n *portNetwork) close() error {
	n.closed.Store(true)
	var errs []error
	for _, r := range n.readers {
		errs = append(errs, r.conn.Close())
		r.reader.Wait()
	}
	if n.udp6 != nil {
		errs = append(errs, n.udp6.conn.Close())
	}
	if n.sender != nil {
		errs = append(errs, n.sender.close())
	}
	n.ports.close()
	return errors.Join(errs...)
}

// portFlow implements exchange.Flow with UDP or TCP probes from one reserved port.
type portFlow struct {
	network *portNetwork
	portIdentity
	label   []byte // control message of the IPv6 flow label; nil for IPv4
	deliver func(exchange.Answer)
	forged  *suspicion // about errors that quote dst
	closed  atomic.Bool

	mu sync.Mutex
	// order holds the sequence numbers of the probes in the order of sending: that number is for the flow's owner alone.
	order []uint16
}

// Close implements exchange.Flow. The flow stays in the table until another has its port: what still comes for it is
// late and not forged.
func (f *portFlow) Close() {
	if f.closed.CompareAndSwap(false, true) {
		f.network.suspects.leave(f.dst)
		f.network.ports.free[f.protocol].give(f.local)
	}
}

// Send implements exchange.Flow.
func (f *portFlow) Send(seq uint16, ttl int) (time.Time, error) {
	n := f.next(seq)
	return f.network.counters.sendProbe(ttl, func() (time.Time, error) { return f.network.send(f, n, ttl) })
}

// next gives the next probe its place in the flow.
func (f *portFlow) next(seq uint16) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.order = append(f.order, seq)
	return len(f.order) - 1
}

// match returns which probe a message is about.
func (f *portFlow) match(m portMessage) (seq uint16, p proof) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, p := f.prove(m, len(f.order))
	if p == unproved {
		return 0, p
	}
	return f.order[n], p
}

// meaning is what the kind of a message means for the flow: that its port is closed is the destination's own
// answer to a UDP probe. From another address it is a firewall's.
func (f *portFlow) meaning(k exchange.Kind, from netip.Addr) exchange.Kind {
	if k == exchange.PortUnreachable && f.protocol == exchange.UDP && from == f.dst {
		return exchange.Reply
	}
	return k
}
