package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"diagnostics/daemon"
	"diagnostics/daemon/daemontest"
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
		{"NAT64_PREFIXES", []string{"auto", "2a0e:1:2:64::/96, 2a0e:1::/32"}, []string{"2a0e:1:2:64::/95", "10.0.0.0/32", "x"}, "IPv6 prefixes"},
		{"WORKER_TARGET_PACKETS_PER_SECOND", []string{"0", "1000000000"}, []string{"-1", "1000000001"}, "from 0 to 1000000000"},
		{"RUN_AS_UID", []string{"1", "65534", "4294967294"}, []string{"0", "-1", "nobody", "4294967295"}, "user id"},
		{"RUN_AS_GID", []string{"1", "65534", "4294967294"}, []string{"0", "-1", "nogroup", "4294967295"}, "group id"},
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

func TestComposePassesSettingsOn(t *testing.T) {
	t.Parallel()
	daemontest.Compose(t, "../docker-compose.yml", "worker", settings.Of[Config]())
}

// TestEnvironmentFile keeps the example that the package installs equal to the code.
func TestEnvironmentFile(t *testing.T) {
	t.Parallel()
	daemontest.EnvFile(t, "../deploy/systemd/worker.env",
		"Settings of diagnostics-worker.service. Lines are defaults. To change one, uncomment it and run:\n"+
			"systemctl restart diagnostics-worker\n"+
			"The service itself sets DIAGNOSTICS_WORKER_TOKEN_FILE=/etc/diagnostics/worker-token. "+
			"Settings in this file take precedence. The service has a user of its own, so RUN_AS_UID and RUN_AS_GID are of no use.",
		settings.Of[Config](), *update)
}

// A worker on a host of its own makes its token by itself, one that it then starts with.
func TestInitSecrets(t *testing.T) {
	t.Parallel()
	env := []string{"DIAGNOSTICS_WORKER_TOKEN_FILE=" + filepath.Join(t.TempDir(), "token")}
	if _, err := ParseConfig(env); err == nil {
		t.Fatal("a token that is not there was taken")
	}
	if err := run(t.Context(), []string{"-init-secrets"}, env, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	config, err := ParseConfig(env)
	if err != nil || len(config.Tokens) != 1 {
		t.Errorf("%d tokens, %v", len(config.Tokens), err)
	}
}

var update = flag.Bool("update", false, "rewrite the generated tables of the docs")

// TestSettingsTable keeps the table of settings in docs/settings.md equal to the code.
func TestSettingsTable(t *testing.T) {
	t.Parallel()
	daemontest.Section(t, "../docs/settings.md", "<!-- settings:worker -->", "<!-- /settings -->",
		settings.Table[Config](), *update)
}

// Every setting documents its meaning and its values.
func TestSettingsAreDocumented(t *testing.T) {
	t.Parallel()
	for _, s := range settings.Of[Config]() {
		if s.Name == "" || s.Doc == "" || s.Takes == "" {
			t.Errorf("%+v", s)
		}
	}
}

// -check-config fails where a start would, over files too, and prints what it would warn of; the exit status is 0 or 1.
func TestCheckConfig(t *testing.T) {
	t.Parallel()
	const token = "DIAGNOSTICS_WORKER_TOKEN=0123456789abcdef"
	for env, want := range map[string]struct{ printed, fault string }{
		token:                         {},
		"NOTHING=set":                 {"", "DIAGNOSTICS_WORKER_TOKEN is not set"},
		token + " PPROF_ENABLED=true": {"PPROF_ENABLED does nothing", ""},
		"DIAGNOSTICS_WORKER_TOKENS=x": {"setting=DIAGNOSTICS_WORKER_TOKEN", "DIAGNOSTICS_WORKER_TOKEN is not set"},
		token + " RUN_AS_USER=1":      {"variable=RUN_AS_USER setting=RUN_AS_UID", ""},
		token +
			" WORKER_TLS_CERT_FILE=/no WORKER_TLS_KEY_FILE=/no": {"", "WORKER_TLS_CERT_FILE with WORKER_TLS_KEY_FILE"},
		token + " DIAGNOSTICS_WORKER_URL=http://x RATE_LIMIT_REQUESTS=1": {},
	} {
		var stdout, stderr strings.Builder
		err := run(t.Context(), []string{"-check-config"}, strings.Fields(env), &stdout, &stderr)
		if (err == nil) != (want.fault == "") || err != nil && !strings.HasPrefix(err.Error(), want.fault) {
			t.Errorf("%s: %v, %s", env, err, stderr.String())
		}
		if got := stdout.String(); (got == "") != (want.printed == "") || !strings.Contains(got, want.printed) {
			t.Errorf("%s: printed %q", env, got)
		}
	}
}
