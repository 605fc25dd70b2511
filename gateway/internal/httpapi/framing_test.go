package httpapi

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// ran counts the runs of the tool echo by their input.
type ran struct {
	mu     sync.Mutex
	inputs []string
}

func (r *ran) run(ctx context.Context, t fakeTarget) (any, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inputs = append(r.inputs, string(t))
	return echoRun(ctx, t)
}

// talk sends bytes as they stand, and gives the statuses of all answers until the server closes the connection, or says
// nothing for a while.
func (e *edge) talk(t *testing.T, request string) (statuses []int, closed bool) {
	t.Helper()
	conn := dial(t, e.addr).(*net.TCPConn)
	_, _ = io.WriteString(conn, request) // a server that has closed already is none of its business
	answers := bufio.NewReader(conn)
	for {
		_ = conn.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
		resp, err := http.ReadResponse(answers, &http.Request{Method: http.MethodPost})
		if err != nil {
			return statuses, !errors.Is(err, os.ErrDeadlineExceeded)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		if resp.StatusCode != http.StatusContinue {
			statuses = append(statuses, resp.StatusCode)
		}
	}
}

// Each of these can be read as one request by one server and as two by another. Whatever it is taken for, the request
// that hides behind it, with an address of its own choosing, is not run: the connection ends with the first answer.
func TestNoRequestHidesInAnother(t *testing.T) {
	t.Parallel()
	const (
		visible = `{"input":"visible"}`
		hidden  = "POST /api/tools/echo HTTP/1.1\r\nHost: x\r\nX-Real-IP: 192.0.2.66\r\nContent-Type: application/json\r\n" +
			"Content-Length: 18\r\n\r\n" + `{"input":"hidden"}`
		post = "POST /api/tools/echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
		old  = "POST /api/tools/echo HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\nContent-Type: application/json\r\n"
	)
	length := fmt.Sprintf("Content-Length: %d\r\n", len(visible))
	all := fmt.Sprintf("Content-Length: %d\r\n", len(chunked(visible, 64)+hidden))
	chunks := chunked(visible, 64)
	large := "{" + strings.Repeat(" ", MaxBodyBytes) + "}"
	tests := []struct {
		name, request string
		statuses      []int // of the first answer
	}{
		{"a length that covers it, and chunks that do not", post + all + "Transfer-Encoding: chunked\r\n\r\n" + chunks + hidden, []int{200}},
		{"chunks before a length that covers it", post + "Transfer-Encoding: chunked\r\n" + all + "\r\n" + chunks + hidden, []int{200}},
		{"a short length, and chunks", post + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + hidden, []int{200}},
		{"chunks alone", post + "Transfer-Encoding: chunked\r\n\r\n" + chunks + hidden, []int{200}},
		{"HTTP/1.0, length and chunks", old + length + "Transfer-Encoding: chunked\r\n\r\n" + visible + hidden, []int{200}},
		{"HTTP/1.0 and chunks", old + "Transfer-Encoding: chunked\r\n\r\n" + chunks + hidden, []int{400}},
		{"HTTP/1.0 that stays", old + length + "\r\n" + visible + hidden, []int{200}},
		{"two lengths that differ", post + length + all + "\r\n" + visible + hidden, []int{400}},
		{"two lengths in one line", post + "Content-Length: 19, 19\r\n\r\n" + visible + hidden, []int{400}},
		{"a length with a sign", post + "Content-Length: +19\r\n\r\n" + visible + hidden, []int{400}},
		{"xchunked", post + "Transfer-Encoding: xchunked\r\n\r\n" + chunks + hidden, []int{501}},
		{"xchunked beside a length", post + length + "Transfer-Encoding: xchunked\r\n\r\n" + visible + hidden, []int{501}},
		{"identity beside a length", post + length + "Transfer-Encoding: identity\r\n\r\n" + visible + hidden, []int{501}},
		{"chunked and identity", post + "Transfer-Encoding: chunked, identity\r\n\r\n" + chunks + hidden, []int{501}},
		{"chunked twice", post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + hidden, []int{501}},
		{"chunked and another line", post + length + "Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n" + chunks + hidden, []int{501}},
		{"a tab before chunked", post + all + "Transfer-Encoding:\tchunked\r\n\r\n" + chunks + hidden, []int{200}},
		{"a vertical tab before chunked", post + all + "Transfer-Encoding: \x0bchunked\r\n\r\n" + chunks + hidden, []int{400, 501}},
		{"a folded chunked", post + all + "Transfer-Encoding:\r\n chunked\r\n\r\n" + chunks + hidden, []int{200, 400}},
		{"a space before the colon", post + all + "Transfer-Encoding : chunked\r\n\r\n" + chunks + hidden, []int{400}},
		{"a NUL before chunked", post + all + "Transfer-Encoding: \x00chunked\r\n\r\n" + chunks + hidden, []int{400, 501}},
		{"a bare CR in a header", post + length + "X-A: b\rX-Real-IP: 192.0.2.66\r\n\r\n" + visible + hidden[:1], []int{400}},
		{"a chunk's size over 64 bits", post + "Transfer-Encoding: chunked\r\n\r\n10000000000000013\r\n" + visible + "\r\n0\r\n\r\n" + hidden, []int{400}},
		{"a chunk's size in C", post + "Transfer-Encoding: chunked\r\n\r\n0x13\r\n" + visible + "\r\n0\r\n\r\n" + hidden, []int{400}},
		{"a chunk's size with a sign", post + "Transfer-Encoding: chunked\r\n\r\n+13\r\n" + visible + "\r\n0\r\n\r\n" + hidden, []int{400}},
		{"a chunk longer than its size", post + "Transfer-Encoding: chunked\r\n\r\n12\r\n" + visible + "\r\n0\r\n\r\n" + hidden, []int{400}},
		{"an extension of a chunk", post + "Transfer-Encoding: chunked\r\n\r\n13;a=b\r\n" + visible + "\r\n0\r\n\r\n" + hidden, []int{200}},
		{"a bare LF in an extension", post + "Transfer-Encoding: chunked\r\n\r\n13;a\nb\r\n" + visible + "\r\n0\r\n\r\n" + hidden, []int{400}},
		{"a bare LF after a size", post + "Transfer-Encoding: chunked\r\n\r\n13\n" + visible + "\r\n0\r\n\r\n" + hidden, []int{400}},
		{"a bare LF after a chunk", post + "Transfer-Encoding: chunked\r\n\r\n13\r\n" + visible + "\n0\r\n\r\n" + hidden, []int{400}},
		{"an address in a trailer", post + "Trailer: X-Real-IP\r\nTransfer-Encoding: chunked\r\n\r\n13\r\n" + visible + "\r\n0\r\nX-Real-IP: 192.0.2.66\r\n\r\n" + hidden, []int{200}},
		{"a body that is not awaited", post + "Content-Length: 5000\r\nExpect: 100-continue\r\n\r\n" + hidden + strings.Repeat(" ", 5000-len(hidden)) + hidden, []int{413}},
		{"a body that is refused by its chunks", post + "Transfer-Encoding: chunked\r\n\r\n" + chunked(large, 8192) + hidden, []int{413}},
		{"an upgrade", post + length + "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + hidden, []int{200}},
		{"a CONNECT", "CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n" + hidden, []int{404}},
		{"a CONNECT of a path", "CONNECT /api/tools/echo HTTP/1.1\r\nHost: x\r\n\r\n" + hidden, []int{405}},
		{"garbage after the body", post + length + "\r\n" + visible + "garbage\r\n\r\n" + hidden, []int{200}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var runs ran
			e := newEdge(t, runs.run, trusting)
			statuses, closed := e.talk(t, tt.request)
			if len(statuses) == 0 || !slices.Contains(tt.statuses, statuses[0]) || !closed {
				t.Errorf("statuses %v, closed %v; want %v first, and then the end", statuses, closed, tt.statuses)
			}
			if slices.Contains(runs.inputs, "hidden") || strings.Contains(e.log.String(), "192.0.2.0/24") {
				t.Errorf("the hidden request was run: %v, %v: %s", runs.inputs, statuses, e.log.String())
			}
		})
	}
}

// A request inside a body whose length is clear is part of that body, read or not; what follows the body is a request
// of its own, as HTTP/1.1 has it.
func TestClearFramingStaysOpen(t *testing.T) {
	t.Parallel()
	const inside = "POST /api/tools/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"
	const head, json = "POST /api/tools/echo HTTP/1.1\r\nHost: x\r\n", "Content-Type: application/json\r\n"
	post := func(headers, body string) string {
		return head + headers + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(body)) + body
	}
	after := post(json, `{"input":"after"}`)
	for name, tt := range map[string]struct {
		first  string
		status int
	}{
		"a body that is run":            {post(json, `{"input":"before"}`), 200},
		"a body that is no JSON":        {post(json, inside), 400},
		"a body of another media type":  {post("Content-Type: text/plain\r\n", inside), 415},
		"a body of a foreign origin":    {post(json+"Origin: https://evil.example\r\n", inside), 403},
		"a body that is too long":       {post(json, strings.Repeat(inside, 100)), 413},
		"a length that is sent twice":   {post(json+"Content-Length: 18\r\n", `{"input":"before"}`), 200},
		"a body of a request for a GET": {strings.Replace(post("", inside), "POST /api/tools/echo", "GET /", 1), 200},
		"lines that end in LF alone":    {strings.ReplaceAll(post(json, `{"input":"before"}`), "\r\n", "\n"), 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var runs ran
			e := newEdge(t, runs.run)
			statuses, closed := e.talk(t, tt.first+after)
			if want := []int{tt.status, 200}; !slices.Equal(statuses, want) || closed {
				t.Errorf("statuses %v, closed %v; want %v and an open connection", statuses, closed, want)
			}
			if len(runs.inputs) == 0 || runs.inputs[len(runs.inputs)-1] != "after" || len(runs.inputs) > 2 {
				t.Errorf("runs %v", runs.inputs)
			}
		})
	}
}
