//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"diagnostics/lab"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// hiddenAddr is the pretended client of a hidden request, hiddenNetwork its form in the log.
const (
	hiddenAddr    = "9.9.66.66"
	hiddenNetwork = `"client":"9.9.66.0/24"`
)

// hidden is the request that is to reach the gateway without its proxy's knowledge. Where the proxy does take it for a
// request, it is the visitor's second one, and the proxy writes the visitor's address into it.
const hidden = "POST /api/tools/my-ip HTTP/1.1\r\nHost: " + siteName + "\r\n" +
	"X-Real-IP: " + hiddenAddr + "\r\nX-Forwarded-For: " + hiddenAddr + "\r\nCF-Connecting-IP: " + hiddenAddr + "\r\n" +
	"Content-Type: application/json\r\nContent-Length: 12\r\n\r\n" + `{"input":""}`

// smuggled are requests of HTTP/1.1 that different servers end in different places, each before a hidden one.
func smuggled() map[string]string {
	const (
		head    = "POST /api/tools/port-checker HTTP/1.1\r\nHost: " + siteName + "\r\nContent-Type: application/json\r\n"
		body    = `{"input":"x"}`
		length  = "Content-Length: 13\r\n"
		chunks  = "d\r\n" + body + "\r\n0\r\n\r\n"
		chunked = "Transfer-Encoding: chunked\r\n"
	)
	old := strings.Replace(head, "HTTP/1.1", "HTTP/1.0", 1) + "Connection: keep-alive\r\n"
	all := fmt.Sprintf("Content-Length: %d\r\n", len(chunks)+len(hidden))
	inside := fmt.Sprintf("Content-Length: %d\r\n\r\n", len(hidden)) + hidden
	size := func(line string) string {
		return head + chunked + "\r\n" + line + "\r\n" + body + "\r\n0\r\n\r\n" + hidden
	}
	return map[string]string{
		"inside a body":                        head + inside,
		"inside a body of a GET":               strings.Replace(head, "POST", "GET", 1) + inside,
		"inside a body of a HEAD":              strings.Replace(head, "POST", "HEAD", 1) + inside,
		"inside a body of a TRACE":             strings.Replace(head, "POST", "TRACE", 1) + inside,
		"inside a body of another media type":  strings.Replace(head, "application/json", "text/plain", 1) + inside,
		"inside a body of a foreign origin":    head + "Origin: https://evil.example\r\n" + inside,
		"inside a body that is too long":       head + "Content-Length: 50000\r\n\r\n" + strings.Repeat(" ", 50000-len(hidden)) + hidden,
		"inside a body that is not awaited":    head + "Expect: 100-continue\r\n" + inside,
		"inside a chunk":                       head + chunked + fmt.Sprintf("\r\n%x\r\n", len(hidden)) + hidden + "\r\n0\r\n\r\n",
		"after chunks that a length covers":    head + all + chunked + "\r\n" + chunks + hidden,
		"after chunks, the length behind":      head + chunked + all + "\r\n" + chunks + hidden,
		"after chunks, with a short length":    head + "Content-Length: 4\r\n" + chunked + "\r\n" + chunks + hidden,
		"after chunks of HTTP/1.0":             old + chunked + "\r\n" + chunks + hidden,
		"after chunks and length of HTTP/1.0":  old + all + chunked + "\r\n" + chunks + hidden,
		"after two lengths that differ":        head + length + all + "\r\n" + body + hidden,
		"after two lengths that are equal":     head + length + length + "\r\n" + body + hidden,
		"after two lengths in one line":        head + "Content-Length: 13, 13\r\n\r\n" + body + hidden,
		"after a length with a sign":           head + "Content-Length: +13\r\n\r\n" + body + hidden,
		"after a length of too many digits":    head + "Content-Length: 18446744073709551629\r\n\r\n" + body + hidden,
		"after xchunked":                       head + all + "Transfer-Encoding: xchunked\r\n\r\n" + chunks + hidden,
		"after chunked, identity":              head + all + "Transfer-Encoding: chunked, identity\r\n\r\n" + chunks + hidden,
		"after identity, chunked":              head + all + "Transfer-Encoding: identity, chunked\r\n\r\n" + chunks + hidden,
		"after two lines of chunked":           head + chunked + chunked + "\r\n" + chunks + hidden,
		"after chunked and another line":       head + all + chunked + "Transfer-Encoding: x\r\n\r\n" + chunks + hidden,
		"after a tab and chunked":              head + all + "Transfer-Encoding:\tchunked\r\n\r\n" + chunks + hidden,
		"after chunked and a tab":              head + all + "Transfer-Encoding: chunked\t\r\n\r\n" + chunks + hidden,
		"after a vertical tab and chunked":     head + all + "Transfer-Encoding: \x0bchunked\r\n\r\n" + chunks + hidden,
		"after a folded chunked":               head + all + "Transfer-Encoding:\r\n chunked\r\n\r\n" + chunks + hidden,
		"after a header folded into chunked":   head + all + "X-A: b\r\n Transfer-Encoding: chunked\r\n\r\n" + chunks + hidden,
		"after chunked with a space":           head + all + "Transfer-Encoding : chunked\r\n\r\n" + chunks + hidden,
		"after chunked with an underscore":     head + all + "Transfer_Encoding: chunked\r\n\r\n" + chunks + hidden,
		"after chunked taken away":             head + all + "Connection: Transfer-Encoding\r\n" + chunked + "\r\n" + chunks + hidden,
		"after a length taken away":            head + "Connection: Content-Length\r\n" + inside,
		"after a NUL and chunked":              head + all + "Transfer-Encoding: \x00chunked\r\n\r\n" + chunks + hidden,
		"after a bare CR in a header":          head + length + "X-A: b\rX-Real-IP: " + hiddenAddr + "\r\n\r\n" + body + hidden,
		"after a bare LF in a header":          head + length + "X-A: b\nX-Real-IP: " + hiddenAddr + "\r\n\r\n" + body + hidden,
		"after lines that end in LF":           strings.ReplaceAll(head+length, "\r\n", "\n") + "\n" + body + hidden,
		"after a chunk's size in C":            size("0xd"),
		"after a chunk's size with a sign":     size("+d"),
		"after a chunk's size over 64 bits":    size("1000000000000000d"),
		"after a chunk's size in spaces":       size(" d "),
		"after an extension":                   size("d;a=b"),
		"after an extension in quotes":         size("d;a=\"\r\n\""),
		"after a bare LF in an extension":      size("d;a\nb"),
		"after a bare CR in an extension":      size("d;a\rb"),
		"after a chunk that is too short":      size("e"),
		"after a chunk that is too long":       size("c"),
		"after a chunk that ends in LF":        head + chunked + "\r\nd\n" + body + "\n0\n\n" + hidden,
		"after an address in a trailer":        head + "Trailer: X-Real-IP\r\n" + chunked + "\r\nd\r\n" + body + "\r\n0\r\nX-Real-IP: " + hiddenAddr + "\r\n\r\n" + hidden,
		"after garbage":                        head + length + "\r\n" + body + "garbage\r\n\r\n" + hidden,
		"after an absolute URI":                strings.Replace(head, "/api", "http://other.example/api", 1) + length + "\r\n" + body + hidden,
		"after a CONNECT":                      "CONNECT " + siteName + ":443 HTTP/1.1\r\nHost: " + siteName + ":443\r\n\r\n" + hidden,
		"inside a body of a CONNECT":           "CONNECT " + siteName + ":443 HTTP/1.1\r\nHost: " + siteName + ":443\r\n" + inside,
		"after an upgrade to h2c":              head + length + "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n\r\n" + body + hidden,
		"after an upgrade to a web socket":     "GET / HTTP/1.1\r\nHost: " + siteName + "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n" + hidden,
		"inside a body of an upgrade":          head + "Connection: Upgrade\r\nUpgrade: websocket\r\n" + inside,
		"after an upgrade with a length taken": head + "Connection: Upgrade, Content-Length\r\nUpgrade: websocket\r\n" + inside,
		"after a request, as HTTP/1.1 has it":  head + length + "\r\n" + body + hidden,
	}
}

// frames are requests of HTTP/2 whose fields or body would be more than one request of HTTP/1.1: pairs of names and
// values, and the body.
func frames() map[string]struct {
	fields []string
	body   string
} {
	type request = struct {
		fields []string
		body   string
	}
	post := func(more ...string) []string {
		return append([]string{":method", "POST", ":scheme", "https", ":authority", siteName,
			":path", "/api/tools/port-checker", "content-type", "application/json"}, more...)
	}
	with := func(name, value string) []string {
		fields := post()
		for i := range fields {
			if fields[i] == name {
				fields[i+1] = value
			}
		}
		return fields
	}
	const lines = "\r\nX-Real-IP: " + hiddenAddr
	return map[string]request{
		"CONNECT":                        {[]string{":method", "CONNECT", ":authority", siteName + ":443"}, hidden},
		"CONNECT without a port":         {[]string{":method", "CONNECT", ":authority", siteName}, hidden},
		"CONNECT with a length":          {[]string{":method", "CONNECT", ":authority", siteName, "content-length", fmt.Sprint(len(hidden))}, hidden},
		"CONNECT for a web socket":       {[]string{":method", "CONNECT", ":protocol", "websocket", ":scheme", "https", ":authority", siteName, ":path", "/"}, hidden},
		"GET with a body":                {with(":method", "GET"), hidden},
		"HEAD with a body":               {with(":method", "HEAD"), hidden},
		"OPTIONS with a body":            {with(":method", "OPTIONS"), hidden},
		"another method with a body":     {with(":method", "PROPFIND"), hidden},
		"no length":                      {post(), hidden},
		"a short length":                 {post("content-length", "4"), hidden},
		"a length of nothing":            {post("content-length", "0"), hidden},
		"two lengths":                    {post("content-length", "0", "content-length", fmt.Sprint(len(hidden))), hidden},
		"chunks":                         {post("transfer-encoding", "chunked"), "0\r\n\r\n" + hidden},
		"chunks and a length":            {post("transfer-encoding", "chunked", "content-length", fmt.Sprint(5+len(hidden))), "0\r\n\r\n" + hidden},
		"an upgrade":                     {post("connection", "upgrade", "upgrade", "websocket"), hidden},
		"a length taken away":            {post("connection", "content-length", "content-length", fmt.Sprint(len(hidden))), hidden},
		"lines in a value":               {post("x-a", "b"+lines), ""},
		"LF in a value":                  {post("x-a", "b\nX-Real-IP: "+hiddenAddr), ""},
		"a NUL in a value":               {post("x-a", "b\x00c"), ""},
		"a request in a value":           {post("x-a", "b\r\n\r\n"+hidden), ""},
		"lines in a name":                {post("x-a: b\r\nx-real-ip", hiddenAddr), ""},
		"a colon in a name":              {post("x-real-ip:", hiddenAddr), ""},
		"a name in capitals":             {post("X-Real-IP", hiddenAddr), ""},
		"a path of two words":            {with(":path", "/api/tools/my-ip HTTP/1.1"), ""},
		"lines in the path":              {with(":path", "/ HTTP/1.1"+lines+"\r\nX: "), ""},
		"a request in the path":          {with(":path", "/ HTTP/1.1\r\nHost: "+siteName+"\r\n\r\n"+hidden), ""},
		"a request in the method":        {with(":method", "GET / HTTP/1.1\r\nHost: "+siteName+"\r\n\r\n"+hidden+"GET"), ""},
		"lines in the authority":         {with(":authority", siteName+lines), ""},
		"lines in the scheme":            {with(":scheme", "https://"+siteName+"/ HTTP/1.1"+lines), ""},
		"another host":                   {post("host", "other.example"), ""},
		"a path that is a URI":           {with(":path", "http://other.example/api/tools/port-checker"), hidden},
		"a path that is no path":         {with(":path", "*"), hidden},
		"a folded value":                 {post("x-a", "b\r\n c"), ""},
		"an address after a pseudo name": {append(with(":path", "/"), "x-real-ip", hiddenAddr, ":path", "/api/tools/my-ip"), ""},
	}
}

// A request that hides in another one never reaches the gateway as one of its own: nothing runs under the address that
// it claims, nothing runs that its sender was not answered, and no other client gets a foreign answer.
func TestNothingIsSmuggledThroughProxies(t *testing.T) {
	p := needProxies(t)
	before := map[*lab.Server]int{}
	answered := map[*lab.Server]*atomic.Int64{}
	for _, e := range p.entrances {
		if answered[e.gateway] == nil {
			before[e.gateway] = loggedSoFar(t, e.gateway)
			answered[e.gateway] = &atomic.Int64{}
		}
	}
	t.Run("through", func(t *testing.T) {
		for _, e := range p.entrances {
			if e.forgeable {
				continue
			}
			t.Run(e.name, func(t *testing.T) {
				t.Parallel()
				smuggle(t, e, answered[e.gateway])
			})
		}
	})
	for gateway, reported := range answered {
		end := loggedSoFar(t, gateway)
		log := gateway.Process.Log()[before[gateway]:end]
		ran := int64(len(ranMyIP.FindAllString(log, -1))) - 1 // loggedSoFar's own
		if strings.Contains(log, hiddenNetwork) {
			t.Errorf("%s: a hidden request was run under its own address", gateway.Addr)
		}
		if ran != reported.Load() {
			t.Errorf("%s: %d second requests were run, %d were answered to their sender", gateway.Addr, ran, reported.Load())
		}
	}
}

// loggedSoFar is how long the gateway's log is once it has all that was answered before: lines are written some
// milliseconds after their answers, in order, so a run of its own is waited for.
func loggedSoFar(t *testing.T, gateway *lab.Server) int {
	t.Helper()
	id := post(t, gateway, "my-ip", map[string]any{"input": ""}, nil).Header.Get("X-Request-Id")
	long := 0
	eventually(t, "the log of "+gateway.Addr+" has "+id, func() bool {
		log := gateway.Process.Log()
		_, after, found := strings.Cut(log, `"requestId":"`+id+`"`)
		_, rest, _ := strings.Cut(after, "\n")
		long = len(log) - len(rest)
		return found
	})
	return long
}

// smuggle sends everything at once, and adds the second requests that were answered to their sender.
func smuggle(t *testing.T, e entrance, answered *atomic.Int64) {
	stop := honest(t, e)
	var attackers sync.WaitGroup
	var seconds atomic.Int64
	attack := func(name string, send func(context.Context) (string, error)) {
		attackers.Go(func() {
			said, err := send(t.Context())
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if strings.Contains(said, hiddenAddr) {
				t.Errorf("%s: the hidden request was trusted: %.600q", name, said)
			}
			seconds.Add(int64(strings.Count(said, `"available":`)))
		})
	}
	for name, request := range smuggled() {
		attack(name, func(ctx context.Context) (string, error) { return e.raw(ctx, request) })
	}
	if e.tls {
		for name, f := range frames() {
			attack("HTTP/2, "+name, func(ctx context.Context) (string, error) { return e.framed(ctx, f.fields, f.body) })
		}
	}
	attackers.Wait()
	lookups := stop()
	answered.Add(seconds.Load())
	t.Logf("%d second requests were answered as such, beside %d honest lookups", seconds.Load(), lookups)
	if seconds.Load() == 0 || lookups < 20 {
		t.Error("the plain second request was not answered, or hardly anyone looked: this test sees nothing")
	}
}

var ranMyIP = regexp.MustCompile(`"slug":"my-ip",.*"status":200`)

// honest sends lookups of names that no other client looks up, over connections that the proxy shares with the
// attackers', and fails the test for each answer that is not its own, until stop, which returns their number.
func honest(t *testing.T, e entrance) (stop func() int64) {
	ctx, cancel := context.WithCancel(t.Context())
	client := visitors(false)
	var asked atomic.Int64
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				name := fmt.Sprintf("honest-%d-%d-%d.%s", e.port, n, i, lab.TransitZone)
				a, err := e.ask(ctx, client, visitor6, "dns-lookup", name, nil)
				if ctx.Err() != nil {
					return
				}
				if err != nil || a.Status != http.StatusOK || a.at("domain") != name {
					t.Errorf("asked for %s, got %d %.300s, %v", name, a.Status, a.Body, err)
				}
				asked.Add(1)
			}
		})
	}
	return func() int64 {
		cancel()
		wg.Wait()
		client.CloseIdleConnections()
		return asked.Load()
	}
}

// lastWord is how long an attacker waits for one answer more.
const lastWord = 2 * time.Second

func (e entrance) dial(ctx context.Context, protocol string) (net.Conn, error) {
	conn, err := internet.Dial(ctx, "tcp", e.at(visitor4))
	if err != nil || !e.tls {
		return conn, err
	}
	secure := tls.Client(conn, &tls.Config{InsecureSkipVerify: true, ServerName: siteName, NextProtos: []string{protocol}})
	if err := secure.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	return secure, nil
}

// raw sends bytes as they stand and gives all answers that come.
func (e entrance) raw(ctx context.Context, request string) (string, error) {
	conn, err := e.dial(ctx, "http/1.1")
	if err != nil {
		return "", err
	}
	defer conn.Close()
	_ = conn.SetWriteDeadline(time.Now().Add(5 * time.Second))
	_, _ = io.WriteString(conn, request) // a proxy may refuse the head before it has the rest
	var said strings.Builder
	buffer := make([]byte, 32<<10)
	for {
		_ = conn.SetReadDeadline(time.Now().Add(lastWord))
		n, err := conn.Read(buffer)
		said.Write(buffer[:n])
		if err != nil {
			return said.String(), nil
		}
	}
}

// framed sends one request of HTTP/2 with fields that no honest client sends, and gives what is answered to it.
func (e entrance) framed(ctx context.Context, fields []string, body string) (string, error) {
	conn, err := e.dial(ctx, http2.NextProtoTLS)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	_ = conn.SetWriteDeadline(time.Now().Add(5 * time.Second))
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	for i := 0; i < len(fields); i += 2 {
		if err := encoder.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]}); err != nil {
			return "", err
		}
	}
	out := bufio.NewWriter(conn)
	_, _ = out.WriteString(http2.ClientPreface)
	framer := http2.NewFramer(out, conn)
	framer.AllowIllegalWrites = true
	head := http2.HeadersFrameParam{StreamID: 1, BlockFragment: block.Bytes(), EndHeaders: true, EndStream: body == ""}
	err = errors.Join(framer.WriteSettings(), framer.WriteHeaders(head))
	if body != "" {
		err = errors.Join(err, framer.WriteData(1, true, []byte(body)))
	}
	if err = errors.Join(err, out.Flush()); err != nil {
		return "", err
	}
	var said strings.Builder
	for {
		_ = conn.SetReadDeadline(time.Now().Add(lastWord))
		frame, err := framer.ReadFrame()
		if err != nil {
			return said.String(), nil
		}
		if data, ok := frame.(*http2.DataFrame); ok {
			said.Write(data.Data())
		}
		if frame.Header().StreamID == 1 && frame.Header().Flags.Has(http2.FlagDataEndStream) {
			return said.String(), nil
		}
	}
}
