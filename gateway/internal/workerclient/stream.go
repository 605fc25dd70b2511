package workerclient

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/netip"
	"strconv"

	"diagnostics/shared/progress"
	"diagnostics/shared/workerapi"
)

// maxStreamBytes bounds all lines of a stream together; one of them is bounded like a plain answer.
const maxStreamBytes = 4 << 20

// steps passes the steps of a running job on to the reader at the gateway. It is nil for jobs without one.
type steps struct {
	path  string // of the job, which says what steps it has
	asked netip.Addr
	feed  *progress.Feed
	inside
}

// stepsOf returns the steps of a job where a client reads them as they come, else nil.
func stepsOf(ctx context.Context, path string, asked netip.Addr, hidden inside) *steps {
	if feed := progress.Of(ctx); feed != nil {
		return &steps{path: path, asked: asked, feed: feed, inside: hidden}
	}
	return nil
}

// accept is the request's Accept: an older worker has plain answers alone.
func (s *steps) accept() string {
	if s == nil {
		return "application/json"
	}
	return progress.MediaType + ", application/json;q=0.5"
}

// offered reports whether the answer is a stream. Whatever it is, the worker has taken the job.
func (s *steps) offered(h http.Header) bool {
	if s == nil {
		return false
	}
	s.feed.Begin()
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && kind == progress.MediaType && h.Get("Content-Encoding") == ""
}

// lastLine is what a stream's last line has beside a plain answer's keys; Status is there in no other line.
type lastLine struct {
	Step       *step  `json:"step"`
	Error      string `json:"error"`
	Status     int    `json:"status"`
	RetryAfter uint32 `json:"retryAfter"`
	Refused    string `json:"refused"`
}

type step struct {
	Kind  string           `json:"kind"`
	Hop   *workerapi.Hop   `json:"hop"`
	Reply *workerapi.Reply `json:"reply"`
}

// read passes the steps on and gives the last line, which has the keys of a plain answer. Errors are those of reading,
// those of a stream that is not what was promised, and the *fault.Error of one that ends with a failure.
func (s *steps) read(body io.Reader) ([]byte, error) {
	limited := &io.LimitedReader{R: body, N: maxStreamBytes + 1}
	lines := bufio.NewScanner(limited)
	lines.Buffer(nil, workerapi.MaxResponseBytes+1)
	for lines.Scan() {
		var l lastLine
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			// A line of another shape is a step of a kind to come, or the end of what was read.
			if json.Valid(lines.Bytes()) {
				continue
			}
			return nil, streamError(limited, err)
		}
		if l.Status != 0 {
			return finish(l, append([]byte(nil), lines.Bytes()...))
		}
		if l.Step != nil {
			s.pass(*l.Step)
		}
	}
	err := lines.Err()
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return nil, streamError(limited, err)
}

// streamError is why a stream ended without a last line.
func streamError(limited *io.LimitedReader, err error) error {
	switch {
	case limited.N <= 0:
		return fmt.Errorf("the worker's stream is over %d bytes", maxStreamBytes)
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("a line of the worker's stream is over %d bytes", workerapi.MaxResponseBytes)
	}
	return err
}

// finish returns the last line, or the failure in it.
func finish(l lastLine, line []byte) ([]byte, error) {
	if l.Status == http.StatusOK {
		return line, nil
	}
	cause := &statusError{status: l.Status, why: knownReason(l.Refused), said: l.Error}
	return nil, refusalOf(cause, strconv.FormatUint(uint64(l.RetryAfter), 10))
}

// pass passes a step on, held against the contract and cleaned as the answer will be; any other is dropped.
func (s *steps) pass(received step) {
	switch {
	case received.Kind == "hop" && s.path == workerapi.PathTraceroute && received.Hop != nil &&
		received.Hop.Validate(s.asked) == nil:
		hop, truncated := *received.Hop, false
		s.hideHop(&hop)
		boundHop(&hop, &truncated)
		s.report("hop", hop.TTL, hop)
	case received.Kind == "reply" && received.Reply != nil && received.Reply.Seq <= s.probes() &&
		received.Reply.Validate() == nil:
		s.report("reply", received.Reply.Seq, *received.Reply)
	}
}

// probes is how many replies a job may send as steps; those of a confirmation are in the answer alone.
func (s *steps) probes() int {
	switch s.path {
	case workerapi.PathPing:
		return workerapi.PingProbes
	case workerapi.PathPacketLoss:
		return workerapi.LossProbes
	}
	return -1
}

func (s *steps) report(kind string, number int, value any) {
	s.feed.Report(kind, strconv.Itoa(number), value)
}
