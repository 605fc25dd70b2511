package icmp

import (
	"crypto/rand"
	mathrand "math/rand/v2"
	"net/netip"
	"sync"
	"sync/atomic"

	"diagnostics/worker/internal/echo"
)

const (
	identifiers  = 1 << 16
	maxFlowLabel = 1<<20 - 1 // 0 is no label
)

// flows is the table from ICMP identifier to the live flow that owns it. Looking up takes no lock, since every packet
// that comes in does it.
type flows struct {
	byID [identifiers]atomic.Pointer[flow]

	mu sync.Mutex
	// free is a ring of identifiers: taken at head, given back at the tail, so that one comes round again as late as can
	// be, when answers to its last flow are long dead.
	free []uint16
	head int
	size int
}

// newFlows makes a table whose identifiers come in random order. 0 is left out: some devices take it for absent.
func newFlows() *flows {
	f := &flows{free: make([]uint16, identifiers-1)}
	for i, id := range mathrand.Perm(identifiers - 1) {
		f.free[i] = uint16(id + 1)
	}
	f.size = len(f.free)
	return f
}

// add makes a flow with an identifier that no live flow has.
func (t *flows) add(s *socket, dst netip.Addr, deliver func(echo.Answer)) (*flow, error) {
	f := &flow{socket: s, dst: dst, deliver: deliver}
	rand.Read(f.cookie[:])
	if !dst.Is4() {
		f.label = labelControl(1 + mathrand.Uint32N(maxFlowLabel))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.size == 0 {
		return nil, echo.ErrNoFlow
	}
	f.id = t.free[t.head]
	t.head = (t.head + 1) % len(t.free)
	t.size--
	t.byID[f.id].Store(f)
	return f, nil
}

// remove gives a flow's identifier back; a second call does nothing.
func (t *flows) remove(f *flow) {
	if !t.byID[f.id].CompareAndSwap(f, nil) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.free[(t.head+t.size)%len(t.free)] = f.id
	t.size++
}

// owner gives the live flow that the message answers, or nil.
func (t *flows) owner(m message) *flow {
	f := t.byID[m.id].Load()
	if f == nil || !m.answers(f.dst, f.cookie) {
		return nil
	}
	return f
}

// answers tells whether the message answers a request to dst under the cookie. An echo reply proves itself by the
// payload, whatever its source; an error by the destination that it quotes and, where it quotes so much, by the
// payload.
func (m message) answers(dst netip.Addr, c cookie) bool {
	if m.kind == echo.Reply {
		return provesReply(m.payload, m.seq, c)
	}
	return m.quoted == dst && !contradictsQuote(m.payload, c)
}
