package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
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

// What is written by hand is what encoding/json writes.
func TestLineIsJSON(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "example.com", "a b~!", `"`, `\`, "<&>", "\x00\n", "\x7f", "münchen.de", "\xff", "\u2028"} {
		want, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(Run{Host: text}.Line()); !strings.Contains(got, `"host":`+string(want)+`,"requestId"`) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
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
			t.Fatal(err)
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

// A rotation that fails costs nothing: neither what was there nor what comes. It is told of once, and tried again.
func TestARotationThatFails(t *testing.T) {
	t.Parallel()
	for _, blocked := range []int{0, kept} {
		path := filepath.Join(t.TempDir(), "audit.log")
		f, log := opened(t, path)
		f.max = 5
		put(t, f, "one\n")
		if err := os.MkdirAll(filepath.Join(f.old(blocked), "x"), 0o755); err != nil {
			t.Fatal(err)
		}
		old := map[int]string{}
		for n := 1; n < kept; n++ {
			old[n] = fmt.Sprintln("old", n)
			if err := os.WriteFile(f.old(n), []byte(old[n]), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		put(t, f, "two\n")
		put(t, f, strings.Repeat("x", 5*(kept+1)-len("one\ntwo\n"))) // to the byte
		if n, err := f.Write([]byte("\n")); n != 0 || err == nil {
			t.Errorf(".%d is a folder: the file grows without end: %d, %v", blocked, n, err)
		}
		warnings := strings.Count(log.String(), "cannot be rotated")
		if got := read(t, path); !strings.HasPrefix(got, "one\ntwo\nx") || warnings != 1 {
			t.Errorf(".%d is a folder: %q, log %s", blocked, got, log)
		}
		for n, want := range old {
			if got := read(t, f.old(n)); got != want {
				t.Errorf(".%d is a folder: .%d holds %q", blocked, n, got)
			}
		}
		if err := os.RemoveAll(f.old(blocked)); err != nil {
			t.Fatal(err)
		}
		put(t, f, "three\n")
		if !strings.HasPrefix(read(t, f.old(1)), "one\ntwo\n") || read(t, f.old(kept)) != old[kept-1] ||
			read(t, path) != "three\n" || exists(f.old(0)) {
			t.Errorf("%q, %q, %q", read(t, f.old(1)), read(t, f.old(kept)), read(t, path))
		}
	}
}

// A process that ended within a rotation left a file half way, which is not lost.
func TestARotationThatWasCutShort(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	for name, text := range map[string]string{".0": "left\n", ".1": "first\n", ".3": "third\n"} {
		if err := os.WriteFile(path+name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, _ := opened(t, path)
	f.max = 5
	put(t, f, "one\n")
	put(t, f, "two\n")
	for name, want := range map[string]string{
		"": "two\n", ".1": "one\n", ".2": "left\n", ".3": "first\n", ".4": "third\n",
	} {
		if got := read(t, path+name); got != want {
			t.Errorf("%s holds %q, want %q", name, got, want)
		}
	}
}
