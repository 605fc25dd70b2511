package httpapi

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"diagnostics/worker/internal/echo"
)

// job makes the route of one kind of job. limit is how long such a job takes at most by itself.
func job[T any](s *Server, limit time.Duration, run func(context.Context, netip.Addr) (T, error)) func(*exchange) {
	flights := &flights[T]{
		limit: s.config.JobLimit, run: run, places: s.places, atMost: limit, all: map[netip.Addr]*flight[T]{},
	}
	return func(x *exchange) {
		if refused := x.readJob(); refused != nil {
			x.fail(refused.status, refused.sentence)
			return
		}
		f, free, ok := flights.join(time.Now(), x.target)
		if !ok {
			x.w.Header().Set("Retry-After", strconv.Itoa(wholeSeconds(free)))
			x.fail(http.StatusTooManyRequests, "Every place of this worker is taken.")
			return
		}
		defer flights.leave(x.target, f)
		select {
		case <-f.done:
		case <-x.r.Context().Done():
			x.failJob(x.r.Context().Err())
			return
		}
		switch {
		case f.panic != nil:
			panic(f.panic)
		case f.err != nil:
			x.failJob(f.err)
		default:
			succeed(x, f.result)
		}
	}
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
		x.fail(http.StatusBadGateway, "This worker has no "+familyName(x.target)+" connection to the target.")
	case errors.Is(err, echo.ErrForbidden):
		x.fail(http.StatusBadGateway, "A rule of the worker's own host forbids probes to the target.")
	default:
		x.fail(http.StatusBadGateway, "The worker could not send its probes.")
	}
}

func familyName(a netip.Addr) string {
	if a.Is4() {
		return "IPv4"
	}
	return "IPv6"
}

// wholeSeconds rounds up, to at least 1.
func wholeSeconds(d time.Duration) int {
	return max(1, int((d+time.Second-1)/time.Second))
}
