package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"diagnostics/daemon/daemontest"
	"diagnostics/gateway/apitest"
	"diagnostics/gateway/internal/apidoc/openapi"
	"diagnostics/gateway/internal/httpapi"
	"diagnostics/gateway/internal/limits/ratelimit"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tools"
)

// described is the description of every tool. Each is tried alone first, which shows whose file is at fault and that it
// refers to no other tool's: what several need stands in the part that they share.
var described = sync.OnceValues(func() (*apitest.Description, error) {
	var broken []error
	for _, one := range registry() {
		if _, err := load([]tool.Tool{one}); err != nil {
			broken = append(broken, fmt.Errorf("%s: %w", openapi.File(one.Slug()), err))
		}
	}
	if broken != nil {
		return nil, errors.Join(broken...)
	}
	return load(registry())
})

func load(tools []tool.Tool) (*apitest.Description, error) {
	text, err := openapi.Document(tools)
	if err != nil {
		return nil, err
	}
	return apitest.Load([]byte(text))
}

func description(t *testing.T) *apitest.Description {
	t.Helper()
	d, err := described()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// typical is the request that the description shows for a tool.
func typical(t *testing.T, d *apitest.Description, slug string) string {
	t.Helper()
	for _, described := range d.Tools() {
		if described.Slug != slug || described.Typical == nil {
			continue
		}
		body, err := json.Marshal(described.Typical)
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	t.Fatalf("%s: missing: operation.requestExamples.typical", openapi.File(slug))
	return ""
}

// A tool's directory that is not in the registry is a tool that cannot be called.
func TestOpenAPIFilesAreThoseOfTheRegistry(t *testing.T) {
	t.Parallel()
	found, err := filepath.Glob("internal/tools/*/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var registered []string
	for _, one := range registry() {
		registered = append(registered, strings.TrimPrefix(openapi.File(one.Slug()), "gateway/"))
	}
	for _, file := range registered {
		if !slices.Contains(found, file) {
			t.Errorf("gateway/%s: write this file", file)
		}
	}
	for _, file := range found {
		if !slices.Contains(registered, file) {
			t.Errorf("gateway/internal/tools/all.go: no line for the tool of gateway/%s", file)
		}
	}
}

var schemaName = regexp.MustCompile(`(?m)^    (\w+):`)

// schemaNames are the schemas of a document.
func schemaNames(t *testing.T, document string) []string {
	t.Helper()
	_, schemas, _ := strings.Cut(document, "\n  schemas:\n")
	var names []string
	for _, found := range schemaName.FindAllStringSubmatch(schemas, -1) {
		names = append(names, found[1])
	}
	if len(names) == 0 {
		t.Fatal("no schemas found")
	}
	return names
}

// A schema stands where it is used: with the one tool that uses it, or in the part that tools share.
func TestOpenAPIKeepsSchemasWhereTheyAreUsed(t *testing.T) {
	t.Parallel()
	whole, err := document()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range schemaNames(t, whole) {
		if !strings.Contains(strings.ReplaceAll(whole, `"`, "'"), schemaReference(name)) {
			t.Errorf("nothing uses the schema %s", name)
		}
	}
	shared, err := openapi.Document(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range schemaNames(t, shared) {
		var users []string
		for _, one := range registry() {
			if strings.Contains(one.OpenAPI(), schemaReference(name)) {
				users = append(users, openapi.File(one.Slug()))
			}
		}
		if len(users) == 1 && !strings.Contains(shared, schemaReference(name)) {
			t.Errorf("gateway/internal/apidoc/openapi/openapi.yaml: the schema %s belongs to %s alone", name, users[0])
		}
	}
}

func schemaReference(schema string) string { return "'#/components/schemas/" + schema + "'" }

// The edge's own answers, on every path that the description has.
func TestOpenAPIDescribesTheEdge(t *testing.T) {
	t.Parallel()
	n, certs := network(t)
	d := description(t)
	s := gatewayOn(t, n.Client(nil), certs, nil, nil)
	big := `{"input":"` + strings.Repeat("x", 5000) + `"}`
	for _, path := range d.Paths() {
		method, path, _ := strings.Cut(path, " ")
		if method != http.MethodPost {
			continue
		}
		for body, want := range map[string]int{"": 415, "[]": 400, big: 413, `{"input":1}`: 400} {
			if status, _ := ask(t, d, s, "POST", path, path, body); status != want {
				t.Errorf("%s: status %d, want %d", path, status, want)
			}
		}
		ask(t, d, s, "POST", path, path, "{}", "Origin", "https://evil.example")
		ask(t, d, s, "GET", path, path, "")
		ask(t, d, s, "OPTIONS", path, path, "")
	}
	for _, path := range []string{"/api/connection/ping", "/api/connection/packet-loss"} {
		ask(t, d, s, "GET", path, path, "")
		ask(t, d, s, "GET", path+"?n=5", path, "")
		ask(t, d, s, "GET", path+"?n=x", path, "")
		ask(t, d, s, "GET", path, path, "", "Origin", "null")
		ask(t, d, s, "HEAD", path, path, "")
		ask(t, d, s, "POST", path, path, "")
	}
	for _, path := range []string{"/api/", "/api/none", "/api/tools/none"} {
		ask(t, d, s, "GET", path, "", "")
	}
	ask(t, d, s, "GET", "/api/openapi.yaml", "/api/openapi.yaml", "")
	ask(t, d, s, "PUT", "/api/openapi.yaml", "/api/openapi.yaml", "")
	ask(t, d, s, "POST", "/api", "/api", "")
	ask(t, d, s, "GET", "/healthz", "/healthz", "")
	ask(t, d, s, "GET", "/readyz", "/readyz", "")
	for _, tool := range registry() {
		path := "/api/tools/" + tool.Slug()
		status, _ := ask(t, d, s, "POST", path, path, typical(t, d, tool.Slug()))
		if (status == http.StatusNotImplemented) != tool.NeedsWorker() {
			t.Errorf("%s without a worker: %d", tool.Slug(), status)
		}
	}
}

// Limits, a full instance, a run that takes too long and an unexpected failure, through a real tool.
func TestOpenAPIDescribesTroubles(t *testing.T) {
	t.Parallel()
	d := description(t)
	n, certs := network(t)
	const path, body = "/api/tools/dns-lookup", `{"input":"site.test-site.com"}`
	tests := []struct {
		name   string
		status int
		change func(*httpapi.Config)
	}{
		{"limited", 429, func(c *httpapi.Config) {
			c.Limiter = limiter{decision: ratelimit.Decision{Limit: 1, RetryAfter: time.Second}}
		}},
		{"store gone", 500, func(c *httpapi.Config) { c.Limiter = limiter{err: io.ErrUnexpectedEOF} }},
		{"full", 503, func(c *httpapi.Config) { c.MaxInFlight = 0 }},
		{"no time", 504, func(c *httpapi.Config) { c.RunLimit = time.Nanosecond }},
		{"switched off", 501, func(c *httpapi.Config) { c.Disabled = []string{"dns-lookup"} }},
		{"denied", 400, func(c *httpapi.Config) { c.Deny, _ = target.ParseDenylist("test-site.com") }},
	}
	for _, tt := range tests {
		s := gatewayOn(t, n.Client(nil), certs, nil, tt.change)
		if status, envelope := ask(t, d, s, "POST", path, path, body); status != tt.status {
			t.Errorf("%s: status %d, want %d: %v", tt.name, status, tt.status, envelope)
		}
	}
}

type limiter struct {
	decision ratelimit.Decision
	err      error
}

func (l limiter) Take(context.Context, ...ratelimit.Stage) (ratelimit.Decision, error) {
	return l.decision, l.err
}

// The table of tools comes from the API's description, which a test holds against the registry.
func TestToolsTable(t *testing.T) {
	var b strings.Builder
	b.WriteString("| tool | does | input |\n|---|---|---|\n")
	described := description(t).Tools()
	for _, slug := range slugs(tools.All(tools.Deps{Now: time.Now})) {
		for _, tool := range described {
			if tool.Slug != slug {
				continue
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", slug, tool.Summary, strings.TrimSuffix(tool.Input, "."))
		}
	}
	daemontest.Section(t, readme, "<!-- tools -->", "<!-- /tools -->", b.String(), *update)
}

// The settings are wired: the header that they name is the one that my-ip and the limits go by.
func TestClientAddressHeader(t *testing.T) {
	t.Parallel()
	s := start(t, "TRUST_PROXY_HEADERS=true", "CLIENT_ADDRESS_HEADER=x-forwarded-for", "TRUSTED_PROXY_HOPS=2")
	if got := s.log.line(t, "gateway started")["clientAddress"]; got != "x-forwarded-for, entry 2 from the right" {
		t.Errorf("the start says %v", got)
	}
	for list, want := range map[string]string{
		"8.8.8.8, 8.8.4.4, 10.0.0.1": `"ip":"8.8.4.4"`,
		"8.8.4.4":                    `"available":false`,
		"8.8.8.8, x, 10.0.0.1":       `"available":false`,
	} {
		body := s.postWith(t, "my-ip", "", "X-Forwarded-For", list)
		if !strings.Contains(body, want) {
			t.Errorf("%s: %s, want %s", list, body, want)
		}
	}
}
