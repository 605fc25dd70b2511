package icmp

import (
	"testing"
	"time"

	"diagnostics/worker/internal/exchange"

	"golang.org/x/net/ipv4"
)

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
	s.receive = func(*socket, ipv4.Message) (arrived, bool) { return arrived{message: m}, true }
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

// An error that quotes no more than RFC 792 asks for is believed as long as few were forged about its destination, and
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
			t.Fatalf("after %d forged errors an honest one is not believed", n)
		}
		if feed(forged) != 0 {
			t.Fatal("a forged error is believed")
		}
	}
	if feed(honest) != 0 {
		t.Errorf("after %d forged errors one that proves so little is believed", destinationLimit)
	}
	if feed(whole) != 1 {
		t.Error("an error that quotes the cookie is not believed")
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
		t.Error("a new flow to the address does not believe")
	}
}

// Whoever spreads forged errors over many destinations is heard too.
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
			t.Fatalf("after %d forged errors about others an honest one is not believed", n)
		}
		forged.quoted = forged.quoted.Next()
		feed(forged)
	}
	if feed(honest) != 0 {
		t.Errorf("after %d forged errors about others one that proves so little is believed", rawLimit)
	}
	if got := feed(message{kind: exchange.Reply, id: honest.id}); got != 0 {
		t.Error("a reply without the cookie is believed")
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
		t.Error("an honest error is not believed after replies to others")
	}
}

// What the reader does with a packet that answers nothing: this, and the system's calls, is what a flood costs.
func BenchmarkUnmatchedError(b *testing.B) {
	table := newFlows()
	s := &socket{rawConn: &rawConn{counters: &counters{}}, flows: table, requestType: v4EchoRequest}
	s.receive = (*socket).receive4
	f, err := table.add(s, target4, deliverNothing)
	if err != nil {
		b.Fatal(err)
	}
	packet := make([]byte, minIPv4Header, 100)
	packet[0], packet[9] = 0x45, protocolICMP
	packet = append(packet, v4Unreachable, 13, 0, 0, 0, 0, 0, 0)
	packet = append(packet, make([]byte, minIPv4Header)...)
	quote := packet[minIPv4Header+headerLength:]
	quote[0], quote[9] = 0x45, protocolICMP
	copy(quote[16:], target4.AsSlice())
	packet = append(packet, v4EchoRequest, 0, 1, 2, byte(f.id>>8), byte(f.id), 3, 4)
	sum := checksum(packet[minIPv4Header:])
	packet[22], packet[23] = byte(sum>>8), byte(sum)
	now := time.Now()
	m := ipv4.Message{Buffers: [][]byte{packet}, N: len(packet)}
	b.ReportAllocs()
	for b.Loop() {
		s.dispatch(now, m)
	}
	if s.counters.unmatched.Load() == 0 || f.forged.quiet(now) {
		b.Error("the packet was taken for something else")
	}
}
