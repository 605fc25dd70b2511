//go:build lab

package icmp

import (
	"bytes"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"diagnostics/worker/internal/exchange"
	"diagnostics/worker/internal/labtest"

	"github.com/google/go-cmp/cmp"
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
	time.Sleep(100 * time.Millisecond) // that no answer more comes has no sign
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

// identityOf returns the unguessable part of a flow.
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
				time.Sleep(5 * time.Millisecond) // the pace of a prober
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

// What this host's own queue drops is an error, and never a probe that left; a queue that is full for a moment is
// waited for.
func TestAFullQueue(t *testing.T) { inEachMode(t, checkAFullQueue) }

func checkAFullQueue(t *testing.T, m Mode) {
	for name, tt := range map[string]struct {
		rate   string
		probes int
		full   bool
	}{
		"for a moment": {"64kbit", 20, false}, // ten milliseconds for each
		"for long":     {"4kbit", 10, true},
	} {
		chain := labtest.NewChain(t, 1)
		e := openIn(t, chain.Source, m)
		for _, dst := range []string{"11.0.1.2", "2a10:1::2"} {
			way := e.Follow(netip.MustParseAddr(dst))
			f, in := openFlow(t, e, netip.MustParseAddr(dst))
			if _, err := f.Send(0, 64); err != nil { // so that the neighbour is known
				t.Fatal(err)
			}
			in.next(t)
			chain.Source.TC("qdisc", "add", "dev", "right", "root", "tbf", "rate", tt.rate, "burst", "200", "limit", "200")
			left := 0
			for seq := range tt.probes {
				switch _, err := f.Send(uint16(seq+1), 64); {
				case err == nil:
					left++
				case !errors.Is(err, exchange.ErrShortage):
					t.Errorf("%s to %s: %v", name, dst, err)
				}
			}
			if m == Datagram && dst == "2a10:1::2" { // whose sends report nothing: the end of the job does
				if err := way.WasCut(); !errors.Is(err, exchange.ErrShortage) {
					t.Errorf("%s to %s: %v", name, dst, err)
				}
				chain.Source.TC("qdisc", "del", "dev", "right", "root")
				continue
			}
			if err := way.WasCut(); err != nil {
				t.Errorf("%s to %s: %v", name, dst, err)
			}
			if full := left < tt.probes; full != tt.full {
				t.Errorf("%s to %s: %d of %d probes left", name, dst, left, tt.probes)
			}
			for range left {
				in.next(t)
			}
			chain.Source.TC("qdisc", "del", "dev", "right", "root")
		}
	}
}

// A link or a route that is gone for a moment while a probe is on its way is noticed without a question, and a route
// that refuses one net is not taken for it.
func TestAWayThatIsLostForAMoment(t *testing.T) { inEachMode(t, checkAWayThatIsLostForAMoment) }

func checkAWayThatIsLostForAMoment(t *testing.T, m Mode) {
	chain := labtest.NewChain(t, 1)
	chain.Source.Sysctl("net.ipv6.conf.all.keep_addr_on_down=1")
	e := openIn(t, chain.Source, m)
	const settled = 100 * time.Millisecond
	for _, tt := range []struct {
		name    string
		happens func()
		was     error
	}{
		{"nothing", func() {}, nil},
		{"another route", func() { chain.Source.IP("route", "add", "11.7.7.0/24", "via", "11.0.0.2") }, nil},
		{"a net is refused", func() { chain.Source.IP("route", "add", "prohibit", "11.0.1.0/24") }, nil},
		{"it is no more", func() { chain.Source.IP("route", "del", "prohibit", "11.0.1.0/24") }, nil},
		{"the default route goes and comes", func() {
			chain.Source.IP("route", "del", "default")
			time.Sleep(settled) // the engine looks at routes after a pause; that it sees none has no sign
			chain.Source.IP("route", "add", "default", "via", "11.0.0.2")
		}, exchange.ErrCutOff},
		{"the cable is pulled and put back", func() {
			chain.Routers[0].IP("link", "set", "left", "down")
			chain.Routers[0].IP("link", "set", "left", "up")
		}, exchange.ErrCutOff},
		{"the link is switched off and on", func() {
			chain.Source.IP("link", "set", "right", "down")
			chain.Source.IP("link", "set", "right", "up")
			chain.Source.IP("route", "add", "default", "via", "11.0.0.2")
		}, exchange.ErrCutOff},
	} {
		f := e.Follow(netip.MustParseAddr("11.0.1.2"))
		tt.happens()
		time.Sleep(settled) // the engine looks at routes after a pause; that it sees none has no sign
		if err := f.Cut(); err != nil {
			t.Errorf("%s: afterwards %v", tt.name, err)
		}
		if err := f.WasCut(); !errors.Is(err, tt.was) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.was)
		}
		f.Close()
	}
}

// The way that counts is that of the probes: rules may send ICMP by a table of its own.
func TestICMPRouteIsTheOneWatched(t *testing.T) { inEachMode(t, checkICMPRoute) }

func checkICMPRoute(t *testing.T, m Mode) {
	chain := labtest.NewChain(t, 1)
	e := openIn(t, chain.Source, m)
	hold := func(when string, want error) {
		t.Helper()
		for _, to := range []string{"11.0.1.2", "2a10:1::2"} {
			f := e.Follow(netip.MustParseAddr(to))
			if err := f.Cut(); !errors.Is(err, want) {
				t.Errorf("%s: %v to %s, want %v", when, err, to, want)
			}
			f.Close()
		}
	}
	for family, next := range map[string]string{"-4": "11.0.0.2", "-6": "2a10:0::2"} {
		protocol := map[string]string{"-4": "icmp", "-6": "ipv6-icmp"}[family]
		chain.Source.IP(family, "route", "add", "default", "via", next, "table", "100")
		chain.Source.IP(family, "rule", "add", "ipproto", protocol, "lookup", "100")
		chain.Source.IP(family, "route", "del", "default")
	}
	hold("the others have none", nil)
	for family, next := range map[string]string{"-4": "11.0.0.2", "-6": "2a10:0::2"} {
		chain.Source.IP(family, "route", "add", "default", "via", next)
		chain.Source.IP(family, "route", "replace", "unreachable", "default", "table", "100")
	}
	hold("the others have one", exchange.ErrCutOff)
}

// Errors that quote every identifier, and no more of the request than its header, reach no flow to a silent host, in
// either family. A quoted header is accepted from an IPv4 router as long as no one guesses.
func TestStormOfForgedErrors(t *testing.T) { inEachMode(t, checkStormOfForgedErrors) }

func checkStormOfForgedErrors(t *testing.T, m Mode) {
	chain := silent(t)
	e := openIn(t, chain.Source, m)
	for _, tt := range []struct {
		dst     string
		kind    [2]byte
		request byte
	}{
		{"11.0.1.2", [2]byte{v4Unreachable, 13}, v4EchoRequest},
		{"2a10:1::2", [2]byte{v6Unreachable, 1}, v6EchoRequest},
	} {
		dst := netip.MustParseAddr(tt.dst)
		f, in := openFlow(t, e, dst)
		if _, err := f.Send(1, 64); err != nil {
			t.Fatal(err)
		}
		own := identityOf(f)
		request := own.request(tt.request, 1)
		if dst.Is6() {
			// The kernel has filled it in; whatever it is, it must not be enough.
			request[2], request[3] = 1, 2
		}
		header, forger := quoteOf(dst, nextICMPv6), newForger(t, chain, dst.Is6())
		honest := func() {
			forger.send(append(tt.kind[:], 0, 0, 0, 0, 0, 0), header, request[:headerLength])
		}
		honest()
		if dst.Is6() {
			in.checkEmpty(t)
		} else if a := in.next(t); a.Seq != 1 || a.Kind != exchange.Prohibited {
			t.Errorf("%v: %+v", dst, a)
		}
		began := time.Now()
		sent := chain.Storm(t, dst, tt.kind[0], tt.kind[1], 1)
		t.Logf("%v: %d forged errors in %v", dst, sent, time.Since(began).Round(time.Millisecond))
		// Of the storm, a datagram socket was handed only what has its identifier.
		for range destinationLimit {
			forger.send(append(tt.kind[:], 0, 0, 0, 0, 0, 0), header, put16(request[:headerLength], 2, own.sum+1))
		}
		honest()
		in.checkEmpty(t)
		forger.send(append(tt.kind[:], 0, 0, 0, 0, 0, 0), header, request[:])
		if a := in.next(t); a.Seq != 1 || a.Kind != exchange.Prohibited {
			t.Errorf("%v: after the storm: %+v", dst, a)
		}
	}
	c := e.Counters()
	t.Logf("%+v", c)
	if c.Doubted != 1 || c.Dropped > 0 {
		t.Errorf("%d errors were doubted and %d lost, want the one honest error that came after the storm and none",
			c.Doubted, c.Dropped)
	}
}

// forger sends what a router would, byte for byte.
type forger struct {
	t    *testing.T
	conn net.PacketConn
	to   *net.IPAddr
}

// newForger opens a raw socket on the first router of a chain.
func newForger(t *testing.T, chain *labtest.Chain, v6 bool) forger {
	t.Helper()
	conn, to := chain.Attacker(t, v6)
	f := forger{t: t, conn: conn, to: to}
	t.Cleanup(func() { f.conn.Close() })
	return f
}

// send sends an ICMP message; the kernel adds the checksum of ICMPv6.
func (f forger) send(parts ...[]byte) {
	f.t.Helper()
	b := bytes.Join(parts, nil)
	if f.to.IP.To4() != nil {
		b = put16(b, 2, checksum(put16(b, 2, 0)))
	}
	if _, err := f.conn.WriteTo(b, f.to); err != nil {
		f.t.Fatal(err)
	}
}

// padded is the quote of a packet, filled up to the length before which no extension may stand.
func padded(header, packet []byte) []byte {
	b := append(bytes.Clone(header), packet...)
	return append(b, make([]byte, quoteBeforeExtension-len(b))...)
}

// quoteOf makes the IP header of a quoted request to dst. For IPv6, extensions stand between header and request.
func quoteOf(dst netip.Addr, next byte) []byte {
	if dst.Is4() {
		ip := make([]byte, minIPv4Header)
		ip[0], ip[3], ip[8], ip[9] = 0x45, minIPv4Header+headerLength+payloadLength, 1, protocolICMP
		copy(ip[12:], []byte{11, 0, 0, 1})
		copy(ip[16:], dst.AsSlice())
		return ip
	}
	ip := make([]byte, ipv6Header)
	ip[0], ip[5], ip[6], ip[7] = 0x60, headerLength+payloadLength, next, 1
	copy(ip[8:], netip.MustParseAddr("2a10::1").AsSlice())
	copy(ip[24:], dst.AsSlice())
	return ip
}

// silent makes a chain whose destination answers nothing, so that only forged answers come.
func silent(t *testing.T) *labtest.Chain {
	t.Helper()
	chain := labtest.NewChain(t, 1)
	chain.Destination.Sysctl("net.ipv4.icmp_echo_ignore_all=1", "net.ipv6.icmp.echo_ignore_all=1")
	return chain
}

func TestLabelsOnTheWire(t *testing.T) { inEachMode(t, checkLabelsOnTheWire) }

func checkLabelsOnTheWire(t *testing.T, m Mode) {
	chain := silent(t)
	e := openIn(t, chain.Source, m)
	known := fromHex(t, knownExtension)
	for _, tt := range []struct {
		name   string
		dst    string
		header []byte
	}{
		{"v4", "11.0.1.2", []byte{v4TimeExceeded, 0, 0, 0, 0, 32, 0, 0}},
		{"v4 without length", "11.0.1.2", []byte{v4TimeExceeded, 0, 0, 0, 0, 0, 0, 0}},
		{"v4 prohibited", "11.0.1.2", []byte{v4Unreachable, 13, 0, 0, 0, 32, 0, 0}},
		{"v6", "2a10:1::2", []byte{v6TimeExceeded, 0, 0, 0, 16, 0, 0, 0}},
		{"v6 without length", "2a10:1::2", []byte{v6TimeExceeded, 0, 0, 0, 0, 0, 0, 0}},
		{"v6 prohibited", "2a10:1::2", []byte{v6Unreachable, 1, 0, 0, 16, 0, 0, 0}},
	} {
		dst := netip.MustParseAddr(tt.dst)
		f, in := openFlow(t, e, dst)
		if _, err := f.Send(9, 64); err != nil {
			t.Fatal(err)
		}
		own := identityOf(f)
		typ := byte(v4EchoRequest)
		if dst.Is6() {
			typ = v6EchoRequest
		}
		packet := own.request(typ, 9)
		newForger(t, chain, dst.Is6()).send(tt.header, padded(quoteOf(dst, nextICMPv6), packet[:]), known)
		a := in.next(t)
		if diff := cmp.Diff(knownLabels, a.Labels); diff != "" || a.Seq != 9 || a.TTL != 64 {
			t.Errorf("%s: %+v\n%s", tt.name, a, diff)
		}
	}
}

func TestForgedIPv6Errors(t *testing.T) { inEachMode(t, checkForgedIPv6Errors) }

func checkForgedIPv6Errors(t *testing.T, m Mode) {
	chain := silent(t)
	e := openIn(t, chain.Source, m)
	dst := netip.MustParseAddr("2a10:1::2")
	f, in := openFlow(t, e, dst)
	if _, err := f.Send(5, 64); err != nil {
		t.Fatal(err)
	}
	own := identityOf(f)
	right := own.request(v6EchoRequest, 5)
	wrongID := put16(right[:], 4, own.id+1)
	wrongCookie := put8(right[:], headerLength, right[headerLength]+1)
	exceeded := []byte{v6TimeExceeded, 0, 0, 0, 0, 0, 0, 0}
	forger := newForger(t, chain, true)
	// The first ones are lost where the neighbour is not known yet.
	for range 10 {
		forger.send(exceeded, quoteOf(dst.Next(), nextICMPv6), right[:])
		forger.send(exceeded, quoteOf(dst, 17), right[:])
		forger.send(exceeded, quoteOf(dst, nextICMPv6), wrongID)
		forger.send(exceeded, quoteOf(dst, nextICMPv6), wrongCookie)
		forger.send(exceeded, quoteOf(dst, nextICMPv6), put8(right[:], 0, v6EchoReply))
		in.checkEmpty(t)
		if e.Counters().Unmatched >= 2 {
			break
		}
	}
	if c := e.Counters(); c.Unmatched < 2 {
		t.Errorf("%d unmatched: the forged packets did not come", c.Unmatched)
	}
	// A router on the way has put extension headers before the request.
	forger.send(exceeded, quoteOf(dst, nextHopByHop), extension(nextDestination, 1), extension(nextICMPv6, 2), right[:])
	if a := in.next(t); a.Seq != 5 || a.Kind != exchange.TimeExceeded || a.From.String() != "2a10::2" {
		t.Errorf("%+v", a)
	}
}

// A destination behind an address translator answers from another address than the probed one.
func TestTranslatedReplies(t *testing.T) { inEachMode(t, checkTranslatedReplies) }

func checkTranslatedReplies(t *testing.T, m Mode) {
	chain := labtest.NewChain(t, 1)
	nft := chain.Destination.Command("nft", `add table inet t; add chain inet t c { type filter hook output priority -300; };
		add rule inet t c icmp type echo-reply ip saddr set 11.0.77.7;
		add rule inet t c icmpv6 type echo-reply ip6 saddr set 2a10:77::7`)
	if out, err := nft.CombinedOutput(); err != nil {
		t.Fatalf("nft: %v\n%s", err, out)
	}
	e := openIn(t, chain.Source, m)
	for dst, from := range map[string]string{"11.0.1.2": "11.0.77.7", "2a10:1::2": "2a10:77::7"} {
		f, in := openFlow(t, e, netip.MustParseAddr(dst))
		if _, err := f.Send(3, 64); err != nil {
			t.Fatal(err)
		}
		if a := in.next(t); a.Seq != 3 || a.Kind != exchange.Reply || a.From.String() != from || a.TTL != 63 {
			t.Errorf("%s: %+v, want a reply from %s", dst, a, from)
		}
	}
}

// Echo replies that were cut to their header are damaged where they come from the destination with a number that was
// sent, until others are guessed; a whole one is whole.
func TestDamagedRepliesOnTheWire(t *testing.T) { inEachMode(t, checkDamagedReplies) }

func checkDamagedReplies(t *testing.T, m Mode) {
	chain := silent(t)
	e := openIn(t, chain.Source, m)
	for _, tt := range []struct {
		network, dst, to string
		typ              byte
	}{
		{"ip4:icmp", "11.0.1.2", "11.0.0.1", v4EchoReply}, {"ip6:ipv6-icmp", "2a10:1::2", "2a10::1", v6EchoReply},
	} {
		dst := netip.MustParseAddr(tt.dst)
		f, in := openFlow(t, e, dst)
		if _, err := f.Send(3, 64); err != nil {
			t.Fatal(err)
		}
		var conn net.PacketConn
		var err error
		chain.Destination.Do(func() { conn, err = net.ListenPacket(tt.network, tt.dst) })
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		destination := forger{t: t, conn: conn, to: &net.IPAddr{IP: net.ParseIP(tt.to)}}
		own := identityOf(f)
		reply := own.request(tt.typ, 3)
		for _, length := range []int{headerLength, headerLength + provedLength, len(reply)} {
			destination.send(reply[:length])
			if a := in.next(t); a.Seq != 3 || a.Kind != exchange.Reply || a.Damaged != (length < len(reply)) {
				t.Errorf("%s, %d octets: %+v", tt.dst, length, a)
			}
		}
		newForger(t, chain, dst.Is6()).send(reply[:headerLength])
		// More than the limit, which grows by one each 100 ms meanwhile.
		for guess := range uint16(4 * destinationLimit) {
			destination.send(put16(reply[:headerLength], 6, own.first+4+guess))
		}
		destination.send(reply[:headerLength])
		in.checkEmpty(t)
	}
}

const openPort, closedPort = 443, 444

// openPortFlow starts a flow of UDP or TCP probes.
func openPortFlow(t *testing.T, e labEngine, p exchange.Protocol, port uint16, dst netip.Addr) (f exchange.Flow,
	in inbox) {
	t.Helper()
	in = make(inbox, 1000)
	var err error
	e.namespace.Do(func() {
		f, err = e.OpenPort(exchange.Probe{Protocol: p, Port: port}, dst, func(a exchange.Answer) { in <- a })
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f, in
}

// listenIn listens on TCP in a namespace and fails the test when a connection comes about.
func listenIn(t *testing.T, n *labtest.Namespace, port string) {
	t.Helper()
	var l net.Listener
	var err error
	n.Do(func() { l, err = net.Listen("tcp", ":"+port) })
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Errorf("a connection from %s came about", c.RemoteAddr())
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-ended })
}

// Each TTL finds its router, and the destination answers: what is open and what is closed to SYNs, what is closed to
// UDP. No SYN ever becomes a connection, and none is left waiting for it.
func TestPortProbesFindTheirRouters(t *testing.T) {
	t.Parallel()
	chain := labtest.NewChain(t, 3)
	e := openIn(t, chain.Source, Raw)
	if err := e.NoPorts(); err != nil {
		t.Fatal(err)
	}
	listenIn(t, chain.Destination, "443")
	for _, dst := range []string{"11.0.3.2", "2a10:3::2"} {
		for _, c := range []struct {
			protocol exchange.Protocol
			port     uint16
		}{{exchange.TCP, openPort}, {exchange.TCP, closedPort}, {exchange.UDP, closedPort}} {
			f, in := openPortFlow(t, e, c.protocol, c.port, netip.MustParseAddr(dst))
			for i, want := range chain.Path(netip.MustParseAddr(dst)) {
				if _, err := f.Send(uint16(100+i), i+1); err != nil {
					t.Fatal(err)
				}
				a := in.next(t)
				kind := exchange.TimeExceeded
				if want == dst {
					kind = exchange.Reply
				}
				if int(a.Seq) != 100+i || a.From.String() != want || a.Kind != kind || a.TTL != 64-i {
					t.Errorf("%s port %d, TTL %d: %+v, want %s", c.protocol, c.port, i+1, a, want)
				}
			}
			in.checkEmpty(t)
		}
	}
	out, err := chain.Destination.Command("ss", "-Htan", "state", "syn-recv").Output()
	if err != nil || len(strings.TrimSpace(string(out))) > 0 {
		t.Errorf("left waiting: %v, %s", err, out)
	}
	if c := e.Counters(); c.SendErrors != 0 || c.Dropped != 0 || c.Doubted != 0 {
		t.Errorf("%+v", c)
	}
}

// SYNs of one flow that get to the destination before the RST which ends the first are each answered by Linux. Here the
// RSTs never leave.
func TestSYNsTogether(t *testing.T) {
	t.Parallel()
	chain := labtest.NewChain(t, 1)
	rule := "add table inet t; add chain inet t c { type filter hook output priority 0; }; " +
		"add rule inet t c tcp flags rst drop"
	if out, err := chain.Source.Command("nft", rule).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	e := openIn(t, chain.Source, Raw)
	listenIn(t, chain.Destination, "443")
	for _, dst := range []string{"11.0.1.2", "2a10:1::2"} {
		f, in := openPortFlow(t, e, exchange.TCP, openPort, netip.MustParseAddr(dst))
		const together = 6
		for i := range together {
			if _, err := f.Send(uint16(i), 64-i); err != nil {
				t.Fatal(err)
			}
		}
		seen := map[uint16]bool{}
		for range together {
			a := in.next(t)
			if a.Kind != exchange.Reply || a.From.String() != dst || seen[a.Seq] {
				t.Errorf("%+v", a)
			}
			seen[a.Seq] = true
		}
	}
}

// A worker without the right to raw sockets has ICMP alone.
func TestNoPortProbesWithDatagramSockets(t *testing.T) {
	t.Parallel()
	e := openIn(t, labtest.NewNamespace(t, "lo"), Datagram)
	_, err := e.OpenPort(exchange.Probe{Protocol: exchange.TCP, Port: 443}, netip.MustParseAddr("127.0.0.1"),
		deliverNothing)
	if !errors.Is(err, exchange.ErrProtocol) || e.NoPorts() != nil {
		t.Errorf("%v, %v", err, e.NoPorts())
	}
}

// Where there are too few files for the reserved ports, the rest of the engine does its work.
func TestTooFewFilesForPorts(t *testing.T) {
	t.Parallel()
	if os.Getenv("TOO_FEW_FILES") == "" {
		c := labtest.NewNamespace(t, "lo").Command("prlimit", "--nofile=300", os.Args[0],
			"-test.run=^TestTooFewFilesForPorts$")
		c.Env = append(os.Environ(), "TOO_FEW_FILES=1")
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	e, err := openMode(Raw, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if e.NoPorts() == nil {
		t.Error("the ports are there")
	}
	answered := make(chan exchange.Answer, 1)
	f, err := e.Open(netip.MustParseAddr("127.0.0.1"), func(a exchange.Answer) { answered <- a })
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Send(1, 64); err != nil {
		t.Fatal(err)
	}
	select {
	case <-answered:
	case <-time.After(5 * time.Second):
		t.Error("no answer")
	}
}
