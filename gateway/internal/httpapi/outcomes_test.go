package httpapi

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// declaredOutcomes reads the constants of type outcome.
func declaredOutcomes(t *testing.T) (all []outcome) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "problem.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, is := n.(*ast.ValueSpec)
		if !is || spec.Type == nil {
			return true
		}
		if name, is := spec.Type.(*ast.Ident); is && name.Name == "outcome" {
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, outcome(text))
		}
		return true
	})
	return all
}

// The table of docs/metrics.md has every outcome once, with the statuses that it comes with, and nothing else.
func TestOutcomesAreDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "| outcome | status | whose fault | meaning |\n")
	if !found {
		t.Fatal("docs/metrics.md has no table of outcomes")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	documented := map[outcome][]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([^|]+) \\| [^|]+ \\| [^|]+ \\|$").FindAllStringSubmatch(table, -1) {
		if documented[outcome(row[1])] != nil {
			t.Errorf("%s is there twice", row[1])
		}
		documented[outcome(row[1])] = strings.Split(row[2], ", ")
	}
	declared := declaredOutcomes(t)
	if len(declared) < 20 || len(declared) != len(documented) {
		t.Errorf("%d outcomes are declared, %d documented", len(declared), len(documented))
	}
	for _, o := range declared {
		var statuses []string
		for _, e := range endings {
			if e.outcome == o {
				statuses = append(statuses, statusLabel(e.status))
			}
		}
		slices.Sort(statuses)
		table := slices.Sorted(slices.Values(documented[o]))
		if !slices.Equal(statuses, table) {
			t.Errorf("%s comes with the statuses %v, and the table says %v", o, statuses, table)
		}
	}
}
