package egress_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/budget/memory"
	"diagnostics/gateway/internal/egress/http1"
	"diagnostics/gateway/internal/fault"
)

func packed(t testing.TB, open func(io.Writer) io.WriteCloser, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := open(&b)
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gzipped(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }
func zlibbed(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }
func deflated(w io.Writer) io.WriteCloser {
	f, _ := flate.NewWriter(w, flate.BestCompression)
	return f
}

func TestBodies(t *testing.T) {
	t.Parallel()
	const limit = 1000
	text := []byte("User-agent: *\nDisallow: /\n")
	exact, over := bytes.Repeat([]byte("x"), limit), bytes.Repeat([]byte("x"), limit+1)
	zip := packed(t, gzipped, text)
	corrupt := bytes.Clone(zip)
	corrupt[len(corrupt)-5] ^= 0xff
	for _, test := range []struct {
		name, encoding string
		sent           []byte
		want           []byte
		truncated      bool
		sentence       string
	}{
		{"gzip and a comment", "gzip", append(bytes.Clone(zip), "<!-- cached -->"...), text, false, ""},
		{"gzip in two members and zeroes", "gzip", append(append(bytes.Clone(zip), zip...), 0, 0), append(bytes.Clone(text), text...), false, ""},
		{"a second member spoilt", "gzip", append(bytes.Clone(zip), corrupt...), append(bytes.Clone(text), text...), false, "The compressed body is corrupt."},
		{"plain", "", text, text, false, ""},
		{"identity", "identity", text, text, false, ""},
		{"as long as may be", "", exact, exact, false, ""},
		{"one longer", "", over, exact, true, ""},
		{"gzip", "gzip", zip, text, false, ""},
		{"x-gzip", "X-GZIP", zip, text, false, ""},
		{"gzip as long as may be", "gzip", packed(t, gzipped, exact), exact, false, ""},
		{"gzip, one longer", "gzip", packed(t, gzipped, over), exact, true, ""},
		{"deflate", "deflate", packed(t, zlibbed, text), text, false, ""},
		{"deflate without its header", "deflate", packed(t, deflated, text), text, false, ""},
		{"gzip in two members", "gzip", append(bytes.Clone(zip), zip...), append(bytes.Clone(text), text...), false, ""},
		{"an empty body that claims gzip", "gzip", nil, nil, false, ""},
		{"a gzip bomb", "gzip", packed(t, gzipped, make([]byte, 8<<20)), make([]byte, limit), true, ""},
		{"endless empty members", "gzip", bytes.Repeat(packed(t, gzipped, nil), 1<<14), nil, true, ""},
		{"gzip in gzip", "gzip, gzip", packed(t, gzipped, zip), nil, false, "The body uses a content encoding that was not requested."},
		{"brotli", "br", text, nil, false, "The body uses a content encoding that was not requested."},
		{"not gzip at all", "gzip", text, nil, false, "The compressed body is corrupt."},
		{"a wrong checksum", "gzip", corrupt, text, false, "The compressed body is corrupt."},
		{"half a gzip", "gzip", zip[:len(zip)-9], text, false, "The connection closed before the body was complete."},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			n := withSite(t)
			offered := make(chan string, 1)
			n.Serve(web4+":80", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				offered <- r.Header.Get("Accept-Encoding")
				w.Header().Set("Content-Type", "text/plain")
				w.Header().Set("Content-Encoding", test.encoding)
				_, _ = w.Write(test.sent)
			}))
			r, err := get(t, n.Client(nil), "http://example.com/robots.txt", maxBody(limit))
			if err != nil {
				t.Fatal(err)
			}
			if encoding := <-offered; encoding != "gzip" {
				t.Errorf("Accept-Encoding %q", encoding)
			}
			if !bytes.Equal(r.Body, test.want) && len(r.Body)+len(test.want) > 0 {
				t.Errorf("%d bytes, want %d", len(r.Body), len(test.want))
			}
			if r.Truncated != test.truncated || sentence(r.BodyErr) != test.sentence ||
				(r.BodyErr != nil) != (test.sentence != "") {
				t.Errorf("truncated %v, error %v", r.Truncated, r.BodyErr)
			}
			if trailing := slices.Contains(r.Notes, http1.TrailingBytes); trailing != strings.Contains(test.name, " and ") {
				t.Errorf("notes %v", r.Notes)
			}
			if r.Received > limit+64<<10 || !r.Truncated && r.BodyErr == nil && r.Received != int64(len(test.sent)) {
				t.Errorf("received %d of %d bytes", r.Received, len(test.sent))
			}
		})
	}
}

func TestBodiesThatEndEarly(t *testing.T) {
	t.Parallel()
	head := "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"
	for _, test := range []struct {
		name     string
		serve    func(net.Conn)
		kind     fault.Kind
		sentence string
	}{
		{"close", answerWith(head), fault.Upstream, "The connection closed before the body was complete."},
		{"silence", func(c net.Conn) { answerWith(head)(c); stay(c) }, fault.Timeout, "The body did not arrive in time."},
		{"a bad chunk", answerWith("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nzz\r\n"), fault.Upstream, "The connection closed before the body was complete."},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			n := withSite(t)
			n.ServeConn(web4+":80", test.serve)
			bound := patience(test.kind)
			c := n.Client(nil, egress.WithBounds(bound, bound, bound))
			r, err := get(t, c, "http://example.com/", maxBody(1000))
			if err != nil {
				t.Fatal(err)
			}
			if string(r.Body) != "half" || !fault.Is(r.BodyErr, test.kind) || sentence(r.BodyErr) != test.sentence ||
				r.Truncated {
				t.Errorf("%q, %v", r.Body, r.BodyErr)
			}
		})
	}
}

// What is kept of a body counts for the run, decompressed, and as it comes.
func TestBodiesAreCounted(t *testing.T) {
	t.Parallel()
	const limit = 100 << 10
	for _, test := range []struct{ size, want int }{{50 << 10, 50 << 10}, {limit, limit}, {8 << 20, limit + 1}} {
		n := withSite(t)
		n.Serve(web4+":80", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(packed(t, gzipped, make([]byte, test.size)))
		}))
		var counted atomic.Int64
		ctx := memory.WithCounter(t.Context(), func(bytes int) { counted.Add(int64(bytes)) })
		request := egress.Request{URL: parseURL(t, "http://example.com/"), MaxBody: limit}
		_, err := n.Client(nil).Do(ctx, request)
		// The lookup of the name counts too.
		if more := counted.Load() - int64(test.want); err != nil || more < 0 || more > 1000 {
			t.Errorf("of %d bytes %d were counted: %v", test.size, counted.Load(), err)
		}
	}
}

// A body that is not requested is not fetched, however long it is.
func TestBodyIsReadOnRequestOnly(t *testing.T) {
	t.Parallel()
	n := withSite(t)
	sent := make(chan int, 1)
	n.Serve(web4+":80", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if encoding := r.Header.Get("Accept-Encoding"); encoding != "" {
			t.Errorf("Accept-Encoding %q", encoding)
		}
		const size = 1 << 30
		w.Header().Set("Content-Length", strconv.Itoa(size))
		total := 0
		for chunk := []byte(strings.Repeat("x", 1<<16)); total < size; {
			k, err := w.Write(chunk)
			total += k
			if err != nil {
				break
			}
		}
		sent <- total
	}))
	r, err := get(t, n.Client(nil), "http://example.com/")
	if err != nil || r.Body != nil || r.Truncated || r.BodyErr != nil {
		t.Errorf("%+v, %v", r, err)
	}
	if total := <-sent; total > 64<<20 {
		t.Errorf("the server could send %d bytes", total)
	}
}

func TestConsumedBodies(t *testing.T) {
	t.Parallel()
	text := []byte("<urlset/>")
	zip := packed(t, gzipped, text)
	n := withSite(t)
	n.Serve(web4+":80", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/", http.StatusFound)
			return
		case "/unknown":
			w.Header().Set("Content-Encoding", "br")
		default:
			if r.Header.Get("Accept-Encoding") != "gzip" {
				t.Errorf("Accept-Encoding is %q", r.Header.Get("Accept-Encoding"))
			}
			w.Header().Set("Content-Encoding", "gzip")
		}
		_, _ = w.Write(zip)
	}))
	c := n.Client(nil)
	calls := 0
	chain := follow(t, c, "http://example.com/moved", 5, func(r *egress.Request) {
		r.Consume = func(answer *egress.Response, body io.Reader) {
			calls++
			if answer.Status != http.StatusOK || answer.URL.RequestURI() != "/" {
				t.Errorf("consuming the body of %+v", answer)
			}
			decoded, err := egress.DecodeBody(t.Context(), answer, body)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(decoded); err != nil || string(got) != string(text) {
				t.Errorf("read %q, %v", got, err)
			}
		}
	})
	final := chain.Final()
	if calls != 1 || final.Received != int64(len(zip)) || final.BodyErr != nil || final.Body != nil {
		t.Errorf("%d calls, %+v", calls, final)
	}
	for _, hop := range chain.Hops {
		if hop.Took < hop.Response.Timings.Total {
			t.Errorf("%s took %v, less than %v", hop.URL, hop.Took, hop.Response.Timings.Total)
		}
	}
	_, err := c.Do(t.Context(), egress.Request{URL: parseURL(t, "http://example.com/unknown"),
		Consume: func(answer *egress.Response, body io.Reader) {
			_, err := egress.DecodeBody(t.Context(), answer, body)
			wantFault(t, err, fault.Upstream)
		}})
	if err != nil {
		t.Error(err)
	}
}

func TestConsumedBodyThatBreaksOff(t *testing.T) {
	t.Parallel()
	zip := packed(t, gzipped, []byte("<urlset/>"))
	n := withSite(t)
	n.ServeConn(web4+":80", func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, 4096))
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1000\r\n\r\n")
		_, _ = conn.Write(zip[:len(zip)-9])
	})
	answer, err := n.Client(nil).Do(t.Context(), egress.Request{URL: parseURL(t, "http://example.com/"),
		Consume: func(answer *egress.Response, body io.Reader) {
			decoded, err := egress.DecodeBody(t.Context(), answer, body)
			if err != nil {
				t.Fatal(err)
			}
			_, err = io.ReadAll(decoded)
			wantFault(t, err, fault.Upstream)
		}})
	if err != nil {
		t.Fatal(err)
	}
	wantFault(t, answer.BodyErr, fault.Upstream)
}

// A chain's failed hop has its own duration, since there is no answer that has one.
func TestFailedHopsTakeTime(t *testing.T) {
	t.Parallel()
	n := withSite(t)
	chain := follow(t, n.Client(nil), "http://example.com/", 5)
	if chain.End != egress.EndUnreachable || chain.Hops[0].Took <= 0 {
		t.Errorf("%+v", chain)
	}
}
