package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"diagnostics/shared/flight"
	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/exchange"
	"diagnostics/worker/internal/probe"
)

// sharedFor is how long after its start a job still serves identical requests.
const sharedFor = 3 * time.Second

// busyError is that every slot is taken, or every one that this client, its group or its place may hold.
type busyError struct {
	free  time.Duration // until the first of them is expected to be
	limit Limit
}

// share reports whether others may still find slots.
func (e *busyError) share() bool { return e.limit != LimitSlots }

func (e *busyError) Error() string { return fmt.Sprintf("%s for %v", e.LogText(), e.free) }

// LogText implements redact.Loggable.
func (e *busyError) LogText() string {
	if e.share() {
		return "a share of the slots is taken"
	}
	return "every slot is taken"
}

// measurement is a result that can be marked as measured for another request.
type measurement[T any] interface {
	*T
	MarkShared()
}

// job returns the route of one kind of job. usual is how long a job mostly takes at most. read returns the job of
// a request: concurrent requests for equal jobs share one.
func job[K comparable, T any, M measurement[T]](
	s *Server, usual func(K) time.Duration, read func(*requestContext) (K, *refusal),
	run func(context.Context, K) (T, error),
) func(*requestContext) {
	jobs := &flight.Group[K, T]{Keep: sharedFor}
	return func(rc *requestContext) {
		asked, refused := read(rc)
		if refused != nil {
			rc.refused = refused
			rc.fail(refused.status, refused.sentence)
			return
		}
		var result T
		var own bool
		var err error
		rc.perform(func(ctx context.Context) {
			result, own, err = inShare(func(begun *atomic.Bool) (T, error) {
				return jobs.Do(ctx, asked, func(ctx context.Context) (T, error) {
					begun.Store(true)
					return runInSlot(ctx, s, usual(asked), rc.holder, func(ctx context.Context) (T, error) { return run(ctx, asked) })
				})
			})
		})
		var busy *busyError
		var spent *probe.BusyError
		switch {
		case errors.As(err, &busy):
			rc.refuse(busy)
		case errors.As(err, &spent):
			rc.cause = spent
			rc.w.Header().Set(workerapi.HeaderRefused, workerapi.RefusedBudget)
			rc.refuseUntil(spent.Free, "This worker is already sending as many probes as it may.")
		case err != nil:
			rc.failJob(err)
		default:
			// On this request's copy; what the copies share does not change.
			if !own {
				M(&result).MarkShared()
			}
			succeed(rc, result)
		}
	}
}

// inShare retries until the job is one that this request has begun or that runs: a request that joined the job of
// another client must not be rejected because that client's share is used up. Each further round is one that another
// request has lost. own reports whether the request began the job itself.
func inShare[T any](do func(begun *atomic.Bool) (T, error)) (result T, own bool, err error) {
	for {
		var begun atomic.Bool
		result, err := do(&begun)
		busy, refused := errors.AsType[*busyError](err)
		if begun.Load() || !refused || !busy.share() {
			return result, begun.Load(), err
		}
	}
}

// refuse answers a request without a slot.
func (rc *requestContext) refuse(busy *busyError) {
	rc.cause = busy
	sentence := "This worker runs as many jobs as it may."
	if busy.share() {
		rc.w.Header().Set(workerapi.HeaderRefused, workerapi.RefusedShare)
		sentence = "This worker runs as many of this client's, its network's or its place's jobs as it may."
	}
	rc.refuseUntil(busy.free, sentence)
}

// refuseUntil answers a request that may be made again after a while.
func (rc *requestContext) refuseUntil(free time.Duration, sentence string) {
	rc.w.Header().Set("Retry-After", strconv.Itoa(wholeSeconds(free)))
	rc.fail(http.StatusTooManyRequests, sentence)
}

// runInSlot runs a job in a slot of its own, within the bound from outside. Without a free slot the error is a
// *busyError.
func runInSlot[T any](
	ctx context.Context, s *Server, usual time.Duration, who holder, run func(context.Context) (T, error),
) (T, error) {
	slot, err := s.inflight.take(time.Now(), usual, who)
	if err != nil {
		var none T
		return none, err
	}
	defer s.inflight.leave(slot)
	ctx, cancel := context.WithTimeout(ctx, s.config.JobLimit)
	defer cancel()
	return run(ctx)
}

// failJob answers for a job that could not be done.
func (rc *requestContext) failJob(err error) {
	rc.cause = err
	switch {
	case errors.Is(context.Cause(rc.r.Context()), ErrLeaving):
		rc.fail(http.StatusServiceUnavailable, "This worker is being restarted.")
	case rc.r.Context().Err() != nil:
		rc.status, rc.written = statusClientGone, true
	case errors.Is(err, context.DeadlineExceeded):
		rc.fail(http.StatusGatewayTimeout, "The measurement did not end in time.")
	case isShortage(err):
		rc.w.Header().Set(workerapi.HeaderRefused, workerapi.RefusedShortage)
		rc.w.Header().Set("Retry-After", "1")
		rc.fail(http.StatusServiceUnavailable, "This worker's own host cannot send probes at the moment.")
	case errors.Is(err, exchange.ErrProtocol):
		rc.w.Header().Set(workerapi.HeaderRefused, workerapi.RefusedProtocol)
		rc.fail(http.StatusBadGateway, "This worker can trace with ICMP only.")
	case errors.Is(err, exchange.ErrFamily), errors.Is(err, exchange.ErrNoRoute):
		rc.fail(http.StatusBadGateway, "This worker has no "+workerapi.FamilyName(rc.target)+" connection to the target.")
	case errors.Is(err, exchange.ErrForbidden):
		rc.fail(http.StatusBadGateway, "A rule of the worker's own host forbids probes to the target.")
	default:
		rc.fail(http.StatusBadGateway, "The worker could not send its probes.")
	}
}

// isShortage reports whether the worker's host lacks something temporarily, not by its setup. It must be checked before
// exchange.ErrNoRoute: a lost route matches both.
func isShortage(err error) bool {
	return errors.Is(err, exchange.ErrCutOff) || errors.Is(err, exchange.ErrShortage) || errors.Is(err, exchange.ErrNoFlow)
}

// wholeSeconds rounds up, to at least 1.
func wholeSeconds(d time.Duration) int {
	return max(1, int((d+time.Second-1)/time.Second))
}

// holder is on whose behalf a job runs: the keyed hashes of the client, of the network around it and of its place, each
// empty if the gateway sent none.
type holder [len(shares)]string

// shares are the parts of the slots that one of each of a holder's names may have.
var shares = [...]struct {
	limit Limit
	of    func(slots int) int
}{
	{LimitClient, workerapi.ClientShare},
	{LimitGroup, workerapi.GroupShare},
	{LimitPlace, workerapi.PlaceShare},
}

// taken is the slot of a running job.
type taken struct {
	holder
	end time.Time // as is to be expected
}

// inflight bounds how many jobs run at once, in all and of one client, group or place. A job over the bound is refused
// at once; nothing queues.
type inflight struct {
	mu      sync.Mutex
	limit   int
	next    int
	running map[int]taken
	held    [len(shares)]map[string]int // how many of the running jobs are each one's
}

func newInflight(limit int) *inflight {
	f := &inflight{limit: limit, running: map[int]taken{}}
	for i := range f.held {
		f.held[i] = map[string]int{}
	}
	return f
}

// take returns a slot for a job that usually takes at most a while. Without a free one the error is a *busyError: a
// client over its share is refused even where slots are free.
func (f *inflight) take(now time.Time, usual time.Duration, who holder) (slot int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, share := range shares {
		if name := who[i]; name != "" && f.held[i][name] >= share.of(f.limit) {
			return 0, f.refuse(now, share.limit, func(t taken) bool { return t.holder[i] == name })
		}
	}
	if len(f.running) >= f.limit {
		return 0, f.refuse(now, LimitSlots, func(taken) bool { return true })
	}
	f.next++
	f.running[f.next] = taken{who, now.Add(usual)}
	f.count(who, 1)
	return f.next, nil
}

// refuse returns the refusal with the time in which the first of the jobs in the way should have ended.
func (f *inflight) refuse(now time.Time, limit Limit, inTheWay func(taken) bool) *busyError {
	var first time.Time
	for _, t := range f.running {
		if inTheWay(t) && (first.IsZero() || t.end.Before(first)) {
			first = t.end
		}
	}
	return &busyError{free: first.Sub(now), limit: limit}
}

func (f *inflight) leave(slot int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count(f.running[slot].holder, -1)
	delete(f.running, slot)
}

// count keeps no entry for names without slots.
func (f *inflight) count(who holder, n int) {
	for i, name := range who {
		if f.held[i][name] += n; name == "" || f.held[i][name] <= 0 {
			delete(f.held[i], name)
		}
	}
}

func (f *inflight) inUse() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.running)
}
