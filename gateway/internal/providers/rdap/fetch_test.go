package rdap

import (
	"context"
	"testing"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/upstream"
	"diagnostics/gateway/internal/fault"
)

func TestOutcomesOfRequests(t *testing.T) {
	t.Parallel()
	for want, answers := range map[upstream.Outcome][]*egress.Response{
		upstream.OK:       {{Status: 200}, {Status: 302}},
		upstream.NotFound: {{Status: 404}},
		upstream.Limited:  {{Status: 429}},
		upstream.Failed: {{Status: 500}, {Status: 403},
			{Status: 200, BodyErr: fault.New(fault.Upstream, "ASN_FAILED", nil)}},
		upstream.Timeout:  {{Status: 200, BodyErr: fault.New(fault.Timeout, "ASN_FAILED", nil)}},
		upstream.OwnFault: {{Status: 200, BodyErr: fault.New(fault.Busy, "ASN_FAILED", nil)}},
	} {
		for _, answer := range answers {
			if got := outcomeOf(t.Context(), answer, answer.Status == 429, nil); got != want {
				t.Errorf("%d, %v: %s, want %s", answer.Status, answer.BodyErr, got, want)
			}
		}
	}
	if got := outcomeOf(t.Context(), nil, false, context.DeadlineExceeded); got != upstream.Timeout {
		t.Errorf("no answer: %s", got)
	}
}
