package httpapi

import (
	"context"
	"errors"
	"slices"
	"strings"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/egress/budget/memory"
	"diagnostics/gateway/internal/egress/budget/traffic"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/httpapi/audit"
	"diagnostics/gateway/internal/limits/addresslimit"
	"diagnostics/gateway/internal/limits/ratelimit"
	"diagnostics/gateway/internal/tool"
	"diagnostics/shared/progress"

	"github.com/labstack/echo/v4"
)

// runTool is steps 3 to 13 of docs/contract.md#the-order-of-checks, in their order: nothing is counted before step 9,
// and nothing is sent before step 11.
func (s *Server) runTool(t tool.Tool) echo.HandlerFunc {
	return s.requireOwnOrigin(func(c echo.Context, rc *requestContext) error {
		job, err := s.admit(c, rc, t)
		if err != nil {
			return err
		}
		if progress.Wanted(c.Request().Header["Accept"]) {
			return s.stream(c, rc, t, job)
		}
		end := s.measure(c.Request().Context(), rc, c.Path(), job)
		s.reportLimits(c, end)
		if end.err != nil {
			return end.err
		}
		return s.succeed(c, end.data)
	})
}

// runEnd is what a run ended with.
type runEnd struct {
	data any
	err  error
	// limit is what the headers are to tell of the limits, where the run was charged for more; tells is false elsewhere.
	limit ratelimit.Decision
	tells bool
	// refused are the limits that have refused a step of the run.
	refused []fault.Rule
}

// measure runs a job, and counts what it costs.
func (s *Server) measure(ctx context.Context, rc *requestContext, path string, job tool.Job) runEnd {
	ctx, visits := addresslimit.Begin(ctx)
	more := s.surchargeOf(job.LimitKey())
	data, err := s.run(tool.WithCharge(traffic.WithMeter(ctx, s.config.Metrics.trafficOf(path)), more.take), rc, job)
	end := runEnd{data: data, err: err, refused: visits.Refused()}
	if more.refused() {
		end.refused = append(end.refused, fault.LimitTarget)
	}
	end.limit, end.tells = more.tells(rc.limit)
	return end
}

// reportLimits tells what the limits made of a run, in headers and metrics.
func (s *Server) reportLimits(c echo.Context, end runEnd) {
	if end.tells && !c.Response().Committed {
		s.setLimitHeaders(c.Response().Header(), end.limit)
	}
	for _, limit := range end.refused {
		s.config.Metrics.refusedBy(c.Path(), limit)
	}
}

// admit is steps 3 to 10: a job that may run has its slot.
func (s *Server) admit(c echo.Context, rc *requestContext, t tool.Tool) (tool.Job, error) {
	job, err := s.parse(c, rc, t)
	if err != nil {
		s.config.Metrics.guarded(err)
		return tool.Job{}, err
	}
	if err := s.enabled(t); err != nil {
		return tool.Job{}, err
	}
	if err := s.charge(c, s.runStages(rc.client, t.Slug(), job.LimitKey())); err != nil {
		return tool.Job{}, err
	}
	release, err := s.inflight.take(rc.client)
	if err != nil {
		return tool.Job{}, err
	}
	rc.hold(release)
	s.audited(rc, t, job)
	return job, nil
}

// audited tells the auditor, where there is one.
func (s *Server) audited(rc *requestContext, t tool.Tool, job tool.Job) {
	if s.config.Audit == nil {
		return
	}
	client := "unknown"
	if a := rc.client.Addr(); a.IsValid() {
		client = a.String()
	}
	s.config.Audit.RunBegan(audit.Run{
		Time: s.config.Now(), Client: client, Tool: t.Slug(), Host: job.LimitKey(), RequestID: rc.id,
	})
}

// parse is steps 3 to 7: from bytes to a job, without a packet.
func (s *Server) parse(c echo.Context, rc *requestContext, t tool.Tool) (tool.Job, error) {
	body, err := readBody(c)
	if err != nil {
		return tool.Job{}, err
	}
	text, options, err := decodeBody(body)
	if err != nil {
		return tool.Job{}, err
	}
	rc.keepPrivate(text, options)
	if text, err = tool.CleanInput(text); err != nil {
		return tool.Job{}, err
	}
	job, err := t.Parse(tool.Input{Text: text, Options: options, Visitor: rc.client.Visitor()})
	if err != nil {
		return tool.Job{}, err
	}
	rc.private = append(rc.private, job.LimitKey(), job.DenyKey())
	if s.config.Deny.DeniesKey(job.DenyKey()) {
		return tool.Job{}, fault.New(fault.Refused, "The operator of this service does not allow this target.").
			ByRule(fault.RuleDenied)
	}
	return job, nil
}

// enabled is step 8.
func (s *Server) enabled(t tool.Tool) error {
	switch {
	case slices.Contains(s.config.Disabled, t.Slug()):
		return fault.New(fault.NotEnabled, "This tool is switched off on this service.")
	case t.NeedsWorker() && !s.config.WorkerEnabled:
		return fault.New(fault.NotEnabled,
			"This tool needs the diagnostics worker, which is not enabled on this service. "+
				"The browser's ping and packet-loss tools work without it.")
	}
	return nil
}

// run is steps 11 to 13. The run ends with its time, when the client goes away, or when it holds too much. All that it
// sends and draws counts together.
func (s *Server) run(ctx context.Context, rc *requestContext, job tool.Job) (any, error) {
	s.config.Metrics.inFlight.Inc()
	defer s.config.Metrics.inFlight.Dec()
	held := s.holdingOf(rc)
	ended, end := context.WithCancelCause(tool.WithCaller(ctx, rc.caller()))
	defer end(nil)
	counted := memory.WithCounter(ended, func(bytes int) {
		if err := held.grow(bytes); err != nil {
			end(err)
		}
	})
	bounded, cancel := context.WithTimeout(certs.WithMemory(counted), s.config.RunLimit)
	defer cancel()
	data, err := job.Run(bounded)
	if full, is := errors.AsType[*fault.Error](context.Cause(ended)); is {
		// The run held too much, whatever error the tool returns.
		return nil, full
	}
	outOfTime := ctx.Err() == nil && errors.Is(bounded.Err(), context.DeadlineExceeded)
	if outOfTime && errors.Is(err, context.Canceled) {
		// Something inside gave up because the run's time was over, and called it cancelled.
		return nil, context.DeadlineExceeded
	}
	return data, err
}

// keepPrivate remembers what no log may repeat: the input, its query, which survives canonicalisation, and the options.
// The host in its canonical spelling comes with the job.
func (rc *requestContext) keepPrivate(text string, options tool.Options) {
	rc.private = append(rc.private, text)
	for name := range options {
		if value, _, err := options.String(name, "text"); err == nil {
			rc.private = append(rc.private, value)
		}
	}
	if _, query, found := strings.Cut(text, "?"); found {
		query, _, _ = strings.Cut(query, "#")
		rc.private = append(rc.private, query)
	}
}

// caller is on whose behalf the run is made.
func (rc *requestContext) caller() tool.Caller {
	c := tool.Caller{RequestID: rc.id, Client: rc.client.LimitKey()}
	if networks := rc.client.Networks(); len(networks) > 0 {
		c.Network = networks[len(networks)-1].Key
	}
	return c
}
