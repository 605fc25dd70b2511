package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"diagnostics/gateway/internal/conns"
	"diagnostics/shared/parallel"

	"github.com/labstack/echo/v4"
)

// failure is the envelope of an error: exactly these three keys, on every answer under /api/ that is none. That of a
// result has data in place of error; encode writes it.
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
	body, _ := buffers.Get().(*bytes.Buffer)
	defer keep(body)
	if err := s.encode(c.Request().Context(), body, rc, data); err != nil {
		return err
	}
	if err := s.holdingOf(rc).become(body.Len()); err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, body.Bytes())
}

// buffers are for answers: of most, theirs is the largest piece of memory.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// keep keeps a buffer for another answer, unless it is larger than most need.
func keep(b *bytes.Buffer) {
	if b.Cap() <= smallHolding {
		b.Reset()
		buffers.Put(b)
	}
}

// encode writes a result down, in its envelope. Every tool bounds what it gives; a result that is over all the same
// would fill the memory that the others' answers need. Encoding takes a multiple of what it makes, so what comes of
// much takes no more than half of the processors.
func (s *Server) encode(ctx context.Context, body *bytes.Buffer, rc *requestContext, data any) error {
	if rc.holding.large() {
		release, err := s.encoding.Take(ctx)
		if err != nil {
			return err
		}
		defer release()
	}
	const before = `{"data":`
	body.WriteString(before)
	if err := json.NewEncoder(body).Encode(data); err != nil {
		return fmt.Errorf("encode the result: %w", err)
	}
	body.Truncate(body.Len() - 1) // the encoder ends in a line feed
	if size := body.Len() - len(before); size > maxDataBytes {
		return fmt.Errorf("the result has %d bytes, over the %d that are promised", size, maxDataBytes)
	}
	body.WriteString(`,"durationMs":`)
	body.Write(strconv.AppendFloat(body.AvailableBuffer(), rc.durationMs(s.config.Now()), 'f', -1, 64))
	body.WriteString(`,"requestId":"`)
	body.WriteString(rc.id) // a UUID, which has nothing to escape
	body.WriteString(`"}`)
	return nil
}

func writeJSON(c echo.Context, status int, body []byte) error {
	w := c.Response()
	w.Header()[echo.HeaderContentType] = jsonType
	set(w.Header(), echo.HeaderContentLength, strconv.Itoa(len(body)))
	w.WriteHeader(status)
	return writeLast(c, body, headerRoom)
}

// writeLast writes the last bytes of an answer, before which there may be some on their way. The request holds what
// it holds until all that is left is one write that waits for nobody, or the last byte. Were it held until that is
// written too, a client that has its whole answer and asks again at once could be refused the slot that it came
// from.
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
			// Nobody listens any more; what the tool made of its cancelled context is not a failure of anything. Without
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
	if isAPI(c.Request()) {
		_ = writeJSON(c, p.status, s.failureOf(rc, p))
		return
	}
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	_ = c.String(p.status, p.sentence+"\n")
}

// failureOf is the envelope of an error.
func (s *Server) failureOf(rc *requestContext, p *problem) []byte {
	body, _ := json.Marshal(failure{Error: p.sentence, DurationMs: rc.durationMs(s.config.Now()), RequestID: rc.id})
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
