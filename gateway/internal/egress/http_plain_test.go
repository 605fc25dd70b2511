package egress_test

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite testdata/http1.txt, to be read line by line before it is kept")

// answers1 are answers of HTTP/1 as servers give them, and as no server should. Each is requested in several ways.
func answers1() []struct{ name, answer string } {
	const ok, chunked = "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
	long := strings.Repeat("x", egress.MaxHeaderBytes)
	interim := func(n int, fields string) string {
		return strings.Repeat("HTTP/1.1 103 Early Hints\r\n"+fields+"\r\n", n)
	}
	return []struct{ name, answer string }{
		{"nothing", ""},
		{"an end of line", "\r\n"},
		{"a length", ok + "Content-Length: 5\r\n\r\nhello"},
		{"more than the length", ok + "Content-Length: 5\r\n\r\nhello and more"},
		{"less than the length", ok + "Content-Length: 50\r\n\r\nhello"},
		{"length 0", ok + "Content-Length: 0\r\n\r\nhello"},
		{"the same length twice", ok + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello"},
		{"two lengths in a field", ok + "Content-Length: 5, 5\r\n\r\nhello"},
		{"two lengths", ok + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello"},
		{"a negative length", ok + "Content-Length: -5\r\n\r\nhello"},
		{"a signed length", ok + "Content-Length: +5\r\n\r\nhello"},
		{"a length with blanks", ok + "Content-Length:   5  \r\n\r\nhello"},
		{"an empty length", ok + "Content-Length: \r\n\r\n"},
		{"a length of words", ok + "Content-Length: five\r\n\r\nhello"},
		{"a length of 20 digits", ok + "Content-Length: 99999999999999999999\r\n\r\nhello"},
		{"no length", ok + "\r\nhello"},
		{"no length, keep-alive", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\nhello"},
		{"close", ok + "Connection: close\r\n\r\nhello"},
		{"HTTP/1.0", "HTTP/1.0 200 Fine\r\n\r\nhello"},
		{"HTTP/1.0, chunks", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"},
		{"HTTP/1.2", "HTTP/1.2 200 OK\r\nContent-Length: 5\r\n\r\nhello"},
		{"HTTP/2.0", "HTTP/2.0 200 OK\r\nContent-Length: 5\r\n\r\nhello"},
		{"HTTP/0.9", "HTTP/0.9 200 OK\r\n\r\nhello"},
		{"HTTP/9.9x", "HTTP/9.9x 200 OK\r\n\r\n"},
		{"no version", "HTTP/ 200 OK\r\n\r\n"},
		{"small letters", "http/1.1 200 OK\r\n\r\nhello"},
		{"line feeds alone", "HTTP/1.1 200 OK\nContent-Length: 5\n\nhello"},
		{"carriage returns alone", "HTTP/1.1 200 OK\rContent-Length: 5\r\rhello"},
		{"empty lines before", "\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"},
		{"status 0", "HTTP/1.1 000 OK\r\n\r\n"},
		{"status 99", "HTTP/1.1 099 OK\r\n\r\n"},
		{"status 20", "HTTP/1.1 20 OK\r\n\r\n"},
		{"status 2000", "HTTP/1.1 2000 OK\r\n\r\n"},
		{"status -200", "HTTP/1.1 -20 OK\r\n\r\n"},
		{"status 999", "HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n"},
		{"status 204 with a body", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello"},
		{"status 304 with a length", "HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n"},
		{"status 205", "HTTP/1.1 205 Reset Content\r\n\r\nhello"},
		{"no reason", "HTTP/1.1 404 \r\nContent-Length: 0\r\n\r\n"},
		{"no blank after the status", "HTTP/1.1 404\r\nContent-Length: 0\r\n\r\n"},
		{"a reason of control characters", "HTTP/1.1 200 \x1b[31m\x00red\xff\r\nContent-Length: 0\r\n\r\n"},
		{"a status line alone", "HTTP/1.1 200 OK\r\n"},
		{"half a status line", "HTTP/1.1 20"},
		{"half a head", ok + "X: y\r\n"},
		{"half a field", ok + "X: y"},
		{"no colon", ok + "no colon\r\n\r\n"},
		{"a blank before the colon", ok + "X : y\r\n\r\n"},
		{"a blank first", ok + " X: y\r\n\r\n"},
		{"a field without a name", ok + ": y\r\n\r\n"},
		{"a name in Unicode", ok + "Ä: y\r\n\r\n"},
		{"a value of any octets", ok + "X: \x80\xff\x01\r\n\r\n"},
		{"a value with a NUL", ok + "X: a\x00b\r\n\r\n"},
		{"a folded value", ok + "X: one\r\n two\r\n\tthree\r\nContent-Length: 0\r\n\r\n"},
		{"a folded first line", ok + "\tX: y\r\n\r\n"},
		{"names of any case", ok + "x-ONE: 1\r\nX-one: 2\r\nConTent-LENgth: 0\r\nETag: e\r\nWWW-authenticate: x\r\n\r\n"},
		{"empty values", ok + "X:\r\nY: \r\nContent-Length: 0\r\n\r\n"},
		{"cookies", ok + "Set-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: 0\r\n\r\n"},
		{"Pragma", ok + "Pragma: no-cache\r\nContent-Length: 0\r\n\r\n"},
		{"Pragma and Cache-Control", ok + "Pragma: no-cache\r\nCache-Control: private\r\nContent-Length: 0\r\n\r\n"},
		{"chunks", chunked + "\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"},
		{"chunks with extensions", chunked + "\r\n2;x=y\r\nhe\r\n3 ; z\r\nllo\r\n0\r\n\r\n"},
		{"chunks with line feeds", chunked + "\n2\nhe\n3\nllo\n0\n\n"},
		{"chunks, no end", chunked + "\r\n2\r\nhe\r\n"},
		{"chunks, half of one", chunked + "\r\n9\r\nhe"},
		{"chunks, no size", chunked + "\r\nhello"},
		{"chunks, a negative size", chunked + "\r\n-2\r\nhe\r\n0\r\n\r\n"},
		{"chunks, a huge size", chunked + "\r\nfffffffffffffffff\r\nhe\r\n0\r\n\r\n"},
		{"chunks, a long line", chunked + "\r\n2;" + strings.Repeat("x", 5000) + "\r\nhe\r\n0\r\n\r\n"},
		{"chunks, too long", chunked + "\r\n2\r\nhello\r\n0\r\n\r\n"},
		{"chunks, and more", chunked + "\r\n0\r\n\r\nmore"},
		{"chunks, and a length", chunked + "Content-Length: 3\r\n\r\n2\r\nhe\r\n0\r\n\r\n"},
		{"trailers", chunked + "Trailer: X-Sum\r\n\r\n2\r\nhe\r\n0\r\nX-Sum: 1\r\nX-Other: 2\r\n\r\n"},
		{"trailers that break off", chunked + "Trailer: X-Sum\r\n\r\n2\r\nhe\r\n0\r\nX-Sum: 1\r\n"},
		{"trailers that are bad", chunked + "Trailer: X-Sum\r\n\r\n2\r\nhe\r\n0\r\nno colon\r\n\r\n"},
		{"trailers that are long", chunked + "Trailer: X-Sum\r\n\r\n2\r\nhe\r\n0\r\nX-Sum: " + long + "\r\n\r\n"},
		{"a trailer that is forbidden", chunked + "Trailer: Content-Length\r\n\r\n0\r\n\r\n"},
		{"an encoding of another kind", ok + "Transfer-Encoding: gzip\r\n\r\nhello"},
		{"two encodings", ok + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"},
		{"the same encoding twice", chunked + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
		{"identity", ok + "Transfer-Encoding: identity\r\n\r\nhello"},
		{"an encoding in capitals", ok + "Transfer-Encoding: CHUNKED\r\n\r\n0\r\n\r\n"},
		{"gzip that is none", ok + "Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello"},
		{"an unknown content encoding", ok + "Content-Encoding: br\r\nContent-Length: 5\r\n\r\nhello"},
		{"an interim answer", interim(1, "Link: </a>\r\n") + ok + "Content-Length: 2\r\n\r\nok"},
		{"100", "HTTP/1.1 100 Continue\r\n\r\n" + ok + "Content-Length: 2\r\n\r\nok"},
		{"100 alone", "HTTP/1.1 100 Continue\r\n\r\n"},
		{"102 with a length", "HTTP/1.1 102 Processing\r\nContent-Length: 5\r\n\r\n" + ok + "Content-Length: 2\r\n\r\nok"},
		{"103 with chunks", "HTTP/1.1 103 X\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
		{"199", "HTTP/1.1 199 X\r\n\r\nHTTP/1.0 404 \r\n\r\n"},
		{"200 interim answers", interim(200, "") + ok + "Content-Length: 0\r\n\r\n"},
		{"201 interim answers", interim(201, "") + ok + "Content-Length: 0\r\n\r\n"},
		{"long interim answers", interim(70, "X: "+strings.Repeat("x", 1000)+"\r\n") + ok + "\r\n"},
		{"a skipped line that is continued", ok + "no colon\r\n Content-Length: 2\r\nX: y\r\nContent-Length: 5\r\n\r\nhello"},
		{"the status line twice", ok + ok + "X: y\r\n\r\nhello"},
		{"a page in the head", ok + "<!DOCTYPE html>\r\nX: y\r\n\r\nhello"},
		{"a blank before the colon of a length", ok + "Content-Length : 2\r\n\r\nhello"},
		{"tabs in the status line", "HTTP/1.1\t200\tOK\r\n\r\nhello"},
		{"a control character in a cookie", ok + "Set-Cookie: a=b\x01c\r\n\r\n"},
		{"a carriage return in a value", ok + "X: a\rb\r\n\r\n"},
		{"1,000 lines", ok + strings.Repeat("X: y\r\n", 999) + "\r\n"},
		{"1,001 lines", ok + strings.Repeat("X: y\r\n", 1000) + "\r\n"},
		{"half a page", "<html>hello"},
		{"another alert of TLS", "\x15\x03\x03\x00\x02\x02\x28"},
		{"SSH", "SSH-2.0-OpenSSH_9.2\r\n"},
		{"a broken interim answer", "HTTP/1.1 103 X\r\nno colon\r\n\r\n" + ok + "\r\n"},
		{"101", "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nbytes"},
		{"101 without an upgrade", "HTTP/1.1 101 X\r\nContent-Length: 5\r\n\r\nhello"},
		{"two answers", ok + "Content-Length: 2\r\n\r\nok" + ok + "Content-Length: 2\r\n\r\nno"},
		{"a head below the bound", ok + "X: " + long[:egress.MaxHeaderBytes-200] + "\r\nContent-Length: 2\r\n\r\nok"},
		{"a head at the bound", ok + "X: " + long[:egress.MaxHeaderBytes-len(ok)-7] + "\r\n\r\n"},
		{"a head and a byte at the bound", ok + "X: " + long[:egress.MaxHeaderBytes-len(ok)-8] + "\r\n\r\nx"},
		{"a head over the bound", ok + "X: " + long[:egress.MaxHeaderBytes-len(ok)-6] + "\r\n\r\n"},
		{"a field over the bound", ok + "X: " + long + "\r\n\r\n"},
		{"a status line over the bound", "HTTP/1.1 200 " + long + "\r\n\r\n"},
		{"fields over the bound", ok + strings.Repeat("X: "+long[:1000]+"\r\n", 70) + "\r\n"},
		{"bytes without a line", long + long},
		{"a body over the bound", ok + "\r\n" + long + long},
		{"a redirect", "HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 2\r\n\r\nok"},
		{"mail", "220 mail.example.com ESMTP\r\n"},
		{"TLS", "\x15\x03\x01\x00\x02\x02\x0a"},
		{"HTML", "<html>hello</html>\n"},
		{"a timeout without a request", "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n"},
	}
}

// asked1 are the ways to request.
var asked1 = []struct {
	name   string
	change func(*egress.Request)
}{
	{"GET", func(*egress.Request) {}},
	{"GET body", maxBody(100_000)},
	{"HEAD body", func(r *egress.Request) { r.Method, r.MaxBody = http.MethodHead, 100 }},
	{"POST consume", func(r *egress.Request) {
		r.Method = http.MethodPost
		r.Header = http.Header{"X-Asked": {"a", "b"}, "accept": {"text/plain"}, "Connection": {"upgrade"}}
		r.Consume = func(answer *egress.Response, body io.Reader) {
			text, err := io.ReadAll(body)
			answer.Body = text
			if err != nil {
				answer.StatusText += " / " + sentence(err)
			}
		}
	}},
}

// A round trip of HTTP/1 is written down: the header, body, sentence and notes of every answer of a server.
func TestRoundTripsOfHTTP1(t *testing.T) {
	t.Parallel()
	var transcript strings.Builder
	for _, server := range answers1() {
		fmt.Fprintf(&transcript, "%s\n", server.name)
		before := ""
		for _, how := range asked1 {
			n := withSite(t)
			request := make(chan string, 1)
			n.ServeConn(web4+":80", func(c net.Conn) {
				head := requestHead(c)
				select {
				case request <- head:
				default: // only the first is looked at, and a client may come again
				}
				_, _ = io.WriteString(c, server.answer)
				if tcp, is := c.(*net.TCPConn); is {
					_ = tcp.CloseWrite()
				}
				stay(c)
			})
			r, err := get(t, n.Client(nil), "http://example.com/a?b=c", how.change)
			if server.name == "nothing" {
				fmt.Fprintf(&transcript, "  %s\n    %q\n", how.name, <-request)
			}
			now := described(r, err)
			if now == before {
				now = "    the same\n"
			} else {
				before = now
			}
			fmt.Fprintf(&transcript, "  %s\n%s", how.name, now)
		}
	}
	const file = "testdata/http1.txt"
	if *update {
		if err := os.WriteFile(file, []byte(transcript.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(transcript.String(), "\n")); diff != "" {
		t.Error(diff)
	}
}

// requestHead reads as far as the empty line.
func requestHead(c net.Conn) string {
	var head strings.Builder
	for r := bufio.NewReader(c); ; {
		line, err := r.ReadString('\n')
		head.WriteString(line)
		if err != nil || line == "\r\n" {
			return head.String()
		}
	}
}

// described writes down what there is of a round trip but its times.
func described(r *egress.Response, err error) string {
	var b strings.Builder
	if err != nil {
		var f *fault.Error
		if !errors.As(err, &f) {
			return "    " + err.Error() + "\n"
		}
		return fmt.Sprintf("    error %d: %s\n", f.Kind, f.Sentence())
	}
	fmt.Fprintf(&b, "    %s %d %q\n", r.Proto, r.Status, short(r.StatusText))
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		for _, value := range r.Header[name] {
			fmt.Fprintf(&b, "    %q: %q\n", name, short(value))
		}
	}
	if len(r.Notes) > 0 {
		fmt.Fprintf(&b, "    notes %v\n", r.Notes)
	}
	fmt.Fprintf(&b, "    body %q, received %d, truncated %t, error %q\n", short(string(r.Body)), r.Received, r.Truncated,
		sentence(r.BodyErr))
	return b.String()
}

func short(s string) string {
	if len(s) <= 60 {
		return s
	}
	return fmt.Sprintf("%s… (%d)", s[:20], len(s))
}

// A server may answer before it has read all of a long request.
func TestLongRequests(t *testing.T) {
	t.Parallel()
	pipes := &egresstest.Pipes{Serve: func(_ netip.AddrPort, far net.Conn) {
		_, _ = io.CopyN(io.Discard, far, 4<<10)
		_, _ = io.WriteString(far, "HTTP/1.1 431 Too long\r\nContent-Length: 0\r\n\r\n")
		_, _ = far.Read(make([]byte, 1))
	}}
	r, err := get(t, pipesClient(t, pipes.Dial), "http://93.184.216.34/", func(r *egress.Request) {
		r.Header = http.Header{"X-Long": {strings.Repeat("x", 32<<10)}}
	})
	if err != nil || r.Status != 431 {
		t.Errorf("%+v, %v", r, err)
	}
	if pipes.Open() != 0 {
		t.Error("the connection is left open")
	}
}
