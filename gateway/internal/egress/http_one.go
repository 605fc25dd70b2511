package egress

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"

	"diagnostics/gateway/internal/analyze/weight"
	"diagnostics/gateway/internal/egress/budget/processor"
	"diagnostics/gateway/internal/egress/http1"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/text"
	"diagnostics/shared/parallel"
)

const (
	// headRead is as much as most heads have: the buffer lives as long as the server is silent.
	headRead = 2 << 10
	// atOnce is how much any socket takes without waiting for the other side.
	atOnce = 4 << 10
)

// sendHTTP1 begins to speak HTTP/1, by itself, over a connection that serves one request: the library's transport would
// keep three goroutines and as many buffers for as long as the server is silent.
//
// The client sends first in HTTP. So nothing is read before the request is out, or chance would decide the outcome
// for a server that greets (mail, SSH).
func (rt *roundTrip) sendHTTP1(conn net.Conn, request *http.Request) error {
	rt.setPhase(phaseAnswer)
	rt.wire = &http1Conn{roundTrip: rt, conn: conn, left: MaxHeaderBytes}
	rt.wire.unwatch = parallel.Interrupt(rt.ctx, conn)
	return rt.wire.reason(rt.wire.send(request))
}

// http1Conn is a connection of HTTP/1 from the first byte of the request to the last of the body.
type http1Conn struct {
	roundTrip *roundTrip
	conn      net.Conn
	unwatch   func() bool
	writing   *parallel.Pending[error] // the end of a long request, nil for none
	broken    atomic.Pointer[error]    // why that ended early

	left   int  // octets of all heads that may still come
	begun  bool // the first byte is there
	inBody bool
	notes  []http1.NoteCode // on all heads, each once
}

// send writes the request. A server may answer before it has read all of a long one, so the end of that is written
// while the answer is read.
func (w *http1Conn) send(request *http.Request) error {
	var text bytes.Buffer
	if err := request.Write(&text); err != nil {
		return err
	}
	if _, err := w.conn.Write(text.Next(atOnce)); err != nil {
		return err
	}
	if text.Len() == 0 {
		w.roundTrip.clock.wrote()
		return nil
	}
	w.writing = parallel.Start(func() error {
		_, err := w.conn.Write(text.Bytes())
		w.roundTrip.clock.wrote()
		if err != nil {
			w.broken.Store(&err)
		}
		return err
	})
	return nil
}

// receive reads the head of the answer, and those of the interim answers before it.
func (w *http1Conn) receive(method string) (*http.Response, error) {
	buffered := bufio.NewReaderSize(w, headRead)
	for {
		head, err := w.readHead(buffered)
		if err != nil {
			return nil, err
		}
		for _, code := range head.Notes {
			if !slices.Contains(w.notes, code) {
				w.notes = append(w.notes, code)
			}
		}
		if !head.Interim() {
			w.inBody = true
			return &http.Response{
				StatusCode: head.Status,
				Status:     strconv.Itoa(head.Status) + " " + head.Reason,
				Proto:      fmt.Sprintf("HTTP/%d.%d", head.Major, head.Minor),
				ProtoMajor: head.Major,
				ProtoMinor: head.Minor,
				Header:     head.Header,
				Body:       io.NopCloser(head.Body(buffered, method)),
			}, nil
		}
		interim := Interim{head.Status, text.Clean(head.Reason, maxReasonPhrase), head.Header}
		if err := w.roundTrip.passed(interim); err != nil {
			return nil, err
		}
	}
}

// readHead reads one head. It waits for its first bytes with less of a stack: a server may be silent for long.
func (w *http1Conn) readHead(buffered *bufio.Reader) (*http1.Head, error) {
	first, err := buffered.Peek(1)
	if err == nil && first[0] == tlsAlert[0] {
		first, err = buffered.Peek(len(tlsAlert))
	}
	if errors.Is(err, errLongHeaders) {
		return nil, w.roundTrip.newFault(fault.Upstream, err, codeLongHeaders)
	}
	if err != nil {
		return nil, err
	}
	if string(first) == tlsAlert {
		return nil, w.roundTrip.newFault(fault.Upstream, http1.ErrNotHTTP, "WANTS_TLS")
	}
	head, err := http1.ReadHead(buffered)
	switch {
	case err != nil && w.left <= 0:
		return nil, w.roundTrip.newFault(fault.Upstream, errLongHeaders, codeLongHeaders)
	case errors.Is(err, http1.ErrNotHTTP), errors.Is(err, http1.ErrMalformed):
		return nil, w.roundTrip.newFault(fault.Upstream, err, codeNotHTTP)
	case errors.Is(err, http1.ErrTooLong):
		return nil, w.roundTrip.newFault(fault.Upstream, err, "HEADERS_TOO_MANY_LINES")
	}
	return head, err
}

// tlsAlert is how a server of TLS begins its answer to what is no TLS.
const tlsAlert = "\x15\x03"

// Read is what the head and the body are read through.
func (w *http1Conn) Read(p []byte) (int, error) {
	if w.inBody {
		n, err := w.conn.Read(p)
		return n, w.reason(err)
	}
	if w.left <= 0 {
		return 0, errLongHeaders
	}
	n, err := w.conn.Read(p[:min(len(p), w.left)])
	if n > 0 && !w.begun {
		w.begun = true
		w.roundTrip.clock.answered()
	}
	w.left -= n
	if full := processor.Spend(w.roundTrip.ctx, weight.Head, n); full != nil {
		return 0, full
	}
	return n, w.reason(err)
}

// reason puts first what made a failure: the end of the time, or that the request could not be written.
func (w *http1Conn) reason(err error) error {
	if err == nil {
		return nil
	}
	if w.roundTrip.ctx.Err() != nil {
		return context.Cause(w.roundTrip.ctx)
	}
	if broken := w.broken.Load(); broken != nil {
		return *broken
	}
	return err
}

// closeOrderly closes in the order of TLS, whose close_notify goes over the connection below it.
func (w *http1Conn) closeOrderly() {
	if w.roundTrip.ctx.Err() == nil {
		_ = w.conn.Close()
	}
}

// end is called once the connection is closed.
func (w *http1Conn) end() {
	w.unwatch()
	if w.writing != nil {
		_ = w.writing.Wait()
	}
}

// isStatus reports whether a number is a status code (RFC 9110 section 15): the library takes any over HTTP/2.
func isStatus(code int) bool { return code >= 100 && code <= 999 }

var errNoStatus = errors.New("the answer's status is no status code")
