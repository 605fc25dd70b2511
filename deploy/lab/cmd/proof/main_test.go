package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"diagnostics/lab/internal/project"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	named = regexp.MustCompile(`cmd/proof ([a-z][a-z-]*)`)
	tests = regexp.MustCompile(`Test[A-Z]\w+`)
)

// TestProofs checks that every script parses, and that the tests which it runs exist.
func TestProofs(t *testing.T) {
	t.Parallel()
	root, err := project.Root()
	if err != nil {
		t.Fatal(err)
	}
	grep := exec.Command("git", "grep", "-hoE", `^func Test\w+`, "--", "*_test.go")
	grep.Dir = root
	functions, err := grep.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range proofs {
		if out, err := exec.Command("bash", "-n", "-c", p.script).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", p.name, err, out)
		}
		for _, name := range tests.FindAllString(p.script, -1) {
			if !bytes.Contains(functions, []byte("func "+name)) {
				t.Errorf("%s runs %s, which does not exist", p.name, name)
			}
		}
	}
}

// TestNamedProofs checks that the documentation names only proofs that exist.
func TestNamedProofs(t *testing.T) {
	t.Parallel()
	root, err := project.Root()
	if err != nil {
		t.Fatal(err)
	}
	var list strings.Builder
	if err := run(t.Context(), nil, &list); err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(pages) < 10 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, page := range append(pages, filepath.Join(root, "README.md"), filepath.Join(root, ".github/CONTRIBUTING.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range named.FindAllStringSubmatch(string(text), -1) {
			if !strings.Contains(list.String(), "  "+name[1]+" ") {
				t.Errorf("%s names the proof %s", page, name[1])
			}
		}
	}
	if err := run(t.Context(), []string{"none"}, &list); err == nil {
		t.Error("an unknown proof is run")
	}
}
