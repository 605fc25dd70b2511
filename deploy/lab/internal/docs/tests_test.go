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
	testFunc    = regexp.MustCompile(`^func ((?:Test|Fuzz)\w+)\(`)
)

// TestTheThreatModelNamesWhatIsThere: docs/security.md names the test that proves each of its claims, and a claim
// whose test was renamed or taken away is no longer proven.
func TestTheThreatModelNamesWhatIsThere(t *testing.T) {
	t.Parallel()
	namesWhatIsThere(t, "docs/security.md", 50)
}

// TestTheArchitectureNamesWhatIsThere: docs/architecture.md says which test holds which arrow.
func TestTheArchitectureNamesWhatIsThere(t *testing.T) {
	t.Parallel()
	namesWhatIsThere(t, "docs/architecture.md", 15)
}

// namesWhatIsThere fails where a page names a test, a folder or a file of Go that is not there. It must name at least
// so many tests, or it was not read rightly. A file may be named by the end of its path.
func namesWhatIsThere(t *testing.T, name string, least int) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	known, files := testsBelow(t, root), filesBelow(t, root)
	tests := namedTest.FindAllStringSubmatch(string(page), -1)
	if len(tests) < least {
		t.Errorf("only %d tests are named", len(tests))
	}
	for _, test := range tests {
		if !known[test[1]] {
			t.Errorf("%s names %s, and there is no such test", name, test[1])
		}
	}
	for _, folder := range namedFolder.FindAllStringSubmatch(string(page), -1) {
		if info, err := os.Stat(filepath.Join(root, folder[1])); err != nil || !info.IsDir() {
			t.Errorf("%s names %s, and there is no such folder", name, folder[1])
		}
	}
	for _, file := range namedFile.FindAllStringSubmatch(string(page), -1) {
		if !slices.ContainsFunc(files, func(path string) bool { return strings.HasSuffix(path, "/"+file[1]) }) {
			t.Errorf("%s names %s, and there is no such file", name, file[1])
		}
	}
}

// filesBelow are the files of Go of all modules.
func filesBelow(t *testing.T, dir string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && path != dir:
			return fs.SkipDir
		case strings.HasSuffix(path, ".go"):
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// testsBelow are the tests and fuzz targets of all modules.
func testsBelow(t *testing.T, dir string) map[string]bool {
	t.Helper()
	known := map[string]bool{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && path != dir || entry.Name() == "testdata"):
			return fs.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		for line := range strings.Lines(string(text)) {
			if !strings.HasPrefix(line, "func ") {
				continue
			}
			if name := testFunc.FindStringSubmatch(line); name != nil {
				known[name[1]] = true
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return known
}
