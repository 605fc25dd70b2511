package daemontest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// unlisted are labels whose values are left out of the table: those of the build, and those listed elsewhere.
var unlisted = []string{"place", "version", "commit", "goversion", "slug", "tool", "status"}

// metric is one name of /metrics.
type metric struct {
	kind, help string
	labels     map[string]map[string]bool // the values by label
}

// MetricsTable is the Markdown table of what a service's /metrics answered, in the Prometheus text format: a row for
// each metric of our own, with the values that its labels take. What the libraries measure (go_, process_ and
// promhttp_) has no row. Labels whose first value comes only later are missed, so every one must be there from the
// start.
func MetricsTable(text string) string {
	metrics := readMetrics(text)
	var b strings.Builder
	b.WriteString("| metric | type | labels | meaning |\n|---|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(metrics)) {
		m := metrics[name]
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", name, m.kind, m.labelCell(), strings.ReplaceAll(m.help, "|", `\|`))
	}
	return b.String()
}

var (
	sample = regexp.MustCompile(`^([a-z_][a-z0-9_]*)(?:\{(.*)\})? \S+$`)
	label  = regexp.MustCompile(`([a-z_]+)="((?:[^"\\]|\\.)*)"`)
)

func readMetrics(text string) map[string]metric {
	out := map[string]metric{}
	name := "" // of the HELP line above
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if rest, is := strings.CutPrefix(line, "# HELP "); is {
			name, rest, _ = strings.Cut(rest, " ")
			if ofLibraries(name) {
				name = ""
				continue
			}
			out[name] = metric{help: rest, labels: map[string]map[string]bool{}}
			continue
		}
		if name == "" {
			continue
		}
		m := out[name]
		if kind, is := strings.CutPrefix(line, "# TYPE "+name+" "); is {
			m.kind = kind
			out[name] = m
		} else if parts := sample.FindStringSubmatch(line); parts != nil {
			m.add(parts[2])
		}
	}
	return out
}

func ofLibraries(name string) bool {
	return strings.HasPrefix(name, "go_") || strings.HasPrefix(name, "process_") || strings.HasPrefix(name, "promhttp_")
}

// add takes the labels of one sample.
func (m metric) add(labels string) {
	for _, pair := range label.FindAllStringSubmatch(labels, -1) {
		if pair[1] == "le" { // a histogram's bucket
			continue
		}
		if m.labels[pair[1]] == nil {
			m.labels[pair[1]] = map[string]bool{}
		}
		m.labels[pair[1]][pair[2]] = true
	}
}

func (m metric) labelCell() string {
	cells := make([]string, 0, len(m.labels))
	for _, name := range slices.Sorted(maps.Keys(m.labels)) {
		cell := "`" + name + "`"
		if !slices.Contains(unlisted, name) {
			cell += ": " + strings.Join(slices.Sorted(maps.Keys(m.labels[name])), ", ")
		}
		cells = append(cells, cell)
	}
	return strings.Join(cells, "; ")
}
