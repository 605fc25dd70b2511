package archtest

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A slog.Duration is nanoseconds in one format of the log and words in the other, and a Duration's String is words in
// both: neither can be compared with the durationMs of the other lines.
const durationReason = "durations are logged in milliseconds: log a number, d.Milliseconds(), under a key that " +
	`ends in "Ms"`

// typesOfLog imports what a call that logs a duration needs. The rest is left out: it would take long, and what is
// unknown is no duration.
type typesOfLog struct {
	mu       sync.Mutex
	standard types.Importer
	seen     map[string]*types.Package
}

func (i *typesOfLog) Import(path string) (*types.Package, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if p, ok := i.seen[path]; ok {
		return p, nil
	}
	p := types.NewPackage(path, path[strings.LastIndexByte(path, '/')+1:])
	if slices.Contains([]string{"time", "log/slog", "context"}, path) {
		known, err := i.standard.Import(path)
		if err != nil {
			return nil, err
		}
		p = known
	}
	p.MarkComplete()
	i.seen[path] = p
	return p, nil
}

// loggedDurations gives "file:line: what" for every duration that is handed to package log/slog, as it is or as a text.
func loggedDurations(t *testing.T, imports *typesOfLog, dir string, names []string) (found []string) {
	t.Helper()
	files := make([]*ast.File, 0, len(names))
	for _, name := range names {
		files = append(files, parsed(t, filepath.Join(dir, name)))
	}
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
		Uses: map[*ast.Ident]types.Object{},
	}
	// What the importer leaves out are errors, of no concern here.
	config := types.Config{Importer: imports, Error: func(error) {}, FakeImportC: true}
	_, _ = config.Check(dir, positions, files, info)
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			call, is := n.(*ast.CallExpr)
			if !is || !logs(info, call) {
				return true
			}
			for _, argument := range call.Args {
				if isDuration(info, argument) {
					at := positions.Position(argument.Pos())
					found = append(found,
						fmt.Sprintf("%s:%d: %s", filepath.Base(at.Filename), at.Line, types.ExprString(argument)))
				}
			}
			return true
		})
	}
	return found
}

// logs reports whether a function or method of log/slog is called. Where the type is unknown, as that of a logger
// inside a type of another package, the name of the method decides.
func logs(info *types.Info, call *ast.CallExpr) bool {
	selector, is := call.Fun.(*ast.SelectorExpr)
	if !is {
		return false
	}
	if used := info.Uses[selector.Sel]; used != nil {
		return used.Pkg() != nil && used.Pkg().Path() == "log/slog"
	}
	return slices.Contains([]string{"Debug", "Info", "Warn", "Error", "DebugContext", "InfoContext", "WarnContext",
		"ErrorContext", "Log", "With"}, selector.Sel.Name)
}

// isDuration reports whether a value is a time.Duration, or its String.
func isDuration(info *types.Info, e ast.Expr) bool {
	if call, is := e.(*ast.CallExpr); is {
		if selector, is := call.Fun.(*ast.SelectorExpr); is && selector.Sel.Name == "String" && isDuration(info, selector.X) {
			return true
		}
	}
	of := info.Types[e].Type
	return of != nil && of.String() == "time.Duration"
}

// theTypesOfLog are read once: from their sources, which takes a while.
var theTypesOfLog = sync.OnceValue(func() *typesOfLog {
	return &typesOfLog{
		standard: importer.ForCompiler(token.NewFileSet(), "source", nil), seen: map[string]*types.Package{},
	}
})

func TestDurationsAreLoggedInMilliseconds(t *testing.T) {
	t.Parallel()
	imports := theTypesOfLog()
	looked := 0
	for _, module := range []string{"gateway", "worker", "shared/daemon"} {
		for _, p := range list(t, filepath.Join(root, module)) {
			if p.Standard || !strings.HasPrefix(p.ImportPath, "diagnostics/") || !slices.Contains(p.Imports, "log/slog") {
				continue
			}
			looked++
			for _, found := range loggedDurations(t, imports, p.Dir, p.GoFiles) {
				t.Errorf("%s/%s\n\t%s", p.ImportPath, found, durationReason)
			}
		}
	}
	if looked < 10 {
		t.Errorf("only %d packages log", looked)
	}
}

// The fixture says of each line whether it must be found.
func TestLoggedDurations(t *testing.T) {
	t.Parallel()
	found := loggedDurations(t, theTypesOfLog(), "testdata/calls", []string{"durations.go"})
	if len(found) != 7 {
		t.Errorf("found %d of 7: %q", len(found), found)
	}
	for _, f := range found {
		if strings.Contains(f, "Milliseconds") || strings.Contains(f, "innocent") {
			t.Errorf("an innocent line is found: %s", f)
		}
	}
}
