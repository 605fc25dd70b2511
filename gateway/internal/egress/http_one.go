package egress

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"net/textproto"
	"sync/atomic"

	"diagnostics/gateway/internal/fault"
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
// A client of HTTP speaks first. So nothing is read before the request is out, or chance would decide what becomes of a
// server that greets (mail, SSH).
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

	// left is how much of a head may still come. head is what came of it, in the end the whole head of the answer.
	left   int
	head   []byte
	begun  bool // the first byte is there
	inBody bool
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
func (w *http1Conn) receive(request *http.Request) (*http.Response, error) {
	buffered := bufio.NewReaderSize(w, headRead)
	for {
		answer, err := readHead(buffered, request)
		switch {
		case err != nil && w.left <= 0:
			return nil, w.roundTrip.say(fault.Upstream, errLongHeaders, sentenceLongHeaders)
		case err != nil:
			return nil, err
		}
		read := len(w.head) - buffered.Buffered()
		if !isInterim(answer.StatusCode) {
			w.head, w.inBody = w.head[:read], true
			return answer, nil
		}
		header := headAsSent(w.head[:read], answer.Header)
		if err := w.roundTrip.passed(Interim{answer.StatusCode, statusText(answer), header}); err != nil {
			return nil, err
		}
		w.head, w.left = w.head[read:], MaxHeaderBytes
	}
}

// readHead is http.ReadResponse that waits with less of a stack: a server may be silent for long.
func readHead(buffered *bufio.Reader, request *http.Request) (*http.Response, error) {
	if _, err := buffered.Peek(1); err != nil {
		return nil, err
	}
	return http.ReadResponse(buffered, request)
}

// isInterim reports whether another answer follows one of this status (RFC 9110 section 15.2). 101 ends HTTP.
func isInterim(status int) bool {
	return status >= 100 && status <= 199 && status != http.StatusSwitchingProtocols
}

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
	w.head = append(w.head, p[:n]...)
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

// headAsSent reads the header of an HTTP/1 answer from the bytes that came. The library's own header is not what the
// server sent: it drops Transfer-Encoding, Trailer, and Content-Length beside chunks, and adds a Cache-Control where
// there is a Pragma. parsed is given back where the bytes cannot be read, which the library would have refused before.
func headAsSent(head []byte, parsed http.Header) http.Header {
	r := textproto.NewReader(bufio.NewReaderSize(bytes.NewReader(head), min(len(head), linesBuffer)))
	if _, err := r.ReadLine(); err != nil {
		return parsed
	}
	header, err := r.ReadMIMEHeader()
	if err != nil {
		return parsed
	}
	return http.Header(header)
}

// isStatus reports whether a number is a status code (RFC 9110 section 15): the library takes 000 over HTTP/1, and any
// number over HTTP/2.
func isStatus(code int) bool { return code >= 100 && code <= 999 }

var errNoStatus = errors.New("the answer's status is no status code")

// linesBuffer is the library's usual one; most heads are a fraction of it.
const linesBuffer = 4 << 10
