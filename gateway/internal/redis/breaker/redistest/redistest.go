// Package redistest runs a real redis-server for tests, on loopback and without persistence.
package redistest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"diagnostics/gateway/internal/redis/breaker"

	"github.com/redis/go-redis/v9"
)

// Server is one redis-server process.
type Server struct {
	t      testing.TB
	binary string
	args   []string
	port   int
	cmd    *exec.Cmd
	exited chan struct{}
}

// Start runs a redis-server on a free port of loopback until the test ends. The test is skipped where the machine has
// no redis-server, but never in CI. Arguments are added to the server's command line.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	s := prepare(t)
	s.args = append([]string{"--port", strconv.Itoa(s.port)}, args...)
	s.Restart()
	return s
}

// StartTLS is Start with TLS on the port and none in the clear.
func StartTLS(t testing.TB, certFile, keyFile string) *Server {
	t.Helper()
	s := prepare(t)
	s.args = []string{
		"--port", "0", "--tls-port", strconv.Itoa(s.port), "--tls-auth-clients", "no",
		"--tls-cert-file", certFile, "--tls-key-file", keyFile, "--tls-ca-cert-file", certFile,
	}
	s.Restart()
	return s
}

func prepare(t testing.TB) *Server {
	t.Helper()
	binary, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("redis-server is missing, and CI must not skip this test")
		}
		t.Skip("no redis-server on this machine (Debian: apt-get install redis-server)")
	}
	return &Server{t: t, binary: binary, port: freePort(t)}
}

func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// Addr is the server's host:port.
func (s *Server) Addr() string { return fmt.Sprintf("127.0.0.1:%d", s.port) }

// Options are a client's options for the server, tuned as in production.
func (s *Server) Options() *redis.UniversalOptions {
	o := &redis.UniversalOptions{Addrs: []string{s.Addr()}}
	breaker.Tune(o)
	return o
}

// Client is a tuned client that is closed when the test ends.
func (s *Server) Client() redis.UniversalClient {
	client := redis.NewUniversalClient(s.Options())
	s.t.Cleanup(func() { _ = client.Close() })
	return client
}

// Restart runs the server (again) on its port, empty, and waits until it listens.
func (s *Server) Restart() {
	s.t.Helper()
	args := append([]string{
		"--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--daemonize", "no",
		"--dir", s.t.TempDir(), "--loglevel", "warning",
	}, s.args...)
	cmd := exec.Command(s.binary, args...)
	cmd.SysProcAttr = noOrphan()
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(exited)
	}()
	s.cmd, s.exited = cmd, exited
	s.t.Cleanup(func() { stop(cmd, exited) })
	s.awaitListening()
}

func (s *Server) awaitListening() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp4", s.Addr())
		if err == nil {
			_ = conn.Close()
			return
		}
		select {
		case <-s.exited:
			s.t.Fatalf("redis-server ended at once: %v", s.cmd.ProcessState)
		case <-ctx.Done():
			s.t.Fatalf("redis-server does not listen on %s: %v", s.Addr(), err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Kill ends the server with SIGKILL.
func (s *Server) Kill() { stop(s.cmd, s.exited) }

// Freeze stops the server where it stands, with its connections open; Thaw lets it go on.
func (s *Server) Freeze() { s.signal(syscall.SIGSTOP) }

// Thaw lets a frozen server go on.
func (s *Server) Thaw() { s.signal(syscall.SIGCONT) }

func (s *Server) signal(sig os.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

func stop(cmd *exec.Cmd, exited <-chan struct{}) {
	if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return
	}
	<-exited
}
