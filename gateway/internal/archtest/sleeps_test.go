package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const sleepReason = "tests run in a bubble of testing/synctest, or wait for a fact (a channel, shared/waittest): a " +
	"sleep, or a bound on the time that something took, has its reason in a comment beside it"

// clocked gives "file:line" for every time.Sleep, and every if on time.Since, in the files of a folder that neither has
// a comment beside it nor is inside a bubble.
func clocked(t *testing.T, dir string, names []string) (found []string) {
	t.Helper()
	bubbles := bubblesOf(t, dir, names)
	for _, name := range names {
		file := parsed(t, filepath.Join(dir, name))
		reasons := map[int]bool{}
		for _, group := range file.Comments {
			for line := positions.Position(group.Pos()).Line; line <= positions.Position(group.End()).Line; line++ {
				reasons[line] = true
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if call, is := n.(*ast.CallExpr); is && isOneOf(call.Fun, bubbles) {
				return false
			}
			if end := clockRead(n); end.IsValid() {
				line, last := positions.Position(n.Pos()).Line, positions.Position(end).Line
				if !reasons[line-1] && !reasons[line] && !reasons[last] {
					found = append(found, fmt.Sprintf("%s:%d", name, line))
				}
			}
			return true
		})
	}
	return found
}

// bubblesOf are the functions of a folder that run what they are given in a bubble, and synctest.Test.
func bubblesOf(t *testing.T, dir string, names []string) []string {
	t.Helper()
	all := []string{"synctest.Test"}
	for _, name := range names {
		for _, decl := range parsed(t, filepath.Join(dir, name)).Decls {
			if f, is := decl.(*ast.FuncDecl); is && contains(f, "synctest.Test") {
				all = append(all, f.Name.Name)
			}
		}
	}
	return all
}

// clockRead is where a time.Sleep ends, or the condition of an if that begins with or compares a time.Since.
func clockRead(n ast.Node) token.Pos {
	switch n := n.(type) {
	case *ast.CallExpr:
		if isOneOf(n.Fun, []string{"time.Sleep"}) {
			return n.End()
		}
	case *ast.IfStmt:
		if n.Init != nil && contains(n.Init, "time.Since") || contains(n.Cond, "time.Since") {
			return n.Cond.End()
		}
	}
	return token.NoPos
}

func contains(in ast.Node, name string) (found bool) {
	ast.Inspect(in, func(n ast.Node) bool {
		call, is := n.(*ast.CallExpr)
		found = found || is && isOneOf(call.Fun, []string{name})
		return !found
	})
	return found
}

// isOneOf reports whether an expression is one of the names, such as "f", "time.Sleep", or "f" for the method x.f.
func isOneOf(e ast.Expr, names []string) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return slices.Contains(names, e.Name)
	case *ast.SelectorExpr:
		of, is := e.X.(*ast.Ident)
		return is && slices.Contains(names, of.Name+"."+e.Sel.Name) || slices.Contains(names, e.Sel.Name)
	}
	return false
}

// Production code may sleep, but not the lab, which is for tests.
func TestSleepsHaveAReason(t *testing.T) {
	t.Parallel()
	folders, looked := map[string][]string{}, 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && (name == "testdata" || name == "node_modules" || name[0] == '.'):
			return fs.SkipDir
		case strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, ".go") && strings.Contains(path, "deploy/lab/"):
			folders[filepath.Dir(path)] = append(folders[filepath.Dir(path)], name)
			looked++
		}
		return nil
	})
	if err != nil || looked < 500 {
		t.Fatalf("%d files were read: %v", looked, err)
	}
	for dir, names := range folders {
		for _, at := range clocked(t, dir, names) {
			t.Errorf("%s/%s\n\t%s", dir, at, sleepReason)
		}
	}
}

// The fixture states of each line whether it must be found.
func TestSleepsCanFail(t *testing.T) {
	t.Parallel()
	found := clocked(t, "testdata/sleeps", []string{"sleeps.go"})
	if want := []string{"sleeps.go:10", "sleeps.go:11", "sleeps.go:14"}; !slices.Equal(found, want) {
		t.Errorf("%q, want %q", found, want)
	}
}
