package httpapi

import (
	"diagnostics/shared/cause"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"
)

// keptFailures is how many failed runs Failures lists.
const keptFailures = 100

// failedRun is a run that began and failed. It names no target.
type failedRun struct {
	Time       time.Time `json:"time"`
	Tool       string    `json:"tool"`
	Status     int       `json:"status"`
	Outcome    outcome   `json:"outcome"`
	Operation  string    `json:"operation,omitempty"`
	Code       string    `json:"code,omitempty"`
	DurationMs float64   `json:"durationMs"`
	RequestID  string    `json:"requestId"`
}

// failures are the last failed runs, the oldest first.
type failures struct {
	mu   sync.Mutex
	runs []failedRun
}

func (f *failures) add(rc *requestContext, slug string, p *problem, now time.Time) {
	run := failedRun{Time: now.UTC().Truncate(time.Millisecond), Tool: slug, Status: p.status, Outcome: p.outcome,
		DurationMs: rc.durationMs(now), RequestID: rc.id}
	if p.cause != nil {
		run.Operation, run.Code = cause.Of(p.cause)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.runs) == keptFailures {
		f.runs = slices.Delete(f.runs, 0, 1)
	}
	f.runs = append(f.runs, run)
}

// Failures answers with the last 100 runs that began and failed, the newest first, as a JSON list. It is for the
// private listener.
func (s *Server) Failures() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s.failures.mu.Lock()
		runs := slices.Clone(s.failures.runs)
		s.failures.mu.Unlock()
		slices.Reverse(runs)
		if runs == nil {
			runs = []failedRun{}
		}
		w.Header()["Content-Type"] = jsonType
		_ = json.NewEncoder(w).Encode(runs)
	})
}
