package httpapi

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/apidoc/openapi"
	"diagnostics/gateway/internal/clientip"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/limits/ratelimit"
	"diagnostics/gateway/internal/limits/requests"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/web"
	"diagnostics/shared/logtest"
	"diagnostics/shared/waittest"
)

// fakeTarget is its text; an input of "bad" does not parse, "refused" is refused.
type fakeTarget string

func (t fakeTarget) LimitKey() string { return string(t) }

func parseFake(in tool.Input) (fakeTarget, error) {
	switch in.Text {
	case "bad":
		return "", fault.New(fault.Invalid, "ENTER_HOSTNAME", nil)
	case "refused":
		return "", fault.New(fault.Refused, "TARGET_NOT_PUBLIC", nil)
	}
	if _, err := (tool.Option{Name: "family", Values: []string{"auto", "ipv4", "ipv6"},
		Default: "auto"}).Choice(in.Options); err != nil {
		return "", err
	}
	return fakeTarget(in.Text), nil
}

// fakeOpenAPI is the least that a tool must say of itself.
func fakeOpenAPI(result string) string {
	return `operation:
  summary: Do nothing
  input: {type: string}
  requestExamples: {}
schemas:
  ` + result + `: {type: object}
`
}

// limiterFunc is a ratelimit.Limiter.
type limiterFunc func(context.Context, ...ratelimit.Stage) (ratelimit.Decision, error)

func (f limiterFunc) Take(ctx context.Context, stages ...ratelimit.Stage) (ratelimit.Decision, error) {
	return f(ctx, stages...)
}

func allowAll(context.Context, ...ratelimit.Stage) (ratelimit.Decision, error) {
	return ratelimit.Decision{Allowed: true, Limit: 30, Remaining: 29, ResetAfter: 1500 * time.Millisecond}, nil
}

type denier map[string]bool

func (d denier) DeniesKey(key string) bool { return d[key] }

// edge is a listening server with fake tools around the real routes.
type edge struct {
	*Server
	addr string
	log  *logtest.Journal
}

// quickServer as a RunLimit shortens the server's own timeouts as well.
const quickServer = 5*time.Second + 1

// run is what the tool "echo" does in a test; the other tools are fixed.
type run func(context.Context, fakeTarget) (any, error)

func echoRun(_ context.Context, t fakeTarget) (any, error) {
	return map[string]string{"target": string(t)}, nil
}

// workerTool is the tool that needs the worker.
func workerTool(do run) tool.Tool {
	return tool.New(tool.Spec[fakeTarget, any]{Slug: "probe", OpenAPI: fakeOpenAPI("Probe"), Worker: true,
		Parse: parseFake, Run: do})
}

func newEdge(t *testing.T, do run, change ...func(*Config)) *edge {
	t.Helper()
	if do == nil {
		do = echoRun
	}
	log := &logtest.Journal{}
	logger := slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	c := Config{
		Tools: []tool.Tool{
			tool.New(tool.Spec[fakeTarget, any]{Slug: "echo", OpenAPI: fakeOpenAPI("Echo"), Parse: parseFake, Run: do}),
			tool.New(tool.Spec[fakeTarget, any]{Slug: "off", OpenAPI: fakeOpenAPI("Off"), Parse: parseFake, Run: echoRun}),
			workerTool(echoRun),
		},
		Disabled:             []string{"off"},
		Deny:                 denier{"denied.example.com": true},
		Limiter:              limiterFunc(allowAll),
		Limits:               requests.Limits{Samples: ratelimit.Limit{Requests: 1800, Window: time.Minute}},
		MaxInFlight:          4,
		MaxInFlightPerClient: 2,
		Bounds:               DefaultBounds(),
		Clients:              clientip.New(clientip.Trust{}, logger),
		Pages: func(w http.ResponseWriter, r *http.Request) (err error) {
			switch {
			case r.URL.Path == "/panic":
				panic("pages")
			case r.URL.Path == "/tools/unmade":
				w.WriteHeader(http.StatusInternalServerError)
				err = errors.New("template: no such field")
			case r.URL.Path != "/" && r.URL.Path != "/api" && !strings.HasPrefix(r.URL.Path, "/tools/"):
				w.WriteHeader(http.StatusNotFound)
				err = web.ErrNotFound
			}
			_, _ = io.WriteString(w, "<p>a page</p>")
			return err
		},
		LimitedPage: func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = io.WriteString(w, "<p>too many</p>")
		},
		Metrics:  NewMetrics(),
		Log:      logger,
		Now:      time.Now,
		RunLimit: 5 * time.Second,
	}
	for _, f := range change {
		f(&c)
	}
	var err error
	if c.Description, err = openapi.Document(c.Tools); err != nil {
		t.Fatal(err)
	}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := s.HTTPServer()
	if c.RunLimit == quickServer {
		server.ReadHeaderTimeout, server.ReadTimeout = 100*time.Millisecond, 200*time.Millisecond
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(s.Listener(l))
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	return &edge{Server: s, addr: l.Addr().String(), log: log}
}

// raw sends bytes as they stand and reads one answer.
func (e *edge) raw(t *testing.T, request string) *answer {
	t.Helper()
	conn, err := net.Dial("tcp", e.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(2 * time.Minute))
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	method, _, _ := strings.Cut(request, " ")
	return readAnswer(t, bufio.NewReader(conn), method)
}

type answer struct {
	*http.Response
	body []byte
}

func readAnswer(t *testing.T, r *bufio.Reader, method string) *answer {
	t.Helper()
	resp, err := http.ReadResponse(r, &http.Request{Method: method})
	if err != nil {
		t.Fatalf("no answer: %v", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("half an answer: %v", err)
	}
	return &answer{resp, body}
}

// send writes one request with the usual headers unless they are given.
func (e *edge) send(t *testing.T, method, path, body string, headers ...string) *answer {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n", method, path, e.addr)
	if body != "" {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(body))
		if !strings.Contains(strings.ToLower(strings.Join(headers, "\n")), "content-type:") {
			b.WriteString("Content-Type: application/json\r\n")
		}
	}
	for _, h := range headers {
		b.WriteString(h + "\r\n")
	}
	b.WriteString("\r\n" + body)
	return e.raw(t, b.String())
}

func (e *edge) post(t *testing.T, slug, body string, headers ...string) *answer {
	t.Helper()
	return e.send(t, "POST", "/api/tools/"+slug, body, headers...)
}

var uuidForm = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

// envelope checks all that every answer under /api/ promises, and gives data or the error's sentence.
func (a *answer) envelope(t *testing.T, status int) (data map[string]any, sentence string) {
	t.Helper()
	if a.StatusCode != status {
		t.Fatalf("status %d, want %d: %s", a.StatusCode, status, a.body)
	}
	for name, want := range map[string]string{
		"Content-Type": "application/json", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
	} {
		if got := a.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(a.body, &fields); err != nil {
		t.Fatalf("not an envelope: %v: %s", err, a.body)
	}
	var id string
	var ms float64
	if json.Unmarshal(fields["requestId"], &id) != nil || !uuidForm.MatchString(id) || id != a.Header.Get("X-Request-Id") {
		t.Errorf("request id %s, header %q", fields["requestId"], a.Header.Get("X-Request-Id"))
	}
	if json.Unmarshal(fields["durationMs"], &ms) != nil || ms < 0 {
		t.Errorf("duration %s", fields["durationMs"])
	}
	key, into := "error", any(&sentence)
	if status == http.StatusOK {
		key, into = "data", &data
	}
	if err := json.Unmarshal(fields[key], into); err != nil {
		t.Errorf("%s: %v in %s", key, err, a.body)
	}
	if len(fields) != 3 {
		t.Errorf("%d keys in %s", len(fields), a.body)
	}
	if status != http.StatusOK && (sentence == "" || !strings.HasSuffix(sentence, ".")) {
		t.Errorf("not a sentence: %q", sentence)
	}
	return data, sentence
}

// lines parses every line of the log.
func (e *edge) lines(t *testing.T) []map[string]any {
	t.Helper()
	var out []map[string]any
	for line := range strings.Lines(e.log.String()) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("not one JSON object a line: %q: %v", line, err)
		}
		out = append(out, fields)
	}
	return out
}

// requestLine waits for the line of a request, which is written after its answer.
func (e *edge) requestLine(t *testing.T, id string) map[string]any {
	t.Helper()
	var found map[string]any
	waittest.Until(t, "the line of request "+id, func() bool {
		for _, line := range e.lines(t) {
			if line["msg"] == "request" && line["requestId"] == id {
				found = line
			}
		}
		return found != nil
	})
	return found
}
