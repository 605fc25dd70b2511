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
	// mostProcessorTime is what a run may cost (CONTRACT section 6).
	mostProcessorTime = 500 * time.Millisecond
	// atOnce is how long the runs of one target are waited for; those that only wait are looked at in groups.
	atOnce = 200 * time.Millisecond
	// longestRun is longer than any run.
	longestRun = 35 * time.Second
	// patientAtOnce is how many runs that last long are in a group.
	patientAtOnce = 5
)

// question is one run.
type question struct {
	slug, input string
	options     map[string]any
}

func (q question) String() string { return q.slug + " " + q.input }

// questionsOf are all that the tools can be asked about a site.
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

// questionsAbout are all that the tools can be asked about a name, but for those of registrations: the lab's one
// redirector may be asked eight times in ten seconds, and other tests need it.
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
	private := freeAddr(t, 9090)
	g, err := service.StartGateway(t.Context(), "gateway-processor",
		append(unlimited[:len(unlimited):len(unlimited)], "METRICS_LISTEN_ADDR="+private)...)
	if err != nil {
		t.Fatal(err)
	}
	m := &meter{t: t, gateway: g, client: internet.HTTPClient()}
	defer m.client.CloseIdleConnections()
	var patient []question // those that outlast atOnce
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
	for _, host := range order {
		cost, slow := m.ask(atOnce, groups[host]...)
		patient = append(patient, slow...)
		if cost > mostProcessorTime {
			t.Logf("%v for all of %s", cost, host)
			for _, q := range groups[host] {
				m.alone(q)
			}
		}
	}
	t.Logf("%d runs last long", len(patient))
	m.inGroups(patient)
	m.metric(private)
}

// inGroups holds runs that last long to the bound. All of them wait at once, each group at a gateway of its own, whose
// clock tells what the group cost; where that is more than one run may, each of the group is made alone.
func (m *meter) inGroups(patient []question) {
	m.t.Helper()
	var waiting sync.WaitGroup
	for group := range slices.Chunk(patient, patientAtOnce) {
		g, err := service.StartGateway(m.t.Context(), "gateway-patient", append(slices.Clone(unlimited),
			"ENABLE_WORKER_TOOLS=false")...)
		if err != nil {
			m.t.Fatal(err)
		}
		of := &meter{t: m.t, gateway: g, client: m.client}
		waiting.Go(func() {
			defer g.Process.Kill()
			cost, _ := of.ask(longestRun, group...)
			if cost <= mostProcessorTime {
				return
			}
			m.t.Logf("%v for %v", cost, group)
			for _, q := range group {
				of.alone(q)
			}
		})
	}
	waiting.Wait()
}

// metric holds what the gateway itself tells of its runs to what they may cost.
func (m *meter) metric(private string) {
	m.t.Helper()
	told, err := internet.Metrics(m.t.Context(), private)
	if err != nil {
		m.t.Fatal(err)
	}
	tools := 0
	for name, runs := range told {
		of, ok := strings.CutPrefix(name, "diagnostics_run_cpu_seconds_count{")
		if !ok {
			continue
		}
		tools++
		of = strings.TrimSuffix(of, "}")
		if told["diagnostics_run_cpu_seconds_bucket{"+of+`,le="0.5"}`] != runs {
			m.t.Errorf("a run of %s cost more than 0.5 s, says the metric", of)
		}
	}
	if tools < 9 {
		m.t.Errorf("the metric tells of %d tools", tools)
	}
}

// meter asks a gateway, and tells the processor time that it took.
type meter struct {
	t       *testing.T
	gateway *lab.Server
	client  *http.Client
}

// ask runs all of the questions at once for so long, and gives those that were not answered then.
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

// alone holds one run to the bound, from its start to its end.
func (m *meter) alone(q question) {
	m.t.Helper()
	cost, _ := m.ask(longestRun, q)
	m.t.Logf("%v for %s", cost, q)
	if cost > mostProcessorTime {
		m.t.Errorf("%s cost %v of processor time", q, cost)
	}
}

// run tells whether there was an answer in time.
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

// Keys that are too long and chains that have too many certificates are told, and not verified (CONTRACT section 6).
func TestLongKeysAndChains(t *testing.T) {
	t.Parallel()
	long := "longkey." + lab.SiteZone
	facts{"authorized": false, "authorizationError": "UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "certificate.keyType": "RSA",
		"certificate.keyBits": 16384, "issues.1.code": "KEY_TOO_LONG", "hostnameMatches": true}.
		hold(t, call(t, "ssl-checker", long, nil))
	for _, slug := range []string{"http-headers", "security-headers"} {
		a := call(t, slug, "https://"+long+"/", nil)
		if a.Status != 502 || !strings.Contains(a.Error, "RSA key of more than 8192 bits") {
			t.Errorf("%s: status %d: %s", slug, a.Status, a.Error)
		}
	}
	facts{"verdict": "down", "reason": contains("RSA key of more than 8192 bits")}.
		hold(t, call(t, "uptime", "https://"+long+"/", nil))
	facts{"authorized": true, "truncated": true, "chain.8.subject": nonEmpty, "chain.9": "(absent)"}.
		hold(t, call(t, "ssl-checker", "longchain."+lab.SiteZone, nil))
	facts{"authorized": false, "truncated": true, "chain.8.subject": nonEmpty, "chain.9": "(absent)",
		"issues.1.code": "CHAIN_NOT_READ"}.
		hold(t, call(t, "ssl-checker", "endlesschain."+lab.SiteZone, nil))
	facts{"authorized": false, "authorizationError": "UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "hostnameMatches": true,
		"issues.1.code": "CHAIN_TOO_COSTLY"}.hold(t, call(t, "ssl-checker", "ring521."+lab.SiteZone, nil))
}

// What a server may make of an exchange ends in one sentence.
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
			if a.Status != 502 || !strings.Contains(a.Error, "sent an answer that makes no sense") {
				t.Errorf("status %d: %s", a.Status, a.Error)
			}
		})
	}
}
