package probe

import (
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/exchange"
)

// floodPlan is answered once more for each answer that it takes, and ends at its limit.
type floodPlan struct {
	plan
	end     time.Time
	flood   func()
	asked   int
	answers int
}

func (p *floodPlan) next(now time.Time) step {
	p.asked++
	return step{done: p.asked > 3, again: now.Add(time.Second)}
}

func (p *floodPlan) limit() time.Time { return p.end }

func (p *floodPlan) answered(exchange.Answer) {
	p.answers++
	p.flood()
}

// Answers that come as fast as they are taken do not keep a job from its end.
func TestAFloodOfAnswersEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &floodPlan{end: time.Now().Add(workerapi.PingLimit)}
		d := &driver{prober: New(nil, Options{}), plan: p, answers: make(chan exchange.Answer, answersHeld)}
		p.flood = func() { d.take(exchange.Answer{}) }
		p.flood()
		if err := d.run(t.Context()); err != nil || p.answers == 0 || p.answers > 5*answersHeld {
			t.Errorf("%v after %d answers", err, p.answers)
		}
	})
}
