package egress

import (
	"context"
	"io"
	"net/http"
	"strings"
	"syscall"
	"time"
)

// What a server may send before anybody reads it: the kernel takes as much as a socket's buffer holds, twice the size
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

// WithReceiveBuffer gives the TCP sockets that are dialled for the context a receive buffer of so many octets. That
// bounds what comes and nobody reads, and what this host has to answer to it.
func WithReceiveBuffer(ctx context.Context, size int) context.Context {
	return context.WithValue(ctx, receiveBufferKey{}, size)
}

// limitReceive sets the receive buffer before the socket connects, when the window is not yet offered. A kernel that
// does not take it costs bytes and no more, so its error is nobody's.
func limitReceive(ctx context.Context, network string, socket syscall.RawConn) {
	if socket == nil || !strings.HasPrefix(network, "tcp") {
		return
	}
	size, ok := ctx.Value(receiveBufferKey{}).(int)
	if !ok {
		size = headBuffer
	}
	_ = socket.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, size)
	})
}

// receiveWindows are those of HTTP/2, which the library reads as fast as they are filled, also where nobody reads the
// body.
func (r Request) receiveWindows() *http.HTTP2Config {
	stream := headStream
	if r.readsBody() {
		stream = bodyStream
	}
	return &http.HTTP2Config{MaxReceiveBufferPerConnection: bodyStream, MaxReceiveBufferPerStream: stream}
}

// The library tells a server of HTTP/2 of every read that took 4 KiB, in a packet of its own. So once a body is long, a
// read that found little is followed by a moment in which more comes.
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
		case <-b.ctx.Done(): // which the read then tells
		}
	}
	n, err := b.from.Read(p)
	b.sum += n
	b.wait = b.sum > ungathered && n < len(p)/2
	return n, err
}

// readsBody reports whether anybody looks at the body of the answer.
func (r Request) readsBody() bool { return r.MaxBody > 0 || r.Consume != nil }
