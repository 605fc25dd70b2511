package audit

import (
	"bufio"
	"cmp"
	"diagnostics/shared/cause"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// hostMark stands for the host's name in a path, so that several gateways can share a folder.
const hostMark = "%h"

const (
	// maxShared is how many bytes the files of one pattern hold together, however many hosts wrote them. The current
	// files of running gateways are never removed.
	maxShared = (kept + 1) * maxMebibytes << 20
	// A host is gone if nothing has written or touched its current file for goneAfter, and the last minUnchanged calls of
	// Tidy found it as the call before did: a clock that is set makes every file old.
	goneAfter    = 24 * time.Hour
	minUnchanged = 2
	// keepGone is how long the files of a host that is gone are kept after their last line.
	keepGone = 30 * 24 * time.Hour
)

// TidyInterval is how often Tidy is to be called.
const TidyInterval = 10 * time.Minute

// shared is a folder in which each host has a file of the same pattern. Names of hosts are those of containers, so they
// change with every upgrade, and their files would be left behind.
type shared struct {
	dir string
	// name matches the name of a host's current file.
	name *regexp.Regexp
	own  string
	// hosts are the current files that the last Tidy found, by name.
	hosts map[string]sighting
	max   int64
}

// sighting is a host's current file: its last change, zero if the file is missing, and how often it was found
// unchanged.
type sighting struct {
	written   time.Time
	unchanged int
}

// entry is a file of the pattern.
type entry struct {
	path string
	// host is the name of the current file of the host that wrote it.
	host    string
	rotated bool
	size    int64
	written time.Time
}

// newShared returns nil unless the file's name, and only that, depends on the host.
func newShared(pattern, host string) *shared {
	dir, base := filepath.Split(pattern)
	if strings.Contains(dir, hostMark) || !strings.Contains(base, hostMark) {
		return nil
	}
	name := strings.ReplaceAll(regexp.QuoteMeta(base), regexp.QuoteMeta(hostMark), "(.+)")
	return &shared{dir: cmp.Or(dir, "."), name: regexp.MustCompile("^" + name + "$"),
		own: strings.ReplaceAll(base, hostMark, host), hosts: map[string]sighting{}, max: maxShared}
}

// Tidy shows the other hosts that this one is running. It removes the files of hosts that are gone, after keepGone, and
// the oldest files while all together are too large. It does nothing unless the file's name depends on the host.
func (f *File) Tidy(now time.Time) {
	if f.shared == nil {
		return
	}
	err := os.Chtimes(f.file.Filename, now, now)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // it is being rotated
	}
	if err = errors.Join(err, f.shared.tidy(now)); err != nil && !f.untidy {
		f.log.Warn("old files of the audit log cannot be removed, they may grow without a bound", cause.Fields(err)...)
	}
	f.untidy = err != nil
}

func (s *shared) tidy(now time.Time) error {
	entries, err := s.entries()
	if err != nil {
		return err
	}
	current, total := map[string]time.Time{}, int64(0)
	for _, e := range entries {
		total += e.size
		if !e.rotated {
			current[e.host] = e.written
		} else if _, found := current[e.host]; !found {
			current[e.host] = time.Time{}
		}
	}
	before := s.hosts
	s.hosts = make(map[string]sighting, len(current))
	for host, written := range current {
		s.hosts[host] = sighting{written: written}
		if last, found := before[host]; found && last.written.Equal(written) {
			s.hosts[host] = sighting{written: written, unchanged: last.unchanged + 1}
		}
	}
	slices.SortFunc(entries, func(a, b entry) int { return a.written.Compare(b.written) })
	for _, e := range entries {
		host := s.hosts[e.host]
		gone := e.host != s.own && host.unchanged >= minUnchanged && now.Sub(host.written) > goneAfter
		expired := gone && now.Sub(e.written) > keepGone
		if !expired && (total <= s.max || !gone && !e.rotated) {
			continue
		}
		// Another gateway may have removed it first.
		if removing := os.Remove(e.path); removing != nil && !errors.Is(removing, fs.ErrNotExist) {
			err = errors.Join(err, removing)
			continue
		}
		total -= e.size
	}
	return err
}

// rotatedName matches the name that lumberjack gives to a full file: the time stands before the extension.
var rotatedName = regexp.MustCompile(`^(.+)-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}(\.[^.]*)?$`)

// entries returns the files of the pattern. Files of the same form that are no audit logs are not among them.
func (s *shared) entries() (entries []entry, err error) {
	listed, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, err
	}
	for _, file := range listed {
		name := file.Name()
		e := entry{path: filepath.Join(s.dir, name), host: name}
		if m := rotatedName.FindStringSubmatch(name); m != nil {
			e.host, e.rotated = m[1]+m[2], true
		}
		hosts := s.name.FindStringSubmatch(e.host)
		if hosts == nil || len(slices.Compact(hosts[1:])) != 1 || !file.Type().IsRegular() {
			continue
		}
		info, err := file.Info()
		if err != nil || info.Mode().Perm() != mode || !isAuditLog(e.path) {
			continue // of somebody else, or removed meanwhile
		}
		e.size, e.written = info.Size(), info.ModTime()
		entries = append(entries, e)
	}
	return entries, nil
}

// isAuditLog reports whether a file is empty or begins with a line of an audit log.
func isAuditLog(path string) bool {
	const flags = os.O_RDONLY | syscall.O_NOFOLLOW | syscall.O_NONBLOCK
	file, err := os.OpenFile(path, flags, 0) // #nosec G304 -- in the operator's folder
	if err != nil {
		return false
	}
	defer file.Close()
	line, err := bufio.NewReader(io.LimitReader(file, 4<<10)).ReadBytes('\n')
	if len(line) == 0 && errors.Is(err, io.EOF) {
		return true
	}
	var fields map[string]string
	if json.Unmarshal(line, &fields) != nil {
		return false
	}
	_, client := fields["client"]
	_, host := fields["host"]
	return client && host && fields["tool"] != "" && fields["requestId"] != ""
}
