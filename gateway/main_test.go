package main

import (
	"bufio"
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
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"diagnostics/shared/logtest"
	"diagnostics/shared/waittest"
	"diagnostics/shared/workerapi"

	"github.com/alicebob/miniredis/v2"
	"github.com/miekg/dns"
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

// end reports that nothing more is printed.
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
	var fields map[string]any
	over := false
	waittest.Within(time.Minute, func() bool {
		over = o.isOver() // asked first: what was printed last counts
		fields = o.find(message)
		return over || fields != nil
	})
	if fields == nil {
		return nil, fmt.Errorf("no line %q in %q; ended: %t, with %w", message, o, over, o.err)
	}
	return fields, nil
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
		!strings.Contains(body, `diagnostics_requests_total{from="client",outcome="ok",slug="my-ip",status="200"} 1`) {
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
	waittest.Until(t, "the listener is closed", func() bool {
		resp, err := http.Get(s.url + "/healthz")
		if err == nil {
			resp.Body.Close()
		}
		return err != nil
	})
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
	s.stop()
	err := <-s.ended
	if err == nil || !strings.Contains(err.Error(), "SHUTDOWN_TIMEOUT") {
		t.Errorf("ended with %v", err)
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
	for {
		// The default action is back a moment after the first signal.
		_ = p.Signal(syscall.SIGTERM)
		select {
		case err := <-p.ended:
			if err == nil {
				t.Error("the second signal did not end it")
			}
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// The health check asks the address that the settings name, without a proxy or a secret.
func TestHealthcheck(t *testing.T) {
	t.Parallel()
	s := start(t)
	env := []string{"GATEWAY_LISTEN_ADDR=" + strings.TrimPrefix(s.url, "http://"),
		"DIAGNOSTICS_WORKER_TOKEN_FILE=/nothing"}
	check := func() error { return run(t.Context(), []string{"-healthcheck"}, env, io.Discard, io.Discard) }
	if err := check(); err != nil {
		t.Error(err)
	}
	s.stop()
	<-s.ended
	if err := check(); err == nil {
		t.Error("a gateway that has ended is healthy")
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
		// Parts that were started before may have logged errors.
		if !strings.HasPrefix(text, want) || strings.Count(text, "\n") != 1 || strings.Contains(text, "secret") ||
			strings.Contains(p.stdout.String(), "gateway started") || strings.Contains(p.stdout.String(), "secret") {
			t.Errorf("%s: stderr %q, stdout %q", setting, text, p.stdout.String())
		}
	}
}

// An alert on a lost Redis must not wait for the first request of the morning: the metrics show the outage.
func TestTheMetricsOfAnIdleGatewayTellOfALostRedis(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	s := start(t, "RATE_LIMIT_REDIS_URL=redis://"+server.Addr())
	tells := func(value string) bool {
		_, text := s.get(t, s.metrics+"/metrics")
		return strings.Contains(text, "\ndiagnostics_redis_up "+value+"\n")
	}
	if !tells("1") {
		t.Error("Redis is there, and the metrics do not tell")
	}
	server.Close()
	waittest.Until(t, "the metrics have the loss", func() bool { return tells("0") })
}

// foreignLines is the metric of what libraries tried to print, where they did.
var foreignLines = regexp.MustCompile(`(?m)^diagnostics_foreign_log_lines_total [1-9]`)

// fetch gives the body of a page of a gateway.
func fetch(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d, %v", url, resp.StatusCode, err)
	}
	return string(body)
}

// What libraries print is counted and not shown: Redis' driver complains of every dial that fails.
func TestOnlyOurOwnLinesAreShown(t *testing.T) {
	t.Parallel()
	p := spawn(t, "METRICS_LISTEN_ADDR=127.0.0.1:0", "LOG_LEVEL=debug", "RATE_LIMIT_REDIS_URL=redis://127.0.0.1:1")
	line := p.stdout.line(t, "gateway started")
	p.stdout.line(t, "redis is down, memory takes over")
	if m := fetch(t, fmt.Sprintf("http://%s/metrics", line["metrics"])); !foreignLines.MatchString(m) ||
		!strings.Contains(m, "\ndiagnostics_dropped_log_lines_total 0\n") {
		t.Errorf("metrics: %s", m)
	}
	_ = p.Signal(syscall.SIGTERM)
	if err := <-p.ended; err != nil || p.stderr.String() != "" {
		t.Errorf("%v, stderr %q", err, p.stderr)
	}
	for line := range strings.Lines(p.stdout.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("not ours: %s", line)
		}
	}
}

// startLine reads up to the line with the gateway's address; warnings about its surroundings come before it.
func startLine(t *testing.T, log *bufio.Reader) (started struct{ Listen, Metrics string }) {
	t.Helper()
	for started.Listen == "" {
		text, err := log.ReadString('\n')
		if err != nil || json.Unmarshal([]byte(text), &started) != nil {
			t.Fatalf("%v: %q", err, text)
		}
	}
	return started
}

// A reader of the log that is gone or stuck costs lines, not answers, and not an orderly end.
func TestAnswersDoNotDependOnTheLogsReader(t *testing.T) {
	t.Parallel()
	for name, gone := range map[string]bool{"gone": true, "stuck": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			cmd := exec.Command(os.Args[0])
			cmd.Env = []string{asMain + "=1", "GATEWAY_LISTEN_ADDR=127.0.0.1:0", "METRICS_LISTEN_ADDR=127.0.0.1:0",
				"LOG_LEVEL=debug"}
			cmd.Stdout, cmd.Stderr = w, w
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = cmd.Process.Kill() }()
			w.Close()
			// The kernel's own buffer holds 64 KiB, some 300 lines.
			started := startLine(t, bufio.NewReaderSize(r, 16))
			if gone {
				r.Close()
			}
			for range 500 {
				fetch(t, "http://"+started.Listen+"/healthz")
			}
			if gone && strings.Contains(fetch(t, "http://"+started.Metrics+"/metrics"), "dropped_log_lines_total 0\n") {
				t.Error("the lines are not counted")
			}
			_ = cmd.Process.Signal(syscall.SIGTERM)
			if err := cmd.Wait(); err != nil {
				t.Errorf("it ended with %v", err)
			}
		})
	}
}

// nameServer answers over UDP on loopback until the test ends.
func nameServer(t *testing.T, answer dns.HandlerFunc) (address string) {
	t.Helper()
	packets, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &dns.Server{PacketConn: packets, Handler: answer}
	ready, ended := make(chan struct{}), make(chan struct{})
	server.NotifyStartedFunc = func() { close(ready) }
	go func() {
		defer close(ended)
		_ = server.ActivateAndServe()
	}()
	<-ready
	t.Cleanup(func() {
		_ = server.Shutdown()
		<-ended
	})
	return packets.LocalAddr().String()
}
