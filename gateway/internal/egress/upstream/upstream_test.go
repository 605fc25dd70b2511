package upstream

import (
	"context"
	"errors"
	"testing"

	"diagnostics/gateway/internal/fault"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestOutcomeOf(t *testing.T) {
	t.Parallel()
	left, leave := context.WithCancel(t.Context())
	leave()
	late, stop := context.WithTimeout(t.Context(), 0)
	defer stop()
	for name, c := range map[string]struct {
		ctx  context.Context
		err  error
		want Outcome
	}{
		"ok":                  {t.Context(), nil, OK},
		"ok at the last":      {left, nil, OK},
		"left":                {left, fault.New(fault.Upstream, "ASN_FAILED", nil), Canceled},
		"canceled":            {t.Context(), context.Canceled, Canceled},
		"late":                {late, context.DeadlineExceeded, Timeout},
		"silent":              {t.Context(), fault.New(fault.Timeout, "ASN_FAILED", nil), Timeout},
		"failed":              {t.Context(), fault.New(fault.Upstream, "ASN_FAILED", nil), Failed},
		"refused":             {t.Context(), fault.New(fault.Refused, "ASN_FAILED", nil), Failed},
		"unknown":             {t.Context(), errors.New("x"), Failed},
		"shortage":            {t.Context(), fault.New(fault.Busy, "ASN_FAILED", nil), OwnFault},
		"own resolver":        {t.Context(), &fault.Error{Kind: fault.Upstream, Local: true}, OwnFault},
		"own silent resolver": {t.Context(), &fault.Error{Kind: fault.Timeout, Local: true}, OwnFault},
	} {
		if got := OutcomeOf(c.ctx, c.err); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
