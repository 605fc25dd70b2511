package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	namedTest   = regexp.MustCompile("`((?:Test|Fuzz)[A-Z][A-Za-z0-9]*)`")
	namedFolder = regexp.MustCompile("`((?:shared|gateway|worker|deploy)/[a-z0-9/]+)`")
	namedFile   = regexp.MustCompile("`([a-z0-9_/]+\\.go)`")
	qualified   = regexp.MustCompile("`([a-z][a-z0-9]*)\\.([A-Z]\\w*)`")
	identifier  = regexp.MustCompile(`^(?:[A-Z]\w*\.)?([A-Za-z][A-Za-z0-9]*)$`)
	declaration = regexp.MustCompile(`^(?:func (?:\([^)]*\) )?|type |var |const )(\w+)`)
)

// specFields are the functions of a tool.Spec, which no package declares.
var specFields = []string{"Parse", "Run"}

// TestPagesNameWhatExists: docs/security.md names the test that proves each of its claims, and docs/architecture.md the
// tests of its rules and the functions that a request passes. A renamed test, file, package or function fails it.
func TestPagesNameWhatExists(t *testing.T) {
	t.Parallel()
	code := readCode(t, root)
	for name, least := range map[string]struct{ tests, functions int }{
		"docs/security.md": {50, 0}, "docs/architecture.md": {15, 30},
	} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		tests, functions, missing := code.check(string(text))
		for _, what := range missing {
			t.Errorf("%s names %s, which does not exist", name, what)
		}
		if tests < least.tests || functions < least.functions {
			t.Errorf("%s: only %d tests and %d functions are found", name, tests, functions)
		}
	}
}

func TestCheckOfNames(t *testing.T) {
	t.Parallel()
	c := code{tests: map[string]bool{"TestA": true}, files: []string{"gateway/internal/edge/run.go"},
		declared: map[string][]string{"gateway/internal/edge": {"runTool", "Limits"}, "gateway/internal/tool": {"Parse"}}}
	for text, missing := range map[string]int{
		"`TestA`, `edge/run.go`, `tool.Parse`":       0,
		"| `edge/run.go`, `runTool` | `elsewhere` |": 0,
		"| `run.go`, `Server.Limits` |":              0,
		"| `internal/edge`, `runTool` → `Limits` |":  0,
		"| `edge/run.go`, `runTools` |":              1,
		"| `internal/edge`, `run` |":                 1,
		"`edge/walk.go`":                             1,
		"`tool.Clean`":                               1,
		"`TestB`":                                    1,
	} {
		if _, _, got := c.check(text); len(got) != missing {
			t.Errorf("%s: %q, want %d", text, got, missing)
		}
	}
}

// code is what a page can name: tests, files of Go, and what each folder declares.
type code struct {
	tests    map[string]bool
	files    []string
	declared map[string][]string
}

// check returns how many tests and functions a text names, and the names that do not exist. A file or folder may be
// named by the end of its path. Identifiers in a table's cell are of the file or folder named before them, or packages.
func (c code) check(text string) (tests, functions int, missing []string) {
	for _, test := range namedTest.FindAllStringSubmatch(text, -1) {
		tests++
		if !c.tests[test[1]] {
			missing = append(missing, test[1])
		}
	}
	for _, file := range namedFile.FindAllStringSubmatch(text, -1) {
		if c.folders(file[1]) == nil {
			missing = append(missing, file[1])
		}
	}
	for _, folder := range namedFolder.FindAllStringSubmatch(text, -1) {
		info, err := os.Stat(filepath.Join(root, folder[1]))
		if (err != nil || !info.IsDir()) && c.folders(folder[1]) == nil {
			missing = append(missing, folder[1])
		}
	}
	for _, name := range qualified.FindAllStringSubmatch(text, -1) {
		if folders := c.folders(name[1]); folders != nil && !c.declares(folders, name[2]) {
			missing = append(missing, name[1]+"."+name[2])
		}
	}
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		for _, cell := range strings.Split(line, "|") {
			var folders []string
			place := ""
			for _, quoted := range inline.FindAllStringSubmatch(cell, -1) {
				if found := c.folders(quoted[1]); found != nil && strings.ContainsAny(quoted[1], "/.") {
					folders, place = found, quoted[1]
				} else if name := identifier.FindStringSubmatch(quoted[1]); name != nil && folders != nil {
					functions++
					if !c.declares(folders, name[1]) && c.folders(name[1]) == nil && !slices.Contains(specFields, name[1]) {
						missing = append(missing, place+", "+quoted[1])
					}
				}
			}
		}
	}
	return tests, functions, missing
}

// folders returns the folders that a file or a folder, named by the end of its path, can be.
func (c code) folders(name string) (folders []string) {
	if strings.HasSuffix(name, ".go") {
		for _, file := range c.files {
			if strings.HasSuffix("/"+file, "/"+name) {
				folders = append(folders, filepath.Dir(file))
			}
		}
		return folders
	}
	for folder := range c.declared {
		if strings.HasSuffix("/"+folder, "/"+name) {
			folders = append(folders, folder)
		}
	}
	return folders
}

func (c code) declares(folders []string, name string) bool {
	return slices.ContainsFunc(folders, func(f string) bool { return slices.Contains(c.declared[f], name) })
}

// readCode reads the Go files of all modules.
func readCode(t *testing.T, dir string) code {
	t.Helper()
	c := code{tests: map[string]bool{}, declared: map[string][]string{}}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && path != dir || entry.Name() == "testdata"):
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go"):
			return nil
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		c.files = append(c.files, name)
		for line := range strings.Lines(string(text)) {
			found := declaration.FindStringSubmatch(line)
			switch {
			case found == nil:
			case !strings.HasSuffix(name, "_test.go"):
				c.declared[filepath.Dir(name)] = append(c.declared[filepath.Dir(name)], found[1])
			case strings.HasPrefix(found[1], "Test") || strings.HasPrefix(found[1], "Fuzz"):
				c.tests[found[1]] = true
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
