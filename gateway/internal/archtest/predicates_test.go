package archtest

import (
	"fmt"
	"go/ast"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// unclearPredicates gives "file: name" for each function below dir whose one result is a bool and whose comment does
// not say what true means.
func unclearPredicates(t *testing.T, dir string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), ".")) && path != dir:
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		for _, d := range parsed(t, path).Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Doc == nil || !isPredicate(f.Type.Results) {
				continue
			}
			if said := strings.Join(strings.Fields(f.Doc.Text()), " "); !strings.Contains(said, "reports whether") {
				found = append(found, fmt.Sprintf("%s: %s", path, f.Name.Name))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func isPredicate(results *ast.FieldList) bool {
	if results.NumFields() != 1 {
		return false
	}
	kind, ok := results.List[0].Type.(*ast.Ident)
	return ok && kind.Name == "bool"
}

func TestPredicatesReportWhether(t *testing.T) {
	t.Parallel()
	for _, module := range modules(t) {
		for _, found := range unclearPredicates(t, filepath.Join(root, module)) {
			t.Errorf("%s: its comment does not say what it \"reports whether\"\n\t"+
				"of a bool the reader needs to know which answer is true", found)
		}
	}
}

func TestPredicatesCanFail(t *testing.T) {
	t.Parallel()
	want := []string{"testdata/predicates/predicates.go: bad"}
	if got := unclearPredicates(t, "testdata/predicates"); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
