package httpapi

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"diagnostics/gateway/internal/egress/shortage"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/limits/ratelimit"
	"diagnostics/gateway/internal/providers/registry"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/shared/flight"
	"diagnostics/shared/parallel"
	"diagnostics/shared/waittest"

	"github.com/google/go-cmp/cmp"
)

const foreign = "Origin: https://evil.example"

func TestSuccess(t *testing.T) {
	t.Parallel()
	e := newEdge(t, nil)
	a := e.post(t, "echo", `{"input":"  example.com "}`)
	data, _ := a.envelope(t, http.StatusOK)
	if data["target"] != "example.com" {
		t.Errorf("data %v", data)
	}
	line := e.requestLine(t, a.Header.Get("X-Request-Id"))
	want := map[string]any{"method": "POST", "route": "/api/tools/echo", "slug": "echo", "status": 200.0, "outcome": "ok",
		"client": "127.0.0.0/24"}
	for k, v := range want {
		if line[k] != v {
			t.Errorf("log %s: %v, want %v", k, line[k], v)
		}
	}
}

// Each request breaks one step and all later ones; the earlier step must answer.
func TestOrderOfChecks(t *testing.T) {
	t.Parallel()
	limited := func(c *Config) {
		c.Limiter = limiterFunc(func(context.Context, ...ratelimit.Stage) (ratelimit.Decision, error) {
			return ratelimit.Decision{Limit: 1, ResetAfter: time.Minute, RetryAfter: 61 * time.Second}, nil
		})
	}
	e := newEdge(t, nil, limited)
	big := `{"input":"` + strings.Repeat("x", MaxBodyBytes) + `"}`
	long := `{"input":"` + strings.Repeat("x", 2049) + `"}`
	tests := []struct {
		name, method, slug, body string
		headers                  []string
		status                   int
		outcome                  string
	}{
		{"1 unknown slug before method", "PUT", "nothing", big, []string{foreign}, 404, "not_found"},
		{"1 method before origin", "PUT", "echo", big, []string{foreign}, 405, "method_not_allowed"},
		{"2 origin before content type", "POST", "echo", big, []string{foreign, "Content-Type: text/plain"}, 403, "foreign_origin"},
		{"3 content type before size", "POST", "echo", big, []string{"Content-Type: text/plain"}, 415, "media_type"},
		{"4 compression before size", "POST", "echo", big, []string{"Content-Encoding: gzip"}, 415, "media_type"},
		{"4 size before JSON", "POST", "echo", strings.Repeat("[", MaxBodyBytes+1), nil, 413, "too_large"},
		{"5 JSON before input rules", "POST", "echo", `{"input":"\n","options":1}`, nil, 400, "bad_request"},
		{"6 length before the tool's format", "POST", "echo", long, nil, 400, "invalid"},
		{"6 control characters", "POST", "echo", `{"input":"example.com\n"}`, nil, 400, "invalid"},
		{"7 format before 501", "POST", "probe", `{"input":"bad"}`, nil, 400, "invalid"},
		{"7 refused before 501", "POST", "off", `{"input":"refused"}`, nil, 400, "refused"},
		{"7 options before 501", "POST", "off", `{"input":"a","options":{"family":"x"}}`, nil, 400, "invalid"},
		{"7 deny list before 501", "POST", "off", `{"input":"denied.example.com"}`, nil, 400, "refused"},
		{"8 worker off before limits", "POST", "probe", `{"input":"a"}`, nil, 501, "not_enabled"},
		{"8 disabled before limits", "POST", "off", `{"input":"a"}`, nil, 501, "not_enabled"},
		{"9 limits before the run", "POST", "echo", `{"input":"a"}`, nil, 429, "limited"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, accept := range []string{"Accept: application/json", ndjson} {
				a := e.send(t, tt.method, "/api/tools/"+tt.slug, tt.body, append(slices.Clone(tt.headers), accept)...)
				a.envelope(t, tt.status)
				if got := a.Header.Get("X-RateLimit-Limit") != ""; got != (tt.status == 429) {
					t.Errorf("rate-limit headers: %v", got)
				}
				if line := e.requestLine(t, a.Header.Get("X-Request-Id")); line["outcome"] != tt.outcome {
					t.Errorf("outcome %v, want %s", line["outcome"], tt.outcome)
				}
			}
		})
	}
}

func TestMethods(t *testing.T) {
	t.Parallel()
	e := newEdge(t, nil)
	tests := []struct {
		method, path string
		status       int
		allow        string
	}{
		{"GET", "/api/tools/echo", 405, "POST"},
		{"HEAD", "/api/tools/echo", 405, "POST"},
		{"OPTIONS", "/api/tools/echo", 405, "POST"},
		{"BREW", "/api/tools/echo", 405, "POST"},
		{"TRACE", "/api/tools/echo", 405, "POST"},
		{"POST", "/api/connection/ping", 405, "GET, HEAD"},
		{"OPTIONS", "/api/connection/packet-loss", 405, "GET, HEAD"},
		{"POST", "/api/openapi.yaml", 405, "GET, HEAD"},
		{"OPTIONS", "/api/openapi.yaml", 405, "GET, HEAD"},
		{"POST", "/healthz", 405, "GET, HEAD"},
		{"OPTIONS", "/readyz", 405, "GET, HEAD"},
		{"POST", "/", 405, "GET, HEAD"},
		{"POST", "/history", 405, "GET, HEAD"},
		{"POST", "/tools/echo", 405, "GET, HEAD"},
		{"OPTIONS", "/tools/echo", 405, "GET, HEAD"},
		{"POST", "/assets/a.js", 405, "GET, HEAD"},
		{"POST", "/api/tools/none", 404, ""},
		{"OPTIONS", "/api/none", 404, ""},
		{"GET", "/api/", 404, ""},
		{"POST", "/api", 405, "GET, HEAD"},
		{"OPTIONS", "/api", 405, "GET, HEAD"},
		{"GET", "/api/tools", 404, ""},
		{"GET", "/api/tools/", 404, ""},
		{"POST", "/api/tools/echo/", 404, ""},
		{"POST", "/api/tools/echo/more", 404, ""},
		{"POST", "/api/tools/ECHO", 404, ""},
		{"GET", "/%61pi/none", 404, ""},
		{"POST", "/api%2Ftools%2fecho", 404, ""},
		{"POST", "/api/tools%2fecho", 404, ""},
		{"GET", "/api/tools/..%2f..%2fhealthz", 404, ""},
		{"GET", "/nothing", 404, ""},
		{"POST", "/nothing", 404, ""},
		{"GET", "/metrics", 404, ""},
		{"OPTIONS", "*", 404, ""},
	}
	for _, tt := range tests {
		t.Run(tt.method+" "+tt.path, func(t *testing.T) {
			t.Parallel()
			a := e.send(t, tt.method, tt.path, "")
			if a.StatusCode != tt.status || a.Header.Get("Allow") != tt.allow {
				t.Errorf("status %d, Allow %q; want %d, %q", a.StatusCode, a.Header.Get("Allow"), tt.status, tt.allow)
			}
			if a.Header.Get("X-Request-Id") == "" || a.Header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("headers %v", a.Header)
			}
			if strings.HasPrefix(tt.path, "/api") && tt.method != "HEAD" {
				a.envelope(t, tt.status)
			}
		})
	}
}

// A path that is spelled with needless escapes is the same path (RFC 3986 section 6.2.2.2).
func TestEscapedPath(t *testing.T) {
	t.Parallel()
	e := newEdge(t, nil)
	e.send(t, "POST", "/%61pi/tools/%65cho", `{"input":"a"}`).envelope(t, http.StatusOK)
}

func TestHeadForEveryGet(t *testing.T) {
	t.Parallel()
	e := newEdge(t, nil)
	for _, path := range []string{"/", "/tools/echo", "/healthz", "/readyz", "/api/connection/ping?n=1",
		"/api/connection/packet-loss", "/api", "/api/openapi.yaml"} {
		get, head := e.send(t, "GET", path, ""), e.send(t, "HEAD", path, "")
		if head.StatusCode != http.StatusOK || len(head.body) != 0 ||
			head.Header.Get("Content-Type") != get.Header.Get("Content-Type") {
			t.Errorf("HEAD %s: %d, %d bytes, %q", path, head.StatusCode, len(head.body), head.Header.Get("Content-Type"))
		}
	}
}

func TestErrorTable(t *testing.T) {
	t.Parallel()
	secret := errors.New("dial tcp 10.1.2.3:443: connection refused by http://worker:8081")
	tests := []struct {
		name    string
		err     error
		status  int
		retry   string
		outcome string
		code    string
	}{
		{"invalid", fault.New(fault.Invalid, "INPUT_NOT_UTF8", nil), 400, "", "invalid", "INPUT_NOT_UTF8"},
		{"refused", fault.Wrap(fault.Refused, secret, "TARGET_NOT_PUBLIC", nil), 400, "", "refused", "TARGET_NOT_PUBLIC"},
		{"no address", fault.New(fault.NoAddress, "DEPENDENCY_NO_ADDRESS", nil), 400, "", "no_address", "DEPENDENCY_NO_ADDRESS"},
		{"not enabled", fault.New(fault.NotEnabled, "TOOL_OFF", nil), 501, "", "not_enabled", "TOOL_OFF"},
		{"limited", &fault.Error{Kind: fault.Limited, Code: "TOO_MANY_REQUESTS", RetryAfter: 1500 * time.Millisecond}, 429, "2", "limited", "TOO_MANY_REQUESTS"},
		{"limited without a time", fault.New(fault.Limited, "TOO_MANY_REQUESTS", nil), 429, "1", "limited", "TOO_MANY_REQUESTS"},
		{"busy", &fault.Error{Kind: fault.Busy, Code: "SERVICE_BUSY", RetryAfter: 7 * time.Second}, 503, "7", "busy", "SERVICE_BUSY"},
		{"what this host lacks", shortage.Fault(secret), 503, "1", "shortage", "SHORTAGE_HERE"},
		{"what this host lacks for good", fault.New(fault.Upstream, "NO_IPV6_HERE", nil).ByRule(fault.RuleShortage), 502, "", "shortage", "NO_IPV6_HERE"},
		{"a provider's pause", registry.TryLater(fault.Busy, time.Second, "PROVIDER_PAUSED", finding.Args{"provider": "RDAP_SERVICE"}), 503, "1", "provider_wait", "PROVIDER_PAUSED"},
		{"a limit's", fault.New(fault.Busy, "SERVICE_BUSY", nil).ByRule(fault.LimitWorker), 503, "1", "busy", "SERVICE_BUSY"},
		{"our own resolver", &fault.Error{Kind: fault.Upstream, Local: true, Code: "RESOLVER_INVALID"}, 502, "", "dependency", "RESOLVER_INVALID"},
		{"our own silent resolver", &fault.Error{Kind: fault.Timeout, Local: true, Code: "RESOLVER_TIMEOUT"}, 504, "", "dependency_timeout", "RESOLVER_TIMEOUT"},
		{"busy at once", fault.New(fault.Busy, "SERVICE_BUSY", nil), 503, "1", "busy", "SERVICE_BUSY"},
		{"upstream", fault.Wrap(fault.Upstream, secret, "ASN_FAILED", nil), 502, "", "upstream", "ASN_FAILED"},
		{"upstream with a time", &fault.Error{Kind: fault.Upstream, Code: "ASN_UNREADABLE", RetryAfter: 61*time.Second + 1}, 502, "62", "upstream", "ASN_UNREADABLE"},
		{"timeout", fault.New(fault.Timeout, "BODY_TIMEOUT", nil), 504, "", "timeout", "BODY_TIMEOUT"},
		{"deadline", context.DeadlineExceeded, 504, "", "timeout", "CHECK_OUT_OF_TIME"},
		{"unforeseen", secret, 500, "", "internal", codeInternal},
		{"a kind that does not exist", fault.New(fault.Kind(99), "ASN_FAILED", nil), 500, "", "internal", codeInternal},
		{"cancelled by no client", context.Canceled, 500, "", "internal", codeInternal},
		{"wrapped", errors.Join(errors.New("outer"), fault.New(fault.Timeout, "BODY_TIMEOUT", nil)), 504, "", "timeout", "BODY_TIMEOUT"},
		{"a hostile argument", fault.New(fault.Upstream, "ANSWER_INVALID", finding.Args{"host": "A\x00\x1b[31m\nB\u202e."}), 502, "", "upstream", "ANSWER_INVALID"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := newEdge(t, func(context.Context, fakeTarget) (any, error) { return nil, tt.err })
			a := e.post(t, "echo", `{"input":"a"}`)
			_, sentence := a.envelope(t, tt.status)
			if sentence != problemOf(tt.err).sentence() || problemOf(tt.err).code != tt.code ||
				strings.ContainsFunc(sentence, unicode.IsControl) || a.Header.Get("Retry-After") != tt.retry {
				t.Errorf("%q, Retry-After %q; want %s, %q", sentence, a.Header.Get("Retry-After"), tt.code, tt.retry)
			}
			if a.Header.Get("X-RateLimit-Limit") != "30" {
				t.Error("an answer past step 9 without its rate-limit headers")
			}
			if line := e.requestLine(t, a.Header.Get("X-Request-Id")); line["outcome"] != tt.outcome {
				t.Errorf("outcome %v, want %s", line["outcome"], tt.outcome)
			}
		})
	}
}

func TestUnforeseenGoesToTheLogAlone(t *testing.T) {
	t.Parallel()
	e := newEdge(t, func(_ context.Context, target fakeTarget) (any, error) {
		if strings.Contains(string(target), "panic") {
			panic("the detail")
		}
		return nil, errors.New("the detail")
	})
	for _, input := range []string{"error", "panic"} {
		a := e.post(t, "echo", `{"input":"`+input+`"}`)
		if _, sentence := a.envelope(t, 500); strings.Contains(sentence, "detail") {
			t.Errorf("sentence: %s", sentence)
		}
		id := a.Header.Get("X-Request-Id")
		e.requestLine(t, id)
		found := false
		for _, line := range e.lines(t) {
			text, _ := line["error"].(string)
			found = found || line["requestId"] == id && line["level"] == "ERROR" && strings.Contains(text, "the detail")
			if input == "panic" && line["requestId"] == id && line["error"] != nil && !strings.Contains(text, "order_test.go") {
				t.Errorf("no stack: %s", text)
			}
		}
		if !found {
			t.Errorf("%s: the log does not say what happened: %s", input, e.log.String())
		}
	}
}

// explode is what a panic's stack must name.
func explode(value any) { panic(value) }

// Whatever goroutine a panic began in, and whatever it was called with, it is a 500, and its own stack is logged once.
func TestAPanicOfAnotherGoroutine(t *testing.T) {
	t.Parallel()
	var share flight.Group[string, any]
	foreseen := fault.New(fault.Invalid, "INPUT_NOT_UTF8", nil)
	for name, do := range map[string]run{
		"one of several": func(context.Context, fakeTarget) (any, error) {
			var g parallel.Group
			g.Go(func() {})
			g.Go(func() { explode("the detail") })
			g.Wait()
			return "unreachable", nil
		},
		"with an error": func(context.Context, fakeTarget) (any, error) {
			return parallel.Start(func() any { explode(foreseen); return nil }).Wait(), nil
		},
		"of a shared run": func(ctx context.Context, _ fakeTarget) (any, error) {
			return share.Do(ctx, "key", func(context.Context) (any, error) { explode("the detail"); return nil, nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEdge(t, do)
			a := e.post(t, "echo", `{"input":"a"}`)
			if _, sentence := a.envelope(t, 500); strings.Contains(sentence, "detail") {
				t.Errorf("sentence: %s", sentence)
			}
			id := a.Header.Get("X-Request-Id")
			if line := e.requestLine(t, id); line["outcome"] != "internal" {
				t.Errorf("outcome %v", line["outcome"])
			}
			var logged []string
			for _, line := range e.lines(t) {
				if text, _ := line["error"].(string); line["requestId"] == id && text != "" {
					logged = append(logged, text)
				}
			}
			if len(logged) != 1 || strings.Count(logged[0], "[running]") != 1 ||
				!strings.Contains(logged[0], "httpapi.explode(") {
				t.Errorf("logged: %q", logged)
			}
		})
	}
}

func TestResultThatCannotBeEncoded(t *testing.T) {
	t.Parallel()
	e := newEdge(t, func(context.Context, fakeTarget) (any, error) { return func() {}, nil })
	e.post(t, "echo", `{"input":"a"}`).envelope(t, 500)
}

func TestPanicInPages(t *testing.T) {
	t.Parallel()
	e := newEdge(t, nil)
	a := e.send(t, "GET", "/panic", "")
	if a.StatusCode != http.StatusInternalServerError || strings.Contains(string(a.body), "pages") ||
		a.Header.Get("Content-Security-Policy") == "" {
		t.Errorf("%d %s %v", a.StatusCode, a.body, a.Header)
	}
}

func TestRunLimit(t *testing.T) {
	t.Parallel()
	const limit = 50 * time.Millisecond
	for name, give := range map[string]func(context.Context) error{
		"its own error": func(ctx context.Context) error { return ctx.Err() },
		"called cancelled": func(context.Context) error {
			return errors.Join(errors.New("gave up"), context.Canceled)
		},
		"as a fault": func(ctx context.Context) error { return fault.Wrap(fault.Timeout, ctx.Err(), "BODY_TIMEOUT", nil) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEdge(t, func(ctx context.Context, _ fakeTarget) (any, error) {
				<-ctx.Done()
				return nil, give(ctx)
			}, func(c *Config) { c.RunLimit = limit })
			e.post(t, "echo", `{"input":"a"}`).envelope(t, 504)
		})
	}
}

// A timeout of a run that lacked the processor is this service's fault, even if the run has results of its first steps.
func TestRunsWithoutProcessorTime(t *testing.T) {
	t.Parallel()
	const limit = 50 * time.Millisecond
	for name, test := range map[string]struct {
		part   time.Duration // of the run, in percent
		run    func(context.Context) (any, error)
		status int
	}{
		"calm":             {20, untilTheEnd, 504},
		"starved":          {30, untilTheEnd, 503},
		"cut off, calm":    {20, cutOff, 200},
		"cut off, starved": {30, cutOff, 503},
		"a fault, calm":    {20, tooSlow, 504},
		"a fault, starved": {30, tooSlow, 503},
		"an answer":        {100, func(context.Context) (any, error) { return map[string]int{}, nil }, 200},
		"a refusal": {100, func(context.Context) (any, error) {
			return nil, fault.New(fault.Upstream, "ASN_FAILED", nil)
		}, 502},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEdge(t, func(ctx context.Context, _ fakeTarget) (any, error) { return test.run(ctx) },
				func(c *Config) {
					c.RunLimit = limit
					c.Delay = func(since time.Time) time.Duration { return time.Since(since) * test.part / 100 }
				})
			a := e.post(t, "echo", `{"input":"a"}`)
			a.envelope(t, test.status)
			if again := a.Header.Get("Retry-After"); (again != "") != (test.status == 503) {
				t.Errorf("Retry-After %q", again)
			}
		})
	}
}

func untilTheEnd(ctx context.Context) (any, error) { <-ctx.Done(); return nil, ctx.Err() }

func cutOff(ctx context.Context) (any, error) { <-ctx.Done(); return map[string]int{}, nil }

func tooSlow(context.Context) (any, error) { return nil, fault.New(fault.Timeout, "BODY_TIMEOUT", nil) }

func TestClientThatLeaves(t *testing.T) {
	t.Parallel()
	started, ended := make(chan struct{}), make(chan error, 1)
	e := newEdge(t, func(ctx context.Context, _ fakeTarget) (any, error) {
		close(started)
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, fault.Wrap(fault.Upstream, ctx.Err(), "ASN_FAILED", nil)
	})
	conn := dial(t, e.addr)
	write(t, conn, "POST /api/tools/echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "+
		"13\r\n\r\n"+`{"input":"a"}`)
	<-started
	conn.Close()
	e.endsForNobody(t, ended)
}

// endsForNobody waits for the end of a run whose visitor has left, and for its line in the log.
func (e *edge) endsForNobody(t *testing.T, ended <-chan error) {
	t.Helper()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the run ended with %v", err)
		}
	case <-time.After(15 * time.Second):
		t.Fatal("the run goes on without a client")
	}
	waittest.Until(t, "the line of a canceled request", func() bool {
		for _, line := range e.lines(t) {
			if line["msg"] == "request" {
				return line["outcome"] == "canceled" && line["status"] == 0.0
			}
		}
		return false
	})
}

// Whatever a tool returns for a run that is ended because this instance shuts down, the client is asked to retry.
func TestAnInstanceThatLeaves(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]struct {
		data any
		err  error
	}{
		"a report of what was seen": {data: map[string]string{"verdict": "down"}},
		"its context":               {err: context.Canceled},
		"a failure of the target":   {err: fault.New(fault.Upstream, "ASN_FAILED", nil)},
	} {
		ctx, leave := context.WithCancelCause(t.Context())
		e := newEdge(t, func(run context.Context, _ fakeTarget) (any, error) {
			leave(ErrLeaving)
			<-run.Done()
			return end.data, end.err
		})
		r := httptest.NewRequest(http.MethodPost, "/api/tools/echo", strings.NewReader(`{"input":"a"}`)).WithContext(ctx)
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		e.ServeHTTP(w, r)
		if w.Code != 503 || w.Header().Get("Retry-After") != "5" || !strings.Contains(w.Body.String(), "restarting") {
			t.Errorf("%s: status %d, %v: %s", name, w.Code, w.Header(), w.Body)
		}
		if last := e.lines(t)[len(e.lines(t))-1]; last["outcome"] != "leaving" {
			t.Errorf("%s: %v", name, last)
		}
	}
}

// A half of an answer is never taken for a whole, not by who reads it while this instance leaves either.
func TestAnInstanceThatLeavesInAnAnswer(t *testing.T) {
	t.Parallel()
	ctx, leave := context.WithCancelCause(t.Context())
	e := newEdge(t, nil)
	r := httptest.NewRequest(http.MethodPost, "/api/tools/echo", strings.NewReader(`{"input":"a"}`)).WithContext(ctx)
	r.Header.Set("Content-Type", "application/json")
	defer func() {
		if err, _ := recover().(error); !errors.Is(err, http.ErrAbortHandler) {
			t.Errorf("it ended with %v", err)
		}
	}()
	e.ServeHTTP(&brokenWriter{httptest.NewRecorder(), func() { leave(ErrLeaving) }}, r)
}

// brokenWriter fails at the body.
type brokenWriter struct {
	*httptest.ResponseRecorder
	before func()
}

func (w *brokenWriter) Write([]byte) (int, error) {
	w.before()
	return 0, errors.New("broken")
}

func TestRateLimitHeaders(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 200_000_000)
	decision := ratelimit.Decision{Allowed: true, Limit: 30, Remaining: 12, ResetAfter: 35*time.Second +
		100*time.Millisecond}
	var failure error
	e := newEdge(t, nil, func(c *Config) {
		c.Now = func() time.Time { return now }
		c.Limiter = limiterFunc(func(context.Context, ...ratelimit.Stage) (ratelimit.Decision, error) {
			return decision, failure
		})
	})
	check := func(a *answer, limit, remaining, reset, retry string) {
		t.Helper()
		got := []string{a.Header.Get("X-RateLimit-Limit"), a.Header.Get("X-RateLimit-Remaining"),
			a.Header.Get("X-RateLimit-Reset"), a.Header.Get("Retry-After")}
		if diff := cmp.Diff([]string{limit, remaining, reset, retry}, got); diff != "" {
			t.Error(diff)
		}
	}
	reset := strconv.Itoa(1_700_000_036) // 0.2 s + 35.1 s, rounded up
	check(e.post(t, "echo", `{"input":"a"}`), "30", "12", reset, "")
	check(e.send(t, "GET", "/api/connection/ping", ""), "30", "12", reset, "")

	decision.Allowed, decision.Remaining, decision.RetryAfter = false, 0, 1001*time.Millisecond
	a := e.post(t, "echo", `{"input":"a"}`)
	if _, sentence := a.envelope(t, 429); sentence != "Too many requests. Try again in 2 seconds." {
		t.Errorf("%q", sentence)
	}
	check(a, "30", "0", reset, "2")
	a = e.send(t, "GET", "/api/connection/packet-loss", "")
	a.envelope(t, 429)
	check(a, "30", "0", reset, "2")

	decision.RetryAfter = time.Nanosecond
	check(e.post(t, "echo", `{"input":"a"}`), "30", "0", reset, "1")

	decision = ratelimit.Decision{Allowed: true}
	check(e.post(t, "echo", `{"input":"a"}`), "", "", "", "")

	failure = errors.New("the store is gone")
	e.post(t, "echo", `{"input":"a"}`).envelope(t, 500)
}

func TestInflight(t *testing.T) {
	t.Parallel()
	for _, accept := range []string{"Accept: application/json", ndjson} {
		t.Run(accept, func(t *testing.T) {
			t.Parallel()
			testInflight(t, accept)
		})
	}
}

func testInflight(t *testing.T, accept string) {
	t.Helper()
	started, finish := make(chan struct{}), make(chan struct{})
	e := newEdge(t, func(_ context.Context, target fakeTarget) (any, error) {
		if target == "slow" {
			started <- struct{}{}
			<-finish
		}
		return map[string]string{}, nil
	}, trusting, func(c *Config) { c.MaxInFlight, c.MaxInFlightPerClient = 3, 2 })
	done := make(chan int, 3)
	hold := func(client string) {
		go func() {
			conn := dial(t, e.addr)
			write(t, conn, "POST /api/tools/echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: "+
				"application/json\r\nX-Real-IP: "+client+"\r\n"+accept+
				"\r\nContent-Length: 16\r\n\r\n"+`{"input":"slow"}`)
			done <- readStatus(conn)
		}()
		<-started
	}
	quick := func(client string) *answer {
		return e.post(t, "echo", `{"input":"quick"}`, "X-Real-IP: "+client, accept)
	}
	runs := func(client string) {
		t.Helper()
		if a := quick(client); a.StatusCode != 200 || !strings.Contains(string(a.body), `{"data":{}`) {
			t.Errorf("%s: %d %s", client, a.StatusCode, a.body)
		}
	}
	hold("2001:db8::1")
	runs("2001:db8::2")
	hold("2001:db8::2") // the same /64
	a := quick("2001:db8::3")
	a.envelope(t, 429)
	if a.Header.Get("Retry-After") != "1" || a.Header.Get("X-RateLimit-Limit") != "30" {
		t.Errorf("headers %v", a.Header)
	}
	runs("2001:db8:0:1::1")
	hold("192.0.2.1")
	a = quick("192.0.2.2")
	a.envelope(t, 503)
	if a.Header.Get("Retry-After") != "1" || a.Header.Get("X-RateLimit-Limit") != "30" {
		t.Errorf("headers %v", a.Header)
	}
	// Samples and checks take no slot.
	e.send(t, "GET", "/api/connection/ping", "").envelope(t, 200)
	close(finish)
	for range 3 {
		if status := <-done; status != 200 {
			t.Errorf("a held run ended with %d", status)
		}
	}
	runs("192.0.2.2")
	if taken := e.slots.Total(); taken != 0 {
		t.Errorf("%d slots not given back", taken)
	}
}

func TestASlotIsGivenBackAfterAPanic(t *testing.T) {
	t.Parallel()
	e := newEdge(t, func(context.Context, fakeTarget) (any, error) { panic("x") },
		func(c *Config) { c.MaxInFlightPerClient = 1 })
	for range 3 {
		e.post(t, "echo", `{"input":"a"}`).envelope(t, 500)
	}
}
