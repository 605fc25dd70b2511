package lab

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"diagnostics/lab/internal/netns"
)

// A lab is registered as a directory with a lock that its process holds: the lock goes when the process does, however
// it does, and a lab whose lock can be taken is dead. Three things take a lab away, all by the one
// script: Close; a watchdog child that notices the death of its parent by the end of a pipe; and the next Build, for
// the case that the watchdog died too.
const registry = "/run/diagnostics-lab"

//go:embed teardown.sh
var teardownScript string

var namespaceName = regexp.MustCompile(`^lab-([0-9a-f]{6})-`)

// registration is the lab's directory, held by its lock, and the watchdog that takes it away.
type registration struct {
	id    string
	dir   string
	lock  *os.File
	guard *watchdog
}

func register(id string) (*registration, error) {
	release, err := lockRegistry()
	if err != nil {
		return nil, err
	}
	defer release()
	if err := sweep(); err != nil {
		return nil, err
	}
	if alive(id) {
		return nil, fmt.Errorf("lab %s runs already", id)
	}
	// The watchdog is there before anything that it would have to take away.
	guard, err := startWatchdog(id)
	if err != nil {
		return nil, fmt.Errorf("start the watchdog: %w", err)
	}
	dir := filepath.Join(registry, id)
	lock, err := makeDir(dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir), guard.dismiss())
	}
	return &registration{id: id, dir: dir, lock: lock, guard: guard}, nil
}

func (r *registration) end() error {
	return errors.Join(teardown(r.id), r.lock.Close(), r.guard.dismiss())
}

// Sweep takes away what dead labs left, and says how many there were. Living ones are not touched.
func Sweep() error {
	release, err := lockRegistry()
	if err != nil {
		return err
	}
	defer release()
	return sweep()
}

// Running are the processes of the living labs, by id.
func Running() (map[string]int, error) {
	ids, err := knownIDs()
	if err != nil {
		return nil, err
	}
	running := map[string]int{}
	for id := range ids {
		text, err := os.ReadFile(filepath.Join(registry, id, "lock"))
		if err != nil || !alive(id) {
			continue
		}
		if pid, err := strconv.Atoi(string(text)); err == nil {
			running[id] = pid
		}
	}
	return running, nil
}

func sweep() error {
	ids, err := knownIDs()
	if err != nil {
		return err
	}
	for id := range ids {
		if alive(id) {
			continue
		}
		if err := teardown(id); err != nil {
			return err
		}
	}
	return nil
}

// knownIDs are the ids of every lab that has left any mark.
func knownIDs() (map[string]bool, error) {
	ids := map[string]bool{}
	for _, dir := range []string{netns.Dir, "/etc/netns"} {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			if m := namespaceName.FindStringSubmatch(e.Name()); m != nil {
				ids[m[1]] = true
			}
		}
	}
	entries, err := os.ReadDir(registry)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if e.IsDir() {
			ids[e.Name()] = true
		}
	}
	return ids, nil
}

func alive(id string) bool {
	path := filepath.Join(registry, id, "lock")
	if _, err := os.Stat(path); err != nil {
		return false
	}
	lock, err := lockFile(path, unix.LOCK_EX|unix.LOCK_NB)
	if err != nil {
		return true
	}
	lock.Close()
	return false
}

// lockRegistry keeps labs from starting and sweeping at once. It locks a directory that is always there, so that the
// lock itself leaves nothing behind.
func lockRegistry() (release func(), err error) {
	dir, err := os.Open("/run")
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(dir.Fd()), unix.LOCK_EX); err != nil {
		dir.Close()
		return nil, fmt.Errorf("lock /run: %w", err)
	}
	return func() { dir.Close() }, nil
}

// makeDir makes a lab's directory, with a lock in it that bears this process's number.
func makeDir(dir string) (*os.File, error) {
	var err error
	// The script of another lab may remove the empty registry between the two steps.
	for range 10 {
		if err = os.MkdirAll(registry, 0o755); err != nil {
			return nil, err
		}
		if err = os.Mkdir(dir, 0o755); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	lock, err := lockFile(filepath.Join(dir, "lock"), unix.LOCK_EX|unix.LOCK_NB)
	if err != nil {
		return nil, err
	}
	if _, err := lock.WriteString(strconv.Itoa(os.Getpid())); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

func lockFile(path string, how int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), how); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return f, nil
}

func teardown(id string) error {
	// Nothing interrupts this: a lab that is half taken away is what it is there to prevent.
	out, err := exec.CommandContext(context.Background(), "sh", "-c", teardownScript, "lab-teardown", id,
		strconv.Itoa(os.Getpid())).CombinedOutput()
	if err != nil {
		return fmt.Errorf("take lab %s away: %w: %s", id, err, out)
	}
	return nil
}

// watchdog is a shell that waits for a line, which Close sends, or for the end of the pipe, which is this process's
// death.
type watchdog struct {
	cmd  *exec.Cmd
	pipe io.WriteCloser
}

func startWatchdog(id string) (*watchdog, error) {
	cmd := exec.CommandContext(context.Background(), "sh", "-c", "read -r done && exit 0\n"+teardownScript,
		"lab-watchdog", id, "0")
	// A session of its own: neither the terminal's interrupt nor its hang-up reaches it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	return &watchdog{cmd: cmd, pipe: pipe}, cmd.Start()
}

func (w *watchdog) dismiss() error {
	_, err := io.WriteString(w.pipe, "done\n")
	return errors.Join(err, w.pipe.Close(), w.cmd.Wait())
}
