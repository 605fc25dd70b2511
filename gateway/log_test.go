package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// foreignLines is the metric of what libraries tried to print, where they did.
var foreignLines = regexp.MustCompile(`(?m)^diagnostics_foreign_log_lines_total [1-9]`)

// fetch gives the body of a page of a gateway.
func fetch(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d, %v", url, resp.StatusCode, err)
	}
	return string(body)
}

// What libraries print is counted and not shown: Redis' driver complains of every dial that fails.
func TestOnlyOurOwnLinesAreShown(t *testing.T) {
	t.Parallel()
	p := spawn(t, "METRICS_LISTEN_ADDR=127.0.0.1:0", "LOG_LEVEL=debug", "RATE_LIMIT_REDIS_URL=redis://127.0.0.1:1")
	line := p.stdout.line(t, "gateway started")
	p.stdout.line(t, "redis is down, memory takes over")
	if m := fetch(t, fmt.Sprintf("http://%s/metrics", line["metrics"])); !foreignLines.MatchString(m) ||
		!strings.Contains(m, "\ndiagnostics_dropped_log_lines_total 0\n") {
		t.Errorf("metrics: %s", m)
	}
	_ = p.Signal(syscall.SIGTERM)
	if err := <-p.ended; err != nil || p.stderr.String() != "" {
		t.Errorf("%v, stderr %q", err, p.stderr)
	}
	for line := range strings.Lines(p.stdout.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("not ours: %s", line)
		}
	}
}

// startLine reads up to the line that tells where the gateway listens; warnings about its surroundings come before it.
func startLine(t *testing.T, log *bufio.Reader) (started struct{ Listen, Metrics string }) {
	t.Helper()
	for started.Listen == "" {
		text, err := log.ReadString('\n')
		if err != nil || json.Unmarshal([]byte(text), &started) != nil {
			t.Fatalf("%v: %q", err, text)
		}
	}
	return started
}

// A reader of the log that is gone or stuck costs lines, not answers, and not an orderly end.
func TestAnswersDoNotDependOnTheLogsReader(t *testing.T) {
	t.Parallel()
	for name, gone := range map[string]bool{"gone": true, "stuck": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			cmd := exec.Command(os.Args[0])
			cmd.Env = []string{asMain + "=1", "GATEWAY_LISTEN_ADDR=127.0.0.1:0", "METRICS_LISTEN_ADDR=127.0.0.1:0",
				"LOG_LEVEL=debug"}
			cmd.Stdout, cmd.Stderr = w, w
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = cmd.Process.Kill() }()
			w.Close()
			// The kernel's own buffer holds 64 KiB, some 300 lines.
			started := startLine(t, bufio.NewReaderSize(r, 16))
			if gone {
				r.Close()
			}
			for range 500 {
				fetch(t, "http://"+started.Listen+"/healthz")
			}
			if gone && strings.Contains(fetch(t, "http://"+started.Metrics+"/metrics"), "dropped_log_lines_total 0\n") {
				t.Error("the lines are not counted")
			}
			begin := time.Now()
			_ = cmd.Process.Signal(syscall.SIGTERM)
			if err := cmd.Wait(); err != nil || time.Since(begin) > 5*time.Second {
				t.Errorf("it ended after %v with %v", time.Since(begin), err)
			}
		})
	}
}
