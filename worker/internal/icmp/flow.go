package icmp

import (
	"net/netip"
	"time"

	"diagnostics/worker/internal/echo"
)

// flow implements echo.Flow.
type flow struct {
	socket *socket
	dst    netip.Addr
	identity
	label   []byte // control message of the IPv6 flow label; nil for IPv4
	deliver func(echo.Answer)
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
