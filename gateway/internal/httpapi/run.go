package httpapi

import (
	"context"
	"errors"
	"strings"

	"diagnostics/gateway/internal/addresslimit"
	"diagnostics/gateway/internal/certcheck"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/memory"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/traffic"

	"github.com/labstack/echo/v4"
)

// runTool is steps 3 to 13 of CONTRACT.md section 3, in their order: nothing is counted before step 9, and nothing is
// sent before step 11.
func (s *Server) runTool(t tool.Tool) func(echo.Context, *exchange) (any, error) {
	return func(c echo.Context, x *exchange) (any, error) {
		job, err := s.admit(c, x, t)
		if err != nil {
			return nil, err
		}
		ctx, visits := addresslimit.Begin(c.Request().Context())
		began := s.processor.begin()
		defer func() { s.config.Metrics.cost(t.Slug(), s.processor.end(began)) }()
		more := s.surchargeOf(job.LimitKey())
		data, err := s.run(tool.WithCharge(ctx, more.take), x, job)
		if d, tells := more.tells(x.limit); tells {
			s.tell(c.Response().Header(), d)
		}
		if visits.Refused() || more.refused() {
			s.config.Metrics.limited.WithLabelValues(label(c)).Inc()
		}
		return data, err
	}
}

// admit is steps 3 to 10: a job that may run has its place.
func (s *Server) admit(c echo.Context, x *exchange, t tool.Tool) (tool.Job, error) {
	job, err := s.parse(c, x, t)
	if err != nil {
		return tool.Job{}, err
	}
	if err := s.enabled(t); err != nil {
		return tool.Job{}, err
	}
	if err := s.charge(c, s.runStages(x.client, t.Slug(), job.LimitKey())); err != nil {
		return tool.Job{}, err
	}
	release, err := s.places.take(x.client)
	if err != nil {
		return tool.Job{}, err
	}
	x.hold(release)
	s.audited(x, t, job)
	return job, nil
}

// parse is steps 3 to 7: from bytes to a job, without a packet.
func (s *Server) parse(c echo.Context, x *exchange, t tool.Tool) (tool.Job, error) {
	body, err := readBody(c)
	if err != nil {
		return tool.Job{}, err
	}
	text, options, err := decodeBody(body)
	if err != nil {
		return tool.Job{}, err
	}
	x.keepPrivate(text, options)
	if text, err = tool.CleanInput(text); err != nil {
		return tool.Job{}, err
	}
	job, err := t.Parse(tool.Input{Text: text, Options: options, Visitor: x.client.Visitor()})
	if err != nil {
		return tool.Job{}, err
	}
	x.private = append(x.private, job.LimitKey(), job.DenyKey())
	if s.config.Deny.DeniesKey(job.DenyKey()) {
		return tool.Job{}, fault.New(fault.Refused, "The operator of this service does not allow this target.")
	}
	return job, nil
}

// enabled is step 8.
func (s *Server) enabled(t tool.Tool) error {
	switch {
	case s.disabled[t.Slug()]:
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
func (s *Server) run(ctx context.Context, x *exchange, job tool.Job) (any, error) {
	s.config.Metrics.inFlight.Inc()
	defer s.config.Metrics.inFlight.Dec()
	held := s.holdingOf(x)
	var bounded *runContext
	counted := memory.WithCounter(tool.WithCaller(ctx, x.caller()), func(bytes int) {
		if err := held.grow(bytes); err != nil {
			bounded.end(err)
		}
	})
	bounded = newRunContext(certcheck.WithMemory(traffic.WithMeter(counted)), s.config.RunLimit)
	defer bounded.end(nil)
	data, err := job.Run(bounded)
	var full *fault.Error
	if errors.As(bounded.Cause(), &full) {
		// Whatever the tool made of its end: it held too much.
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
func (x *exchange) keepPrivate(text string, options tool.Options) {
	x.private = append(x.private, text)
	for name := range options {
		if value, _, err := options.String(name); err == nil {
			x.private = append(x.private, value)
		}
	}
	if _, query, found := strings.Cut(text, "?"); found {
		query, _, _ = strings.Cut(query, "#")
		x.private = append(x.private, query)
	}
}

// caller is on whose behalf the run is made.
func (x *exchange) caller() tool.Caller {
	c := tool.Caller{RequestID: x.id, Client: x.client.LimitKey()}
	if networks := x.client.Networks(); len(networks) > 0 {
		c.Network = networks[len(networks)-1].Key
	}
	return c
}
