package main

import (
	"fmt"
	"log/slog"
	"os"
	"strings"

	"diagnostics/daemon"
	"diagnostics/daemon/settings"
	"diagnostics/gateway/internal/httpapi/audit"
)

// auditLog writes the runs that begin to the audit log's file, through a queue: a disk that is slow or full costs
// lines, which are counted, and delays no run.
type auditLog struct {
	file  *audit.File
	lines *daemon.Lines
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
	name := strings.ReplaceAll(string(path), "%h", host)
	var file *audit.File
	if s.checks {
		err = audit.Check(name)
	} else {
		file, err = audit.Open(name, log)
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
	return &auditLog{file: file, lines: daemon.NewLines(file, report)}, nil
}

// RunBegan implements httpapi.Auditor.
func (a *auditLog) RunBegan(r audit.Run) { _, _ = a.lines.Write(r.Line()) }

// close leaves the file to the end of the process where a stuck disk still holds up its writer.
func (a *auditLog) close() {
	if a.lines.Close() {
		a.file.Close()
	}
}
