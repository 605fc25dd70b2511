package httpapi

import (
	"diagnostics/gateway/internal/audit"
	"diagnostics/gateway/internal/tool"
)

// Auditor is told of every run that begins. It must not block, and must be safe for concurrent use.
type Auditor interface {
	RunBegan(audit.Run)
}

// audited tells the auditor, where there is one.
func (s *Server) audited(rc *requestContext, t tool.Tool, job tool.Job) {
	if s.config.Audit == nil {
		return
	}
	client := "unknown"
	if a := rc.client.Addr(); a.IsValid() {
		client = a.String()
	}
	s.config.Audit.RunBegan(audit.Run{
		Time: s.config.Now(), Client: client, Tool: t.Slug(), Host: job.LimitKey(), RequestID: rc.id,
	})
}
