package httpapi

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"net/netip"
	"time"

	"diagnostics/shared/workerapi"

	"github.com/google/uuid"
)

// statusClientGone is logged for a job whose client left; no answer is written then.
const statusClientGone = 499

// requestContext is one request with its answer, and what the log says of them.
type requestContext struct {
	w       http.ResponseWriter
	r       *http.Request
	start   time.Time
	id      string
	status  int // of the answer; 0 until it is written
	written bool
	stream  bool // the answer has begun, line by line

	target netip.Addr
	holder holder // for inflight alone; never logged
	cause  error  // for the log and the metrics alone
	// refused is what was wrong with a request; nil for nothing. For the metrics alone.
	refused *refusal
}

// adopt takes over the caller's request id if it is a UUID in its canonical form, so that lines of both logs can be
// matched.
func (rc *requestContext) adopt(id string) {
	if len(id) != len(rc.id) {
		return
	}
	if u, err := uuid.Parse(id); err == nil {
		rc.id = u.String()
	}
}

// readsOnly reports whether the method is GET or HEAD, and answers every other with 405.
func (rc *requestContext) readsOnly() bool {
	if rc.r.Method == http.MethodGet || rc.r.Method == http.MethodHead {
		return true
	}
	rc.w.Header().Set("Allow", "GET, HEAD")
	rc.fail(http.StatusMethodNotAllowed, "Use GET.")
	return false
}

func (rc *requestContext) fail(status int, sentence string) {
	rc.writeJSON(status, workerapi.Envelope[struct{}]{
		Error: sentence, DurationMs: ms(time.Since(rc.start)), RequestID: rc.id,
	})
}

func succeed[T any](rc *requestContext, data T) {
	rc.writeJSON(http.StatusOK, workerapi.Envelope[T]{
		Data: &data, DurationMs: ms(time.Since(rc.start)), RequestID: rc.id,
	})
}

// ErrLeaving is the cause with which main ends the jobs that are left where SHUTDOWN_TIMEOUT is almost over.
var ErrLeaving = errors.New("this worker is leaving")

func (rc *requestContext) writeJSON(status int, body any) {
	b, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	rc.write(status, "application/json", b)
}

// write writes the answer. The first one stands: after it there is nothing left to say.
func (rc *requestContext) write(status int, mediaType string, body []byte) {
	if rc.written {
		return
	}
	rc.written, rc.status = true, status
	if rc.stream {
		rc.lastLine(status, body)
		return
	}
	rc.header(mediaType)
	rc.w.WriteHeader(status)
	// An error here is the client's connection, which has nobody left to be told.
	_, _ = rc.w.Write(body)
}

func (rc *requestContext) header(mediaType string) {
	h := rc.w.Header()
	h.Set("Content-Type", mediaType)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Request-Id", rc.id)
}

// ms gives a duration in milliseconds, to the microsecond.
func ms(d time.Duration) float64 { return math.Round(float64(d)/1e3) / 1e3 }
