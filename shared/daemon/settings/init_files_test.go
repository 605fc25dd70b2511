package settings

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// read gives what a file holds, as a service would read it, and its mode.
func read(t *testing.T, path string) (string, os.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(string(content), "\n"), info.Mode().Perm()
}

func TestInitFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	token, word := filepath.Join(dir, "token"), filepath.Join(dir, "word")
	env := []string{"SAMPLE_TOKEN_FILE=" + token, "SAMPLE_WORD_FILE=" + word}
	initFiles := func(env ...string) {
		t.Helper()
		if err := InitFiles(Of[sample](), env); err != nil {
			t.Fatal(err)
		}
	}

	initFiles(env...)
	first, mode := read(t, token)
	if !regexp.MustCompile(`^[A-Z2-7]{26}$`).MatchString(first) || mode != 0o440 {
		t.Errorf("%q, mode %o", first, mode)
	}
	if other, _ := read(t, word); other == first {
		t.Error("two secrets are the same")
	}
	initFiles(env...)
	if again, _ := read(t, token); again != first {
		t.Errorf("made anew: %q", again)
	}

	initFiles(append(env, "SAMPLE_TOKEN=given")...)
	if now, mode := read(t, token); now != "given" || mode != 0o440 {
		t.Errorf("given was not kept: %q, mode %o", now, mode)
	}
	initFiles(env...)
	if now, _ := read(t, token); now != "given" {
		t.Errorf("what was given before is lost: %q", now)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.new")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestInitFilesThatFails(t *testing.T) {
	t.Parallel()
	env := []string{"SAMPLE_TOKEN_FILE=" + filepath.Join(t.TempDir(), "none", "token")}
	if err := InitFiles(Of[sample](), env); err == nil || !strings.Contains(err.Error(), "SAMPLE_TOKEN_FILE") {
		t.Error(err)
	}
}
