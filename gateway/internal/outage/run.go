package outage

import (
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"diagnostics/shared/parallel"
)

// The delays are those between the probes of an outage. Up to a quarter is added to each at random.
const (
	firstDelay = 250 * time.Millisecond
	// longestDelay is what leaves a probe that hangs a second, so that what is back is used again within two.
	longestDelay = 750 * time.Millisecond
	// longestPause is the most before the first probe: what answers probes and yet fails soon after would otherwise be
	// tried, and complained about, every second.
	longestPause = 1500 * time.Millisecond
	// steadyFor is how long it must serve to be probed at the first delay again.
	steadyFor = time.Minute
)

// run is the one goroutine that probes.
func (w *Watch) run() {
	w.look(w.Now())
	close(w.probed)
	pause := firstDelay
	for {
		began := time.Now()
		if !w.untilLost(w.Now()) {
			return
		}
		lost := time.Now()
		if lost.Sub(began) >= steadyFor {
			pause = firstDelay
		}
		if !w.untilBack(pause) {
			return
		}
		w.settings.Log.Info(w.settings.Back, slog.Int64("outageMs", time.Since(lost).Milliseconds()))
		w.now.Store(newUp())
		pause = min(2*pause, longestPause)
	}
}

// look probes, and ends the stretch where that fails.
func (w *Watch) look(up *Up) {
	err := w.probe()
	if err != nil && w.settings.Again != nil && w.settings.Again(err) {
		err = w.probe()
	}
	if err != nil && !errors.Is(err, ErrUnsure) {
		w.MarkLost(up, err)
	}
}

// untilLost waits for the end of the stretch, and reports whether it came before that of the watch.
func (w *Watch) untilLost(up *Up) bool {
	for {
		select {
		case <-w.ctx.Done():
			return false
		case <-up.Lost():
			return true
		case <-w.recheck:
			w.look(up)
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

// untilBack probes until that succeeds, the first time after the pause, and reports whether it did before the watch
// ended.
func (w *Watch) untilBack(pause time.Duration) bool {
	for delay := pause; ; delay = min(2*delay, longestDelay) {
		select {
		case <-w.ctx.Done():
			return false
		case <-time.After(delay + rand.N(delay/4)): // #nosec G404 -- so that instances do not come all at once
		}
		if w.probe() == nil {
			return w.ctx.Err() == nil
		}
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
