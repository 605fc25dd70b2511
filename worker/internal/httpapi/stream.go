package httpapi

import (
	"bytes"
	"context"
	"net/http"

	"diagnostics/shared/parallel"
	"diagnostics/shared/progress"
	"diagnostics/shared/workerapi"
)

// perform runs a job, and sends its steps meanwhile to a client that requested a stream. The result follows them, or
// stands alone where the job ends before its first probe: then the job was rejected, and the status has the reason.
func (rc *requestContext) perform(run func(context.Context)) {
	if !progress.Wanted(rc.r.Header.Values("Accept")) {
		run(rc.r.Context())
		return
	}
	ctx, giveUp := context.WithCancel(rc.r.Context())
	defer giveUp()
	feed := new(progress.Feed)
	running := parallel.Start(func() struct{} {
		run(progress.With(ctx, feed))
		return struct{}{}
	})
	if feed.AwaitBegin(running.Done()) {
		rc.startStream()
		if progress.Copy(feed, running.Done(), reader{rc}) != nil {
			giveUp() // the client has left
		}
	}
	running.Wait()
}

func (rc *requestContext) startStream() {
	rc.stream = true
	rc.header(progress.MediaType)
	rc.w.Header().Set("X-Accel-Buffering", "no") // an nginx in front would collect the lines
	rc.w.WriteHeader(http.StatusOK)
}

// reader is who reads a stream.
type reader struct{ *requestContext }

// Send writes one step. A step that cannot be encoded is left out: the final line contains its data.
func (r reader) Send(s progress.Step) error {
	var b bytes.Buffer
	if s.Line(&b, r.start, workerapi.JobLimit) == nil {
		_, err := r.w.Write(b.Bytes())
		return err
	}
	return nil
}

// Flush sends what was written.
func (r reader) Flush() error { return http.NewResponseController(r.w).Flush() }

// lastLine writes an envelope with what would be its status and headers in a plain answer.
func (rc *requestContext) lastLine(status int, body []byte) {
	h := rc.w.Header()
	_, _ = rc.w.Write(progress.LastLine(body, status, h.Get("Retry-After"), h.Get(workerapi.HeaderRefused)))
}
