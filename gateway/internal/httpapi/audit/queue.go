package audit

import (
	"log/slog"
	"os"
	"time"

	"diagnostics/daemon"
	"diagnostics/shared/parallel"
)

// Log writes the runs that begin to a File through a queue. A disk that is slow or full costs lines, which are counted,
// and delays no run.
type Log struct {
	file   *File
	lines  *daemon.Lines
	closed chan struct{} // ends the goroutine that tidies the folder
}

// Start opens the audit log at path, in which %h stands for the name of this host, and begins to tidy its folder. The
// caller must close it.
func Start(path string, log *slog.Logger) (*Log, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	file, err := Open(path, host, log)
	if err != nil {
		return nil, err
	}
	report := func(dropped uint64) []byte {
		log.Warn("audit lines were dropped", "count", dropped)
		return nil
	}
	l := &Log{file: file, lines: daemon.NewLines(file, report), closed: make(chan struct{})}
	parallel.Go(l.tidy, func(p *parallel.Panic) {
		if p != nil {
			log.Error("the folder of the audit log is no longer tidied", "error", p.Error())
		}
	})
	return l, nil
}

// CheckPath reports whether Start could open path, and creates nothing.
func CheckPath(path string) error {
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	return Check(path, host)
}

// tidy also runs while there are no requests: it shows other gateways that this one still uses its file.
func (l *Log) tidy() {
	ticker := time.NewTicker(TidyInterval)
	defer ticker.Stop()
	for {
		l.file.Tidy(time.Now())
		select {
		case <-ticker.C:
		case <-l.closed:
			return
		}
	}
}

// RunBegan implements httpapi.Auditor.
func (l *Log) RunBegan(r Run) { _, _ = l.lines.Write(r.Line()) }

// Dropped returns how many lines were lost.
func (l *Log) Dropped() uint64 { return l.lines.Dropped() }

// Close waits for no disk: if one is stuck, the file stays open until the end of the process.
func (l *Log) Close() {
	close(l.closed)
	if l.lines.Close() {
		l.file.Close()
	}
}
