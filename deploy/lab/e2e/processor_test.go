//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"diagnostics/lab"
	"diagnostics/lab/internal/site"
)

const (
	// mostProcessorTime is what a run may cost (docs/contract.md#times-and-sizes).
	mostProcessorTime = 500 * time.Millisecond
	// atOnce is how long the runs of one target are waited for; those that only wait are looked at in groups.
	atOnce = 200 * time.Millisecond
	// longestRun is longer than any run.
	longestRun = 35 * time.Second
	// patientAtOnce is how many runs that last long are in a group.
	patientAtOnce = 8
	// targetsAtOnce is how many targets are checked at once.
	targetsAtOnce = 3
)

// question is one run.
type question struct {
	slug, input string
	options     map[string]any
}

func (q question) String() string { return q.slug + " " + q.input }

// questionsOf are the tools' requests about a site.
func questionsOf(s site.Site) (all []question) {
	for _, port := range s.Ports() {
		scheme := map[int]string{80: "http", 443: "https"}[port]
		if scheme == "" || port == 443 {
			all = append(all, question{"ssl-checker", fmt.Sprintf("%s:%d", s.Host, port), nil})
		}
		if scheme == "" {
			continue
		}
		for _, slug := range []string{"http-headers", "uptime", "redirect-checker", "robots-sitemap", "security-headers"} {
			all = append(all, question{slug, scheme + "://" + s.Host + "/", nil})
		}
	}
	return all
}

// questionsAbout are the tools' requests about a name, but for those of registrations: the lab's one
// redirector may be queried eight times in ten seconds, and other tests need it.
func questionsAbout(name string) []question {
	return []question{
		{"dns-lookup", name, map[string]any{"types": "all"}},
		{"dns-resolver-check", name, map[string]any{"recordType": "TXT"}},
		{"email-dns-health", name, map[string]any{"dkimSelector": "s1"}},
	}
}

// No run costs much processor time, whatever the server or the name is. All runs about one target are made at once, and
// cost together less than one may; where they do not, each is made alone. Those that last long are made anew, in
// groups. It is not parallel: what it makes the machine do would be in the way of tests that measure times.
func TestNoRunCostsMuchProcessorTime(t *testing.T) {
	proofOnly(t)
	groups := map[string][]question{}
	var order []string
	for _, s := range internet.Sites() {
		order = append(order, s.Host)
		groups[s.Host] = questionsOf(s)
	}
	for _, n := range internet.Names() {
		if strings.ContainsAny(n.Host, ", ") {
			continue
		}
		if groups[n.Host] == nil {
			order = append(order, n.Host)
		}
		groups[n.Host] = append(groups[n.Host], questionsAbout(n.Host)...)
	}
	for _, s := range http3Servers(t) {
		order = append(order, s.Host)
		for _, slug := range []string{"http-headers", "uptime"} {
			groups[s.Host] = append(groups[s.Host], question{slug, s.URL(), map[string]any{"http3": true}})
		}
	}
	order = append(order, lab.WorstName)
	groups[lab.WorstName] = []question{{"dns-lookup", "cpu." + lab.WorstName, map[string]any{"types": "all"}}}
	targets := make(chan []question, len(order))
	for _, host := range order {
		targets <- groups[host]
	}
	close(targets)
	patient := ofTargets(t, targets)
	t.Logf("%d runs last long", len(patient))
	var waiting sync.WaitGroup
	for i := range (len(patient) + patientAtOnce - 1) / patientAtOnce {
		m := newMeter(t, "ENABLE_WORKER_TOOLS=false")
		waiting.Go(func() { m.together(dealt(patient, i)) })
	}
	waiting.Wait()
}

// ofTargets holds the runs about each target to the bound, and gives those that last long. A target has a gateway for
// itself while it is a target, whose clock shows what its runs cost; the others wait or have another one.
func ofTargets(t *testing.T, targets <-chan []question) (patient []question) {
	t.Helper()
	var asking sync.WaitGroup
	var mu sync.Mutex
	for range targetsAtOnce {
		m := newMeter(t)
		asking.Go(func() {
			for questions := range targets {
				slow := m.atOnce(questions)
				mu.Lock()
				patient = append(patient, slow...)
				mu.Unlock()
			}
		})
	}
	asking.Wait()
	return patient
}

// dealt is a group as if questions had been dealt like cards: those about one target, which may all cost much, go to
// different ones.
func dealt(all []question, group int) (some []question) {
	groups := (len(all) + patientAtOnce - 1) / patientAtOnce
	for i := group; i < len(all); i += groups {
		some = append(some, all[i])
	}
	return some
}

// atOnce holds the runs of one target to the bound, and gives those that last long.
func (m *meter) atOnce(questions []question) (patient []question) {
	m.t.Helper()
	cost, patient := m.ask(atOnce, questions...)
	if cost > mostProcessorTime {
		m.t.Logf("%v for %v", cost, questions)
		m.alone(questions)
	}
	return patient
}

// together holds runs that last long to the bound.
func (m *meter) together(questions []question) {
	m.t.Helper()
	defer m.gateway.Process.Kill()
	if cost, _ := m.ask(longestRun, questions...); cost > mostProcessorTime {
		m.t.Logf("%v for %v", cost, questions)
		m.alone(questions)
	}
}

// meter sends requests to a gateway, and returns their processor time.
type meter struct {
	t       *testing.T
	gateway *lab.Server
	client  *http.Client
}

// newMeter is that of a gateway of its own.
func newMeter(t *testing.T, env ...string) *meter {
	t.Helper()
	g, err := service.StartGateway(t.Context(), "gateway-processor", append(slices.Clone(unlimited), env...)...)
	if err != nil {
		t.Fatal(err)
	}
	client := internet.HTTPClient()
	t.Cleanup(client.CloseIdleConnections)
	return &meter{t: t, gateway: g, client: client}
}

// ask sends all of the requests at once for so long, and returns those without an answer.
func (m *meter) ask(limit time.Duration, questions ...question) (cost time.Duration, unanswered []question) {
	m.t.Helper()
	before := m.processorTime()
	ctx, cancel := context.WithTimeout(m.t.Context(), limit)
	defer cancel()
	var asking sync.WaitGroup
	var mu sync.Mutex
	for _, q := range questions {
		asking.Go(func() {
			if !m.run(ctx, q) {
				mu.Lock()
				defer mu.Unlock()
				unanswered = append(unanswered, q)
			}
		})
	}
	asking.Wait()
	return m.processorTime() - before, unanswered
}

// alone holds each run to the bound, from its start to its end.
func (m *meter) alone(questions []question) {
	m.t.Helper()
	for _, q := range questions {
		cost, _ := m.ask(longestRun, q)
		m.t.Logf("%v for %s", cost, q)
		if cost > mostProcessorTime {
			m.t.Errorf("%s cost %v of processor time", q, cost)
		}
	}
}

// run reports whether there was an answer in time.
func (m *meter) run(ctx context.Context, q question) bool {
	body, err := json.Marshal(map[string]any{"input": q.input, "options": q.options})
	if err != nil {
		m.t.Error(err)
		return true
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+m.gateway.Addr+"/api/tools/"+q.slug,
		bytes.NewReader(body))
	if err != nil {
		m.t.Error(err)
		return true
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := m.client.Do(req)
	if err == nil {
		_, err = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	if err != nil && ctx.Err() == nil {
		m.t.Errorf("%s: %v", q, err)
	}
	return err == nil
}

// processorTime is what the gateway has used.
func (m *meter) processorTime() time.Duration {
	m.t.Helper()
	used, err := m.gateway.Process.CPU()
	if err != nil {
		m.t.Fatal(err)
	}
	return used
}

// Keys that are too long and chains that have too many certificates are reported, and not verified
// (docs/contract.md#times-and-sizes).
func TestLongKeysAndChains(t *testing.T) {
	t.Parallel()
	long := "longkey." + lab.SiteZone
	facts{"authorized": false, "authorizationError": "UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "certificate.keyType": "RSA",
		"certificate.keyBits": 16384, "issues.1.code": "KEY_TOO_LONG", "hostnameMatches": true,
		"conclusion.state": "unknown"}.
		hold(t, call(t, "ssl-checker", long, nil))
	for _, slug := range []string{"http-headers", "security-headers"} {
		a := call(t, slug, "https://"+long+"/", nil)
		if a.Status != 502 || !strings.Contains(a.Error, "RSA key of more than 8192 bits") {
			t.Errorf("%s: status %d: %s", slug, a.Status, a.Error)
		}
	}
	facts{"verdict": "degraded", "reason": contains("RSA key of more than 8192 bits")}.
		hold(t, call(t, "uptime", "https://"+long+"/", nil))
	facts{"authorized": true, "truncated": true, "chain.8.subject": nonEmpty, "chain.9": "(absent)"}.
		hold(t, call(t, "ssl-checker", "longchain."+lab.SiteZone, nil))
	facts{"authorized": false, "truncated": true, "chain.8.subject": nonEmpty, "chain.9": "(absent)",
		"issues.1.code": "CHAIN_NOT_READ", "conclusion.state": "unknown"}.
		hold(t, call(t, "ssl-checker", "endlesschain."+lab.SiteZone, nil))
	facts{"authorized": false, "authorizationError": "UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "hostnameMatches": true,
		"issues.1.code": "CHAIN_TOO_COSTLY", "conclusion.state": "unknown"}.hold(t, call(t, "ssl-checker", "ring521."+lab.SiteZone, nil))
}

// What a server may make of a round trip ends in one sentence.
func TestFloods(t *testing.T) {
	t.Parallel()
	for _, label := range []string{"settings", "ping", "unknown", "window", "hints", "continuation", "hints1", "keys"} {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			scheme := "https"
			if label == "hints1" {
				scheme = "http"
			}
			a := call(t, "http-headers", scheme+"://flood-"+label+"."+lab.SiteZone+"/", nil)
			if a.Status != 502 || !strings.Contains(a.Error, "sent an invalid answer") {
				t.Errorf("status %d: %s", a.Status, a.Error)
			}
		})
	}
}
