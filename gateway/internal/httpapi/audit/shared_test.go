package audit

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	line = `{"time":"2026-05-01T12:00:00.007Z","client":"192.0.2.1","tool":"uptime","host":"a.example","requestId":"id"}` + "\n"
	day  = 24 * time.Hour
	// stamp ends the name of a file that lumberjack has rotated.
	stamp = "-2026-05-01T12-00-00.007"
)

// left is a file in the folder before Tidy.
type left struct {
	name string
	text string // line unless set
	size int64  // -1 for an empty file
	mode os.FileMode
	age  time.Duration
}

// tidied returns the names that are left of files in a folder that host "own" shares, after calls of Tidy.
func tidied(t *testing.T, pattern string, most int64, calls int, files ...left) []string {
	t.Helper()
	dir := t.TempDir()
	now := time.Now()
	var log bytes.Buffer
	f, err := Open(filepath.Join(dir, pattern), "own", slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	if f.shared != nil {
		f.shared.max = most
	}
	for _, file := range files {
		path := filepath.Join(dir, file.name)
		text := file.text
		if text == "" {
			text = line
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if file.size != 0 {
			err = os.Truncate(path, max(file.size, 0))
		}
		if err == nil && file.mode != 0 {
			err = os.Chmod(path, file.mode)
		}
		if err == nil {
			err = os.Chtimes(path, now.Add(-file.age), now.Add(-file.age))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for range calls {
		f.Tidy(now)
	}
	if log.Len() > 0 {
		t.Errorf("%s", &log)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestTidy(t *testing.T) {
	t.Parallel()
	const most = 1 << 20
	for _, tt := range []struct {
		name    string
		pattern string
		calls   int
		files   []left
		want    string // names that are left, without the own file
	}{
		{"a host that is gone, kept long enough", "audit-%h.log", 3,
			[]left{{name: "audit-a.log", age: keepGone + time.Second}, {name: "audit-b.log", age: keepGone}}, "audit-b.log"},
		{"its rotated files go by their own age", "audit-%h.log", 3,
			[]left{{name: "audit-a.log", age: 29 * day}, {name: "audit-a" + stamp + ".log", age: 31 * day}}, "audit-a.log"},
		{"its current file is missing", "audit-%h.log", 3,
			[]left{{name: "audit-a" + stamp + ".log", age: 31 * day}}, ""},
		{"found too seldom", "audit-%h.log", minUnchanged,
			[]left{{name: "audit-a.log", age: 31 * day}}, "audit-a.log"},
		{"a host that runs keeps old files", "audit-%h.log", 3,
			[]left{{name: "audit-a.log"}, {name: "audit-a" + stamp + ".log", age: 400 * day}},
			"audit-a" + stamp + ".log audit-a.log"},
		{"so does this one", "audit-%h.log", 3,
			[]left{{name: "audit-own" + stamp + ".log", age: 400 * day}}, "audit-own" + stamp + ".log"},
		{"no more than the bound", "audit-%h.log", 3,
			[]left{{name: "audit-a.log", size: most / 2, age: 3 * day}, {name: "audit-b.log", size: most / 2, age: 2 * day}},
			"audit-a.log audit-b.log"},
		{"an octet more: the oldest goes", "audit-%h.log", 3,
			[]left{{name: "audit-a.log", size: most / 2, age: 2 * day}, {name: "audit-b.log", size: most/2 + 1, age: 3 * day}},
			"audit-a.log"},
		{"the rotated files of all count, oldest first", "audit-%h.log", 3,
			[]left{{name: "audit-a.log", size: most / 2}, {name: "audit-a" + stamp + ".log", size: most / 2, age: time.Hour},
				{name: "audit-own" + stamp + ".log", size: most / 2, age: 2 * time.Hour}}, "audit-a" + stamp + ".log audit-a.log"},
		{"a current file that is in use stays, whatever its size", "audit-%h.log", 3,
			[]left{{name: "audit-a.log", size: 2 * most, age: goneAfter}, {name: "audit-b.log", size: 2 * most}},
			"audit-a.log audit-b.log"},
		{"one that is not goes", "audit-%h.log", 3,
			[]left{{name: "audit-a.log", size: 2 * most, age: goneAfter + time.Second}}, ""},
		{"an empty file", "audit-%h.log", 3,
			[]left{{name: "audit-a.log", size: -1, age: 31 * day}, {name: "audit-b.log", text: "\n", age: 31 * day}},
			"audit-b.log"},
		{"files of others", "%h.log", 3, []left{{name: "a.log", age: 31 * day},
			{name: "b.log", text: "GET /\n", age: 31 * day}, {name: "c.log", text: `{"client":"a","host":"b"}` + "\n", age: 31 * day},
			{name: "d.log", mode: 0o644, age: 31 * day}, {name: "e.txt", age: 31 * day}, {name: "f", age: 31 * day}},
			"b.log c.log d.log e.txt f"},
		{"without an extension", "audit.%h", 3,
			[]left{{name: "audit.a", age: 31 * day}, {name: "audit.a.b" + stamp, age: 31 * day},
				{name: "audit" + stamp + ".c", age: 31 * day}, {name: "audit", age: 31 * day}}, "audit"},
		{"the host's name twice", "%h-%h.log", 3,
			[]left{{name: "a-a.log", age: 31 * day}, {name: "a-b.log", age: 31 * day}}, "a-b.log"},
		{"without a host in the name", "audit.log", 3,
			[]left{{name: "audit-a.log", age: 400 * day}, {name: "audit" + stamp + ".log", age: 400 * day}},
			"audit" + stamp + ".log audit-a.log"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			own := strings.ReplaceAll(tt.pattern, hostMark, "own")
			got := slices.DeleteFunc(tidied(t, tt.pattern, most, tt.calls, tt.files...),
				func(name string) bool { return name == own })
			if strings.Join(got, " ") != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// Another gateway that has had no visitor for a month still uses its file, and shows it. Clocks that are set do not
// matter: only a file that does not change is left behind.
func TestAGatewayWithoutVisitorsKeepsItsFile(t *testing.T) {
	t.Parallel()
	pattern := filepath.Join(t.TempDir(), "audit-%h.log")
	var files []*File
	for _, host := range []string{"idle", "busy"} {
		f, err := Open(pattern, host, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(f.Close)
		files = append(files, f)
	}
	put(t, files[0], line)
	begin := time.Now()
	for n := range 10 {
		now := begin.Add(time.Duration(n) * 40 * day)
		files[1].Tidy(now)
		files[0].Tidy(now)
	}
	put(t, files[0], line)
	if got := read(t, strings.ReplaceAll(pattern, hostMark, "idle")); got != line+line {
		t.Errorf("%q", got)
	}
}

// A folder that cannot be read is logged once, without its path.
func TestAFolderThatCannotBeTidied(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "folder")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	f, err := Open(filepath.Join(folder, "%h.log"), "own", slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	f.Tidy(time.Now())
	f.Tidy(time.Now())
	if strings.Count(log.String(), "\n") != 1 || strings.Contains(log.String(), folder) {
		t.Errorf("%s", &log)
	}
}
