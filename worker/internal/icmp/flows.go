package icmp

import (
	"net/netip"
	"sync/atomic"
	"time"

	"diagnostics/worker/internal/exchange"
)

const maxFlowLabel = 1<<20 - 1 // 0 is no label

// flows is the table from ICMP identifier to the live flow that owns it. Looking up takes no lock, since every packet
// that comes in does it.
type flows struct {
	byID [identifiers]atomic.Pointer[flow]
	pool *identifierPool
	suspects
}

func newFlows() *flows {
	return &flows{pool: newIdentifierPool(), suspects: newSuspects(rawLimit, rawPace)}
}

// add makes a flow with an identifier that no live flow has.
func (t *flows) add(s *socket, dst netip.Addr, deliver func(exchange.Answer)) (*flow, error) {
	id, ok := t.pool.take()
	if !ok {
		return nil, exchange.ErrNoFlow
	}
	f := &flow{socket: s, dst: dst, identity: newIdentity(id, dst), label: newLabel(dst), deliver: deliver,
		forged: t.enter(dst)}
	t.byID[id].Store(f)
	return f, nil
}

// remove gives a flow's identifier back; a second call does nothing.
func (t *flows) remove(f *flow) {
	if !t.byID[f.id].CompareAndSwap(f, nil) {
		return
	}
	t.leave(f.dst)
	t.pool.give(f.id)
}

// owner gives the live flow that the message answers, and how well it proves that; nil for none.
func (t *flows) owner(m message) (*flow, proof) {
	if f := t.byID[m.id].Load(); f != nil {
		if p := m.prove(f.dst, f.identity); p != unproved {
			return f, p
		}
	}
	return nil, unproved
}

// unmatched takes note of a message that answers no flow.
func (t *flows) unmatched(m message, now time.Time) {
	if m.kind == exchange.Reply {
		return
	}
	t.forged.note(now)
	if forged := t.of(m.quoted); forged != nil {
		forged.note(now)
	}
}

// flow implements exchange.Flow.
type flow struct {
	socket *socket
	dst    netip.Addr
	identity
	label   []byte // control message of the IPv6 flow label; nil for IPv4
	deliver func(exchange.Answer)
	forged  *suspicion // about errors that quote dst
}

func (f *flow) Close() { f.socket.flows.remove(f) }

func (f *flow) Send(seq uint16, ttl int) (time.Time, error) {
	packet := f.request(f.socket.requestType, seq)
	return f.socket.counters.sendProbe(ttl, func() (time.Time, error) { return f.attempt(packet[:], ttl) })
}

// attempt sends a packet with the flow's label.
func (f *flow) attempt(packet []byte, ttl int) (time.Time, error) {
	return sendLabelled(f.label, &f.socket.unlabelled, func(label []byte) (time.Time, error) {
		return f.socket.send(packet, f.dst, ttl, label)
	})
}
