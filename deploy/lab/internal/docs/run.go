package docs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Pages returns the commands of all pages for operators: README.md and docs/*.md below root.
func Pages(root string) ([]Block, error) {
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		return nil, err
	}
	var all []Block
	for _, file := range append([]string{filepath.Join(root, "README.md")}, files...) {
		page, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return nil, err
		}
		blocks, err := Read(name, string(page))
		if err != nil {
			return nil, err
		}
		all = append(all, blocks...)
	}
	return all, nil
}

// Script is the commands of one page that one group runs.
type Script struct {
	Name string // the page
	Text string
}

// Scripts gives the pages of a group, in their order. With sections only the commands below these headings.
func Scripts(blocks []Block, group string, sections ...string) []Script {
	var scripts []Script
	for _, b := range blocks {
		if !slices.Contains(b.Groups, group) || len(sections) > 0 && !slices.Contains(sections, b.Section) {
			continue
		}
		if len(scripts) == 0 || scripts[len(scripts)-1].Name != b.File {
			scripts = append(scripts, Script{Name: b.File})
		}
		last := &scripts[len(scripts)-1]
		// The last of these lines in the output shows which fence failed.
		last.Text += fmt.Sprintf("echo '== %s' >&2\n%s", b.Where(), b.Text)
	}
	return scripts
}

// Place is where scripts run.
type Place struct {
	Dir string
	Env []string
	// Before is put before each script: what stands for programs that this machine has under other names.
	Before string
	// Instead are pairs of old and new texts: the addresses of the pages, and those of the place.
	Instead *strings.Replacer
	// Into is put before the shell, to run it somewhere else; empty is here.
	Into []string
}

// PlaceOfCompose is a folder of the project that runs under compose. The tests are run by root.
func PlaceOfCompose(ctx context.Context, dir string) Place {
	p := Place{Dir: dir, Before: "sudo() { \"$@\"; }\n"}
	if exec.CommandContext(ctx, "docker", "compose", "version").Run() != nil {
		// docker-compose stands for Compose v2 where this machine has it alone.
		p.Before += `docker() { case ${1-} in compose) shift; docker-compose "$@" ;; *) command docker "$@" ;; esac; }` + "\n"
	}
	return p
}

// scriptTime is more than any page takes.
const scriptTime = 5 * time.Minute

// Run runs a script as an operator would, but that the first command that fails ends it, and gives what it wrote. The
// error has the end of that.
func (p Place) Run(ctx context.Context, s Script) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, scriptTime)
	defer cancel()
	text := p.Before + s.Text
	if p.Instead != nil {
		text = p.Instead.Replace(text)
	}
	command := append(slices.Clone(p.Into), "bash", "-euo", "pipefail", "-c", text)
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	// curl connects directly, whatever proxy this machine has for its way out.
	cmd.Dir, cmd.Env = p.Dir, append(append(os.Environ(), "no_proxy=*", "NO_PROXY=*"), p.Env...)
	// What it started in the background goes with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		const most = 4 << 10
		return string(out), fmt.Errorf("%s: %w\n%s", s.Name, err, out[max(0, len(out)-most):])
	}
	return string(out), nil
}
