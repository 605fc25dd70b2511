package egress

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"

	"diagnostics/gateway/internal/analyze/gunzip"
	"diagnostics/gateway/internal/analyze/weight"
	"diagnostics/gateway/internal/egress/budget/memory"
	"diagnostics/gateway/internal/egress/budget/processor"
	"diagnostics/gateway/internal/egress/http1"
	"diagnostics/gateway/internal/fault"
)

// bodySlack is how much longer than the decompressed cap a body may be as it comes. Compression that lengthens is
// pointless, but a stream of empty gzip members is endless without a single byte of output.
const bodySlack = 64 << 10

// readSize is how much of a body is read at once: for every read, the library answers a server of HTTP/2 by a packet.
const readSize = 32 << 10

// readBody reads at most limit bytes of the decompressed body into the answer, and counts them for the run.
func (r *Response) readBody(ctx context.Context, body io.Reader, limit int64) {
	wire := &cappedReader{from: body, left: limit + bodySlack}
	text, err := r.decompressed(ctx, wire)
	if err == nil {
		r.Body, err = io.ReadAll(memory.Reader(ctx, io.LimitReader(text, limit+1)))
	}
	r.Received = limit + bodySlack - wire.left
	if int64(len(r.Body)) > limit {
		r.Body, r.Truncated = r.Body[:limit], true
		return
	}
	if wire.hit {
		r.Truncated = true
		return
	}
	r.BodyErr = bodyFault(err)
}

// decompressed undoes the one encoding that was asked for, and deflate, which some servers send all the same. Encodings
// upon encodings are not undone: no server needs them, and each multiplies what a bomb can do.
func (r *Response) decompressed(ctx context.Context, wire io.Reader) (io.Reader, error) {
	coding := strings.ToLower(strings.TrimSpace(strings.Join(r.Header.Values("Content-Encoding"), ",")))
	if coding == "" || coding == "identity" {
		return bufio.NewReaderSize(wire, readSize), nil
	}
	packed := bufio.NewReaderSize(processor.Reader(ctx, wire, weight.Packed), readSize)
	var text io.Reader
	var err error
	switch coding {
	case "gzip", "x-gzip":
		text, err = emptyOr(packed, func() (io.Reader, error) {
			return gunzip.NewReader(packed, func() { r.note(http1.TrailingBytes) })
		})
	case "deflate":
		text, err = emptyOr(packed, func() (io.Reader, error) { return newInflater(packed) })
	default:
		err = errEncoding
	}
	if err != nil {
		return nil, err
	}
	return processor.Reader(ctx, text, weight.Unpacked), nil
}

func (r *Response) note(code http1.NoteCode) {
	if !slices.Contains(r.Notes, code) {
		r.Notes = append(slices.Clip(r.Notes), code)
	}
}

// emptyOr lets a body without a single byte be an empty one, whatever encoding its header names.
func emptyOr(buffered *bufio.Reader, open func() (io.Reader, error)) (io.Reader, error) {
	if _, err := buffered.Peek(1); err == io.EOF {
		return buffered, nil
	}
	return open()
}

// newInflater reads deflate as it is meant (zlib, RFC 9110 section 8.4.1.2) and as several servers send it (without the
// zlib header).
func newInflater(buffered *bufio.Reader) (io.Reader, error) {
	const deflateMethod, checkMultiple = 8, 31
	head, err := buffered.Peek(2)
	if err == nil && head[0]&0x0f == deflateMethod && (int(head[0])<<8|int(head[1]))%checkMultiple == 0 {
		return zlib.NewReader(buffered)
	}
	return flate.NewReader(buffered), nil
}

var errEncoding = errors.New("content encoding that was not asked for")

// cappedReader ends after left bytes, and remembers that it did.
type cappedReader struct {
	from io.Reader
	left int64
	hit  bool
}

func (c *cappedReader) Read(p []byte) (int, error) {
	if c.left == 0 {
		c.hit = true
		return 0, io.EOF
	}
	n, err := c.from.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}

// faultReader is the body that a consumer reads: it counts what came and puts failures in words.
type faultReader struct {
	from   io.Reader
	answer *Response // whose Received and BodyErr are kept; nil for none
}

func (f *faultReader) Read(p []byte) (int, error) {
	n, err := f.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = bodyFault(err)
	}
	if f.answer == nil {
		return n, err
	}
	f.answer.Received += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		f.answer.BodyErr = err
	}
	return n, err
}

// ownFaultBody is a body as it comes, in which the failures of this host's own are reported as such.
type ownFaultBody struct {
	from    io.Reader
	client  *Client
	address netip.Addr // where it comes from
	began   time.Time  // the round trip
}

func (b ownFaultBody) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if own := b.client.OwnFault(err, b.address, b.began); own != nil {
		return n, own
	}
	return n, err
}

// DecodeBody undoes the content encoding of a body that is being consumed. Its own errors and those of the reader are
// *fault.Error of kind Upstream, Timeout or Busy, or io.EOF.
func DecodeBody(ctx context.Context, r *Response, body io.Reader) (io.Reader, error) {
	text, err := r.decompressed(ctx, body)
	if err != nil {
		return nil, bodyFault(err)
	}
	return &faultReader{from: text}, nil
}

func bodyFault(err error) error {
	var known *fault.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return known
	case fault.IsTimeout(err):
		return fault.Wrap(fault.Timeout, err, "BODY_TIMEOUT", nil)
	case errors.Is(err, errEncoding):
		return fault.Wrap(fault.Upstream, err, "BODY_ENCODING", nil)
	case CorruptBody(err):
		return fault.Wrap(fault.Upstream, err, "BODY_CORRUPT", nil)
	}
	return fault.Wrap(fault.Upstream, err, "BODY_BROKEN_OFF", nil)
}

// CorruptBody reports whether the compressed body, and not the connection, is the cause of an error.
func CorruptBody(err error) bool {
	var corrupt flate.CorruptInputError
	return errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, zlib.ErrHeader) ||
		errors.Is(err, zlib.ErrChecksum) || errors.Is(err, zlib.ErrDictionary) || errors.As(err, &corrupt)
}

// What a server may send before anyone reads it: the kernel takes as much as a socket's buffer holds, twice the size
// asked for, and the library's HTTP/2 four megabytes of each answer. It is paid for whether it is looked at or not. A
// head fits into the first flight of a server. A body of 500 KiB over 62 ms takes a tenth longer than with the kernel's
// own sizes.
const (
	headBuffer = 32 << 10
	bodyBuffer = 128 << 10

	headStream = 16 << 10
	bodyStream = 128 << 10
)

type receiveBufferKey struct{}

// WithReceiveBuffer gives the sockets that are dialled for the context a receive buffer of so many octets. That
// bounds what comes and is not read, and what this host has to answer to it.
func WithReceiveBuffer(ctx context.Context, size int) context.Context {
	return context.WithValue(ctx, receiveBufferKey{}, size)
}

// limitReceive sets the receive buffer before the socket connects, when the window is not yet offered. A kernel that
// does not take it costs bytes and no more, so its error is ignored.
func limitReceive(ctx context.Context, network string, socket syscall.RawConn) {
	size, ok := ctx.Value(receiveBufferKey{}).(int)
	if socket == nil || !ok && !strings.HasPrefix(network, "tcp") {
		return
	}
	if !ok {
		size = headBuffer
	}
	_ = socket.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, size)
	})
}

// receiveWindows are those of HTTP/2, which the library reads as fast as they are filled, also where the body is
// not read.
func (r Request) receiveWindows() *http.HTTP2Config {
	stream := headStream
	if r.readsBody() {
		stream = bodyStream
	}
	return &http.HTTP2Config{MaxReceiveBufferPerConnection: bodyStream, MaxReceiveBufferPerStream: stream}
}

// The library acknowledges to a server of HTTP/2 every read that took 4 KiB, in a packet of its own. So once a body
// is long, a read that found little is followed by a moment in which more comes.
const (
	ungathered = 64 << 10
	gatherTime = 20 * time.Millisecond
)

// gathered is the body of the answer, read in large pieces where reading costs packets.
func (rt *roundTrip) gathered(answer *http.Response) io.Reader {
	if answer.ProtoMajor != 2 {
		return answer.Body
	}
	return &gatheredBody{from: answer.Body, ctx: rt.ctx}
}

type gatheredBody struct {
	from io.Reader
	ctx  context.Context
	sum  int
	wait bool
}

func (b *gatheredBody) Read(p []byte) (int, error) {
	if b.wait {
		timer := time.NewTimer(gatherTime)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-b.ctx.Done(): // the read then fails
		}
	}
	n, err := b.from.Read(p)
	b.sum += n
	b.wait = b.sum > ungathered && n < len(p)/2
	return n, err
}

// readsBody reports whether anyone looks at the body of the answer.
func (r Request) readsBody() bool { return r.MaxBody > 0 || r.Consume != nil }
