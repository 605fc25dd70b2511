package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"diagnostics/gateway/internal/fault"
)

// codesAt is the index of the code among the arguments of a function that makes a failure.
var codesAt = map[string]int{"New": 1, "Wrap": 2, "OfOption": 1, "LimitedFor": 1}

// Each code that a failure is made with is a row, and each row is used.
func TestFailuresHaveRows(t *testing.T) {
	t.Parallel()
	used := map[string]bool{"RESTARTING": true}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") ||
			filepath.Base(path) == "catalogue.go" && filepath.Base(filepath.Dir(path)) == "fault" {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if call, is := n.(*ast.CallExpr); is {
				if code, given := codeOf(call); given && fault.Rows[code].Message == "" {
					t.Errorf("%s: no row for %q", files.Position(call.Pos()), code)
				}
			}
			if literal, is := n.(*ast.BasicLit); is && literal.Kind == token.STRING {
				if text, err := strconv.Unquote(literal.Value); err == nil {
					used[text] = true
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for code := range fault.Rows {
		prefix, rest, _ := strings.Cut(code, "_")
		byPrefix := (prefix == "WORKER" || prefix == "PLACE") && used[rest] // remote.Config.CodePrefix
		if !used[code] && !byPrefix {
			t.Errorf("%s is used nowhere", code)
		}
	}
}

// codeOf returns the code of a call that makes a failure with a literal.
func codeOf(call *ast.CallExpr) (code string, given bool) {
	f, is := call.Fun.(*ast.SelectorExpr)
	if !is {
		return "", false
	}
	of, _ := f.X.(*ast.Ident)
	at, makes := codesAt[f.Sel.Name]
	if of == nil || of.Name != "fault" || !makes || len(call.Args) <= at {
		return "", false
	}
	literal, is := call.Args[at].(*ast.BasicLit)
	if !is {
		return "", false
	}
	code, err := strconv.Unquote(literal.Value)
	return code, err == nil && code != ""
}
