//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"diagnostics/lab"
)

// What a visitor has used up at a gateway that is killed is used up at the one in its place and at the one beside it,
// until the same moment. Slots are a gateway's own: those of the killed one are free with the next.
func TestLimitsOutliveAKilledGateway(t *testing.T) {
	t.Parallel()
	const refill = 40 * time.Second // of one request: longer than all of it takes on a busy machine
	const slots = 2
	w := &withRedis{redis: startRedis(t)}
	env := []string{"RATE_LIMIT_WINDOW=" + (redisLimit * refill).String(),
		fmt.Sprintf("MAX_IN_FLIGHT_PER_CLIENT=%d", slots)}
	private := freeAddr(t, 9090)
	w.begin("gateway-limits", append(slices.Clone(env), "METRICS_LISTEN_ADDR="+private)...)
	beside, err := service.StartGateway(t.Context(), "gateway-limits-beside", w.settings(env...)...)
	if err != nil {
		t.Fatal(err)
	}
	w.says("ok")
	client := w.newClient()
	ask := func(at *lab.Server, slug, input string) answer {
		return post(t, at, slug, map[string]any{"input": input}, client.Clone())
	}
	never := "never." + lab.SiteZone

	began := time.Now() // of the refill
	if passed, _ := w.uses(client, 2*redisLimit); passed != redisLimit {
		t.Fatalf("%d passed of a limit of %d", passed, redisLimit)
	}
	latest := time.Now()
	lost := w.inFlight(t, client, slots, "https://"+never+"/")
	counted(t, private, "diagnostics_runs_in_flight", slots)
	if a := ask(w.gateway, "my-ip", ""); a.Status != 429 || a.Header.Get("X-RateLimit-Remaining") == "0" {
		t.Errorf("with every slot taken: status %d, %v: %s", a.Status, a.Header, a.Error)
	}
	w.gateway.Process.Kill()
	lost()
	w.gateway, err = service.RestartGateway(t.Context(), w.gateway, "gateway-limits-again", w.settings(env...)...)
	if err != nil {
		t.Fatal(err)
	}
	w.says("ok")
	gateways := map[string]*lab.Server{"in its place": w.gateway, "beside it": beside}
	for name, at := range gateways {
		now := time.Now()
		a := ask(at, "dns-lookup", lab.DNSZone)
		holdRetryAfter(t, name, a, time.Until(began.Add(refill)), latest.Add(refill).Sub(now))
	}
	// What was under way is charged, too. The name is the target, so that a port that is closed tells at once.
	a := ask(w.gateway, "http-headers", "http://"+never+":81/")
	if left := a.Header.Get("X-RateLimit-Remaining"); left != strconv.Itoa(redisLimit-slots-1) {
		t.Errorf("status %d with %s requests left", a.Status, left)
	}
	if a := ask(w.gateway, "my-ip", ""); a.Status != 200 {
		t.Errorf("the slots of the killed gateway: status %d: %s", a.Status, a.Error)
	}
	time.Sleep(time.Until(latest.Add(refill))) // Redis refills by its own clock
	if a := ask(w.gateway, "dns-lookup", lab.DNSZone); a.Status != 200 {
		t.Errorf("after Retry-After: status %d: %s", a.Status, a.Error)
	}
	if a := ask(beside, "dns-lookup", lab.DNSZone); a.Status != 429 {
		t.Errorf("one request came back, and there are two: status %d", a.Status)
	}
}

// holdRetryAfter holds a refusal to the time until the next request passes.
func holdRetryAfter(t *testing.T, name string, a answer, least, most time.Duration) {
	t.Helper()
	seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
	wait := time.Duration(seconds) * time.Second
	// Whole seconds, rounded up.
	if a.Status != 429 || err != nil || wait < least || wait >= most+time.Second {
		t.Errorf("%s: status %d, Retry-After %q, want %v to %v", name, a.Status, a.Header.Get("Retry-After"), least, most)
	}
}

// inFlight begins runs that end with the gateway; the function that it gives waits for that.
func (w *withRedis) inFlight(t *testing.T, client http.Header, n int, url string) (lost func()) {
	t.Helper()
	var asking sync.WaitGroup
	for range n {
		asking.Go(func() {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+w.gateway.Addr+
				"/api/tools/http-headers", strings.NewReader(fmt.Sprintf(`{"input":%q}`, url)))
			if err != nil {
				t.Error(err)
				return
			}
			r.Header = client.Clone()
			r.Header.Set("Content-Type", "application/json")
			resp, err := httpClient().Do(r)
			if err == nil {
				t.Errorf("status %d from a killed gateway", resp.StatusCode)
				resp.Body.Close()
			}
		})
	}
	return asking.Wait
}
