//go:build lab

package icmp

import (
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"diagnostics/worker/internal/exchange"
	"diagnostics/worker/internal/labtest"
)

// inEachMode runs a test once with raw sockets and once with datagram sockets: what holds for one must hold for both.
func inEachMode(t *testing.T, test func(*testing.T, Mode)) {
	t.Parallel()
	for _, m := range []Mode{Raw, Datagram} {
		t.Run(string(m), func(t *testing.T) {
			t.Parallel()
			test(t, m)
		})
	}
}

// labEngine is an engine in a namespace. Datagram sockets are opened with each flow, so that is done there too.
type labEngine struct {
	*Engine
	namespace *labtest.Namespace
}

func (e labEngine) open(dst netip.Addr, deliver func(exchange.Answer)) (f exchange.Flow, err error) {
	e.namespace.Do(func() { f, err = e.Open(dst, deliver) })
	return f, err
}

// openIn opens an engine in a namespace.
func openIn(t *testing.T, n *labtest.Namespace, m Mode) labEngine {
	t.Helper()
	if m == Datagram {
		n.Sysctl("net.ipv4.ping_group_range=0 0")
	}
	e := labEngine{namespace: n}
	var err error
	n.Do(func() { e.Engine, err = openMode(m, slog.New(slog.DiscardHandler)) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	if f := e.Families(); len(f) != 2 || f[0] != 4 || f[1] != 6 || e.Mode() != m {
		t.Fatalf("%s: families %v", e.Mode(), f)
	}
	return e
}

// inbox collects the answers of a flow.
type inbox chan exchange.Answer

func openFlow(t *testing.T, e labEngine, dst netip.Addr) (exchange.Flow, inbox) {
	t.Helper()
	in := make(inbox, 1000)
	f, err := e.open(dst, func(a exchange.Answer) { in <- a })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f, in
}

func (in inbox) next(t *testing.T) exchange.Answer {
	t.Helper()
	select {
	case a := <-in:
		return a
	case <-time.After(5 * time.Second):
		t.Fatal("no answer")
		return exchange.Answer{}
	}
}

func (in inbox) checkEmpty(t *testing.T) {
	t.Helper()
	time.Sleep(100 * time.Millisecond)
	if len(in) > 0 {
		t.Errorf("%d answers too many, such as %+v", len(in), <-in)
	}
}

func TestLoopback(t *testing.T) { inEachMode(t, checkLoopback) }

func checkLoopback(t *testing.T, m Mode) {
	e := openIn(t, labtest.NewNamespace(t, "lo"), m)
	for _, dst := range []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.IPv6Loopback()} {
		f, in := openFlow(t, e, dst)
		at, err := f.Send(7, 64)
		if err != nil {
			t.Fatal(err)
		}
		a := in.next(t)
		rtt := a.At.Sub(at)
		if a.Seq != 7 || a.Kind != exchange.Reply || a.From != dst || a.TTL != 64 || rtt <= 0 || rtt > time.Second {
			t.Errorf("%v: %+v after %v", dst, a, rtt)
		}
		in.checkEmpty(t)
	}
	if c := e.Counters(); c.Sent != 2 || c.Received < 2 || c.SendErrors != 0 || c.Dropped != 0 {
		t.Errorf("%+v", c)
	}
}

func TestEachTTLFindsItsRouter(t *testing.T) { inEachMode(t, checkEachTTLFindsItsRouter) }

func checkEachTTLFindsItsRouter(t *testing.T, m Mode) {
	chain := labtest.NewChain(t, 3)
	e := openIn(t, chain.Source, m)
	for _, dst := range []string{"11.0.3.2", "2a10:3::2"} {
		f, in := openFlow(t, e, netip.MustParseAddr(dst))
		for i, want := range chain.Path(netip.MustParseAddr(dst)) {
			if _, err := f.Send(uint16(i), i+1); err != nil {
				t.Fatal(err)
			}
			a := in.next(t)
			kind := exchange.TimeExceeded
			if want == dst {
				kind = exchange.Reply
			}
			if int(a.Seq) != i || a.From.String() != want || a.Kind != kind || a.TTL != 64-i {
				t.Errorf("TTL %d: %+v, want %s", i+1, a, want)
			}
		}
		in.checkEmpty(t)
	}
}

func TestRefusals(t *testing.T) { inEachMode(t, checkRefusals) }

func checkRefusals(t *testing.T, m Mode) {
	chain := labtest.NewChain(t, 2)
	e := openIn(t, chain.Source, m)
	for i, tt := range []struct {
		route string
		kind4 exchange.Kind
		kind6 exchange.Kind
	}{
		{"prohibit", exchange.Prohibited, exchange.Prohibited},
		{"unreachable", exchange.HostUnreachable, exchange.NetUnreachable},
	} {
		dst4 := netip.AddrFrom4([4]byte{11, 0, byte(200 + i), 1})
		dst6 := netip.MustParseAddr([]string{"2a10:200::1", "2a10:201::1"}[i])
		chain.Routers[1].IP("route", "add", tt.route, dst4.String()+"/32")
		chain.Routers[1].IP("-6", "route", "add", tt.route, dst6.String()+"/128")
		for dst, kind := range map[netip.Addr]exchange.Kind{dst4: tt.kind4, dst6: tt.kind6} {
			f, in := openFlow(t, e, dst)
			if _, err := f.Send(1, 64); err != nil {
				t.Fatal(err)
			}
			if a := in.next(t); a.Kind != kind || a.From.String() != chain.Path(dst)[1] {
				t.Errorf("%s to %v: %+v", tt.route, dst, a)
			}
		}
	}
}

// A host of its own: what cannot be sent is an error that says why.
func TestSendErrorsOfTheHost(t *testing.T) { inEachMode(t, checkSendErrorsOfTheHost) }

func checkSendErrorsOfTheHost(t *testing.T, m Mode) {
	n := labtest.NewNamespace(t, "alone")
	n.IP("route", "add", "prohibit", "11.0.1.0/24")
	e := openIn(t, n, m)
	for dst, want := range map[string]error{
		"11.0.0.1": exchange.ErrNoRoute, "2a10::1": exchange.ErrNoRoute, "11.0.1.1": exchange.ErrForbidden,
	} {
		f, _ := openFlow(t, e, netip.MustParseAddr(dst))
		if _, err := f.Send(1, 64); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", dst, err, want)
		}
	}
	f, _ := openFlow(t, e, netip.MustParseAddr("127.0.0.1"))
	for _, ttl := range []int{0, 256, -1} {
		if _, err := f.Send(1, ttl); err == nil {
			t.Errorf("TTL %d is sent", ttl)
		}
	}
	e.Close()
	if _, err := f.Send(1, 64); !errors.Is(err, exchange.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if _, err := e.open(netip.MustParseAddr("127.0.0.1"), func(exchange.Answer) {}); !errors.Is(err, exchange.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// identityOf gives what a forger cannot know.
func identityOf(f exchange.Flow) identity {
	if f, ok := f.(*flow); ok {
		return f.identity
	}
	return f.(*datagramFlow).identity
}

// Forged errors with a wrong quote reach no flow; the right one from the same place does.
func TestForgedErrors(t *testing.T) { inEachMode(t, checkForgedErrors) }

func checkForgedErrors(t *testing.T, m Mode) {
	chain := labtest.NewChain(t, 1)
	chain.Destination.Sysctl("net.ipv4.icmp_echo_ignore_all=1")
	e := openIn(t, chain.Source, m)
	dst := netip.MustParseAddr("11.0.1.2")
	f, in := openFlow(t, e, dst)
	if _, err := f.Send(5, 64); err != nil {
		t.Fatal(err)
	}
	own := identityOf(f)
	right := own.request(v4EchoRequest, 5)
	var forger net.PacketConn
	var err error
	chain.Routers[0].Do(func() { forger, err = net.ListenPacket("ip4:icmp", "11.0.0.2") })
	if err != nil {
		t.Fatal(err)
	}
	defer forger.Close()
	// forge sends a time exceeded that quotes a packet to an address with a message.
	forge := func(to netip.Addr, protocol byte, message []byte) {
		t.Helper()
		ip := make([]byte, minIPv4Header)
		ip[0], ip[8], ip[9] = 0x45, 1, protocol
		ip[3] = byte(len(ip) + len(message))
		copy(ip[16:], to.AsSlice())
		b := append(append([]byte{v4TimeExceeded, 0, 0, 0, 0, 0, 0, 0}, ip...), message...)
		sum := checksum(b)
		b[2], b[3] = byte(sum>>8), byte(sum)
		if _, err := forger.WriteTo(b, &net.IPAddr{IP: net.IPv4(11, 0, 0, 1)}); err != nil {
			t.Fatal(err)
		}
	}
	wrongID := put16(right[:], 4, own.id+1)
	wrongCookie := put8(right[:], headerLength, right[headerLength]+1)
	forge(dst.Next(), protocolICMP, right[:])
	forge(dst, 17, right[:])
	forge(dst, protocolICMP, wrongID)
	forge(dst, protocolICMP, wrongCookie)
	forge(dst, protocolICMP, put8(right[:], 0, v4EchoReply))
	forge(dst, protocolICMP, right[:7])
	in.checkEmpty(t)
	// The kernel keeps those with a wrong quote from a datagram socket, but for the wrong destination and the cookie.
	least := map[Mode]uint64{Raw: 5, Datagram: 2}[m]
	if c := e.Counters(); c.Unmatched < least {
		t.Errorf("%d unmatched: the forged packets did not come", c.Unmatched)
	}
	forge(dst, protocolICMP, right[:])
	if a := in.next(t); a.Seq != 5 || a.Kind != exchange.TimeExceeded || a.From.String() != "11.0.0.2" {
		t.Errorf("%+v", a)
	}
}

// Many flows at once through one socket, while a flood ping runs beside them: every answer finds its flow, and nothing
// foreign does.
func TestManyFlowsBesideAFlood(t *testing.T) { inEachMode(t, checkManyFlowsBesideAFlood) }

func checkManyFlowsBesideAFlood(t *testing.T, m Mode) {
	chain := labtest.NewChain(t, 2)
	v4, v6 := chain.AddTargets(20)
	e := openIn(t, chain.Source, m)
	for _, dst := range []string{"11.0.2.2", "2a10:2::2"} {
		flood := chain.Source.Command("ping", "-n", "-f", "-q", "-w", "3", dst)
		if err := flood.Start(); err != nil {
			t.Fatal(err)
		}
		defer flood.Wait()
	}
	const probes = 50
	var all sync.WaitGroup
	for _, dst := range append(v4, v6...) {
		f, in := openFlow(t, e, dst)
		all.Go(func() {
			for seq := range probes {
				if _, err := f.Send(uint16(seq), 1+seq%3); err != nil {
					t.Error(err)
				}
				time.Sleep(5 * time.Millisecond)
			}
			path := chain.Path(dst)
			seen := map[uint16]bool{}
			for range probes {
				select {
				case a := <-in:
					if seen[a.Seq] || a.From.String() != path[a.Seq%3] || (a.Kind == exchange.Reply) != (a.Seq%3 == 2) {
						t.Errorf("%v: %+v", dst, a)
					}
					seen[a.Seq] = true
				case <-time.After(5 * time.Second):
					t.Errorf("%v: %d of %d answers: %v", dst, len(seen), probes, seen)
					return
				}
			}
			if len(in) > 0 {
				t.Errorf("%v: %d answers too many", dst, len(in))
			}
		})
	}
	all.Wait()
	c := e.Counters()
	t.Logf("%+v", c)
	if m == Raw && c.Unmatched == 0 {
		t.Error("the flood did not come by")
	}
	if c.Dropped > 0 {
		t.Errorf("the kernel dropped %d packets", c.Dropped)
	}
}
