package conns

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/shared/waittest"
)

// fakeConn is one end of a pipe that says where it comes from.
type fakeConn struct {
	net.Conn
	from   net.Addr
	closed bool
}

func (f *fakeConn) RemoteAddr() net.Addr { return f.from }

func (f *fakeConn) Close() error {
	f.closed = true
	return f.Conn.Close()
}

func from(t *testing.T, addr string) *fakeConn {
	t.Helper()
	near, far := net.Pipe()
	t.Cleanup(func() {
		near.Close()
		far.Close()
	})
	return &fakeConn{Conn: near, from: net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(addr), 1))}
}

func noneShared(netip.Addr) bool { return false }

// admitted are connections by name, in the order of their coming.
type admitted struct {
	*Table
	names []string
	raw   map[string]*fakeConn
	conns map[string]*Conn
}

func table(l Limits) *admitted {
	l.Stall = time.Second
	if l.Shared == nil {
		l.Shared = noneShared
	}
	return &admitted{Table: New(l), raw: map[string]*fakeConn{}, conns: map[string]*Conn{}}
}

// come is a connection of a peer; a name of several words ends in the peer's address.
func (a *admitted) come(t *testing.T, name, addr string) {
	t.Helper()
	raw := from(t, addr)
	a.names = append(a.names, name)
	a.raw[name], a.conns[name] = raw, a.admit(raw)
	if (a.conns[name] == nil) != raw.closed {
		t.Errorf("%s: admitted %v, closed %v", name, a.conns[name] != nil, raw.closed)
	}
}

// open are the names of those that are not closed.
func (a *admitted) open() string {
	var open []string
	for _, name := range a.names {
		if !a.raw[name].closed {
			open = append(open, name)
		}
	}
	return strings.Join(open, " ")
}

func (a *admitted) want(t *testing.T, open string, counts Counts) {
	t.Helper()
	if got := a.open(); got != open {
		t.Errorf("open: %s, want %s", got, open)
	}
	counts.Open = len(strings.Fields(open))
	if got := a.Counts(); got != counts {
		t.Errorf("%+v, want %+v", got, counts)
	}
}

// The connection that has waited longest makes room; a busy one never does, and an answering one only if none waits.
func TestWhoMakesRoom(t *testing.T) {
	t.Parallel()
	a := table(Limits{Max: 3})
	for _, name := range []string{"a", "b", "c"} {
		a.come(t, name, "192.0.2.1")
	}
	a.want(t, "a b c", Counts{})
	a.come(t, "d", "192.0.2.2")
	a.want(t, "b c d", Counts{EvictedFull: 1})

	// A request, or an answer, makes one the last in the queue.
	a.move(a.conns["b"], busy)
	a.move(a.conns["b"], waiting)
	a.come(t, "e", "192.0.2.2")
	a.want(t, "b d e", Counts{EvictedFull: 2})

	a.conns["d"].Received()
	a.conns["b"].Received()
	a.conns["e"].Received()
	a.come(t, "f", "192.0.2.2")
	a.want(t, "b d e", Counts{EvictedFull: 2, RefusedFull: 1})

	a.conns["e"].Answering(time.Minute)
	a.conns["d"].Answering(time.Minute)
	a.come(t, "g", "192.0.2.2")
	a.want(t, "b d g", Counts{EvictedFull: 3, RefusedFull: 1})
	// A request that is still on its way has not been taken in hand.
	a.conns["g"].Received()
	a.conns["b"].Receiving()
	a.come(t, "h", "192.0.2.2")
	a.want(t, "d g h", Counts{EvictedFull: 4, RefusedFull: 1})

	for _, name := range a.names {
		if c := a.conns[name]; c != nil {
			_ = c.Close()
			_ = c.Close()
			c.Receiving() // a closed connection stays closed
		}
	}
	a.want(t, "", Counts{EvictedFull: 4, RefusedFull: 1})
	if len(a.peers) != 0 || a.waiting.Len() != 0 || a.answering.Len() != 0 {
		t.Errorf("left: %d peers, %d waiting, %d answering", len(a.peers), a.waiting.Len(), a.answering.Len())
	}
}

func TestOnePeer(t *testing.T) {
	t.Parallel()
	shared := func(a netip.Addr) bool { return a.IsPrivate() || a.IsLoopback() }
	a := table(Limits{PerPeer: 2, Shared: shared})
	a.come(t, "a1", "192.0.2.1")
	a.come(t, "b1", "192.0.2.2")
	a.come(t, "a2", "192.0.2.1")
	a.want(t, "a1 b1 a2", Counts{})
	// Its own longest makes room, however long others wait.
	a.conns["a1"].Received()
	a.conns["a1"].Receiving()
	a.come(t, "a3", "192.0.2.1")
	a.want(t, "a1 b1 a3", Counts{EvictedPeer: 1})
	// Where it has none that waits, the new one goes.
	a.conns["a1"].Received()
	a.conns["a3"].Received()
	a.conns["a3"].Answering(time.Minute)
	a.come(t, "a4", "192.0.2.1")
	a.want(t, "a1 b1 a3", Counts{EvictedPeer: 1, RefusedPeer: 1})

	// A /64 is one peer, and its neighbour another.
	for i := range 3 {
		a.come(t, fmt.Sprintf("v%d", i), fmt.Sprintf("2001:db8:0:1::%x", i+1))
	}
	a.come(t, "w", "2001:db8:0:2::1")
	a.want(t, "a1 b1 a3 v1 v2 w", Counts{EvictedPeer: 2, RefusedPeer: 1})
	// A mapped address is the IPv4 address that it holds.
	a.come(t, "b2", "::ffff:192.0.2.2")
	a.come(t, "b3", "192.0.2.2")
	a.want(t, "a1 a3 v1 v2 w b2 b3", Counts{EvictedPeer: 3, RefusedPeer: 1})
	for i := range 4 {
		a.come(t, fmt.Sprintf("p%d", i), "10.0.0.1")
	}
	a.want(t, "a1 a3 v1 v2 w b2 b3 p0 p1 p2 p3", Counts{EvictedPeer: 3, RefusedPeer: 1})
}

// A shared peer is one address, whatever its /64 is.
func TestSharedPeers(t *testing.T) {
	t.Parallel()
	proxy := netip.MustParseAddr("2001:db8:0:1::9")
	a := table(Limits{PerPeer: 2, Shared: func(a netip.Addr) bool { return a.IsLoopback() || a == proxy }})
	for i := range 3 {
		a.come(t, fmt.Sprintf("l%d", i), "::1")
		a.come(t, fmt.Sprintf("p%d", i), proxy.String())
	}
	a.want(t, "l0 p0 l1 p1 l2 p2", Counts{})
	// Its neighbours have their own, together.
	a.come(t, "n1", "2001:db8:0:1::1")
	a.come(t, "n2", "2001:db8:0:1::2")
	a.want(t, "l0 p0 l1 p1 l2 p2 n1 n2", Counts{})
	a.come(t, "n3", "2001:db8:0:1::3")
	a.come(t, "p3", proxy.String())
	a.want(t, "l0 p0 l1 p1 l2 p2 n2 n3 p3", Counts{EvictedPeer: 1})
}

// acceptor gives connections and errors in turn.
type acceptor struct {
	net.Listener
	give []any
}

func (a *acceptor) Accept() (net.Conn, error) {
	if len(a.give) == 0 {
		return nil, net.ErrClosed
	}
	next := a.give[0]
	a.give = a.give[1:]
	if err, failed := next.(error); failed {
		return nil, err
	}
	return next.(net.Conn), nil
}

// Without files the connection that waits longest makes room at once; where none waits, or all the system lacks them,
// the next try comes soon. net/http hears of none of it.
func TestAcceptWithoutFiles(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		failure error
		waits   bool
		pause   time.Duration
	}{
		{"files of the process", syscall.EMFILE, true, 0},
		{"files of the process, none waits", syscall.EMFILE, false, acceptPause},
		{"files of the system", syscall.ENFILE, true, acceptPause},
		{"memory", syscall.ENOMEM, true, acceptPause},
		{"buffers", syscall.ENOBUFS, true, acceptPause},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a := table(Limits{})
				a.come(t, "old", "192.0.2.1")
				if !test.waits {
					a.conns["old"].Received()
				}
				failure := &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", test.failure)}
				l := a.Listener(&acceptor{give: []any{failure, from(t, "192.0.2.2")}})
				start := time.Now()
				c, err := l.Accept()
				if err != nil || c.RemoteAddr().String() != "192.0.2.2:1" {
					t.Fatalf("%v, %v", c, err)
				}
				if took := time.Since(start); took != test.pause {
					t.Errorf("took %v, want %v", took, test.pause)
				}
				if a.raw["old"].closed != test.waits || a.Counts().Open != 2-a.Counts().EvictedFiles {
					t.Errorf("old one closed: %v, %+v", a.raw["old"].closed, a.Counts())
				}
				if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
					t.Errorf("at the end: %v", err)
				}
			})
		})
	}
}

// served is a server on real sockets whose connections a table bounds.
type served struct {
	*Table
	addr string
}

func serve(t *testing.T, l Limits, h http.HandlerFunc) *served {
	t.Helper()
	if l.Shared == nil {
		l.Shared = noneShared
	}
	s := &served{Table: New(l)}
	raw, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.addr = raw.Addr().String()
	server := &http.Server{Handler: h}
	s.Attach(server)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(s.Listener(raw))
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	return s
}

func (s *served) dial(t *testing.T, send string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(conn, send); err != nil {
		t.Fatal(err)
	}
	return conn
}

const get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

// By the states of net/http: a connection without a running request makes room, whether it sent nothing, half a header,
// or has had its answer; one whose handler runs does not.
func TestStatesOfARealServer(t *testing.T) {
	t.Parallel()
	running, finish := make(chan struct{}), make(chan struct{})
	s := serve(t, Limits{Max: 3, Stall: 5 * time.Second}, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Slow") != "" {
			running <- struct{}{}
			<-finish
		}
		_, _ = io.WriteString(w, "ok")
	})
	ended := func(c net.Conn) bool {
		_, err := io.Copy(io.Discard, c)
		return err == nil || errors.Is(err, syscall.ECONNRESET)
	}
	slow := s.dial(t, "GET / HTTP/1.1\r\nHost: a\r\nSlow: 1\r\n\r\n")
	<-running
	half := s.dial(t, "GET / HTTP/1.1\r\nHost:")
	waittest.Until(t, "two are open", func() bool { return s.Counts().Open == 2 })
	kept := s.dial(t, get)
	answer := make([]byte, 12)
	if _, err := io.ReadFull(kept, answer); err != nil || string(answer) != "HTTP/1.1 200" {
		t.Fatalf("%q, %v", answer, err)
	}
	waittest.Until(t, "the kept one waits", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.waiting.Len() == 2
	})
	for i, victim := range []net.Conn{half, kept} {
		_ = s.dial(t, "")
		if !ended(victim) {
			t.Errorf("the connection was not closed")
		}
		if got := s.Counts(); got.Open != 3 || got.EvictedFull != i+1 {
			t.Errorf("%+v", got)
		}
	}
	close(finish)
	if _, err := io.ReadFull(slow, answer); err != nil || string(answer) != "HTTP/1.1 200" {
		t.Errorf("the busy one: %q, %v", answer, err)
	}
}

const large = 4 << 20

// slowly serves an answer of large bytes, and gives how the writing of each ended.
func slowly(t *testing.T, stall, limit time.Duration) (s *served, ends chan error) {
	t.Helper()
	ends = make(chan error, 8)
	s = serve(t, Limits{Stall: stall}, func(w http.ResponseWriter, r *http.Request) {
		Of(r.Context()).Answering(limit)
		_, err := w.Write(make([]byte, large))
		ends <- err
	})
	return s, ends
}

func TestReaders(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name         string
		stall, limit time.Duration
		every        time.Duration // a reader takes 256 KiB as often; 0 reads nothing
		cut          bool
		least        time.Duration // before which the reader must not be cut off
	}{
		{"one who reads nothing", 300 * time.Millisecond, time.Minute, 0, true, 300 * time.Millisecond},
		{"one who reads slowly", 2 * time.Second, time.Minute, 50 * time.Millisecond, false, 0},
		{"one who reads too slowly", time.Minute, 500 * time.Millisecond, 200 * time.Millisecond, true,
			500 * time.Millisecond},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, ends := slowly(t, test.stall, test.limit)
			start := time.Now() // the server's time begins when it has the request, which may be before dial comes back
			conn := s.dial(t, get)
			stop := make(chan struct{})
			read := make(chan int64, 1)
			go func() {
				var sum int64
				for test.every > 0 {
					n, err := io.CopyN(io.Discard, conn, 256<<10)
					if sum += n; err != nil || sum >= large {
						break
					}
					time.Sleep(test.every) // a slow reader of a real socket
				}
				<-stop
				n, _ := io.Copy(io.Discard, conn)
				read <- sum + n
			}()
			err := <-ends
			took := time.Since(start) // a lower bound: the kernel's buffers and deadlines are real
			if errors.Is(err, os.ErrDeadlineExceeded) != test.cut || took < test.least {
				t.Errorf("ended after %v: %v", took, err)
			}
			if got := s.Counts().Cut; (got == 1) != test.cut {
				t.Errorf("%d were cut", got)
			}
			if test.cut {
				waittest.Until(t, "the connection is closed", func() bool { return s.Counts().Open == 0 })
			} else {
				_ = conn.(*net.TCPConn).CloseWrite()
			}
			close(stop)
			if got := <-read; test.cut && got >= large {
				t.Errorf("one who was cut has read %d bytes", got)
			}
		})
	}
}

// What a reader has not taken is not in the kernel's hands: with its usual buffers an answer of megabytes would count
// as written at once.
func TestWhatTheKernelTakes(t *testing.T) {
	t.Parallel()
	s, ends := slowly(t, 200*time.Millisecond, time.Minute)
	conn := s.dial(t, get)
	if err := <-ends; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("an answer of %d bytes was written without a reader: %v", large, err)
	}
	n, _ := io.Copy(io.Discard, conn)
	if n > 1<<20 {
		t.Errorf("%d bytes were on their way", n)
	}
}

// A write does not block where it is small and the reader's system has acknowledged all earlier bytes, read or not.
func TestTakesAtOnce(t *testing.T) {
	t.Parallel()
	type asked struct{ most, more bool }
	answers, proceed := make(chan asked), make(chan struct{})
	s := serve(t, Limits{Stall: 10 * time.Second}, func(w http.ResponseWriter, r *http.Request) {
		c := Of(r.Context())
		answers <- asked{most: c.TakesAtOnce(mostAtOnce), more: c.TakesAtOnce(mostAtOnce + 1)}
		<-proceed
		_, _ = w.Write(make([]byte, 4<<10))
	})
	conn := s.dial(t, get)
	if got := <-answers; !got.most || got.more {
		t.Errorf("of an empty queue: %+v", got)
	}
	proceed <- struct{}{}
	// All of it, with its header: a client that asks again before the last byte has come does not acknowledge that byte.
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if n, err := io.Copy(io.Discard, answer.Body); n != 4<<10 || err != nil {
		t.Fatalf("%d bytes, %v", n, err)
	}
	if _, err := io.WriteString(conn, get); err != nil {
		t.Fatal(err)
	}
	if got := <-answers; !got.most {
		t.Errorf("after an answer that has arrived: %+v", got)
	}
	proceed <- struct{}{}
	if (*Conn)(nil).TakesAtOnce(1) {
		t.Error("of no connection")
	}
}

// An answer that is on its way to a reader who does not read leaves no room for the next.
func TestTakesNotAtOnce(t *testing.T) {
	t.Parallel()
	room := make(chan bool, 1)
	s := serve(t, Limits{Stall: 200 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(make([]byte, large))
		room <- Of(r.Context()).TakesAtOnce(1)
	})
	_ = s.dial(t, get)
	if <-room {
		t.Error("one byte behind megabytes that are not read")
	}
}

func TestPeerOf(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{
		"192.0.2.1":          "192.0.2.1/32",
		"::ffff:192.0.2.1":   "192.0.2.1/32",
		"2001:db8:1:2:3::4":  "2001:db8:1:2::/64",
		"fe80::1%eth0":       "fe80::/64",
		"2001:db8:1:2:ff::1": "2001:db8:1:2::/64",
	} {
		got := peerOf(addrOf(net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(addr), 7))))
		if got.String() != want {
			t.Errorf("%s: %v, want %s", addr, got, want)
		}
	}
	if got := peerOf(addrOf(&net.UnixAddr{Name: "@"})); got.IsValid() {
		t.Errorf("a Unix socket: %v", got)
	}
}

// Whatever happens, the lists hold each connection where its state says.
func TestListsStayWhole(t *testing.T) {
	t.Parallel()
	a := table(Limits{Max: 4, PerPeer: 2})
	for i := range 400 {
		name := fmt.Sprint(i)
		a.come(t, name, fmt.Sprintf("192.0.2.%d", i%3))
		for j, older := range a.names[max(0, len(a.names)-6):] {
			c := a.conns[older]
			switch (i + j*j) % 7 {
			case 0:
				c.Received()
			case 1:
				c.Receiving()
			case 2:
				c.Answering(time.Minute)
			case 3:
				if c != nil {
					_ = c.Close()
				}
			}
		}
		var states [5]int
		for _, c := range a.conns {
			if c != nil {
				states[c.state]++
			}
		}
		sum := 0
		for _, p := range a.peers {
			sum += p.open
		}
		if open := states[waiting] + states[busy] + states[answering]; open != a.Counts().Open || open != sum || open > 4 ||
			a.waiting.Len() != states[waiting] || a.answering.Len() != states[answering] || states[fresh] != 0 {
			t.Fatalf("after %s: %v, %d open, %d of peers, %d waiting, %d answering", name, states, a.Counts().Open, sum,
				a.waiting.Len(), a.answering.Len())
		}
	}
	if !slices.Contains(a.names, "399") || a.Counts().EvictedFull == 0 || a.Counts().EvictedPeer == 0 {
		t.Errorf("%+v", a.Counts())
	}
}

// Partial requests are bounded together: the oldest makes room, and a connection that waits without a part stays.
func TestUnfinishedRequests(t *testing.T) {
	t.Parallel()
	a := table(Limits{Unfinished: 100})
	for _, name := range []string{"idle", "a", "b", "c"} {
		a.come(t, name, "192.0.2.1")
	}
	a.receive(a.conns["a"], 40)
	a.receive(a.conns["b"], 40)
	a.receive(a.conns["a"], 20)
	a.want(t, "idle a b c", Counts{})
	a.receive(a.conns["c"], 1)
	a.want(t, "idle b c", Counts{EvictedUnfinished: 1})
	// What is whole counts no more, nor what comes then.
	a.conns["b"].Received()
	a.receive(a.conns["b"], 1000)
	a.receive(a.conns["c"], 99)
	a.want(t, "idle b c", Counts{EvictedUnfinished: 1})
	// One that is too large alone makes room for the rest.
	a.receive(a.conns["c"], 1)
	a.want(t, "idle b", Counts{EvictedUnfinished: 2})
	a.receive(a.conns["c"], 1)
	if a.received != 0 || a.begun.Len() != 0 {
		t.Errorf("%d bytes of %d requests are left", a.received, a.begun.Len())
	}
}

// A header that is whole counts while its body is on its way, and no more once that is here or the next is awaited.
func TestUnfinishedBodies(t *testing.T) {
	t.Parallel()
	a := table(Limits{Unfinished: 100})
	for _, name := range []string{"a", "b", "c"} {
		a.come(t, name, "192.0.2.1")
		a.receive(a.conns[name], 40)
		a.move(a.conns[name], busy)
	}
	a.conns["a"].Receiving()
	a.receive(a.conns["a"], 10)
	a.conns["b"].Receiving()
	a.receive(a.conns["b"], 10)
	a.want(t, "a b c", Counts{})
	a.conns["b"].Received()
	a.conns["c"].Receiving()
	a.want(t, "a b c", Counts{})
	a.conns["b"].Receiving()
	a.want(t, "b c", Counts{EvictedUnfinished: 1})
	// A connection that is kept begins anew.
	a.conns["b"].Received()
	a.becomeIdle(a.conns["b"])
	a.receive(a.conns["b"], 60)
	a.want(t, "b c", Counts{EvictedUnfinished: 1})
	a.receive(a.conns["b"], 1)
	a.want(t, "b", Counts{EvictedUnfinished: 2})
	if a.received != 61 || a.begun.Len() != 1 {
		t.Errorf("%d bytes of %d requests are left", a.received, a.begun.Len())
	}
}

// A real server's requests: half a header counts, a whole one does not.
func TestUnfinishedOnARealServer(t *testing.T) {
	t.Parallel()
	s := serve(t, Limits{Unfinished: 10_000, Stall: 5 * time.Second}, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "ok")
	})
	half := s.dial(t, "GET / HTTP/1.1\r\nHost: a\r\nX-Long: "+strings.Repeat("x", 6000))
	waittest.Until(t, "the half is here", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.received > 6000
	})
	kept := s.dial(t, "")
	for range 3 {
		_, _ = io.WriteString(kept, get)
		if _, err := io.ReadAtLeast(kept, make([]byte, 4096), 100); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.Counts().EvictedUnfinished; got != 0 {
		t.Errorf("%d made room for whole requests", got)
	}
	_ = s.dial(t, "GET / HTTP/1.1\r\nHost: a\r\nX-Long: "+strings.Repeat("y", 6000))
	if n, err := io.Copy(io.Discard, half); n != 0 || err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%d bytes, %v", n, err)
	}
	waittest.Until(t, "the first half made room", func() bool { return s.Counts().EvictedUnfinished == 1 })
}
