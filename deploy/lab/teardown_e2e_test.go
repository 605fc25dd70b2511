//go:build e2e

package lab_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"diagnostics/lab"
	"diagnostics/shared/waittest"
)

// machine is everything of this machine that the lab of an id could leave behind, by kind: what bears its id, and the
// whole of the machine's own network. Other labs may come and go meanwhile.
func machine(t *testing.T, id string) map[string][]string {
	t.Helper()
	state := map[string][]string{}
	for kind, dir := range map[string]string{"namespace": "/run/netns", "etc": "/etc/netns",
		"registry": "/run/diagnostics-lab"} {
		entries, err := os.ReadDir(dir)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		for _, e := range entries {
			if strings.Contains(e.Name(), id) {
				state[kind] = append(state[kind], e.Name())
			}
		}
	}
	for kind, command := range map[string][]string{
		"link": {"ip", "-brief", "link"},
		"nft":  {"nft", "list", "ruleset"},
		"rule": {"ip", "rule"},
	} {
		out, err := exec.Command(command[0], command[1:]...).Output()
		if err != nil {
			t.Fatal(err)
		}
		state[kind] = strings.Split(strings.TrimSpace(string(out)), "\n")
	}
	return state
}

// labProcesses are the processes that belong to a lab: its watchdogs, its commands, and all that runs in its
// namespaces.
func labProcesses(t *testing.T, id string) (found []string) {
	t.Helper()
	entries, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range entries {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		words := strings.Split(strings.TrimRight(string(text), "\x00"), "\x00")
		if slices.Contains(words, id) || strings.Contains(string(text), "lab-"+id) {
			found = append(found, path+" "+strings.Join(words, " "))
		}
	}
	return found
}

func difference(before, after map[string][]string) (left []string) {
	for kind, entries := range after {
		for _, e := range entries {
			if !slices.Contains(before[kind], e) {
				left = append(left, kind+" "+e)
			}
		}
	}
	return left
}

// gone waits until nothing of a lab is left.
func gone(t *testing.T, id string, before map[string][]string) {
	t.Helper()
	var left []string
	if !waittest.Within(time.Minute, func() bool { // a busy machine deletes namespaces slowly
		left = append(difference(before, machine(t, id)), labProcesses(t, id)...)
		return len(left) == 0
	}) {
		t.Errorf("left behind: %q", left)
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	const id = "c105ed"
	before := machine(t, id)
	l, err := lab.Build(t.Context(), lab.Options{ID: id})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Start(lab.ServiceHost, "sleeper", nil, "/bin/sleep", "600"); err != nil {
		t.Fatal(err)
	}
	standing := difference(before, machine(t, id))
	if len(standing) < 20 {
		t.Errorf("a standing lab shows only as %q: the comparison would not see what is left of it", standing)
	}
	// Nothing of it is outside its namespaces, so nothing can lead out of them.
	for _, thing := range standing {
		if kind, _, _ := strings.Cut(thing, " "); kind == "link" || kind == "nft" || kind == "rule" {
			t.Errorf("a standing lab changes the machine's own network: %s", thing)
		}
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if left := append(difference(before, machine(t, id)), labProcesses(t, id)...); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// command is cmd/lab, built once.
func command(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lab")
	if out, err := exec.Command("go", "build", "-o", path, "./cmd/lab").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// start runs `lab up` in a process of its own.
func start(t *testing.T, program, id string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(program, "up", "-id", id)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

func killAndReap(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	// The error is the kill itself.
	_ = cmd.Wait()
}

// A lab killed without warning, at any moment of its building, leaves nothing.
func TestKilledMidwayLeavesNothing(t *testing.T) {
	program := command(t)
	deepest := 0
	for i, after := range []int{5, 15, 30, 45, 60, 80, 100, 130, 160, 200, 250, 300, 500} {
		id := fmt.Sprintf("dead%02x", i)
		before := machine(t, id)
		cmd := start(t, program, id)
		time.Sleep(time.Duration(after) * time.Millisecond) // what is tested: any moment of the building
		deepest = max(deepest, len(difference(before, machine(t, id))))
		killAndReap(t, cmd)
		gone(t, id, before)
	}
	if deepest < 20 {
		t.Errorf("at most %d things stood when the lab was killed: the test killed too early to prove anything", deepest)
	}
}

func standing(t *testing.T, program, id string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(program, "up", "-id", id)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.Contains(line, "stands") {
		t.Fatalf("lab up says %q, %v", line, err)
	}
	return cmd
}

func TestKilledWithProgramsInsideLeavesNothing(t *testing.T) {
	program := command(t)
	const id = "dead1f"
	before := machine(t, id)
	cmd := standing(t, program, id)
	inside := exec.Command("ip", "netns", "exec", "lab-"+id+"-svc", "sleep", "600")
	if err := inside.Start(); err != nil {
		t.Fatal(err)
	}
	killAndReap(t, cmd)
	if err := inside.Wait(); err == nil {
		t.Error("the program inside ended by itself")
	}
	gone(t, id, before)
}

// Where the watchdog was killed as well, the next start takes the dead lab away, and leaves the living alone.
func TestNextStartSweeps(t *testing.T) {
	program := command(t)
	const id = "dead2f"
	before := machine(t, id)
	cmd := standing(t, program, id)
	var children []byte
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range tasks {
		more, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		children = append(children, more...)
	}
	if len(strings.Fields(string(children))) == 0 {
		t.Fatal("the lab has no watchdog")
	}
	for _, child := range strings.Fields(string(children)) {
		pid, err := strconv.Atoi(child)
		if err != nil {
			t.Fatal(err)
		}
		p, err := os.FindProcess(pid)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	killAndReap(t, cmd)
	time.Sleep(200 * time.Millisecond) // a watchdog that is alive would act within this
	if left := difference(before, machine(t, id)); len(left) < 20 {
		t.Fatalf("something other than the watchdog took the lab away: %q is left", left)
	}
	if err := lab.Sweep(); err != nil {
		t.Fatal(err)
	}
	gone(t, id, before)
	if _, err := shared.Exec(t.Context(), lab.ServiceHost, "ip", "link"); err != nil {
		t.Errorf("the living lab was taken away too: %v", err)
	}
}
