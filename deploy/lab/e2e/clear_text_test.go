//go:build e2e

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"diagnostics/lab"
)

// A gateway whose worker is at a public address, over plain HTTP, warns of it at every start, once: the token is read
// on the way.
func TestClearTextWarnsAtEveryStart(t *testing.T) {
	t.Parallel()
	const addr = "11.77.0.2:8077"
	worker, err := internet.Start(lab.ServiceHost, "worker-clear-text", append(slices.Clone(workerOfOne),
		"WORKER_LISTEN_ADDR="+addr, "DIAGNOSTICS_WORKER_TOKEN="+service.Token()), workerProgram)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(worker.Kill)
	client := internet.HTTPClient()
	t.Cleanup(client.CloseIdleConnections)
	eventually(t, "the worker serves", func() bool {
		resp, err := client.Get("http://" + addr + "/healthz")
		if err == nil {
			resp.Body.Close()
		}
		return err == nil
	})
	for start := range 2 {
		private := freeAddr(t, 9090)
		gateway, err := service.StartGateway(t.Context(), fmt.Sprintf("gateway-clear-text-%d", start),
			"DIAGNOSTICS_WORKER_URL=http://"+addr, "METRICS_LISTEN_ADDR="+private)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(gateway.Process.Kill)
		p := &pair{gateway: gateway, worker: &lab.Server{Addr: addr, Process: worker}, private: private}
		p.says(t, "ok", 0, 0)
		for n := range 2 {
			to, _ := lab.Clean(70 + n)
			if a := p.ask(t, "traceroute", to); a.Status != 200 {
				t.Errorf("status %d: %s", a.Status, a.Body)
			}
		}
		if n := strings.Count(gateway.Process.Log(), "to a public address without TLS"); n != 1 {
			t.Errorf("start %d: %d warnings, want 1:\n%s", start, n, gateway.Process.Log())
		}
	}
}
