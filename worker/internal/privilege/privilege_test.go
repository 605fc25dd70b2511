package privilege

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// Dropped privileges cannot be regained, so each case runs in a process of its own: this test binary, with the user in
// its environment. It prints the privileges that each of its threads has left.
const (
	roleVariable = "PRIVILEGE_TEST_IDENTITY"
	threads      = 8
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		os.Exit(child(role))
	}
	goleak.VerifyTestMain(m)
}

func child(role string) int {
	var to Identity
	if _, err := fmt.Sscanf(role, "%d:%d", &to.UID, &to.GID); err != nil {
		return 2
	}
	// More than one thread, or dropping on one of them would look like dropping on all.
	var started, done sync.WaitGroup
	release := make(chan struct{})
	for range threads {
		started.Add(1)
		done.Go(func() { holdThread(&started, release) })
	}
	started.Wait()
	err := Drop(to)
	close(release)
	done.Wait()
	if errors.Is(err, ErrIdentity) {
		fmt.Println("refused")
		return 0
	}
	if err != nil {
		fmt.Println(err)
		return 2
	}
	statuses, _ := filepath.Glob("/proc/self/task/*/status")
	for _, status := range statuses {
		printStatus(status)
	}
	if c, err := net.ListenPacket("ip4:icmp", "127.0.0.1"); err == nil {
		c.Close()
		fmt.Println("a new raw socket is granted")
	}
	return 0
}

// holdThread keeps a thread to itself until it is released, and beyond: the thread ends with its goroutine otherwise.
func holdThread(started *sync.WaitGroup, release <-chan struct{}) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	started.Done()
	<-release
}

func printStatus(path string) {
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ":")
		switch name {
		case "CapEff", "CapPrm", "CapInh", "CapAmb", "NoNewPrivs", "Uid", "Gid", "Groups":
			fmt.Println(name, strings.Join(strings.Fields(value), " "))
		}
	}
}

func runChild(t *testing.T, to Identity) map[string]map[string]int {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), self)
	command.Env = append(os.Environ(), fmt.Sprintf("%s=%d:%d", roleVariable, to.UID, to.GID))
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	seen := map[string]map[string]int{}
	for line := range strings.Lines(string(out)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if seen[name] == nil {
			seen[name] = map[string]int{}
		}
		seen[name][value]++
	}
	return seen
}

// only checks that every thread has the one value.
func only(t *testing.T, seen map[string]map[string]int, name, value string) {
	t.Helper()
	if len(seen[name]) != 1 || seen[name][value] <= threads/2 {
		t.Errorf("%s of the threads: %v, want %q for all", name, seen[name], value)
	}
}

const none = "0000000000000000"

func TestDropKeepsTheUserAndNoCapability(t *testing.T) {
	t.Parallel()
	seen := runChild(t, Identity{})
	for _, set := range []string{"CapEff", "CapPrm", "CapInh", "CapAmb"} {
		only(t, seen, set, none)
	}
	only(t, seen, "NoNewPrivs", "1")
	uid := strconv.Itoa(os.Getuid())
	only(t, seen, "Uid", strings.Join([]string{uid, uid, uid, uid}, " "))
	if seen["a"] != nil {
		t.Error("a new raw socket is granted")
	}
}

// Started as root the process becomes the given user; otherwise it fails with an error.
func TestDropBecomes(t *testing.T) {
	t.Parallel()
	seen := runChild(t, Identity{UID: 64999, GID: 64998})
	if os.Getuid() != 0 {
		if seen["refused"] == nil {
			t.Errorf("without the right: %v", seen)
		}
		return
	}
	only(t, seen, "Uid", "64999 64999 64999 64999")
	only(t, seen, "Gid", "64998 64998 64998 64998")
	only(t, seen, "Groups", "")
	for _, set := range []string{"CapEff", "CapPrm", "CapInh", "CapAmb"} {
		only(t, seen, set, none)
	}
	only(t, seen, "NoNewPrivs", "1")
	if seen["a"] != nil {
		t.Error("a new raw socket is granted")
	}
}

func TestDropOfTheUserAloneDropsTheGroups(t *testing.T) {
	t.Parallel()
	if seen := runChild(t, Identity{UID: 64999}); os.Getuid() == 0 {
		only(t, seen, "Uid", "64999 64999 64999 64999")
		only(t, seen, "Groups", "")
	} else if seen["refused"] == nil {
		t.Errorf("without the right: %v", seen)
	}
}
