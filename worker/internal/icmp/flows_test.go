package icmp

import (
	"errors"
	"net/netip"
	"sync"
	"testing"
	"time"

	"diagnostics/worker/internal/echo"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

var target4 = netip.MustParseAddr("11.0.100.1")

func deliverNothing(echo.Answer) {}

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
	if f, err := table.add(nil, target4, deliverNothing); !errors.Is(err, echo.ErrNoFlow) || f != nil {
		t.Fatalf("with all identifiers taken: %v, %v", f, err)
	}
	table.remove(owners[77])
	table.remove(owners[77])
	f, err := table.add(nil, target4, deliverNothing)
	if err != nil || f.id != 77 {
		t.Errorf("got %v, %v, want the one that was given back", f, err)
	}
	if _, err := table.add(nil, target4, deliverNothing); !errors.Is(err, echo.ErrNoFlow) {
		t.Errorf("an identifier given back twice is there twice: %v", err)
	}
}

func TestFlowsGiveBackLast(t *testing.T) {
	t.Parallel()
	table := newFlows()
	seen := map[uint16]bool{}
	for range identifiers - 1 {
		f, err := table.add(nil, target4, deliverNothing)
		if err != nil {
			t.Fatal(err)
		}
		if seen[f.id] {
			t.Fatalf("identifier %d comes round again before all others were used", f.id)
		}
		seen[f.id] = true
		table.remove(f)
	}
}

func TestFlowsOwner(t *testing.T) {
	t.Parallel()
	table := newFlows()
	f, _ := table.add(nil, target4, deliverNothing)
	g, _ := table.add(nil, target4, deliverNothing)
	p := request(v4EchoRequest, f.id, 5, f.cookie)
	payload := p[headerLength:]
	other := request(v4EchoRequest, g.id, 5, g.cookie)
	for _, tt := range []struct {
		name string
		m    message
		want *flow
	}{
		{"its reply", message{kind: echo.Reply, id: f.id, seq: 5, payload: payload}, f},
		{"a reply to another sequence number", message{kind: echo.Reply, id: f.id, seq: 6, payload: payload}, nil},
		{"a reply without payload", message{kind: echo.Reply, id: f.id, seq: 5}, nil},
		{"a reply with another flow's payload", message{kind: echo.Reply, id: f.id, seq: 5, payload: other[headerLength:]}, nil},
		{"an error that quotes it", message{kind: echo.TimeExceeded, id: f.id, seq: 5, quoted: target4, payload: payload}, f},
		{"an error that quotes its header", message{kind: echo.TimeExceeded, id: f.id, seq: 5, quoted: target4}, f},
		{"an error that quotes another destination", message{kind: echo.TimeExceeded, id: f.id, seq: 5, quoted: target4.Next(), payload: payload}, nil},
		{"an error that quotes another payload", message{kind: echo.Prohibited, id: f.id, seq: 5, quoted: target4, payload: other[headerLength:]}, nil},
		{"an identifier that nobody has", message{kind: echo.Reply, id: 0, seq: 5, payload: payload}, nil},
	} {
		if got := table.owner(tt.m); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
	table.remove(f)
	if table.owner(message{kind: echo.Reply, id: f.id, seq: 5, payload: payload}) != nil {
		t.Error("a closed flow gets answers")
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
				p := request(v4EchoRequest, f.id, 1, f.cookie)
				if table.owner(message{kind: echo.Reply, id: f.id, seq: 1, payload: p[headerLength:]}) != f {
					t.Error("an answer goes to another flow")
				}
				table.remove(f)
			}
		})
	}
	all.Wait()
	if table.size != identifiers-1 {
		t.Errorf("%d identifiers are free", table.size)
	}
}

func TestFilter4(t *testing.T) {
	t.Parallel()
	raw, err := filter4()
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
		{unix.ENETUNREACH, echo.ErrNoRoute}, {unix.EHOSTUNREACH, echo.ErrNoRoute}, {unix.EADDRNOTAVAIL, echo.ErrNoRoute},
		{unix.EPERM, echo.ErrForbidden}, {unix.EACCES, echo.ErrForbidden},
	} {
		if got := sendError(tt.err); !errors.Is(got, tt.want) || !errors.Is(got, tt.err) {
			t.Errorf("%v: %v", tt.err, got)
		}
	}
	if got := sendError(unix.EIO); !errors.Is(got, unix.EIO) || errors.Is(got, echo.ErrNoRoute) {
		t.Errorf("EIO: %v", got)
	}
}
