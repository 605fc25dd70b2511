package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"diagnostics/gateway/internal/conns"
	"diagnostics/shared/parallel"

	"github.com/labstack/echo/v4"
)

// success is the envelope of a result.
type success struct {
	Data       any     `json:"data"`
	DurationMs float64 `json:"durationMs"`
	RequestID  string  `json:"requestId"`
}

// failure is the envelope of an error: exactly these three keys, on every other answer under /api/.
type failure struct {
	Error      string  `json:"error"`
	DurationMs float64 `json:"durationMs"`
	RequestID  string  `json:"requestId"`
}

// succeed writes a result. It is encoded before the status is written, so that one that cannot be is still a clean 500.
func (s *Server) succeed(c echo.Context, data any) error {
	rc := contextOf(c)
	if canceled(c) {
		return context.Canceled
	}
	body, err := s.encode(c.Request().Context(), rc, data)
	if err != nil {
		return err
	}
	if len(body) >= leastZipped && zips(c, rc) {
		c.Response().Header().Set(echo.HeaderContentEncoding, gzipCoding)
		body = newZip().packLast(body)
	}
	return writeJSON(c, http.StatusOK, body)
}

// encode returns a result in its envelope, which is all that the request holds from then on. Every tool bounds its
// result; one that is too long nevertheless would fill the memory that other answers need. Encoding takes a multiple of
// the result's size, so large results are encoded on no more than half of the processors.
func (s *Server) encode(ctx context.Context, rc *requestContext, result any) ([]byte, error) {
	if rc.memory.Large() {
		release, err := s.encoding.Take(ctx)
		if err != nil {
			return nil, err
		}
		defer release()
	}
	envelope := success{Data: result, DurationMs: rc.durationMs(s.config.Now()), RequestID: rc.id}
	body, err := json.Marshal(envelope)
	if err != nil {
		return nil, fmt.Errorf("encode the result: %w", err)
	}
	if size := len(body) - envelope.overhead(); size > maxDataBytes {
		return nil, fmt.Errorf("the result has %d bytes, over the %d that are promised", size, maxDataBytes)
	}
	body = rc.withPlace(body, envelope.overhead()+len("null"))
	return body, rc.memory.Become(len(body))
}

// overhead is the length of the envelope without its data.
func (e success) overhead() int {
	const keys = `{"data":,"durationMs":,"requestId":""}`
	return len(keys) + len(strconv.FormatFloat(e.DurationMs, 'f', -1, 64)) + len(e.RequestID)
}

// withPlace writes where the tool ran at the end of the data of an envelope; empty is how long that is with null for
// data. Every result is an object that has members.
func (rc *requestContext) withPlace(envelope []byte, empty int) []byte {
	const before = len(`{"data":null`)
	end := len(envelope) - (empty - before) - 1
	if rc.place == nil || envelope[end] != '}' {
		return envelope
	}
	place, err := json.Marshal(rc.place)
	if err != nil {
		return envelope
	}
	member := append([]byte(`,"place":`), place...)
	if envelope[end-1] == '{' {
		member = member[1:]
	}
	return slices.Insert(envelope, end, member...)
}

func writeJSON(c echo.Context, status int, body []byte) error {
	w := c.Response()
	w.Header()[echo.HeaderContentType] = jsonType
	set(w.Header(), echo.HeaderContentLength, strconv.Itoa(len(body)))
	w.WriteHeader(status)
	return writeLast(c, body, headerRoom)
}

// writeLast writes the last bytes of an answer, after others that may still be on their way. The request keeps its slot
// until all that is left is one write that does not block, or the last byte. If it kept it until that is written too, a
// client that has its whole answer and sends again at once could be denied the slot that it just used.
func writeLast(c echo.Context, body []byte, before int) error {
	w, rest := c.Response(), body
	if !conns.Of(c.Request().Context()).TakesAtOnce(before + len(body)) {
		last := len(body) - 1
		if _, err := w.Write(body[:last]); err != nil {
			return err
		}
		if err := http.NewResponseController(w.Writer).Flush(); err != nil {
			return err
		}
		rest = body[last:]
	}
	contextOf(c).releaseHeld()
	_, err := w.Write(rest)
	return err
}

// headerRoom is more than the header of any answer of the API takes.
const headerRoom = 2 << 10

// fail answers every error there is, the framework's own included.
func (s *Server) fail(err error, c echo.Context) {
	rc := contextOf(c)
	if canceled(c) && excused(err) {
		if !leaving(c) || c.Response().Committed {
			// The client has left; what the tool returned for its cancelled context is not a failure. Without
			// the cut net/http would say 200 to a client that has only closed its own half.
			rc.outcome, rc.cut = outcomeCanceled, true
			return
		}
		err = ErrLeaving
	}
	p := problemOf(err)
	s.explain(c, p)
	if c.Response().Committed {
		return
	}
	h := c.Response().Header()
	if p.allow != "" {
		h.Set(echo.HeaderAllow, p.allow)
	}
	if p.field != "" {
		h.Set("X-Invalid-Field", p.field)
	}
	if wait := p.wait(); wait != "" {
		h.Set(echo.HeaderRetryAfter, wait)
	}
	isPage := rc.from == fromClient && (!isAPI(c.Request()) || c.Request().URL.Path == pathReference)
	if isPage && p.status == http.StatusTooManyRequests {
		s.config.LimitedPage(c.Response(), c.Request())
		return
	}
	if isAPI(c.Request()) || rc.from == fromPeer {
		_ = writeJSON(c, p.status, s.failureOf(rc, p))
		return
	}
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	_ = c.String(p.status, p.sentence()+"\n")
}

// failureOf is the envelope of an error.
func (s *Server) failureOf(rc *requestContext, p *problem) []byte {
	body, _ := json.Marshal(failure{Error: p.sentence(), DurationMs: rc.durationMs(s.config.Now()), RequestID: rc.id})
	return body
}

// canceled reports whether the client has left, or this instance is leaving.
func canceled(c echo.Context) bool { return c.Request().Context().Err() != nil }

// leaving reports whether the request was ended because this instance is leaving.
func leaving(c echo.Context) bool { return errors.Is(context.Cause(c.Request().Context()), ErrLeaving) }

// excused reports whether a failure may come of the client's leaving: not a panic, and not what the edge itself
// refused.
func excused(err error) bool {
	_, own := errors.AsType[*problem](err)
	_, panicked := errors.AsType[*parallel.Panic](err)
	return !own && !panicked
}

const longestSentence = 400

// plain keeps a sentence one line of printable text, whatever went into it: it may repeat the visitor's own host.
func plain(sentence string) string {
	clean := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(sentence, "?"))
	if runes := []rune(clean); len(runes) > longestSentence {
		return string(runes[:longestSentence]) + "…"
	}
	return clean
}
