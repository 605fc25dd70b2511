package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// catalogued is a row, with its place in the source.
type catalogued struct {
	code, args string
	position   token.Position
}

// madeOf are the beginnings of codes that a program puts together from a part and the words of a protocol.
var madeOf = []string{
	"WORKER_", "PLACE_", // remote.Config.CodePrefix and the code of a failure
	"SERVER_",        // the code of a DNS answer
	"EDE_",           // the number of an extended DNS error
	"RETIRED_",       // the name of a header
	"CLEAR_",         // the type of data that Clear-Site-Data names
	"COOP_", "COEP_", // what judgeIsolation found
}

// codeAt is the index of the code among the arguments of the functions that take one.
var codeAt = map[string]int{"fault.New": 1, "fault.Wrap": 2, "fault.OfOption": 1, "fault.LimitedFor": 1,
	"Add": 0, "Find": 0, "Conclude": 0, "Sentence": 0, "Clause": 0}

// ofWorker are the functions of the worker that take a code as their first argument.
var ofWorker = []string{"ofTrace", "about", "add"}

var isCode = regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$`)

// Each code has a row, each row of a catalogue is named outside it, and it declares the arguments that a call names.
// Codes that a program puts together and arguments of a wrong type end the tests of a tool: see toolstest.Main.
func TestCodesAndRows(t *testing.T) {
	t.Parallel()
	source := read(t)
	rows, used := map[string][]catalogued{}, map[string]bool{}
	for _, file := range source.files {
		inCatalogue := filepath.Base(file.path) == "catalogue.go" && file.dir != "tool/finding"
		ast.Inspect(file.tree, func(n ast.Node) bool {
			if declared, is := n.(*ast.GenDecl); is && declared.Tok == token.CONST {
				return false
			}
			if pair, is := n.(*ast.KeyValueExpr); is && inCatalogue {
				if code, args, is := source.row(file, pair); is {
					rows[code] = append(rows[code], catalogued{code, args, source.set.Position(pair.Pos())})
					return false
				}
			}
			switch e := n.(type) {
			case *ast.BasicLit, *ast.Ident, *ast.SelectorExpr:
				used[source.value(file, e.(ast.Expr))] = true
			}
			return true
		})
	}
	if len(rows) < 500 {
		t.Fatalf("only %d codes were found", len(rows))
	}
	for code, all := range rows {
		made := slices.ContainsFunc(madeOf, func(prefix string) bool { return strings.HasPrefix(code, prefix) })
		if !used[code] && !made {
			t.Errorf("%s: %s is used nowhere", all[0].position, code)
		}
	}
	for _, file := range source.files {
		ast.Inspect(file.tree, func(n ast.Node) bool {
			if call, is := n.(*ast.CallExpr); is {
				source.checkCall(t, file, call, rows)
			}
			return true
		})
	}
}

// checkCall finds a code without a row, and arguments that no row of the code before them declares.
func (s source) checkCall(t *testing.T, file sourceFile, call *ast.CallExpr, rows map[string][]catalogued) {
	name := called(call)
	at, takes := codeAt[name]
	if file.dir == workerDir {
		takes = slices.Contains(ofWorker, name)
	} else if !ast.IsExported(name) && !takes {
		return // it may put a code together
	}
	if takes && at < len(call.Args) {
		if code := s.value(file, call.Args[at]); isCode.MatchString(code) && rows[code] == nil {
			t.Errorf("%s: no row for %s", s.set.Position(call.Pos()), code)
		}
	}
	for i, arg := range call.Args {
		literal, is := arg.(*ast.CompositeLit)
		if !is || i == 0 {
			continue
		}
		switch of := literal.Type.(type) {
		case *ast.SelectorExpr:
			if of.Sel.Name != "Args" {
				continue
			}
		case *ast.Ident:
			if file.dir != workerDir || of.Name != "args" {
				continue
			}
		default:
			continue
		}
		all := rows[s.value(file, call.Args[i-1])]
		if all == nil && i > 1 { // with a subject between them
			all = rows[s.value(file, call.Args[i-2])]
		}
		for _, element := range literal.Elts {
			pair, _ := element.(*ast.KeyValueExpr)
			name := s.value(file, pair.Key)
			declares := func(row catalogued) bool {
				return strings.Contains(", "+row.args, ", "+name+" ") || strings.Contains(row.args, " code") ||
					strings.Contains(row.args, " sentence") || strings.Contains(row.args, " continued")
			}
			if all != nil && !slices.ContainsFunc(all, declares) {
				t.Errorf("%s: %s has no argument %s", s.set.Position(pair.Pos()), all[0].code, name)
			}
		}
	}
}

// called returns the name of a called function or method, with its package if that is fault.
func called(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		if of, is := f.X.(*ast.Ident); is && of.Name == "fault" {
			return "fault." + f.Sel.Name
		}
		return f.Sel.Name
	}
	return ""
}

// workerDir is where the worker finds facts.
const workerDir = "worker/internal/probe"

// source holds the parsed code of the gateway, and of the worker's package that finds facts, without tests.
type source struct {
	set   *token.FileSet
	files []sourceFile
	// constants has the constants and variables of each package, by the last element of its path.
	constants map[string]map[string]ast.Expr
}

type sourceFile struct {
	path, dir string
	tree      *ast.File
}

func read(t *testing.T) source {
	t.Helper()
	s := source{set: token.NewFileSet(), constants: map[string]map[string]ast.Expr{}}
	for _, root := range []string{"..", "../../../" + workerDir} {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			tree, err := parser.ParseFile(s.set, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			dir := strings.ReplaceAll(filepath.ToSlash(filepath.Dir(path)), "../", "")
			s.files = append(s.files, sourceFile{path, dir, tree})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range s.files {
		known := s.constants[filepath.Base(file.dir)]
		if known == nil {
			known = map[string]ast.Expr{}
			s.constants[filepath.Base(file.dir)] = known
		}
		ast.Inspect(file.tree, func(n ast.Node) bool {
			if spec, is := n.(*ast.ValueSpec); is && len(spec.Names) == len(spec.Values) {
				for i, name := range spec.Names {
					known[name.Name] = spec.Values[i]
				}
			}
			return true
		})
	}
	return s
}

// row returns the code and the arguments of a row, if the pair is one.
func (s source) row(file sourceFile, pair *ast.KeyValueExpr) (code, args string, is bool) {
	literal, isLiteral := pair.Value.(*ast.CompositeLit)
	if code = s.value(file, pair.Key); !isLiteral || code == "" {
		return "", "", false
	}
	for _, element := range literal.Elts {
		field, isPair := element.(*ast.KeyValueExpr)
		if !isPair {
			return "", "", false
		}
		switch name, _ := field.Key.(*ast.Ident); {
		case name == nil:
			return "", "", false
		case name.Name == "Args":
			args = s.value(file, field.Value)
		case name.Name == "Message", name.Name == "Clause":
			is = true
		}
	}
	return code, args, is
}

// value returns the value of a constant text, or "".
func (s source) value(file sourceFile, e ast.Expr) string {
	of := filepath.Base(file.dir)
	switch e := e.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(e.Value)
		return text
	case *ast.ParenExpr:
		return s.value(file, e.X)
	case *ast.Ident:
		return s.constant(of, e.Name)
	case *ast.SelectorExpr:
		if from, is := e.X.(*ast.Ident); is {
			return s.constant(from.Name, e.Sel.Name)
		}
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			return s.value(file, e.X) + s.value(file, e.Y)
		}
	case *ast.CallExpr: // string(http1.Problem)
		if to, is := e.Fun.(*ast.Ident); is && to.Name == "string" && len(e.Args) == 1 {
			return s.value(file, e.Args[0])
		}
	}
	return ""
}

func (s source) constant(of, name string) string {
	value, known := s.constants[of][name]
	if !known {
		return ""
	}
	if _, isCall := value.(*ast.CallExpr); isCall {
		return ""
	}
	return s.value(sourceFile{dir: of}, value)
}
