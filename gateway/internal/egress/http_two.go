package egress

import (
	"context"
	"encoding/binary"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"

	"diagnostics/gateway/internal/analyze/weight"
	"diagnostics/gateway/internal/egress/budget/processor"
	"diagnostics/shared/parallel"
)

// The buffers of a round trip live as long as its server is silent, so they are as small as most heads.
const (
	writeBuffer = 1 << 10
	readBuffer  = 2 << 10
)

// exchangeHTTP2 has the library speak HTTP/2 over a connection that is made already: frames are counted between TLS and
// HTTP/2, and a transport that is to choose by itself would want the TLS connection bare.
func (rt *roundTrip) exchangeHTTP2(first *frameConn, request *http.Request) (*http.Response, error) {
	rt.transport = &http.Transport{
		Proxy:                  nil, // with a proxy the control hook would judge the proxy's address, not the target's
		DisableCompression:     true,
		MaxResponseHeaderBytes: MaxHeaderBytes,
		WriteBufferSize:        writeBuffer,
		ReadBufferSize:         readBuffer,
		Protocols:              new(http.Protocols),
		HTTP2:                  rt.request.receiveWindows(),
		// It is called in a goroutine of the library's own, so that a panic is handed out as an error. The transport's
		// context is detached from the request, so the round trip's is used.
		DialTLSContext: func(context.Context, string, string) (net.Conn, error) {
			return parallel.Try(func() (net.Conn, error) {
				if c := first; c != nil {
					first = nil
					return c, nil
				}
				return rt.dialAgain()
			})
		},
	}
	rt.transport.Protocols.SetUnencryptedHTTP2(true) // what it is handed has TLS below it
	answer, err := rt.transport.RoundTrip(request.WithContext(httptrace.WithClientTrace(rt.ctx, rt.trace())))
	rt.answer = answer
	if err == nil {
		err = rt.cost.header(answer.Header)
	}
	return answer, err
}

// endHTTP2 ends what the library does for the round trip.
func (rt *roundTrip) endHTTP2() {
	if rt.answer != nil {
		_ = rt.answer.Body.Close()
	}
	if rt.transport != nil {
		rt.transport.CloseIdleConnections()
	}
}

// trace passes the times that only the transport has to the clock, and counts and keeps each interim answer.
func (rt *roundTrip) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		WroteRequest:         func(httptrace.WroteRequestInfo) { rt.clock.wrote() },
		GotFirstResponseByte: rt.clock.answered,
		Got1xxResponse: func(status int, header textproto.MIMEHeader) error {
			if err := rt.cost.header(http.Header(header)); err != nil {
				return err
			}
			return rt.passed(Interim{status, http.StatusText(status), http.Header(header)})
		},
	}
}

// dialAgain connects for a request of HTTP/2 that is repeated.
func (rt *roundTrip) dialAgain() (net.Conn, error) {
	raw, err := rt.connect()
	if err != nil {
		return nil, err
	}
	c, err := rt.handshake(raw)
	if err != nil {
		return nil, err
	}
	if _, framed := c.(*frameConn); !framed {
		return nil, rt.closesWithoutAnswer()
	}
	return c, nil
}

// The types and flags of HTTP/2 frames that matter here (RFC 9113 section 6).
const (
	frameHeader       = 9 // octets
	frameData         = 0x0
	frameHeaders      = 0x1
	frameReset        = 0x3
	framePromise      = 0x5
	frameContinuation = 0x9
	flagPadded        = 0x8
)

// frameConn is a connection of HTTP/2 that counts the frames that come. It shows the library no frame past a bound.
type frameConn struct {
	net.Conn

	cost *cost
	// stream is the one whose answer is awaited: the library repeats a request that was turned down on the next.
	stream uint32

	// The reader's place between two reads: the part of a frame's header that has come, or what is left of its payload.
	header  [frameHeader]byte
	have    int
	payload int
	// padding is that the next octet is the length of the padding of a frame of data.
	padding bool
	// answer is how much of the payload is of the answer's body.
	answer int
	failed error
}

// Read is called by the library in a goroutine of its own, so that a panic goes out as an error.
func (c *frameConn) Read(p []byte) (int, error) {
	return parallel.Try(func() (int, error) { return c.read(p) })
}

func (c *frameConn) read(p []byte) (int, error) {
	if c.failed != nil {
		return 0, c.failed
	}
	n, err := c.Conn.Read(p)
	good, failed := c.follow(p[:n])
	if failed == nil {
		return n, err
	}
	c.failed = failed
	if good == 0 {
		return 0, failed
	}
	return good, nil
}

// follow reads frames off what came. With an error it gives how many octets there were before the frame that passed a
// bound.
func (c *frameConn) follow(b []byte) (good int, err error) {
	for done := 0; done < len(b); {
		switch {
		case c.padding:
			c.padding = false
			c.answer = max(0, c.answer-int(b[done]))
			c.payload--
			done++
			if err := c.cost.piece(c.answer); err != nil {
				return good, err
			}
		case c.payload > 0:
			step := min(c.payload, len(b)-done)
			c.payload -= step
			done += step
		default:
			step := copy(c.header[c.have:], b[done:])
			c.have += step
			done += step
			if c.have < frameHeader {
				continue
			}
			c.have = 0
			if err := c.begin(); err != nil {
				return good, err
			}
			good = done
		}
	}
	return len(b), nil
}

// begin counts a frame whose header is there.
func (c *frameConn) begin() error {
	h := c.header
	c.payload = int(h[0])<<16 | int(h[1])<<8 | int(h[2])
	kind, flags := h[3], h[4]
	ours := binary.BigEndian.Uint32(h[5:])&^(1<<31) == c.stream
	switch kind {
	case frameHeaders, framePromise, frameContinuation:
		if err := c.cost.block(c.payload); err != nil {
			return err
		}
		if err := processor.Spend(c.cost.roundTrip.ctx, weight.PackedHead, c.payload); err != nil {
			return err
		}
	}
	switch {
	case kind == frameHeaders && ours:
		// An answer, its trailers, or an interim answer, which the round trip counts.
		return nil
	case kind == frameReset && ours:
		c.stream += 2
		return c.cost.reset()
	case kind != frameData || !ours:
		return c.cost.piece(0)
	case flags&flagPadded != 0 && c.payload > 0:
		c.padding, c.answer = true, c.payload-1
		return nil
	}
	return c.cost.piece(c.payload)
}
