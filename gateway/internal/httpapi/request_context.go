package httpapi

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"diagnostics/gateway/internal/clientip"
	"diagnostics/gateway/internal/conns"
	"diagnostics/gateway/internal/limits/ratelimit"
	"diagnostics/gateway/internal/limits/shares"
	"diagnostics/gateway/internal/remote/places"
	"diagnostics/shared/parallel"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

const requestContextKey = "request"

// requestContext is one request and what becomes of it.
type requestContext struct {
	id      string
	start   time.Time
	from    from
	client  clientip.Identity
	outcome outcome
	// began is true once a run of a tool has passed the limits.
	began bool
	// cut ends the connection without an answer, or in the middle of one.
	cut bool
	// held are what the request gives back when its answer is written, or its reader is cut off.
	held []func()
	// memory is the bytes that the request holds.
	memory *shares.MemoryLease
	// limit is what the rate limits decided at step 9.
	limit ratelimit.Decision
	// stream is set where the answer is a stream.
	stream *stream
	// private are what the visitor typed, which no line of the log may repeat.
	private []string
	// place is where a tool ran, nil where places have no IDs.
	place *places.Place
	// budget is what another place allows the run, 0 where it has no say.
	budget time.Duration
}

func contextOf(c echo.Context) *requestContext { return c.Get(requestContextKey).(*requestContext) }

// durationMs is the time since the request came, in milliseconds with fractions.
func (rc *requestContext) durationMs(now time.Time) float64 {
	return float64(now.Sub(rc.start).Microseconds()) / 1000
}

// hold keeps something until the answer is written.
func (rc *requestContext) hold(release func()) { rc.held = append(rc.held, release) }

// releaseHeld gives back what was held.
func (rc *requestContext) releaseHeld() {
	for _, release := range rc.held {
		release()
	}
	rc.held = nil
}

// observe surrounds every request: its id, who sent it, the line in the log, and the answer to a panic.
func (s *Server) observe(door from) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error { return s.observeOne(c, door, next) }
	}
}

func (s *Server) observeOne(c echo.Context, door from, next echo.HandlerFunc) error {
	r := c.Request()
	// Routes are matched on the decoded path: /%61pi/ is /api/ (RFC 3986 section 6.2.2.2). An encoded slash is not a
	// slash, though (section 2.2): decoded, it would lead past a proxy's rule for /api/.
	if r.URL.RawPath != "" && !strings.Contains(strings.ToLower(r.URL.RawPath), "%2f") {
		r.URL.RawPath = ""
	}
	rc := &requestContext{id: uuid.NewString(), start: s.config.Now(), from: door, outcome: outcomeOK}
	rc.client = s.identify(r, door)
	s.lendMemory(rc, rc.client.Holders())
	c.Set(requestContextKey, rc)
	h := c.Response().Header()
	set(h, "X-Request-Id", rc.id)
	h["X-Content-Type-Options"] = noSniff
	if isAPI(r) || door == fromPeer {
		h["Cache-Control"] = noStore
	}
	if endsConnection(r) {
		h.Set("Connection", "close")
	}
	c.Response().Before(func() {
		if s.draining.Load() { // so that no further request is sent on a connection that ends
			h.Set("Connection", "close")
		}
		if rc.stream == nil { // whose answer is not ready yet
			conns.Of(r.Context()).Answering(s.config.Bounds.AnswerLimit)
		}
	})
	if p := parallel.Catch(func() { s.answer(c, next) }); p != nil {
		s.recovered(c, rc, p)
	}
	rc.releaseHeld()
	s.observed(c, rc)
	if rc.cut {
		panic(http.ErrAbortHandler)
	}
	return nil
}

// Values of headers that are the same in all answers. Nothing writes into them.
var noSniff, noStore, jsonType = []string{"nosniff"}, []string{"no-store"}, []string{echo.MIMEApplicationJSON}

// answer hands the request to its route, and what comes of it to fail.
func (s *Server) answer(c echo.Context, next echo.HandlerFunc) {
	if countFields(c.Request().Header) > maxFields {
		// Each field takes many times its size in memory, for as long as the answer is read.
		c.Response().Header().Set("Connection", "close")
		s.fail(errManyFields, c)
		return
	}
	err := next(c)
	if errors.Is(err, echo.ErrNotFound) {
		err = s.unknown(c)
	}
	if err != nil {
		s.fail(err, c)
	}
}

func countFields(h http.Header) (n int) {
	for _, values := range h {
		n += len(values)
	}
	return n
}

// recovered answers a panic, wherever it began, unless an answer had begun: half an answer must not look complete.
func (s *Server) recovered(c echo.Context, rc *requestContext, p *parallel.Panic) {
	rc.cut = c.Response().Committed
	if rc.cut {
		s.explain(c, problemOf(p))
		return
	}
	s.fail(p, c)
}

// endsConnection reports whether the connection must end with this request's answer, because a proxy may take what
// follows on it for part of this request, or part of this request for what follows:
//
//   - Where a request in chunks carried a length too, net/http has forgotten that length, and of HTTP/1.0 its chunks.
//     RFC 9112 section 6.1 wants the connection closed in both cases. They cannot be distinguished from correct chunks
//     and correct HTTP/1.0, which are rare and lose little.
//   - CONNECT has no body, but proxies built on net/http forward the data of a client's HTTP/2 CONNECT after it,
//     unchanged (https://github.com/advisories/GHSA-3ccp-42pg-hgv6).
func endsConnection(r *http.Request) bool {
	return !r.ProtoAtLeast(1, 1) || len(r.TransferEncoding) > 0 || r.Method == http.MethodConnect
}
