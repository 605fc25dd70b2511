package rdap

import (
	"context"
	"testing"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/upstream"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
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
			if got := outcomeOf(t.Context(), answer, nil); got != want {
				t.Errorf("%d, %v: %s, want %s", answer.Status, answer.BodyErr, got, want)
			}
		}
	}
	if got := outcomeOf(t.Context(), nil, context.DeadlineExceeded); got != upstream.Timeout {
		t.Errorf("no answer: %s", got)
	}
}

func TestTheRedirectorIsAProviderOfItsOwn(t *testing.T) {
	t.Parallel()
	base, err := target.ParseOperatorURL(DefaultBase)
	if err != nil {
		t.Fatal(err)
	}
	c := &Client{base: base}
	for text, want := range map[string]upstream.Provider{
		"https://rdap.org/domain/example.com": upstream.Redirector, "https://rdap.verisign.com/com/v1/": upstream.RDAP,
	} {
		u, err := target.ParseURL(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.provider(u); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
