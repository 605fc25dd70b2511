//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"diagnostics/lab"
)

// inOrder is what shows that an example is in good order, where an answer with status 200 would not say so.
var inOrder = map[string]facts{
	"email-dns-health":   {"overall": "pass"},
	"packet-loss":        {"lossPercent": 0.0},
	"ping":               {"lossPercent": 0.0},
	"port-checker":       {"state": "open"},
	"ssl-checker":        {"authorized": true},
	"traceroute":         {"reached": true},
	"uptime":             {"verdict": "up"},
	"whois-lookup":       {"found": true},
	"dns-resolver-check": {"status": "agree"},
}

// In the demo each example that the pages offer must lead to an answer.
func TestExamplesOfThePages(t *testing.T) {
	t.Parallel()
	demo, err := lab.Build(t.Context(), lab.Options{Examples: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := demo.Close(); err != nil {
			t.Error(err)
		}
	})
	service, err := demo.StartService(t.Context(), lab.ServiceOptions{
		Gateway: gatewayProgram, Worker: workerProgram, GatewayEnv: unlimited,
		WorkerEnv: []string{"WORKER_MAX_CONCURRENT=4096", "WORKER_PACKETS_PER_SECOND=0"},
	})
	if err != nil {
		t.Fatal(err)
	}
	client := demo.HTTPClient()
	t.Cleanup(client.CloseIdleConnections)
	url := "http://" + service.Gateway.Addr + "/api/tools/"
	t.Run("each", func(t *testing.T) { eachExample(t, client, url) })
}

// eachExample runs the examples at a demo's gateway, of which the tools are below the URL.
func eachExample(t *testing.T, client *http.Client, url string) {
	pages, err := filepath.Glob("../../../gateway/web/assets/tools/*/page.json")
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	for _, page := range pages {
		slug := filepath.Base(filepath.Dir(page))
		for _, input := range examplesOf(t, page) {
			t.Run(slug+" "+input, func(t *testing.T) {
				t.Parallel()
				a := askDemo(t, client, url+slug, input)
				if a.Status != 200 {
					t.Fatalf("status %d: %s", a.Status, a.Error)
				}
				inOrder[slug].hold(t, a)
			})
		}
	}
}

func askDemo(t *testing.T, client *http.Client, url, input string) answer {
	t.Helper()
	body, err := json.Marshal(map[string]any{"input": input})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	a := answer{Status: resp.StatusCode, Header: resp.Header}
	if a.Body, err = io.ReadAll(resp.Body); err != nil {
		t.Fatal(err)
	}
	holdEnvelope(t, &a)
	return a
}

func examplesOf(t *testing.T, page string) []string {
	body, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var descriptor struct {
		Examples []string `json:"examples"`
	}
	if err := json.Unmarshal(body, &descriptor); err != nil {
		t.Fatalf("%s: %v", page, err)
	}
	return descriptor.Examples
}
