package httpapi

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/shared/parallel"
	"diagnostics/shared/progress"
	"diagnostics/shared/waittest"

	"github.com/labstack/echo/v4"
)

const ndjson = "Accept: application/x-ndjson"

// linesOf reads a stream: all its lines, of which the last is the result.
func linesOf(t *testing.T, a *answer) (steps []map[string]any, last map[string]any) {
	t.Helper()
	if a.StatusCode != http.StatusOK || a.Header.Get("Content-Type") != "application/x-ndjson" {
		t.Fatalf("status %d, %v: %s", a.StatusCode, a.Header, a.body)
	}
	if !strings.HasSuffix(string(a.body), "\n") {
		t.Errorf("the last line has no end: %q", a.body)
	}
	for line := range strings.Lines(string(a.body)) {
		if last != nil {
			if len(last) != 1 || last["step"] == nil {
				t.Errorf("%v is no step", last)
			}
			step, _ := last["step"].(map[string]any)
			steps = append(steps, step)
		}
		last = nil
		if err := json.Unmarshal([]byte(line), &last); err != nil {
			t.Fatalf("%v: %q", err, line)
		}
	}
	return steps, last
}

// The last line says what a plain answer says, of results and of every kind of failure.
func TestTheLastLineIsThePlainAnswer(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]struct {
		data  any
		err   error
		state any // of the conclusion before the last line
	}{
		"a result":          {data: map[string]any{"hops": []any{1.0, "<b>"}}},
		"no result":         {},
		"invalid":           {err: fault.New(fault.Invalid, "INPUT_NOT_UTF8", nil)},
		"limited":           {err: &fault.Error{Kind: fault.Limited, Code: "TOO_MANY_REQUESTS", RetryAfter: 1500 * time.Millisecond}, state: "unknown"},
		"busy":              {err: fault.New(fault.Busy, "SERVICE_BUSY", nil), state: "unknown"},
		"a missing name":    {err: fault.New(fault.NoAddress, "NAME_NOT_FOUND", finding.Args{"host": "a.example"}), state: "fail"},
		"not public":        {err: fault.New(fault.Refused, "TARGET_NOT_PUBLIC", nil), state: "fail"},
		"the target":        {err: fault.New(fault.Upstream, "CONNECTION_REFUSED", finding.Args{"host": "a.example"}), state: "fail"},
		"a provider":        {err: fault.New(fault.Upstream, "ASN_FAILED", nil), state: "unknown"},
		"the run's time":    {err: context.DeadlineExceeded, state: "unknown"},
		"unforeseen":        {err: errors.New("secret"), state: "unknown"},
		"cannot be encoded": {data: make(chan int), state: "unknown"},
		"far too long":      {data: strings.Repeat("a", maxDataBytes+1), state: "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEdge(t, func(ctx context.Context, _ fakeTarget) (any, error) {
				progress.Enter(ctx, progress.Waiting)
				return end.data, end.err
			})
			plain := e.post(t, "echo", `{"input":"a"}`)
			stream := e.post(t, "echo", `{"input":"a"}`, ndjson)
			steps, last := linesOf(t, stream)
			var state any
			if n := len(steps) - 1; n >= 0 && steps[n]["kind"] == "conclusion" {
				conclusion, _ := steps[n]["conclusion"].(map[string]any)
				if state = conclusion["state"]; conclusion["brief"] == "" || conclusion["message"] != last["error"] {
					t.Errorf("%v before %v", conclusion, last)
				}
			}
			if state != end.state {
				t.Errorf("concluded as %v, want %v: %s", state, end.state, stream.body)
			}
			var want map[string]any
			if err := json.Unmarshal(plain.body, &want); err != nil {
				t.Fatal(err)
			}
			want["status"] = float64(plain.StatusCode)
			if wait := plain.Header.Get("Retry-After"); wait != "" {
				want["retryAfter"] = json.Number(wait)
				number, _ := want["retryAfter"].(json.Number).Float64()
				want["retryAfter"] = number
			}
			if last["requestId"] != stream.Header.Get("X-Request-Id") || last["durationMs"] == nil {
				t.Errorf("%v", last)
			}
			for _, own := range []string{"requestId", "durationMs"} {
				delete(want, own)
				delete(last, own)
			}
			if !reflect.DeepEqual(last, want) {
				t.Errorf("the last line is %v, the plain answer %v", last, want)
			}
			line := e.requestLine(t, stream.Header.Get("X-Request-Id"))
			plainLine := e.requestLine(t, plain.Header.Get("X-Request-Id"))
			if line["status"] != plainLine["status"] || line["outcome"] != plainLine["outcome"] {
				t.Errorf("the log has %v and %v, of a plain answer %v and %v", line["status"], line["outcome"],
					plainLine["status"], plainLine["outcome"])
			}
			counted := fmt.Sprintf("diagnostics_requests_total{from=%q,outcome=%q,slug=%q,status=\"%v\"} 2\n",
				"client", line["outcome"], "echo", line["status"])
			waittest.Until(t, "the stream is counted", func() bool {
				w := httptest.NewRecorder()
				e.config.Metrics.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
				return strings.Contains(w.Body.String(), counted)
			})
			for _, h := range []string{"Cache-Control", "X-Content-Type-Options", "X-Ratelimit-Limit", "X-Ratelimit-Remaining"} {
				if stream.Header.Get(h) != plain.Header.Get(h) {
					t.Errorf("%s: %q, of a plain answer %q", h, stream.Header.Get(h), plain.Header.Get(h))
				}
			}
			if stream.Header.Get("X-Accel-Buffering") != "no" {
				t.Error("nginx may collect the lines")
			}
		})
	}
}

// What is refused before anything is sent is answered as it is without a stream.
func TestRefusalsBeforeAStream(t *testing.T) {
	t.Parallel()
	e := newEdge(t, nil)
	for _, test := range []struct {
		slug, body string
		status     int
		headers    []string
	}{
		{"echo", `{"input":"bad"}`, 400, nil},
		{"echo", `{"input":"refused"}`, 400, nil},
		{"echo", `{`, 400, nil},
		{"off", `{"input":"a"}`, 501, nil},
		{"probe", `{"input":"a"}`, 501, nil},
		{"unknown", `{"input":"a"}`, 404, nil},
		{"echo", `{"input":"a"}`, 403, []string{"Origin: https://evil.example"}},
	} {
		e.post(t, test.slug, test.body, append(test.headers, ndjson)...).envelope(t, test.status)
	}
}

// Steps come while the run goes on.
func TestStepsComeAsTheyAreKnown(t *testing.T) {
	t.Parallel()
	for _, coding := range []string{"identity", "gzip"} {
		t.Run(coding, func(t *testing.T) {
			t.Parallel()
			stepsAreSentAtOnce(t, coding)
		})
	}
}

func stepsAreSentAtOnce(t *testing.T, coding string) {
	t.Helper()
	goOn := make(chan struct{})
	e := newEdge(t, func(ctx context.Context, _ fakeTarget) (any, error) {
		progress.Ask(ctx, "rdap.org")
		<-goOn
		progress.Report(ctx, "hop", "1", map[string]int{"ttl": 1})
		<-goOn
		return "done", nil
	})
	conn := dial(t, e.addr)
	write(t, conn, "POST /api/tools/echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"+ndjson+
		"\r\nAccept-Encoding: "+coding+"\r\nContent-Length: 13\r\n\r\n"+`{"input":"a"}`)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text := io.Reader(resp.Body)
	if coding == "gzip" {
		if text, err = gzip.NewReader(text); err != nil || resp.Header.Get("Content-Encoding") != coding {
			t.Fatalf("%v, %v", resp.Header, err)
		}
	}
	lines := bufio.NewScanner(text)
	for _, want := range []string{
		`{"step":{"kind":"stage","stage":"asking","whom":"rdap.org","atMs":`, `{"step":{"kind":"hop","hop":{"ttl":1},"atMs":`,
		`{"data":"done","durationMs":`,
	} {
		if !lines.Scan() || !strings.HasPrefix(lines.Text(), want) {
			t.Fatalf("%q, want %s", lines.Text(), want)
		}
		if strings.Contains(want, "step") {
			goOn <- struct{}{}
		}
	}
	if lines.Scan() {
		t.Errorf("behind the last line: %q", lines.Text())
	}
}

// What cannot be written down is left out; the run goes on, for those too who share it.
func TestAStepThatCannotBeEncoded(t *testing.T) {
	t.Parallel()
	e := newEdge(t, func(ctx context.Context, _ fakeTarget) (any, error) {
		progress.Of(ctx).Add(progress.Step{Kind: "hop", Key: "1", Value: math.NaN()})
		progress.Of(ctx).Add(progress.Step{Kind: "hop", Key: "2", Value: 2})
		return "done", ctx.Err()
	})
	steps, last := linesOf(t, e.post(t, "echo", `{"input":"a"}`, ndjson))
	if len(steps) != 1 || steps[0]["hop"] != 2.0 || last["data"] != "done" {
		t.Errorf("%v, %v", steps, last)
	}
}

// The last line is written without waiting only where there is room for all that net/http has not sent yet.
func TestWhatIsNotSentYet(t *testing.T) {
	t.Parallel()
	e := newEdge(t, nil)
	c := echo.New().NewContext(httptest.NewRequest(http.MethodPost, "/", nil), httptest.NewRecorder())
	x := &requestContext{start: time.Now()}
	e.startLines(c, x)
	r, step := reader{e.Server, c, x}, strings.Repeat("a", 1000)
	for _, want := range []int{headerRoom, headerRoom + 1000, headerRoom + 2000, 0, 1000} {
		if got := x.stream.unsent; got < want || got > want+200 {
			t.Errorf("%d bytes are not sent, want some more than %d", got, want)
		}
		if err := r.Send(progress.Step{Kind: "x", Value: step, At: time.Now()}); err != nil {
			t.Fatal(err)
		}
		if want == headerRoom+2000 {
			if err := r.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// The memory of a run includes its steps; a step without room is not sent.
func TestStepsCountAsHeld(t *testing.T) {
	t.Parallel()
	goOn := make(chan int64)
	var e *edge
	e = newEdge(t, func(ctx context.Context, _ fakeTarget) (any, error) {
		for i := range 20 {
			progress.Report(ctx, "x", strconv.Itoa(i), strings.Repeat("a", 10<<10))
		}
		_, held := e.held()
		goOn <- held
		return "done", nil
	}, func(c *Config) { c.Bounds.ClientHeldBytes = 100 << 10 })
	sent := parallel.Start(func() []map[string]any {
		steps, _ := linesOf(t, e.post(t, "echo", `{"input":"a"}`, ndjson))
		return steps
	})
	if held := <-goOn; held < 80<<10 || held > 100<<10 {
		t.Errorf("%d KiB are held", held>>10)
	}
	if n := len(sent.Wait()); n == 0 || n > 12 {
		t.Errorf("%d steps are sent", n)
	}
	waittest.Until(t, "nothing is held", func() bool { _, held := e.held(); return held == 0 })
}

// Only the lack of a slot of the worker is answered as it is without a stream.
func TestAStreamOfTheWorkerBeginsOnceItHasTakenTheJob(t *testing.T) {
	t.Parallel()
	enabled := func(run run) *edge {
		return newEdge(t, nil, func(c *Config) {
			c.WorkerEnabled = true
			c.Tools[2] = workerTool(run)
		})
	}
	busy := &fault.Error{Kind: fault.Busy, Code: "SERVICE_BUSY", RetryAfter: 7 * time.Second}
	e := enabled(func(ctx context.Context, _ fakeTarget) (any, error) {
		progress.Enter(ctx, progress.Resolving)
		return nil, busy
	})
	a := e.post(t, "probe", `{"input":"a"}`, ndjson)
	a.envelope(t, 503)
	if a.Header.Get("Retry-After") != "7" {
		t.Errorf("%v", a.Header)
	}
	e = enabled(func(ctx context.Context, _ fakeTarget) (any, error) {
		progress.Of(ctx).Begin()
		return nil, busy
	})
	if _, last := linesOf(t, e.post(t, "probe", `{"input":"a"}`, ndjson)); last["status"] != 503.0 || last["retryAfter"] != 7.0 {
		t.Errorf("%v", last)
	}
	e = enabled(func(context.Context, fakeTarget) (any, error) {
		return nil, fault.New(fault.NoAddress, "NAME_NOT_FOUND", finding.Args{"host": "a.example"})
	})
	if steps, last := linesOf(t, e.post(t, "probe", `{"input":"a"}`, ndjson)); len(steps) != 1 || last["status"] != 400.0 {
		t.Errorf("%v, %v: a failure that is no lack of a slot is a stream", steps, last)
	}
	e = enabled(func(context.Context, fakeTarget) (any, error) { return "plain", nil })
	if steps, last := linesOf(t, e.post(t, "probe", `{"input":"a"}`, ndjson)); steps != nil || last["data"] != "plain" {
		t.Errorf("%v, %v", steps, last)
	}
}

func TestAStreamThatPanics(t *testing.T) {
	t.Parallel()
	e := newEdge(t, func(ctx context.Context, _ fakeTarget) (any, error) {
		progress.Report(ctx, "hop", "1", 1)
		explode("the detail")
		return nil, nil
	})
	a := e.post(t, "echo", `{"input":"a"}`, ndjson)
	if _, last := linesOf(t, a); last["status"] != 500.0 || strings.Contains(string(a.body), "detail") {
		t.Errorf("%v", last)
	}
	if line := e.requestLine(t, a.Header.Get("X-Request-Id")); line["status"] != 500.0 || line["outcome"] != "internal" {
		t.Errorf("%v", line)
	}
}

// A reader who leaves, or reads nothing, ends the run.
func TestAReaderOfAStreamThatLeaves(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(interface{ Close() error }){
		"leaves":        func(conn interface{ Close() error }) { _ = conn.Close() },
		"reads nothing": func(interface{ Close() error }) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			started, ended := make(chan struct{}), make(chan error, 1)
			e := newEdge(t, func(ctx context.Context, _ fakeTarget) (any, error) {
				close(started)
				for i := 0; ctx.Err() == nil; i++ {
					progress.Of(ctx).Add(progress.Step{Kind: "hop", Value: strings.Repeat("a", 1<<20)})
					time.Sleep(time.Millisecond) // fills the buffers of a real socket
				}
				ended <- ctx.Err()
				return nil, ctx.Err()
			}, func(c *Config) { c.Bounds.AnswerStall = 200 * time.Millisecond; c.RunLimit = time.Minute })
			conn := dial(t, e.addr)
			write(t, conn, "POST /api/tools/echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"+ndjson+
				"\r\nContent-Length: 13\r\n\r\n"+`{"input":"a"}`)
			<-started
			leave(conn)
			e.endsForNobody(t, ended)
		})
	}
}

// An error is logged as usual where the client leaves before it has read the answer.
func TestAFailureThatNobodyReads(t *testing.T) {
	t.Parallel()
	for _, accept := range []string{"application/json", "application/x-ndjson"} {
		ctx, leave := context.WithCancel(t.Context())
		e := newEdge(t, func(context.Context, fakeTarget) (any, error) {
			return nil, fault.New(fault.Upstream, "ASN_FAILED", nil)
		})
		r := httptest.NewRequest(http.MethodPost, "/api/tools/echo", strings.NewReader(`{"input":"a"}`)).WithContext(ctx)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", accept)
		e.ServeHTTP(&brokenWriter{httptest.NewRecorder(), leave}, r)
		if last := e.lines(t)[len(e.lines(t))-1]; last["outcome"] != "upstream" || last["status"] != 502.0 {
			t.Errorf("%s: %v", accept, last)
		}
	}
}

// A client that reads a stream of an instance that shuts down is asked to retry.
func TestAnInstanceThatLeavesInAStream(t *testing.T) {
	t.Parallel()
	ctx, leave := context.WithCancelCause(t.Context())
	e := newEdge(t, func(run context.Context, _ fakeTarget) (any, error) {
		leave(ErrLeaving)
		<-run.Done()
		return "what was seen", nil
	})
	r := httptest.NewRequest(http.MethodPost, "/api/tools/echo", strings.NewReader(`{"input":"a"}`)).WithContext(ctx)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/x-ndjson")
	w := httptest.NewRecorder()
	e.ServeHTTP(w, r)
	if _, last := linesOf(t, &answer{w.Result(), w.Body.Bytes()}); last["status"] != 503.0 || last["retryAfter"] != 5.0 ||
		!strings.Contains(w.Body.String(), "restarting") {
		t.Errorf("%v", last)
	}
	if last := e.lines(t)[len(e.lines(t))-1]; last["outcome"] != "leaving" || last["status"] != 503.0 {
		t.Errorf("%v", last)
	}
}
