package outage

import (
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"diagnostics/shared/parallel"
)

const (
	firstDelay = 250 * time.Millisecond
	// With what is added at random it is two seconds.
	longestDelay = 1600 * time.Millisecond
	steadyFor    = time.Minute
)

// run is the one goroutine that probes.
func (w *Watch) run() {
	w.look(w.Now())
	close(w.probed)
	delay := firstDelay
	for {
		began := time.Now()
		if !w.untilLost(w.Now()) {
			return
		}
		lost := time.Now()
		// What answers probes and yet fails soon after would otherwise be tried, and complained about, several times a
		// second.
		if lost.Sub(began) >= steadyFor {
			delay = firstDelay
		}
		if delay = w.untilBack(delay); w.ctx.Err() != nil {
			return
		}
		w.settings.Log.Info(w.settings.Back, slog.Duration("outage", time.Since(lost)))
		w.now.Store(newUp())
		delay = longer(delay)
	}
}

func longer(delay time.Duration) time.Duration { return min(2*delay, longestDelay) }

// look probes once, and ends the stretch where that fails.
func (w *Watch) look(up *Up) {
	if err := w.probe(); err != nil && !errors.Is(err, ErrUnsure) {
		w.Fall(up, err)
	}
}

// untilLost waits for the end of the stretch; it is false when the watch ends first.
func (w *Watch) untilLost(up *Up) bool {
	for {
		select {
		case <-w.ctx.Done():
			return false
		case <-up.Lost():
			return true
		case <-w.tick():
			w.look(up)
		}
	}
}

// tick is the time of the next probe while all is well: never, where only outages are probed.
func (w *Watch) tick() <-chan time.Time {
	if w.settings.Every == 0 {
		return nil
	}
	return time.After(w.settings.Every)
}

// untilBack probes until that succeeds, or the watch ends. It gives the delay between the last two.
func (w *Watch) untilBack(delay time.Duration) time.Duration {
	for {
		select {
		case <-w.ctx.Done():
			return delay
		case <-time.After(delay + rand.N(delay/4)): // #nosec G404 -- so that instances do not come all at once
		}
		if w.probe() == nil {
			return delay
		}
		delay = longer(delay)
	}
}

// probe asks once. A panic of the probe is a failure like any other: it must not end the one goroutine that can end an
// outage.
func (w *Watch) probe() (err error) {
	if p := parallel.Catch(func() { err = w.settings.Probe(w.ctx) }); p != nil {
		return p
	}
	return err
}
