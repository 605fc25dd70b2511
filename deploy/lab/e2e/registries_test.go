//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"diagnostics/lab"
)

// startRegistries is a gateway whose clients a test chooses, with no limits but those towards registries.
func startRegistries(t *testing.T, name string, env ...string) *lab.Server {
	t.Helper()
	gateway, err := service.StartGateway(t.Context(), name, append(append([]string{}, unlimited...), append(env,
		"TRUST_PROXY_HEADERS=true", "CLIENT_ADDRESS_HEADER=X-Real-IP")...)...)
	if err != nil {
		t.Fatal(err)
	}
	return gateway
}

// asking is several requests at once.
type asking struct {
	t       *testing.T
	gateway *lab.Server
	wg      sync.WaitGroup
	mu      sync.Mutex
	answers map[string][]answer // by client
}

func (a *asking) ask(client, slug, input string) {
	a.wg.Go(func() {
		got := askFor(a.t, a.gateway, client, slug, input)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.answers[client] = append(a.answers[client], got)
	})
}

// statuses counts the answers to a client.
func (a *asking) statuses(client string) map[int]int {
	n := map[int]int{}
	for _, got := range a.answers[client] {
		n[got.Status]++
	}
	return n
}

// One client that looks up names below top-level domains that do not exist, and below many that IANA does not list,
// keeps no other from whois-lookup and ip-geolocation.
func TestOneClientShutsNobodyOut(t *testing.T) {
	t.Parallel()
	a := &asking{t: t, gateway: startRegistries(t, "gateway-one-client"), answers: map[string][]answer{}}
	const greedy = "11.80.0.66"
	for i := range 12 {
		a.ask(greedy, "whois-lookup", fmt.Sprintf("example.nosuchtld%d", i))
	}
	a.wg.Wait()
	if n := a.statuses(greedy); n[200] != 12 {
		t.Errorf("names below no top-level domain: %v", n)
	}
	for _, got := range a.answers[greedy] {
		facts{"found": false, "reason": "noRdapService", "sources.0.name": "DNS root zone"}.hold(t, got)
	}
	a.answers = map[string][]answer{}
	for _, tld := range strings.Fields("es it jp kr se dk gr hu ro sk") {
		a.ask(greedy, "whois-lookup", "example."+tld)
	}
	time.Sleep(100 * time.Millisecond) // the greedy client is first; a request that waits for its pace shows nothing
	began := time.Now()
	const last = "11.80.0.79"
	for i := range 9 {
		client := fmt.Sprintf("11.80.0.7%d", i)
		a.ask(client, "whois-lookup", []string{"charity-site.org", "www.example-shop.com", "www.news-site.co.uk"}[i%3])
		a.ask(client, "ip-geolocation", []string{"11.80.0.5", "2a10:80::5", "11.90.0.7"}[i%3])
	}
	a.ask(last, "whois-lookup", "www.münchen-shop.de") // which only the greedy one's redirector has
	a.wg.Wait()
	for i := range 9 {
		if n := a.statuses(fmt.Sprintf("11.80.0.7%d", i)); n[200] != 2 {
			t.Errorf("visitor %d: %v", i, n)
		}
	}
	if got := a.answers[last][0]; got.Status != 200 || got.Took > 6*time.Second {
		t.Errorf("the redirector's next: status %d after %v: %.300s", got.Status, got.Took, got.Body)
	}
	if n := a.statuses(greedy); n[200] < 3 || n[503] < 3 || n[200]+n[503] != 10 {
		t.Errorf("the greedy client: %v", n)
	}
	for _, got := range a.answers[greedy] {
		if got.Status == http.StatusServiceUnavailable {
			holdTurnLater(t, got)
		}
	}
	t.Logf("all in %v", time.Since(began))
}

// holdTurnLater wants a refusal with the time of the next try.
func holdTurnLater(t *testing.T, a answer) {
	t.Helper()
	seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
	if err != nil || seconds < 1 || seconds > 12 || !strings.HasPrefix(a.Error, "Too many registrations are being "+
		"looked up") ||
		a.Took > 6*time.Second {
		t.Errorf("Retry-After %q after %v: %s", a.Header.Get("Retry-After"), a.Took, a.Error)
	}
}
