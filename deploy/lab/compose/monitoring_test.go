//go:build compose

package compose

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"diagnostics/shared/waittest"
)

const (
	monitoringOverlay = "deploy/compose.monitoring.yml"
	prometheusAt      = "127.0.0.1:19090"
)

// Prometheus finds gateway and worker, and has taken every alert.
func TestPrometheusSeesBothAndTakesTheAlerts(t *testing.T) {
	if err := standIn(monitoringOverlay, "prometheus", `ENTRYPOINT ["/bin/prometheus"]`,
		map[string]string{"/bin/prometheus": "prometheus", "/bin/promtool": "promtool"}, "prometheus/"); err != nil {
		t.Fatal(err)
	}
	s := engine.with(monitoringOverlay)
	t.Cleanup(func() {
		if t.Failed() {
			out, _ := s.run("logs", "--no-color", "--tail", "40", "prometheus", "gateway")
			t.Log(out)
		}
		if _, err := s.run("rm", "--force", "--stop", "-v", "prometheus"); err != nil {
			t.Error(err)
		}
		up(t, engine, "worker", "gateway")
	})
	up(t, s, "worker", "gateway", "prometheus")
	jobs := targetsUp(t)
	if jobs["gateway"] != 1 || jobs["worker"] != 1 {
		t.Errorf("targets that are up: %v", jobs)
	}
	written, err := os.ReadFile(filepath.Join(engine.root, "deploy", "monitoring", "alerts.yml"))
	if err != nil {
		t.Fatal(err)
	}
	if want, got := bytes.Count(written, []byte("- alert: ")), alerts(t); got != want || want == 0 {
		t.Errorf("Prometheus has %d alerts, alerts.yml %d", got, want)
	}
}

// targetsUp is how many targets of each job are up, once all are.
func targetsUp(t *testing.T) map[string]int {
	t.Helper()
	var last string
	up := map[string]int{}
	if !waittest.Within(45*time.Second, func() bool {
		reported, err := prometheus[struct {
			ActiveTargets []struct {
				Labels    struct{ Job string }
				Health    string
				LastError string
			}
		}]("targets")
		last = fmt.Sprintf("%+v %v", reported, err)
		clear(up)
		for _, target := range reported.ActiveTargets {
			if target.Health == "up" {
				up[target.Labels.Job]++
			}
		}
		return err == nil && up["gateway"] > 0 && up["worker"] > 0
	}) {
		t.Fatalf("not both are up: %s", last)
	}
	return up
}

// alerts is how many alerts Prometheus has, all of them without an error.
func alerts(t *testing.T) (n int) {
	t.Helper()
	reported, err := prometheus[struct {
		Groups []struct {
			Rules []struct{ Type, Name, Health, LastError string }
		}
	}]("rules")
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range reported.Groups {
		for _, rule := range group.Rules {
			if rule.Health == "err" {
				t.Errorf("%s: %s", rule.Name, rule.LastError)
			}
			if rule.Type == "alerting" {
				n++
			}
		}
	}
	return n
}

// prometheus queries Prometheus' API.
func prometheus[T any](path string) (data T, err error) {
	resp, err := http.Get("http://" + prometheusAt + "/api/v1/" + path)
	if err != nil {
		return data, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return data, err
	}
	reported, err := read[struct{ Data T }](text)
	return reported.Data, err
}
