package audit

import (
	"bytes"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestLine(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 1, 13, 0, 0, 7_000_000, time.FixedZone("", 3600))
	got := string(Run{Time: at, Client: "192.0.2.1", Tool: "uptime", Host: "example.com", RequestID: "id"}.Line())
	if want := `{"time":"2026-05-01T12:00:00.007Z","client":"192.0.2.1","tool":"uptime","host":"example.com","requestId":"id"}` +
		"\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := string(Run{Tool: "my-ip"}.Line()); !strings.Contains(got, `"host":""`) {
		t.Errorf("%s", got)
	}
}

// opened is a file in a folder of the test's own, with its log.
func opened(t *testing.T, path string) (*File, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	f, err := Open(path, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f, &log
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func put(t *testing.T, f *File, text string) {
	t.Helper()
	if n, err := f.Write([]byte(text)); err != nil || n != len(text) {
		t.Fatalf("%d, %v", n, err)
	}
}

// What was there stays, with a mode of its owner's alone and a last line that is whole.
func TestAFileThatIsThere(t *testing.T) {
	t.Parallel()
	for before, want := range map[string]string{"": "new\n", "old\n": "old\nnew\n", "half a li": "half a li\nnew\n"} {
		path := filepath.Join(t.TempDir(), "audit.log")
		if err := os.WriteFile(path, []byte(before), 0o644); err != nil {
			t.Fatal(err)
		}
		f, _ := opened(t, path)
		put(t, f, "new\n")
		info, err := os.Stat(path)
		if err != nil || info.Mode() != 0o600 || read(t, path) != want {
			t.Errorf("%q: %v, mode %v, %q", before, err, info.Mode(), read(t, path))
		}
	}
}

func TestANewFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "audit.log")
	f, _ := opened(t, path)
	put(t, f, "one\n")
	f.Close()
	f, _ = opened(t, path)
	put(t, f, "two\n")
	info, err := os.Stat(path)
	entries, _ := os.ReadDir(dir)
	if err != nil || info.Mode() != 0o600 || read(t, path) != "one\ntwo\n" || len(entries) != 1 {
		t.Errorf("%v, mode %v, %q, %v", err, info.Mode(), read(t, path), entries)
	}
}

func TestWhatIsNoFileIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := os.Mkdir(in("dir"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in("target"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(in("target"), in("link")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(in("fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{
		in("dir"): errRegular, in("link"): errLink, in("fifo"): errRegular, "/dev/null": errRegular,
		in("none/audit.log"): syscall.ENOENT, in("target/audit.log"): syscall.ENOTDIR, in("dir") + "/": errRegular,
	} {
		f, err := Open(path, slog.New(slog.DiscardHandler))
		if err != want || f != nil { //nolint:errorlint // it must not be wrapped in one with the path
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
	if info, err := os.Stat(in("target")); err != nil || info.Mode() != 0o644 {
		t.Errorf("the link's target was touched: %v", info.Mode())
	}
}

// A file is full on the byte; then it becomes .1, and the oldest goes.
func TestRotation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "audit.log")
	f, _ := opened(t, path)
	f.max = 20
	for n := range 2 * (kept + 3) {
		put(t, f, fmt.Sprintf("line %04d\n", n)) // ten bytes
	}
	for n := range kept + 1 {
		name := path
		if n > 0 {
			name = f.old(n)
		}
		last := 2*(kept+3) - 2*n
		if want := fmt.Sprintf("line %04d\nline %04d\n", last-2, last-1); read(t, name) != want {
			t.Errorf("%s: %q, want %q", name, read(t, name), want)
		}
		if info, err := os.Stat(name); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: mode %v", name, info.Mode())
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != kept+1 {
		t.Errorf("%d files: %v", len(entries), entries)
	}
	put(t, f, strings.Repeat("x", 30)+"\n")
	put(t, f, "next\n")
	if read(t, f.old(1)) != strings.Repeat("x", 30)+"\n" || read(t, path) != "next\n" {
		t.Error("a line longer than a file has no file of its own")
	}
}

// A disk that is full is told of once, without the content, and again after it was well.
func TestAFullDisk(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	f, log := opened(t, path)
	put(t, f, "one\n")
	disk := f.file
	for round := range 2 {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Skip(err)
		}
		f.file = full
		for range 3 {
			if n, err := f.Write([]byte("secret.example\n")); n != 0 || err == nil {
				t.Errorf("%d, %v", n, err)
			}
		}
		full.Close()
		f.file = disk
		put(t, f, "well\n")
		if n := strings.Count(log.String(), "level=WARN"); n != round+1 {
			t.Errorf("%d warnings", n)
		}
	}
	if !strings.Contains(log.String(), "no space left on device") || strings.Contains(log.String(), "secret") {
		t.Errorf("log %s", log)
	}
	if read(t, path) != "one\nwell\nwell\n" {
		t.Errorf("%q", read(t, path))
	}
}

// A rotation that fails loses nothing that was there, and is tried again.
func TestARotationThatFails(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	f, _ := opened(t, path)
	f.max = 5
	put(t, f, "one\n")
	// A folder in the way of the first rename.
	if err := os.MkdirAll(filepath.Join(f.old(0), "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := f.Write([]byte("two\n")); err == nil {
			t.Fatal("it rotates")
		}
	}
	if read(t, path) != "one\n" {
		t.Errorf("%q", read(t, path))
	}
	if err := os.RemoveAll(f.old(0)); err != nil {
		t.Fatal(err)
	}
	put(t, f, "three\n")
	if _, err := os.Stat(f.old(2)); !os.IsNotExist(err) || read(t, f.old(1)) != "one\n" || read(t, path) != "three\n" {
		t.Errorf("%q, %q, %v", read(t, f.old(1)), read(t, path), fs.ErrNotExist)
	}
}
