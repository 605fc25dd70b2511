package probe

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/exchange"

	"pgregory.net/rapid"
)

// portNet is a simNet whose destination, while it waits for the RST that ends a connection, leaves other SYNs between
// the same ports unanswered.
type portNet struct {
	*simNet
	asked exchange.Probe
}

func (n *portNet) OpenPort(p exchange.Probe, dst netip.Addr, deliver func(exchange.Answer)) (exchange.Flow, error) {
	n.asked = p
	f, err := n.Open(dst, deliver)
	return &portSimFlow{simFlow: f.(*simFlow), tcp: p.Protocol == exchange.TCP}, err
}

type portSimFlow struct {
	*simFlow
	tcp     bool
	waiting time.Time // until the connection is ended
}

func (f *portSimFlow) Send(seq uint16, ttl int) (time.Time, error) {
	now := time.Now()
	if !f.tcp || ttl <= len(f.net.routers) {
		return f.simFlow.Send(seq, ttl)
	}
	if now.Before(f.waiting) {
		f.net.mu.Lock()
		defer f.net.mu.Unlock()
		f.net.log = append(f.net.log, simPacket{at: now, seq: seq, ttl: ttl, flow: f.index})
		return now, nil
	}
	f.waiting = now.Add(f.net.dest.rtt)
	return f.simFlow.Send(seq, ttl)
}

func tracePort(t *testing.T, n *portNet, p exchange.Probe) (r workerapi.Traceroute) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var err error
		if r, err = New(n, Options{Raw: true}).Traceroute(t.Context(), simTarget, p); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
	})
	return r
}

// A destination that still waits for an earlier connection to be ended has lost nothing, however far away it is.
func TestSYNsToOneDestination(t *testing.T) {
	t.Parallel()
	for _, ms := range []time.Duration{1, 9, 60, 300} {
		rtt := ms * time.Millisecond
		t.Run(rtt.String(), func(t *testing.T) {
			t.Parallel()
			n := &portNet{simNet: chain(7)}
			n.dest.rtt = rtt
			p := exchange.Probe{Protocol: exchange.TCP, Port: 443}
			r := tracePort(t, n, p)
			last := r.Hops[len(r.Hops)-1]
			if !r.Reached || len(r.Hops) != 8 || last.Received != 3 || last.Sent != 3 {
				t.Errorf("%s, %d hops, the last %+v", r.StopReason, len(r.Hops), last)
			}
			if text := strings.Join(r.Explanation, " "); strings.Contains(text, "oss begins") {
				t.Errorf("told as loss: %s", text)
			}
			if r.Protocol != "tcp" || r.Port == nil || *r.Port != 443 || n.asked != p ||
				!strings.Contains(*r.Raw, "hops max, tcp port 443\n") {
				t.Errorf("%s, port %v, asked for %+v: %s", r.Protocol, r.Port, n.asked, *r.Raw)
			}
			sent := map[string]int{}
			for _, s := range n.log {
				key := fmt.Sprint(s.flow, s.ttl)
				if sent[key]++; sent[key] > 1 || s.flow > workerapi.ProbesPerHop {
					t.Errorf("flow %d: TTL %d", s.flow, s.ttl)
				}
			}
		})
	}
}

// What is lost on the way to a destination is still loss: of the first SYN of a flow nothing else takes the place.
func TestLostSYNs(t *testing.T) {
	t.Parallel()
	n := &portNet{simNet: chain(3)}
	n.dest.drops = map[int]bool{1: true}
	r := tracePort(t, n, exchange.Probe{Protocol: exchange.TCP, Port: 443})
	if last := r.Hops[len(r.Hops)-1]; !r.Reached || last.Sent != 3 || last.Received != 2 {
		t.Errorf("%+v", last)
	}
}

func TestUDPTrace(t *testing.T) {
	t.Parallel()
	n := &portNet{simNet: chain(4)}
	r := tracePort(t, n, exchange.Probe{Protocol: exchange.UDP, Port: 33434})
	last := r.Hops[len(r.Hops)-1]
	if !r.Reached || len(r.Hops) != 5 || last.Received != 3 || r.Protocol != "udp" || *r.Port != 33434 {
		t.Errorf("%+v, the last hop %+v", r, last)
	}
	for _, s := range n.log {
		if s.flow >= workerapi.ProbesPerHop {
			t.Errorf("flow %d", s.flow)
		}
	}
}

// Whatever the way, the destination has an address where it answered, and no more probes than three.
func TestTraceOfAnyPathWithSYNs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		n := &portNet{simNet: drawNet(rt)}
		var r workerapi.Traceroute
		synctest.Test(t, func(t *testing.T) {
			var err error
			probe := exchange.Probe{Protocol: exchange.TCP, Port: 80}
			if r, err = New(n, Options{}).Traceroute(t.Context(), simTarget, probe); err != nil {
				rt.Errorf("error %v", err)
			}
			time.Sleep(10 * time.Second)
		})
		checkShape(rapidTB{TB: t, rt: rt}, r)
	})
}

func TestNoPortNetwork(t *testing.T) {
	t.Parallel()
	for _, p := range []exchange.Probe{{Protocol: exchange.UDP, Port: 1}, {Protocol: exchange.TCP, Port: 1}} {
		if _, err := New(chain(1), Options{}).Traceroute(t.Context(), simTarget, p); !errors.Is(err, exchange.ErrProtocol) {
			t.Errorf("%v", err)
		}
	}
}

// What silence of the destination means is told for each kind of probe.
func TestSilenceAtPorts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		protocol exchange.Protocol
		change   func(*simNet)
		says     string
	}{
		{exchange.UDP, func(n *simNet) { n.dest.kind = 0 }, "A service on UDP port 7 may ignore the probes"},
		{exchange.TCP, func(n *simNet) { n.dest.kind = 0 }, "may drop only what goes to TCP port 7:"},
		{exchange.UDP, func(n *simNet) { n.dest.drops = map[int]bool{1: true} }, "Hosts limit how often"},
		{exchange.UDP, func(*simNet) {}, ""},
		{exchange.TCP, func(*simNet) {}, ""},
	} {
		n := &portNet{simNet: chain(3)}
		c.change(n.simNet)
		text := strings.Join(tracePort(t, n, exchange.Probe{Protocol: c.protocol, Port: 7}).Explanation, " ")
		if c.says == "" && strings.Contains(text, "port") || !strings.Contains(text, c.says) {
			t.Errorf("%s, want %q: %s", c.protocol, c.says, text)
		}
	}
}

// UDP probes ask again as echo requests do where a destination limits its answers. With TCP no round sends a TTL a
// second SYN, and what lies past the window is looked for without.
func TestAskingAgainAtPorts(t *testing.T) {
	t.Parallel()
	rationed := func(n *simNet) { silence(n, 4, 4); n.dest.every = time.Second }
	far := func(n *simNet) { silence(n, 2, 15); n.dest.detour = -6 }
	for _, c := range []struct {
		name     string
		protocol exchange.Protocol
		routers  int
		change   func(*simNet)
		last     int // TTL
		again    bool
	}{
		{"one answer a second", exchange.UDP, 4, rationed, 5, true},
		{"one answer a second", exchange.TCP, 4, rationed, 5, false},
		{"past the window", exchange.UDP, 15, far, 16, true},
		{"past the window", exchange.TCP, 15, far, 16, false},
	} {
		t.Run(c.name+"/"+c.protocol.String(), func(t *testing.T) {
			t.Parallel()
			n := &portNet{simNet: chain(c.routers)}
			c.change(n.simNet)
			r := tracePort(t, n, exchange.Probe{Protocol: c.protocol, Port: 7})
			if last := r.Hops[len(r.Hops)-1]; !r.Reached || last.TTL != c.last {
				t.Errorf("hop %d: %q", last.TTL, r.Explanation)
			}
			again := false
			for ttl, sent := range n.sentTo() {
				again = again || sent > workerapi.ProbesPerHop
				if ttl < reachTTL && c.protocol == exchange.TCP && sent > workerapi.ProbesPerHop {
					t.Errorf("%d SYNs with TTL %d", sent, ttl)
				}
			}
			if again != c.again {
				t.Errorf("asked again: %t", again)
			}
		})
	}
}

// The SYNs of a round that goes a longer way expire there, answered or not: the first that gets to the destination is
// farther on.
func TestSYNsOnALongerLeg(t *testing.T) {
	t.Parallel()
	start := time.Now()
	trace := newTrace(start)
	trace.probe = exchange.Probe{Protocol: exchange.TCP, Port: 443}
	for i, s := range []struct {
		seq  uint16
		kind exchange.Kind // 0 for no answer
	}{
		{reachSeq, exchange.Reply}, {seqOf(0, 8), exchange.Reply}, {seqOf(0, 9), 0}, {seqOf(0, 10), 0},
		{seqOf(1, 8), 0}, {seqOf(1, 9), exchange.TimeExceeded}, {seqOf(1, 10), exchange.Reply},
	} {
		at := start.Add(time.Duration(i) * time.Millisecond)
		trace.sent(request{seq: s.seq}, at)
		if s.kind != 0 {
			trace.answered(exchange.Answer{Seq: s.seq, Kind: s.kind, At: at.Add(time.Millisecond)})
		}
	}
	arrivals := trace.arrivals(8)
	for _, s := range arrivals {
		if !s.replied() {
			t.Errorf("%+v", *s)
		}
	}
	if len(arrivals) != 3 {
		t.Errorf("%d arrivals", len(arrivals))
	}
}
