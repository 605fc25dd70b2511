// Package outage watches over something that this service relies on and can do without for a while: it logs
// once when that is lost and once when it is back, and reports the state at any time.
package outage

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"diagnostics/shared/parallel"
	"diagnostics/shared/redact"
)

// ErrUnsure is returned by a probe without a result: it changes nothing.
var ErrUnsure = errors.New("outage: the probe has no result")

// Settings are what to watch and what to say of it.
type Settings struct {
	// Lost and Back are the messages of the log. The first comes with the reason as "error", the second with how long it
	// lasted as "outageMs".
	Lost, Back string
	Log        *slog.Logger
	// Probe returns nil where it serves, an error where it does not, or ErrUnsure. It must honour its context.
	Probe func(context.Context) error
	// Again reports whether a failed probe is made once more, while all is well, before it counts; nil is never.
	Again func(error) bool
	// Every is the time from a good probe to the next; where it is 0 only the start and an outage are probed.
	Every time.Duration
}

// Watch is safe for concurrent use.
type Watch struct {
	settings Settings
	now      atomic.Pointer[Up]
	probed   chan struct{}
	recheck  chan struct{}
	ctx      context.Context
	stop     context.CancelFunc
	done     parallel.Group
}

// Up is one period in which the service works. A caller takes the present one before each use and reports a failure to
// it: a call that began in one period cannot end a later one, so the last timeouts of an outage do not start the next.
type Up struct {
	isLost atomic.Bool
	lost   chan struct{}
	reason error
}

func newUp() *Up { return &Up{lost: make(chan struct{})} }

// Lost is closed when the stretch has ended.
func (u *Up) Lost() <-chan struct{} { return u.lost }

// Reason is why the stretch has ended, nil while it lasts.
func (u *Up) Reason() error {
	select {
	case <-u.lost:
		return u.reason
	default:
		return nil
	}
}

// Start begins to watch. What is watched is taken to serve until the first probe, in the background, or MarkLost says
// otherwise. Close ends it.
func Start(s Settings) *Watch {
	w := &Watch{settings: s, probed: make(chan struct{}), recheck: make(chan struct{}, 1)}
	w.ctx, w.stop = context.WithCancel(context.Background())
	w.now.Store(newUp())
	w.done.Go(w.run)
	return w
}

// Now is the present stretch, or the last one while an outage lasts.
func (w *Watch) Now() *Up { return w.now.Load() }

// Probed is closed when the first probe has ended.
func (w *Watch) Probed() <-chan struct{} { return w.probed }

// MarkLost ends the period and begins an outage. Of all the failures of one period the first is recorded and logged.
func (w *Watch) MarkLost(up *Up, reason error) {
	switch {
	case w.ctx.Err() != nil:
		return
	case !up.isLost.CompareAndSwap(false, true):
		<-up.lost
		return
	}
	w.settings.Log.Warn(w.settings.Lost, slog.String("error", redact.Message(reason, nil)))
	up.reason = reason
	close(up.lost)
}

// Recheck has the watch probe now: something failed that may be an outage, and may concern this one call only.
func (w *Watch) Recheck() {
	select {
	case w.recheck <- struct{}{}:
	default: // it will
	}
}

// Stop ends the watch: nothing is reported any more. A probe may still be under way.
func (w *Watch) Stop() { w.stop() }

// Close is Stop, and waits for a probe to end.
func (w *Watch) Close() {
	w.stop()
	w.done.Wait()
}

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

// probe calls Probe once. A panic in it is a failure like any other: it must not end the one goroutine that can end an
// outage.
func (w *Watch) probe() (err error) {
	if p := parallel.Catch(func() { err = w.settings.Probe(w.ctx) }); p != nil {
		return p
	}
	return err
}
