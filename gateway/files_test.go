package main

import (
	"bytes"
	"log/slog"
	"strings"
	"syscall"
	"testing"

	"diagnostics/daemon/settings"
)

func TestFilesNeeded(t *testing.T) {
	t.Parallel()
	for env, want := range map[string]uint64{
		"":                                    8192 + 512*filesOfRun + filesOfProcess,
		"MAX_CONNECTIONS=0":                   512*filesOfRun + filesOfProcess,
		"MAX_CONNECTIONS=100 MAX_IN_FLIGHT=3": 100 + 3*filesOfRun + filesOfProcess,
	} {
		c, err := ParseConfig(strings.Fields(env))
		if err != nil {
			t.Fatal(err)
		}
		if got := filesNeeded(c); got != want {
			t.Errorf("%s: %d, want %d", env, got, want)
		}
	}
}

// The limit of this process, on both sides.
func TestWarnOfFiles(t *testing.T) {
	t.Parallel()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if limit.Cur > 1<<30 {
		t.Skip("there is no limit of files to speak of here")
	}
	enough := Config{}
	enough.MaxInFlight = 1
	enough.MaxConnections += settings.Count(limit.Cur - filesOfRun - filesOfProcess)
	tooMany := enough
	tooMany.MaxConnections++
	for _, tt := range []struct {
		name   string
		config Config
		warns  bool
	}{{"as many as there are", enough, false}, {"one more", tooMany, true}} {
		var log bytes.Buffer
		warnOfFiles(tt.config, slog.New(slog.NewTextHandler(&log, nil)))
		if warned := strings.Contains(log.String(), "MAX_CONNECTIONS"); warned != tt.warns {
			t.Errorf("%s: %q", tt.name, log.String())
		}
	}
}
