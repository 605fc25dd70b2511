package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"diagnostics/daemon/daemontest"
	"diagnostics/daemon/files"
	"diagnostics/shared/skiptest"
	"diagnostics/worker/internal/httpapi"
	"diagnostics/worker/internal/icmp"
)

// fewSockets have the family 4 alone.
type fewSockets struct{}

func (fewSockets) Mode() icmp.Mode { return icmp.Raw }
func (fewSockets) Absent(family int) error {
	if family == 4 {
		return nil
	}
	return errors.New("absent")
}
func (fewSockets) Counters() icmp.Counters {
	return icmp.Counters{Sent: 1, SendErrors: 2, Received: 3, Unmatched: 4, Doubted: 5, Dropped: 6, Panics: 7}
}

// measured are all metrics, of a worker with four slots of which one is taken.
func measured() *workerMetrics {
	m := newMetrics(func() uint64 { return 8 })
	m.watchSockets(fewSockets{})
	m.watchJobs(func() int { return 1 }, 4)
	var watcher files.Watcher
	for _, name := range []string{"worker_certificate", "worker_client_ca", "worker_token"} {
		watcher.Watch(files.Source{Name: name}, func([][]byte) error { return nil })
	}
	m.watchFiles(&watcher)
	m.watchCertificate(func() int64 { return 1_800_000_000 })
	return m
}

func told(m *workerMetrics) string {
	w := httptest.NewRecorder()
	m.handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return w.Body.String()
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	m := measured()
	ok := httpapi.Ending{Status: 200, Outcome: httpapi.OutcomeOK}
	m.JobEnded("traceroute", ok, 1500*time.Millisecond)
	m.JobEnded("traceroute", ok, 500*time.Millisecond)
	m.JobEnded("ping", httpapi.Ending{Status: 429, Outcome: httpapi.OutcomeBusy}, time.Second)
	m.JobEnded("ping", httpapi.Ending{Outcome: httpapi.OutcomeCanceled}, time.Second)
	m.Limited("ping", httpapi.LimitPackets)
	m.waited(0)
	m.waited(30 * time.Millisecond)
	text := told(m)
	for _, line := range []string{
		`diagnostics_worker_jobs_total{outcome="ok",status="200",tool="traceroute"} 2`,
		`diagnostics_worker_jobs_total{outcome="busy",status="429",tool="ping"} 1`,
		`diagnostics_worker_jobs_total{outcome="canceled",status="canceled",tool="ping"} 1`,
		`diagnostics_worker_jobs_total{outcome="internal",status="500",tool="packet-loss"} 0`,
		`diagnostics_worker_job_duration_seconds_sum{tool="traceroute"} 2`,
		`diagnostics_worker_job_duration_seconds_bucket{tool="traceroute",le="0.5"} 1`,
		`diagnostics_worker_job_duration_seconds_count{tool="ping"} 1`,
		`diagnostics_worker_job_duration_seconds_count{tool="packet-loss"} 0`,
		`diagnostics_worker_jobs_limited_total{limit="packets",tool="ping"} 1`,
		`diagnostics_worker_jobs_limited_total{limit="slots",tool="ping"} 0`,
		`diagnostics_worker_jobs_in_flight 1`,
		`diagnostics_worker_jobs_max 4`,
		`diagnostics_worker_mode{mode="raw"} 1`,
		`diagnostics_worker_family_up{family="4"} 1`,
		`diagnostics_worker_family_up{family="6"} 0`,
		`diagnostics_worker_packet_wait_seconds_bucket{le="0.001"} 1`,
		`diagnostics_worker_packet_wait_seconds_count 2`,
		`diagnostics_worker_packets_sent_total 1`,
		`diagnostics_worker_packets_send_errors_total 2`,
		`diagnostics_worker_packets_received_total 3`,
		`diagnostics_worker_packets_unmatched_total 4`,
		`diagnostics_worker_packets_doubted_total 5`,
		`diagnostics_worker_packets_dropped_total 6`,
		`diagnostics_worker_packets_panics_total 7`,
		`diagnostics_dropped_log_lines_total 8`,
	} {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// TestMetricsTable keeps the table of the worker's metrics equal to /metrics.
func TestMetricsTable(t *testing.T) {
	t.Parallel()
	daemontest.Section(t, "../docs/metrics.md", "<!-- metrics:worker -->", "<!-- /metrics:worker -->",
		daemontest.MetricsTable(told(measured())), *update)
}

// The table of docs/metrics.md has every outcome of the worker once, with the statuses that it comes with.
func TestOutcomesAreDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Worker\n")
	section, _, _ = strings.Cut(section, "<!-- metrics:worker -->")
	documented := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([^|]+) \\|").FindAllStringSubmatch(section, -1) {
		documented[row[1]] += row[2]
	}
	statuses := map[string][]string{}
	for _, e := range httpapi.Endings() {
		statuses[string(e.Outcome)] = append(statuses[string(e.Outcome)], statusLabel(e.Status))
	}
	ended := map[string]string{}
	for outcome, of := range statuses {
		ended[outcome] = strings.Join(slices.Sorted(slices.Values(of)), ", ")
	}
	if !maps.Equal(documented, ended) {
		t.Errorf("the table says\n%v\nand the code\n%v", documented, ended)
	}
}

var seriesLine = regexp.MustCompile(`(?m)^(\w+(?:\{.*\})?) \S+$`)

// series are the names with their labels.
func series(text string) (all []string) {
	for _, m := range seriesLine.FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}

// panickingProber has no methods behind those that it promises.
type panickingProber struct{ httpapi.Prober }

// Whatever a request holds, no series comes up that was not there at the start: no label is of anyone's choice.
func TestRequestsAddNoSeries(t *testing.T) {
	t.Parallel()
	m := measured()
	before := series(told(m))
	api := httpapi.New(httpapi.Config{
		Prober: panickingProber{}, Tokens: []string{someToken}, Families: []int{4}, Mode: "raw", Slots: 1,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Observer: m,
	})
	const odd = `evil"} 1`
	for _, method := range []string{"POST", "GET", "BREW"} {
		for _, path := range []string{"/api/ping", "/api/traceroute", "/api/packet-loss", "/api/evil", "/evil", "/readyz"} {
			for _, authorization := range []string{"", "Bearer " + someToken, odd} {
				for _, mediaType := range []string{"application/json", "text/" + odd} {
					for _, body := range []string{
						"", odd, `{"target":"10.0.0.1"}`, fmt.Sprintf(`{"target":%q,"requestId":%[1]q,"client":%[1]q}`, odd),
						`{"target":"11.0.0.1"}`, strings.Repeat("x", 5000),
					} {
						r := httptest.NewRequest(method, path, strings.NewReader(body))
						r.Header.Set("Authorization", authorization)
						r.Header.Set("Content-Type", mediaType)
						r.Header.Set("X-Request-Id", odd)
						api.ServeHTTP(httptest.NewRecorder(), r)
					}
				}
			}
		}
	}
	text := told(m)
	if after := series(text); !slices.Equal(before, after) {
		t.Errorf("before\n%s\nafter\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
	}
	if !regexp.MustCompile(`diagnostics_worker_jobs_total\{outcome="internal",status="500",tool="ping"\} [1-9]`).
		MatchString(text) || !strings.Contains(text, `{outcome="refused",status="400",tool="ping"} 1`) {
		t.Errorf("not all was counted:\n%s", text)
	}
}

// Prometheus' own linter has nothing to say.
func TestMetricsLint(t *testing.T) {
	t.Parallel()
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		skiptest.Skip(t, err)
	}
	cmd := exec.CommandContext(t.Context(), promtool, "check", "metrics")
	cmd.Stdin = strings.NewReader(told(measured()))
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}
