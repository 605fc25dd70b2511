package monitoring

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"diagnostics/shared/skiptest"
)

const (
	root   = "../../../.."
	folder = root + "/deploy/monitoring"
)

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// alerts are the names of the alerts, each with its rule as it is written.
func alerts(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for i, rule := range strings.Split(read(t, folder+"/alerts.yml"), "      - alert: ") {
		if i > 0 {
			name, rest, _ := strings.Cut(rule, "\n")
			found[name] = rest
		}
	}
	if len(found) == 0 {
		t.Fatal("there are no alerts")
	}
	return found
}

// Prometheus' own tool reads the files, and tries both sides of every threshold.
func TestPromtool(t *testing.T) {
	t.Parallel()
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		skiptest.Skip(t, err)
	}
	for _, args := range [][]string{
		{"check", "config", "prometheus.yml"},
		{"check", "rules", "alerts.yml"},
		{"test", "rules", "alerts_test.yml"},
		{"test", "rules", "alerts_day_test.yml"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(promtool, args...)
			cmd.Dir = folder
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// Every alert fires in one of its tests, and leads to its section of the operators' page; and every section there is
// one of an alert.
func TestEveryAlertIsTriedAndExplained(t *testing.T) {
	t.Parallel()
	tests := read(t, folder+"/alerts_test.yml") + read(t, folder+"/alerts_day_test.yml")
	_, section, _ := strings.Cut(read(t, root+"/docs/incidents.md"), "\n## Alerts\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var explained []string
	for _, m := range regexp.MustCompile(`(?m)^### (.+)$`).FindAllStringSubmatch(section, -1) {
		explained = append(explained, m[1])
	}
	all := alerts(t)
	for name, rule := range all {
		if !strings.Contains(tests, fmt.Sprintf("alertname=%q", name)) {
			t.Errorf("%s fires in no test", name)
		}
		if !slices.Contains(explained, name) {
			t.Errorf("%s has no section in docs/incidents.md", name)
		}
		if want := "runbook: docs/incidents.md#" + strings.ToLower(name) + "\n"; !strings.Contains(rule, want) {
			t.Errorf("%s does not lead to its section", name)
		}
		if !regexp.MustCompile(`severity: (critical|warning)\}`).MatchString(rule) {
			t.Errorf("%s is neither critical nor a warning", name)
		}
		for _, text := range []string{"summary", "description"} {
			if !strings.Contains(rule, "          "+text+": ") {
				t.Errorf("%s has no %s", name, text)
			}
		}
	}
	for _, name := range explained {
		if _, ok := all[name]; !ok {
			t.Errorf("docs/incidents.md explains %s, which is no alert", name)
		}
	}
}

// What Grafana would show as a broken panel, or lay over another.
func TestDashboard(t *testing.T) {
	t.Parallel()
	d, err := ReadDashboard(folder + "/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(d.Templating.List, Variable{Name: "datasource", Type: "datasource"}) {
		t.Error("the data source cannot be chosen")
	}
	ids, taken := map[int]bool{}, map[[2]int]string{}
	for _, p := range d.Panels {
		if ids[p.ID] || p.Title == "" {
			t.Errorf("panel %d (%s) has the id of another, or no title", p.ID, p.Title)
		}
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other, ok := taken[[2]int{x, y}]; ok || x >= 24 {
					t.Fatalf("%s lies over %q, or over the edge", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		if len(p.Targets) == 0 || p.FieldConfig.Defaults.Unit == "" && p.Type != "table" {
			t.Errorf("%s has no query or no unit", p.Title)
		}
		for _, from := range append([]Target{{Datasource: p.Datasource}}, p.Targets...) {
			if from.Datasource.UID != "${datasource}" {
				t.Errorf("%s asks %q", p.Title, from.Datasource.UID)
			}
		}
	}
	for _, q := range d.Queries() {
		if strings.Contains(q.Expression, "$") {
			t.Errorf("%s: a variable that is none: %s", q.Where, q.Expression)
		}
	}
}

var (
	tableRow   = regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| (\\w+) \\| (.*?) \\|")
	quotedName = regexp.MustCompile("`([a-z_]+)`")
	matcher    = regexp.MustCompile(`([a-z_]+)(?:=~|!~|!=|=)"`)
	histogram  = regexp.MustCompile(`_(bucket|sum|count)$`)
)

// TestQueriesNameMetrics checks the metrics and labels in the alerts, the dashboard and the operators' page against the
// table of metrics, which is generated from the code.
func TestQueriesNameMetrics(t *testing.T) {
	t.Parallel()
	// Of `gateway -probe`, and so of no /metrics.
	labels := map[string][]string{"diagnostics_probe_certificate_expiry_timestamp_seconds": {"job", "instance", "url"}}
	for _, row := range tableRow.FindAllStringSubmatch(read(t, root+"/docs/metrics.md"), -1) {
		names := []string{"job", "instance", "le"}
		for _, name := range quotedName.FindAllStringSubmatch(row[3], -1) {
			names = append(names, name[1])
		}
		labels[row[1]] = append(labels[row[1]], names...)
	}
	queries, err := PageQueries(root + "/docs/incidents.md")
	if err != nil {
		t.Fatal(err)
	}
	d, err := ReadDashboard(folder + "/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	queries = append(queries, d.Queries()...)
	for name, rule := range alerts(t) {
		_, expression, _ := strings.Cut(rule, "expr:")
		expression, _, _ = strings.Cut(expression, "\n        for:")
		queries = append(queries, Query{Where: name, Expression: strings.TrimLeft(expression, " |-\n")})
	}
	seen := 0
	for _, q := range queries {
		for _, selector := range NamesIn(q.Expression).Selectors {
			metric, matchers, _ := strings.Cut(selector, "{")
			if !strings.HasPrefix(metric, "diagnostics_") {
				continue
			}
			seen++
			known := labels[histogram.ReplaceAllString(metric, "")]
			if known == nil {
				known = labels[metric]
			}
			if known == nil {
				t.Errorf("%s: there is no metric %s", q.Where, metric)
			}
			for _, m := range matcher.FindAllStringSubmatch(matchers, -1) {
				if known != nil && !slices.Contains(known, m[1]) {
					t.Errorf("%s: %s has no label %s", q.Where, metric, m[1])
				}
			}
		}
	}
	if seen < 40 {
		t.Errorf("only %d metrics are named", seen)
	}
}

func TestShown(t *testing.T) {
	t.Parallel()
	got := Shown(`{{slug}} of {{ $labels.instance }}: {{ printf "%.0f" $value }} {{ $value | humanize }} {{ $value }}`)
	if want := []string{"slug", "instance"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestPageQueries(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "page.md")
	page := "text\n\n```promql\nup == 0\n```\n\n```sh\nls\n```\n- a\n\n```promql\na\n  or b\n```\n"
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := PageQueries(file)
	if err != nil || len(got) != 2 || got[0].Expression != "up == 0" || got[1].Expression != "a\n  or b" {
		t.Errorf("%v %q", err, got)
	}
}
