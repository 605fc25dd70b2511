package probe

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/exchange"

	"pgregory.net/rapid"
)

// mtuOver traces with the path MTU over a network in a bubble, and holds what is true of every measurement: its number
// and size of packets, its time, and the contract.
func mtuOver(t testing.TB, n exchange.Network, net *simNet, o Options, p exchange.Probe) workerapi.Traced {
	t.Helper()
	start := time.Now()
	r, err := New(n, o).TracerouteMTU(t.Context(), simTarget, p)
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > workerapi.TracerouteMTULimit { // of the bubble
		t.Errorf("took %v", took)
	}
	if net.opened != net.closed {
		t.Errorf("%d flows opened, %d closed", net.opened, net.closed)
	}
	sized := 0
	for _, p := range net.log {
		if p.size > workerapi.MaxMTU {
			t.Errorf("a packet of %d octets", p.size)
		}
		if p.size > 0 {
			sized++
		}
	}
	if sized > workerapi.MaxMTUProbes {
		t.Errorf("%d packets for the path MTU", sized)
	}
	if err := r.Validate(simTarget); err != nil {
		t.Error(err)
	}
	time.Sleep(10 * time.Second) // of the bubble: what comes late finds no flow
	return r
}

// states makes a router whose next link carries so much state what a function says.
func states(n int, mtu int, say func(size int) int) simNode {
	r := router(n, time.Duration(n)*time.Millisecond)
	r.mtu, r.states = mtu, say
	return r
}

func constant(mtu int) func(int) int { return func(int) int { return mtu } }

var vanish = constant(-1)

// over replaces routers of a chain of six.
func over(nodes map[int]simNode) *simNet {
	n := chain(6)
	for ttl, node := range nodes {
		n.routers[ttl-1] = node
	}
	return n
}

func TestPathMTU(t *testing.T) {
	t.Parallel()
	limitedReply := chain(6)
	limitedReply.dest.mtu = 1400
	smallReplies := chain(6)
	smallReplies.dest.mtu = 575
	behindLast := over(map[int]simNode{6: states(6, 1400, vanish)})
	mute := func(nodes map[int]simNode) *simNet {
		n := over(nodes)
		n.dest.kind = 0
		return n
	}
	tooSmall := over(map[int]simNode{3: states(3, 575, vanish)})
	local := chain(6)
	local.link = 1450
	localAndPath := over(map[int]simNode{3: states(3, 1400, nil)})
	localAndPath.link = 1450
	rareReplies := chain(6)
	rareReplies.dest.every = time.Second
	silentReporter := states(3, 1400, nil)
	silentReporter.kind = exchange.TimeExceeded
	silentReporter.deaf = 3
	far := over(map[int]simNode{3: states(3, 1400, vanish)})
	for i := range far.routers {
		far.routers[i].rtt = 900 * time.Millisecond
	}
	far.dest.rtt = 1500 * time.Millisecond
	endless := over(map[int]simNode{3: states(3, 1400, vanish)})
	for i := range endless.routers {
		endless.routers[i].rtt = 1800 * time.Millisecond
		endless.routers[i].drops = map[int]bool{0: true}
	}
	endless.dest.rtt = 2400 * time.Millisecond
	limitedRouter := states(3, 1400, nil)
	limitedRouter.limit = &tokenBucket{rate: 1, burst: 6}
	lyingAndLimited := states(3, 1400, constant(0))
	lyingAndLimited.limit = &tokenBucket{rate: 1, burst: 6}
	lossy := over(map[int]simNode{})
	lossy.dest.drops = map[int]bool{4: true} // the first of 1,500 octets, behind those of the trace

	for name, c := range map[string]struct {
		net  *simNet
		want string // the result but for its note
		note string // part of the note; empty for none
	}{
		"whole":     {chain(6), `{"path":1500,"limitedAt":null,"reported":null,"hopMtus":[]`, ""},
		"adjacent":  {chain(0), `{"path":1500,"limitedAt":null,"reported":null,"hopMtus":[]`, ""},
		"one lost":  {lossy, `{"path":1500,"limitedAt":null,"reported":null,"hopMtus":[]`, ""},
		"told 1499": {over(map[int]simNode{3: states(3, 1499, nil)}), `{"path":1499,"limitedAt":3,"reported":true,"hopMtus":[{"ttl":3,"mtu":1499}]`, ""},
		"told":      {over(map[int]simNode{3: states(3, 1400, nil)}), `{"path":1400,"limitedAt":3,"reported":true,"hopMtus":[{"ttl":3,"mtu":1400}]`, ""},
		"told 576":  {over(map[int]simNode{3: states(3, 576, nil)}), `{"path":576,"limitedAt":3,"reported":true,"hopMtus":[{"ttl":3,"mtu":576}]`, ""},
		"told 68":   {over(map[int]simNode{3: states(3, 68, nil)}), `{"path":68,"limitedAt":3,"reported":true,"hopMtus":[{"ttl":3,"mtu":68}]`, ""},
		"told, a size of its own": {over(map[int]simNode{1: states(1, 1433, nil)}),
			`{"path":1433,"limitedAt":1,"reported":true,"hopMtus":[{"ttl":1,"mtu":1433}]`, ""},
		"told at the last router": {over(map[int]simNode{6: states(6, 1400, nil)}),
			`{"path":1400,"limitedAt":6,"reported":true,"hopMtus":[{"ttl":6,"mtu":1400}]`, ""},
		"told seldom": {over(map[int]simNode{3: limitedRouter}),
			`{"path":1400,"limitedAt":3,"reported":true,"hopMtus":[{"ttl":3,"mtu":1400}]`, ""},
		"told by a router that is silent else": {over(map[int]simNode{3: silentReporter}),
			`{"path":1400,"limitedAt":3,"reported":true,"hopMtus":[{"ttl":3,"mtu":1400}]`, ""},
		"twice": {over(map[int]simNode{2: states(2, 1450, nil), 4: states(4, 1350, nil)}),
			`{"path":1350,"limitedAt":4,"reported":true,"hopMtus":[{"ttl":2,"mtu":1450},{"ttl":4,"mtu":1350}]`, ""},
		"twice, then vanishing": {over(map[int]simNode{2: states(2, 1450, nil), 4: states(4, 1350, vanish)}),
			`{"path":1280,"limitedAt":4,"reported":false,"hopMtus":[{"ttl":2,"mtu":1450},{"ttl":4,"mtu":1280}]`, "MTU_VANISHES_BEHIND hop=4"},
		"vanishing, then told": {over(map[int]simNode{2: states(2, 1450, vanish), 4: states(4, 1350, nil)}),
			`{"path":1350,"limitedAt":4,"reported":false,"hopMtus":[{"ttl":2,"mtu":1420},{"ttl":4,"mtu":1350}]`, "MTU_VANISHES_EARLIER hop=2"},
		"states 0": {over(map[int]simNode{3: states(3, 1400, constant(0))}),
			`{"path":1400,"limitedAt":3,"reported":true,"hopMtus":[]`, "MTU_WRONG_MESSAGE"},
		"states 0, seldom": {over(map[int]simNode{3: lyingAndLimited}),
			`{"path":1400,"limitedAt":3,"reported":true,"hopMtus":[]`, "MTU_WRONG_MESSAGE"},
		"states 68": {over(map[int]simNode{3: states(3, 1400, constant(68))}),
			`{"path":1400,"limitedAt":3,"reported":true,"hopMtus":[]`, "MTU_WRONG_MESSAGE"},
		"states 67": {over(map[int]simNode{3: states(3, 1400, constant(67))}),
			`{"path":1400,"limitedAt":3,"reported":true,"hopMtus":[]`, "MTU_WRONG_MESSAGE"},
		"states more than was sent": {over(map[int]simNode{3: states(3, 1400, func(size int) int { return size + 1 })}),
			`{"path":1400,"limitedAt":3,"reported":true,"hopMtus":[]`, "MTU_WRONG_MESSAGE"},
		"states what was sent": {over(map[int]simNode{3: states(3, 1400, func(size int) int { return size })}),
			`{"path":1400,"limitedAt":3,"reported":true,"hopMtus":[]`, "MTU_WRONG_MESSAGE"},
		"states one less each time": {over(map[int]simNode{3: states(3, 1400, func(size int) int { return size - 1 })}),
			`{"path":1400,"limitedAt":3,"reported":true,"hopMtus":[]`, "MTU_WRONG_MESSAGE"},
		"states more than passes": {over(map[int]simNode{3: states(3, 1400, constant(1450))}),
			`{"path":1400,"limitedAt":3,"reported":true,"hopMtus":[]`, "MTU_WRONG_MESSAGE"},
		"states 65535": {over(map[int]simNode{3: states(3, 1400, constant(65535))}),
			`{"path":1400,"limitedAt":3,"reported":true,"hopMtus":[]`, "MTU_WRONG_MESSAGE"},
		"vanishing": {over(map[int]simNode{3: states(3, 1400, vanish)}),
			`{"path":1400,"limitedAt":3,"reported":false,"hopMtus":[{"ttl":3,"mtu":1400}]`, "MTU_VANISHES_BEHIND hop=3 size=1420"},
		"vanishing at once": {over(map[int]simNode{1: states(1, 1280, vanish)}),
			`{"path":1280,"limitedAt":1,"reported":false,"hopMtus":[{"ttl":1,"mtu":1280}]`, "MTU_VANISHES_BEHIND hop=1 size=1400"},
		"vanishing behind a silent router": {over(map[int]simNode{3: {mtu: 1400, states: vanish}}),
			`{"path":1400,"limitedAt":2,"reported":false,"hopMtus":[{"ttl":2,"mtu":1400}]`, "MTU_VANISHES_BETWEEN from=2"},
		"vanishing far away":        {far, `{"path":1400,"limitedAt":3,"reported":false,"hopMtus":[{"ttl":3,"mtu":1400}]`, "MTU_VANISHES_BEHIND hop=3"},
		"too far away for the time": {endless, `{"path":null,"limitedAt":null,"reported":null,"hopMtus":[]`, "MTU_LATE"},
		"less than the least":       {tooSmall, `{"path":null,"limitedAt":3,"reported":false,"hopMtus":[]`, "MTU_VANISHES_BEHIND hop=3 size=576"},
		"the reply is lost":         {limitedReply, `{"path":1400,"limitedAt":null,"reported":null,"hopMtus":[]`, "MTU_NO_REPLY"},
		"small replies":             {smallReplies, `{"path":null,"limitedAt":null,"reported":null,"hopMtus":[]`, "MTU_NO_REPLY"},
		"behind the last router":    {behindLast, `{"path":1400,"limitedAt":null,"reported":null,"hopMtus":[]`, "MTU_NO_REPLY"},
		"a mute destination":        {mute(nil), `{"path":null,"limitedAt":null,"reported":null,"hopMtus":[]`, "MTU_MUTE_PASSES hop=6 size=1500"},
		"a mute destination, told": {mute(map[int]simNode{3: states(3, 1400, nil)}),
			`{"path":1400,"limitedAt":3,"reported":true,"hopMtus":[{"ttl":3,"mtu":1400}]`, "MTU_MUTE hop=6"},
		"a mute destination, vanishing": {mute(map[int]simNode{5: states(5, 1400, vanish)}),
			`{"path":1400,"limitedAt":5,"reported":false,"hopMtus":[{"ttl":5,"mtu":1400}]`, "MTU_VANISHES_BEHIND hop=5"},
		"nothing answers":            {&simNet{routers: []simNode{silentRouter(), silentRouter()}}, `{"path":null,"limitedAt":null,"reported":null,"hopMtus":[]`, "MTU_NOTHING_ANSWERS"},
		"this host's link":           {local, `{"path":1420,"limitedAt":null,"reported":null,"hopMtus":[]`, "MTU_OWN_LINK size=1452"},
		"this host's link, and then": {localAndPath, `{"path":1400,"limitedAt":3,"reported":true,"hopMtus":[{"ttl":3,"mtu":1400}]`, ""},
		"replies are limited":        {rareReplies, `{"path":null,"limitedAt":null,"reported":null,"hopMtus":[]`, "MTU_BESIDE_LOSS"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				checkMTU(t, mtuOver(t, c.net, c.net, Options{}, exchange.Probe{}), c.want, c.note)
			})
		})
	}
}

func checkMTU(t *testing.T, r workerapi.Traced, want, note string) {
	t.Helper()
	b, err := json.Marshal(r.MTU)
	if err != nil {
		t.Fatal(err)
	}
	got := said(r, workerapi.AboutMTU, 0)
	if !strings.HasPrefix(string(b), want) || (note == "") != (got == "") || !strings.Contains(got, note) {
		t.Errorf("got  %s and %s\nwant %s and %s", b, got, want, note)
	}
}

// A trace of UDP probes may ask a closed port, whose answer is short, whether a large packet arrives.
func TestPathMTUByUDP(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		back       int
		routers    map[int]simNode
		want, note string
	}{
		"whole":             {0, nil, `{"path":1500,"limitedAt":null,"reported":null,"hopMtus":[]`, ""},
		"the reply is lost": {1400, nil, `{"path":1500,"limitedAt":null,"reported":null,"hopMtus":[]`, "MTU_NARROW_WAY_BACK back=1400 size=1500"},
		"behind the last router": {0, map[int]simNode{6: states(6, 1400, vanish)},
			`{"path":1400,"limitedAt":6,"reported":false,"hopMtus":[{"ttl":6,"mtu":1400}]`, "MTU_VANISHES_AT_END"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := over(c.routers)
			n.dest.mtu = c.back
			synctest.Test(t, func(t *testing.T) {
				got := mtuOver(t, &portNet{simNet: n}, n, Options{}, exchange.Probe{Protocol: exchange.UDP, Port: 33434})
				checkMTU(t, got, c.want, c.note)
			})
		})
	}
}

// A host that answers one echo request a second has a path like any other: silence is no limit on size.
func TestPathMTUOfLimitedReplies(t *testing.T) {
	t.Parallel()
	for _, limit := range []answerLimit{
		&tokenBucket{rate: 1, burst: 1}, &tokenBucket{rate: 1, burst: 5}, &tokenBucket{rate: 5, burst: 5},
		&perPeriod{count: 1, period: time.Second}, &perPeriod{count: 5, period: time.Second, phase: 300 * time.Millisecond},
	} {
		n := chain(6)
		n.dest.limit = limit
		synctest.Test(t, func(t *testing.T) {
			got := mtuOver(t, n, n, Options{}, exchange.Probe{}).MTU
			if got.Path != nil && *got.Path != 1500 || got.Reported != nil || got.LimitedAt != nil {
				b, _ := json.Marshal(got)
				t.Errorf("%+v: %s", limit, b)
			}
		})
	}
}

// The budget paces the packets of the path MTU as it does others.
func TestPathMTUIsInTheBudget(t *testing.T) {
	t.Parallel()
	n := over(map[int]simNode{3: states(3, 1400, vanish)})
	synctest.Test(t, func(t *testing.T) {
		budget := NewBudget(20, 20)
		mtuOver(t, n, n, Options{Budget: budget}, exchange.Probe{})
		for i, p := range n.log {
			within := 0
			for _, o := range n.log[i:] {
				if o.at.Sub(p.at) < time.Second {
					within++
				}
			}
			if within > 23 { // 20 a second behind a burst of two, and one at the edge
				t.Fatalf("%d packets within a second", within)
			}
		}
	})
}

// Without the option no packet has a size of its own.
func TestTracesWithoutMTUSendNoneOfItsPackets(t *testing.T) {
	t.Parallel()
	n := chain(3)
	r, _ := traceOver(t, n, Options{})
	for _, p := range n.log {
		if p.size != 0 {
			t.Errorf("%+v", p)
		}
	}
	if r.MTU != nil {
		t.Errorf("%+v", r.MTU)
	}
}

// TestPathMTUIsNeverMoreThanPasses over any path: what is claimed passes, and what is placed is where the path narrows.
func TestPathMTUIsNeverMoreThanPasses(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		n := chain(rapid.IntRange(0, 12).Draw(rt, "routers"))
		truth, answering := workerapi.MaxMTU, true
		for i := range n.routers {
			r := &n.routers[i]
			if rapid.IntRange(0, 4).Draw(rt, "silent") == 0 {
				r.kind, answering = 0, false
			}
			if rapid.IntRange(0, 3).Draw(rt, "narrow") != 0 {
				continue
			}
			r.mtu = rapid.IntRange(68, 1500).Draw(rt, "mtu")
			truth = min(truth, r.mtu)
			lie := rapid.SampledFrom([]int{-1, 0, 68, 1400, 65535, 1 << 20}).Draw(rt, "lie")
			if rapid.Bool().Draw(rt, "lies") {
				r.states = constant(lie)
			}
		}
		synctest.Test(t, func(t *testing.T) {
			got := mtuOver(t, n, n, Options{}, exchange.Probe{}).MTU
			if got.Path != nil && *got.Path > truth {
				t.Errorf("path %d, but %d pass: %+v", *got.Path, truth, n.routers)
			}
			if at := got.LimitedAt; at != nil && (*at > len(n.routers) || answering && n.routers[*at-1].mtu == 0) {
				t.Errorf("limited at %d: %+v", *at, n.routers)
			}
		})
	})
}

// unsizedNet is a network on which no packet of a given size can leave.
type unsizedNet struct{ *simNet }

func (n unsizedNet) Open(dst netip.Addr, deliver func(exchange.Answer)) (exchange.Flow, error) {
	f, err := n.simNet.Open(dst, deliver)
	return unsizedFlow{f.(*simFlow)}, err
}

type unsizedFlow struct{ *simFlow }

func (unsizedFlow) SendSized(uint16, int, int) (time.Time, error) {
	return time.Time{}, exchange.ErrShortage
}

// What keeps the path MTU from being measured costs the trace nothing; that the client leaves ends both.
func TestTracesOutliveTheirMTU(t *testing.T) {
	t.Parallel()
	n := chain(2)
	synctest.Test(t, func(t *testing.T) {
		r, err := New(unsizedNet{n}, Options{}).TracerouteMTU(t.Context(), simTarget, exchange.Probe{})
		if err != nil || !r.Reached || r.MTU == nil || r.MTU.Path != nil || said(r, workerapi.AboutMTU, 0) != "MTU_NOT_SENT" {
			t.Errorf("%+v, %v", r.MTU, err)
		}
		time.Sleep(10 * time.Second)
	})
	n = over(map[int]simNode{1: states(1, 1400, vanish)})
	synctest.Test(t, func(t *testing.T) {
		ctx, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		_, err := New(n, Options{}).TracerouteMTU(ctx, simTarget, exchange.Probe{})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		time.Sleep(10 * time.Second)
	})
}
