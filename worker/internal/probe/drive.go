package probe

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"diagnostics/shared/progress"
	"diagnostics/worker/internal/exchange"
)

// answersHeld is how many answers wait for the driver. A plan has at most 94 probes in flight; more are duplicates,
// and a flood of those may be lost.
const answersHeld = 256

// request is one probe that a plan wants sent. Probes of one flow look alike to routers that spread load.
type request struct {
	seq  uint16
	ttl  int
	flow int
	size int // of the packet; 0 for that of the flow's other probes
}

// step is the next action of a plan: to send a probe, to be called again at a later moment (or sooner, when an answer
// comes), or to end. missing means that it ends because an answer did not come, late that its time is up.
type step struct {
	send    *request
	by      time.Time // a probe that leaves later than that could not be listened to for as long as it takes
	again   time.Time
	done    bool
	missing bool
	late    bool
}

// On a busy machine an answer may have arrived in time but not have been read yet. Before a probe counts as lost, the
// driver therefore waits for a grace period: grace, plus twice the recent lateness of wake-ups.
const (
	grace    = 2 * time.Millisecond
	maxGrace = 500 * time.Millisecond
)

// retryGap is the pause before a job requests again a probe that the budget could not grant in time: others may return
// their reservations.
const retryGap = 100 * time.Millisecond

// BusyError means that the packet budget has not enough packets left for the job in its time.
type BusyError struct {
	// Free is the time after which a job could begin.
	Free time.Duration
}

func (e *BusyError) Error() string { return fmt.Sprintf("%s for %v", e.LogText(), e.Free) }

// LogText implements redact.Loggable.
func (e *BusyError) LogText() string { return "the budget of packets is used up" }

// plan is the logic of a job. The driver calls its methods one at a time.
type plan interface {
	next(now time.Time) step
	// limit is when the job must have ended.
	limit() time.Time
	// demand is what the job needs of the budget.
	demand() demand
	// sent reports that the probe of the last step left at a moment.
	sent(r request, at time.Time)
	answered(a exchange.Answer)
	// parts passes on the parts of the result that the answer to a probe has changed; all of them for everything.
	parts(seq uint16, report func(kind string, number int, value any))
}

// sizePlan is a plan whose probes may be larger than what this host's link carries.
type sizePlan interface{ oversized(r request) }

// drive runs a plan to its end, and gives the moment when its first probe left; where none did, when it began.
func (p *Prober) drive(
	ctx context.Context, dst netip.Addr, probe exchange.Probe, job plan,
) (measuredAt time.Time, err error) {
	d := &driver{
		prober: p, dst: dst, probe: probe, plan: job, route: p.network.Follow(dst),
		answers:     make(chan exchange.Answer, answersHeld),
		reservation: p.options.Budget.reservation(dst),
		steps:       progress.Of(ctx),
	}
	defer d.close()
	began := time.Now()
	if free, ok := d.reservation.admit(began, job.demand()); !ok {
		return began, &BusyError{Free: free}
	}
	err = d.run(ctx)
	if d.left.IsZero() {
		d.left = began
	}
	return d.left, err
}

type driver struct {
	prober      *Prober
	dst         netip.Addr
	probe       exchange.Probe
	plan        plan
	route       exchange.RouteWatch
	answers     chan exchange.Answer
	flows       []exchange.Flow
	reservation reservation
	wanted      time.Time     // since when the plan wants its next probe to leave; zero where it wants none to
	late        time.Duration // by how much the last wake-ups were late
	left        time.Time     // when the first probe did; zero before

	steps     *progress.Feed // nil where there is no reader
	announced bool           // the readers have all that was known once
}

func (d *driver) run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		d.takeAnswers()
		d.announce(everything)
		now := time.Now()
		s := d.plan.next(now)
		if s.done {
			if s.missing && d.listen(ctx) {
				continue
			}
			if err := ctx.Err(); err != nil || !s.missing && !s.late {
				return err
			}
			// What did not come may have been lost on a link of this host, on its way out or back.
			return d.route.WasCut()
		}
		d.want(s.send != nil, now)
		if s.send != nil {
			wait, granted := d.reservation.wait(now, s.by)
			switch {
			case !granted && !d.begun():
				return &BusyError{Free: wait - s.by.Sub(now)}
			case !granted:
				s.again = earlier(now.Add(retryGap), d.plan.limit())
			case wait > 0:
				s.again = now.Add(wait)
			default:
				d.reportWait(now)
				if err := d.send(*s.send); err != nil {
					return err
				}
				continue
			}
		}
		timer.Reset(s.again.Sub(now))
		select {
		case a := <-d.answers:
			d.answered(a)
		case <-timer.C:
			d.late = max(d.late/2, time.Since(s.again))
		case <-ctx.Done():
		}
	}
}

func (d *driver) answered(a exchange.Answer) {
	d.plan.answered(a)
	d.announce(a.Seq)
}

// want notes since when a probe is held back.
func (d *driver) want(wants bool, now time.Time) {
	switch {
	case !wants:
		d.wanted = time.Time{}
	case d.wanted.IsZero():
		d.wanted = now
	}
}

// reportWait reports how long the probe that leaves now was held back.
func (d *driver) reportWait(now time.Time) {
	if observe := d.prober.options.Waited; observe != nil {
		observe(now.Sub(d.wanted))
	}
	d.wanted = time.Time{}
}

// listen waits for an answer that was given up, and reports whether one came.
func (d *driver) listen(ctx context.Context) bool {
	wait := time.NewTimer(min(grace+2*d.late, maxGrace, time.Until(d.plan.limit())))
	defer wait.Stop()
	select {
	case a := <-d.answers:
		d.answered(a)
		return true
	case <-wait.C:
	case <-ctx.Done():
	}
	return false
}

// takeAnswers takes those that wait, and no more: who answers faster than they are taken must not keep the job from its
// end.
func (d *driver) takeAnswers() {
	for range answersHeld {
		select {
		case a := <-d.answers:
			d.answered(a)
		default:
			return
		}
	}
}

// send sends a probe. Failing to send fails the job, also in its middle: what this host cannot send is not lost on the
// way, and a measurement with holes of its own would pass for the destination's.
func (d *driver) send(r request) error {
	if err := d.route.Cut(); err != nil {
		return err
	}
	f, err := d.flow(r.flow)
	if err != nil {
		return err
	}
	d.reservation.use()
	at, err := sendTo(f, r)
	if sizes, ok := d.plan.(sizePlan); ok && errors.Is(err, exchange.ErrSize) {
		sizes.oversized(r)
		return nil
	}
	if err != nil {
		return d.sendFailed(err)
	}
	if d.left.IsZero() {
		d.left = at
		if d.steps != nil {
			d.steps.Begin()
		}
	}
	d.plan.sent(r, at)
	return nil
}

func sendTo(f exchange.Flow, r request) (time.Time, error) {
	if r.size == 0 {
		return f.Send(r.seq, r.ttl)
	}
	sized, ok := f.(exchange.SizedFlow)
	if !ok {
		return time.Time{}, exchange.ErrProtocol
	}
	return sized.SendSized(r.seq, r.ttl, r.size)
}

// sendFailed returns why no more can be sent. A rule that forbids probes forbids the first one; what is forbidden
// behind others that have left met a table of connections that is full, or a limit: Linux has one error for all of
// these.
func (d *driver) sendFailed(err error) error {
	if !d.left.IsZero() && errors.Is(err, exchange.ErrForbidden) {
		err = errors.Join(exchange.ErrShortage, err)
	}
	return errors.Join(d.route.Cut(), err)
}

// begun reports whether a probe has left: a flow is opened for it, and a probe that cannot leave ends the job.
func (d *driver) begun() bool { return len(d.flows) > 0 }

// flow opens flows in order as they are first used.
func (d *driver) flow(index int) (exchange.Flow, error) {
	for len(d.flows) <= index {
		f, err := d.prober.open(d.probe, d.dst, d.take)
		if err != nil {
			return nil, err
		}
		d.flows = append(d.flows, f)
	}
	return d.flows[index], nil
}

func (d *driver) take(a exchange.Answer) {
	select {
	case d.answers <- a:
	default:
	}
}

func (d *driver) close() {
	for _, f := range d.flows {
		f.Close()
	}
	d.route.Close()
	d.reservation.release(time.Now())
}
