package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"diagnostics/shared/logtest"
	"diagnostics/shared/workerapi"

	"github.com/alicebob/miniredis/v2"
	"go.uber.org/goleak"
)

var update = flag.Bool("update", false, "rewrite the generated tables of README and docs")

const readme = "../README.md"

// asMain makes the test binary the gateway itself, for what only a process shows: signals and exit codes.
const asMain = "GATEWAY_TEST_AS_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asMain) != "" {
		os.Unsetenv(asMain)
		main()
		return
	}
	if err := complete(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	// lumberjack keeps one goroutine for each audit log until the process ends.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("gopkg.in/natefinch/lumberjack%2ev2.(*Logger).millRun"))
}

// output is what a gateway prints, and how it ended.
type output struct {
	logtest.Journal
	over chan struct{} // closed when the gateway has ended
	err  error         // with what, from then on
}

func newOutput() *output { return &output{over: make(chan struct{})} }

// end tells that nothing more is printed.
func (o *output) end(err error) {
	o.err = err
	close(o.over)
}

func (o *output) isOver() bool {
	select {
	case <-o.over:
		return true
	default:
		return false
	}
}

// find gives the line of the log with that message, or nil.
func (o *output) find(message string) map[string]any {
	for line := range strings.Lines(o.String()) {
		var fields map[string]any
		if json.Unmarshal([]byte(line), &fields) == nil && fields["msg"] == message {
			return fields
		}
	}
	return nil
}

// line waits for the line of the log with that message.
func (o *output) line(t *testing.T, message string) map[string]any {
	t.Helper()
	fields, err := o.await(message)
	if err != nil {
		t.Fatal(err)
	}
	return fields
}

// await does not wait for a gateway that has ended without the line.
func (o *output) await(message string) (map[string]any, error) {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		over := o.isOver() // asked first: what was printed last counts
		if fields := o.find(message); fields != nil {
			return fields, nil
		}
		if over {
			return nil, fmt.Errorf("ended with %w, without a line %q in %q", o.err, message, o)
		}
	}
	return nil, fmt.Errorf("no line %q in %q", message, o)
}

// started is a gateway that runs in this process.
type started struct {
	url, metrics string
	log          *output
	stop         context.CancelFunc
	ended        chan error
}

// start runs the gateway on free ports, without a resolver and fetching nothing, until the test ends.
func start(t *testing.T, env ...string) *started {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	s := &started{log: newOutput(), stop: stop, ended: make(chan error, 1)}
	env = append([]string{"GATEWAY_LISTEN_ADDR=127.0.0.1:0", "METRICS_LISTEN_ADDR=127.0.0.1:0",
		"DNS_RESOLVERS=127.0.0.1:1", "EGRESS_FAMILIES=ipv4", "RDAP_BOOTSTRAP_URL=off"}, env...)
	done := make(chan struct{})
	go func() {
		defer close(done)
		err := run(ctx, nil, env, s.log, io.Discard)
		s.log.end(err)
		s.ended <- err
	}()
	t.Cleanup(func() {
		stop()
		<-done
	})
	line := s.log.line(t, "gateway started")
	s.url = "http://" + line["listen"].(string)
	s.metrics = "http://" + line["metrics"].(string)
	return s
}

func (s *started) get(t *testing.T, url string) (int, string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body)
}

func (s *started) post(t *testing.T, slug, input string) (*http.Response, string) {
	t.Helper()
	resp, err := http.Post(s.url+"/api/tools/"+slug, "application/json", strings.NewReader(`{"input":"`+input+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return resp, string(body)
}

// postWith is post with one header more; it gives the body.
func (s *started) postWith(t *testing.T, slug, input, name, value string) string {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, s.url+"/api/tools/"+slug, strings.NewReader(`{"input":"`+input+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(name, value)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return string(body)
}

func TestStart(t *testing.T) {
	t.Parallel()
	s := start(t, "TRUSTED_PROXY_PLATFORM=vercel", "TRUSTED_PROXY_CIDRS=10.0.0.0/8",
		"CONTACT_URL=https://example.com/contact")
	line := s.log.line(t, "gateway started")
	for key, want := range map[string]any{"ipv4": true, "ipv6": false, "redis": "off", "worker": "off",
		"proxyHeaders": "peers in TRUSTED_PROXY_CIDRS"} {
		if line[key] != want {
			t.Errorf("%s: %v, want %v", key, line[key], want)
		}
	}
	for path, want := range map[string]int{"/": 200, "/tools/dns-lookup": 200, "/robots.txt": 200, "/healthz": 200,
		"/privacy": 200, "/readyz": 200, "/api": 200, "/api/openapi.yaml": 200,
		"/nothing": 404, "/metrics": 404, "/api/nothing": 404} {
		if status, body := s.get(t, s.url+path); status != want {
			t.Errorf("%s: %d, want %d: %.200s", path, status, want, body)
		}
	}
	if _, body := s.get(t, s.url+"/"); !strings.Contains(body, "https://example.com/contact") {
		t.Error("the pages do not know CONTACT_URL")
	}
	if resp, body := s.post(t, "my-ip", ""); resp.StatusCode != http.StatusOK ||
		!strings.Contains(body, `"available":false`) {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	if resp, _ := s.post(t, "traceroute", "93.184.216.34"); resp.StatusCode != http.StatusNotImplemented {
		t.Errorf("a worker tool without a worker: %d", resp.StatusCode)
	}
	if status, body := s.get(t, s.metrics+"/metrics"); status != 200 ||
		!strings.Contains(body, `diagnostics_requests_total{outcome="ok",slug="my-ip",status="200"} 1`) {
		t.Errorf("metrics: %d %.300s", status, body)
	}
	if status, _ := s.get(t, s.metrics+"/api/openapi.yaml"); status != 404 {
		t.Errorf("the private listener serves the API: %d", status)
	}
	s.stop()
	if err := <-s.ended; err != nil {
		t.Errorf("ended with %v", err)
	}
}

func TestHalfConfiguredWorkerIsAWarning(t *testing.T) {
	t.Parallel()
	s := start(t, "ENABLE_WORKER_TOOLS=true", "DIAGNOSTICS_WORKER_URL=http://127.0.0.1:1")
	found := false
	for line := range strings.Lines(s.log.String()) {
		found = found || strings.Contains(line, `"level":"WARN"`) && strings.Contains(line, "DIAGNOSTICS_WORKER_TOKEN")
	}
	if !found {
		t.Errorf("no warning: %s", s.log.String())
	}
	if resp, _ := s.post(t, "ping", "93.184.216.34"); resp.StatusCode != http.StatusNotImplemented {
		t.Errorf("status %d", resp.StatusCode)
	}
}

func TestRedisIsSharedAndItsLossIsTold(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	server.RequireAuth("pass")
	env := []string{"RATE_LIMIT_REDIS_URL=redis://" + server.Addr(), "RATE_LIMIT_REDIS_TOKEN=pass",
		"RATE_LIMIT_REQUESTS=2"}
	a, b := start(t, env...), start(t, env...)
	for i, s := range []*started{a, b} {
		if resp, body := s.post(t, "my-ip", ""); resp.StatusCode != http.StatusOK ||
			resp.Header.Get("X-RateLimit-Remaining") != []string{"1", "0"}[i] {
			t.Errorf("%d: %d, %s left: %s", i, resp.StatusCode, resp.Header.Get("X-RateLimit-Remaining"), body)
		}
	}
	resp, _ := a.post(t, "my-ip", "")
	if resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") == "" {
		t.Errorf("two instances do not share a limit: %d", resp.StatusCode)
	}
	if _, body := a.get(t, a.url+"/readyz"); !strings.Contains(body, `"redis":"ok"`) {
		t.Errorf("readyz: %s", body)
	}
	server.Close()
	if resp, _ := a.post(t, "my-ip", ""); resp.StatusCode != http.StatusOK {
		t.Errorf("memory does not take over: %d", resp.StatusCode)
	}
	if status, body := a.get(t, a.url+"/readyz"); status != 200 || !strings.Contains(body, `"redis":"down"`) {
		t.Errorf("readyz: %d %s", status, body)
	}
	if _, body := a.get(t, a.metrics+"/metrics"); !strings.Contains(body, "diagnostics_redis_up 0") {
		t.Error("the metrics do not tell")
	}
	for _, s := range []*started{a, b} {
		if strings.Contains(s.log.String(), "pass\"") || strings.Contains(s.log.String(), ":pass") {
			t.Error("the log holds the password")
		}
	}
}

// slowWorker answers a ping once released.
func slowWorker(t *testing.T) (url string, asked, release chan struct{}) {
	t.Helper()
	asked, release = make(chan struct{}, 8), make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == workerapi.PathReady {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"status":"ready","families":[4],"mode":"raw"}`)
			return
		}
		var job workerapi.Request
		_ = json.NewDecoder(r.Body).Decode(&job)
		asked <- struct{}{}
		select {
		case <-release:
		case <-r.Context().Done():
			return
		}
		reply(w, workerapi.Ping{Target: job.Target, Address: job.Target, Family: 4, Sent: 1, LossPercent: 100,
			Replies: []workerapi.Reply{{Seq: 0}}, StopReason: workerapi.StopCompleted})
	}))
	t.Cleanup(s.Close)
	return s.URL, asked, release
}

func workerEnv(url string) []string {
	return []string{"ENABLE_WORKER_TOOLS=true", "DIAGNOSTICS_WORKER_URL=" + url,
		"DIAGNOSTICS_WORKER_TOKEN=0123456789abcdef"}
}

func TestDrain(t *testing.T) {
	t.Parallel()
	url, asked, release := slowWorker(t)
	s := start(t, append(workerEnv(url), "SHUTDOWN_DELAY=400ms", "SHUTDOWN_TIMEOUT=20s")...)
	status := make(chan int, 1)
	go func() {
		resp, _ := s.post(t, "ping", "93.184.216.34")
		status <- resp.StatusCode
	}()
	<-asked
	s.stop()
	s.log.line(t, "draining")
	// Unready, but a visitor who comes now is still served.
	if code, body := s.get(t, s.url+"/readyz"); code != 503 || !strings.Contains(body, "draining") {
		t.Errorf("readyz: %d %s", code, body)
	}
	if resp, _ := s.post(t, "my-ip", ""); resp.StatusCode != http.StatusOK {
		t.Errorf("during the delay: %d", resp.StatusCode)
	}
	// Package daemon tests when; here it is enough that the listener goes before the run in flight does.
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		resp, err := http.Get(s.url + "/healthz")
		if err != nil {
			break
		}
		resp.Body.Close()
		if time.Now().After(deadline) {
			t.Fatal("still accepting after the delay")
		}
	}
	select {
	case err := <-s.ended:
		t.Fatalf("ended with a run in flight: %v", err)
	default:
	}
	close(release)
	if code := <-status; code != 200 {
		t.Errorf("the run in flight ended with %d", code)
	}
	if err := <-s.ended; err != nil {
		t.Errorf("ended with %v", err)
	}
}

func TestDrainThatTakesTooLong(t *testing.T) {
	t.Parallel()
	url, asked, _ := slowWorker(t)
	// A tenth of it is left for the answer.
	s := start(t, append(workerEnv(url), "SHUTDOWN_TIMEOUT=1s")...)
	told := make(chan string, 1)
	go func() {
		resp, err := http.Post(s.url+"/api/tools/ping", "application/json", strings.NewReader(`{"input":"93.184.216.34"}`))
		if err != nil {
			told <- err.Error()
			return
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		told <- fmt.Sprintf("%d %s", resp.StatusCode, body)
	}()
	<-asked
	begin := time.Now()
	s.stop()
	err := <-s.ended
	if err == nil || !strings.Contains(err.Error(), "SHUTDOWN_TIMEOUT") {
		t.Errorf("ended with %v", err)
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	if got := <-told; !strings.HasPrefix(got, `503 {"error":"This service is restarting.`) {
		t.Errorf("the run in flight was told %s", got)
	}
}

func TestReadyzTellsOfTheWorker(t *testing.T) {
	t.Parallel()
	url, _, _ := slowWorker(t)
	up, down := start(t, workerEnv(url)...), start(t, workerEnv("http://127.0.0.1:1")...)
	if _, body := up.get(t, up.url+"/readyz"); !strings.Contains(body, `"worker":"ok"`) {
		t.Error(body)
	}
	if status, body := down.get(t, down.url+"/readyz"); status != 200 || !strings.Contains(body, `"worker":"down"`) {
		t.Errorf("%d %s", status, body)
	}
}

func TestTakenPort(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, name := range []string{"GATEWAY_LISTEN_ADDR", "METRICS_LISTEN_ADDR"} {
		env := []string{"GATEWAY_LISTEN_ADDR=127.0.0.1:0", name + "=" + l.Addr().String()}
		err := run(context.Background(), nil, env, io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), l.Addr().String()) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%v", err)
		}
	}
}

func TestHealthcheck(t *testing.T) {
	t.Parallel()
	s := start(t)
	addr := strings.TrimPrefix(s.url, "http://")
	_, port, _ := net.SplitHostPort(addr)
	for _, listen := range []string{addr, "0.0.0.0:" + port, ":" + port, "localhost:" + port} {
		if err := run(context.Background(), []string{"-healthcheck"}, []string{"GATEWAY_LISTEN_ADDR=" + listen}, io.Discard,
			io.Discard); err != nil {
			t.Errorf("%s: %v", listen, err)
		}
	}
	s.stop()
	<-s.ended
	if err := run(context.Background(), []string{"-healthcheck"}, []string{"GATEWAY_LISTEN_ADDR=" + addr}, io.Discard,
		io.Discard); err == nil {
		t.Error("a gateway that is gone is healthy")
	}
	unwell := httptest.NewServer(http.NotFoundHandler())
	defer unwell.Close()
	env := []string{"GATEWAY_LISTEN_ADDR=" + strings.TrimPrefix(unwell.URL, "http://")}
	if err := run(context.Background(), []string{"-healthcheck"}, env, io.Discard, io.Discard); err == nil ||
		!strings.Contains(err.Error(), "404") {
		t.Errorf("%v", err)
	}
}

func TestArguments(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := run(context.Background(), []string{"-version"}, nil, &out, io.Discard); err != nil ||
		!strings.HasPrefix(out.String(), "gateway ") || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("%v %q", err, out.String())
	}
	if err := run(context.Background(), []string{"-h"}, nil, &out, io.Discard); err != nil {
		t.Errorf("%v", err)
	}
	for _, args := range [][]string{{"-nothing"}, {"start"}} {
		if err := run(context.Background(), args, nil, io.Discard, io.Discard); err == nil {
			t.Errorf("%v: taken", args)
		}
	}
}

// process is a gateway that runs as a process of its own.
type process struct {
	*os.Process
	stdout, stderr *output
	ended          chan error
}

// spawn starts a process, until the test ends.
func spawn(t *testing.T, env ...string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	p := &process{stdout: newOutput(), stderr: newOutput(), ended: make(chan error, 1)}
	cmd.Env = append([]string{asMain + "=1", "GATEWAY_LISTEN_ADDR=127.0.0.1:0"}, env...)
	cmd.Stdout, cmd.Stderr = p.stdout, p.stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.Process = cmd.Process
	t.Cleanup(func() { _ = p.Kill() })
	go func() {
		err := cmd.Wait()
		p.stdout.end(fmt.Errorf("%w, saying %q", err, p.stderr))
		p.ended <- err
	}()
	return p
}

// A test whose gateway does not start says why, at once.
func TestAStartThatFailsIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	p := spawn(t, "LOG_FORMAT=xml")
	<-p.ended
	begin := time.Now()
	_, err := p.stdout.await("gateway started")
	if err == nil || !strings.Contains(err.Error(), "LOG_FORMAT takes json or text") {
		t.Errorf("%v", err)
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("waited %v", took)
	}
}

func TestSignalEndsTheProcessWell(t *testing.T) {
	t.Parallel()
	for _, signal := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		p := spawn(t)
		p.stdout.line(t, "gateway started")
		_ = p.Signal(signal)
		if err := <-p.ended; err != nil || p.stderr.String() != "" {
			t.Errorf("%v: %v, %q", signal, err, p.stderr.String())
		}
		p.stdout.line(t, "stopped")
	}
}

func TestASecondSignalEndsTheProcessAtOnce(t *testing.T) {
	t.Parallel()
	p := spawn(t, "SHUTDOWN_DELAY=1m")
	p.stdout.line(t, "gateway started")
	_ = p.Signal(syscall.SIGTERM)
	p.stdout.line(t, "draining")
	begin := time.Now()
	for {
		// The default action is back a moment after the first signal.
		_ = p.Signal(syscall.SIGTERM)
		select {
		case err := <-p.ended:
			if err == nil || time.Since(begin) > 5*time.Second {
				t.Errorf("%v after %v", err, time.Since(begin))
			}
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func TestMalformedSettingStopsTheStartWithOneLine(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]string{
		"LOG_FORMAT=xml":                           "gateway: LOG_FORMAT takes json or text\n",
		"DISABLED_TOOLS=nothing":                   "gateway: DISABLED_TOOLS takes comma-separated slugs out of ",
		"RATE_LIMIT_REDIS_URL=ftp://:secret@redis": "gateway: RATE_LIMIT_REDIS_URL takes ",
		"DIAGNOSTICS_WORKER_TOKEN=secret,":         "gateway: DIAGNOSTICS_WORKER_TOKEN takes ",
	} {
		p := spawn(t, setting)
		var exit *exec.ExitError
		if err := <-p.ended; !errors.As(err, &exit) || exit.ExitCode() != 1 {
			t.Errorf("%s: %v", setting, err)
		}
		text := p.stderr.String()
		// What was begun before may have told of its troubles.
		if !strings.HasPrefix(text, want) || strings.Count(text, "\n") != 1 || strings.Contains(text, "secret") ||
			strings.Contains(p.stdout.String(), "gateway started") || strings.Contains(p.stdout.String(), "secret") {
			t.Errorf("%s: stderr %q, stdout %q", setting, text, p.stdout.String())
		}
	}
}
