package probe

import (
	"net/netip"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"diagnostics/worker/internal/exchange"

	"go.uber.org/goleak"
)

// simNet is a network in memory: a row of routers and a destination behind them. Inside a synctest bubble it runs on
// the bubble's clock.
type simNet struct {
	routers []simNode
	dest    simNode
	// detours are further routers right before the destination, by flow.
	detours map[int][]simNode
	// openErr and sendErr fail every flow and packet.
	openErr, sendErr error
	// sendErrAfter lets so many packets pass before sendErr; cutAfter is when the way is lost, 0 for never, backAfter when
	// it is back, 0 for never.
	sendErrAfter int
	// link is the MTU of this host's own link; 0 for any size.
	link                int
	cutAfter, backAfter time.Duration
	start               time.Time

	mu     sync.Mutex
	opened int
	closed int
	// followed is how many ways are open.
	followed int
	log      []simPacket
}

// simPacket is one probe as it was sent.
type simPacket struct {
	at   time.Time
	seq  uint16
	ttl  int
	flow int
	size int // 0 for the size of a trace's probes
}

// simTTL is the TTL with which answers start.
const simTTL = 64

// simNode is a router or the destination.
type simNode struct {
	// addresses are those of its legs: the first flow takes the first, the second the second, and so on in a circle.
	addresses []netip.Addr
	rtt       time.Duration
	// kind is what it answers to a probe that expires there (a router) or arrives (the destination); 0 for nothing.
	kind exchange.Kind
	// refuses is what a router answers to a probe that would pass it; 0 where it lets it pass.
	refuses exchange.Kind
	// drops are the probes, counted from 0 as they come to this node, that stay unanswered.
	drops map[int]bool
	// spared is the sequence number of a probe that is never dropped; 0 for none.
	spared uint16
	// rtts, where given, are those of the single probes in the order of coming; rtt is for the others.
	rtts []time.Duration
	// copies are how many answers each probe gets beyond the first.
	copies int
	// detour is how many more routers its answers pass on their way back.
	detour int
	// deaf is a TTL whose probes a destination leaves unanswered; 0 for none.
	deaf int
	// damages are the probes, counted as drops are, whose replies are damaged.
	damages map[int]bool
	// labels are part of every answer.
	labels []exchange.Label
	// every limits the node to one answer in so long.
	every time.Duration
	// mtu is the largest packet that a router passes on; 0 for any size. Of a destination it is the largest reply that
	// comes back.
	mtu int
	// states gives what a router states about a packet that is too large; -1 for no message. nil states mtu.
	states func(size int) int
	// limit, where given, is the limit on its answers.
	limit answerLimit

	seen int
	last time.Time
}

// answerLimit reports whether a probe that arrives at a moment is answered.
type answerLimit interface{ allows(at time.Time) bool }

// tokenBucket answers so many probes a second, and a burst before.
type tokenBucket struct {
	rate, burst float64

	tokens float64
	last   time.Time
}

func (b *tokenBucket) allows(at time.Time) bool {
	if b.last.IsZero() {
		b.tokens = b.burst
	} else {
		b.tokens = min(b.burst, b.tokens+b.rate*at.Sub(b.last).Seconds())
	}
	b.last = at
	// What was added up in many small parts may lack a hair of a whole token.
	if b.tokens < 1-1e-9 {
		return false
	}
	b.tokens--
	return true
}

// perPeriod answers so many probes in each period, which begins somewhere within the first one.
type perPeriod struct {
	count  int
	period time.Duration
	phase  time.Duration

	start time.Time
	now   int64
	used  int
}

func (l *perPeriod) allows(at time.Time) bool {
	if l.start.IsZero() {
		l.start = at.Add(-l.phase)
	}
	if n := int64(at.Sub(l.start) / l.period); n != l.now {
		l.now, l.used = n, 0
	}
	l.used++
	return l.used <= l.count
}

func (n *simNet) Open(_ netip.Addr, deliver func(exchange.Answer)) (exchange.Flow, error) {
	if n.openErr != nil {
		return nil, n.openErr
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.opened++
	return &simFlow{net: n, index: n.opened - 1, deliver: deliver}, nil
}

// Follow implements exchange.Network.
func (n *simNet) Follow(netip.Addr) exchange.RouteWatch {
	w := simRouteWatch{n}
	_ = w.Cut() // the time of the cut counts from here
	n.mu.Lock()
	defer n.mu.Unlock()
	n.followed++
	return w
}

// simRouteWatch is the route of a simNet. What is on it while it is cut is dropped without a word, as a link without a
// carrier does.
type simRouteWatch struct{ net *simNet }

func (w simRouteWatch) Cut() error {
	w.net.mu.Lock()
	defer w.net.mu.Unlock()
	if w.net.isCut(time.Now()) {
		return exchange.ErrCutOff
	}
	return nil
}

func (w simRouteWatch) WasCut() error {
	w.net.mu.Lock()
	defer w.net.mu.Unlock()
	if w.net.cutAfter > 0 && time.Since(w.net.start) >= w.net.cutAfter { // of the bubble
		return exchange.ErrCutOff
	}
	return nil
}

func (w simRouteWatch) Close() {
	w.net.mu.Lock()
	defer w.net.mu.Unlock()
	w.net.followed--
}

func (n *simNet) isCut(now time.Time) bool {
	if n.start.IsZero() {
		n.start = now
	}
	passed := now.Sub(n.start)
	return n.cutAfter > 0 && passed >= n.cutAfter && (n.backAfter == 0 || passed < n.backAfter)
}

type simFlow struct {
	net     *simNet
	index   int
	deliver func(exchange.Answer)
	short   bool // the destination's replies are, whatever the size of the probes
	closed  bool
}

func (f *simFlow) Close() {
	f.net.mu.Lock()
	defer f.net.mu.Unlock()
	if !f.closed {
		f.closed = true
		f.net.closed++
	}
}

func (f *simFlow) Send(seq uint16, ttl int) (time.Time, error) { return f.SendSized(seq, ttl, 0) }

func (f *simFlow) SendSized(seq uint16, ttl, size int) (time.Time, error) {
	now := time.Now()
	f.net.mu.Lock()
	defer f.net.mu.Unlock()
	if f.net.sendErr != nil && len(f.net.log) >= f.net.sendErrAfter {
		return now, f.net.sendErr
	}
	if f.net.link > 0 && size > f.net.link {
		return now, exchange.ErrSize
	}
	f.net.log = append(f.net.log, simPacket{at: now, seq: seq, ttl: ttl, flow: f.index, size: size})
	node, kind, passed := f.net.where(ttl, f.index)
	mtu := 0
	for i := range f.net.routers {
		if r := &f.net.routers[i]; i+1 < ttl && r.mtu > 0 && size > r.mtu {
			node, kind, passed, mtu = r, exchange.TooBig, i, r.mtu
			if r.states != nil {
				mtu = r.states(size)
			}
			break
		}
	}
	if mtu < 0 || node == &f.net.dest && node.mtu > 0 && size > node.mtu && !f.short {
		kind = 0
	}
	if node.deaf == ttl || f.net.isCut(now) {
		kind = 0
	}
	f.answer(node, exchange.Answer{Seq: seq, Kind: kind, MTU: mtu}, passed, now)
	return now, nil
}

// where finds the node that a probe ends at, the kind of answer there, and how many routers it passed.
func (n *simNet) where(ttl, flow int) (node *simNode, kind exchange.Kind, passed int) {
	for i := range n.routers {
		r := &n.routers[i]
		if i+1 == ttl {
			return r, r.kind, i
		}
		if r.refuses != 0 {
			return r, r.refuses, i
		}
	}
	more := n.detours[flow]
	if i := ttl - len(n.routers) - 1; i < len(more) {
		return &more[i], more[i].kind, ttl - 1
	}
	return &n.dest, n.dest.kind, len(n.routers) + len(more)
}

func (f *simFlow) answer(node *simNode, a exchange.Answer, passed int, now time.Time) {
	nth := node.seen
	node.seen++
	if a.Kind == 0 || node.drops[nth] && (node.spared == 0 || a.Seq != node.spared) {
		return
	}
	if node.every > 0 && !node.last.IsZero() && now.Sub(node.last) < node.every {
		return
	}
	if node.limit != nil && !node.limit.allows(now) {
		return
	}
	node.last = now
	rtt := node.rtt
	if nth < len(node.rtts) {
		rtt = node.rtts[nth]
	}
	a.From = node.addresses[f.index%len(node.addresses)]
	a.TTL, a.At, a.Labels, a.Damaged = simTTL-passed-node.detour, now.Add(rtt), node.labels, node.damages[nth]
	for range node.copies + 1 {
		time.AfterFunc(rtt, func() { f.arrive(a) })
	}
}

// arrive brings an answer back.
func (f *simFlow) arrive(a exchange.Answer) {
	f.net.mu.Lock()
	lost := f.net.isCut(time.Now())
	f.net.mu.Unlock()
	if !lost {
		f.deliver(a)
	}
}

// sentTo counts the probes of each TTL.
func (n *simNet) sentTo() map[int]int {
	n.mu.Lock()
	defer n.mu.Unlock()
	count := map[int]int{}
	for _, p := range n.log {
		count[p.ttl]++
	}
	return count
}

// sentAt gives when the nth probe of a TTL was sent, counted from 0, since the first of all.
func (n *simNet) sentAt(ttl, nth int) time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.log {
		if p.ttl != ttl {
			continue
		}
		if nth == 0 {
			return p.at.Sub(n.log[0].at)
		}
		nth--
	}
	return -1
}

// public11 gives the nth of a row of public addresses.
func public11(n int) netip.Addr { return netip.AddrFrom4([4]byte{11, 0, byte(n >> 8), byte(n)}) }

func router(n int, rtt time.Duration) simNode {
	return simNode{addresses: []netip.Addr{public11(n)}, rtt: rtt, kind: exchange.TimeExceeded}
}

func silentRouter() simNode { return simNode{} }

func destination(rtt time.Duration) simNode {
	return simNode{addresses: []netip.Addr{simTarget}, rtt: rtt, kind: exchange.Reply}
}

var simPrivate = []netip.Addr{netip.MustParseAddr("10.1.2.3")}

var simTarget = netip.MustParseAddr("11.9.9.9")

// chain makes a path of answering routers, a millisecond apart, and a destination.
func chain(routers int) *simNet {
	n := &simNet{}
	for i := 1; i <= routers; i++ {
		n.routers = append(n.routers, router(i, time.Duration(i)*time.Millisecond))
	}
	n.dest = destination(time.Duration(routers+1) * time.Millisecond)
	return n
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestArrows keeps the two halves of the engine apart: probes are proved on a simulated network, so they may not know
// sockets; and the ICMP engine serves whatever sends echo requests, so it may not know hops.
func TestArrows(t *testing.T) {
	t.Parallel()
	const module = "diagnostics/worker/internal/"
	for from, never := range map[string][]string{
		module + "probe": {module + "icmp", "net", "golang.org/x/sys/unix", "golang.org/x/net/ipv4",
			"golang.org/x/net/ipv6"},
		module + "icmp":     {module + "probe", "diagnostics/shared/workerapi"},
		module + "exchange": {module + "probe", module + "icmp", "net"},
	} {
		out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", from).Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, dependency := range strings.Fields(string(out)) {
			if slices.Contains(never, dependency) {
				t.Errorf("%s depends on %s", from, dependency)
			}
		}
	}
}
