// Package breaker keeps a failing Redis from slowing requests down. All that use Redis go through one Breaker: a call
// is bounded by Bound, the first failure of an outage switches Redis off for everybody at once, and a single probe in
// the background switches it on again. What serves meanwhile is the caller's matter.
//
// A call first waits for its turn, since no more are made at once than the pool has connections. That wait is this
// gateway's own load: it counts neither as Redis's time nor as an outage.
package breaker

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"diagnostics/gateway/internal/redis/outage"
	"diagnostics/shared/redact"

	"github.com/redis/go-redis/v9"
)

// Bound is when Do gives a call up. No request may wait more than 250 ms for Redis, and timers fire late.
const Bound = 225 * time.Millisecond

// The states that State gives.
const (
	OK   = "ok"
	Down = "down"
)

// ErrDown is returned by Do at once, without a call to Redis, while an outage lasts.
var ErrDown = errors.New("redis is down")

// ErrBusy is returned by Do where a call had no turn in time, since too many others are under way. Redis works, and
// was not called.
var ErrBusy = errors.New("too many calls to redis at once")

// ErrLate is the error of a fn of several round trips that ran out of time though Redis answered some of them: Redis is
// slow, and not down.
var ErrLate = errors.New("redis answers too late")

// Breaker watches over one client. It is safe for concurrent use.
type Breaker struct {
	client redis.UniversalClient
	log    *slog.Logger
	watch  *outage.Watch
	turns  turns
	// since is long before the start. Durations since then use the monotonic clock, which is never set.
	since time.Time
	// loggedAt is when a call that failed without an outage was last logged, in nanoseconds since then.
	loggedAt atomic.Int64
	// checkedAt is when Check last looked, in nanoseconds since then.
	checkedAt atomic.Int64
	observer  Observer // may be nil
	// bound is Bound, and probeBound probeTimeout, but in tests.
	bound, probeBound time.Duration
}

// New watches over the client, which it owns from now on, and which Tune has set up. Redis is taken to be up until a
// first probe, in the background, or a first call fails.
func New(client redis.UniversalClient, log *slog.Logger, options ...Option) *Breaker {
	b := &Breaker{client: client, log: log, since: time.Now().Add(-time.Hour), turns: make(turns, poolSize),
		bound: Bound, probeBound: probeTimeout}
	for _, o := range options {
		o(b)
	}
	b.watch = outage.Start(outage.Settings{
		Lost: "redis is down, memory takes over", Back: "redis is back", Log: log, Probe: b.probe,
	})
	return b
}

// Do waits for a turn, calls fn with the client and a context that ends Bound later, and returns fn's error. While
// Redis is down it returns ErrDown at once; where there is no turn, ErrBusy. fn must honour its context, as the
// client's own methods do, and make one call at a time. A failure counts as an outage unless the caller's own context
// has ended or fn returns ErrLate; of Redis's error replies, only those that report that it cannot serve now. The call
// is reported to the Observer as o.
func (b *Breaker) Do(ctx context.Context, o Operation, fn func(context.Context, redis.UniversalClient) error) error {
	up := b.watch.Now()
	if up.Reason() != nil {
		return ErrDown
	}
	came := time.Now()
	err := b.turns.await(ctx, up)
	began := time.Now()
	b.waited(ctx, began.Sub(came))
	if err != nil {
		return err
	}
	defer b.turns.end()
	bounded, cancel := context.WithTimeout(ctx, b.bound)
	defer cancel()
	err = fn(bounded, b.client)
	if err != nil {
		awaitPassed(ctx)
	}
	b.observe(ctx, o, began, err)
	switch {
	case err == nil, errors.Is(err, redis.Nil), ctx.Err() != nil:
	case errors.Is(err, ErrLate):
		b.logFailure("redis is slow, memory takes over for what takes too long", err)
	case isOutage(err):
		b.watch.MarkLost(up, err)
	default:
		b.logFailure("redis refuses a command, memory takes over for it", err)
	}
	return err
}

// awaitPassed waits for a ctx whose deadline has passed to end. A connection with the same deadline may fail a moment
// before the context's timer fires, and the failure would count against Redis.
func awaitPassed(ctx context.Context) {
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		<-ctx.Done()
	}
}

// State is OK or Down.
func (b *Breaker) State() string {
	if b.watch.Now().Reason() != nil {
		return Down
	}
	return OK
}

// checkedFor is how long Check reuses its last result, so that readiness probes do not load Redis.
const checkedFor = time.Second

// Check returns State after probing Redis: on an instance without traffic nothing else would notice an outage.
// It waits for Bound at most and looks once a second at most. It looks as a probe does: a PING passes where nothing can
// be written.
func (b *Breaker) Check(ctx context.Context) string {
	if b.isDue(&b.checkedAt, checkedFor) {
		_ = b.Do(ctx, Check, write)
	}
	return b.State()
}

// Close ends the probing and closes the client.
func (b *Breaker) Close() error {
	b.watch.Stop()
	err := b.client.Close()
	b.watch.Close()
	return err
}

// logFailure logs a call that failed though Redis serves, at most once a minute.
func (b *Breaker) logFailure(what string, err error) {
	if b.isDue(&b.loggedAt, time.Minute) {
		b.log.Warn(what, slog.String("error", redact.Message(err, nil)))
	}
}

// isDue reports whether a moment is so long past, which is now then.
func (b *Breaker) isDue(at *atomic.Int64, every time.Duration) bool {
	now, last := int64(time.Since(b.since)), at.Load()
	return now-last >= int64(every) && at.CompareAndSwap(last, now)
}

// Operation is a kind of call to Redis.
type Operation string

// The operations.
const (
	Limits   Operation = "limits"
	CacheGet Operation = "cache_get"
	CacheSet Operation = "cache_set"
	Check    Operation = "check"
	PlaceKey Operation = "place_key"
)

// Operations are all of them.
func Operations() []Operation { return []Operation{Limits, CacheGet, CacheSet, Check, PlaceKey} }

// Observer receives the wait of every call for its turn, then its duration without that wait, and whether it failed.
// Its methods are safe for concurrent use and do not block.
type Observer interface {
	Waited(took time.Duration)
	Asked(o Operation, took time.Duration, failed bool)
}

// Option changes how a Breaker works.
type Option func(*Breaker)

// WithObserver sets the observer of the calls.
func WithObserver(o Observer) Option {
	return func(b *Breaker) { b.observer = o }
}

// WithPatience has calls and probes given up only after d: on a busy machine the bounds of the service end calls to a
// Redis that works.
func WithPatience(d time.Duration) Option {
	return func(b *Breaker) { b.bound, b.probeBound = d, d }
}

// waited reports the wait for a turn, unless the caller left.
func (b *Breaker) waited(ctx context.Context, took time.Duration) {
	if b.observer != nil && ctx.Err() == nil {
		b.observer.Waited(took)
	}
}

// observe reports a call. One that ended because its caller left has not failed.
func (b *Breaker) observe(ctx context.Context, o Operation, began time.Time, err error) {
	if b.observer == nil || ctx.Err() != nil {
		return
	}
	b.observer.Asked(o, time.Since(began), err != nil && !errors.Is(err, redis.Nil))
}
