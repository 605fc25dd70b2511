package uptime

import (
	"context"
	"sync"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/webview"
	"diagnostics/shared/parallel"
	"diagnostics/shared/progress"
)

// soFar is what can be concluded before the end of a run that takes long. All families share one.
type soFar struct {
	host string

	mu       sync.Mutex
	late     bool
	status   string // of the first answer, empty for none
	reported string // the code of the last conclusion
}

// due reports what is known, and what becomes known from now on.
func (s *soFar) due(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.late = true
	s.report(ctx)
}

// answered notes an answer of the site itself.
func (s *soFar) answered(ctx context.Context, r *egress.Response) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status == "" {
		s.status = webview.Answered(r.Status, r.StatusText)
	}
	if s.late {
		s.report(ctx)
	}
}

// report words and sends the conclusion apart: the goroutine of the run still has to wait, on a small stack.
func (s *soFar) report(ctx context.Context) {
	if progress.Of(ctx) == nil {
		return
	}
	code, args := codeSilent, finding.Args{"host": s.host}
	if s.status != "" {
		code, args["answer"] = codeAnswers, s.status
	}
	if code == s.reported {
		return
	}
	s.reported = code
	parallel.Apart(func() { progress.Report(ctx, "conclusion", "", rows.Conclude(code, args)) })
}
