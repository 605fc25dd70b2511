//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"diagnostics/lab"
)

// crowd is visitors of one gateway, half of them over a connection for each request.
type crowd struct {
	*load
	gateway *lab.Server

	mu       sync.Mutex
	refused  int     // connections
	failures []error // requests that were sent and got no whole answer
}

func startCrowd(gateway *lab.Server, questions ...string) *crowd {
	v := &crowd{gateway: gateway}
	var clients []*http.Client
	for i := range questions {
		client := internet.HTTPClient()
		client.Timeout = 30 * time.Second
		client.Transport.(*http.Transport).DisableKeepAlives = i%2 == 0
		clients = append(clients, client)
	}
	v.load = startLoad(len(questions), func(visitor, _ int) answer { return v.ask(clients[visitor], questions[visitor]) })
	return v
}

// ask sends one request: a tool's slug, a space and its input.
func (v *crowd) ask(client *http.Client, question string) (a answer) {
	slug, input, _ := bytes.Cut([]byte(question), []byte(" "))
	body, _ := json.Marshal(map[string]string{"input": string(input)})
	url := "http://" + v.gateway.Addr + "/api/tools/" + string(slug)
	resp, err := client.Post(url, "application/json", bytes.NewReader(body))
	var whole []byte
	if err == nil {
		whole, err = io.ReadAll(resp.Body)
		resp.Body.Close()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		v.refused++
		time.Sleep(5 * time.Millisecond)
	case err != nil:
		v.failures = append(v.failures, fmt.Errorf("%s: %w", question, err))
	case !json.Valid(whole):
		v.failures = append(v.failures, fmt.Errorf("%s: half an answer: %.200s", question, whole))
	default:
		a.Status = resp.StatusCode
	}
	return a
}

// failed is how many requests got no whole answer so far.
func (v *crowd) failed() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.failures)
}

var questionsUnderLoad = []string{
	"port-checker fast.lab-site.com:443", "port-checker fast.lab-site.com:80", "dns-lookup lab-dns.com", "dns-lookup www.lab-site.com",
	"http-headers https://fast.lab-site.com/", "http-headers https://slow.lab-site.com/", "uptime https://fast.lab-site.com/",
	"uptime https://slow.lab-site.com/", "my-ip ", "my-ip ",
}

// Whoever is let in before a gateway closes its door gets a whole answer, and the gateway leaves in time and in peace.
func TestSIGTERMUnderLoad(t *testing.T) {
	t.Parallel()
	gateway, err := service.StartGateway(t.Context(), "gateway-term", append(slices.Clone(unlimited),
		"SHUTDOWN_DELAY=1s", "SHUTDOWN_TIMEOUT=8s")...)
	if err != nil {
		t.Fatal(err)
	}
	// One who has connected and says nothing, as browsers do ahead, holds up nobody.
	early, err := internet.Dial(t.Context(), "tcp", gateway.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer early.Close()
	v := startCrowd(gateway, questionsUnderLoad...)
	time.Sleep(500 * time.Millisecond)
	began := time.Now()
	if err := gateway.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond)
	if a := fetch(t, gateway, http.MethodGet, "/readyz", nil, nil); a.Status != 503 || !bytes.Contains(a.Body, []byte(`"draining"`)) {
		t.Errorf("/readyz: status %d: %s", a.Status, a.Body)
	}
	before, _ := v.now()
	select {
	case <-gateway.Process.Done():
	case <-time.After(10 * time.Second):
		t.Error("it does not end")
	}
	took := time.Since(began)
	answers, _ := v.end()
	t.Logf("ended after %v; answers by status: %v, %d connections refused", took, answers, v.refused)
	if code := gateway.Process.ExitCode(); code != 0 || took < time.Second || took > 6*time.Second {
		t.Errorf("exit status %d after %v: %s", code, took, gateway.Process.Errors())
	}
	for _, failure := range v.failures {
		t.Error(failure)
	}
	if len(answers) != 1 || answers[200] <= before[200] || v.refused == 0 {
		t.Error("where are the answers during the drain, and the refusals after it?")
	}
}

// A connection that says nothing is no request in flight, however short the time to leave.
func TestSIGTERMWithASilentConnection(t *testing.T) {
	t.Parallel()
	gateway, err := service.StartGateway(t.Context(), "gateway-term-silent", "SHUTDOWN_TIMEOUT=2s")
	if err != nil {
		t.Fatal(err)
	}
	silent, err := internet.Dial(t.Context(), "tcp", gateway.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	time.Sleep(100 * time.Millisecond)
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
	defer cancel()
	if err := gateway.Process.Stop(ctx); err != nil {
		t.Error(err)
	}
	if code, took := gateway.Process.ExitCode(), time.Since(began); code != 0 || took > 1500*time.Millisecond {
		t.Errorf("exit status %d after %v: %s", code, took, gateway.Process.Errors())
	}
}

// A second signal does not wait.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	for name, second := range map[string]os.Signal{"term": syscall.SIGTERM, "int": os.Interrupt} {
		gateway, err := service.StartGateway(t.Context(), "gateway-second-"+name)
		if err != nil {
			t.Fatal(err)
		}
		v := startCrowd(gateway, "http-headers https://never.lab-site.com/")
		time.Sleep(300 * time.Millisecond)
		for _, s := range []os.Signal{syscall.SIGTERM, second} {
			if err := gateway.Process.Signal(s); err != nil {
				t.Error(err)
			}
			time.Sleep(200 * time.Millisecond)
		}
		select {
		case <-gateway.Process.Done():
		case <-time.After(time.Second):
			t.Error(name, "it waits still")
			gateway.Process.Kill()
		}
		v.end()
	}
}

// A killed gateway leaves nothing that the next one in its place would stumble over: connections fail in the gap alone,
// and the audit log has whole lines.
func TestSIGKILLAndRestartUnderLoad(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	env := append(slices.Clone(unlimited), "AUDIT_LOG_FILE="+path)
	gateway, err := service.StartGateway(t.Context(), "gateway-kill", env...)
	if err != nil {
		t.Fatal(err)
	}
	v := startCrowd(gateway, questionsUnderLoad...)
	for range 3 {
		time.Sleep(300 * time.Millisecond)
		gateway.Process.Kill()
		if gateway, err = service.RestartGateway(t.Context(), gateway, "gateway-kill", env...); err != nil {
			t.Fatal(err)
		}
	}
	failed := v.failed()
	before, _ := v.now()
	time.Sleep(300 * time.Millisecond)
	answers, _ := v.end()
	// Each visitor may lose one request to each kill, or two where the first was on a connection that was kept, and none
	// afterwards.
	if failed > 2*3*len(questionsUnderLoad) || len(v.failures) != failed || answers[200] <= before[200] ||
		len(answers) != 1 {
		t.Errorf("answers %v, %v before the end; %d failures, %d before: %v", answers, before, len(v.failures), failed,
			v.failures)
	}
	if err := gateway.Process.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	holdWholeLines(t, path)
}

func holdWholeLines(t *testing.T, path string) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := 0
	for scanner := bufio.NewScanner(file); scanner.Scan(); lines++ {
		if !json.Valid(scanner.Bytes()) {
			t.Errorf("line %d is torn: %.300q", lines+1, scanner.Text())
		}
	}
	if lines < 20 {
		t.Errorf("%d lines", lines)
	}
}

// A worker that leaves lets its measurements end; where none is, visitors are told so, and served at once when it is
// back.
func TestWorkerSIGTERMUnderLoad(t *testing.T) {
	t.Parallel()
	worker, err := service.StartExtraWorker(t.Context(), "worker-term", "SHUTDOWN_DELAY=500ms")
	if err != nil {
		t.Fatal(err)
	}
	gateway, err := service.StartGateway(t.Context(), "gateway-worker-term", append(slices.Clone(unlimited),
		"DIAGNOSTICS_WORKER_URL=http://"+worker.Addr)...)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(slug string, n int) answer {
		v4, _ := lab.Clean(n)
		return post(t, gateway, slug, map[string]any{"input": v4.String()}, nil)
	}
	var asking sync.WaitGroup
	asking.Go(func() { facts{"received": 50, "lossPercent": 0}.hold(t, ask("packet-loss", 80)) })
	asking.Go(func() { facts{"received": 10, "lossPercent": 0}.hold(t, ask("ping", 81)) })
	time.Sleep(700 * time.Millisecond)
	if err := worker.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond)
	facts{"reached": true}.hold(t, ask("traceroute", 82)) // it is still accepting
	asking.Wait()
	select {
	case <-worker.Process.Done():
	case <-time.After(5 * time.Second):
		t.Fatal("it does not end")
	}
	if code := worker.Process.ExitCode(); code != 0 {
		t.Errorf("exit status %d: %s", code, worker.Process.Errors())
	}
	if a := ask("ping", 83); a.Status != 502 || a.Took > 2*time.Second {
		t.Errorf("without a worker: status %d after %v: %s", a.Status, a.Took, a.Error)
	}
}
