package icmp

import (
	"errors"
	"net/netip"
	"sync"
	"testing"
	"time"

	"diagnostics/worker/internal/exchange"

	"golang.org/x/net/bpf"
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

// An identifier must not come round again soon, nor be one that somebody can foresee who saw all before it: of as many
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
		{"a reply without payload", read(exchange.Reply, own[:headerLength]), unproved},
		{"a reply with another flow's payload", read(exchange.Reply, append(own[:8:8], others[8:]...)), unproved},
		{"an error that quotes it", read(exchange.TimeExceeded, own[:]), proved},
		{"an error that quotes it up to the cookie", read(exchange.Prohibited, own[:16]), proved},
		{"an error that quotes it up to the cookie, with a checksum that somebody rewrote", read(exchange.TimeExceeded, put16(own[:16], 2, ^f.sum)), proved},
		{"an error that quotes its header", read(exchange.TimeExceeded, own[:headerLength]), short},
		{"an error that quotes its header and zeros", read(exchange.TimeExceeded, append(own[:8:8], zeros...)), short},
		{"an error that quotes a part of the cookie", read(exchange.TimeExceeded, own[:15]), short},
		{"an error that quotes a part of the cookie and zeros", read(exchange.TooBig, append(own[:12:12], zeros...)), short},
		{"an error that quotes its header with another checksum", read(exchange.TimeExceeded, put16(own[:8], 2, ^f.sum)), unproved},
		{"an error that quotes its header and something else", read(exchange.TimeExceeded, append(own[:8:8], own[8]+1)), unproved},
		{"an error that quotes the cookie of another sequence number", read(exchange.TimeExceeded, put8(own[:], 7, own[7]+1)), unproved},
		{"an error that quotes another destination", elsewhere, unproved},
		{"an error that quotes another payload", read(exchange.Prohibited, append(own[:8:8], others[8:]...)), unproved},
		{"an identifier that nobody has", read(exchange.Reply, put16(own[:], 4, 0)), unproved},
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
		if !m.readEcho(p[:length], v6EchoRequest) || m.prove(dst, i) != want {
			t.Errorf("a quote of %d octets: %v, want %v", length, m.prove(dst, i), want)
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
