package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/shared/waittest"
)

// hostile holds all that could forge or colour a line. No part of it may come back out of the log, in any spelling.
var hostile = []string{
	"\x1b[31mINJECTED\x1b[0m", `INJECTED","level":"ERROR","msg":"forged`, "INJECTED\u2028forged", "INJECTED level=ERROR msg=forged",
	"%0d%0aINJECTED", "INJECTED\tforged", "INJECTED\u202eforged", "{{INJECTED}}", "INJECTED\xff\xfe",
}

func TestNothingHostileReachesTheLog(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"json", "text"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			fail := func(_ context.Context, target fakeTarget) (any, error) {
				// What a careless library would put into its error.
				return nil, &url.Error{Op: "Get", URL: "https://x/?" + string(target),
					Err: errors.New("failed for " + string(target))}
			}
			e := newEdge(t, fail, trusting)
			if format == "text" {
				e.config.Log = slog.New(slog.NewTextHandler(e.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			}
			sent := 0
			for _, h := range hostile {
				for _, name := range []string{"User-Agent", "Referer", "X-Request-Id", "X-Forwarded-For", "X-Real-IP",
					"CF-Connecting-IP",
					"X-Forwarded-Proto", "X-Forwarded-Host", "Cookie", "Authorization", "Accept", "Origin", "Content-Type", "Content-Encoding", "Sec-Fetch-Site"} {
					header := name + ": " + strings.NewReplacer("\r", "", "\n", "").Replace(h)
					raw := "POST /api/tools/echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 13\r\n" + header +
						"\r\n\r\n" + `{"input":"a"}`
					status(t, e, raw)
					sent++
				}
				escaped := url.PathEscape(h)
				for _, target := range []string{"/" + escaped, "/api/" + escaped, "/api/tools/" + escaped, "/tools/" + escaped,
					"/?q=" + escaped, "/api/connection/ping?n=" + escaped} {
					status(t, e, "GET "+target+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
					sent++
				}
				status(t, e, "GET / HTTP/1.1\r\nHost: "+escaped+"\r\nConnection: close\r\n\r\n")
				body := `{"input":"` + strings.NewReplacer(`"`, `\"`, "\x1b", `\u001b`, "\t", `\t`).Replace(h) + `","INJECTED":1}`
				e.post(t, "echo", body)
				e.post(t, "echo", h)
				e.post(t, "echo", `{"input":"a","options":{"family":"INJECTED"}}`)
				sent += 4
			}
			status(t, e, "INJECTED / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
			// Input that does reach a tool, and an error that repeats it.
			e.post(t, "echo", `{"input":"https://example.com/?token=INJECTED"}`).envelope(t, 500)
			waittest.Until(t, "half of the requests are over", func() bool {
				return strings.Count(e.log.String(), "durationMs") >= sent/2
			})
			text := e.log.String()
			for _, part := range []string{"INJECTED", "forged", "\x1b", "[31m", "token="} {
				if at := strings.Index(text, part); at >= 0 {
					t.Errorf("the log holds %q: %s", part, text[max(0, at-300):min(len(text), at+100)])
				}
			}
			if format == "json" {
				e.lines(t)
			}
			t.Logf("%d hostile requests, %d lines", sent, strings.Count(text, "\n"))
		})
	}
}

// status reads an answer, if any: the server may close on what it cannot read at all.
func status(t *testing.T, e *edge, request string) int {
	t.Helper()
	conn := dial(t, e.addr)
	write(t, conn, request)
	return readStatus(conn)
}

func TestCausesAreForDebugging(t *testing.T) {
	t.Parallel()
	fail := func(context.Context, fakeTarget) (any, error) {
		cause := &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 443},
			Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
		return nil, fault.Wrap(fault.Upstream, cause, "ASN_FAILED", nil)
	}
	e := newEdge(t, fail)
	id := e.post(t, "echo", `{"input":"a"}`).Header.Get("X-Request-Id")
	e.requestLine(t, id)
	found := false
	for _, line := range e.lines(t) {
		found = found || line["level"] == "DEBUG" && line["requestId"] == id && line["code"] == "connection_refused"
	}
	if !found || strings.Contains(e.log.String(), "192.0.2.1") {
		t.Errorf("no cause at debug level, or one with an address: %s", e.log.String())
	}
	quiet := newEdge(t, fail, func(c *Config) {})
	quiet.config.Log = slog.New(slog.NewJSONHandler(quiet.log, nil))
	id = quiet.post(t, "echo", `{"input":"a"}`).Header.Get("X-Request-Id")
	quiet.requestLine(t, id)
	if strings.Contains(quiet.log.String(), "refused") {
		t.Errorf("a cause at info level: %s", quiet.log.String())
	}
}

func TestSlugInTheLog(t *testing.T) {
	t.Parallel()
	e := newEdge(t, nil)
	tests := []struct{ method, path, slug, route string }{
		{"GET", "/tools/echo", "echo", "/tools/:slug"},
		{"GET", "/tools/nothing", "unknown", "/tools/:slug"},
		{"POST", "/api/tools/nothing", "unknown", "unmatched"},
		{"GET", "/api/tools/echo", "echo", "/api/tools/echo"},
		{"BREW", "/", "unknown", "/"},
		{"GET", "/x/y/z", "unknown", "unmatched"},
	}
	for _, tt := range tests {
		line := e.requestLine(t, e.send(t, tt.method, tt.path, "").Header.Get("X-Request-Id"))
		if line["slug"] != tt.slug || line["route"] != tt.route {
			t.Errorf("%s %s: slug %v, route %v", tt.method, tt.path, line["slug"], line["route"])
		}
		if tt.method == "BREW" && line["method"] != "other" {
			t.Errorf("method %v", line["method"])
		}
	}
}

// A sentence, and the causes below it, name the host in its canonical spelling, which is not the one that was typed.
func TestTheCanonicalHostStaysOutOfTheLog(t *testing.T) {
	t.Parallel()
	failures := map[string]error{
		"foreseen": fault.Wrap(fault.NoAddress, errors.New("lookup visited.example.org.: NXDOMAIN"), "NAME_NOT_FOUND",
			finding.Args{"host": "visited.example.org"}),
		"sentence": fault.New(fault.NoAddress, "NAME_NOT_FOUND",
			finding.Args{"host": "visited.example.org"}),
		"unforeseen": errors.New("lookup visited.example.org.: no such thing"),
	}
	for name, failure := range failures {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parse := func(tool.Input) (fakeTarget, error) { return "visited.example.org", nil }
			fail := func(context.Context, fakeTarget) (any, error) { return nil, failure }
			e := newEdge(t, nil, func(c *Config) {
				c.Tools = []tool.Tool{tool.New(tool.Spec[fakeTarget, any]{
					Slug: "echo", OpenAPI: fakeOpenAPI("Echo"), Parse: parse, Run: fail,
				})}
				c.Disabled = nil
			})
			id := e.post(t, "echo", `{"input":"HTTPS://Visited.example.org./path"}`).Header.Get("X-Request-Id")
			e.requestLine(t, id)
			if text := strings.ToLower(e.log.String()); strings.Contains(text, "visited") {
				t.Errorf("the log names the host: %s", text)
			}
			logged := strings.Contains(e.log.String(), `"error":`) || strings.Contains(e.log.String(), `"code":`)
			if logged != (name != "sentence") {
				t.Errorf("a cause is logged: %t", logged)
			}
			if cut := strings.Contains(e.log.String(), "[input]"); cut != (name == "unforeseen") {
				t.Errorf("a text is logged: %t", cut)
			}
		})
	}
}

// The text of an unexpected error repeats neither a short input nor an option.
func TestShortInputsAndOptionsStayOutOfTheLog(t *testing.T) {
	t.Parallel()
	fail := func(context.Context, fakeTarget) (any, error) {
		return nil, errors.New("qx7: no (qx7) for selectorone at qx7e and aqx7")
	}
	e := newEdge(t, fail)
	id := e.post(t, "echo", `{"input":"qx7","options":{"selector":"selectorone","n":1}}`).Header.Get("X-Request-Id")
	e.requestLine(t, id)
	if want := `"error":"[input]: no ([input]) for [input] at qx7e and aqx7"`; !strings.Contains(e.log.String(), want) {
		t.Errorf("no %s in %s", want, e.log.String())
	}
}

func TestWithoutWord(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ message, word, want string }{
		{"ab", "ab", "[input]"},
		{"ab ab ab ab", "ab", "[input] [input] [input] [input]"},
		{"(ab,ab)", "ab", "([input],[input])"},
		{"abab ab1 1ab éab abé", "ab", "abab ab1 1ab éab abé"},
		{"aba ab", "ab", "aba [input]"},
		{"no é: é", "é", "no [input]: [input]"},
		{"[input] of in", "in", "[input] of [input]"},
		{"a.b a+b", "a.b", "[input] a+b"},
		{"nothing", "ab", "nothing"},
		{"nothing", "", "nothing"},
		{"", "ab", ""},
	} {
		if got := withoutWord(tt.message, tt.word); got != tt.want {
			t.Errorf("%q without %q: %q, want %q", tt.message, tt.word, got, tt.want)
		}
	}
}

// A page that is not there, or that could not be made, is one in the log too, and keeps its own answer.
func TestPagesThatFailAreLogged(t *testing.T) {
	t.Parallel()
	e := newEdge(t, nil)
	for _, tt := range []struct {
		path, outcome, level string
		status               int
		cause                string
	}{
		{"/", "ok", "INFO", 200, ""},
		{"/nothing", "not_found", "INFO", 404, ""},
		{"/assets/0000000000000000/site.css", "not_found", "INFO", 404, ""},
		{"/tools/unmade", "internal", "ERROR", 500, "template: no such field"},
	} {
		a := e.send(t, "GET", tt.path, "")
		if a.StatusCode != tt.status || string(a.body) != "<p>a page</p>" {
			t.Errorf("%s: %d %s", tt.path, a.StatusCode, a.body)
		}
		id := a.Header.Get("X-Request-Id")
		line := e.requestLine(t, id)
		if line["outcome"] != tt.outcome || line["level"] != tt.level || line["status"] != float64(tt.status) {
			t.Errorf("%s: %v", tt.path, line)
		}
		var causes []any
		for _, line := range e.lines(t) {
			if line["requestId"] == id && line["error"] != nil {
				causes = append(causes, line["level"], line["error"])
			}
		}
		if tt.cause == "" && causes != nil || tt.cause != "" && !slices.Equal(causes, []any{"ERROR", tt.cause}) {
			t.Errorf("%s: causes %v", tt.path, causes)
		}
	}
}

// What a trusted proxy names a request by is logged beside our own id; a client's is not.
func TestProxyIDs(t *testing.T) {
	t.Parallel()
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for _, tt := range []struct {
		change     []func(*Config)
		id, parent string
		logged     bool
	}{
		{[]func(*Config){trusting}, "edge-1.2_3", parent, true},
		{nil, "edge-1", parent, false},
		{[]func(*Config){trusting}, "a b", "00-xyz", false},
		{[]func(*Config){trusting}, strings.Repeat("a", 65), strings.ToUpper(parent), false},
	} {
		e := newEdge(t, nil, tt.change...)
		a := e.post(t, "echo", `{"input":"a"}`, "X-Request-Id: "+tt.id, "Traceparent: "+tt.parent)
		line := e.requestLine(t, a.Header.Get("X-Request-Id"))
		id, parent := line["proxyRequestId"], line["traceparent"]
		if tt.logged && (id != tt.id || parent != tt.parent) || !tt.logged && (id != nil || parent != nil) {
			t.Errorf("%+v: %v, %v", tt, id, parent)
		}
	}
}
