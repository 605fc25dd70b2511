// Command corpus keeps the inputs that a fuzz run found and that are worth it: of those in Go's cache the smallest that
// reach statements which the target's own seeds do not, up to a few KiB a target. They become seeds, in testdata/fuzz.
//
//	go run ./cmd/corpus ../../gateway/internal/analyze/robotstxt …
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Bounds of what is kept for one target.
const (
	maxFile = 1 << 10
	maxKept = 4 << 10
)

func main() {
	for _, folder := range os.Args[1:] {
		if err := keep(context.Background(), folder); err != nil {
			fmt.Fprintln(os.Stderr, "corpus:", err)
			os.Exit(1)
		}
	}
}

// keep goes through the targets of one package.
func keep(ctx context.Context, folder string) error {
	path, err := goTool(ctx, folder, "list", ".")
	if err != nil {
		return err
	}
	cache, err := goTool(ctx, folder, "env", "GOCACHE")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "corpus-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "test")
	if _, err := goTool(ctx, folder, "test", "-c", "-cover", "-o", binary, "."); err != nil {
		return err
	}
	targets, err := filepath.Glob(filepath.Join(cache, "fuzz", path, "Fuzz*"))
	if err != nil {
		return err
	}
	for _, found := range targets {
		t := target{name: filepath.Base(found), folder: folder, binary: binary, profile: filepath.Join(dir, "profile")}
		if err := t.keep(ctx, found); err != nil {
			return fmt.Errorf("%s %s: %w", path, t.name, err)
		}
	}
	return nil
}

func goTool(ctx context.Context, folder string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = folder
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// target is one fuzz function, built with coverage.
type target struct{ name, folder, binary, profile string }

// keep takes the smallest inputs first.
func (t target) keep(ctx context.Context, found string) error {
	inputs, err := smallest(found)
	if err != nil {
		return err
	}
	reached, err := t.reach(ctx, "^"+t.name+"$")
	if err != nil {
		return err
	}
	seeds := filepath.Join(t.folder, "testdata", "fuzz", t.name)
	kept, size := 0, 0
	for _, input := range inputs {
		text, err := os.ReadFile(input)
		if err != nil {
			return err
		}
		if size+len(text) > maxKept {
			break
		}
		seed := filepath.Join(seeds, filepath.Base(input))
		if _, err := os.Stat(seed); err == nil {
			continue
		}
		if err := write(seed, text); err != nil {
			return err
		}
		more, err := t.reach(ctx, "^"+t.name+"$/^"+filepath.Base(input)+"$")
		if err != nil {
			return err
		}
		if !adds(reached, more) {
			if err := os.Remove(seed); err != nil {
				return err
			}
			continue
		}
		kept, size = kept+1, size+len(text)
	}
	_ = os.Remove(seeds) // where it is empty
	fmt.Printf("%-24s %d of %d kept, %d bytes\n", t.name, kept, len(inputs), size)
	return nil
}

func write(name string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o644)
}

// smallest are the files of a folder that are small enough, by size.
func smallest(folder string) (names []string, err error) {
	files, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	sizes := map[string]int64{}
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			return nil, err
		}
		if name := filepath.Join(folder, f.Name()); info.Size() <= maxFile {
			sizes[name] = info.Size()
			names = append(names, name)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return int(sizes[a] - sizes[b]) })
	return names, nil
}

var reachedBlock = regexp.MustCompile(`(?m)^(\S+:\S+) \d+ [1-9]\d*$`)

// reach are the statements that a run of the tests that the pattern names gets to.
func (t target) reach(ctx context.Context, pattern string) (map[string]bool, error) {
	cmd := exec.CommandContext(ctx, t.binary, "-test.run", pattern, "-test.coverprofile", t.profile)
	cmd.Dir = t.folder
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, bytes.TrimSpace(out))
	}
	text, err := os.ReadFile(t.profile)
	if err != nil {
		return nil, err
	}
	blocks := map[string]bool{}
	for _, m := range reachedBlock.FindAllSubmatch(text, -1) {
		blocks[string(m[1])] = true
	}
	return blocks, nil
}

// adds takes what is new of more into all, and reports whether anything was.
func adds(all, more map[string]bool) bool {
	before := len(all)
	for block := range more {
		all[block] = true
	}
	return len(all) > before
}
