package icmp

import (
	"bytes"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"diagnostics/worker/internal/exchange"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"
)

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
	s.receive = func(_ *socket, m ipv4.Message) (arrived, bool) {
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
