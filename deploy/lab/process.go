package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// Process is a program that runs inside a node.
type Process struct {
	cmd  *exec.Cmd
	log  string // what it writes to stdout; stderr goes to a file of its own beside it
	done chan struct{}
}

// Start runs a program inside a node as ip-netns(8) does, with the lab's resolv.conf, and with no environment but env
// and PATH. Its output goes to two files of the lab's directory.
func (l *Lab) Start(node, name string, env []string, program string, args ...string) (*Process, error) {
	return l.StartIn(nil, node, name, env, program, args...)
}

// StartIn is Start in a group that bounds its memory; nil is none.
func (l *Lab) StartIn(
	g *MemoryGroup, node, name string, env []string, program string, args ...string,
) (*Process, error) {
	path, err := filepath.Abs(program)
	if err != nil {
		return nil, err
	}
	log, err := appendTo(filepath.Join(l.Dir(), name+logSuffix))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	errors, err := appendTo(log.Name() + errorsSuffix)
	if err != nil {
		return nil, err
	}
	defer errors.Close()
	// Its life is the lab's, not a caller's: Kill, Stop and Close end it.
	command := append([]string{"ip", "netns", "exec", l.Namespace(node), path}, args...)
	if g != nil {
		command = g.enter(command)
	}
	cmd := exec.CommandContext(context.Background(), command[0], command[1:]...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, env...)
	cmd.Stdout, cmd.Stderr = log, errors
	// A group of its own: the terminal's interrupt goes to the lab, which ends its programs in order.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p := &Process{cmd: cmd, log: log.Name(), done: make(chan struct{})}
	go func() {
		_ = cmd.Wait()
		close(p.done)
	}()
	l.mu.Lock()
	l.processes = append(l.processes, p)
	l.mu.Unlock()
	return p, nil
}

// The names of what a program writes, behind the program's own.
const (
	logSuffix    = ".log"
	errorsSuffix = ".stderr"
)

func appendTo(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
}

// PID is the program's process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the program has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Log is what the program has written to stdout so far.
func (p *Process) Log() string { return contents(p.log) }

// Errors is what the program has written to stderr so far.
func (p *Process) Errors() string { return contents(p.log + errorsSuffix) }

// Name is the one that Start was given.
func (p *Process) Name() string { return strings.TrimSuffix(filepath.Base(p.log), logSuffix) }

func contents(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(bytes.TrimSpace(text))
}

// Signal sends a signal to the program.
func (p *Process) Signal(s os.Signal) error { return p.cmd.Process.Signal(s) }

// Kill ends the program at once.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// Stop sends SIGTERM to the program, and kills it when ctx ends first.
func (p *Process) Stop(ctx context.Context) error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		p.Kill()
		return fmt.Errorf("the program did not end by itself: %w", ctx.Err())
	}
}

// ExitCode is the program's code, -1 while it runs or when a signal ended it.
func (p *Process) ExitCode() int {
	select {
	case <-p.done:
		return p.cmd.ProcessState.ExitCode()
	default:
		return -1
	}
}
