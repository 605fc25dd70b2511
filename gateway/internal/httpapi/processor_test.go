package httpapi

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress/budget/processor"
	"diagnostics/gateway/internal/fault"
)

// A run that costs more than one may ends at once, and says so, whatever its tool makes of that: it is no fault of the
// target.
func TestARunThatCostsTooMuch(t *testing.T) {
	t.Parallel()
	e := newEdge(t, func(ctx context.Context, _ fakeTarget) (any, error) {
		for range 5 {
			if err := processor.Of(ctx).SpendTime(processor.Max / 5); err != nil {
				t.Error(err)
			}
		}
		if !fault.Is(processor.Of(ctx).SpendTime(time.Nanosecond), fault.Busy) {
			t.Error("there is no bound")
		}
		<-ctx.Done()
		return nil, fault.New(fault.Upstream, "ASN_FAILED", nil)
	}, trusting)
	a := e.post(t, "echo", `{"input":"x"}`, "X-Real-IP: 192.0.2.1")
	_, sentence := a.envelope(t, http.StatusServiceUnavailable)
	if a.Header.Get("Retry-After") != "1" || !strings.Contains(sentence, "more processor time than one check may") {
		t.Errorf("%v, %q", a.Header, sentence)
	}
	// Each run has a meter of its own.
	e = newEdge(t, func(ctx context.Context, _ fakeTarget) (any, error) {
		return map[string]bool{}, processor.Of(ctx).SpendTime(processor.Max)
	}, trusting)
	for range 2 {
		e.post(t, "echo", `{"input":"x"}`, "X-Real-IP: 192.0.2.1").envelope(t, http.StatusOK)
	}
}
