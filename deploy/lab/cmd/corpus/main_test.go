package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSmallestFirst(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, size := range map[string]int{"a": 30, "b": 10, "c": maxFile, "d": maxFile + 1} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Repeat("x", size)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	names, err := smallest(dir)
	want := []string{filepath.Join(dir, "b"), filepath.Join(dir, "a"), filepath.Join(dir, "c")}
	if err != nil || !slices.Equal(names, want) {
		t.Errorf("%v, %v", names, err)
	}
}

func TestOnlyWhatReachesMoreIsKept(t *testing.T) {
	t.Parallel()
	all := map[string]bool{"a.go:1": true}
	for _, c := range []struct {
		more map[string]bool
		want bool
	}{
		{map[string]bool{"a.go:1": true}, false},
		{map[string]bool{"a.go:1": true, "a.go:2": true}, true},
		{map[string]bool{"a.go:2": true}, false},
	} {
		if got := adds(all, c.more); got != c.want {
			t.Errorf("%v: %v", c.more, got)
		}
	}
}
