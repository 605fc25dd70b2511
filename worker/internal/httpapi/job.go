package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"diagnostics/shared/flight"
	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/echo"
)

// sharedFor is how long after its start a job still serves those who ask the same.
const sharedFor = 3 * time.Second

// busyError is that every place is taken.
type busyError struct {
	free time.Duration // until the first of them is expected to be
}

func (e *busyError) Error() string { return fmt.Sprintf("every place is taken for %v", e.free) }

// job makes the route of one kind of job. limit is how long such a job takes at most by itself.
func job[T any](s *Server, limit time.Duration, run func(context.Context, netip.Addr) (T, error)) func(*exchange) {
	// By address alone, which tells its family too.
	jobs := &flight.Group[netip.Addr, T]{Keep: sharedFor}
	return func(x *exchange) {
		if refused := x.readJob(); refused != nil {
			x.fail(refused.status, refused.sentence)
			return
		}
		result, err := jobs.Do(x.r.Context(), x.target, func(ctx context.Context) (T, error) {
			return inPlace(ctx, s, limit, func(ctx context.Context) (T, error) { return run(ctx, x.target) })
		})
		var busy *busyError
		switch {
		case errors.As(err, &busy):
			x.w.Header().Set("Retry-After", strconv.Itoa(wholeSeconds(busy.free)))
			x.fail(http.StatusTooManyRequests, "Every place of this worker is taken.")
		case err != nil:
			x.failJob(err)
		default:
			succeed(x, result)
		}
	}
}

// inPlace runs a job in a place of its own, within the bound from outside. Without a free place the error is a
// *busyError.
func inPlace[T any](
	ctx context.Context, s *Server, limit time.Duration, run func(context.Context) (T, error),
) (T, error) {
	place, free, ok := s.places.take(time.Now(), limit)
	if !ok {
		var none T
		return none, &busyError{free}
	}
	defer s.places.leave(place)
	ctx, cancel := context.WithTimeout(ctx, s.config.JobLimit)
	defer cancel()
	return run(ctx)
}

// failJob answers for a job that could not be done.
func (x *exchange) failJob(err error) {
	x.cause = err
	switch {
	case x.r.Context().Err() != nil:
		x.leave()
	case errors.Is(err, context.DeadlineExceeded):
		x.fail(http.StatusGatewayTimeout, "The measurement did not end in time.")
	case errors.Is(err, echo.ErrFamily), errors.Is(err, echo.ErrNoRoute):
		x.fail(http.StatusBadGateway, "This worker has no "+workerapi.FamilyName(x.target)+" connection to the target.")
	case errors.Is(err, echo.ErrForbidden):
		x.fail(http.StatusBadGateway, "A rule of the worker's own host forbids probes to the target.")
	default:
		x.fail(http.StatusBadGateway, "The worker could not send its probes.")
	}
}

// wholeSeconds rounds up, to at least 1.
func wholeSeconds(d time.Duration) int {
	return max(1, int((d+time.Second-1)/time.Second))
}
