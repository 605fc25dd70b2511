package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const someToken = "0123456789abcdef"

// parse reads settings beside a valid token.
func parse(pairs ...string) (Config, error) {
	return ParseConfig(append([]string{"DIAGNOSTICS_WORKER_TOKEN=" + someToken}, pairs...))
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	c, err := parse("PATH=/bin")
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		ListenAddr: "127.0.0.1:8081", Tokens: c.Tokens, MaxConcurrent: 64, PacketsPerSecond: 5000, TargetPerSecond: 100,
		LogLevel: logLevel(slog.LevelInfo), LogFormat: "json", ShutdownTimeout: duration(30 * time.Second),
	}
	if diff := cmp.Diff(fmt.Sprintf("%+v", want), fmt.Sprintf("%+v", c)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{someToken}, c.Tokens.reveal()); diff != "" {
		t.Error(diff)
	}
}

func TestEmptyIsAbsent(t *testing.T) {
	t.Parallel()
	pairs := []string{"DIAGNOSTICS_WORKER_TOKEN_FILE="}
	for _, s := range settings() {
		if s.name != "DIAGNOSTICS_WORKER_TOKEN" {
			pairs = append(pairs, s.name+"=")
		}
	}
	empty, err := parse(pairs...)
	if err != nil {
		t.Fatal(err)
	}
	unset, _ := parse()
	if diff := cmp.Diff(fmt.Sprintf("%+v", unset), fmt.Sprintf("%+v", empty)); diff != "" {
		t.Error(diff)
	}
	if _, err := ParseConfig([]string{"DIAGNOSTICS_WORKER_TOKEN="}); err == nil || !strings.Contains(err.Error(), "DIAGNOSTICS_WORKER_TOKEN is not set") {
		t.Errorf("an empty token: %v", err)
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		taken    []string
		refused  []string
		mentions string // in the line that refuses
	}{
		{"WORKER_LISTEN_ADDR", []string{":0", "127.0.0.1:65535", "[::1]:8081", "localhost:1"},
			[]string{"127.0.0.1", "127.0.0.1:65536", "127.0.0.1:http", "::1:80", "a b:1", "http://127.0.0.1:80"}, "host:port"},
		{"METRICS_LISTEN_ADDR", []string{"127.0.0.1:9091"}, []string{"9091", "true"}, "host:port"},
		{"INCLUDE_RAW_DIAGNOSTICS", []string{"true", "false"}, []string{"1", "yes", "TRUE", " true"}, "true or false"},
		{"WORKER_MAX_CONCURRENT", []string{"1", "1000000000"}, []string{"0", "-1", "1000000001", "1e3", "0x10", "+1", "many"}, "from 1 to 1000000000"},
		{"WORKER_PACKETS_PER_SECOND", []string{"0", "1000000000"}, []string{"-1", "1000000001", "4294967297", "1.5"}, "from 0 to 1000000000"},
		{"WORKER_TARGET_PACKETS_PER_SECOND", []string{"0", "1000000000"}, []string{"-1", "1000000001"}, "from 0 to 1000000000"},
		{"RUN_AS_UID", []string{"1", "65534", "4294967294"}, []string{"0", "-1", "nobody", "4294967295"}, "user id"},
		{"RUN_AS_GID", []string{"1", "65534", "4294967294"}, []string{"0", "-1", "nogroup", "4294967295"}, "group id"},
		{"LOG_LEVEL", []string{"debug", "info", "warn", "error"}, []string{"INFO", "trace", "4"}, "debug, info, warn or error"},
		{"LOG_FORMAT", []string{"json", "text"}, []string{"JSON", "logfmt"}, "json or text"},
		{"SHUTDOWN_DELAY", []string{"0s", "1m30s"}, []string{"5", "-1s", "soon"}, "a duration"},
		{"SHUTDOWN_TIMEOUT", []string{"0s", "30s"}, []string{"5", "-1s"}, "a duration"},
		{"DIAGNOSTICS_WORKER_TOKEN", []string{someToken, someToken + "," + someToken + "2", someToken + ", " + someToken + "2"},
			[]string{"0123456789abcde", ",", someToken + ",", someToken + ",short", strings.Repeat(someToken+",", 2) + someToken,
				"0123456789 abcdef", "0123456789äbcdef"}, "at least 16"},
	} {
		for _, value := range tt.taken {
			if _, err := parse(tt.name + "=" + value); err != nil {
				t.Errorf("%s=%s: %v", tt.name, value, err)
			}
		}
		for _, value := range tt.refused {
			_, err := parse(tt.name + "=" + value)
			if err == nil {
				t.Errorf("%s=%q is taken", tt.name, value)
				continue
			}
			if m := err.Error(); !strings.HasPrefix(m, tt.name+" takes ") || !strings.Contains(m, tt.mentions) || strings.Contains(m, "\n") {
				t.Errorf("%s=%q: %q", tt.name, value, m)
			}
		}
	}
}

func TestTwoTokens(t *testing.T) {
	t.Parallel()
	c, err := parse("DIAGNOSTICS_WORKER_TOKEN=" + someToken + ", another-0123456789")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{someToken, "another-0123456789"}, c.Tokens.reveal()); diff != "" {
		t.Error(diff)
	}
}

func TestTokenFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := 0
	file := func(content string) string {
		files++
		path := filepath.Join(dir, fmt.Sprint(files))
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, tt := range []struct {
		name    string
		env     []string
		mention string // empty where it is taken
	}{
		{"a token", []string{"DIAGNOSTICS_WORKER_TOKEN_FILE=" + file(someToken)}, ""},
		{"one newline", []string{"DIAGNOSTICS_WORKER_TOKEN_FILE=" + file(someToken+"\n")}, ""},
		{"two newlines", []string{"DIAGNOSTICS_WORKER_TOKEN_FILE=" + file(someToken+"\n\n")}, "DIAGNOSTICS_WORKER_TOKEN takes"},
		{"beside an empty variable", []string{"DIAGNOSTICS_WORKER_TOKEN=", "DIAGNOSTICS_WORKER_TOKEN_FILE=" + file(someToken)}, ""},
		{"beside the variable", []string{"DIAGNOSTICS_WORKER_TOKEN=" + someToken, "DIAGNOSTICS_WORKER_TOKEN_FILE=" + file(someToken)}, "both set"},
		{"short", []string{"DIAGNOSTICS_WORKER_TOKEN_FILE=" + file("short")}, "DIAGNOSTICS_WORKER_TOKEN takes"},
		{"empty", []string{"DIAGNOSTICS_WORKER_TOKEN_FILE=" + file("\n")}, "DIAGNOSTICS_WORKER_TOKEN_FILE takes"},
		{"a NUL", []string{"DIAGNOSTICS_WORKER_TOKEN_FILE=" + file(someToken+"\x00")}, "DIAGNOSTICS_WORKER_TOKEN_FILE takes"},
		{"too large", []string{"DIAGNOSTICS_WORKER_TOKEN_FILE=" + file(strings.Repeat("x", maxFileBytes+1))}, "DIAGNOSTICS_WORKER_TOKEN_FILE takes"},
		{"missing", []string{"DIAGNOSTICS_WORKER_TOKEN_FILE=" + filepath.Join(dir, "missing")}, "DIAGNOSTICS_WORKER_TOKEN_FILE takes"},
		{"a directory", []string{"DIAGNOSTICS_WORKER_TOKEN_FILE=" + dir}, "DIAGNOSTICS_WORKER_TOKEN_FILE takes"},
	} {
		c, err := ParseConfig(tt.env)
		if tt.mention == "" {
			if err != nil || c.Tokens.reveal()[0] != someToken {
				t.Errorf("%s: %v", tt.name, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), tt.mention) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.mention)
		}
		if err != nil && (strings.Contains(err.Error(), someToken) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s: %q", tt.name, err)
		}
	}
}

// Settings are read from what is given; the process's own environment neither counts nor changes.
func TestTheProcessEnvironmentIsLeftAlone(t *testing.T) {
	t.Setenv("WORKER_MAX_CONCURRENT", "7")
	c, err := parse("LOG_LEVEL=debug")
	if err != nil || c.MaxConcurrent != 64 {
		t.Errorf("%v, %d places", err, c.MaxConcurrent)
	}
	if os.Getenv("WORKER_MAX_CONCURRENT") != "7" || os.Getenv("LOG_LEVEL") != "" || os.Getenv("DIAGNOSTICS_WORKER_TOKEN") != "" {
		t.Error("the process's environment was changed")
	}
}

func TestSecretsPrintNothing(t *testing.T) {
	t.Parallel()
	c, err := parse()
	if err != nil {
		t.Fatal(err)
	}
	asJSON, _ := json.Marshal(c)
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "config", c, "token", c.Tokens[0])
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "config", c, "token", c.Tokens[0])
	all := log.String() + string(asJSON)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		all += fmt.Sprintf(verb, c) + fmt.Sprintf(verb, c.Tokens) + fmt.Sprintf(verb, c.Tokens[0]) + fmt.Sprintf(verb, &c)
	}
	for _, form := range []string{someToken, fmt.Sprintf("%x", someToken), fmt.Sprintf("%X", someToken)} {
		if strings.Contains(all, form) {
			t.Errorf("the token is printed as %q", form)
		}
	}
	if !strings.Contains(all, redacted) {
		t.Error("nothing says that a value was held back")
	}
}
