package probe

import (
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"diagnostics/worker/internal/exchange"
)

// rushPlan sends as fast as it may.
type rushPlan struct {
	left int
	end  time.Time
}

func (p *rushPlan) next(time.Time) step {
	if p.left == 0 {
		return step{done: true}
	}
	p.left--
	return step{send: &request{ttl: 64}, by: p.end, again: p.end}
}

func (p *rushPlan) limit() time.Time                     { return p.end }
func (p *rushPlan) sent(request, time.Time)              {}
func (p *rushPlan) answered(exchange.Answer)             {}
func (p *rushPlan) parts(uint16, func(string, int, any)) {}
func (f silentFlow) Send(uint16, int) (time.Time, error) { return time.Time(f), nil }

// silentFlow takes probes and answers none.
type silentFlow time.Time

func (silentFlow) Close() {}

type silentNetwork struct{}

func (silentNetwork) Open(netip.Addr, func(exchange.Answer)) (exchange.Flow, error) {
	return silentFlow(time.Now()), nil
}
func (silentNetwork) Follow(netip.Addr) exchange.RouteWatch { return goodWay{} }

// goodWay is never cut.
type goodWay struct{}

func (goodWay) Cut() error    { return nil }
func (goodWay) WasCut() error { return nil }
func (goodWay) Close()        {}

// BenchmarkSend is what a probe costs on its way through plan, budget and driver, without the system's part.
func BenchmarkSend(b *testing.B) {
	var waits atomic.Int64
	for name, waited := range map[string]func(time.Duration){
		"untold": nil,
		"told":   func(d time.Duration) { waits.Add(int64(d)) },
	} {
		b.Run(name, func(b *testing.B) {
			p := New(silentNetwork{}, Options{Budget: NewBudget(0, 0), Waited: waited})
			job := &rushPlan{left: b.N, end: time.Now().Add(time.Hour)}
			if _, err := p.drive(b.Context(), netip.MustParseAddr("11.0.0.1"), exchange.Probe{}, job); err != nil {
				b.Fatal(err)
			}
		})
	}
}
