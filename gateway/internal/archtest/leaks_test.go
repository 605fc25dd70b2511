package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// looksForLeaks is how the tests of a package end: with goleak, by itself or after what a TestMain takes down.
var looksForLeaks = regexp.MustCompile(`goleak\.(VerifyTestMain|Find)\(|(redistest|toolstest)\.Main\(m\)`)

// leaksUnseen gives the folders below dir whose tests do not end by looking for goroutines that are left running.
func leaksUnseen(t *testing.T, dir string) []string {
	t.Helper()
	seen := map[string]bool{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), ".")) && path != dir:
			return fs.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(dir, filepath.Dir(path))
		seen[folder] = seen[folder] || looksForLeaks.Match(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for folder, looked := range seen {
		if !looked {
			out = append(out, folder)
		}
	}
	slices.Sort(out)
	return out
}

// modules are the folders of all modules, as go.work has them.
func modules(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "go.work"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range regexp.MustCompile(`(?m)^\s+(?:use )?\./(\S+)$`).FindAllStringSubmatch(string(text), -1) {
		out = append(out, m[1])
	}
	return out
}

func TestNothingIsLeftRunning(t *testing.T) {
	t.Parallel()
	all := modules(t)
	if len(all) < 5 {
		t.Fatalf("go.work names %v", all)
	}
	for _, module := range all {
		for _, folder := range leaksUnseen(t, filepath.Join(root, module)) {
			t.Errorf("%s: its TestMain calls no goleak.VerifyTestMain\n\t"+
				"a run that leaves goroutines behind ends the service in a day", filepath.Join(module, folder))
		}
	}
}

func TestLeaksUnseenCanFail(t *testing.T) {
	t.Parallel()
	if got := leaksUnseen(t, "testdata/leaks"); !slices.Equal(got, []string{"leaky"}) {
		t.Errorf("%q", got)
	}
}
