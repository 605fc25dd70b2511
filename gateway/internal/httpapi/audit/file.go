package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"diagnostics/shared/redact"
)

// The file and its predecessors hold 160 MiB together, about a million runs. Where it cannot be rotated it alone may
// grow to as much.
const (
	maxBytes = 16 << 20
	// kept is how many old files there are, ".1" the newest.
	kept = 9
	// mode lets the owner alone read: whom a visitor asked about is nobody else's business.
	mode = 0o600
)

// File is the audit log's file. It is for one writer at a time.
type File struct {
	path string
	max  int64
	log  *slog.Logger

	file *os.File
	size int64
	// failing is true from a write that failed to the next that did not, stuck the same of rotations.
	failing, stuck bool
}

// Open opens the file, or makes it; what it holds stays. Its error does not hold the path. log is told where the file
// cannot be written later, and nothing of what was to stand there.
func Open(path string, log *slog.Logger) (*File, error) {
	f := &File{path: path, max: maxBytes, log: log}
	if err := f.open(); err != nil {
		return nil, withoutPath(err)
	}
	if err := checkFolder(filepath.Dir(path)); err != nil {
		_ = f.file.Close()
		return nil, fmt.Errorf("the folder must be writable, to rotate it: %w", withoutPath(err))
	}
	return f, nil
}

// withoutPath is what the system says of a path.
func withoutPath(err error) error {
	if failed, is := errors.AsType[*fs.PathError](err); is {
		return failed.Err
	}
	return err
}

// checkFolder finds out at the start what the first rotation would, as where the file alone is mounted.
func checkFolder(dir string) error {
	probe, err := os.CreateTemp(dir, ".audit-*")
	if err != nil {
		return err
	}
	_ = probe.Close()
	return os.Remove(probe.Name())
}

var (
	errLink    = errors.New("it is a symbolic link; name the file itself")
	errRegular = errors.New("it is not a regular file")
)

// open opens the file as it is now. A link is refused, since rotation would replace it; O_NONBLOCK keeps a FIFO from
// holding up the start.
func (f *File) open() error {
	file, err := os.OpenFile(f.path, os.O_CREATE|os.O_APPEND|os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, mode)
	switch {
	case errors.Is(err, syscall.ELOOP):
		return errLink
	case errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ENXIO):
		return errRegular
	case err != nil:
		return err
	}
	size, err := adopt(file)
	if err != nil {
		_ = file.Close()
		return err
	}
	f.file, f.size = file, size
	return nil
}

// adopt makes a file that may have been there before ours: no wider mode, and a last line that is whole.
func adopt(file *os.File) (size int64, err error) {
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, errRegular
	}
	if err := file.Chmod(mode); err != nil {
		return 0, err
	}
	size = info.Size()
	last := []byte{'\n'}
	if size > 0 {
		if _, err := file.ReadAt(last, size-1); err != nil {
			return 0, err
		}
	}
	if last[0] == '\n' {
		return size, nil
	}
	n, err := file.Write([]byte{'\n'})
	return size + int64(n), err
}

// Write appends whole lines, to a new file where they would make this one too long. What cannot be written whole is
// taken back.
func (f *File) Write(lines []byte) (int, error) {
	n, err := f.append(lines)
	if err == nil {
		f.failing = false
		return n, nil
	}
	if !f.failing {
		f.failing = true
		f.log.Warn("the audit log cannot be written, its lines are dropped", "error", redact.Outline(err))
	}
	return n, err
}

func (f *File) append(lines []byte) (int, error) {
	if f.size > 0 && f.size+int64(len(lines)) > f.max {
		if err := f.makeRoom(len(lines)); err != nil {
			return 0, err
		}
	}
	n, err := f.file.Write(lines)
	if err != nil && n > 0 && f.file.Truncate(f.size) == nil {
		n = 0
	}
	f.size += int64(n)
	return n, err
}

// makeRoom rotates. A rotation that fails costs no lines, since the file can still be written: it grows.
func (f *File) makeRoom(bytes int) error {
	err := f.rotate()
	if err != nil && !f.stuck {
		f.log.Warn("the audit log cannot be rotated, its file grows", "error", redact.Outline(err))
	}
	f.stuck = err != nil
	if f.size+int64(bytes) <= f.max*(kept+1) {
		return nil
	}
	return err
}

// rotate makes room for a new file under the old name. Where it fails, the file that was written to stays open.
func (f *File) rotate() error {
	// An earlier one may have left a file half way.
	if err := f.shift(); err != nil {
		return err
	}
	if err := rename(f.path, f.old(0)); err != nil {
		return err
	}
	if err := f.shift(); err != nil {
		_ = rename(f.old(0), f.path)
		return err
	}
	full := f.file
	if err := f.open(); err != nil {
		return err
	}
	_ = full.Close()
	return nil
}

// shift makes the 0th old file, if there is one, the first. Those before the first gap move up by one, and the last
// goes where there is no gap: what is tried again after a failure takes up the gap that it left, and no further file.
func (f *File) shift() error {
	if !regular(f.old(0)) {
		return nil
	}
	n := 1
	for n < kept && exists(f.old(n)) {
		n++
	}
	for ; n > 0; n-- {
		if err := rename(f.old(n-1), f.old(n)); err != nil {
			return err
		}
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func regular(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// rename moves a file, if it is there.
func rename(from, to string) error {
	if err := os.Rename(from, to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// old is the name of the n-th old file; the 0th is there during a rotation alone.
func (f *File) old(n int) string { return f.path + "." + strconv.Itoa(n) }

// Close closes the file. No Write may be under way.
func (f *File) Close() { _ = f.file.Close() }
