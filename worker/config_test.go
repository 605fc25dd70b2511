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

	"diagnostics/daemon"
	"diagnostics/daemon/settings"

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
		Settings: daemon.Settings{LogLevel: "info", LogFormat: "json", ShutdownTimeout: settings.Duration(30 * time.Second)},
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
	for _, s := range settings.Of[Config]() {
		if s.Name != "DIAGNOSTICS_WORKER_TOKEN" {
			pairs = append(pairs, s.Name+"=")
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
	if _, err := ParseConfig([]string{"DIAGNOSTICS_WORKER_TOKEN="}); err == nil ||
		!strings.Contains(err.Error(), "DIAGNOSTICS_WORKER_TOKEN is not set") {
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
		{"WORKER_LISTEN_ADDR", []string{":0"}, []string{"127.0.0.1"}, "host:port"},
		{"METRICS_LISTEN_ADDR", []string{"127.0.0.1:9091"}, []string{"9091"}, "host:port"},
		{"WORKER_TLS_CERT_FILE", nil, []string{"/a\nb"}, "path of a file"},
		{"WORKER_TLS_KEY_FILE", nil, []string{"/a\nb"}, "path of a file"},
		{"WORKER_TLS_CLIENT_CA_FILE", nil, []string{"/a\nb"}, "path of a file"},
		{"INCLUDE_RAW_DIAGNOSTICS", []string{"true", "false"}, []string{"1"}, "true or false"},
		{"WORKER_MAX_CONCURRENT", []string{"1", "1000000000"}, []string{"0", "-1", "1000000001"}, "from 1 to 1000000000"},
		{"WORKER_PACKETS_PER_SECOND", []string{"0", "1000000000"}, []string{"-1", "1000000001"}, "from 0 to 1000000000"},
		{"WORKER_TARGET_PACKETS_PER_SECOND", []string{"0", "1000000000"}, []string{"-1", "1000000001"}, "from 0 to 1000000000"},
		{"RUN_AS_UID", []string{"1", "65534", "4294967294"}, []string{"0", "-1", "nobody", "4294967295"}, "user id"},
		{"RUN_AS_GID", []string{"1", "65534", "4294967294"}, []string{"0", "-1", "nogroup", "4294967295"}, "group id"},
		{"LOG_LEVEL", []string{"debug", "info", "warn", "error"}, []string{"INFO", "trace", "4"}, "debug, info, warn or error"},
		{"LOG_FORMAT", []string{"json", "text"}, []string{"JSON", "logfmt"}, "json or text"},
		{"PPROF_ENABLED", []string{"true", "false"}, []string{"1", "yes"}, "true or false"},
		{"SHUTDOWN_DELAY", []string{"0s", "1m30s"}, []string{"5"}, "a duration"},
		{"SHUTDOWN_TIMEOUT", []string{"0s", "30s"}, []string{"5"}, "a duration"},
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
			if m := err.Error(); !strings.HasPrefix(m, tt.name+" takes ") || !strings.Contains(m, tt.mentions) ||
				strings.Contains(m, "\n") {
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

// Package settings has the rules for the files; that the token may come from one is the worker's.
func TestTokenFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "token")
	for content, mention := range map[string]string{
		someToken + "\n": "", "short": "DIAGNOSTICS_WORKER_TOKEN_FILE takes", "": "DIAGNOSTICS_WORKER_TOKEN_FILE takes",
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := ParseConfig([]string{"DIAGNOSTICS_WORKER_TOKEN_FILE=" + path})
		if mention == "" {
			if err != nil || c.Tokens.reveal()[0] != someToken {
				t.Errorf("%q: %v", content, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), mention) {
			t.Errorf("%q: %v, want %q", content, err, mention)
		}
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
	if !strings.Contains(all, "[redacted]") {
		t.Error("nothing says that a value was held back")
	}
}
