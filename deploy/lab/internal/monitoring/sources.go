package monitoring

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
)

// Query is one expression, and what is made of its result.
type Query struct {
	Where      string // for messages
	Expression string
	Labels     []string // those that texts beside the expression show
}

// Dashboard is what tests look at of a Grafana dashboard.
type Dashboard struct {
	Panels     []Panel `json:"panels"`
	Templating struct {
		List []Variable `json:"list"`
	} `json:"templating"`
}

// Variable is a choice at the top of a dashboard.
type Variable struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// Panel is a graph, a number, a table, or the heading of a row.
type Panel struct {
	ID          int        `json:"id"`
	Type        string     `json:"type"`
	Title       string     `json:"title"`
	Datasource  Datasource `json:"datasource"`
	FieldConfig struct {
		Defaults struct {
			Unit string `json:"unit"`
		} `json:"defaults"`
	} `json:"fieldConfig"`
	GridPos struct{ H, W, X, Y int } `json:"gridPos"`
	Targets []Target                 `json:"targets"`
}

// Target is one query of a panel.
type Target struct {
	Datasource Datasource `json:"datasource"`
	Expr       string     `json:"expr"`
	Legend     string     `json:"legendFormat"`
}

// Datasource is where a query goes.
type Datasource struct {
	UID string `json:"uid"`
}

// ReadDashboard reads a dashboard as Grafana takes it.
func ReadDashboard(file string) (Dashboard, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return Dashboard{}, err
	}
	var d Dashboard
	if err := json.Unmarshal(text, &d); err != nil {
		return Dashboard{}, fmt.Errorf("%s: %w", file, err)
	}
	return d, nil
}

// shown is a label in a legend or in the text of an alert: {{slug}}, {{ $labels.slug }}.
var shown = regexp.MustCompile(`\{\{-? *(?:\$labels\.)?([a-z_]+) *-?\}\}`)

// Shown gives the labels that a legend or the text of an alert shows.
func Shown(text string) (labels []string) {
	for _, m := range shown.FindAllStringSubmatch(text, -1) {
		labels = append(labels, m[1])
	}
	return labels
}

// Queries gives all queries of the dashboard, where every variable chooses everything.
func (d Dashboard) Queries() (all []Query) {
	values := []string{"$__rate_interval", "1m"}
	for _, v := range d.Templating.List {
		values = append(values, "$"+v.Name, ".*")
	}
	choose := strings.NewReplacer(values...)
	for _, p := range d.Panels {
		for _, t := range p.Targets {
			all = append(all, Query{Where: "dashboard: " + p.Title, Expression: choose.Replace(t.Expr), Labels: Shown(t.Legend)})
		}
	}
	return all
}

var promql = regexp.MustCompile("(?s)\n```promql\n(.*?)\n```\n")

// PageQueries gives the queries of a Markdown page: its fences of promql.
func PageQueries(file string) (all []Query, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for _, m := range promql.FindAllStringSubmatch(string(text), -1) {
		all = append(all, Query{Where: file, Expression: m[1]})
	}
	return all, nil
}
