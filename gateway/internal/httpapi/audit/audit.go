// Package audit keeps the file by which an operator answers complaints of abuse: which client had which tool run
// against which host, and when. It is the one place where an instance stores the address of a client or a target, so
// it is off unless it is set, readable by its owner alone, and bounded.
package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"diagnostics/daemon/files"
	"diagnostics/shared/cause"

	"gopkg.in/natefinch/lumberjack.v2"
)

// Run is one run that began.
type Run struct {
	Time time.Time
	// Client is the client's address.
	Client string
	Tool   string
	// Host is the canonical target without port, path and query; empty for a tool that has none.
	Host      string
	RequestID string
}

// Line is the run as it stands in the file: a JSON object and a line feed.
func (r Run) Line() []byte {
	line, err := json.Marshal(struct {
		Time      string `json:"time"`
		Client    string `json:"client"`
		Tool      string `json:"tool"`
		Host      string `json:"host"`
		RequestID string `json:"requestId"`
	}{r.Time.UTC().Format("2006-01-02T15:04:05.000Z"), r.Client, r.Tool, r.Host, r.RequestID})
	if err != nil {
		panic(err) // strings always marshal
	}
	return append(line, '\n')
}

// The file and its predecessors hold 160 MiB together, about a million runs.
const (
	maxMebibytes = 16
	kept         = 9
	// mode lets the owner alone read.
	mode = 0o600
)

// File is the audit log's file, which lumberjack rotates. It is for one writer at a time.
type File struct {
	file lumberjack.Logger
	log  *slog.Logger
	// failing is true from a write that failed to the next that did not.
	failing bool
	// shared is nil unless the file's name depends on the host. Only Tidy uses it and untidy.
	shared *shared
	untidy bool
}

// Open creates the file, or prepares one that exists; what it holds stays. In the path %h stands for the name of this
// host. Its error does not hold the path. log is for writes that fail, and gets nothing of what was written.
func Open(pattern, host string, log *slog.Logger) (*File, error) {
	path := strings.ReplaceAll(pattern, hostMark, host)
	if err := prepare(path); err != nil {
		return nil, files.WithoutPath(err)
	}
	if err := checkFolder(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("the folder must be writable, to rotate it: %w", files.WithoutPath(err))
	}
	return &File{log: log, shared: newShared(pattern, host),
		file: lumberjack.Logger{Filename: path, MaxSize: maxMebibytes, MaxBackups: kept}}, nil
}

// Check fails where Open would, and changes nothing.
func Check(pattern, host string) error {
	path := strings.ReplaceAll(pattern, hostMark, host)
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return files.WithoutPath(err)
	case info.Mode()&fs.ModeSymlink != 0:
		return errLink
	case !info.Mode().IsRegular():
		return errRegular
	default:
		if err := syscall.Access(path, readable|writable); err != nil {
			return err
		}
	}
	if err := syscall.Access(filepath.Dir(path), writable|searchable); err != nil {
		return fmt.Errorf("the folder must be writable, to rotate it: %w", err)
	}
	return nil
}

// The modes of access(2).
const searchable, writable, readable = 1, 2, 4

// checkFolder fails at the start where the first rotation would, as where the file alone is mounted.
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

// prepare gives the file its mode and a last line that is whole. A link is rejected, since rotation would replace it;
// O_NONBLOCK keeps a FIFO from blocking the start.
func prepare(path string) error {
	const flags = os.O_CREATE | os.O_APPEND | os.O_RDWR | syscall.O_NOFOLLOW | syscall.O_NONBLOCK
	file, err := os.OpenFile(path, flags, mode) // #nosec G304 -- the operator chose it
	switch {
	case errors.Is(err, syscall.ELOOP):
		return errLink
	case errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ENXIO):
		return errRegular
	case err != nil:
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errRegular
	}
	if err := file.Chmod(mode); err != nil || info.Size() == 0 {
		return err
	}
	last := []byte{0}
	if _, err := file.ReadAt(last, info.Size()-1); err != nil || last[0] == '\n' {
		return err
	}
	_, err = file.Write([]byte{'\n'})
	return err
}

// Write appends a line, to a new file where it would make this one too long.
func (f *File) Write(line []byte) (int, error) {
	n, err := f.file.Write(line)
	if err != nil && n == 0 {
		// A rotation that fails halfway, as where chown is not allowed, leaves a file that can be written.
		n, err = f.file.Write(line)
	}
	if err != nil && !f.failing {
		f.log.Warn("the audit log cannot be written, its lines are dropped", cause.Fields(err)...)
	}
	f.failing = err != nil
	return n, err
}

// Close closes the file. No Write may be under way.
func (f *File) Close() { _ = f.file.Close() }
