package main

import (
	"fmt"
	"log/slog"
	"os"
	"time"

	"diagnostics/daemon"
	"diagnostics/daemon/settings"
	"diagnostics/gateway/internal/httpapi/audit"
)

// auditLog writes the runs that begin to the audit log's file, through a queue: a disk that is slow or full costs
// lines, which are counted, and delays no run.
type auditLog struct {
	file  *audit.File
	lines *daemon.Lines
	// closed ends the goroutine that tidies the file's folder.
	closed chan struct{}
}

// openAudit returns nil where no file is set.
func (s *service) openAudit(path settings.FilePath, log *slog.Logger) (*auditLog, error) {
	if path == "" {
		return nil, nil
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	var file *audit.File
	if s.checks {
		err = audit.Check(string(path), host)
	} else {
		file, err = audit.Open(string(path), host, log)
	}
	if err != nil {
		return nil, fmt.Errorf("AUDIT_LOG_FILE takes the path of a file that this user may write; "+
			"it cannot be opened: %w", err)
	}
	if s.checks {
		return nil, nil
	}
	report := func(dropped uint64) []byte {
		log.Warn("audit lines were dropped", "count", dropped)
		return nil
	}
	a := &auditLog{file: file, lines: daemon.NewLines(file, report), closed: make(chan struct{})}
	go a.tidy()
	return a, nil
}

// tidy also runs while there are no requests, since it shows other gateways that this one still uses its file.
func (a *auditLog) tidy() {
	ticker := time.NewTicker(audit.TidyInterval)
	defer ticker.Stop()
	for {
		a.file.Tidy(time.Now())
		select {
		case <-ticker.C:
		case <-a.closed:
			return
		}
	}
}

// RunBegan implements httpapi.Auditor.
func (a *auditLog) RunBegan(r audit.Run) { _, _ = a.lines.Write(r.Line()) }

// close leaves the file to the end of the process where a stuck disk still holds up its writer.
func (a *auditLog) close() {
	close(a.closed)
	if a.lines.Close() {
		a.file.Close()
	}
}
