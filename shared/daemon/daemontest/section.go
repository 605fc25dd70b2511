package daemontest

import (
	"os"
	"strings"
	"testing"
)

// Section compares what stands in a file between two markers with what the code says, or puts it there where update is
// set: so the generated parts of the README and of docs stay equal to what they come from.
func Section(t *testing.T, path, start, end, want string, update bool) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, starts := strings.Cut(string(text), start+"\n")
	got, after, ends := strings.Cut(rest, end)
	if !starts || !ends {
		t.Fatalf("%s has no section from %s to %s", path, start, end)
	}
	if got == want {
		return
	}
	if !update {
		t.Fatalf("the section %s of %s is stale: run make generate", start, path)
	}
	if err := os.WriteFile(path, []byte(before+start+"\n"+want+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
