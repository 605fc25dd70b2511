package files

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// holder takes what does not hold "bad", and keeps it. It keeps a log as well.
type holder struct {
	mu   sync.Mutex
	text string
	log  strings.Builder
}

func (h *holder) take(contents [][]byte) error {
	text := string(bytes.Join(contents, []byte("+")))
	if strings.Contains(text, "bad") {
		return errors.New("a text with the secret " + text)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text = text
	return nil
}

func (h *holder) has() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text
}

// Write implements io.Writer, for the log.
func (h *holder) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.log.Write(p)
}

func (h *holder) logged() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.log.String()
}

// watching is a watcher that runs in a bubble.
type watching struct {
	holder
	*Watcher
	dir     string
	hangups chan os.Signal
}

// watch runs a test with a watcher of the files a and b.
func watch(t *testing.T, test func(t *testing.T, w *watching)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := &watching{Watcher: &Watcher{}, dir: dir, hangups: make(chan os.Signal, 1)}
		w.write(t, "a", "1")
		w.write(t, "b", "2")
		if err := w.Load(Source{"pair", "pair_FILE"}, w.take, w.path("a"), w.path("b")); err != nil || w.has() != "1+2" {
			t.Fatal(err, w.has())
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			w.Run(ctx, w.hangups, slog.New(slog.NewTextHandler(&w.holder, nil)))
			close(ended)
		}()
		test(t, w)
		cancel()
		<-ended
		if text := w.logged(); strings.Contains(text, "secret") || strings.Contains(text, dir) {
			t.Errorf("the log tells too much: %s", text)
		}
	})
}

func (w *watching) path(name string) string { return filepath.Join(w.dir, name) }

func (w *watching) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(w.path(name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// is holds what is in use, what is counted, and how many lines there are, after a while.
func (w *watching) is(t *testing.T, after time.Duration, has string, reloaded, failed uint64) {
	t.Helper()
	time.Sleep(after) // of the bubble
	synctest.Wait()
	f := w.All()[0]
	if w.has() != has || f.Reloaded() != reloaded || f.Failed() != failed {
		t.Errorf("%q, reloaded %d times, failed %d times; want %q, %d, %d", w.has(), f.Reloaded(), f.Failed(), has, reloaded,
			failed)
	}
	good, bad := strings.Count(w.logged(), "level=INFO"), strings.Count(w.logged(), "level=WARN")
	if uint64(good) != reloaded || uint64(bad) != failed {
		t.Errorf("the log has %d and %d lines: %s", good, bad, w.logged())
	}
}

// A look is ten seconds after the last; a second look at what cannot be used is a second later.
func TestEachChangeIsToldOnce(t *testing.T) {
	t.Parallel()
	watch(t, func(t *testing.T, w *watching) {
		w.is(t, time.Hour, "1+2", 0, 0)
		w.write(t, "a", "3")
		w.is(t, every-time.Millisecond, "1+2", 0, 0)
		w.is(t, 2*time.Millisecond, "3+2", 1, 0)
		w.is(t, time.Hour, "3+2", 1, 0)
		w.write(t, "b", "bad")
		w.is(t, every, "3+2", 1, 0)
		w.is(t, settle, "3+2", 1, 1)
		w.is(t, time.Hour, "3+2", 1, 1)
		w.write(t, "b", "")
		w.is(t, every+settle, "3+2", 1, 2)
		if err := os.Remove(w.path("b")); err != nil {
			t.Fatal(err)
		}
		w.is(t, every+settle, "3+2", 1, 3)
		w.is(t, time.Hour, "3+2", 1, 3)
		w.write(t, "b", strings.Repeat("x", maxBytes+1))
		w.is(t, every+settle, "3+2", 1, 4)
		w.write(t, "b", "2")
		w.is(t, every, "3+2", 2, 4)
		for _, reason := range []Reason{Unsuitable, Empty, Unreadable, TooLong} {
			if strings.Count(w.logged(), string(reason)) != 1 {
				t.Errorf("no single %q in %s", reason, w.logged())
			}
		}
	})
}

// Two files that are replaced one after the other are no failure, nor is one that is emptied before it is filled.
func TestHalfAChangeIsNoFailure(t *testing.T) {
	t.Parallel()
	watch(t, func(t *testing.T, w *watching) {
		time.Sleep(every - settle/2)
		w.write(t, "a", "bad")
		w.is(t, settle, "1+2", 0, 0)
		w.write(t, "a", "3")
		w.is(t, settle, "3+2", 1, 0)
		w.write(t, "a", "")
		w.is(t, every, "3+2", 1, 0)
		w.write(t, "a", "3")
		w.is(t, time.Hour, "3+2", 1, 0)
	})
}

// Names that lead elsewhere, as a mounted secret of Kubernetes does, and renames.
func TestHowFilesAreReplaced(t *testing.T) {
	t.Parallel()
	watch(t, func(t *testing.T, w *watching) {
		for name, text := range map[string]string{"old": "4", "new": "5", "renamed": "6"} {
			w.write(t, name, text)
		}
		link := func(to string) {
			t.Helper()
			err := errors.Join(os.Symlink(w.path(to), w.path("link")), os.Rename(w.path("link"), w.path("a")))
			if err != nil {
				t.Fatal(err)
			}
		}
		link("old")
		w.is(t, every, "4+2", 1, 0)
		link("new")
		w.is(t, every, "5+2", 2, 0)
		if err := os.Rename(w.path("renamed"), w.path("a")); err != nil {
			t.Fatal(err)
		}
		w.is(t, every, "6+2", 3, 0)
	})
}

// A list may be empty, at the start and later; a list that is gone is not.
func TestAListMayBeEmpty(t *testing.T) {
	t.Parallel()
	var h holder
	w, path := &Watcher{}, filepath.Join(t.TempDir(), "list")
	load := func() error {
		return w.LoadList(Source{"list", "list_FILE"}, func(text []byte) error { return h.take([][]byte{text}) }, path)
	}
	if err := load(); !errors.Is(err, Unreadable) {
		t.Errorf("no file: %v", err)
	}
	for _, text := range []string{"", "1", ""} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if len(w.All()) == 0 {
			if err := load(); err != nil {
				t.Fatal(err)
			}
			continue
		}
		// An editor empties a file before it fills it.
		looks := []outcome{taken, same}
		if text == "" {
			looks = []outcome{doubtful, taken}
		}
		for _, want := range looks {
			if got := w.All()[0].look(slog.New(slog.DiscardHandler)); got != want {
				t.Errorf("%q: %v, want %v", text, got, want)
			}
		}
		if h.has() != text {
			t.Errorf("%q, want %q", h.has(), text)
		}
	}
}

func TestSIGHUPLooksAtOnce(t *testing.T) {
	t.Parallel()
	watch(t, func(t *testing.T, w *watching) {
		w.write(t, "a", "3")
		w.hangups <- syscall.SIGHUP
		synctest.Wait()
		if w.has() != "3+2" || !strings.Contains(w.logged(), "were read again\" files=1 changed=1") {
			t.Errorf("%q: %s", w.has(), w.logged())
		}
		w.hangups <- syscall.SIGHUP
		synctest.Wait()
		if !strings.Contains(w.logged(), "changed=0") {
			t.Error(w.logged())
		}
	})
}

func TestLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var h holder
	for content, want := range map[string]error{"x": nil, "": Empty, strings.Repeat("x", maxBytes): nil,
		strings.Repeat("x", maxBytes+1): TooLong} {
		path := filepath.Join(dir, "a")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := new(Watcher).Load(Source{"a", "a_FILE"}, h.take, path); !errors.Is(err, want) {
			t.Errorf("%d bytes: %v", len(content), err)
		}
	}
	for _, path := range []string{filepath.Join(dir, "missing"), dir} {
		if err := new(Watcher).Load(Source{"a", "a_FILE"}, h.take, path); !errors.Is(err, Unreadable) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// A file that was read before may have changed since, or be unreadable now: the first check finds it.
func TestWatch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	var w Watcher
	var h holder
	w.Watch(Source{"gone", "gone_FILE"}, h.take, path)
	if err := os.WriteFile(path, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.Watch(Source{"there", "there_FILE"}, h.take, path)
	if h.has() != "new" || len(w.All()) != 2 {
		t.Errorf("%q, %d files", h.has(), len(w.All()))
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	log := &strings.Builder{}
	for range 3 {
		w.look(slog.New(slog.NewTextHandler(log, nil)))
	}
	if strings.Count(log.String(), "WARN") != 2 || !strings.Contains(log.String(), "setting=gone_FILE") {
		t.Error(log)
	}
}

// A pipe can be read only once.
func TestPipesAreLeftAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	var w Watcher
	w.Watch(Source{"pipe", "pipe_FILE"}, new(holder).take, path)
	if len(w.All()) != 0 {
		t.Error("a pipe is looked after")
	}
}

// A file that names others counts with them: a change of any is one change, and what cannot be read changes nothing.
func TestLoadTree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	one, two := put("one", "1"), put("two", "2")
	root := put("root", one)
	var got string
	named := func(content []byte) ([]string, error) {
		if string(content) == "bad" {
			return nil, Reason("it is bad")
		}
		return strings.Fields(string(content)), nil
	}
	take := func(contents [][]byte) error {
		got = string(bytes.Join(contents[1:], []byte(",")))
		return nil
	}
	log := slog.New(slog.DiscardHandler)
	w := &Watcher{}
	if err := w.LoadTree(Source{"tree", "tree_FILE"}, named, take, root); err != nil || got != "1" {
		t.Fatalf("%q, %v", got, err)
	}
	put("one", "one")
	if changed, _ := w.look(log); changed != 1 || got != "one" {
		t.Errorf("a named file changed: %d, %q", changed, got)
	}
	put("root", one+" "+two)
	if changed, _ := w.look(log); changed != 1 || got != "one,2" {
		t.Errorf("the list changed: %d, %q", changed, got)
	}
	if changed, _ := w.look(log); changed != 0 {
		t.Errorf("nothing changed: %d", changed)
	}
	for _, bad := range []string{"bad", one + " " + filepath.Join(dir, "none")} {
		put("root", bad)
		for range 2 {
			if changed, _ := w.look(log); changed != 0 || got != "one,2" {
				t.Errorf("%s: %d, %q", bad, changed, got)
			}
		}
	}
	if failed := w.All()[0].Failed(); failed != 2 {
		t.Errorf("%d failures", failed)
	}
	err := (&Watcher{}).LoadTree(Source{"tree", "tree_FILE"}, named, take, put("other", "bad"))
	if err == nil || err.Error() != "it is bad" {
		t.Errorf("%v", err)
	}
}
