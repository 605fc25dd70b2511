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

func newRequestContext(w http.ResponseWriter, r *http.Request) *requestContext {
	return &requestContext{w: w, r: r, start: time.Now(), id: uuid.NewString()}
}

// adopt takes over the caller's request id if it is a UUID in its canonical form, so that both logs tell one story.
func (x *requestContext) adopt(id string) {
	if len(id) != len(x.id) {
		return
	}
	if u, err := uuid.Parse(id); err == nil {
		x.id = u.String()
	}
}

// readsOnly answers every method but GET and HEAD with 405.
func (x *requestContext) readsOnly() bool {
	if x.r.Method == http.MethodGet || x.r.Method == http.MethodHead {
		return true
	}
	x.w.Header().Set("Allow", "GET, HEAD")
	x.fail(http.StatusMethodNotAllowed, "Use GET.")
	return false
}

// fail answers with an error sentence.
func (x *requestContext) fail(status int, sentence string) {
	x.writeJSON(status, workerapi.Envelope[struct{}]{
		Error: sentence, DurationMs: ms(time.Since(x.start)), RequestID: x.id,
	})
}

// succeed answers with a job's result.
func succeed[T any](x *requestContext, data T) {
	x.writeJSON(http.StatusOK, workerapi.Envelope[T]{
		Data: &data, DurationMs: ms(time.Since(x.start)), RequestID: x.id,
	})
}

// ErrLeaving is the cause with which main ends the jobs that are left where SHUTDOWN_TIMEOUT is almost over.
var ErrLeaving = errors.New("this worker is leaving")

// leave ends a request whose client is gone.
func (x *requestContext) leave() { x.status, x.written = statusClientGone, true }

func (x *requestContext) writeJSON(status int, body any) {
	b, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	x.write(status, "application/json", b)
}

// write writes the answer. The first one stands: after it there is nothing left to say.
func (x *requestContext) write(status int, mediaType string, body []byte) {
	if x.written {
		return
	}
	x.written, x.status = true, status
	if x.stream {
		x.lastLine(status, body)
		return
	}
	x.header(mediaType)
	x.w.WriteHeader(status)
	// An error here is the client's connection, which has nobody left to be told.
	_, _ = x.w.Write(body)
}

func (x *requestContext) header(mediaType string) {
	h := x.w.Header()
	h.Set("Content-Type", mediaType)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Request-Id", x.id)
}

// ms gives a duration in milliseconds, to the microsecond.
func ms(d time.Duration) float64 { return math.Round(float64(d)/1e3) / 1e3 }
