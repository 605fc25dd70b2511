package archtest

import (
	"go/ast"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// An unrecovered panic ends the process, whichever goroutine it is in, and the edge recovers in its own goroutine only.
// So every package of a service but its main starts goroutines through shared/parallel, which carries a panic back to
// the waiting caller. What the services share as processes (shared/daemon) is part of main.

// goroutineReason is printed with every failure.
const goroutineReason = "a panic there would end the process: start it with parallel.Group, parallel.Start or " +
	"flight.Group (shared/parallel, shared/flight), and the panic comes back to the request that caused it"

// mains are the services; they and these may start goroutines by themselves.
var (
	mains             = map[string]string{"gateway": gw, "worker": "diagnostics/worker"}
	startsGoroutines  = []string{"diagnostics/shared/parallel", "diagnostics/daemon/..."}
	forbiddenStarters = []string{"golang.org/x/sync/errgroup", "golang.org/x/sync/singleflight"}
)

// harmless are the only functions that time.AfterFunc and context.AfterFunc, which call in a goroutine of their own,
// may be given: they end something and read nothing.
var harmless = []string{"cancel", "stop", "Close", "SetDeadline", "remove"}

// goroutines gives "file:line: what" for everything in the files that starts a goroutine.
func goroutines(t *testing.T, dir string, files []string) []string {
	t.Helper()
	return inspect(t, dir, files, starter)
}

// starter names how a node starts a goroutine, or nothing.
func starter(n ast.Node, imports map[string]string) string {
	switch n := n.(type) {
	case *ast.GoStmt:
		return "go"
	case *ast.SelectorExpr:
		if used := qualified(n, imports); used == "sync.WaitGroup" {
			return used
		}
	case *ast.CallExpr:
		used := qualified(n.Fun, imports)
		if (used == "time.AfterFunc" || used == "context.AfterFunc") && len(n.Args) == 2 && !isHarmless(n.Args[1]) {
			return used
		}
	case *ast.ImportSpec:
		imported, err := strconv.Unquote(n.Path.Value)
		if err == nil && slices.Contains(forbiddenStarters, imported) {
			return imported
		}
		// A dot import would hide every use.
		if n.Name != nil && n.Name.Name == "." {
			return "dot import of " + n.Path.Value
		}
	}
	return ""
}

// qualified gives "import/path.Name" for a name of another package.
func qualified(e ast.Expr, imports map[string]string) string {
	if s, ok := e.(*ast.SelectorExpr); ok {
		if q, ok := s.X.(*ast.Ident); ok && imports[q.Name] != "" {
			return imports[q.Name] + "." + s.Sel.Name
		}
	}
	return ""
}

// isHarmless reports whether a function is a harmless one, or a literal that calls such a one and does nothing else.
func isHarmless(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return slices.Contains(harmless, e.Name)
	case *ast.SelectorExpr:
		return slices.Contains(harmless, e.Sel.Name)
	case *ast.FuncLit:
		if len(e.Body.List) != 1 {
			return false
		}
		call, ok := onlyCall(e.Body.List[0])
		return ok && isHarmless(call.Fun) && !slices.ContainsFunc(call.Args, callsSomething)
	}
	return false
}

// callsSomething reports whether an argument is worked out by a call, but for one of package time.
func callsSomething(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		s, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			found = true
			return false
		}
		q, ok := s.X.(*ast.Ident)
		found = found || !ok || q.Name != "time"
		return true
	})
	return found
}

// onlyCall gives the call that a statement is, or whose result it assigns.
func onlyCall(s ast.Stmt) (call *ast.CallExpr, ok bool) {
	switch s := s.(type) {
	case *ast.ExprStmt:
		call, ok = s.X.(*ast.CallExpr)
	case *ast.AssignStmt:
		if len(s.Rhs) == 1 {
			call, ok = s.Rhs[0].(*ast.CallExpr)
		}
	}
	return call, ok
}

// linked gives the packages of this repository that a main package is built from, without itself.
func (g graph) linked(main string) []string {
	var out []string
	for queue := []string{main}; len(queue) > 0; queue = queue[1:] {
		for _, next := range g[queue[0]].Imports {
			if strings.HasPrefix(next, "diagnostics/") && !slices.Contains(out, next) {
				out = append(out, next)
				queue = append(queue, next)
			}
		}
	}
	return out
}

func TestOnlyParallelStartsGoroutines(t *testing.T) {
	t.Parallel()
	for module, main := range mains {
		g := list(t, filepath.Join(root, module))
		linked := g.linked(main)
		if !slices.Contains(linked, "diagnostics/shared/parallel") || len(linked) < 5 {
			t.Errorf("%s is built from %v, which cannot be all", main, linked)
		}
		for _, path := range linked {
			if matchesAny(path, startsGoroutines) {
				continue
			}
			for _, use := range goroutines(t, g[path].Dir, g[path].GoFiles) {
				t.Errorf("%s/%s\n\t%s", path, use, goroutineReason)
			}
		}
	}
}

func TestTheRuleOnGoroutinesCanFail(t *testing.T) {
	t.Parallel()
	const dir = "testdata/goroutines"
	want := []string{
		"guilty.go:9: golang.org/x/sync/errgroup", "guilty.go:10: golang.org/x/sync/singleflight",
		"guilty.go:13: sync.WaitGroup", "guilty.go:16: go", "guilty.go:17: go", "guilty.go:18: sync.WaitGroup",
		"guilty.go:22: time.AfterFunc", "guilty.go:23: time.AfterFunc",
		"guilty.go:24: context.AfterFunc", "guilty.go:25: context.AfterFunc",
		`dot.go:3: dot import of "sync"`,
	}
	if got := goroutines(t, dir, []string{"guilty.go", "dot.go"}); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	if got := goroutines(t, dir, []string{"innocent.go"}); got != nil {
		t.Errorf("an innocent line is caught: %q", got)
	}
}
