package egress

import (
	"context"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"

	"diagnostics/shared/parallel"
)

// The buffers of a round trip live as long as its server is silent, so they are as small as most heads.
const (
	writeBuffer = 1 << 10
	readBuffer  = 2 << 10
)

// askHTTP2 has the library speak HTTP/2 over a connection that is made already: frames are counted between TLS and
// HTTP/2, and a transport that is to choose by itself would want the TLS connection bare.
func (rt *roundTrip) askHTTP2(first *frameConn, request *http.Request) (*http.Response, error) {
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

// trace has the clock told of the moments that only the transport knows, and each interim answer counted and kept.
func (rt *roundTrip) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		WroteRequest:         func(httptrace.WroteRequestInfo) { rt.clock.wrote() },
		GotFirstResponseByte: rt.clock.answered,
		Got1xxResponse: func(status int, header textproto.MIMEHeader) error {
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
