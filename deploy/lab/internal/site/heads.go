package site

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"time"
)

// HeadCount is how many heads the site "heads" has, at the paths /0 to /99.
const HeadCount = 100

// headLines are what servers are seen to send between the status line and the empty line.
var headLines = []string{
	"X-A: 1", "X-A: 2", "X-B:2", "X-C: \t 3 \t", "x-lower: 4", "X-Empty:", "X-Colons: a:b", "X-Quote: \"a, b\"",
	"X-Latin: caf\xe9", "X-Control: a\x01b", "X-Long: " + strings.Repeat("long ", 300),
	" folded", "\tfolded by a tab", "Content-Disposition = x", "<!DOCTYPE html>", "HTTP/1.1 200 OK", ": no name",
	"X Spaced: 5", "X-(Paren): 6", "Content-Type: text/plain", "Connection: close", "Content-Length: 5",
	"Content-Length: 5, 5", "Content-Length: 6", "Content-Length: five", "Transfer-Encoding: chunked",
	"Transfer-Encoding: identity",
}

var headStatusLines = []string{
	"HTTP/1.1 200 OK", "HTTP/1.1 200 OK", "HTTP/1.1 200 OK", "HTTP/1.1 200 OK", "HTTP/1.0 200 Fine", "http/1.1 200 OK",
	"HTTP/1.1\t200\tOK", "HTTP/1.1  404  Not Found", "HTTP/1.1 503", "HTTP/1.1 299 ", "ICY 200 OK", "HTTP/1.1 OK",
}

// Head returns the n-th answer of the site "heads": the same at each call.
func Head(n int) string {
	random := rand.New(rand.NewPCG(36, uint64(n))) // #nosec G404 -- reproducible
	end := []string{"\r\n", "\r\n", "\n"}[random.IntN(3)]
	lines := []string{headStatusLines[random.IntN(len(headStatusLines))], "X-First: 0"}
	for range random.IntN(6) {
		lines = append(lines, headLines[random.IntN(len(headLines))])
	}
	body := "hello"
	if strings.Contains(strings.Join(lines, "\n"), "chunked") {
		body = "5\r\nhello\r\n0\r\n\r\n"
	}
	return strings.Join(lines, end) + end + end + body
}

func addHeads(add adder) {
	add("heads", "a hundred heads, good and broken", []endpoint{{port: 80, raw: answerHead}})
}

// answerHead answers the path /N with the N-th head, and any other with an empty page.
func answerHead(_ context.Context, c net.Conn) {
	_ = c.SetDeadline(time.Now().Add(idle))
	in := bufio.NewReader(c)
	request, err := in.ReadString('\n')
	for line := request; err == nil && strings.TrimSpace(line) != ""; {
		line, err = in.ReadString('\n')
	}
	var n int
	answer := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 0\r\n\r\n"
	if _, err := fmt.Sscanf(request, "GET /%d ", &n); err == nil {
		answer = Head(n)
	}
	_, _ = io.WriteString(c, answer)
}
