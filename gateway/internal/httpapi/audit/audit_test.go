package audit

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"diagnostics/shared/waittest"
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
	f, err := Open(path, "host", slog.New(slog.NewTextHandler(&log, nil)))
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
		f, err := Open(path, "host", slog.New(slog.DiscardHandler))
		if err != want || f != nil { //nolint:errorlint // it must not be wrapped in one with the path
			t.Errorf("%s: %v, want %v", path, err, want)
		}
		if err := Check(path, "host"); !errors.Is(err, want) || strings.Contains(err.Error(), dir) {
			t.Errorf("Check(%s): %v, want %v", path, err, want)
		}
	}
	if info, err := os.Stat(in("target")); err != nil || info.Mode() != 0o644 {
		t.Errorf("the link's target was touched: %v", info.Mode())
	}
}

// A check neither makes the file nor repairs its last line.
func TestCheckChangesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	half := filepath.Join(dir, "half")
	if err := os.WriteFile(half, []byte("half a line"), 0o640); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{half, filepath.Join(dir, "new")} {
		if err := Check(path, "host"); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	info, err := os.Stat(half)
	entries, _ := os.ReadDir(dir)
	if err != nil || info.Mode() != 0o640 || read(t, half) != "half a line" || len(entries) != 1 {
		t.Errorf("%v, mode %v, %v", err, info.Mode(), entries)
	}
}

// A full file is kept beside the new one, and the oldest is removed: one JSON object a line in each, of mode 0600.
func TestRotation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "audit.log")
	f, log := opened(t, path)
	f.file.MaxSize, f.file.MaxBackups = 1, 2
	const each = 1 << 20
	for n := range 5 {
		put(t, f, fmt.Sprint(n)+strings.Repeat("x", each-2)+"\n")
	}
	var all []string
	waittest.Until(t, "lumberjack has removed two files in the background", func() bool {
		all, _ = filepath.Glob(filepath.Join(dir, "audit*"))
		return len(all) == 3
	})
	for _, name := range all {
		info, err := os.Stat(name)
		if err != nil || info.Mode() != 0o600 || info.Size() != each {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if text := read(t, path); text[0] != '4' || log.Len() > 0 {
		t.Errorf("%.9q, %s", text, log)
	}
}

// A write that fails is logged once, without the path, and the next that succeeds ends it.
func TestAFailureIsLoggedOnce(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "folder")
	path := filepath.Join(folder, "audit.log")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	f, log := opened(t, path)
	// The file is opened by the first write: a file in place of its folder fails it, for root too.
	if err := errors.Join(os.RemoveAll(folder), os.WriteFile(folder, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := f.Write([]byte("lost\n")); err == nil {
			t.Error("written")
		}
	}
	if strings.Count(log.String(), "\n") != 1 || strings.Contains(log.String(), folder) {
		t.Errorf("%s", log)
	}
	if err := errors.Join(os.Remove(folder), os.Mkdir(folder, 0o755)); err != nil {
		t.Fatal(err)
	}
	put(t, f, "new\n")
	if read(t, path) != "new\n" || f.failing {
		t.Errorf("%q", read(t, path))
	}
}
