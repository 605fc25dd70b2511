package httpapi

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/httpapi/audit"
	"diagnostics/gateway/internal/tool"
	"diagnostics/shared/progress"

	"github.com/labstack/echo/v4"
)

// runTool is steps 3 to 13 of docs/contract.md#the-order-of-checks, in their order: nothing is counted before step 9,
// and nothing is sent before step 11.
func (s *Server) runTool(t tool.Tool) func(echo.Context, *requestContext) error {
	return func(c echo.Context, rc *requestContext) error {
		job, err := s.parse(c, rc, t)
		if err != nil {
			s.config.Metrics.guarded(err)
			return err
		}
		if err := s.enabled(t, rc); err != nil {
			return err
		}
		ctx, charged, err := s.charge(c, rc, t.Slug(), s.countedKey(job.LimitKey()), job.Port())
		if err != nil {
			return err
		}
		rc.began = true
		s.audited(rc, t, job)
		if progress.Wanted(c.Request().Header["Accept"]) {
			return s.stream(ctx, c, rc, charged, t, job)
		}
		data, err := s.run(ctx, charged, job)
		s.reportLimits(c, charged)
		if err != nil {
			return err
		}
		return s.succeed(c, data)
	}
}

// reportLimits reports what the limits made of a run, in headers and metrics. The headers are of the bucket with the
// least left.
func (s *Server) reportLimits(c echo.Context, run *charged) {
	if d, tighter := run.extra.Tighter(contextOf(c).limit); tighter && !c.Response().Committed {
		s.decided(c, d)
	}
	for _, limit := range run.refused() {
		s.config.Metrics.refusedBy(contextOf(c).from, c.Path(), limit)
	}
}

// audited reports the run to the auditor, where there is one.
func (s *Server) audited(rc *requestContext, t tool.Tool, job tool.Job) {
	if s.config.Audit == nil {
		return
	}
	client := "unknown"
	if a := rc.client.Addr(); rc.client.OfPlace() != "" {
		client = rc.client.LimitKey()
	} else if a.IsValid() {
		client = a.String()
	}
	s.config.Audit.RunBegan(audit.Run{
		Time: s.config.Now(), Client: client, Tool: t.Slug(), Host: job.LimitKey(), RequestID: rc.id,
	})
}

// parse is steps 3 to 7: from bytes to a job, without a packet.
func (s *Server) parse(c echo.Context, rc *requestContext, t tool.Tool) (tool.Job, error) {
	text, err := readBody(c, rc.from.maxBody())
	if err != nil {
		return tool.Job{}, err
	}
	b, err := decodeBody(text)
	if err != nil {
		return tool.Job{}, err
	}
	rc.keepPrivate(b.input, b.options)
	if rc.from == fromPeer {
		if err := s.takePeer(rc, b.fields); err != nil {
			return tool.Job{}, err
		}
	}
	if b.input, err = tool.CleanInput(b.input); err != nil {
		return tool.Job{}, err
	}
	elsewhere, err := s.choosePlace(rc, t, b.options)
	if err != nil {
		return tool.Job{}, err
	}
	job, err := t.Parse(tool.Input{Text: b.input, Options: b.options, Visitor: rc.client.Visitor()})
	if err != nil {
		return tool.Job{}, err
	}
	if elsewhere {
		// What that place sends is counted as its own: it must not fill the memory that runs here need.
		s.lendMemory(rc, rc.client.Holders().At(rc.place.ID))
		job = job.Elsewhere(s.runElsewhere(rc, t, job, b))
	}
	rc.private = append(rc.private, job.LimitKey(), job.DenyKey())
	if s.config.Deny.DeniesKey(job.DenyKey()) || s.config.Deny.DeniesKey(s.countedKey(job.DenyKey())) {
		return tool.Job{}, fault.New(fault.Refused, "TARGET_DENIED", nil).
			ByRule(fault.RuleDenied)
	}
	if s.config.OwnPlace != nil && s.config.OwnPlace(job.DenyKey()) {
		return tool.Job{}, fault.New(fault.Refused, "TARGET_IS_PART", nil).
			ByRule(fault.RuleOwnAddress)
	}
	return job, nil
}

func (s *Server) countedKey(key string) string {
	if s.config.CountedKey == nil {
		return key
	}
	return s.config.CountedKey(key)
}

// enabled is step 8. Whether another place has a worker is for that place to say.
func (s *Server) enabled(t tool.Tool, rc *requestContext) error {
	switch {
	case slices.Contains(s.config.Disabled, t.Slug()):
		return fault.New(fault.NotEnabled, "TOOL_OFF", nil)
	case t.NeedsWorker() && !s.config.WorkerEnabled && !s.isElsewhere(rc):
		return fault.New(fault.NotEnabled, "TOOL_NEEDS_WORKER", nil)
	}
	return nil
}

// run is steps 11 to 13. The run ends with its time, when the client leaves, or when it holds or costs too much.
func (s *Server) run(ctx context.Context, charged *charged, job tool.Job) (any, error) {
	s.config.Metrics.inFlight.Inc()
	defer s.config.Metrics.inFlight.Dec()
	defer charged.end(nil)
	bounded, cancel := context.WithTimeout(ctx, s.runLimit(charged.rc))
	defer cancel()
	began := time.Now()
	data, err := job.Run(bounded)
	if full, is := errors.AsType[*fault.Error](context.Cause(ctx)); is {
		// The run held or cost too much, whatever error the tool returns.
		return nil, full
	}
	outOfTime := ctx.Err() == nil && errors.Is(bounded.Err(), context.DeadlineExceeded)
	if outOfTime || fault.Is(err, fault.Timeout) || errors.Is(err, context.DeadlineExceeded) {
		if own := s.config.Delay.Fault(began, cmp.Or(err, bounded.Err())); own != nil {
			return nil, own
		}
	}
	if outOfTime && errors.Is(err, context.Canceled) {
		// Something inside gave up because the run's time was over, and called it cancelled.
		return nil, context.DeadlineExceeded
	}
	return data, err
}

// keepPrivate records what no log may repeat: the input, its query, which survives canonicalisation, and the options.
// The host in its canonical spelling comes with the job.
func (rc *requestContext) keepPrivate(text string, options tool.Options) {
	rc.private = append(rc.private, text)
	for name := range options {
		if value, _, err := (tool.Option{Name: name}).Text(options); err == nil {
			rc.private = append(rc.private, value)
		}
	}
	if _, query, found := strings.Cut(text, "?"); found {
		query, _, _ = strings.Cut(query, "#")
		rc.private = append(rc.private, query)
	}
}

// caller is the client on whose behalf the run is made.
func (rc *requestContext) caller() tool.Caller {
	c := tool.Caller{RequestID: rc.id, Client: rc.client.LimitKey(), Place: rc.client.OfPlace()}
	if networks := rc.client.Networks(); len(networks) > 0 {
		c.Network = networks[len(networks)-1].Key
	}
	return c
}
