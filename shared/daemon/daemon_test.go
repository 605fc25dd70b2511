package daemon

import (
	"bytes"
	"strings"
	"testing"

	"diagnostics/daemon/settings"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// given reads settings out of variables.
func given(t *testing.T, env ...string) Settings {
	t.Helper()
	s, err := settings.Parse[Settings](env)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLoggerFollowsTheSettings(t *testing.T) {
	t.Parallel()
	for level, lines := range map[string]int{"debug": 4, "info": 3, "warn": 2, "error": 1} {
		for format, start := range map[string]string{"text": "time=", "json": `{"time":`} {
			var out strings.Builder
			log := given(t, "LOG_LEVEL="+level, "LOG_FORMAT="+format).Logger(&out)
			log.Debug("x")
			log.Info("x")
			log.Warn("x")
			log.Error("x")
			if got := strings.Count(out.String(), "\n"); got != lines || !strings.HasPrefix(out.String(), start) {
				t.Errorf("%s, %s: %d lines: %s", level, format, got, out.String())
			}
		}
	}
}

func TestParseArgs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args           []string
		task           Task
		stdout, stderr string // with what they start
		fault          string
	}{
		{nil, TaskServe, "", "", ""},
		{[]string{"-healthcheck"}, TaskHealthcheck, "", "", ""},
		{[]string{"-version"}, TaskNone, "sample " + Version() + "\n", "", ""},
		{[]string{"-h"}, TaskNone, "", "Usage of sample:\n", ""},
		{[]string{"-nothing"}, TaskNone, "", "flag provided but not defined: -nothing\n", "flag provided but not defined: -nothing"},
		{[]string{"start"}, TaskNone, "", "", "takes no arguments; it is set by the environment"},
		{[]string{"-version", "start"}, TaskNone, "", "", "takes no arguments; it is set by the environment"},
	} {
		var stdout, stderr bytes.Buffer
		task, err := ParseArgs("sample", tt.args, &stdout, &stderr)
		fault := ""
		if err != nil {
			fault = err.Error()
		}
		if task != tt.task || fault != tt.fault {
			t.Errorf("%v: task %v, %v", tt.args, task, err)
		}
		if !startsWith(stdout.String(), tt.stdout) || !startsWith(stderr.String(), tt.stderr) {
			t.Errorf("%v: stdout %q, stderr %q", tt.args, stdout.String(), stderr.String())
		}
	}
}

// startsWith tells whether a text starts so; nothing starts like nothing alone.
func startsWith(text, start string) bool {
	return strings.HasPrefix(text, start) && (text == "") == (start == "")
}
