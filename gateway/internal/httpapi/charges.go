package httpapi

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/egress/budget/memory"
	"diagnostics/gateway/internal/egress/budget/processor"
	"diagnostics/gateway/internal/egress/budget/traffic"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/limits/addresslimit"
	"diagnostics/gateway/internal/limits/holder"
	"diagnostics/gateway/internal/limits/ratelimit"
	"diagnostics/gateway/internal/limits/requests"
	"diagnostics/gateway/internal/tool"

	"github.com/labstack/echo/v4"
)

// charge makes the charges of a run, in the order of limits/README.md: first what it takes before it begins, each of
// which may refuse it, then, by the context that it returns, what the run is charged as it proceeds. What has to be
// given back is given back with the answer.
func (s *Server) charge(
	c echo.Context, rc *requestContext, slug, target string, port uint16,
) (context.Context, *charged, error) {
	ctx := c.Request().Context()
	if err := s.admit(rc); err != nil {
		return nil, nil, err
	}

	decision, err := s.requests.AllowRun(ctx, rc.client, slug, target, port) // step 9
	s.decided(c, decision)
	s.config.Metrics.listed(s.requests.ClientLimit(rc.client).Label, err == nil)
	if err != nil {
		return nil, nil, err
	}
	release, err := s.slots.Acquire(rc.client.Holders()) // step 10
	if err != nil {
		return nil, nil, err
	}
	rc.hold(release)

	run := &charged{rc: rc, extra: s.requests.Extra(rc.client, target)}
	ctx, run.end = context.WithCancelCause(tool.WithCaller(ctx, rc.caller()))
	ctx, run.addresses = addresslimit.Begin(ctx)                       // every address that is dialled
	ctx = tool.WithCharge(ctx, run.extra.Allow)                        // further requests to the target
	ctx = traffic.WithMeter(ctx, s.config.Metrics.trafficOf(c.Path())) // bytes sent and received
	ctx = memory.WithCounter(ctx, func(bytes int) {                    // bytes held
		if err := rc.memory.Grow(bytes); err != nil {
			run.end(err)
		}
	})
	ctx = processor.WithMeter(ctx, run.end) // processor time
	return certs.WithMemory(ctx, processor.Of(ctx).Take), run, nil
}

// lendMemory begins to count what a request holds for others than before.
func (s *Server) lendMemory(rc *requestContext, of holder.List) {
	if rc.memory != nil {
		rc.memory.Release()
	}
	rc.memory = s.memory.Acquire(of)
	rc.hold(rc.memory.Release)
}

// charged is what a run is charged as it proceeds.
type charged struct {
	rc        *requestContext
	extra     *requests.ExtraCharge
	addresses *addresslimit.Run
	// end ends the run. It is called with the refusal of a limit, and with nil after the run.
	end context.CancelCauseFunc
}

// refused returns the limits that have refused a step of the run.
func (r *charged) refused() []fault.Rule {
	refused := r.addresses.Refused()
	if r.extra.Refused() {
		refused = append(refused, fault.LimitTarget)
	}
	return refused
}

// chargeSample makes the charges of one sample of the connection routes, which takes no slot.
func (s *Server) chargeSample(c echo.Context, rc *requestContext) error {
	if err := s.admit(rc); err != nil {
		return err
	}
	decision, err := s.requests.AllowSample(c.Request().Context(), rc.client)
	s.decided(c, decision)
	return err
}

// decided keeps a decision of the rate limits, and sets its three headers, which stay on whatever answer follows. With
// every limit off there are none.
func (s *Server) decided(c echo.Context, d ratelimit.Decision) {
	contextOf(c).limit = d
	if d.Limit == 0 {
		return
	}
	h := c.Response().Header()
	reset := float64(s.config.Now().Add(d.ResetAfter).UnixNano()) / float64(time.Second)
	set(h, "X-Ratelimit-Limit", strconv.Itoa(d.Limit))
	set(h, "X-Ratelimit-Remaining", strconv.Itoa(max(0, d.Remaining)))
	set(h, "X-Ratelimit-Reset", strconv.FormatInt(int64(math.Ceil(reset)), 10))
}

// set is h.Set for a name that is in the canonical form.
func set(h http.Header, name, value string) { h[name] = []string{value} }
