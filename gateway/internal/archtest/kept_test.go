package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"sync"
	"testing"
)

// kept is what was made of each key, made once: most tests here look at the same packages.
type kept[T any] struct{ all sync.Map }

func (k *kept[T]) get(key string, make func() (T, error)) (T, error) {
	once, _ := k.all.LoadOrStore(key, sync.OnceValues(make))
	return once.(func() (T, error))()
}

var (
	lists     kept[graph]
	files     kept[*ast.File]
	positions = token.NewFileSet()
)

// parsed returns a file with its comments. It is shared and must not be changed.
func parsed(t *testing.T, path string) *ast.File {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := files.get(path, func() (*ast.File, error) {
		return parser.ParseFile(positions, path, nil, parser.ParseComments|parser.SkipObjectResolution)
	})
	if err != nil {
		t.Fatal(err)
	}
	return file
}
