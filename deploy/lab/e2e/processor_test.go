//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"diagnostics/lab"
	"diagnostics/lab/internal/site"

	"golang.org/x/sys/unix"
)

const (
	// mostProcessorTime is what a run may cost (CONTRACT section 6), halved, since other machines are slower.
	mostProcessorTime = 250 * time.Millisecond
	// atOnce is how long the runs of one target are waited for; those that only wait are looked at together.
	atOnce = time.Second
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

// questionsAbout are all that the tools can be asked about a name.
func questionsAbout(name string) []question {
	return []question{
		{"dns-lookup", name, map[string]any{"types": "all"}},
		{"dns-resolver-check", name, map[string]any{"recordType": "TXT"}},
		{"email-dns-health", name, map[string]any{"dkimSelector": "s1"}},
		{"whois-lookup", name, nil},
	}
}

// No run costs much processor time, whatever the server or the name is. All runs about one target are made at once, and
// cost together less than one may; where they do not, each is made alone.
func TestNoRunCostsMuchProcessorTime(t *testing.T) {
	g, err := service.StartGateway(t.Context(), "gateway-processor",
		append(unlimited[:len(unlimited):len(unlimited)], "METRICS_LISTEN_ADDR=127.77.9.7:9090")...)
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
	only := os.Getenv("LAB_ONLY")
	for _, host := range order {
		if only != "" && !strings.Contains(host, only) {
			continue
		}
		cost, slow := m.ask(atOnce, groups[host]...)
		patient = append(patient, slow...)
		if only != "" {
			t.Logf("%v for %s", cost, host)
		}
		if cost > mostProcessorTime {
			t.Logf("%v for all of %s", cost, host)
			for _, q := range groups[host] {
				m.alone(q)
			}
		}
	}
	cost, _ := m.ask(35*time.Second, patient...)
	t.Logf("%d runs that last long cost %v together", len(patient), cost)
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
	cost, _ := m.ask(35*time.Second, q)
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

// processorTime is what the gateway has used, by the clock that the kernel keeps of every process.
func (m *meter) processorTime() time.Duration {
	m.t.Helper()
	const ofProcess = 2 // CPUCLOCK_SCHED
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^m.gateway.Process.PID()<<3|ofProcess), &ts); err != nil {
		m.t.Fatal(err)
	}
	return time.Duration(ts.Nano())
}
