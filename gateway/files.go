package main

import (
	"fmt"
	"log/slog"
	"syscall"
)

// What a process has open beside its connections: runtime, log, listeners, Redis, the worker. A run has at most twenty
// lookups under way at once.
const (
	filesOfProcess = 64
	filesOfRun     = 20
)

// warnOfFiles tells at the start where the limit of open files is lower than what the settings let in.
func warnOfFiles(c Config, log *slog.Logger) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return
	}
	if warning := tooFewFiles(c, limit.Cur); warning != "" {
		log.Warn(warning)
	}
}

// tooFewFiles is the warning about a limit of open files, empty where it suffices.
func tooFewFiles(c Config, limit uint64) string {
	need := uint64(c.MaxConnections) + filesOfRun*uint64(c.MaxInFlight) + filesOfProcess
	if limit >= need {
		return ""
	}
	return fmt.Sprintf("this process may open %d files, and MAX_CONNECTIONS with MAX_IN_FLIGHT may need %d: "+
		"raise the limit (ulimit -n, LimitNOFILE), or lower the settings", limit, need)
}
