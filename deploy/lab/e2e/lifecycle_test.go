//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
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
		time.Sleep(5 * time.Millisecond) // a pause of a client that is refused
	case err != nil:
		v.failures = append(v.failures, fmt.Errorf("%s: %w", question, err))
	case !json.Valid(whole):
		v.failures = append(v.failures, fmt.Errorf("%s: half an answer: %.200s", question, whole))
	default:
		a.Status = resp.StatusCode
	}
	return a
}

var questionsUnderLoad = []string{
	"port-checker fast.lab-site.com:443", "port-checker fast.lab-site.com:80", "dns-lookup lab-dns.com", "dns-lookup www.lab-site.com",
	"http-headers https://fast.lab-site.com/", "http-headers https://slow.lab-site.com/", "uptime https://fast.lab-site.com/",
	"uptime https://slow.lab-site.com/", "my-ip ", "my-ip ",
}

// A request accepted before a gateway stops listening gets a whole answer, and the gateway ends in time, with status 0.
func TestSIGTERMUnderLoad(t *testing.T) {
	t.Parallel()
	gateway, err := service.StartGateway(t.Context(), "gateway-term", append(slices.Clone(unlimited),
		"SHUTDOWN_DELAY=1s", "SHUTDOWN_TIMEOUT=8s")...)
	if err != nil {
		t.Fatal(err)
	}
	// An idle connection, as browsers open ahead, delays nothing.
	early, err := internet.Dial(t.Context(), "tcp", gateway.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer early.Close()
	v := startCrowd(gateway, questionsUnderLoad...)
	eventually(t, "the crowd is answered", func() bool { now, _ := v.now(); return now[200] > 20 })
	began := time.Now()
	if err := gateway.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	// Within SHUTDOWN_DELAY: later no connection is accepted.
	eventually(t, "/readyz says that the gateway is draining", func() bool {
		a := fetch(t, gateway, http.MethodGet, "/readyz", nil, nil)
		return a.Status == 503 && bytes.Contains(a.Body, []byte(`"draining"`))
	})
	before, _ := v.now()
	select {
	case <-gateway.Process.Done():
	case <-time.After(10 * time.Second):
		t.Error("it does not end")
	}
	took := time.Since(began)
	answers, _ := v.end()
	t.Logf("ended after %v; answers by status: %v, %d connections refused", took, answers, v.refused)
	// Later than SHUTDOWN_DELAY, and before SHUTDOWN_TIMEOUT cuts off what holds it up.
	if code := gateway.Process.ExitCode(); code != 0 || took < time.Second || took > 8*time.Second {
		t.Errorf("exit status %d after %v: %s", code, took, gateway.Process.Errors())
	}
	for _, failure := range v.failures {
		t.Error(failure)
	}
	if len(answers) != 1 || answers[200] <= before[200] || v.refused == 0 {
		t.Error("where are the answers during the drain, and the refusals after it?")
	}
}
