package httpapi

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"diagnostics/gateway/internal/remote/places"
	"diagnostics/shared/cause"
	"diagnostics/shared/redact"

	"github.com/labstack/echo/v4"
)

// observed writes the request's line. It holds only what we chose ourselves: known slugs, our own route patterns and
// ids, numbers and the client's network. Nothing that the client sent is in it.
func (s *Server) observed(c echo.Context, rc *requestContext) {
	status := c.Response().Status
	switch {
	case rc.stream != nil:
		status = rc.stream.status
	case rc.outcome == outcomeCanceled && !c.Response().Committed:
		status = 0 // no answer was sent
	}
	now := s.config.Now()
	elapsed := now.Sub(rc.start)
	s.config.Metrics.finished(rc.from, c.Path(), ending{status, rc.outcome}, elapsed)
	fields := proxyIDs(make([]slog.Attr, 0, 10), c, rc) // room for all of them, on the stack
	s.config.Log.LogAttrs(c.Request().Context(), s.level(c, rc), "request", append(fields,
		slog.String("method", methodName(c.Request().Method)),
		slog.String("route", route(c)),
		slog.String("slug", s.slugName(c)),
		slog.String("requestId", rc.id),
		slog.Int("status", status),
		slog.Float64("durationMs", float64(elapsed.Microseconds())/1000),
		slog.String("outcome", string(rc.outcome)),
		slog.String("client", rc.client.LogPrefix()),
	)...)
}

// The forms of what a trusted proxy may name a request by; traceparent is of W3C Trace Context, section 3.2.
var (
	proxyRequestID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)
	traceParent    = regexp.MustCompile(`^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`)
)

// proxyIDs adds the names that a trusted proxy has given the request. A client's own are not logged.
func proxyIDs(fields []slog.Attr, c echo.Context, rc *requestContext) []slog.Attr {
	if !rc.client.Trusted {
		return fields
	}
	h := c.Request().Header
	if id := h.Get("X-Request-Id"); proxyRequestID.MatchString(id) {
		fields = append(fields, slog.String("proxyRequestId", id))
	}
	if id := h.Get("Traceparent"); traceParent.MatchString(id) {
		fields = append(fields, slog.String("traceparent", id))
	}
	return fields
}

// level keeps the routine out of the way: probes of the platform and samples come many times a second.
func (s *Server) level(c echo.Context, rc *requestContext) slog.Level {
	if rc.outcome == outcomeInternal {
		return slog.LevelError
	}
	path := c.Path()
	probe := path == "/healthz" || path == "/readyz" || path == places.PathReady ||
		strings.HasPrefix(path, pathConnection)
	if rc.outcome == outcomeOK && probe {
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// explain notes how the request failed. Something unforeseen goes to the log with its text, out of which what the
// visitor typed is cut. Of a foreseen failure the log has at debug level what kind of error it was: its text may hold
// names and addresses, and what a stranger's server said.
func (s *Server) explain(c echo.Context, p *problem) {
	rc := contextOf(c)
	rc.outcome = p.outcome
	s.config.Metrics.refusedBy(rc.from, c.Path(), p.rule)
	if rc.began {
		s.failures.add(rc, s.slugName(c), p, s.config.Now())
	}
	if p.cause == nil {
		return
	}
	ctx := context.WithoutCancel(c.Request().Context())
	fields := []any{"requestId", rc.id, "route", route(c)}
	if p.outcome == outcomeInternal {
		s.config.Log.ErrorContext(ctx, "unforeseen error",
			append(fields, "error", redact.Message(p.cause, rc.withoutInput))...)
		return
	}
	if s.config.Log.Enabled(ctx, slog.LevelDebug) {
		s.config.Log.DebugContext(ctx, "request failed", append(fields, cause.Fields(p.cause)...)...)
	}
}

// withoutInput replaces the visitor's input where an error repeats it, as it came or in a spelling that libraries give
// it: a query may hold secrets. A short input goes where it is a word, or half of every message would be replaced.
func (rc *requestContext) withoutInput(message string) string {
	for _, part := range rc.private {
		if len(part) < 4 {
			message = withoutWord(message, part)
			continue
		}
		quoted := strconv.Quote(part)
		quoted = quoted[1 : len(quoted)-1]
		twice := strconv.Quote(quoted)
		for _, spelling := range []string{twice[1 : len(twice)-1], quoted, part, url.QueryEscape(part),
			url.PathEscape(part)} {
			message = strings.ReplaceAll(message, spelling, "[input]")
		}
	}
	return message
}

// withoutWord replaces a word where it stands alone. An empty one is none.
func withoutWord(message, word string) string {
	if word == "" {
		return message
	}
	var out strings.Builder
	done, at := 0, 0
	for {
		found := strings.Index(message[at:], word)
		if found < 0 {
			return out.String() + message[done:]
		}
		begin, end := at+found, at+found+len(word)
		if !alone(message, begin, end) {
			at = begin + 1
			continue
		}
		out.WriteString(message[done:begin] + "[input]")
		done, at = end, end
	}
}

// alone reports whether neither a letter nor a digit stands next to a part of a text.
func alone(text string, begin, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:begin])
	after, _ := utf8.DecodeRuneInString(text[end:])
	return !unicode.In(before, unicode.L, unicode.N) && !unicode.In(after, unicode.L, unicode.N)
}

// route is our own pattern, never the path that came.
func route(c echo.Context) string { return cmp.Or(c.Path(), "unmatched") }

// slugName names the tool where the request was about one that exists.
func (s *Server) slugName(c echo.Context) string {
	for _, prefix := range []string{pathTools, places.PathTools} {
		if slug, ok := strings.CutPrefix(c.Path(), prefix); ok {
			return slug
		}
	}
	if slug := c.Param("slug"); c.Path() == pathPage && s.known[slug] {
		return slug
	}
	return "unknown"
}

func methodName(m string) string {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions, http.MethodConnect, http.MethodTrace:
		return m
	}
	return "other"
}
