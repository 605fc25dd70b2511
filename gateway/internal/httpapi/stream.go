package httpapi

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"diagnostics/gateway/internal/conns"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool"
	"diagnostics/shared/parallel"
	"diagnostics/shared/progress"

	"github.com/labstack/echo/v4"
)

// stream is an answer that comes line by line (docs/contract.md#streams).
type stream struct {
	// status is what a plain answer would have, 0 until it is known and where the client has left.
	status int
	// unsent is how much is written that net/http may still hold back; at least that much.
	unsent int
	// zip packs the lines where the client accepts that, nil otherwise.
	zip *zip
}

// runEnd is what a run ended with.
type runEnd struct {
	data any
	err  error
}

// stream answers with the steps of a run as they become known, and with what it ended with in the last line. The run
// goes on whether the lines are read or not; it ends when the reader has left.
func (s *Server) stream(
	ctx context.Context, c echo.Context, rc *requestContext, charged *charged, t tool.Tool, job tool.Job,
) error {
	ctx, giveUp := context.WithCancel(ctx)
	defer giveUp()
	began := time.Now()
	feed := &progress.Feed{Room: rc.memory.Fits}
	running := parallel.Start(func() (end runEnd) {
		end.data, end.err = s.run(progress.With(ctx, feed), charged, job)
		return end
	})
	// The worker, or another place, may have no slot for the job, which is the answer's own status then.
	if (t.NeedsWorker() || s.isElsewhere(rc)) && !feed.AwaitBegin(running.Done()) {
		end := running.Wait()
		s.reportLimits(c, charged)
		if end.err != nil && problemOf(end.err).outcome == outcomeBusy {
			return end.err
		}
		return s.lastLine(c, rc, end)
	}
	bodySettles(running.Done(), time.Since(began))
	s.startLines(c, rc)
	if err := progress.Copy(feed, running.Done(), reader{s, c, rc}); err != nil {
		giveUp()
	}
	var end runEnd
	if p := parallel.Catch(func() { end = running.Wait() }); p != nil {
		end = runEnd{err: p}
	}
	s.reportLimits(c, charged)
	return s.lastLine(c, rc, end)
}

// bodyTime is how long nothing of a stream is sent, unless the run is over. A proxy that is made with Go's net/http, as
// Caddy is, ends its request to us where an answer begins while it still reads the end of its visitor's request
// (golang.org/issue/15527): one of a few milliseconds met that in one of some fifty streams.
const bodyTime = 25 * time.Millisecond

func bodySettles(done <-chan struct{}, passed time.Duration) {
	timer := time.NewTimer(bodyTime - passed)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// startLines begins the answer, once. Its header is sent with the first line, or where that is waited for.
func (s *Server) startLines(c echo.Context, rc *requestContext) {
	if rc.stream != nil {
		return
	}
	rc.stream = &stream{unsent: headerRoom}
	h := c.Response().Header()
	h.Set(echo.HeaderContentType, progress.MediaType)
	h.Set("X-Accel-Buffering", "no") // nginx would collect the lines
	if zips(c, rc) {
		rc.stream.zip = newZip()
		h.Set(echo.HeaderContentEncoding, gzipCoding)
	}
	c.Response().WriteHeader(http.StatusOK)
}

// reader is the client that reads a stream.
type reader struct {
	s *Server
	c echo.Context
	x *requestContext
}

// Send writes one step. A step that cannot be encoded is left out: the final line contains its data.
func (r reader) Send(step progress.Step) error {
	body := new(bytes.Buffer)
	if step.Line(body, r.x.start, r.s.config.RunLimit) == nil {
		line := r.x.stream.zip.pack(body.Bytes())
		r.x.stream.unsent += len(line) + chunkRoom
		_, err := r.c.Response().Write(line)
		return err
	}
	return nil
}

// chunkRoom is more than what HTTP/1.1 puts around each piece of an answer.
const chunkRoom = 16

// Flush sends what was written.
func (r reader) Flush() error {
	err := http.NewResponseController(r.c.Response().Writer).Flush()
	r.x.stream.unsent = 0
	return err
}

// lastLine ends a stream with what a plain answer would hold.
func (s *Server) lastLine(c echo.Context, rc *requestContext, end runEnd) error {
	s.startLines(c, rc)
	if canceled(c) && !leaving(c) {
		rc.outcome, rc.cut = outcomeCanceled, true
		return nil
	}
	line := rc.stream.zip.packLast(s.encodeLast(c, rc, end))
	conns.Of(c.Request().Context()).Answering(s.config.Bounds.AnswerLimit)
	err := writeLast(c, line, rc.stream.unsent)
	if rc.stream.status != http.StatusOK {
		return nil // as of a plain failure: the outcome is the failure, whether it was read or not
	}
	return err
}

// encodeLast returns the last line. If the run failed, its conclusion comes first.
func (s *Server) encodeLast(c echo.Context, rc *requestContext, end runEnd) []byte {
	err := end.err
	if canceled(c) && (err == nil || excused(err)) {
		err = ErrLeaving
	}
	if err == nil {
		var body []byte
		if body, err = s.encode(c.Request().Context(), rc, end.data); err == nil {
			rc.stream.status = http.StatusOK
			return progress.LastLine(body, http.StatusOK, "", "")
		}
	}
	p := problemOf(err)
	s.explain(c, p)
	rc.stream.status = p.status
	return append(s.conclusionLine(rc, p), progress.LastLine(s.failureOf(rc, p), p.status, p.wait(), "")...)
}

// conclusionLine returns the step of a failed run that concludes it; nil for a failure that says nothing of a target.
func (s *Server) conclusionLine(rc *requestContext, p *problem) []byte {
	concluded, is := fault.Conclude(p.code, p.args)
	if !is {
		return nil
	}
	concluded.Message = plain(concluded.Message)
	line := new(bytes.Buffer)
	step := progress.Step{Kind: tool.KindConclusion, Value: concluded, At: s.config.Now()}
	if step.Line(line, rc.start, s.config.RunLimit) != nil {
		return nil
	}
	return line.Bytes()
}
