package probe

import (
	"context"
	"time"

	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/exchange"
)

// testArrival finds whether UDP datagrams of the largest size arrive: that the port is closed is a short answer,
// whatever the size of what it answers. Silence says something only where a small datagram is answered.
func (p *Prober) testArrival(ctx context.Context, probe exchange.Probe, m *mtuPlan) error {
	for _, size := range []int{controlSize, m.top()} {
		a := &arrival{mtuPlan: m, nextSend: time.Now().Add(recheckGap)}
		probe.Size = size
		if _, err := p.drive(ctx, m.dst, probe, a); err != nil {
			return err
		}
		switch {
		case a.late || size == controlSize && !a.arrived:
			return nil
		case size != controlSize:
			m.arrives = &a.arrived
		}
	}
	return nil
}

// arrival is the plan of mtuTries datagrams of one size to the destination.
type arrival struct {
	*mtuPlan
	nextSend time.Time
	count    int
	arrived  bool
	late     bool // not all of them were sent and waited for
}

func (a *arrival) next(now time.Time) step {
	by := a.deadline.Add(-a.silence)
	switch {
	case a.arrived:
		return step{done: true}
	case now.Before(a.nextSend):
		return step{again: earlier(a.nextSend, a.deadline)}
	case a.count == mtuTries:
		return step{done: true, missing: true}
	case a.late, now.After(by), len(a.sends) == workerapi.MaxMTUProbes:
		a.late = true
		return step{done: true, late: true}
	}
	return step{send: &request{seq: uint16(a.count + 1), ttl: reachTTL}, by: by}
}

func (a *arrival) sent(_ request, at time.Time) {
	a.count++
	a.sends = append(a.sends, nil)
	a.nextSend = at.Add(max(recheckGap, a.silence))
}

func (a *arrival) oversized(request) { a.late = true }

func (a *arrival) answered(answer exchange.Answer) {
	a.arrived = a.arrived || answer.Kind == exchange.Reply
}
