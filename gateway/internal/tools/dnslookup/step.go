package dnslookup

import (
	"context"

	"diagnostics/gateway/internal/dnsclient"
	"diagnostics/gateway/internal/tools/internal/format"
	"diagnostics/shared/progress"

	"github.com/miekg/dns"
)

// typeStep is what was answered for one type, while others are awaited.
type typeStep struct {
	Type    string    `json:"type"`
	Records recordSet `json:"records"`
	Error   *string   `json:"error"`
}

func report(ctx context.Context, qtype uint16, answer *dnsclient.Answer) {
	if progress.Of(ctx) == nil || answer.Busy != nil || ctx.Err() != nil {
		return
	}
	step := typeStep{Type: dns.TypeToString[qtype], Error: format.TextOrNull(answer.Code)}
	values := step.Records.of(qtype)
	values.open()
	if answer.Code == "" {
		step.Records.add(answer.Records)
		values.sort()
	}
	progress.Report(ctx, "type", step.Type, step)
}
