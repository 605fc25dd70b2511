package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// auditLines reads the audit log of a gateway that has ended: without times and ids, which must have their form.
func auditLines(t *testing.T, path string) []map[string]string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for line := range strings.Lines(string(text)) {
		var fields map[string]string
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		for name, form := range map[string]string{"time": `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`,
			"requestId": `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$`} {
			if !regexp.MustCompile(form).MatchString(fields[name]) {
				t.Errorf("%s: %q", name, fields[name])
			}
			delete(fields, name)
		}
		out = append(out, fields)
	}
	return out
}

// A line for each run that began, and for nothing else, with the host alone of what was typed; after a restart more of
// them.
func TestAuditLog(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	s := start(t, "AUDIT_LOG_FILE="+path, "RATE_LIMIT_REQUESTS=1")
	if s.log.line(t, "gateway started")["auditLog"] != "on" {
		t.Error("the start does not tell of it")
	}
	ask := func(slug, input string) string {
		resp, _ := s.post(t, slug, input)
		return resp.Header.Get("X-Request-Id")
	}
	id := ask("http-headers", "https://Bücher.Example.COM:8443/secret/path?token=secret#secret")
	ask("port-checker", "[2606:4700:4700:0::1111]:25")
	ask("asn-lookup", "as15169")
	ask("my-ip", "")
	ask("my-ip", "")                    // over the limit
	ask("dns-lookup", "secret_bad..")   // malformed
	ask("traceroute", "93.184.216.34")  // not enabled
	ask("port-checker", "127.0.0.1:25") // refused
	if _, page := s.get(t, s.url+"/privacy"); !strings.Contains(page, "A bounded audit log records") {
		t.Error("the page on privacy does not tell of it")
	}
	if _, m := s.get(t, s.metrics+"/metrics"); !strings.Contains(m, "\ndiagnostics_dropped_audit_lines_total 0\n") {
		t.Error("no metric")
	}
	s.stop()
	<-s.ended
	want := []map[string]string{
		{"client": "127.0.0.1", "tool": "http-headers", "host": "xn--bcher-kva.example.com"},
		{"client": "127.0.0.1", "tool": "port-checker", "host": "2606:4700:4700::1111"},
		{"client": "127.0.0.1", "tool": "asn-lookup", "host": "AS15169"},
		{"client": "127.0.0.1", "tool": "my-ip", "host": ""},
	}
	if diff := cmp.Diff(want, auditLines(t, path)); diff != "" {
		t.Error(diff)
	}
	if text, _ := os.ReadFile(path); !strings.Contains(string(text), id) || strings.Contains(string(text), "secret") {
		t.Errorf("%s", text)
	}
	s = start(t, "AUDIT_LOG_FILE="+path)
	ask("my-ip", "")
	s.stop()
	<-s.ended
	if n := len(auditLines(t, path)); n != len(want)+1 {
		t.Errorf("%d lines after a restart", n)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

// The client is the one that the limits count, in full.
func TestAuditLogTellsTheVisitorsAddress(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	s := start(t, "AUDIT_LOG_FILE="+path, "TRUST_PROXY_HEADERS=true")
	for _, address := range []string{"192.31.196.77", "::ffff:192.31.196.78", "2606:4700:0:1::42"} {
		s.postWith(t, "my-ip", "", "X-Real-Ip", address)
	}
	s.stop()
	<-s.ended
	var got []string
	for _, line := range auditLines(t, path) {
		got = append(got, line["client"])
	}
	if diff := cmp.Diff([]string{"192.31.196.77", "192.31.196.78", "2606:4700:0:1::42"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestAnAuditLogThatCannotBeOpenedStopsTheStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "secret", "audit.log"), "/dev/null"} {
		env := []string{"GATEWAY_LISTEN_ADDR=127.0.0.1:0", "AUDIT_LOG_FILE=" + path}
		err := run(context.Background(), nil, env, io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), "AUDIT_LOG_FILE") || strings.Contains(err.Error(), path) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%v", err)
		}
	}
}

// Several gateways can share a folder: each has a file with its host's name.
func TestAuditLogOfAHost(t *testing.T) {
	t.Parallel()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	s := start(t, "AUDIT_LOG_FILE="+filepath.Join(dir, "audit-%h.log"))
	s.post(t, "my-ip", "")
	s.stop()
	<-s.ended
	if n := len(auditLines(t, filepath.Join(dir, "audit-"+host+".log"))); n != 1 {
		t.Errorf("%d lines", n)
	}
}
