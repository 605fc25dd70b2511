// Package files reloads what a running service read from files (tokens, passwords, certificates, keys) when these files
// change, so that a secret is replaced without a restart.
//
// Files are compared by content, every ten seconds and at each SIGHUP. inotify would miss the usual ways of replacing a
// file: a rename over it, a link of Kubernetes that is pointed elsewhere, a mount of another container.
package files

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"sync/atomic"
	"time"
)

// every is the time from one look at the files to the next.
const every = 10 * time.Second

// settle is how long what cannot be used may still become whole before it counts: a certificate and its key are
// rarely replaced in the same moment, and an editor empties a file before it fills it.
const settle = time.Second

// maxBytes bounds a file. The authorities of a whole system are a quarter of that.
const maxBytes = 1 << 20

// Reason says why a file cannot be used. It is logged, and holds nothing of the file.
type Reason string

// Error is the reason itself.
func (r Reason) Error() string { return string(r) }

// The reasons of this package.
const (
	Unreadable Reason = "it cannot be read"
	Empty      Reason = "it is empty"
	TooLong    Reason = "it has more than a mebibyte"
	Unsuitable Reason = "it is not what its setting takes"
	NoPEM      Reason = "it holds no certificate in PEM, or one that cannot be read"
	NoKey      Reason = "the key is no private key in PEM without a password"
	ForeignKey Reason = "the key does not belong to the certificate"
)

// Take validates the contents, one element for each file, and puts them to use. When it returns an error, nothing has
// changed; only an error that is a Reason is logged.
type Take func(contents [][]byte) error

// Source is where a Watched comes from: Name is for metrics, Setting is what the operator set and what the log names.
type Source struct{ Name, Setting string }

// Watched is one thing that is read from a file, or from several that belong together.
type Watched struct {
	source Source
	paths  []string
	// named returns the paths of further files that the one of paths names; nil is none.
	named func(content []byte) ([]string, error)
	take  Take
	// list is true where a file may be empty.
	list bool
	// seen is the digest of what was judged last, doubted that of what may still become whole.
	seen, doubted    digest
	reloaded, failed atomic.Uint64
}

// Name is that of the Source.
func (w *Watched) Name() string { return w.source.Name }

// Reloaded is how often changed files were put to use.
func (w *Watched) Reloaded() uint64 { return w.reloaded.Load() }

// Failed is how often changed files could not be used.
func (w *Watched) Failed() uint64 { return w.failed.Load() }

// Watcher watches files. The zero value has none. Load and Watch come before Run.
type Watcher struct{ all []*Watched }

// All returns the watched files, in their order.
func (w *Watcher) All() []*Watched { return w.all }

// Load takes what files hold now, and watches them from then on. The error is a Reason, or Take's own.
func (w *Watcher) Load(of Source, take Take, paths ...string) error {
	return w.load(&Watched{source: of, paths: paths, take: take})
}

// LoadList is Load for a file that holds a list, which may be empty.
func (w *Watcher) LoadList(of Source, take func(list []byte) error, path string) error {
	return w.load(&Watched{source: of, paths: []string{path}, list: true,
		take: func(contents [][]byte) error { return take(contents[0]) }})
}

// LoadTree is Load for a file and those that it names: take gets its contents, then theirs in the order that named
// returns. A change of any of them counts.
func (w *Watcher) LoadTree(of Source, named func(content []byte) ([]string, error), take Take, path string) error {
	return w.load(&Watched{source: of, paths: []string{path}, named: named, take: take})
}

func (w *Watcher) load(f *Watched) error {
	contents, err := f.read()
	if err != nil {
		return err
	}
	if err := f.take(contents); err != nil {
		return err
	}
	f.seen = digestOf(contents, nil)
	w.keep(f)
	return nil
}

// Watch watches files that the caller has read already. They are taken once more, as they may have changed
// since; where that fails, the first check logs it.
func (w *Watcher) Watch(of Source, take Take, paths ...string) {
	f := &Watched{source: of, paths: paths, take: take}
	if !w.keep(f) {
		return
	}
	contents, err := f.read()
	if err == nil && take(contents) == nil {
		f.seen = digestOf(contents, nil)
	}
}

// keep reports whether a file is to be watched. It leaves out pipes, which are read once: a shell makes them of
// <(command).
func (w *Watcher) keep(f *Watched) bool {
	for _, path := range f.paths {
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
			return false
		}
	}
	w.all = append(w.all, f)
	return true
}

// Run looks at the files every ten seconds and at each hangup, until ctx ends.
func (w *Watcher) Run(ctx context.Context, hangups <-chan os.Signal, log *slog.Logger) {
	for wait := every; ; {
		asked := false
		select {
		case <-ctx.Done():
			return
		case <-hangups:
			asked = true
		case <-time.After(wait):
		}
		changed, unsettled := w.look(log)
		if asked {
			log.Info("SIGHUP: the files that settings name were read again", "files", len(w.all), "changed", changed)
		}
		if wait = every; unsettled {
			wait = settle
		}
	}
}

func (w *Watcher) look(log *slog.Logger) (changed int, unsettled bool) {
	for _, f := range w.all {
		switch f.look(log) {
		case taken:
			changed++
		case doubtful:
			unsettled = true
		case same, refused:
		}
	}
	return changed, unsettled
}

// outcome is what a look at one thing found.
type outcome int

const (
	same outcome = iota
	taken
	doubtful
	refused
)

// look logs each change once: at the first check where it can be used, or the second where it cannot.
func (w *Watched) look(log *slog.Logger) outcome {
	contents, err := w.read()
	now := digestOf(contents, err)
	if now == w.seen {
		w.doubted = digest{}
		return same
	}
	if err == nil && w.list && len(contents[0]) == 0 && now != w.doubted {
		w.doubted = now // it may be about to be filled
		return doubtful
	}
	if err == nil {
		err = w.take(contents)
	}
	switch {
	case err == nil:
		w.seen, w.doubted = now, digest{}
		w.reloaded.Add(1)
		log.Info("a file that changed was read again and is in use", "setting", w.source.Setting)
		return taken
	case now != w.doubted:
		w.doubted = now
		return doubtful
	}
	w.seen = now
	w.failed.Add(1)
	log.Warn("a file that changed cannot be used, what was read before stays in use", "setting", w.source.Setting,
		"reason", reason(err).Error())
	return refused
}

func reason(err error) Reason {
	if known, is := errors.AsType[Reason](err); is {
		return known
	}
	return Unsuitable
}

// read returns the contents of all files. With an error, a Reason or that of named, it returns what it has read.
func (w *Watched) read() ([][]byte, error) {
	contents, err := w.readAll(w.paths)
	if err != nil || w.named == nil {
		return contents, err
	}
	more, err := w.named(contents[0])
	if err != nil {
		return contents, err
	}
	named, err := w.readAll(more)
	return append(contents, named...), err
}

// readAll returns the contents of files; the error is a Reason.
func (w *Watched) readAll(paths []string) ([][]byte, error) {
	contents := make([][]byte, len(paths))
	for i, path := range paths {
		var err error
		if contents[i], err = readOne(path); err != nil {
			return nil, err
		}
		if len(contents[i]) == 0 && !w.list {
			return nil, Empty
		}
	}
	return contents, nil
}

func readOne(path string) ([]byte, error) {
	f, err := os.Open(path) // #nosec G304 -- the operator chose it
	if err != nil {
		return nil, Unreadable
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	switch {
	case err != nil:
		return nil, Unreadable
	case len(content) > maxBytes:
		return nil, TooLong
	}
	return content, nil
}

// digest stands for what files held, so that no secret is kept a second time.
type digest [sha256.Size]byte

// digestOf returns a digest of the contents, or of the failure to read them. It is never the zero digest.
func digestOf(contents [][]byte, failed error) digest {
	h := sha256.New()
	if failed != nil {
		h.Write([]byte(failed.Error()))
	}
	for _, content := range contents {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(content))))
		h.Write(content)
	}
	return digest(h.Sum(nil))
}

// WithoutPath returns the system's error of an error of package os, for a log that must not hold the path.
func WithoutPath(err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return failed.Err
	}
	return err
}
