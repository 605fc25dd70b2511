package workerclient

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress/shortage"
	"diagnostics/gateway/internal/fault"
	"diagnostics/shared/workerapi"
)

func TestOutcomesOfJobs(t *testing.T) {
	t.Parallel()
	left, leave := context.WithCancel(t.Context())
	leave()
	status := func(status int, why string) error {
		h := http.Header{}
		if why != "" {
			h.Set(workerapi.HeaderRefused, why)
		}
		return refusal(&http.Response{StatusCode: status, Header: h, Body: http.NoBody})
	}
	silent := &silenceError{cause: context.DeadlineExceeded}
	broken := &brokenOffError{cause: errors.New("x")}
	unreachable := &unreachableError{cause: errors.New("x")}
	for name, c := range map[string]struct {
		ctx  context.Context
		err  error
		want Outcome
	}{
		"ok":                        {t.Context(), nil, OutcomeOK},
		"left":                      {left, left.Err(), OutcomeCanceled},
		"busy":                      {t.Context(), status(429, ""), OutcomeBusy},
		"out of packets":            {t.Context(), status(429, workerapi.RefusedBudget), OutcomeBusy},
		"share":                     {t.Context(), status(429, workerapi.RefusedShare), OutcomeLimited},
		"shortage of the worker":    {t.Context(), status(503, workerapi.RefusedShortage), OutcomeShortage},
		"shortage of this host":     {t.Context(), shortage.Fault(nil), OutcomeShortage},
		"late":                      {t.Context(), status(504, ""), OutcomeTimeout},
		"silent":                    {t.Context(), classify(silent), OutcomeTimeout},
		"known to be silent":        {t.Context(), whileLost(silent), OutcomeTimeout},
		"unreachable":               {t.Context(), classify(unreachable), OutcomeLost},
		"known to be unreachable":   {t.Context(), whileLost(unreachable), OutcomeLost},
		"broken off":                {t.Context(), classify(broken), OutcomeLost},
		"another status":            {t.Context(), status(500, ""), OutcomeFailed},
		"the target is not taken":   {t.Context(), status(400, ""), OutcomeFailed},
		"an answer of another kind": {t.Context(), classify(errors.New("x")), OutcomeFailed},
		"a failure of another kind": {t.Context(), errors.New("x"), OutcomeFailed},
	} {
		got := outcomeOf(c.ctx, c.err)
		if got != c.want || !slices.Contains(Outcomes(), got) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		// A worker that fails is this service's own fault.
		var failed *fault.Error
		if errors.As(c.err, &failed) && (failed.Kind == fault.Upstream || failed.Kind == fault.Timeout) && !failed.Own {
			t.Errorf("%s: not this service's own", name)
		}
	}
}

// heard remembers what it is told.
type heard []string

func (h *heard) Asked(slug string, o Outcome, _ time.Duration) { *h = append(*h, slug+" "+string(o)) }

func TestObserverHearsTheTool(t *testing.T) {
	t.Parallel()
	h := &heard{}
	c := &Client{observer: h}
	for _, path := range []string{workerapi.PathTraceroute, workerapi.PathPing, workerapi.PathPacketLoss} {
		c.observe(t.Context(), path, time.Now(), nil)
	}
	if want := []string{"traceroute ok", "ping ok", "packet-loss ok"}; !slices.Equal(*h, want) ||
		!slices.Equal(Slugs(), []string{"traceroute", "ping", "packet-loss"}) {
		t.Errorf("heard %q", *h)
	}
}
