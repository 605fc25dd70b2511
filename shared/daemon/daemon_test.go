package daemon

import (
	"bytes"
	"strings"
	"testing"
	"time"

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
			log := given(t, "LOG_LEVEL="+level, "LOG_FORMAT="+format).OpenLog(&out)
			log.Debug("x")
			log.Info("x")
			log.Warn("x")
			log.Error("x")
			log.Close()
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
		{[]string{"-version"}, TaskNone, "sample " + Version() + " (commit " + Commit() + ")\n", "", ""},
		{[]string{"-init-secrets"}, TaskInitSecrets, "", "", ""},
		{[]string{"-check-config"}, TaskCheckConfig, "", "", ""},
		{[]string{"-h"}, TaskNone, "", "Usage of sample:\n", ""},
		{[]string{"-nothing"}, TaskNone, "", "flag provided but not defined: -nothing\n", "flag provided but not defined: -nothing"},
		{[]string{"start"}, TaskNone, "", "", "takes no arguments; settings come from the environment"},
		{[]string{"-version", "start"}, TaskNone, "", "", "takes no arguments; settings come from the environment"},
	} {
		var stdout, stderr bytes.Buffer
		command := Command{Name: "sample", Settings: settings.Of[Settings]()}
		task, err := command.Parse(tt.args, &stdout, &stderr)
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

// The settings are listed with what they mean, but for secrets' making where there is none.
func TestHelp(t *testing.T) {
	t.Parallel()
	var stderr bytes.Buffer
	_, err := Command{Name: "sample", Settings: settings.Of[Settings]()}.Parse([]string{"-help"}, nil, &stderr)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"-healthcheck", "-init-secrets", "LOG_LEVEL (default info)\n", "lowest level that is logged",
	} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("no %q in:\n%s", want, stderr.String())
		}
	}
}

// startsWith reports whether a text starts so; nothing starts like nothing alone.
func startsWith(text, start string) bool {
	return strings.HasPrefix(text, start) && (text == "") == (start == "")
}

// A loss is reported in the log's own format, whatever its level.
func TestALossIsTold(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]string{
		"json": `"level":"WARN","msg":"log lines were dropped","count":3}` + "\n",
		"text": `level=WARN msg="log lines were dropped" count=3` + "\n",
	} {
		v := &valve{}
		log := given(t, "LOG_LEVEL=error", "LOG_FORMAT="+format).OpenLog(v)
		for range 3 {
			log.Error("x")
		}
		for log.Dropped() < 3 {
			time.Sleep(time.Millisecond) // polls the counter: this module does not import shared
		}
		v.set(-1)
		log.Error("next")
		log.Close()
		if !strings.HasSuffix(v.String(), want) || strings.Count(v.String(), "\n") != 2 {
			t.Errorf("%s: %q", format, v.String())
		}
	}
}

func TestForeignLinesAreCounted(t *testing.T) {
	t.Parallel()
	before := ForeignLines()
	log := foreignLog()
	log.Print("one line")
	log.Print("two\nlines\n")
	if got := ForeignLines() - before; got != 3 {
		t.Errorf("%d lines", got)
	}
}
