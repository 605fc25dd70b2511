//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"diagnostics/lab"

	"golang.org/x/sys/unix"
)

// manyLines is more than a pipe holds of our lines.
const manyLines = 600

// A log that nobody reads, or a disk that is full, holds up no request and no end, of gateway or worker.
func TestLogsThatNobodyTakes(t *testing.T) {
	t.Parallel()
	for name, place := range map[string]func(t *testing.T, path string){"pipe": unreadPipe, "full-disk": fullDisk} {
		for _, which := range []string{"gateway", "worker"} {
			t.Run(name+" of the "+which, func(t *testing.T) {
				t.Parallel()
				server, private := startWithLog(t, which, name, place)
				began := time.Now()
				for range manyLines {
					if a := fetch(t, server, http.MethodGet, "/readyz", nil, nil); a.Status != 200 {
						t.Fatalf("status %d", a.Status)
					}
				}
				if took := time.Since(began); took > 30*time.Second {
					t.Errorf("%d requests took %v", manyLines, took)
				}
				if dropped := dropped(t, private, "log"); name == "full-disk" && dropped == 0 {
					t.Error("no line was dropped: is the disk full?")
				}
				began = time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
				defer cancel()
				if err := server.Process.Stop(ctx); err != nil {
					t.Error(err)
				}
				if code, took := server.Process.ExitCode(), time.Since(began); code != 0 || took > 3*time.Second {
					t.Errorf("exit status %d after %v", code, took)
				}
			})
		}
	}
}

// startWithLog starts a binary whose stdout is what place has put in the place of its file.
func startWithLog(
	t *testing.T, which, fault string, place func(*testing.T, string),
) (server *lab.Server, private string) {
	t.Helper()
	name := which + "-" + fault
	path := filepath.Join(internet.Dir(), name+".log")
	place(t, path)
	private = freeAddr(t, 9090)
	env := []string{"LOG_LEVEL=debug", "METRICS_LISTEN_ADDR=" + private}
	var err error
	if which == "gateway" {
		server, err = service.StartGateway(t.Context(), name, env...)
	} else {
		server, err = service.StartExtraWorker(t.Context(), name, env...)
	}
	if err != nil {
		t.Fatal(err)
	}
	// The lab reads all logs at its end: this one is a file again by then.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return server, private
}

// unreadPipe is a pipe that somebody has open, and does not read.
func unreadPipe(t *testing.T, path string) {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { reader.Close() })
}

func fullDisk(t *testing.T, path string) {
	t.Helper()
	if err := os.Symlink("/dev/full", path); err != nil {
		t.Fatal(err)
	}
}

// dropped is how many lines of its log, or its audit log, a service has dropped, by its private listener.
func dropped(t *testing.T, private, of string) float64 {
	t.Helper()
	m, err := internet.Metrics(t.Context(), private)
	if err != nil {
		t.Fatal(err)
	}
	return m["diagnostics_dropped_"+of+"_lines_total"]
}

// A disk that is full costs lines of the audit log, which are counted, and no run; once there is room the lines that
// come are written, and none is torn.
func TestAuditLogOnAFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=16k"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	path := filepath.Join(dir, "audit.log")
	private := freeAddr(t, 9090)
	gateway, err := service.StartGateway(t.Context(), "gateway-audit-full", append(slices.Clone(unlimited),
		"AUDIT_LOG_FILE="+path, "METRICS_LISTEN_ADDR="+private)...)
	if err != nil {
		t.Fatal(err)
	}
	ask := func() (requestID string) {
		t.Helper()
		a := post(t, gateway, "dns-lookup", map[string]any{"input": "lab-dns.com"}, nil)
		if a.Status != 200 {
			t.Fatalf("status %d: %s", a.Status, a.Error)
		}
		return a.Header.Get("X-Request-Id")
	}
	for range 200 {
		ask()
	}
	if n := dropped(t, private, "audit"); n == 0 {
		t.Error("no line was dropped: is the disk full?")
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT, "size=1m"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(1200 * time.Millisecond) // the pause after a write that failed
	before := dropped(t, private, "audit")
	var later []string
	for range 20 {
		later = append(later, ask())
	}
	if after := dropped(t, private, "audit"); after != before {
		t.Errorf("%v lines were dropped though there is room", after-before)
	}
	if err := gateway.Process.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if before == 200 {
		t.Error("nothing was written at all")
	}
	holdWholeLines(t, path)
	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range later {
		if !bytes.Contains(written, []byte(id)) {
			t.Errorf("no line of request %s, for which there was room", id)
		}
	}
}
