package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	namedTest   = regexp.MustCompile("`((?:Test|Fuzz)[A-Z][A-Za-z0-9]*)`")
	namedFolder = regexp.MustCompile("`((?:shared|gateway|worker|deploy)/[a-z0-9/]+)`")
	testFunc    = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
)

// TestTheThreatModelNamesWhatIsThere: docs/security.md names the test that proves each of its claims, and a claim
// whose test was renamed or taken away is no longer proven.
func TestTheThreatModelNamesWhatIsThere(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root, "docs/security.md"))
	if err != nil {
		t.Fatal(err)
	}
	known := testsBelow(t, root)
	names := namedTest.FindAllStringSubmatch(string(page), -1)
	if len(names) < 50 {
		t.Errorf("only %d tests are named", len(names))
	}
	for _, name := range names {
		if !known[name[1]] {
			t.Errorf("docs/security.md names %s, and there is no such test", name[1])
		}
	}
	for _, folder := range namedFolder.FindAllStringSubmatch(string(page), -1) {
		if info, err := os.Stat(filepath.Join(root, folder[1])); err != nil || !info.IsDir() {
			t.Errorf("docs/security.md names %s, and there is no such folder", folder[1])
		}
	}
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
		for _, name := range testFunc.FindAllStringSubmatch(string(text), -1) {
			known[name[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return known
}
