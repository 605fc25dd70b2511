package lab

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ErrNoMemoryGroups means that memory cannot be bounded here: neither version of control groups is writable.
var ErrNoMemoryGroups = errors.New("no control group for memory can be made here (neither v1 nor v2)")

// MemoryGroup is a control group that bounds the memory of what runs in it, the kernel's for its sockets included.
type MemoryGroup struct {
	dir     string
	unified bool // version 2
}

const (
	unifiedGroups = "/sys/fs/cgroup"
	memoryGroups  = "/sys/fs/cgroup/memory"
)

// NewMemoryGroup makes one below the root of the hierarchy; the lab takes it away.
func (l *Lab) NewMemoryGroup(name string, limit int64) (*MemoryGroup, error) {
	name = "lab-" + l.id + "-" + name
	g := &MemoryGroup{dir: filepath.Join(memoryGroups, name)}
	if controllers, err := os.ReadFile(filepath.Join(unifiedGroups, "cgroup.controllers")); err == nil {
		g = &MemoryGroup{dir: filepath.Join(unifiedGroups, name), unified: true}
		if !strings.Contains(string(controllers), "memory") {
			return nil, ErrNoMemoryGroups
		}
		if err := os.WriteFile(filepath.Join(unifiedGroups, "cgroup.subtree_control"), []byte("+memory"), 0); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNoMemoryGroups, err)
		}
	}
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoMemoryGroups, err)
	}
	l.onClose(g.remove)
	for _, file := range g.files("memory.max", "memory.limit_in_bytes", "memory.kmem.tcp.limit_in_bytes") {
		if err := os.WriteFile(filepath.Join(g.dir, file), []byte(strconv.FormatInt(limit, 10)), 0); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNoMemoryGroups, err)
		}
	}
	return g, nil
}

// files are those of the group's version that exist here: a kernel without version 1's count of socket memory has not
// its file.
func (g *MemoryGroup) files(unified string, others ...string) (there []string) {
	if g.unified {
		others = []string{unified}
	}
	for _, file := range others {
		if _, err := os.Stat(filepath.Join(g.dir, file)); err == nil {
			there = append(there, file)
		}
	}
	return there
}

// Usage is what all of the group holds, in bytes: pages, and memory of the kernel.
func (g *MemoryGroup) Usage() (sum int64, err error) {
	for _, file := range g.files("memory.current", "memory.usage_in_bytes", "memory.kmem.tcp.usage_in_bytes") {
		text, err := os.ReadFile(filepath.Join(g.dir, file))
		if err != nil {
			return 0, err
		}
		n, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", file, err)
		}
		sum += n
	}
	return sum, nil
}

// Killed returns how often the kernel ended a program for its memory.
func (g *MemoryGroup) Killed() (int, error) {
	file := "memory.oom_control"
	if g.unified {
		file = "memory.events"
	}
	text, err := os.ReadFile(filepath.Join(g.dir, file))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if count, ok := strings.CutPrefix(line, "oom_kill "); ok {
			return strconv.Atoi(strings.TrimSpace(count))
		}
	}
	return 0, fmt.Errorf("%s does not count oom_kill: %q", file, text)
}

// remove takes the group away, once its last program has ended.
func (g *MemoryGroup) remove() error {
	text, err := os.ReadFile(filepath.Join(g.dir, "cgroup.procs"))
	if err != nil {
		return err
	}
	for _, field := range strings.Fields(string(text)) {
		if pid, err := strconv.Atoi(field); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	// A killed program leaves its group a moment later.
	for range 100 {
		if err = os.Remove(g.dir); err == nil {
			return nil
		}
		time.Sleep(20 * time.Millisecond) // polls: the kernel announces no end of a group
	}
	return err
}

// enter is a command that goes into the group and then becomes another.
func (g *MemoryGroup) enter(command []string) []string {
	return append([]string{"sh", "-c", `echo $$ >"$0" && exec "$@"`, filepath.Join(g.dir, "cgroup.procs")}, command...)
}
