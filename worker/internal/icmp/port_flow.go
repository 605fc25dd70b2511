package icmp

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"diagnostics/worker/internal/exchange"
)

// portFlow implements exchange.Flow with UDP or TCP probes from one reserved port.
type portFlow struct {
	network *portNetwork
	portIdentity
	label   []byte // control message of the IPv6 flow label; nil for IPv4
	deliver func(exchange.Answer)
	forged  *suspicion // about what is told of dst
	closed  atomic.Bool

	mu sync.Mutex
	// order holds the sequence numbers of the probes in the order of sending: that number is for the flow's owner alone.
	order []uint16
}

// Close implements exchange.Flow. The flow stays in the table until another has its port: what still comes for it is late
// and not forged.
func (f *portFlow) Close() {
	if f.closed.CompareAndSwap(false, true) {
		f.network.suspects.leave(f.dst)
		f.network.ports.free[f.protocol].give(f.local)
	}
}

// Send implements exchange.Flow.
func (f *portFlow) Send(seq uint16, ttl int) (time.Time, error) {
	n := f.next(seq)
	return f.network.counters.sendProbe(ttl, func() (time.Time, error) { return f.network.send(f, n, ttl) })
}

// next gives the next probe its place in the flow.
func (f *portFlow) next(seq uint16) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.order = append(f.order, seq)
	return len(f.order) - 1
}

// match tells which probe a message is about.
func (f *portFlow) match(m portMessage) (seq uint16, p proof) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, p := f.prove(m, len(f.order))
	if p == unproved {
		return 0, p
	}
	return f.order[n], p
}

// meaning is what the kind of a message means for the flow: that nobody listens at its port is the destination's own
// answer to a UDP probe. From anybody else it is a firewall's.
func (f *portFlow) meaning(k exchange.Kind, from netip.Addr) exchange.Kind {
	if k == exchange.PortUnreachable && f.protocol == exchange.UDP && from == f.dst {
		return exchange.Reply
	}
	return k
}

// portFlows is the table from reserved port to the flow that has it or had it last, for each protocol.
type portFlows struct {
	udp, tcp [blockSize]atomic.Pointer[portFlow]
}

func (t *portFlows) slot(p exchange.Protocol, port uint16) *atomic.Pointer[portFlow] {
	if p == exchange.TCP {
		return &t.tcp[port%blockSize]
	}
	return &t.udp[port%blockSize]
}
