package certs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
)

// Every code that this package gives has words: sentences for visitors end with them.
func TestEveryCodeHasWords(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "certcheck.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	codes := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Code") {
			return true
		}
		literal, ok := spec.Values[0].(*ast.BasicLit)
		if !ok {
			t.Fatalf("%s is no literal", spec.Names[0].Name)
		}
		code, err := strconv.Unquote(literal.Value)
		if err != nil {
			t.Fatal(err)
		}
		codes++
		if Clause(code) == code {
			t.Errorf("%s has no words", code)
		}
		return true
	})
	if codes != len(clauses) {
		t.Errorf("%d codes and %d clauses", codes, len(clauses))
	}
	if got := Clause("SOMETHING_NEW"); got != "SOMETHING_NEW" {
		t.Errorf("an unknown code became %q", got)
	}
}
