package archtest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// leaksUnseen gives the folders below dir whose tests do not end by looking for goroutines that are left running.
func leaksUnseen(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	deeper, err := filepath.Glob(filepath.Join(dir, "*", "*", "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, name := range append(files, deeper...) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		folder, _ := filepath.Rel(dir, filepath.Dir(name))
		seen[folder] = seen[folder] || strings.Contains(string(text), "goleak.VerifyTestMain(m)")
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

func TestToolsLeaveNothingRunning(t *testing.T) {
	t.Parallel()
	for _, folder := range leaksUnseen(t, filepath.Join(root, "gateway/internal/tools")) {
		t.Errorf("gateway/internal/tools/%s/main_test.go: TestMain calls no goleak.VerifyTestMain\n\t"+
			"a run that leaves goroutines behind ends the service in a day", folder)
	}
}

func TestLeaksUnseenCanFail(t *testing.T) {
	t.Parallel()
	if got := leaksUnseen(t, "testdata/leaks"); !slices.Equal(got, []string{"leaky"}) {
		t.Errorf("%q", got)
	}
}
