package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestContentType(t *testing.T) {
	t.Parallel()
	e := newEdge(t, nil)
	tests := []struct {
		headers []string
		status  int
	}{
		{[]string{"Content-Type: application/json"}, 200},
		{[]string{"Content-Type: APPLICATION/JSON"}, 200},
		{[]string{"Content-Type: application/json; charset=utf-8"}, 200},
		{[]string{"Content-Type: application/json;charset=UTF-8"}, 200},
		{[]string{`Content-Type: application/json ; charset="Utf-8"`}, 200},
		{[]string{"Content-Type: application/json; charset=utf-16"}, 415},
		{[]string{"Content-Type: application/json; charset=iso-8859-1"}, 415},
		{[]string{"Content-Type: application/json; charset=utf-8; charset=utf-16"}, 415},
		{[]string{"Content-Type: application/json; charset"}, 415},
		{[]string{"Content-Type: application/jsonp"}, 415},
		{[]string{"Content-Type: application/json, text/plain"}, 415},
		{[]string{"Content-Type: application/ld+json"}, 415},
		{[]string{"Content-Type: text/plain"}, 415},
		{[]string{"Content-Type: application/x-www-form-urlencoded"}, 415},
		{[]string{"Content-Type: multipart/form-data; boundary=x"}, 415},
		{[]string{"Content-Type:"}, 415},
		{[]string{"Content-Type: application/json", "Content-Type: application/json"}, 415},
		{[]string{"Content-Type: application/json", "Content-Encoding: identity"}, 200},
		{[]string{"Content-Type: application/json", "Content-Encoding: IDENTITY"}, 200},
		{[]string{"Content-Type: application/json", "Content-Encoding: "}, 200},
		{[]string{"Content-Type: application/json", "Content-Encoding: identity, identity"}, 200},
		{[]string{"Content-Type: application/json", "Content-Encoding: gzip"}, 415},
		{[]string{"Content-Type: application/json", "Content-Encoding: br"}, 415},
		{[]string{"Content-Type: application/json", "Content-Encoding: identity, gzip"}, 415},
		{[]string{"Content-Type: application/json", "Content-Encoding: identity", "Content-Encoding: deflate"}, 415},
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.headers, " + "), func(t *testing.T) {
			t.Parallel()
			e.post(t, "echo", `{"input":"a"}`, tt.headers...).envelope(t, tt.status)
		})
	}
	a := e.raw(
		t, "POST /api/tools/echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 13\r\n\r\n"+`{"input":"a"}`)
	a.envelope(t, 415)
}

func TestJSON(t *testing.T) {
	t.Parallel()
	e := newEdge(t, nil)
	tests := []struct {
		name, body string
		status     int
	}{
		{"plain", `{"input":"a"}`, 200},
		{"surrounding space", " \r\n\t" + `{"input":"a"}` + "\n", 200},
		{"options absent", `{"input":"a"}`, 200},
		{"options null", `{"input":"a","options":null}`, 200},
		{"options empty", `{"input":"a","options":{}}`, 200},
		{"options null with spaces", `{"input":"a","options": null }`, 200},
		{"option null", `{"input":"a","options":{"family":null}}`, 200},
		{"unknown keys", `{"input":"a","x":1,"options":{"y":[]}}`, 200},
		{"escaped key is the same key", `{"\u0069nput":"a"}`, 200},
		{"last of a repeated key", `{"input":1,"input":"a"}`, 200},
		{"empty input", `{"input":""}`, 200},
		{"no body", ``, 415},
		{"space", ` `, 400},
		{"null", `null`, 400},
		{"array", `[{"input":"a"}]`, 400},
		{"string", `"a"`, 400},
		{"number", `1`, 400},
		{"two objects", `{"input":"a"}{"input":"b"}`, 400},
		{"something after", `{"input":"a"} x`, 400},
		{"a comma after", `{"input":"a",}`, 400},
		{"cut off", `{"input":"a"`, 400},
		{"single quotes", `{'input':'a'}`, 400},
		{"comment", `{"input":"a"/**/}`, 400},
		{"byte order mark", "\ufeff" + `{"input":"a"}`, 400},
		{"no input", `{}`, 400},
		{"last repeated is wrong", `{"input":"a","input":1}`, 400},
		{"other case is another key", `{"Input":"a"}`, 400},
		{"input null", `{"input":null}`, 400},
		{"input number", `{"input":1}`, 400},
		{"input array", `{"input":["a"]}`, 400},
		{"input object", `{"input":{}}`, 400},
		{"input boolean", `{"input":true}`, 400},
		{"options string", `{"input":"a","options":"x"}`, 400},
		{"options array", `{"input":"a","options":[]}`, 400},
		{"options false", `{"input":"a","options":false}`, 400},
		{"option of the wrong type", `{"input":"a","options":{"family":4}}`, 400},
		{"option unknown value", `{"input":"a","options":{"family":"ipv5"}}`, 400},
		{"invalid UTF-8", "{\"input\":\"a\xff\"}", 400},
		{"invalid UTF-8 in a key", "{\"input\":\"a\",\"\xc3\":1}", 400},
		{"overlong UTF-8", "{\"input\":\"\xc0\xae\"}", 400},
		{"raw control character", "{\"input\":\"a\nb\"}", 400},
		{"NUL", `{"input":"a\u0000"}`, 400},
		{"escape sequence", `{"input":"\u001b[31m"}`, 400},
		{"deep", strings.Repeat("[", 2000) + strings.Repeat("]", 2000), 400},
		{"deep in an unknown key", `{"input":"a","x":` + strings.Repeat("[", 1900) + strings.Repeat("]", 1900) + `}`, 200},
		{"2,048 characters", `{"input":"` + strings.Repeat("x", 2048) + `"}`, 200},
		{"2,049 characters", `{"input":"` + strings.Repeat("x", 2049) + `"}`, 400},
		{"2,048 characters of two bytes would be too long a body", `{"input":"` + strings.Repeat("ü", 2048) + `"}`, 413},
		{"2,030 characters of two bytes", `{"input":"` + strings.Repeat("ü", 2030) + `"}`, 200},
		{"spaces count before they are trimmed", `{"input":"` + strings.Repeat(" ", 2049) + `"}`, 400},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e.post(t, "echo", tt.body).envelope(t, tt.status)
		})
	}
}

// padded is a body of exactly n bytes.
func padded(n int) string {
	const frame = `{"input":"a","pad":""}`
	return `{"input":"a","pad":"` + strings.Repeat("p", n-len(frame)) + `"}`
}

func chunked(body string, size int) string {
	var b strings.Builder
	for body != "" {
		n := min(size, len(body))
		fmt.Fprintf(&b, "%x\r\n%s\r\n", n, body[:n])
		body = body[n:]
	}
	return b.String() + "0\r\n\r\n"
}

const chunkedHead = "POST /api/tools/echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: " +
	"application/json\r\nTransfer-Encoding: chunked\r\n\r\n"

func TestBodySize(t *testing.T) {
	t.Parallel()
	e := newEdge(t, nil)
	for size, status := range map[int]int{MaxBodyBytes - 1: 200, MaxBodyBytes: 200, MaxBodyBytes + 1: 413, 1 << 20: 413} {
		body := padded(size)
		e.post(t, "echo", body).envelope(t, status)
		for _, chunk := range []int{1000, size} {
			e.raw(t, chunkedHead+chunked(body, chunk)).envelope(t, status)
		}
	}
}

// A body that never ends is answered as soon as it is over the limit.
func TestEndlessBody(t *testing.T) {
	t.Parallel()
	e := newEdge(t, nil)
	conn := dial(t, e.addr)
	write(t, conn, chunkedHead+fmt.Sprintf("%x\r\n%s\r\n", MaxBodyBytes+1, strings.Repeat("x", MaxBodyBytes+1)))
	_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
	if status := readStatus(conn); status != 413 {
		t.Errorf("status %d", status)
	}
}

func TestDeclaredTooLongIsNotReadAtAll(t *testing.T) {
	t.Parallel()
	e := newEdge(t, nil)
	head := "POST /api/tools/echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: " +
		"%d\r\nExpect: 100-continue\r\n\r\n"
	// Nothing of the body is ever sent: only the refusal may come, never "100 Continue".
	a := e.raw(t, fmt.Sprintf(head, MaxBodyBytes+1))
	a.envelope(t, 413)
	a = e.raw(t, fmt.Sprintf(strings.Replace(head, "application/json", "text/plain", 1), 10))
	a.envelope(t, 415)
}

func TestExpectContinue(t *testing.T) {
	t.Parallel()
	e := newEdge(t, nil)
	conn := dial(t, e.addr)
	write(t, conn, "POST /api/tools/echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: "+
		"application/json\r\nContent-Length: 13\r\nExpect: 100-continue\r\n\r\n")
	buffer := make([]byte, 64)
	n, err := conn.Read(buffer)
	if err != nil || !strings.HasPrefix(string(buffer[:n]), "HTTP/1.1 100 ") {
		t.Fatalf("%q, %v", buffer[:n], err)
	}
	write(t, conn, `{"input":"a"}`)
	if status := readStatus(conn); status != 200 {
		t.Errorf("status %d", status)
	}
}

// Each of these would be read as two different requests by two different servers.
func TestOddFraming(t *testing.T) {
	t.Parallel()
	const head = "POST /api/tools/echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n"
	const body = `{"input":"a"}`
	tests := []struct {
		name, request string
		allowed       []int
	}{
		{"negative length", head + "Content-Length: -1\r\n\r\n" + body, []int{400}},
		{"length that is no number", head + "Content-Length: 1e1\r\n\r\n" + body, []int{400}},
		{"broken chunk size", head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n" + body + "\r\n0\r\n\r\n", []int{400}},
		{"huge chunk size", head + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n" + body, []int{400}},
		{"no Host", "POST /api/tools/echo HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n" + body, []int{400}},
		{"two Hosts", head + "Host: y\r\nContent-Length: 13\r\n\r\n" + body, []int{400}},
		{"folded header", head + "X-A: b\r\n c\r\nContent-Length: 13\r\n\r\n" + body, []int{200, 400}},
		{"NUL in a header", head + "X-A: b\x00c\r\nContent-Length: 13\r\n\r\n" + body, []int{400}},
		{"headers over the limit", head + "X-A: " + strings.Repeat("a", MaxHeaderBytes+8192) + "\r\n\r\n", []int{431}},
		{"path over the limit", "GET /" + strings.Repeat("a", MaxHeaderBytes+8192) + " HTTP/1.1\r\nHost: x\r\n\r\n", []int{431}},
		{"absolute form", strings.Replace(head, "/api", "http://x/api", 1) + "Content-Length: 13\r\n\r\n" + body, []int{200}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			runs := 0
			e := newEdge(t, nil)
			a := e.raw(t, tt.request)
			ok := false
			for _, status := range tt.allowed {
				ok = ok || a.StatusCode == status
			}
			if !ok {
				t.Errorf("status %d, want one of %v: %s", a.StatusCode, tt.allowed, a.body)
			}
			for _, line := range e.lines(t) {
				if line["outcome"] == "ok" {
					runs++
				}
			}
			if runs > 1 {
				t.Errorf("%d runs out of one request", runs)
			}
		})
	}
}

// A body shorter than its declared length ends with the connection.
func TestShortBody(t *testing.T) {
	t.Parallel()
	e := newEdge(t, nil)
	conn := dial(t, e.addr).(*net.TCPConn)
	write(t, conn, "POST /api/tools/echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "+
		"14\r\n\r\n"+`{"input":"a"}`)
	_ = conn.CloseWrite()
	if status := readStatus(conn); status != 400 {
		t.Errorf("status %d", status)
	}
}

// net/http treats a client that closes its sending half as gone; the answer must not be 200.
func TestHalfClosedClient(t *testing.T) {
	t.Parallel()
	e := newEdge(t, func(ctx context.Context, _ fakeTarget) (any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	conn := dial(t, e.addr).(*net.TCPConn)
	write(t, conn, "POST /api/tools/echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "+
		"13\r\n\r\n"+`{"input":"a"}`)
	_ = conn.CloseWrite()
	if status := readStatus(conn); status != 0 {
		t.Errorf("status %d", status)
	}
}

// A client that sends too slowly gets an error, and one that never ends its headers is cut off.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	e := newEdge(t, nil, func(c *Config) { c.RunLimit = quickServer })
	a := e.raw(t, "POST /api/tools/echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "+
		"13\r\n\r\n{")
	a.envelope(t, http.StatusRequestTimeout)
	conn := dial(t, e.addr)
	write(t, conn, "POST /api/tools/echo HTTP/1.1\r\nHost: x\r\nX-Slow: ")
	if status := readStatus(conn); status != 0 && status != http.StatusRequestTimeout {
		t.Errorf("status %d", status)
	}
}

// A run may take longer than the server waits for a request.
func TestRunOutlastsTheReadTimeout(t *testing.T) {
	t.Parallel()
	e := newEdge(t, func(ctx context.Context, _ fakeTarget) (any, error) {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(600 * time.Millisecond):
			return map[string]any{}, nil
		}
	}, func(c *Config) { c.RunLimit = quickServer })
	e.post(t, "echo", `{"input":"a"}`).envelope(t, http.StatusOK)
}

func FuzzDecodeBody(f *testing.F) {
	for _, s := range []string{`{"input":"a"}`, `{"input":"a","options":{"x":null}}`, `{"input":1}`, `[]`, "\xff",
		`{"input":"\ud800"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		b, err := decodeBody(body)
		if err != nil {
			if problemOf(err).status != http.StatusBadRequest {
				t.Errorf("%q: %v", body, err)
			}
			return
		}
		if !utf8.ValidString(b.input) {
			t.Errorf("input %q is not UTF-8", b.input)
		}
		for name, raw := range b.options {
			if !json.Valid(raw) {
				t.Errorf("option %s: %q", name, raw)
			}
		}
	})
}
