package httpapi

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"diagnostics/shared/logtest"
	"diagnostics/shared/waittest"
	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/exchange"

	"github.com/google/uuid"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	token  = "0123456789abcdef"
	second = "fedcba9876543210-second"
	target = `{"target":"11.0.0.1"}`
)

// fakeProber answers at once, unless a field says otherwise.
type fakeProber struct {
	mu    sync.Mutex
	asked []netip.Addr
	ports []exchange.Probe // of the traces that are not ICMP
	mtus  int              // traces with the path MTU
	run   func(ctx context.Context) error
}

func (p *fakeProber) ask(ctx context.Context, dst netip.Addr) error {
	p.mu.Lock()
	p.asked = append(p.asked, dst)
	p.mu.Unlock()
	if p.run == nil {
		return nil
	}
	return p.run(ctx)
}

func (p *fakeProber) Traceroute(
	ctx context.Context, dst netip.Addr, kind exchange.Probe,
) (workerapi.Traced, error) {
	if kind.Protocol == exchange.ICMP {
		traced := workerapi.Traceroute{Target: dst.String(), StopReason: "reached"}
		return workerapi.Traced{Traceroute: traced}, p.ask(ctx, dst)
	}
	p.mu.Lock()
	p.ports = append(p.ports, kind)
	p.mu.Unlock()
	port := int(kind.Port)
	traced := workerapi.Traceroute{Target: dst.String(), Protocol: kind.Protocol.String(), Port: &port}
	return workerapi.Traced{Traceroute: traced}, p.ask(ctx, dst)
}

func (p *fakeProber) TracerouteMTU(
	ctx context.Context, dst netip.Addr, kind exchange.Probe,
) (workerapi.Traced, error) {
	p.mu.Lock()
	p.mtus++
	p.mu.Unlock()
	r, err := p.Traceroute(ctx, dst, kind)
	r.MTU = &workerapi.MTU{}
	return r, err
}

func (p *fakeProber) Ping(ctx context.Context, dst netip.Addr) (workerapi.Ping, error) {
	return workerapi.Ping{Target: dst.String(), StopReason: "completed"}, p.ask(ctx, dst)
}

func (p *fakeProber) PacketLoss(ctx context.Context, dst netip.Addr) (workerapi.PacketLoss, error) {
	return workerapi.PacketLoss{Bursts: []workerapi.Burst{{StartSeq: 1, Length: 2}}}, p.ask(ctx, dst)
}

// fixture is a server on loopback.
type fixture struct {
	t      *testing.T
	url    string
	server *Server
	prober *fakeProber
	log    *logtest.Journal
}

func start(t *testing.T, change func(*Config)) *fixture {
	t.Helper()
	f := &fixture{t: t, prober: &fakeProber{}, log: &logtest.Journal{}}
	c := Config{
		Tokens: []string{token, second}, Prober: f.prober, Families: []int{4, 6}, Mode: "raw", Slots: 4,
		Log: slog.New(slog.NewJSONHandler(f.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	if change != nil {
		change(&c)
	}
	f.server = New(c)
	s := httptest.NewServer(f.server)
	t.Cleanup(s.Close)
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	f.url = s.URL
	return f
}

// request makes a request that would be served.
func (f *fixture) request(method, path, body string) *http.Request {
	f.t.Helper()
	r, err := http.NewRequestWithContext(f.t.Context(), method, f.url+path, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	return r
}

// answer is a response with its envelope.
type answer struct {
	*http.Response
	body     string
	envelope workerapi.Envelope[json.RawMessage]
}

func (f *fixture) do(r *http.Request) answer {
	f.t.Helper()
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	a := answer{Response: resp, body: string(body)}
	_ = json.Unmarshal(body, &a.envelope)
	return a
}

// checkError holds an answer against the promise of every error.
func (f *fixture) checkError(name string, a answer, status int) {
	f.t.Helper()
	if a.StatusCode != status {
		f.t.Errorf("%s: status %d, want %d (%s)", name, a.StatusCode, status, a.body)
	}
	f.checkHeaders(name, a)
	var keys map[string]json.RawMessage
	if err := json.Unmarshal([]byte(a.body), &keys); err != nil {
		f.t.Errorf("%s: %v in %q", name, err, a.body)
	}
	if len(keys) != 3 || a.envelope.Error == "" || keys["durationMs"] == nil {
		f.t.Errorf("%s: envelope %s", name, a.body)
	}
}

func (f *fixture) checkHeaders(name string, a answer) {
	f.t.Helper()
	for header, want := range map[string]string{
		"Content-Type": "application/json", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
		"X-Request-Id": a.envelope.RequestID,
	} {
		if got := a.Header.Get(header); got != want {
			f.t.Errorf("%s: %s is %q, want %q", name, header, got, want)
		}
	}
	if _, err := uuid.Parse(a.envelope.RequestID); err != nil {
		f.t.Errorf("%s: request id %q", name, a.envelope.RequestID)
	}
}

func (f *fixture) checkNothingRan() {
	f.t.Helper()
	f.prober.mu.Lock()
	defer f.prober.mu.Unlock()
	if len(f.prober.asked) > 0 {
		f.t.Errorf("jobs ran for %v", f.prober.asked)
	}
}

func TestJobs(t *testing.T) {
	t.Parallel()
	f := start(t, nil)
	for path, want := range map[string]string{
		workerapi.PathTraceroute: `"stopReason":"reached"`,
		workerapi.PathPing:       `"stopReason":"completed"`,
		workerapi.PathPacketLoss: `"bursts":[{"startSeq":1,"length":2}]`,
	} {
		a := f.do(f.request("POST", path, target))
		if a.StatusCode != 200 || !strings.Contains(a.body, want) || a.envelope.Error != "" || a.envelope.Data == nil {
			t.Errorf("%s: %d %s", path, a.StatusCode, a.body)
		}
		f.checkHeaders(path, a)
	}
	if len(f.prober.asked) != 3 || f.prober.asked[0] != netip.MustParseAddr("11.0.0.1") {
		t.Errorf("asked for %v", f.prober.asked)
	}
}

func TestAuthorization(t *testing.T) {
	t.Parallel()
	f := start(t, nil)
	for _, tt := range []struct {
		name   string
		values []string
		status int
	}{
		{"the token", []string{"Bearer " + token}, 200},
		{"the second token", []string{"Bearer " + second}, 200},
		{"a lower-case scheme", []string{"bearer " + token}, 200},
		{"missing", nil, 401},
		{"empty", []string{""}, 401},
		{"no token", []string{"Bearer"}, 401},
		{"an empty token", []string{"Bearer "}, 401},
		{"wrong", []string{"Bearer 0123456789abcdeg"}, 401},
		{"longer", []string{"Bearer " + token + "0"}, 401},
		{"a prefix", []string{"Bearer " + token[:15]}, 401},
		{"upper case", []string{"Bearer " + strings.ToUpper(token)}, 401},
		{"both tokens as configured", []string{"Bearer " + token + "," + second}, 401},
		{"another scheme", []string{"Basic " + token}, 401},
		{"no scheme", []string{token}, 401},
		{"two spaces", []string{"Bearer  " + token}, 401},
		{"a tab", []string{"Bearer\t" + token}, 401},
		{"two headers, the first right", []string{"Bearer " + token, "Bearer x"}, 401},
		{"two headers, both right", []string{"Bearer " + token, "Bearer " + token}, 401},
	} {
		r := f.request("POST", workerapi.PathPing, target)
		r.Header["Authorization"] = tt.values
		a := f.do(r)
		if a.StatusCode != tt.status {
			t.Errorf("%s: %d", tt.name, a.StatusCode)
		}
		if tt.status == 401 {
			f.checkError(tt.name, a, 401)
			if a.Header.Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("%s: WWW-Authenticate %q", tt.name, a.Header.Get("WWW-Authenticate"))
			}
		}
	}
	inQuery := f.request("POST", workerapi.PathPing+"?access_token="+token+"&token="+token, target)
	inQuery.Header.Del("Authorization")
	f.checkError("in the query", f.do(inQuery), 401)
	if strings.Contains(f.log.String(), token) || strings.Contains(f.log.String(), second) {
		t.Error("a token is in the log")
	}
}

// Without the token nothing else of a request is looked at, so every mistake in it is 401.
func TestAuthorizationComesFirst(t *testing.T) {
	t.Parallel()
	f := start(t, func(c *Config) { c.Slots = 1 })
	for _, tt := range []struct{ method, path, body, mediaType string }{
		{"GET", workerapi.PathPing, "", "application/json"},
		{"POST", workerapi.PathPing, target, "text/plain"},
		{"POST", workerapi.PathPing, strings.Repeat("x", 5000), "application/json"},
		{"POST", workerapi.PathPing, "{", "application/json"},
		{"POST", workerapi.PathPing, `{"target":"10.0.0.1"}`, "application/json"},
		{"POST", "/api/unknown", target, "application/json"},
		{"OPTIONS", "/api/ping", "", "application/json"},
	} {
		r := f.request(tt.method, tt.path, tt.body)
		r.Header.Del("Authorization")
		r.Header.Set("Content-Type", tt.mediaType)
		f.checkError(fmt.Sprintf("%+v", tt), f.do(r), 401)
	}
	f.checkNothingRan()
}

// The body of a stranger is not read: it may be endless.
func TestAuthorizationDoesNotReadTheBody(t *testing.T) {
	t.Parallel()
	f := start(t, nil)
	conn, err := net.Dial("tcp", strings.TrimPrefix(f.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /api/ping HTTP/1.1\r\nHost: worker\r\nContent-Type: application/json\r\nContent-Length: "+
		"1000000\r\n\r\n")
	conn.SetReadDeadline(time.Now().Add(5 * time.Second))
	line := make([]byte, 12)
	if _, err := io.ReadFull(conn, line); err != nil || string(line) != "HTTP/1.1 401" {
		t.Errorf("%q, %v", line, err)
	}
}

func TestRequestChecks(t *testing.T) {
	t.Parallel()
	f := start(t, nil)
	pad := func(n int) string { return target + strings.Repeat(" ", n-len(target)) }
	for _, tt := range []struct {
		name, method, path, body string
		header                   map[string]string
		chunked                  bool
		status                   int
	}{
		{name: "unknown route", path: "/api/mtr", status: 404},
		{name: "unclean path", path: "/api//ping", status: 404},
		{name: "trailing slash", path: "/api/ping/", status: 404},
		{name: "GET", method: "GET", status: 405},
		{name: "PUT", method: "PUT", status: 405},
		{name: "OPTIONS", method: "OPTIONS", status: 405},
		{name: "text", header: map[string]string{"Content-Type": "text/plain"}, status: 415},
		{name: "no media type", header: map[string]string{"Content-Type": ""}, status: 415},
		{name: "Latin-1", header: map[string]string{"Content-Type": "application/json; charset=iso-8859-1"}, status: 415},
		{name: "UTF-8", header: map[string]string{"Content-Type": "Application/JSON; charset=UTF-8"}, status: 200},
		{name: "compressed", header: map[string]string{"Content-Encoding": "gzip"}, status: 415},
		{name: "4096 bytes", body: pad(4096), status: 200},
		{name: "4097 bytes", body: pad(4097), status: 413},
		{name: "4096 bytes in chunks", body: pad(4096), chunked: true, status: 200},
		{name: "4097 bytes in chunks", body: pad(4097), chunked: true, status: 413},
		{name: "empty", body: " ", status: 400},
		{name: "not JSON", body: "target=11.0.0.1", status: 400},
		{name: "a list", body: `[{"target":"11.0.0.1"}]`, status: 400},
		{name: "null", body: `null`, status: 400},
		{name: "a string", body: `"11.0.0.1"`, status: 400},
		{name: "two objects", body: target + target, status: 400},
		{name: "cut off", body: target[:10], status: 400},
		{name: "no target", body: `{}`, status: 400},
		{name: "target of another type", body: `{"target":11}`, status: 400},
		{name: "options of another type", body: `{"target":"11.0.0.1","options":7}`, status: 400},
		{name: "unknown keys", body: `{"target":"11.0.0.1","more":[1],"options":{"family":"ipv4"},"hostname":"a.example"}`, status: 200},
	} {
		method, path, body := "POST", workerapi.PathPing, target
		if tt.method != "" {
			method = tt.method
		}
		if tt.path != "" {
			path = tt.path
		}
		if tt.body != "" {
			body = tt.body
		}
		r := f.request(method, path, body)
		if tt.chunked {
			r.ContentLength = -1
		}
		for k, v := range tt.header {
			r.Header.Set(k, v)
		}
		a := f.do(r)
		if tt.status != 200 {
			f.checkError(tt.name, a, tt.status)
		} else if a.StatusCode != 200 {
			t.Errorf("%s: %d %s", tt.name, a.StatusCode, a.body)
		}
		if tt.status == 405 && a.Header.Get("Allow") != "POST" {
			t.Errorf("%s: Allow %q", tt.name, a.Header.Get("Allow"))
		}
	}
}

func TestTargets(t *testing.T) {
	t.Parallel()
	f := start(t, nil)
	for target, status := range map[string]int{
		"11.0.0.1": 200, "1.1.1.1": 200, "2606:4700:4700::1111": 200, "2606:4700:4700:0::1111": 200, "2606:4700:4700::AB": 200, "192.31.196.1": 200,
		"": 400, "example.com": 400, "localhost": 400, "127.0.0.1": 400, "10.0.0.1": 400, "192.168.1.1": 400, "169.254.169.254": 400,
		"100.64.0.1": 400, "224.0.0.1": 400, "255.255.255.255": 400, "0.0.0.0": 400, "168.63.129.16": 400,
		"::1": 400, "fe80::1": 400, "fe80::1%eth0": 400, "2606:4700:4700::1111%eth0": 400, "fc00::1": 400, "ff02::1": 400,
		"::ffff:1.1.1.1": 400, "64:ff9b::101:101": 400, "2002:101:101::1": 400, "2001:db8::1": 400,
		"1.1": 400, "0x01010101": 400, "16843009": 400, "01.1.1.1": 400, "1.1.1.1.": 400, " 1.1.1.1": 400, "1.1.1.1:80": 400,
		"[2606:4700:4700::1111]": 400, "2606:4700:4700::1111/64": 400,
	} {
		body, _ := json.Marshal(map[string]string{"target": target})
		a := f.do(f.request("POST", workerapi.PathPing, string(body)))
		if a.StatusCode != status {
			t.Errorf("%q: %d %s", target, a.StatusCode, a.body)
		}
		if status == 400 {
			f.checkError(target, a, 400)
		}
	}
	for _, a := range f.prober.asked {
		if a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() {
			t.Errorf("%v was probed", a)
		}
	}
}

// An address that the network translates is judged by the prefixes of the worker's own setting and of the job.
func TestTranslatedTargets(t *testing.T) {
	t.Parallel()
	f := start(t, func(c *Config) { c.NAT64 = []netip.Prefix{netip.MustParsePrefix("2a0e:1:2:64::/96")} })
	for body, status := range map[string]int{
		`{"target":"2a0e:1:2:64::a00:1"}`:                                400,
		`{"target":"2a0e:1:2:64::a00:1","nat64":[]}`:                     400,
		`{"target":"2a0e:1:2:64::a00:1","nat64":["2a0f:1:2:64::/96"]}`:   400,
		`{"target":"2a0e:1:2:64::b00:1"}`:                                200,
		`{"target":"2a0f:1:2:64::7f00:1"}`:                               200,
		`{"target":"2a0f:1:2:64::7f00:1","nat64":["2a0f:1:2:64::/96"]}`:  400,
		`{"target":"2a0f:1:2:64::b00:1","nat64":["2a0f:1:2:64::/96"]}`:   200,
		`{"target":"2a0f:1:2:64::b00:1","nat64":["2a0f:1:2:64::/95"]}`:   400,
		`{"target":"2a0f:1:2:64::b00:1","nat64":"2a0f:1:2:64::/96"}`:     400,
		`{"target":"2a0f:1:2:a00:0:100::","nat64":["2a0f:1:2::/48"]}`:    400,
		`{"target":"2a0f:1:2:b00:ff00:1ff::","nat64":["2a0f:1:2::/48"]}`: 200,
		`{"target":"11.0.0.1","nat64":null}`:                             200,
	} {
		for _, path := range []string{workerapi.PathPing, workerapi.PathTraceroute, workerapi.PathPacketLoss} {
			if a := f.do(f.request("POST", path, body)); a.StatusCode != status {
				t.Errorf("%s %s: %d %s", path, body, a.StatusCode, a.body)
			}
		}
	}
}

func TestRequestIDs(t *testing.T) {
	t.Parallel()
	f := start(t, nil)
	for given, kept := range map[string]bool{
		"6f1c2a34-5b6d-4e7f-8a90-b1c2d3e4f506":          true,
		"":                                              false,
		"6f1c2a34-5b6d-4e7f-8a90-b1c2d3e4f50":           false,
		"{6f1c2a34-5b6d-4e7f-8a90-b1c2d3e4f506}":        false,
		"6f1c2a345b6d4e7f8a90b1c2d3e4f506":              false,
		"urn:uuid:6f1c2a34-5b6d-4e7f-8a90-b1c2d3e4f506": false,
		"6f1c2a34-5b6d-4e7f-8a90-b1c2d3e4f50\n":         false,
	} {
		body, _ := json.Marshal(workerapi.Request{Target: "11.0.0.1", RequestID: given})
		a := f.do(f.request("POST", workerapi.PathPing, string(body)))
		f.checkHeaders(given, a)
		if (a.envelope.RequestID == given) != kept {
			t.Errorf("%q became %q", given, a.envelope.RequestID)
		}
	}
	a := f.do(f.request("POST", workerapi.PathPing,
		`{"target":"10.0.0.1","requestId":"6F1C2A34-5B6D-4E7F-8A90-B1C2D3E4F506"}`))
	if a.envelope.RequestID != "6f1c2a34-5b6d-4e7f-8a90-b1c2d3e4f506" {
		t.Errorf("a refused target answers under %q", a.envelope.RequestID)
	}
}

func TestFailuresOfJobs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		run    func(context.Context) error
		status int
		says   string
	}{
		{"family absent", func(context.Context) error { return exchange.ErrFamily }, 502, "IPv4 connection"},
		{"IPv6 absent", func(context.Context) error { return exchange.ErrFamily }, 502, "IPv6 connection"},
		{"no route", func(context.Context) error { return errors.Join(exchange.ErrNoRoute, errors.New("secret detail")) }, 502, "IPv4 connection"},
		{"forbidden", func(context.Context) error { return exchange.ErrForbidden }, 502, "forbids"},
		{"cut off", func(context.Context) error { return errors.Join(exchange.ErrCutOff, exchange.ErrNoRoute) }, 503, "own host"},
		{"no room", func(context.Context) error { return errors.Join(exchange.ErrShortage, syscall.ENOBUFS) }, 503, "own host"},
		{"no file", func(context.Context) error { return errors.Join(exchange.ErrNoFlow, syscall.EMFILE) }, 503, "own host"},
		{"anything else", func(context.Context) error { return errors.New("secret detail") }, 502, "could not send"},
		{"too long", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, 504, "in time"},
		{"panic", func(context.Context) error { panic("secret detail") }, 500, "unexpectedly"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := start(t, func(c *Config) { c.JobLimit = 50 * time.Millisecond })
			f.prober.run = tt.run
			body := target
			if strings.Contains(tt.says, "IPv6") {
				body = `{"target":"2606:4700:4700::1111"}`
			}
			a := f.do(f.request("POST", workerapi.PathTraceroute, body))
			f.checkError(tt.name, a, tt.status)
			if !strings.Contains(a.envelope.Error, tt.says) || strings.Contains(a.body, "secret") {
				t.Errorf("%q", a.envelope.Error)
			}
			if own := a.Header.Get(workerapi.HeaderRefused) == workerapi.RefusedShortage &&
				a.Header.Get("Retry-After") != ""; own != (tt.status == 503) {
				t.Errorf("%v", a.Header)
			}
			if f.server.JobsRunning() != 0 {
				t.Error("the slot was not given back")
			}
		})
	}
}

func TestJobSlots(t *testing.T) {
	t.Parallel()
	f := start(t, func(c *Config) { c.Slots = 2 })
	release := make(chan struct{})
	f.prober.run = func(context.Context) error { <-release; return nil }
	answers := make(chan answer, 2)
	for i := range 2 {
		go func() {
			answers <- f.do(f.request("POST", workerapi.PathTraceroute, fmt.Sprintf(`{"target":"11.0.1.%d"}`, i)))
		}()
	}
	waittest.Until(t, "2 jobs run", func() bool { return f.server.JobsRunning() == 2 })
	a := f.do(f.request("POST", workerapi.PathPing, target))
	f.checkError("no slot", a, 429)
	if !strings.Contains(f.log.String(), `"code":"every_slot_is_taken"`) {
		t.Errorf("logged: %s", f.log.String())
	}
	// The traces that hold the slots end within their five seconds.
	if got := a.Header.Get("Retry-After"); got != "5" {
		t.Errorf("Retry-After %q", got)
	}
	close(release)
	for range 2 {
		if a := <-answers; a.StatusCode != 200 {
			t.Errorf("a job with a slot: %d", a.StatusCode)
		}
	}
	if a := f.do(f.request("POST", workerapi.PathPing, target)); a.StatusCode != 200 {
		t.Errorf("after the slots are free: %d", a.StatusCode)
	}
}

func TestSlotsKnowWhenTheNextIsFree(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	f := newInflight(2)
	_, _ = f.take(now, 10*time.Second, holder{})
	slot, _ := f.take(now.Add(3*time.Second), 5*time.Second, holder{})
	_, err := f.take(now.Add(4*time.Second), time.Second, holder{})
	var busy *busyError
	if !errors.As(err, &busy) || busy.free != 4*time.Second || busy.share() {
		t.Errorf("with both slots taken: %+v", err)
	}
	f.leave(slot)
	if _, err := f.take(now.Add(4*time.Second), time.Second, holder{}); err != nil {
		t.Errorf("a slot that was left is not free: %v", err)
	}
	for d, want := range map[time.Duration]int{-time.Second: 1, 0: 1, time.Millisecond: 1, time.Second: 1, time.Second +
		1: 2} {
		if got := wholeSeconds(d); got != want {
			t.Errorf("%v: %d", d, got)
		}
	}
}

// A client that leaves must not leave probes behind.
func TestJobEndsWhenTheClientLeaves(t *testing.T) {
	t.Parallel()
	f := start(t, nil)
	ended := make(chan struct{})
	f.prober.run = func(ctx context.Context) error {
		<-ctx.Done()
		close(ended)
		return ctx.Err()
	}
	ctx, leave := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		resp, err := http.DefaultClient.Do(f.request("POST", workerapi.PathPing, target).WithContext(ctx))
		if err == nil {
			resp.Body.Close()
			t.Error("an answer for a client that left")
		}
	}()
	waittest.Until(t, "a job runs", func() bool { return f.server.JobsRunning() == 1 })
	leave()
	<-ended
	<-done
	waittest.Until(t, "the line of the log", func() bool { return strings.Contains(f.log.String(), `"status":499`) })
}

// A worker that leaves before a job is over says so.
func TestAWorkerThatLeaves(t *testing.T) {
	t.Parallel()
	f := start(t, nil)
	ctx, leave := context.WithCancelCause(t.Context())
	f.prober.run = func(ctx context.Context) error {
		leave(ErrLeaving)
		<-ctx.Done()
		return ctx.Err()
	}
	w := httptest.NewRecorder()
	f.server.ServeHTTP(w, f.request("POST", workerapi.PathPing, target).WithContext(ctx))
	if w.Code != 503 || !strings.Contains(w.Body.String(), "This worker is being restarted.") {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
}

func TestHealthAndReadiness(t *testing.T) {
	t.Parallel()
	f := start(t, nil)
	get := func(path string) answer {
		r := f.request("GET", path, "")
		r.Header.Del("Authorization")
		return f.do(r)
	}
	if a := get(workerapi.PathHealth); a.StatusCode != 200 || a.body != "ok" {
		t.Errorf("healthz: %d %q", a.StatusCode, a.body)
	}
	if a := get(workerapi.PathReady); a.StatusCode != 200 || a.body != `{"status":"ready","families":[4,6],"mode":"raw"}` {
		t.Errorf("readyz: %d %q", a.StatusCode, a.body)
	}
	f.server.Drain()
	if a := get(workerapi.PathReady); a.StatusCode != 503 || !strings.Contains(a.body, `"status":"draining"`) {
		t.Errorf("readyz while draining: %d %q", a.StatusCode, a.body)
	}
	if a := get(workerapi.PathHealth); a.StatusCode != 200 {
		t.Errorf("healthz while draining: %d", a.StatusCode)
	}
	if a := f.do(f.request("POST", workerapi.PathPing, target)); a.StatusCode != 200 {
		t.Errorf("a job while draining: %d", a.StatusCode)
	}
	f.checkError("POST", f.do(f.request("POST", workerapi.PathReady, "")), 405)
	f.checkError("elsewhere", f.do(f.request("GET", "/", "")), 404)
}

// The log has the outcome of a job, and neither its target nor a name, not even in the cause of a failure.
func TestLogHoldsNoTarget(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"a job that went well": {nil, `{"level":"INFO","msg":"job","tool":"ping","status":200,"durationMs":#,"requestId":"#"}`},
		"no route":             {fmt.Errorf("to 11.0.0.1: %w", exchange.ErrNoRoute), `{"level":"INFO","msg":"job","tool":"ping","status":502,"durationMs":#,"requestId":"#","code":"this_host_has_no_route_to_the_destination"}`},
		"the system's":         {&net.OpError{Op: "write", Addr: &net.IPAddr{IP: net.IPv4(11, 0, 0, 1)}, Err: os.NewSyscallError("sendto", syscall.ENOBUFS)}, `{"level":"INFO","msg":"job","tool":"ping","status":502,"durationMs":#,"requestId":"#","operation":"write","code":"no_buffer_space_available"}`},
		"unforeseen":           {errors.New("cannot probe 11.0.0.1"), `{"level":"INFO","msg":"job","tool":"ping","status":502,"durationMs":#,"requestId":"#","code":"other"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := start(t, nil)
			f.prober.run = func(context.Context) error { return tt.err }
			body, _ := json.Marshal(workerapi.Request{Target: "11.0.0.1", Hostname: "secret.example"})
			f.do(f.request("POST", workerapi.PathPing, string(body)))
			line := strings.TrimSpace(f.log.String())
			line = regexp.MustCompile(`"time":"[^"]*",`).ReplaceAllString(line, "")
			line = regexp.MustCompile(`("durationMs":)[0-9.]+`).ReplaceAllString(line, "$1#")
			if line = regexp.MustCompile(`("requestId":")[0-9a-f-]{36}`).ReplaceAllString(line, "$1#"); line != tt.want {
				t.Errorf("%s, want %s", line, tt.want)
			}
		})
	}
}

func askWith(s *Server, token, path string, state *tls.ConnectionState) int {
	method := http.MethodPost
	if !isAPI(path) {
		method = http.MethodGet
	}
	r := httptest.NewRequest(method, path, strings.NewReader(target))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+token)
	r.TLS = state
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Code
}

func TestTokensAreReplaced(t *testing.T) {
	t.Parallel()
	s := New(Config{Tokens: []string{token}, Prober: &fakeProber{}, Slots: 4, Log: slog.New(slog.DiscardHandler)})
	for _, step := range []struct {
		tokens        []string
		first, second int
	}{
		{[]string{token}, 200, 401}, {[]string{second, token}, 200, 200}, {[]string{second}, 401, 200},
	} {
		s.SetTokens(step.tokens)
		for name, want := range map[string]int{token: step.first, second: step.second} {
			if got := askWith(s, name, workerapi.PathPing, nil); got != want {
				t.Errorf("%v let in: %d for %s, want %d", step.tokens, got, name, want)
			}
		}
	}
}

// Without a client certificate that was verified there is no answer but that the process lives.
func TestClientCertificatesAreDemanded(t *testing.T) {
	t.Parallel()
	verified := &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{{}}}}
	for _, demanded := range []bool{true, false} {
		s := New(Config{Tokens: []string{token}, Prober: &fakeProber{}, Slots: 4, Log: slog.New(slog.DiscardHandler),
			ClientCertificates: demanded})
		for _, path := range []string{
			workerapi.PathPing, workerapi.PathReady, workerapi.PathHealth, "/api/none", "/healthz/",
		} {
			for _, state := range []*tls.ConnectionState{nil, {}, verified} {
				refused := demanded && state != verified && path != workerapi.PathHealth
				if got := askWith(s, token, path, state); (got == http.StatusForbidden) != refused {
					t.Errorf("%s, demanded %v, verified %v: %d", path, demanded, state == verified, got)
				}
			}
		}
	}
}
