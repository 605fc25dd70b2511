package site

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// flood is a server that costs its client work and gives it nothing.
type flood struct {
	label, note string
	endpoint    endpoint
}

// pieceOf2 writes frames of HTTP/2 again and again.
type pieceOf2 func(f *http2.Framer, stream uint32) error

// over2 answers the first request of a connection with a beginning, and then with the same until the client stops
// reading.
func over2(begin, again pieceOf2) endpoint {
	return endpoint{port: 443, tls: &tlsSetup{onlyHTTP2: true}, raw: func(_ context.Context, c net.Conn) {
		_ = c.SetDeadline(time.Now().Add(idle))
		if _, err := io.ReadFull(c, make([]byte, len(http2.ClientPreface))); err != nil {
			return
		}
		var out bytes.Buffer
		f := http2.NewFramer(&out, c)
		_ = f.WriteSettings()
		for {
			frame, err := f.ReadFrame()
			if err != nil {
				return
			}
			request, is := frame.(*http2.HeadersFrame)
			if !is {
				continue
			}
			if begin != nil {
				_ = begin(f, request.StreamID)
			}
			repeat(c, &out, func() { _ = again(f, request.StreamID) })
			return
		}
	}}
}

// repeat writes what a buffer holds, and then what again adds to it, many times at once.
func repeat(c net.Conn, out *bytes.Buffer, again func()) {
	go func() { _, _ = io.Copy(io.Discard, c) }() // a client that answers each piece is not kept waiting
	if _, err := c.Write(out.Bytes()); err != nil {
		return
	}
	out.Reset()
	for out.Len() < 16<<10 {
		again()
	}
	for {
		if _, err := c.Write(out.Bytes()); err != nil {
			return
		}
	}
}

func fields2(f *http2.Framer, stream uint32, end bool, list ...string) error {
	var packed bytes.Buffer
	encoder := hpack.NewEncoder(&packed)
	for i := 0; i < len(list); i += 2 {
		_ = encoder.WriteField(hpack.HeaderField{Name: list[i], Value: list[i+1], Sensitive: true})
	}
	return f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: packed.Bytes(), EndHeaders: end})
}

func begin2(f *http2.Framer, stream uint32) error {
	return fields2(f, stream, true, ":status", "200", "content-type", "text/plain")
}

// over1 answers a request over HTTP/1 with a beginning, and then with the same until the client stops reading.
func over1(begin, again string) endpoint {
	return endpoint{port: 80, raw: func(_ context.Context, c net.Conn) {
		_ = c.SetDeadline(time.Now().Add(idle))
		if _, err := c.Read(make([]byte, 4096)); err != nil {
			return
		}
		out := bytes.NewBufferString(begin)
		repeat(c, out, func() { out.WriteString(again) })
	}}
}

// dripped is an endpoint that writes octet by octet: each is a segment, or below TLS a record.
func dripped(e endpoint) endpoint {
	inner := e.raw
	e.raw = func(ctx context.Context, c net.Conn) { inner(ctx, drip{c}) }
	return e
}

type drip struct{ net.Conn }

func (d drip) Write(p []byte) (int, error) {
	for i := range p {
		if _, err := d.Conn.Write(p[i : i+1]); err != nil {
			return i, err
		}
	}
	return len(p), nil
}

// inLines writes so many octets at a time.
func inLines(inner func(context.Context, net.Conn), octets int) func(context.Context, net.Conn) {
	return func(ctx context.Context, c net.Conn) { inner(ctx, lines{c, octets}) }
}

type lines struct {
	net.Conn
	octets int
}

func (l lines) Write(p []byte) (int, error) {
	for at := 0; at < len(p); at += l.octets {
		if _, err := l.Conn.Write(p[at:min(len(p), at+l.octets)]); err != nil {
			return at, err
		}
	}
	return len(p), nil
}

// overTLS is an endpoint of HTTP/1 below TLS.
func overTLS(e endpoint) endpoint {
	e.port, e.tls = 443, &tlsSetup{noHTTP2: true}
	return e
}

// floods are what a server may do for as long as it is listened to.
func floods() []flood {
	const head1 = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
	ok := func(header string) string { return head1 + header + "\r\n" }
	text := strings.Repeat("Disallow: /x\n", 8)
	return []flood{
		{"flood-settings", "SETTINGS without end", over2(nil, func(f *http2.Framer, _ uint32) error {
			return f.WriteSettings()
		})},
		{"flood-ping", "PING without end", over2(nil, func(f *http2.Framer, _ uint32) error {
			return f.WritePing(false, [8]byte{1})
		})},
		{"flood-unknown", "frames without end of an undefined type", over2(nil, func(f *http2.Framer, _ uint32) error {
			return f.WriteRawFrame(0x77, 0, 0, nil)
		})},
		{"flood-window", "WINDOW_UPDATE without end", over2(nil, func(f *http2.Framer, stream uint32) error {
			return f.WriteWindowUpdate(stream, 1)
		})},
		{"flood-priority", "PRIORITY without end", over2(nil, func(f *http2.Framer, stream uint32) error {
			return f.WritePriority(stream, http2.PriorityParam{StreamDep: stream + 2})
		})},
		{"flood-reset", "RST_STREAM of other streams without end", over2(nil, func(f *http2.Framer, stream uint32) error {
			return f.WriteRSTStream(stream+2, http2.ErrCodeCancel)
		})},
		{"flood-goaway", "GOAWAY without end", over2(nil, func(f *http2.Framer, stream uint32) error {
			return f.WriteGoAway(stream, http2.ErrCodeNo, nil)
		})},
		{"flood-push", "PUSH_PROMISE without end", over2(nil, func(f *http2.Framer, stream uint32) error {
			return f.WritePushPromise(http2.PushPromiseParam{StreamID: stream, PromiseID: 2, EndHeaders: true})
		})},
		{"flood-hints", "interim answers of HTTP/2 without end", over2(nil, func(f *http2.Framer, stream uint32) error {
			return fields2(f, stream, true, ":status", "103")
		})},
		{"flood-continuation", "empty CONTINUATION without end", over2(func(f *http2.Framer, stream uint32) error {
			return fields2(f, stream, false, ":status", "200")
		}, func(f *http2.Framer, stream uint32) error { return f.WriteContinuation(stream, false, nil) })},
		{"flood-refused", "refuses every request of HTTP/2", over2(func(f *http2.Framer, stream uint32) error {
			return f.WriteRSTStream(stream, http2.ErrCodeRefusedStream)
		}, func(f *http2.Framer, stream uint32) error {
			return f.WriteRSTStream(stream+2, http2.ErrCodeRefusedStream)
		})},
		{"flood-empty", "an answer of empty DATA without end", over2(begin2, func(f *http2.Framer, stream uint32) error {
			return f.WriteData(stream, false, nil)
		})},
		{"flood-padding", "an answer of padding without end", over2(begin2, func(f *http2.Framer, stream uint32) error {
			return f.WriteDataPadded(stream, false, nil, make([]byte, 255))
		})},
		{"flood-crumbs", "an answer of DATA of one octet without end", over2(begin2,
			func(f *http2.Framer, stream uint32) error { return f.WriteData(stream, false, []byte("x")) })},
		{"flood-body-settings", "an answer of SETTINGS without end", over2(begin2,
			func(f *http2.Framer, _ uint32) error { return f.WriteSettings() })},
		{"flood-small-data", "an answer of DATA of 64 octets without end", over2(begin2,
			func(f *http2.Framer, stream uint32) error { return f.WriteData(stream, false, []byte(text[:64])) })},
		{"flood-lines", "an answer of DATA of 33 octets without end", over2(begin2,
			func(f *http2.Framer, stream uint32) error { return f.WriteData(stream, false, []byte(text[:33])) })},

		{"flood-hints1", "interim answers of HTTP/1 without end", over1("", "HTTP/1.1 103 Early Hints\r\n\r\n")},
		{"flood-chunks", "chunks of one octet without end", over1(ok("Transfer-Encoding: chunked\r\n"), "1\r\nx\r\n")},
		{"flood-extensions", "chunks with long extensions without end",
			over1(ok("Transfer-Encoding: chunked\r\n"), "1;"+strings.Repeat("x", 4000)+"\r\nx\r\n")},
		{"flood-trailers", "trailers without end", over1(ok("Transfer-Encoding: chunked\r\n")+"1\r\nx\r\n0\r\n", "X: y\r\n")},
		{"flood-headers", "headers without end", over1(head1, "X: y\r\n")},
		{"flood-segments", "an answer without end in segments of one octet", dripped(over1(ok(""), text))},
		{"flood-segments-head", "a header without end in segments of one octet", dripped(over1(head1, "X: y\r\n"))},
		{"flood-records", "an answer without end in records of one octet", dripped(overTLS(over1(ok(""), text)))},
		{"flood-records-lines", "an answer without end in records of 33 octets",
			overTLS(endpoint{raw: inLines(over1(ok(""), text).raw, 33)})},
		{"flood-records-head", "a header without end in records of one octet", dripped(overTLS(over1(head1, "X: y\r\n")))},
		{"flood-handshake", "a handshake without end", endpoint{port: 443, raw: endlessHandshake}},
		{"flood-alerts", "a handshake without end in records of one octet, between warnings",
			endpoint{port: 443, raw: handshakeBetweenWarnings}},
		{"flood-keys", "new keys of TLS without end, between octets of a header", endpoint{
			port: 443, raw: newKeys, tls: &tlsSetup{noHTTP2: true, min: tls.VersionTLS13}, startTLS: true,
		}},
	}
}

func addFloods(add adder) {
	for _, f := range floods() {
		add(f.label, f.note, []endpoint{f.endpoint})
	}
}

// record is one of TLS, in the clear.
func record(kind byte, body ...byte) []byte {
	return append(binary.BigEndian.AppendUint16([]byte{kind, 3, 3}, uint16(len(body))), body...)
}

const (
	recordAlert     = 21
	recordHandshake = 22
	recordData      = 23
)

// endlessHandshake sends a ServerHello that is as long as a message may be, and never ends.
func endlessHandshake(_ context.Context, c net.Conn) {
	_ = c.SetDeadline(time.Now().Add(idle))
	if _, err := c.Read(make([]byte, 4096)); err != nil {
		return
	}
	out := bytes.NewBuffer(record(recordHandshake, 2, 0, 0xff, 0xff))
	repeat(c, out, func() { out.Write(record(recordHandshake, 1)) })
}

// handshakeBetweenWarnings is endlessHandshake with as many warnings between its octets as a client may take.
func handshakeBetweenWarnings(_ context.Context, c net.Conn) {
	_ = c.SetDeadline(time.Now().Add(idle))
	if _, err := c.Read(make([]byte, 4096)); err != nil {
		return
	}
	const warning, unrecognizedName = 1, 112
	out := bytes.NewBuffer(record(recordHandshake, 2, 0, 0xff, 0xff))
	repeat(c, out, func() {
		out.Write(bytes.Repeat(record(recordAlert, warning, unrecognizedName), 15))
		out.Write(record(recordHandshake, 1))
	})
}
