package main

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/privilege"

	"go.uber.org/goleak"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// The worker drops its privileges for good, so tests start it as a process of its own: this test binary, which an
// environment variable turns into the worker.
const (
	roleVariable  = "WORKER_TEST_ROLE"
	asWorker      = "worker"
	withoutRights = "worker without rights"
)

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case withoutRights:
		if err := privilege.Drop(privilege.Identity{}); err != nil {
			panic(err)
		}
		if err := refuseICMP(); err != nil {
			panic(err)
		}
		main()
	case asWorker:
		main()
	default:
		goleak.VerifyTestMain(m)
	}
}

// refuseICMP makes the kernel refuse ICMP sockets to every thread of the process, as a system does whose
// net.ipv4.ping_group_range leaves the group out: many machines let everybody in.
func refuseICMP() error {
	const (
		number   = 0           // of the system call, in struct seccomp_data
		protocol = 16 + 2*8    // its third argument
		allow    = 0x7fff_0000 // SECCOMP_RET_ALLOW
		fail     = 0x0005_0000 // SECCOMP_RET_ERRNO
	)
	raw, err := bpf.Assemble([]bpf.Instruction{
		bpf.LoadAbsolute{Off: number, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.SYS_SOCKET, SkipTrue: 3},
		bpf.LoadAbsolute{Off: protocol, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.IPPROTO_ICMP, SkipTrue: 2},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.IPPROTO_ICMPV6, SkipTrue: 1},
		bpf.RetConstant{Val: allow},
		bpf.RetConstant{Val: fail | uint32(unix.EACCES)},
	})
	if err != nil {
		return err
	}
	filter := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		filter[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, failed := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&program)))
	if failed != 0 {
		return failed
	}
	return nil
}

// outcome is how a worker ended.
type outcome struct {
	status         int
	stdout, stderr string
}

// workerCommand makes a worker that has only the given environment.
func workerCommand(t *testing.T, role string, env []string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	c := exec.CommandContext(ctx, self, args...)
	c.Env = append([]string{roleVariable + "=" + role}, env...)
	return c
}

func runWorker(t *testing.T, role string, env []string, args ...string) outcome {
	t.Helper()
	c := workerCommand(t, role, env, args...)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{c.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// isOneLine reports whether an error is one readable line.
func isOneLine(s string) bool {
	return strings.HasPrefix(s, "worker: ") && strings.Count(s, "\n") == 1
}

var tokenSet = "DIAGNOSTICS_WORKER_TOKEN=" + someToken

func TestItDoesNotStart(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { taken.Close() })
	for _, tt := range []struct {
		name   string
		env    []string
		args   []string
		status int
		says   []string
	}{
		{"without a token", nil, nil, exitFailure, []string{"DIAGNOSTICS_WORKER_TOKEN", "16"}},
		{"with a short token", []string{"DIAGNOSTICS_WORKER_TOKEN=secret-secret-1"}, nil, exitFailure, []string{"DIAGNOSTICS_WORKER_TOKEN", "16"}},
		{"with a malformed setting", []string{tokenSet, "WORKER_MAX_CONCURRENT=secret"}, nil, exitFailure, []string{"WORKER_MAX_CONCURRENT", "whole number"}},
		{"on a taken port", []string{tokenSet, "WORKER_LISTEN_ADDR=" + taken.Addr().String()}, nil, exitFailure, []string{"WORKER_LISTEN_ADDR", "already in use"}},
		{"with a taken port for metrics", []string{tokenSet, "WORKER_LISTEN_ADDR=127.0.0.1:0", "METRICS_LISTEN_ADDR=" + taken.Addr().String()}, nil,
			exitFailure, []string{"METRICS_LISTEN_ADDR", "already in use"}},
		{"without the right to sockets", []string{tokenSet, "WORKER_LISTEN_ADDR=127.0.0.1:0"}, nil, exitNoRights,
			[]string{"NET_RAW", "setcap cap_net_raw+ep", "cap_add", "AmbientCapabilities=CAP_NET_RAW",
				"net.ipv4.ping_group_range=\"" + strconv.Itoa(os.Getegid())}},
		{"with arguments", []string{tokenSet}, []string{"serve"}, exitFailure, []string{"environment"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := runWorker(t, withoutRights, tt.env, tt.args...)
			if got.status != tt.status || !isOneLine(got.stderr) {
				t.Errorf("status %d, stderr %q", got.status, got.stderr)
			}
			for _, part := range tt.says {
				if !strings.Contains(got.stderr, part) {
					t.Errorf("stderr %q lacks %q", got.stderr, part)
				}
			}
			if strings.Contains(got.stderr+got.stdout, "secret") {
				t.Errorf("a value is printed: %q", got.stderr)
			}
		})
	}
}

func TestHealthcheck(t *testing.T) {
	t.Parallel()
	var status atomic.Int32 // the server answers in goroutines of its own
	status.Store(http.StatusOK)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/healthz" {
			t.Errorf("asks %s", r.URL.Path)
		}
		w.Header().Set(workerapi.HeaderGateways, "2")
		w.WriteHeader(int(status.Load()))
	}))
	address := "WORKER_LISTEN_ADDR=" + s.Listener.Addr().String()
	// A proxy of the environment has no business in between.
	env := []string{tokenSet, address, "HTTP_PROXY=http://127.0.0.1:1", "http_proxy=http://127.0.0.1:1"}
	if got := runWorker(t, withoutRights, env, "-healthcheck"); got.status != 0 {
		t.Errorf("healthy: %+v", got)
	}
	if got := runWorker(t, withoutRights, env, "-gateways"); got.status != 0 || got.stdout != "2\n" {
		t.Errorf("gateways: %+v", got)
	}
	status.Store(http.StatusServiceUnavailable)
	if got := runWorker(t, withoutRights, env, "-healthcheck"); got.status != exitFailure ||
		!strings.Contains(got.stderr, "503") {
		t.Errorf("not healthy: %+v", got)
	}
	s.Close()
	if got := runWorker(t, withoutRights, env, "-healthcheck"); got.status != exitFailure || !isOneLine(got.stderr) {
		t.Errorf("not there: %+v", got)
	}
}
