package emaildnshealth

import (
	"testing"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/gateway/internal/egress/budget/traffic"
	"diagnostics/gateway/internal/egress/egresstest"

	"github.com/miekg/dns"
)

// Queries beside the checks stop where the run has sent half of what it may, and what the check is for goes on.
func TestAsideLeavesRoomForTheRecords(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	ctx := traffic.WithMeter(t.Context(), new(traffic.Totals))
	r := newResolver(n.Client(nil))
	a := r.aside(10)
	if answer := a.ask(ctx, "a.example.com", dns.TypeTXT); mail.Failure(answer.err) != nil {
		t.Errorf("at first: %v", answer.err)
	}
	for traffic.Room(ctx, asideSpare) == nil {
		traffic.Dialled(ctx)
	}
	failure := mail.Failure(a.ask(ctx, "b.example.com", dns.TypeTXT).err)
	if failure == nil || failure.Code != mail.CodeBound || n.QueriesFor("b.example.com", dns.TypeTXT) != 0 {
		t.Errorf("later: %v, want %s", failure, mail.CodeBound)
	}
	if answer := r.ask(ctx, "b.example.com", dns.TypeTXT); mail.Failure(answer.err) != nil {
		t.Errorf("a record: %v", answer.err)
	}
}
