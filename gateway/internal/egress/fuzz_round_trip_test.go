package egress_test

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/fault"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// The bounds of the round trips below: a server that says too little must not hold the fuzzer up.
const (
	fuzzBody = 64 << 10
	fuzzTime = 300 * time.Millisecond
)

// says serves the bytes that are in it at the moment, and then ends its side.
type says struct{ atomic.Pointer[[]byte] }

func (s *says) to(c net.Conn, end func() error) {
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(io.Discard, c)
	}()
	_, _ = c.Write(*s.Load())
	_ = end()
	<-read
}

// holdRoundTrip holds what is true of every round trip, whatever the server is.
func holdRoundTrip(t *testing.T, r *egress.Response, err error) {
	t.Helper()
	if err != nil {
		if !fault.Is(err, fault.Upstream) && !fault.Is(err, fault.Timeout) {
			t.Errorf("an error of another kind: %v", err)
		}
		return
	}
	if len(r.Body) > fuzzBody || r.Received > 2*fuzzBody {
		t.Errorf("%d bytes of a body, %d received", len(r.Body), r.Received)
	}
	if r.BodyErr != nil && !fault.Is(r.BodyErr, fault.Upstream) && !fault.Is(r.BodyErr, fault.Timeout) {
		t.Errorf("the body's error: %v", r.BodyErr)
	}
	if r.Status < 100 || r.Status > 999 || strings.ContainsFunc(r.StatusText, unicode.IsControl) {
		t.Errorf("status %d %q", r.Status, r.StatusText)
	}
	size := 0
	for name, values := range r.Header {
		for _, value := range values {
			size += len(name) + len(value)
		}
	}
	if size > egress.MaxHeaderBytes {
		t.Errorf("%d bytes of header", size)
	}
}

// FuzzRoundTripPlain is a server that answers any bytes over HTTP/1.
func FuzzRoundTripPlain(f *testing.F) {
	n := withSite(f)
	var server says
	n.ServeConn(web4+":80", func(c net.Conn) { server.to(c, c.(*net.TCPConn).CloseWrite) })
	client := n.Client(nil, egress.WithBounds(fuzzTime, fuzzTime, fuzzTime))
	for _, text := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.1 200 \x1b[31mred\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nTrailer: x\r\n\r\n",
		"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.0 404 \r\n\r\n",
		"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nbytes",
		"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 99\r\n\r\n\x1f\x8b\x08\x00",
		"HTTP/1.1 200 OK\r\nA: 1\r\n folded\r\nA: 2\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
		"220 ftp ready\r\n", "", "\x16\x03\x01\x02\x00\x01",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		server.Store(&text)
		r, err := get(t, client, "http://example.com/", maxBody(fuzzBody))
		holdRoundTrip(t, r, err)
	})
}

// FuzzRoundTripHTTP2 is a server that agrees to HTTP/2, sends its settings, and then any bytes.
func FuzzRoundTripHTTP2(f *testing.F) {
	n := withSite(f)
	config, trust := site(f)
	config.NextProtos = []string{"h2"}
	var server says
	n.ServeConn(web4+":443", func(c net.Conn) {
		secure := tls.Server(c, config)
		if secure.Handshake() == nil {
			server.to(secure, secure.CloseWrite)
		}
	})
	client := n.Client(nil, trust, egress.WithBounds(fuzzTime, fuzzTime, fuzzTime))
	for _, text := range framesToBeginWith(f) {
		f.Add(text)
	}
	settings := framed(f, func(w *http2.Framer) error { return w.WriteSettings() })
	f.Fuzz(func(t *testing.T, text []byte) {
		said := append(bytes.Clone(settings), text...)
		server.Store(&said)
		r, err := get(t, client, "https://example.com/", maxBody(fuzzBody))
		holdRoundTrip(t, r, err)
	})
}

func framed(t testing.TB, write ...func(*http2.Framer) error) []byte {
	t.Helper()
	var out bytes.Buffer
	w := http2.NewFramer(&out, nil)
	w.AllowIllegalWrites = true
	for _, one := range write {
		if err := one(w); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// framesToBeginWith have every type of frame, in answers that are whole and in floods that are none.
func framesToBeginWith(t testing.TB) (all [][]byte) {
	t.Helper()
	header := func(fields ...string) []byte {
		var out bytes.Buffer
		w := hpack.NewEncoder(&out)
		for i := 0; i < len(fields); i += 2 {
			_ = w.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
		}
		return out.Bytes()
	}
	headers := func(end bool, fields ...string) func(*http2.Framer) error {
		return func(w *http2.Framer) error {
			return w.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: header(fields...), EndHeaders: true,
				EndStream: end})
		}
	}
	data := func(w *http2.Framer) error { return w.WriteData(1, true, []byte("ok")) }
	times := func(n int, one func(*http2.Framer) error) (many []func(*http2.Framer) error) {
		for range n {
			many = append(many, one)
		}
		return many
	}
	for _, frames := range [][]func(*http2.Framer) error{
		{headers(false, ":status", "200", "content-type", "text/plain"), data},
		{headers(false, ":status", "103", "link", "</a>"), headers(true, ":status", "404")},
		{headers(false, ":status", "200", "content-encoding", "gzip"), data, headers(true, "trailer", "x")},
		{headers(true, ":status", "099")},
		{headers(true, ":status", "abc", "x", strings.Repeat("y", 100))},
		times(30, func(w *http2.Framer) error { return w.WritePing(false, [8]byte{1}) }),
		times(30, func(w *http2.Framer) error {
			return w.WriteSettings(http2.Setting{ID: http2.SettingHeaderTableSize, Val: 0})
		}),
		times(30, func(w *http2.Framer) error { return w.WriteWindowUpdate(0, 1) }),
		times(30, func(w *http2.Framer) error { return w.WriteRawFrame(0xfa, 0xff, 1, []byte("unknown")) }),
		append([]func(*http2.Framer) error{func(w *http2.Framer) error {
			return w.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: header(":status", "200")})
		}}, times(30, func(w *http2.Framer) error { return w.WriteContinuation(1, false, nil) })...),
		{func(w *http2.Framer) error { return w.WriteRSTStream(1, http2.ErrCodeRefusedStream) }},
		{func(w *http2.Framer) error { return w.WriteGoAway(0, http2.ErrCodeNo, []byte("later")) }},
		{func(w *http2.Framer) error {
			return w.WritePushPromise(http2.PushPromiseParam{StreamID: 1, PromiseID: 2, BlockFragment: header(":path", "/"),
				EndHeaders: true})
		}},
		{func(w *http2.Framer) error { return w.WritePriority(1, http2.PriorityParam{StreamDep: 1}) }},
	} {
		all = append(all, framed(t, frames...))
	}
	return all
}

// FuzzDecodeBody undoes any encoding of any bytes. What comes out are the same bytes where no encoding is named, and
// the failures are of the known kinds.
func FuzzDecodeBody(f *testing.F) {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, _ = io.WriteString(w, strings.Repeat("a", 1000))
	_ = w.Close()
	for _, encoding := range []string{"", "gzip", "deflate", "GZIP, identity", "br"} {
		f.Add(encoding, zipped.Bytes())
	}
	f.Add("deflate", []byte("\x78\x9c\x4b\x04\x00\x00\x62\x00\x62"))
	f.Fuzz(func(t *testing.T, encoding string, body []byte) {
		r := &egress.Response{Header: http.Header{"Content-Encoding": {encoding}}}
		text, err := egress.DecodeBody(t.Context(), r, bytes.NewReader(body))
		var out bytes.Buffer
		if err == nil {
			_, err = io.CopyN(&out, text, 1<<20)
		}
		if err != nil && !errors.Is(err, io.EOF) && !fault.Is(err, fault.Upstream) {
			t.Errorf("an error of another kind: %v", err)
		}
		if encoding == "" && len(body) < 1<<20 && !bytes.Equal(out.Bytes(), body) {
			t.Errorf("%q became %q", body, out.Bytes())
		}
	})
}
