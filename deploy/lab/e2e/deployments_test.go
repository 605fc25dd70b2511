//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"diagnostics/lab"
)

// One visitor holds a share of a worker's slots, whichever gateway the requests come through; the others go on.
func TestWorkerSharesHoldOverGateways(t *testing.T) {
	worker, err := service.StartExtraWorker(t.Context(), "worker-shares", "WORKER_MAX_CONCURRENT=16") // three for a client
	if err != nil {
		t.Fatal(err)
	}
	var gateways [2]*lab.Server
	for i := range gateways {
		gateways[i], err = service.StartGateway(t.Context(), fmt.Sprintf("gateway-shares-%d", i),
			"DIAGNOSTICS_WORKER_URL=http://"+worker.Addr, "TRUST_PROXY_HEADERS=true")
		if err != nil {
			t.Fatal(err)
		}
	}
	measure := func(i int, visitor string) answer {
		v4, _ := lab.Clean(120 + i)
		return post(t, gateways[i%2], "packet-loss", map[string]any{"input": v4.String()},
			http.Header{"X-Forwarded-For": {visitor}})
	}
	const each = 6
	answers := make([]answer, each+1)
	var all sync.WaitGroup
	for i := range each {
		all.Go(func() { answers[i] = measure(i, "11.80.0.77") })
	}
	all.Go(func() { answers[each] = measure(each, "11.80.0.78") })
	all.Wait()
	held, refused := 0, 0
	for _, a := range answers[:each] {
		switch {
		case a.Status == 200:
			held++
		case a.Status == 429 && a.Header.Get("Retry-After") != "":
			refused++
		default:
			t.Errorf("status %d: %s", a.Status, a.Body)
		}
	}
	if held != 3 || refused != each-3 {
		t.Errorf("one visitor held %d slots and was refused %d, want 3 and %d", held, refused, each-3)
	}
	if a := answers[each]; a.Status != 200 {
		t.Errorf("another visitor: status %d: %s", a.Status, a.Body)
	}
}

// The worker trusts no one: no credential, or a target that is not a public address, and not a packet leaves.
func TestWorkerJudgesForItself(t *testing.T) {
	tests := []struct {
		target, token string
		status        int
	}{
		{"11.90.0.1", "", 401},
		{"11.90.0.1", "wrong-wrong-wrong-wrong", 401},
		{"11.90.0.1", service.Token() + "x", 401},
		{"10.66.0.2", service.Token(), 400},
		{"127.0.0.1", service.Token(), 400},
		{"169.254.169.254", service.Token(), 400},
		{"fd66::2", service.Token(), 400},
		{"::ffff:11.90.0.1", service.Token(), 400},
		{"clean." + lab.TransitZone, service.Token(), 400},
		{"", service.Token(), 400},
	}
	sendsNothing(t, func() {
		for _, path := range []string{"/api/traceroute", "/api/ping", "/api/packet-loss"} {
			for _, test := range tests {
				body, err := json.Marshal(map[string]string{"target": test.target})
				if err != nil {
					t.Fatal(err)
				}
				header := http.Header{"Content-Type": {"application/json"}}
				if test.token != "" {
					header.Set("Authorization", "Bearer "+test.token)
				}
				a := fetch(t, service.Worker, http.MethodPost, path, body, header)
				if a.Status != test.status {
					t.Errorf("%s %q: status %d, want %d: %s", path, test.target, a.Status, test.status, a.Body)
				}
				if challenge := a.Header.Get("WWW-Authenticate"); (challenge == "Bearer") != (test.status == 401) {
					t.Errorf("%s %q: WWW-Authenticate %q", path, test.target, challenge)
				}
			}
		}
	})
}
