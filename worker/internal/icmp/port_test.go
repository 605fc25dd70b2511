package icmp

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"diagnostics/worker/internal/exchange"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

const testBlock = 61_440

var (
	target6     = netip.MustParseAddr("2a10:100::1")
	ownAddress4 = netip.MustParseAddr("11.0.0.1")
	router4     = netip.MustParseAddr("11.0.7.7")
	router6     = netip.MustParseAddr("2a10:7::7")
)

// portBench is a network without sockets, and what is delivered to its flows.
type portBench struct {
	*portNetwork
	answers []exchange.Answer
	now     time.Time
}

func newPortBench() *portBench {
	return &portBench{now: time.Now(), portNetwork: &portNetwork{
		counters: &counters{}, suspects: newSuspects(portLimit, portPace),
		ports: &reserved{first: testBlock, free: map[exchange.Protocol]*identifierPool{
			exchange.UDP: newPool(testBlock, blockSize), exchange.TCP: newPool(testBlock, blockSize),
		}},
	}}
}

func (b *portBench) flow(t *testing.T, p exchange.Protocol, dst netip.Addr, seqs ...uint16) *portFlow {
	t.Helper()
	source := netip.Addr{}
	if dst.Is4() {
		source = ownAddress4
	}
	deliver := func(a exchange.Answer) { b.answers = append(b.answers, a) }
	f, err := b.add(exchange.Probe{Protocol: p, Port: 443}, source, dst, deliver)
	if err != nil {
		t.Fatal(err)
	}
	for _, seq := range seqs {
		f.next(seq)
	}
	return f
}

// feed passes a message to the network and returns the number of answers that it produces.
func (b *portBench) feed(m portMessage, from netip.Addr) int {
	b.answers = nil
	b.deliver(b.now, packet{source: from, ttl: 57}, m)
	return len(b.answers)
}

// exceeded is the ICMP error of a router about the nth probe, which quotes so many octets behind the IP header.
func exceeded(t *testing.T, f *portFlow, n, octets int) portMessage {
	t.Helper()
	segment := f.segment(n)
	segment = segment[:min(octets, len(segment))]
	if !f.dst.Is4() {
		header := make([]byte, ipv6Header)
		header[0], header[6] = 0x60, map[exchange.Protocol]byte{exchange.UDP: protocolUDP,
			exchange.TCP: protocolTCP}[f.protocol]
		copy(header[24:], f.dst.AsSlice())
		m, ok := parsePort6(packet{data: slices.Concat([]byte{v6TimeExceeded, 0, 0, 0, 0, 0, 0, 0}, header, segment)})
		if !ok {
			t.Fatal("not read")
		}
		return m
	}
	header := f.packet4(n, 1)[:minIPv4Header]
	m, ok := parsePort4(packet{data: slices.Concat([]byte{v4TimeExceeded, 0, 0, 0, 0, 0, 0, 0}, header, segment)})
	if !ok {
		t.Fatal("not read")
	}
	return m
}

var bothProtocols = []exchange.Protocol{exchange.UDP, exchange.TCP}

// The fields that routers hash to balance load are the same for every probe of a flow; the fields that distinguish the
// probes are in the octets that every error quotes.
func TestProbesOfAPortFlow(t *testing.T) {
	t.Parallel()
	for _, p := range bothProtocols {
		for range 200 {
			i := newPortIdentity(exchange.Probe{Protocol: p, Port: 443}, testBlock+7, ownAddress4, target4)
			quoted, ids, last := map[string]bool{}, map[uint16]bool{}, -1
			for n := range 124 {
				b := i.packet4(n, 5)
				if total := len(b); total < 60 || total > 128 {
					t.Fatalf("%d octets", total)
				}
				inner := b[minIPv4Header:]
				if i.checksum(inner) != 0 && i.checksum(inner) != 0xffff {
					t.Fatalf("checksum %x of %x", i.checksum(inner), b)
				}
				if b[8] != 5 || binary.BigEndian.Uint16(inner) != testBlock+7 || binary.BigEndian.Uint16(inner[2:]) != 443 {
					t.Fatalf("%x", b)
				}
				id := binary.BigEndian.Uint16(b[4:])
				if id == 0 || ids[id] || quoted[string(inner[:8])] {
					t.Fatalf("probe %d is like another, or its identification is 0", n)
				}
				ids[id], quoted[string(inner[:8])] = true, true
				if p == exchange.TCP {
					past := int(binary.BigEndian.Uint32(inner[4:]) - i.sequence)
					if past <= last || past >= 64240 {
						t.Fatalf("sequence number %d past the first, behind %d", past, last)
					}
					last = past
				}
			}
		}
	}
}

// An error with the cookie is accepted whatever a device on the path has rewritten; without it, in IPv4 alone, only if
// the IP header and the eight octets all match.
func TestErrorsAboutPortProbes(t *testing.T) {
	t.Parallel()
	for _, p := range bothProtocols {
		b := newPortBench()
		f4, f6 := b.flow(t, p, target4, 11, 12, 13), b.flow(t, p, target6, 21, 22, 23)
		for _, c := range []struct {
			name   string
			flow   *portFlow
			octets int
			change func(*portMessage)
			seq    uint16 // 0 for unbelieved
		}{
			{"the whole", f4, 200, nil, 12},
			{"the whole of IPv6", f6, 200, nil, 22},
			{"eight octets", f4, 8, nil, 12},
			{"eight octets of IPv6", f6, 8, nil, 0},
			{"another identification", f4, 200, func(m *portMessage) { m.id++ }, 12},
			{"eight octets, another identification", f4, 8, func(m *portMessage) { m.id++ }, 0},
			{"another checksum behind a translator", f4, 200, func(m *portMessage) { m.segment[map[exchange.Protocol]int{exchange.UDP: 6, exchange.TCP: 16}[p]]++ }, 12},
			{"eight octets, another one of them", f4, 8, func(m *portMessage) { m.segment[7]++ }, 0},
			{"another destination", f4, 200, func(m *portMessage) { m.peer = ownAddress4 }, 0},
			{"another port of it", f4, 200, func(m *portMessage) { m.remote++ }, 0},
			{"another port of ours", f4, 200, func(m *portMessage) { m.local++ }, 0},
		} {
			m := exceeded(t, c.flow, 1, c.octets)
			if c.change != nil {
				m.segment = slices.Clone(m.segment)
				c.change(&m)
			}
			want := 0
			if c.seq != 0 {
				want = 1
			}
			if got := b.feed(m, router4); got != want {
				t.Errorf("%s, %s: %d answers, want %d", p, c.name, got, want)
				continue
			}
			for _, a := range b.answers {
				if a.Seq != c.seq || a.Kind != exchange.TimeExceeded || a.TTL != 57 {
					t.Errorf("%s, %s: %+v", p, c.name, a)
				}
			}
		}
		// A probe that was never sent has no answer.
		for _, f := range []*portFlow{f4, f6} {
			if b.feed(exceeded(t, f, 3, 200), router4) != 0 {
				t.Errorf("%s: an answer to a probe that was not sent", p)
			}
		}
	}
}

// TestShortErrorsAboutPortProbes is TestShortErrorsAreBelievedInQuietTimes for UDP and TCP.
func TestShortErrorsAboutPortProbes(t *testing.T) {
	t.Parallel()
	for _, p := range bothProtocols {
		b := newPortBench()
		f := b.flow(t, p, target4, 1, 2, 3)
		honest, whole := exceeded(t, f, 2, 8), exceeded(t, f, 2, 200)
		forged := honest
		forged.segment = slices.Clone(forged.segment)
		forged.segment[4] ^= 0x55
		forged.segment[6] ^= 0x55
		for n := range destinationLimit {
			if b.feed(honest, router4) != 1 {
				t.Fatalf("%s: rejected after %d forged ones", p, n)
			}
			if b.feed(forged, router4) != 0 {
				t.Fatalf("%s: a forged one is accepted", p)
			}
		}
		if b.feed(honest, router4) != 0 || b.feed(whole, router4) != 1 {
			t.Errorf("%s: after %d forged ones: the short one is accepted, or the whole one is not", p, destinationLimit)
		}
		if n := b.counters.doubted.Load(); n != 1 {
			t.Errorf("%s: %d doubted", p, n)
		}
		b.now = b.now.Add(time.Minute)
		if b.feed(honest, router4) != 1 {
			t.Errorf("%s: rejected when all is quiet again", p)
		}
		// An error about an unused destination is no guess.
		forged.peer = ownAddress4
		for range 10 * destinationLimit {
			b.feed(forged, router4)
		}
		if b.feed(honest, router4) != 1 {
			t.Errorf("%s: errors about unused destinations count", p)
		}
	}
}

// answerTo is a segment that a destination sends about the nth SYN.
func answerTo(t *testing.T, f *portFlow, n int, flags byte, change func(segment []byte)) (portMessage, bool) {
	t.Helper()
	b := make([]byte, tcpLength)
	binary.BigEndian.PutUint16(b, f.remote)
	binary.BigEndian.PutUint16(b[2:], f.local)
	binary.BigEndian.PutUint32(b[8:], f.sequence+uint32(n)*sequenceGap+1)
	b[12], b[tcpFlags] = tcpLength/4<<4, flags
	copy(b[tcpHeader:], []byte{2, 4, 5, 0xb4, 1, 1, 8, 10, 1, 2, 3, 4})
	copy(b[tcpHeader+12:], f.cookie[:4])
	if change != nil {
		change(b)
	}
	return parseSegment(packet{data: b, source: f.dst})
}

func TestAnswersToSYNs(t *testing.T) {
	t.Parallel()
	noStamp := func(b []byte) { copy(b[tcpHeader:], make([]byte, tcpOptions)) }
	for _, c := range []struct {
		name   string
		flags  byte
		change func([]byte)
		from   netip.Addr
		want   proof
		none   bool // no segment that could be an answer
	}{
		{name: "SYN-ACK", flags: flagSYN | flagACK, want: proved},
		{name: "SYN-ACK without a timestamp", flags: flagSYN | flagACK, change: noStamp, want: short},
		{name: "RST", flags: flagRST | flagACK, change: noStamp, want: short},
		{name: "RST that acknowledges nothing", flags: flagRST, change: noStamp, want: unproved},
		{name: "ACK", flags: flagACK, none: true},
		{name: "SYN", flags: flagSYN, none: true},
		{name: "RST about another number", flags: flagRST | flagACK, change: func(b []byte) { b[11]++ }, want: unproved},
		{name: "RST about a later probe", flags: flagRST | flagACK, change: func(b []byte) { b[10]++ }, want: unproved},
		{name: "from another port", flags: flagSYN | flagACK, change: func(b []byte) { b[1]++ }, want: unproved},
		{name: "from another host", flags: flagSYN | flagACK, from: router4, want: unproved},
		{name: "cut options", flags: flagSYN | flagACK, change: func(b []byte) { b[tcpHeader+1] = 41 }, want: short},
		{name: "a header that is too short", flags: flagSYN | flagACK, change: func(b []byte) { b[12] = 0x40 }, want: short},
	} {
		b := newPortBench()
		f := b.flow(t, exchange.TCP, target4, 31, 32)
		m, ok := answerTo(t, f, 1, c.flags, c.change)
		if ok == c.none {
			t.Errorf("%s: read %t", c.name, ok)
		}
		if c.none {
			continue
		}
		if c.from.IsValid() {
			m.peer = c.from
		}
		seq, p := f.match(m)
		if p != c.want || p != unproved && seq != 32 {
			t.Errorf("%s: probe %d, proof %d, want %d", c.name, seq, p, c.want)
		}
	}
	if _, ok := parseSegment(packet{data: make([]byte, tcpHeader-1)}); ok {
		t.Error("a cut segment is read")
	}
}

// Forged RSTs that guess at the number silence further ones without proof, and not what has the timestamp.
func TestForgedRSTs(t *testing.T) {
	t.Parallel()
	b := newPortBench()
	f := b.flow(t, exchange.TCP, target4, 1)
	feed := func(flags byte, change func([]byte)) int {
		m, ok := answerTo(t, f, 0, flags, change)
		if !ok {
			t.Fatal("not read")
		}
		return b.feed(m, target4)
	}
	if feed(flagRST|flagACK, nil) != 1 || b.answers[0].Kind != exchange.Reply {
		t.Fatalf("a RST: %+v", b.answers)
	}
	plain := func(segment []byte) { copy(segment[tcpHeader:], make([]byte, tcpOptions)) }
	if feed(flagRST|flagACK, plain) != 1 {
		t.Fatal("a RST is rejected in quiet times")
	}
	for range destinationLimit {
		feed(flagRST|flagACK, func(segment []byte) { plain(segment); segment[9]++ })
	}
	if feed(flagRST|flagACK, plain) != 0 || feed(flagSYN|flagACK, nil) != 1 {
		t.Error("forged RSTs are no reason for doubt, or for too much of it")
	}
}

// Port unreachable is the destination's answer to UDP, and only its own.
func TestPortUnreachable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		protocol exchange.Protocol
		dst      netip.Addr
		from     netip.Addr
		want     exchange.Kind
	}{
		{exchange.UDP, target4, target4, exchange.Reply},
		{exchange.UDP, target4, router4, exchange.PortUnreachable},
		{exchange.TCP, target4, target4, exchange.PortUnreachable},
		{exchange.UDP, target6, target6, exchange.Reply},
		{exchange.UDP, target6, router6, exchange.PortUnreachable},
		{exchange.TCP, target6, target6, exchange.PortUnreachable},
	} {
		b := newPortBench()
		f := b.flow(t, c.protocol, c.dst, 9)
		m := exceeded(t, f, 0, 200)
		m.kind = exchange.PortUnreachable
		if b.feed(m, c.from) != 1 || b.answers[0].Kind != c.want || b.answers[0].From != c.from {
			t.Errorf("%s to %s from %s: %+v", c.protocol, c.dst, c.from, b.answers)
		}
	}
}

// What comes after the end of a flow is late, not forged, until another flow has its port.
func TestLateAnswersAreNotForged(t *testing.T) {
	t.Parallel()
	b := newPortBench()
	f := b.flow(t, exchange.UDP, target4, 1)
	late := exceeded(t, f, 0, 200)
	f.Close()
	f.Close()
	again := b.flow(t, exchange.UDP, target4, 1)
	for range 2 * destinationLimit {
		if b.feed(late, router4) != 0 {
			t.Fatal("a closed flow receives an answer")
		}
	}
	if b.feed(exceeded(t, again, 0, 8), router4) != 1 {
		t.Error("late answers are taken for forged ones")
	}
}

func TestEachFlowHasAPort(t *testing.T) {
	t.Parallel()
	b := newPortBench()
	for _, p := range bothProtocols {
		seen := map[uint16]bool{}
		for range blockSize {
			f := b.flow(t, p, target4)
			if seen[f.local] || f.local&blockMask != testBlock {
				t.Fatalf("port %d", f.local)
			}
			seen[f.local] = true
		}
		_, err := b.add(exchange.Probe{Protocol: p, Port: 1}, ownAddress4, target4, deliverNothing)
		if !errors.Is(err, exchange.ErrNoFlow) {
			t.Errorf("%v", err)
		}
	}
}

// TestFilters holds that the kernel keeps back everything that is not about the reserved ports.
func TestPortFilters(t *testing.T) {
	t.Parallel()
	b := newPortBench()
	outer4 := put8(make([]byte, minIPv4Header), 0, plainIPv4)
	error4 := func(f *portFlow) []byte {
		return slices.Concat(outer4, []byte{v4TimeExceeded, 0, 0, 0, 0, 0, 0, 0}, f.packet4(0, 1))
	}
	error6 := func(f *portFlow, next byte) []byte {
		header := make([]byte, ipv6Header)
		header[0], header[6] = 0x60, next
		return slices.Concat([]byte{v6TimeExceeded, 0, 0, 0, 0, 0, 0, 0}, header, f.segment(0))
	}
	udp4, tcp4 := error4(b.flow(t, exchange.UDP, target4)), error4(b.flow(t, exchange.TCP, target4))
	udp6, tcp6 := error6(b.flow(t, exchange.UDP, target6), protocolUDP), error6(b.flow(t, exchange.TCP, target6),
		protocolTCP)
	segment := make([]byte, tcpHeader)
	binary.BigEndian.PutUint16(segment[2:], testBlock+255)
	with := func(flags byte) []byte { return put8(segment, tcpFlags, flags) }
	whole4 := func(b []byte) []byte { return slices.Concat(outer4, b) }
	for _, c := range []struct {
		name   string
		filter []bpf.Instruction
		packet []byte
		kept   bool
	}{
		{"UDP", errorFilter4(testBlock), udp4, true},
		{"TCP", errorFilter4(testBlock), tcp4, true},
		{"unreachable", errorFilter4(testBlock), put8(udp4, 20, v4Unreachable), true},
		{"another block", errorFilter4(testBlock + 256), udp4, false},
		{"the block before", errorFilter4(testBlock - 256), udp4, false},
		{"an echo reply", errorFilter4(testBlock), put8(udp4, 20, v4EchoReply), false},
		{"ICMP", errorFilter4(testBlock), put8(udp4, 28+9, protocolICMP), false},
		{"SCTP", errorFilter4(testBlock), put8(udp4, 28+9, 132), false},
		{"with IP options", errorFilter4(testBlock), put8(udp4, 28, 0x46), false},
		{"cut", errorFilter4(testBlock), udp4[:48], false},
		{"UDP", errorFilter6(testBlock), udp6, true},
		{"TCP", errorFilter6(testBlock), tcp6, true},
		{"unreachable", errorFilter6(testBlock), put8(udp6, 0, v6Unreachable), true},
		{"too big", errorFilter6(testBlock), put8(udp6, 0, v6PacketTooBig), true},
		{"another block", errorFilter6(testBlock - 256), udp6, false},
		{"an echo reply", errorFilter6(testBlock), put8(udp6, 0, v6EchoReply), false},
		{"ICMPv6", errorFilter6(testBlock), put8(udp6, 8+6, nextICMPv6), false},
		{"cut", errorFilter6(testBlock), udp6[:48], false},
		{"SYN-ACK", segmentFilter6(testBlock), with(flagSYN | flagACK), true},
		{"RST-ACK", segmentFilter6(testBlock), with(flagRST | flagACK), true},
		{"RST", segmentFilter6(testBlock), with(flagRST), true},
		{"SYN", segmentFilter6(testBlock), with(flagSYN), false},
		{"ACK", segmentFilter6(testBlock), with(flagACK), false},
		{"another block", segmentFilter6(testBlock + 256), with(flagSYN | flagACK), false},
		{"SYN-ACK", segmentFilter4(testBlock), whole4(with(flagSYN | flagACK)), true},
		{"RST-ACK", segmentFilter4(testBlock), whole4(with(flagRST | flagACK)), true},
		{"SYN", segmentFilter4(testBlock), whole4(with(flagSYN)), false},
		{"another block", segmentFilter4(testBlock - 256), whole4(with(flagSYN | flagACK)), false},
	} {
		vm, err := bpf.NewVM(c.filter)
		if err != nil {
			t.Fatal(err)
		}
		kept, err := vm.Run(c.packet)
		if err != nil {
			t.Fatal(err)
		}
		if kept > 0 != c.kept {
			t.Errorf("%s: kept %t of %x", c.name, kept > 0, c.packet)
		}
	}
}

// A reserved port has no other user, and the kernel itself rejects packets for it: it answers a SYN-ACK with a RST.
func TestReservedPorts(t *testing.T) {
	t.Parallel()
	r, err := reserve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.close)
	other, err := reserve()
	if err != nil || other.first == r.first {
		t.Fatalf("%v: the same block twice", err)
	}
	other.close()
	for _, port := range []uint16{r.first, r.first + blockSize - 1} {
		for _, host := range []string{"127.0.0.1", "[::1]"} {
			address := host + ":" + strconv.Itoa(int(port))
			if l, err := net.Listen("tcp", address); !errors.Is(err, syscall.EADDRINUSE) {
				t.Errorf("TCP %s: %v, %v", address, l, err)
			}
			if l, err := net.ListenPacket("udp", address); !errors.Is(err, syscall.EADDRINUSE) {
				t.Errorf("UDP %s: %v, %v", address, l, err)
			}
			if c, err := net.Dial("tcp", address); !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("a connection to %s: %v, %v", address, c, err)
			}
		}
	}
}

// FuzzPortMessages holds that no packet makes a reader panic, and that none answers a probe that was not sent.
func FuzzPortMessages(f *testing.F) {
	b := newPortBench()
	udp, err := b.add(exchange.Probe{Protocol: exchange.UDP, Port: 53}, ownAddress4, target4, deliverNothing)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(slices.Concat([]byte{v4TimeExceeded, 0, 0, 0, 0, 0, 0, 0}, udp.packet4(0, 1)))
	f.Add(make([]byte, tcpHeader))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, p := newPortBench(), packet{data: data, source: target4}
		for _, protocol := range bothProtocols {
			for _, dst := range []netip.Addr{target4, target6} {
				b.flow(t, protocol, dst)
			}
		}
		m4, ok4 := parsePort4(p)
		m6, ok6 := parsePort6(p)
		s, ok := parseSegment(p)
		for _, m := range []struct {
			portMessage
			ok bool
		}{{m4, ok4}, {m6, ok6}, {s, ok}} {
			if m.ok && b.feed(m.portMessage, router4) != 0 {
				t.Errorf("an answer to nothing: %x", data)
			}
		}
	})
}

// The ports need no right at all: a container's worker has CAP_NET_RAW and nothing else.
func TestReserveWithoutRights(t *testing.T) {
	t.Parallel()
	ended := make(chan error)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with its rights
		ended <- reserveWithoutRights()
	}()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func reserveWithoutRights() error {
	var none [2]unix.CapUserData
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	if err := unix.Capset(&header, &none[0]); err != nil {
		return err
	}
	r, err := reserve()
	if err == nil {
		r.close()
	}
	return err
}
