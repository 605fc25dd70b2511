package icmp

import (
	"bytes"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"diagnostics/worker/internal/exchange"

	"golang.org/x/net/bpf"
	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"
)

var target4 = netip.MustParseAddr("11.0.100.1")

func deliverNothing(exchange.Answer) {}

func TestFlowsHaveIdentifiersOfTheirOwn(t *testing.T) {
	t.Parallel()
	table := newFlows()
	owners := map[uint16]*flow{}
	for range identifiers - 1 {
		f, err := table.add(nil, target4, deliverNothing)
		if err != nil {
			t.Fatal(err)
		}
		if owners[f.id] != nil || f.id == 0 {
			t.Fatalf("identifier %d is given twice, or is 0", f.id)
		}
		owners[f.id] = f
	}
	if f, err := table.add(nil, target4, deliverNothing); !errors.Is(err, exchange.ErrNoFlow) || f != nil {
		t.Fatalf("with all identifiers taken: %v, %v", f, err)
	}
	table.remove(owners[77])
	table.remove(owners[77])
	f, err := table.add(nil, target4, deliverNothing)
	if err != nil || f.id != 77 {
		t.Errorf("got %v, %v, want the one that was given back", f, err)
	}
	if _, err := table.add(nil, target4, deliverNothing); !errors.Is(err, exchange.ErrNoFlow) {
		t.Errorf("an identifier given back twice is there twice: %v", err)
	}
}

// An identifier must not come round again soon, nor be one that someone can foresee who saw all before it: of as many
// as that takes, half are always left to draw from.
func TestIdentifiersComeBackLate(t *testing.T) {
	t.Parallel()
	table := newFlows()
	const quiet = (identifiers - 1) / 2
	last := map[uint16]int{}
	soonest := identifiers
	for n := range 2 * identifiers {
		f, err := table.add(nil, target4, deliverNothing)
		if err != nil {
			t.Fatal(err)
		}
		if before, ok := last[f.id]; ok {
			soonest = min(soonest, n-before)
		}
		last[f.id] = n
		table.remove(f)
	}
	if soonest < quiet || soonest > quiet+quiet/10 {
		t.Errorf("an identifier came round again after %d others, want %d or a little more", soonest, quiet)
	}
	if n := len(table.destinations); n != 0 {
		t.Errorf("%d destinations are remembered", n)
	}
}

// What the requests of flows carry differs from flow to flow in every part.
func TestIdentitiesAreRandom(t *testing.T) {
	t.Parallel()
	table := newFlows()
	ids, firsts, sums, next := map[uint16]bool{}, map[uint16]bool{}, map[uint16]bool{}, 0
	var last uint16
	const flows = 1000
	for range flows {
		f, err := table.add(nil, target4, deliverNothing)
		if err != nil {
			t.Fatal(err)
		}
		ids[f.id], firsts[f.first], sums[f.sum] = true, true, true
		if f.id == last+1 {
			next++
		}
		last = f.id
		for _, seq := range []uint16{0, 1, 91} {
			p := f.request(v4EchoRequest, seq)
			var m message
			if !m.readEcho(p[:], v4EchoRequest) || m.id != f.id || m.sum != f.sum || f.seq(m.seq) != seq || checksum(p[:]) != 0 {
				t.Fatalf("request %d of %+v is %x", seq, f.identity, p)
			}
		}
	}
	// Of a thousand draws from 65,536, some eight are of what was drawn before.
	if len(ids) != flows || len(firsts) < flows-50 || len(sums) < flows-50 || next > 5 {
		t.Errorf("%d identifiers (%d follow the last), %d first numbers, %d checksums in %d flows", len(ids), next,
			len(firsts), len(sums), flows)
	}
}

func TestFlowsOwner(t *testing.T) {
	t.Parallel()
	table := newFlows()
	f, _ := table.add(nil, target4, deliverNothing)
	g, _ := table.add(nil, target4, deliverNothing)
	own, others := f.request(v4EchoRequest, 5), g.request(v4EchoRequest, 5)
	f.sent.add(5)
	read := func(kind exchange.Kind, b []byte) message {
		m := message{kind: kind}
		if kind != exchange.Reply {
			m.quoted = target4
		}
		if !m.readEcho(b, v4EchoRequest) {
			t.Fatal("too short")
		}
		return m
	}
	from := func(sender netip.Addr, b []byte) message {
		m := read(exchange.Reply, b)
		m.sender = sender
		return m
	}
	zeros := make([]byte, 100)
	elsewhere := read(exchange.TimeExceeded, own[:])
	elsewhere.quoted = target4.Next()
	for _, tt := range []struct {
		name string
		m    message
		want proof
	}{
		{"its reply", read(exchange.Reply, own[:]), proved},
		{"a reply to another sequence number", read(exchange.Reply, put8(own[:], 7, own[7]+1)), unproved},
		{"its reply without payload", from(target4, own[:headerLength]), short},
		{"its reply with zeros instead", from(target4, append(own[:8:8], zeros...)), short},
		{"its reply, cut within the cookie", from(target4, own[:12]), short},
		{"its reply, cut behind the cookie", from(target4, own[:16]), short},
		{"its reply, cut behind the proof", from(target4.Next(), own[:18]), proved},
		{"a reply without payload from elsewhere", from(target4.Next(), own[:headerLength]), unproved},
		{"a reply without payload to the next request", from(target4, put16(own[:headerLength], 6, f.first+6)), unproved},
		{"a reply without payload with a number before the first", from(target4, put16(own[:headerLength], 6, f.first-1)), unproved},
		{"a reply with a part of another cookie", from(target4, append(own[:8:8], own[8]+1, 0)), unproved},
		{"a reply with another flow's payload", read(exchange.Reply, append(own[:8:8], others[8:]...)), unproved},
		{"an error that quotes it", read(exchange.TimeExceeded, own[:]), proved},
		{"an error that quotes it up to the cookie", read(exchange.Prohibited, own[:16]), proved},
		{"an error that quotes it up to the cookie, with a checksum that someone rewrote", read(exchange.TimeExceeded, put16(own[:16], 2, ^f.sum)), proved},
		{"an error that quotes its header", read(exchange.TimeExceeded, own[:headerLength]), short},
		{"an error that quotes its header and zeros", read(exchange.TimeExceeded, append(own[:8:8], zeros...)), short},
		{"an error that quotes a part of the cookie", read(exchange.TimeExceeded, own[:15]), short},
		{"an error that quotes a part of the cookie and zeros", read(exchange.TooBig, append(own[:12:12], zeros...)), short},
		{"an error that quotes its header with another checksum", read(exchange.TimeExceeded, put16(own[:8], 2, ^f.sum)), unproved},
		{"an error that quotes its header and something else", read(exchange.TimeExceeded, append(own[:8:8], own[8]+1)), unproved},
		{"an error that quotes the cookie of another sequence number", read(exchange.TimeExceeded, put8(own[:], 7, own[7]+1)), unproved},
		{"an error that quotes another destination", elsewhere, unproved},
		{"an error that quotes another payload", read(exchange.Prohibited, append(own[:8:8], others[8:]...)), unproved},
		{"an unused identifier", read(exchange.Reply, put16(own[:], 4, 0)), unproved},
	} {
		got, p := table.owner(tt.m)
		if p != tt.want || (got == f) != (p != unproved) {
			t.Errorf("%s: %v, %v", tt.name, got, p)
		}
	}
	table.remove(f)
	if got, p := table.owner(read(exchange.Reply, own[:])); got != nil || p != unproved {
		t.Error("a closed flow gets answers")
	}
}

// In IPv6 there is no router that may leave the cookie off.
func TestIPv6ErrorsProveThemselves(t *testing.T) {
	t.Parallel()
	dst := netip.MustParseAddr("2a10:1::2")
	i := newIdentity(7, dst)
	p := i.request(v6EchoRequest, 5)
	for length, want := range map[int]proof{headerLength: unproved, 15: unproved, 16: proved, len(p): proved} {
		m := message{kind: exchange.TimeExceeded, quoted: dst}
		if !m.readEcho(p[:length], v6EchoRequest) || m.prove(dst, i, 6) != want {
			t.Errorf("a quote of %d octets: %v, want %v", length, m.prove(dst, i, 6), want)
		}
	}
}

func TestFlowsUnderConcurrency(t *testing.T) {
	t.Parallel()
	table := newFlows()
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			for range 500 {
				f, err := table.add(nil, target4, deliverNothing)
				if err != nil {
					t.Error(err)
					return
				}
				p := f.request(v4EchoRequest, 1)
				m := message{kind: exchange.Reply}
				m.readEcho(p[:], v4EchoRequest)
				if owner, _ := table.owner(m); owner != f {
					t.Error("an answer goes to another flow")
				}
				table.remove(f)
			}
		})
	}
	all.Wait()
	if table.pool.size != identifiers-1 {
		t.Errorf("%d identifiers are free", table.pool.size)
	}
}

func TestFilter4(t *testing.T) {
	t.Parallel()
	raw, err := bpf.Assemble(filter4())
	if err != nil {
		t.Fatal(err)
	}
	program, ok := bpf.Disassemble(raw)
	if !ok {
		t.Fatal("the filter cannot be read back")
	}
	vm, err := bpf.NewVM(program)
	if err != nil {
		t.Fatal(err)
	}
	options := func(b []byte) []byte {
		b = append(append(put8(b, 0, 0x46)[:20:20], 1, 1, 1, 0), b[20:]...)
		return b
	}
	exceeded := fromHex(t, captured4["timeExceeded"])
	for _, tt := range []struct {
		name   string
		packet []byte
		kept   bool
	}{
		{"reply", fromHex(t, captured4["reply"]), true},
		{"time exceeded", exceeded, true},
		{"prohibited", fromHex(t, captured4["prohibited"]), true},
		{"with IP options", options(exceeded), true},
		{"request", fromHex(t, captured4["request"]), false},
		{"redirect", put8(exceeded, 20, 5), false},
		{"timestamp reply", put8(exceeded, 20, 14), false},
		{"time exceeded that quotes UDP", put8(exceeded, 28+9, 17), false},
		{"time exceeded without a quote", exceeded[:28], false},
	} {
		kept, err := vm.Run(tt.packet)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if (kept >= len(tt.packet)) != tt.kept {
			t.Errorf("%s: %d of %d bytes kept", tt.name, kept, len(tt.packet))
		}
	}
}

func TestControl(t *testing.T) {
	t.Parallel()
	h, data, _, err := unix.ParseOneSocketControlMessage(ttlControl(unix.IPPROTO_IP, unix.IP_TTL, 200))
	if err != nil || h.Level != unix.IPPROTO_IP || h.Type != unix.IP_TTL || data[0] != 200 && data[3] != 200 {
		t.Errorf("%v %+v % x", err, h, data)
	}
	hop := parseControl(ttlControl(unix.IPPROTO_IPV6, unix.IPV6_HOPLIMIT, 57))
	if hop.hopLimit != 57 || !hop.stamp.IsZero() {
		t.Errorf("%+v", hop)
	}
	if got := parseControl([]byte{1, 2, 3}); got != (received{}) {
		t.Errorf("rubbish gives %+v", got)
	}
	if got := parseControl(make([]byte, 64)); got != (received{}) {
		t.Errorf("zeros give %+v", got)
	}
}

func TestArrival(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, tt := range []struct {
		name  string
		stamp time.Time
		want  time.Duration
	}{
		{"read at once", now.Round(0), 0},
		{"read late", now.Round(0).Add(-30 * time.Millisecond), -30 * time.Millisecond},
		{"no stamp", time.Time{}, 0},
		{"clock set back", now.Round(0).Add(time.Hour), 0},
		{"clock set forward", now.Round(0).Add(-time.Hour), 0},
	} {
		if got := arrival(now, tt.stamp).Sub(now); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

func TestSendErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  error
		want error
	}{
		{unix.ENETUNREACH, exchange.ErrNoRoute}, {unix.EHOSTUNREACH, exchange.ErrNoRoute}, {unix.EADDRNOTAVAIL, exchange.ErrNoRoute},
		{unix.EPERM, exchange.ErrForbidden}, {unix.EACCES, exchange.ErrForbidden},
	} {
		if got := sendError(tt.err); !errors.Is(got, tt.want) || !errors.Is(got, tt.err) {
			t.Errorf("%v: %v", tt.err, got)
		}
	}
	if got := sendError(unix.EIO); !errors.Is(got, unix.EIO) || errors.Is(got, exchange.ErrNoRoute) {
		t.Errorf("EIO: %v", got)
	}
}

// Both sides of the limit, and how long it takes until it is quiet again.
func TestSuspicion(t *testing.T) {
	t.Parallel()
	now := started.Add(time.Hour)
	s := newSuspicion(3, 100*time.Millisecond)
	for n := range 3 {
		if !s.quiet(now) {
			t.Errorf("not quiet after %d", n)
		}
		s.note(now)
	}
	if s.quiet(now) {
		t.Error("quiet after 3")
	}
	if !s.quiet(now.Add(time.Millisecond)) {
		t.Error("one of 3 does not leak away")
	}
	for range 1_000_000 {
		s.note(now)
	}
	if s.quiet(now.Add(300 * time.Millisecond)) {
		t.Error("quiet too soon after a storm")
	}
	if !s.quiet(now.Add(301 * time.Millisecond)) {
		t.Error("a storm is held against the quiet long after it")
	}
	if later := now.Add(time.Hour); !s.quiet(later) {
		t.Error("not quiet after an hour")
	}
}

// flowTo is a flow of a raw socket without its socket, and what comes of a message to it.
func flowTo(t *testing.T, table *flows) (f *flow, feed func(message) (answers int)) {
	t.Helper()
	var m message
	answers := 0
	s := &socket{rawConn: &rawConn{counters: &counters{}}, flows: table, requestType: v4EchoRequest}
	s.receive = func(ipv4.Message) (arrived, bool) { return arrived{message: m}, true }
	f, err := table.add(s, target4, func(exchange.Answer) { answers++ })
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	return f, func(next message) int {
		m = next
		answers = 0
		s.dispatch(now, ipv4.Message{})
		return answers
	}
}

// An error that quotes no more than RFC 792 requires is accepted as long as few were forged about its destination, and
// one that quotes the cookie always.
func TestShortErrorsAreBelievedInQuietTimes(t *testing.T) {
	t.Parallel()
	table := newFlows()
	f, feed := flowTo(t, table)
	whole := message{kind: exchange.TimeExceeded, quoted: target4}
	sent := f.request(v4EchoRequest, 1)
	whole.readEcho(sent[:], v4EchoRequest)
	honest := whole
	honest.payload = nil
	forged := honest
	forged.seq, forged.sum = honest.seq+1, ^honest.sum
	elsewhere := forged
	elsewhere.quoted = target4.Next()
	// What is forged about others says nothing about this one.
	for range destinationLimit {
		feed(elsewhere)
	}
	for n := range destinationLimit {
		if feed(honest) != 1 {
			t.Fatalf("after %d forged errors a real one is rejected", n)
		}
		if feed(forged) != 0 {
			t.Fatal("a forged error is accepted")
		}
	}
	if feed(honest) != 0 {
		t.Errorf("after %d forged errors one with a weak proof is accepted", destinationLimit)
	}
	if feed(whole) != 1 {
		t.Error("an error that quotes the cookie is rejected")
	}
	if got := f.socket.counters.doubted.Load(); got != 1 {
		t.Errorf("%d doubted", got)
	}
	if got := f.socket.counters.unmatched.Load(); got != 2*destinationLimit {
		t.Errorf("%d unmatched", got)
	}
	// A flow of later days starts anew.
	table.remove(f)
	g, feed := flowTo(t, table)
	sent = g.request(v4EchoRequest, 1)
	honest.readEcho(sent[:headerLength], v4EchoRequest)
	if feed(honest) != 1 {
		t.Error("a new flow to the address rejects it")
	}
}

// Forged errors that are spread over many destinations are detected too.
func TestShortErrorsAndForgedOnesAboutOthers(t *testing.T) {
	t.Parallel()
	table := newFlows()
	f, feed := flowTo(t, table)
	honest := message{kind: exchange.TimeExceeded, quoted: target4}
	sent := f.request(v4EchoRequest, 1)
	honest.readEcho(sent[:headerLength], v4EchoRequest)
	forged := message{kind: exchange.TimeExceeded, quoted: target4, id: honest.id}
	for n := range rawLimit {
		if n == rawLimit-1 && feed(honest) != 1 {
			t.Fatalf("after %d forged errors about others a real one is rejected", n)
		}
		forged.quoted = forged.quoted.Next()
		feed(forged)
	}
	if feed(honest) != 0 {
		t.Errorf("after %d forged errors about others one with a weak proof is accepted", rawLimit)
	}
	if got := feed(message{kind: exchange.Reply, id: honest.id}); got != 0 {
		t.Error("a reply without the cookie is accepted")
	}
}

// A damaged reply is marked as one. Without the cookie it is accepted as long as few were forged about its destination.
func TestDamagedReplies(t *testing.T) {
	t.Parallel()
	table := newFlows()
	f, _ := flowTo(t, table)
	f.sent.add(1)
	var got []bool
	f.deliver = func(a exchange.Answer) { got = append(got, a.Damaged) }
	var m message
	f.socket.receive = func(ipv4.Message) (arrived, bool) { return arrived{message: m}, true }
	now := time.Now()
	feed := func(next message) {
		m = next
		f.socket.dispatch(now, ipv4.Message{})
	}
	sent := f.request(v4EchoRequest, 1)
	reply := func(length int) message {
		m := message{kind: exchange.Reply, sender: target4}
		m.readEcho(sent[:length], v4EchoRequest)
		return m
	}
	for _, length := range []int{headerLength, headerLength + 3, headerLength + provedLength, len(sent) - 1, len(sent)} {
		feed(reply(length))
	}
	if want := []bool{true, true, true, true, false}; !slices.Equal(got, want) {
		t.Fatalf("damaged: %t, want %t", got, want)
	}
	longer := reply(len(sent))
	longer.payload = append(slices.Clone(longer.payload), 1, 2, 3)
	changed := reply(len(sent))
	changed.payload = slices.Clone(changed.payload)
	changed.payload[len(changed.payload)-1]++
	got = nil
	feed(longer)
	feed(changed)
	if want := []bool{false, true}; !slices.Equal(got, want) {
		t.Fatalf("longer, changed: %t, want %t", got, want)
	}
	// Forged about others, or whole ones for another program, they say nothing about this destination.
	forged, other := reply(headerLength), reply(len(sent))
	forged.seq, other.id = forged.seq+1, other.id+1
	elsewhere := forged
	elsewhere.sender = target4.Next()
	for range 2 * rawLimit {
		feed(elsewhere)
		feed(other)
	}
	got = nil
	for range destinationLimit {
		feed(reply(headerLength))
		feed(forged)
	}
	if len(got) != destinationLimit {
		t.Errorf("%d of %d damaged replies are accepted in quiet times", len(got), destinationLimit)
	}
	got = nil
	feed(reply(headerLength))
	feed(reply(headerLength + provedLength))
	feed(reply(len(sent)))
	if want := []bool{true, false}; !slices.Equal(got, want) {
		t.Errorf("after %d forged ones: damaged %t, want %t", destinationLimit, got, want)
	}
}

// Replies to other programs are no forged errors.
func TestForeignRepliesRaiseNoSuspicion(t *testing.T) {
	t.Parallel()
	table := newFlows()
	f, feed := flowTo(t, table)
	honest := message{kind: exchange.TimeExceeded, quoted: target4}
	sent := f.request(v4EchoRequest, 1)
	honest.readEcho(sent[:headerLength], v4EchoRequest)
	for range 2 * rawLimit {
		feed(message{kind: exchange.Reply, id: f.id + 1})
	}
	if feed(honest) != 1 {
		t.Error("a real error is rejected after replies to others")
	}
}

// explode is what the reading of a packet of one byte comes to in these tests.
func explode() { panic("boom") }

// logged are counters with what they log.
func logged() (*counters, *bytes.Buffer) {
	log := new(bytes.Buffer)
	return &counters{log: slog.New(slog.NewJSONHandler(log, nil))}, log
}

// wantOneStack demands so many packets that panicked, and a log that shows where the first did.
func wantOneStack(t *testing.T, c *counters, log string, panics uint64) {
	t.Helper()
	if n := c.panics.Load(); n != panics {
		t.Errorf("%d packets panicked, want %d", n, panics)
	}
	if strings.Count(log, "\n") != 1 || !strings.Contains(log, "icmp.explode(") ||
		!strings.Contains(log, `"panic":"boom"`) {
		t.Errorf("logged: %s", log)
	}
}

// A packet that makes the reader panic costs itself and not the reader.
func TestTheRawReaderOutlivesAPanic(t *testing.T) {
	t.Parallel()
	c, log := logged()
	s := &socket{
		rawConn: &rawConn{counters: c}, flows: newFlows(), requestType: v4EchoRequest, closed: make(chan struct{}),
	}
	var seqs []uint16
	f, err := s.flows.add(s, target4, func(a exchange.Answer) { seqs = append(seqs, a.Seq) })
	if err != nil {
		t.Fatal(err)
	}
	s.receive = func(m ipv4.Message) (arrived, bool) {
		if m.N == 1 {
			explode()
		}
		sent := f.request(v4EchoRequest, uint16(m.N))
		var a arrived
		a.kind = exchange.Reply
		return a, a.readEcho(sent[:], v4EchoRequest)
	}
	batches := [][]int{{7, 1, 8}, {1}, {9}}
	s.batch = func(ms []ipv4.Message) (int, error) {
		if len(batches) == 0 {
			return 0, net.ErrClosed
		}
		for i, n := range batches[0] {
			ms[i].N = n
		}
		n := len(batches[0])
		batches = batches[1:]
		return n, nil
	}
	s.reader.Go(func() { s.read(s.dispatch) })
	s.reader.Wait()
	if len(seqs) != 3 || seqs[0] != 7 || seqs[1] != 8 || seqs[2] != 9 {
		t.Errorf("answers %v", seqs)
	}
	if n := c.received.Load(); n != 5 {
		t.Errorf("%d packets received", n)
	}
	wantOneStack(t, c, log.String(), 2)
}

// The same for datagram sockets. A UDP socket needs no right and is read in the same way.
func TestThePollerOutlivesAPanic(t *testing.T) {
	t.Parallel()
	c, log := logged()
	poller, err := newPoller()
	if err != nil {
		t.Fatal(err)
	}
	answers := make(chan uint16, 10)
	pool := newIdentifierPool()
	parse := func(b []byte) (message, bool) {
		if len(b) == 1 {
			explode()
		}
		return parse4(b)
	}
	d := &datagrams{poller: poller, counters: c, pool: pool, protocol: datagramProtocol{parse: parse}}
	id, _ := pool.take()
	f := &datagramFlow{
		network: d, dst: target4, identity: newIdentity(id, target4), deliver: func(a exchange.Answer) { answers <- a.Seq },
	}
	var at netip.AddrPort
	f.fd, at = udpSocket(t)
	poller.reader.Go(poller.read)
	if err := poller.add(f); err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("udp4", at.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	reply := f.request(v4EchoRequest, 5)
	reply[0] = v4EchoReply
	for range 2 {
		for _, packet := range [][]byte{{1}, reply[:]} {
			if _, err := conn.Write(packet); err != nil {
				t.Fatal(err)
			}
		}
		select {
		case seq := <-answers:
			if seq != 5 {
				t.Errorf("answer %d", seq)
			}
		case <-time.After(5 * time.Second):
			t.Fatal("the poller reads no more")
		}
	}
	if err := poller.close(); err != nil {
		t.Error(err)
	}
	wantOneStack(t, c, log.String(), 2)
}

// udpSocket opens a socket on loopback; the poller closes it.
func udpSocket(t *testing.T) (fd int, at netip.AddrPort) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	loopback := [4]byte{127, 0, 0, 1}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: loopback}); err != nil {
		t.Fatal(err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return fd, netip.AddrPortFrom(netip.AddrFrom4(loopback), uint16(name.(*unix.SockaddrInet4).Port))
}
