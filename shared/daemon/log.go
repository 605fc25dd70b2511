package daemon

import (
	"bytes"
	"context"
	"io"
	"log"
	"log/slog"
	"sync/atomic"
	"time"

	"diagnostics/daemon/settings"
)

// flushTime is how long the end of a process waits for its last lines, and for its last words on stderr.
const flushTime = time.Second

// Log is a service's own log. Its lines go out through a queue: a reader that is slow, stuck or gone, or a disk that is
// full, costs lines and never time. What is lost is counted, and reported in a line of its own once lines go out again.
type Log struct {
	*slog.Logger
	lines *Lines
}

// OpenLog returns the log that LOG_LEVEL and LOG_FORMAT select. The caller closes it.
func (s Settings) OpenLog(out io.Writer) *Log {
	var level slog.Level
	// The setting's own check has left only slog's names.
	_ = level.UnmarshalText([]byte(s.LogLevel))
	lines := NewLines(out, s.lossLine)
	return &Log{Logger: slog.New(s.handler(lines, level)), lines: lines}
}

// CheckLog returns the log of -check-config, which prints warnings and errors as text without the time.
func CheckLog(out io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{
		Level: slog.LevelWarn,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))
}

// WarnOfProfiles warns of profiles that no listener serves.
func (s Settings) WarnOfProfiles(metrics settings.ListenAddr, log *slog.Logger) {
	if s.Pprof && metrics == "" {
		log.Warn("PPROF_ENABLED does nothing: METRICS_LISTEN_ADDR is empty, and profiles are served there alone")
	}
}

func (s Settings) handler(out io.Writer, level slog.Level) slog.Handler {
	options := &slog.HandlerOptions{Level: level}
	if s.LogFormat == "text" {
		return slog.NewTextHandler(out, options)
	}
	return slog.NewJSONHandler(out, options)
}

// lossLine reports lines that were lost, whatever the level: they may have been of any.
func (s Settings) lossLine(dropped uint64) []byte {
	var line bytes.Buffer
	slog.New(s.handler(&line, slog.LevelWarn)).LogAttrs(context.Background(), slog.LevelWarn, "log lines were dropped",
		slog.Uint64("count", dropped))
	return line.Bytes()
}

// Dropped returns how many lines could not be written since the start.
func (l *Log) Dropped() uint64 { return l.lines.Dropped() }

// Close writes the queued lines, for a second at most. Lines logged afterwards are dropped.
func (l *Log) Close() { l.lines.Close() }

// Lines that libraries print are counted and dropped: net/http prints up to 4 KB of what a server sends after its
// answer, and a line for each unknown HTTP/2 frame.

var foreignLines atomic.Uint64

// ForeignLines returns how many lines the libraries of this process have printed since its start.
func ForeignLines() uint64 { return foreignLines.Load() }

// foreign counts the lines of libraries and drops them.
type foreign struct{}

// Write implements io.Writer.
func (foreign) Write(p []byte) (int, error) {
	foreignLines.Add(uint64(bytes.Count(p, []byte{'\n'}))) // #nosec G115 -- a count is not negative
	return len(p), nil
}

// foreignLog returns a logger for libraries that take one.
func foreignLog() *log.Logger { return log.New(foreign{}, "", 0) }
