//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"diagnostics/daemon/daemontest/testca"
	"diagnostics/lab"
	"diagnostics/lab/internal/monitoring"
	"diagnostics/shared/skiptest"
)

const monitoringFolder = "../../monitoring"

// TestMonitoring has a real Prometheus look at a gateway and a worker that have everything of which there are metrics.
// Every query of the alerts, the dashboard and the operators' page works, and every metric and label in them is there.
func TestMonitoring(t *testing.T) {
	t.Parallel()
	m := startMonitored(t)
	m.holdMetrics(t)
	m.work(t)
	p := startPrometheus(t, map[string]string{"gateway": m.gatewayMeter, "worker": m.workerMeter})

	queries := p.alerts(t)
	dashboard, err := monitoring.ReadDashboard(filepath.Join(monitoringFolder, "dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	queries = append(queries, dashboard.Queries()...)
	page, err := monitoring.PageQueries("../../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	queries = append(queries, page...)
	for _, q := range queries {
		p.hold(t, q)
	}
	t.Logf("%d queries", len(queries))
}

// monitored is a gateway with a worker that speaks TLS, Redis, an audit log and a token that is read from a file.
type monitored struct {
	gateway                   *lab.Server
	gatewayMeter, workerMeter string
}

func startMonitored(t *testing.T) *monitored {
	t.Helper()
	dir := t.TempDir()
	token := filepath.Join(dir, "token")
	if err := os.WriteFile(token, []byte(service.Token()), 0o600); err != nil {
		t.Fatal(err)
	}
	m := &monitored{gatewayMeter: freeAddr(t, 9090), workerMeter: freeAddr(t, 9090)}
	redisAddr := freeAddr(t, 6379)
	redis, err := internet.StartRedis(t.Context(), "redis-monitored", redisAddr, "--dir", dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(redis.Kill)
	secret := []string{"DIAGNOSTICS_WORKER_TOKEN=", "DIAGNOSTICS_WORKER_TOKEN_FILE=" + token}
	workerAddr := freeAddr(t, 8081)
	ca, certificate, key := certificateFiles(t, dir, workerAddr)
	startTLSWorker(t, "worker-monitored", append(append(slices.Clone(secret), workerOfOne...),
		"WORKER_LISTEN_ADDR="+workerAddr, "METRICS_LISTEN_ADDR="+m.workerMeter,
		"WORKER_TLS_CERT_FILE="+certificate, "WORKER_TLS_KEY_FILE="+key))
	m.gateway, err = service.StartGateway(t.Context(), "gateway-monitored", append(slices.Clone(secret),
		"METRICS_LISTEN_ADDR="+m.gatewayMeter, "DIAGNOSTICS_WORKER_URL=https://"+workerAddr,
		"DIAGNOSTICS_WORKER_CA_FILE="+ca,
		"RATE_LIMIT_REDIS_URL=redis://"+redisAddr, "AUDIT_LOG_FILE="+filepath.Join(dir, "audit.log"))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.gateway.Process.Kill)
	return m
}

// certificateFiles are those of an authority, and of a certificate of it for an address with its key.
func certificateFiles(t *testing.T, dir, addr string) (ca, certificate, key string) {
	t.Helper()
	authority := testca.New(t, "workers")
	host, _, _ := strings.Cut(addr, ":")
	chain, private := authority.Issue(t, time.Hour, host)
	ca, certificate, key = filepath.Join(dir, "ca.crt"), filepath.Join(dir, "worker.crt"), filepath.Join(dir, "worker.key")
	for path, content := range map[string][]byte{ca: authority.PEM(), certificate: chain, key: private} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return ca, certificate, key
}

// work is one run of each kind, one that is answered from a cache, and one that is refused.
func (m *monitored) work(t *testing.T) {
	t.Helper()
	for _, ask := range []struct{ slug, input string }{
		{"my-ip", ""}, {"dns-lookup", "lab-dns.com"}, {"dns-lookup", "lab-dns.com"}, {"http-headers", "http://fast.lab-site.com/"},
		{"asn-lookup", "11.80.0.1"}, {"asn-lookup", "11.80.0.1"}, {"whois-lookup", "www.example-shop.com"},
		{"ping", "fast.lab-site.com"}, {"ping", "10.0.0.1"},
	} {
		a := post(t, m.gateway, ask.slug, map[string]any{"input": ask.input}, nil)
		t.Logf("%s %s: status %d", ask.slug, ask.input, a.Status)
	}
}

// holdMetrics gives both services' metrics to Prometheus' own linter.
func (m *monitored) holdMetrics(t *testing.T) {
	t.Helper()
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		skiptest.Skip(t, err)
	}
	for name, addr := range map[string]string{"gateway": m.gatewayMeter, "worker": m.workerMeter} {
		a := fetch(t, &lab.Server{Addr: addr}, http.MethodGet, "/metrics", nil, nil)
		cmd := exec.CommandContext(t.Context(), promtool, "check", "metrics")
		cmd.Stdin = bytes.NewReader(a.Body)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("the %s's metrics: %v\n%s", name, err, out)
		}
	}
}

// prometheus is a running one.
type prometheus struct{ addr string }

// startPrometheus runs one with the project's alerts, and waits until it knows enough of each job for a rate.
func startPrometheus(t *testing.T, jobs map[string]string) *prometheus {
	t.Helper()
	program, err := exec.LookPath("prometheus")
	if err != nil {
		skiptest.Skip(t, err)
	}
	rules, err := filepath.Abs(filepath.Join(monitoringFolder, "alerts.yml"))
	if err != nil {
		t.Fatal(err)
	}
	config := "global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [" + rules + "]\nscrape_configs:\n"
	for job, addr := range jobs {
		config += fmt.Sprintf("  - {job_name: %s, static_configs: [{targets: [%q]}]}\n", job, addr)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &prometheus{addr: freeAddr(t, 9091)}
	process, err := internet.Start(lab.ServiceHost, "prometheus", nil, program, "--config.file="+file,
		"--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+p.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(process.Kill)
	client := internet.HTTPClient()
	t.Cleanup(client.CloseIdleConnections)
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		if resp, err := client.Get("http://" + p.addr + "/-/ready"); err == nil {
			resp.Body.Close()
			if ready, err := p.ask(t, "count(sum_over_time(up[1m]) >= 3)"); err == nil && len(ready) == 1 &&
				ready[0].value() == fmt.Sprint(len(jobs)) {
				return p
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("Prometheus does not see the services:\n%s", tail(process.Errors()))
		}
	}
}

// series is one of an answer.
type series struct {
	Metric map[string]string `json:"metric"`
	Value  [2]any            `json:"value"`
}

func (s series) value() string { return fmt.Sprint(s.Value[1]) }

// ask evaluates an expression now.
func (p *prometheus) ask(t *testing.T, expression string) ([]series, error) {
	t.Helper()
	var found struct {
		Result []series `json:"result"`
	}
	err := p.get(t, "query?query="+url.QueryEscape(expression), &found)
	return found.Result, err
}

func (p *prometheus) get(t *testing.T, path string, data any) error {
	t.Helper()
	a := fetch(t, &lab.Server{Addr: p.addr}, http.MethodGet, "/api/v1/"+path, nil, nil)
	envelope := struct {
		Error string `json:"error"`
		Data  any    `json:"data"`
	}{Data: data}
	if err := json.Unmarshal(a.Body, &envelope); err != nil {
		return fmt.Errorf("status %d: %w", a.Status, err)
	}
	if envelope.Error != "" {
		return fmt.Errorf("status %d: %s", a.Status, envelope.Error)
	}
	return nil
}

// alerts are the rules that Prometheus has loaded. None of them may fail.
func (p *prometheus) alerts(t *testing.T) (queries []monitoring.Query) {
	t.Helper()
	var found struct {
		Groups []struct {
			Rules []struct {
				Name        string            `json:"name"`
				Query       string            `json:"query"`
				LastError   string            `json:"lastError"`
				Health      string            `json:"health"`
				Annotations map[string]string `json:"annotations"`
			} `json:"rules"`
		} `json:"groups"`
	}
	if err := p.get(t, "rules", &found); err != nil {
		t.Fatal(err)
	}
	for _, group := range found.Groups {
		for _, rule := range group.Rules {
			q := monitoring.Query{Where: "alert " + rule.Name, Expression: rule.Query}
			for _, text := range rule.Annotations {
				q.Labels = append(q.Labels, monitoring.Shown(text)...)
			}
			queries = append(queries, q)
			if rule.LastError != "" || rule.Health == "err" {
				t.Errorf("%s: %s", q.Where, rule.LastError)
			}
		}
	}
	if len(queries) == 0 {
		t.Fatal("Prometheus knows no alerts")
	}
	return queries
}

// hold holds a query against what there is: it works, each of its selectors finds series, with each value that it
// allows, and the labels that it and the texts beside it name are labels of these.
func (p *prometheus) hold(t *testing.T, q monitoring.Query) {
	t.Helper()
	if _, err := p.ask(t, q.Expression); err != nil {
		t.Errorf("%s: %v: %s", q.Where, err, q.Expression)
		return
	}
	names := monitoring.NamesIn(q.Expression)
	if len(names.Selectors) == 0 {
		t.Errorf("%s: it asks for nothing: %s", q.Where, q.Expression)
	}
	labels := map[string]bool{}
	for _, selector := range names.Selectors {
		for _, one := range monitoring.Alternatives(selector) {
			found, err := p.ask(t, one)
			if err != nil || len(found) == 0 {
				t.Errorf("%s: nothing is found by %s: %v", q.Where, one, err)
				return
			}
			for _, s := range found {
				for label := range s.Metric {
					labels[label] = true
				}
			}
		}
	}
	for _, label := range append(names.Labels, q.Labels...) {
		if !labels[label] {
			t.Errorf("%s: no series has the label %s: %s", q.Where, label, q.Expression)
		}
	}
}
