package main

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"diagnostics/daemon/daemontest"
	"diagnostics/gateway/internal/config"
	"diagnostics/shared/parallel"
)

// listed is a gateway with lists in files, which are reread when the test asks.
type listed struct {
	*service
	dir    string
	reread chan os.Signal
}

func withLists(t *testing.T, env ...string) *listed {
	t.Helper()
	l := &listed{dir: t.TempDir(), reread: make(chan os.Signal)}
	for _, name := range []string{"DENY_TARGETS", "HOST_ADDRESSES", "DENY_CLIENTS", "CLIENT_LIMITS"} {
		env = append(env, name+"_FILE="+daemontest.File(t, l.dir, name, nil))
	}
	c, err := config.Parse(append(env, "RDAP_BOOTSTRAP_URL=off", "TRUST_PROXY_HEADERS=true", "EGRESS_FAMILIES=ipv4",
		"DNS_RESOLVERS=127.0.0.1:1"))
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	if l.service, err = wire(c, nil, log); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.close)
	ctx, cancel := context.WithCancel(t.Context())
	watching := parallel.Start(func() bool {
		l.files.Run(ctx, l.reread, log)
		return true
	})
	t.Cleanup(func() { cancel(); watching.Wait() })
	return l
}

// replace writes a list, and returns when it was looked at twice: the last send waits for the second look.
func (l *listed) replace(t *testing.T, name, text string) {
	t.Helper()
	daemontest.File(t, l.dir, name, []byte(text))
	for range 3 {
		l.reread <- os.Interrupt
	}
}

func (l *listed) run(client, slug, input string) *http.Response {
	body := strings.NewReader(`{"input":"` + input + `"}`)
	r := httptest.NewRequest(http.MethodPost, "/api/tools/"+slug, body)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Real-Ip", client)
	w := httptest.NewRecorder()
	l.edge.ServeHTTP(w, r)
	return w.Result()
}

func TestListsAreReread(t *testing.T) {
	t.Parallel()
	l := withLists(t, "DENY_TARGETS=192.31.196.0/24", "HOST_ADDRESSES=192.31.197.1")
	const other = "93.184.217.9"
	status := func(target string) int { return l.run("198.51.100.7", "port-checker", target+":1").StatusCode }
	refused := func(target string) bool { return l.egress.Permit(netip.MustParseAddr(target)) != nil }
	if status("192.31.196.1") != 400 || refused(other) || !refused("192.31.197.1") {
		t.Error("without lists the plain settings count alone")
	}
	l.replace(t, "DENY_TARGETS", "# the owner objects\n"+other+" # both\n\ndenied.example.net\r\n")
	for target, want := range map[string]int{other: 400, "192.31.196.1": 400, "www.denied.example.net": 400} {
		if got := status(target); got != want {
			t.Errorf("%s: %d", target, got)
		}
	}
	l.replace(t, "DENY_TARGETS", "192.0.2.0/33")
	if !refused(other) {
		t.Error("a bad list is taken")
	}
	l.replace(t, "DENY_TARGETS", "")
	if refused(other) {
		t.Error("an empty list is not taken")
	}
	l.replace(t, "HOST_ADDRESSES", other+"/31")
	if !refused(other) || !refused("93.184.217.8") || refused("93.184.217.10") || !refused("192.31.197.1") {
		t.Error("HOST_ADDRESSES_FILE is not read")
	}
}

func TestDeniedClients(t *testing.T) {
	t.Parallel()
	l := withLists(t, "RATE_LIMIT_REQUESTS=1")
	l.replace(t, "DENY_CLIENTS", "198.51.100.0/24\n2001:db8:bad::/48")
	for client, want := range map[string]int{
		"198.51.100.0": 403, "198.51.100.255": 403, "2001:db8:bad:ffff::1": 403, "::ffff:198.51.100.1": 403,
		"198.51.99.255": 200, "198.51.101.0": 200, "2001:db8:bae::1": 200,
	} {
		for range 2 { // a refused request is not charged
			resp := l.run(client, "my-ip", "")
			body, _ := io.ReadAll(resp.Body)
			if resp.StatusCode != want && (want == 403 || resp.StatusCode != 429) {
				t.Errorf("%s: %d %s", client, resp.StatusCode, body)
			}
			if want == 403 && (resp.Header.Get("X-Ratelimit-Limit") != "" || !strings.Contains(string(body), `{"error":"The operator`)) {
				t.Errorf("%s: %v %s", client, resp.Header, body)
			}
		}
	}
	// What comes before step 9 is answered first.
	if got := l.run("198.51.100.1", "traceroute", "93.184.217.9").StatusCode; got != 501 {
		t.Errorf("a tool that is off: %d", got)
	}
	if got := l.run("198.51.100.1", "port-checker", "127.0.0.1:1").StatusCode; got != 400 {
		t.Errorf("a private target: %d", got)
	}
	l.replace(t, "DENY_CLIENTS", "")
	if got := l.run("198.51.100.9", "my-ip", "").StatusCode; got != 200 {
		t.Errorf("after the list was emptied: %d", got)
	}
}

func TestClientLimits(t *testing.T) {
	t.Parallel()
	l := withLists(t, "RATE_LIMIT_REQUESTS=4", "RATE_LIMIT_CLIENT_REQUESTS=4", "RATE_LIMIT_WINDOW=1h")
	l.replace(t, "CLIENT_LIMITS", "198.51.100.0/24 2 office\n198.51.100.64/26 0.01 slow\n2001:db8::/32 6 lab")
	for client, want := range map[string]int{
		"203.0.113.1": 4, "198.51.100.1": 8, "198.51.100.65": 1, "2001:db8:1:2::3": 24, "2001:db9:1:2::3": 4,
	} {
		allowed := 0
		for l.run(client, "my-ip", "").StatusCode == http.StatusOK {
			allowed++
		}
		if allowed != want {
			t.Errorf("%s: %d runs, want %d", client, allowed, want)
		}
	}
	w := httptest.NewRecorder()
	l.metrics.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for _, line := range []string{
		`diagnostics_listed_client_runs_total{allowed="true",label="office"} 8`,
		`diagnostics_listed_client_runs_total{allowed="false",label="slow"} 1`,
		`diagnostics_listed_client_runs_total{allowed="true",label="lab"} 24`,
	} {
		if !strings.Contains(w.Body.String(), line) {
			t.Errorf("no %s", line)
		}
	}
}

func TestBadListsStopTheStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i, tt := range []struct{ setting, text, names string }{
		{"DENY_TARGETS_FILE", "example.net\n192.0.2.0/33", "line 2"},
		{"HOST_ADDRESSES_FILE", "example.net", "line 1"},
		{"DENY_CLIENTS_FILE", "\n\n10.0.0.0/8, 10.1.0.0/16", "line 3"},
		{"CLIENT_LIMITS_FILE", "10.0.0.0/8 10", "line 1"},
	} {
		path := daemontest.File(t, dir, filepath.Base(tt.setting)+string(rune('0'+i)), []byte(tt.text))
		for value, names := range map[string]string{path: tt.names, filepath.Join(dir, "none"): "cannot be read"} {
			err := run(t.Context(), nil, []string{"GATEWAY_LISTEN_ADDR=127.0.0.1:0", "RDAP_BOOTSTRAP_URL=off",
				tt.setting + "=" + value}, io.Discard, io.Discard)
			if err == nil || !strings.HasPrefix(err.Error(), tt.setting+" takes ") || !strings.Contains(err.Error(), names) ||
				strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v", tt.setting, err)
			}
		}
	}
}

// checkedQuietly are settings that fetch nothing, and that any limit of open files is enough for.
func checkedQuietly() []string {
	return []string{"RDAP_BOOTSTRAP_URL=off", "MAX_CONNECTIONS=64", "MAX_IN_FLIGHT=8"}
}

func TestCheckConfig(t *testing.T) {
	t.Parallel()
	list := daemontest.File(t, t.TempDir(), "list", []byte("10.0.0.0/8"))
	for env, want := range map[string]string{
		"DENY_CLIENTS_FILE=" + list: "", "CLIENT_LIMITS_FILE=" + list: "CLIENT_LIMITS_FILE takes ",
		"LOG_LEVEL=loud": "LOG_LEVEL takes ", "DISABLED_TOOLS=nothing": "DISABLED_TOOLS takes ",
	} {
		var stdout, stderr strings.Builder
		err := run(t.Context(), []string{"-check-config"}, append(checkedQuietly(), env), &stdout, &stderr)
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", env, err)
		}
		if stdout.Len()+stderr.Len() > 0 {
			t.Errorf("%s: %q, %q", env, stdout.String(), stderr.String())
		}
	}
}

// -check-config prints what a start would warn of, and names that resemble settings even where a setting is wrong.
func TestCheckConfigWarns(t *testing.T) {
	t.Parallel()
	for env, want := range map[string]string{
		"RATE_LIMIT_REQUEST=5":                                        "variable=RATE_LIMIT_REQUEST setting=RATE_LIMIT_REQUESTS",
		"DIAGNOSTICS_WORKER_URLS=http://192.0.2.1:80":                 "variable=DIAGNOSTICS_WORKER_URLS setting=DIAGNOSTICS_WORKER_URL",
		"PPROF_ENABLED=true":                                          "PPROF_ENABLED does nothing",
		"TRUST_PROXY_HEADERS=true":                                    "CLIENT_ADDRESS_HEADER is not set",
		"ENABLE_WORKER_TOOLS=true":                                    "missing=DIAGNOSTICS_WORKER_URL",
		"PEER_LISTEN_ADDR=127.0.0.1:8443 PEER_TOKEN=0123456789abcdef": "listen=127.0.0.1:8443",
		"GATEWAY_LISTEN_ADDR=:0 KUBERNETES_SERVICE_HOST=192.0.2.1":    "neither PUBLIC_DOMAIN nor HOST_ADDRESSES is set",
		"LOG_LEVELS=debug LOG_LEVEL=loud":                             "variable=LOG_LEVELS setting=LOG_LEVEL",
	} {
		var stdout, stderr strings.Builder
		variables := append(checkedQuietly(), strings.Fields(env)...)
		err := run(t.Context(), []string{"-check-config"}, variables, &stdout, &stderr)
		if (err == nil) == strings.Contains(env, "loud") || stderr.Len() > 0 {
			t.Errorf("%s: %v, %s", env, err, stderr.String())
		}
		if got := stdout.String(); !strings.HasPrefix(got, "level=WARN msg=") || !strings.Contains(got, want) {
			t.Errorf("%s: no %s in %q", env, want, got)
		}
	}
}

// A check of the settings makes neither the audit log nor the key of pseudonyms, which a start makes.
func TestCheckConfigCreatesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env := []string{"RDAP_BOOTSTRAP_URL=off", "PLACE_ID=fra", "PLACE_HASH_KEY_FILE=" + filepath.Join(dir, "key"),
		"AUDIT_LOG_FILE=" + filepath.Join(dir, "audit.log")}
	if err := run(t.Context(), []string{"-check-config"}, env, io.Discard, io.Discard); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v", entries, err)
	}
	for _, setting := range []string{"PLACE_HASH_KEY_FILE", "AUDIT_LOG_FILE"} {
		missing := setting + "=" + filepath.Join(dir, "none", "file")
		err := run(t.Context(), []string{"-check-config"}, append(env, missing), io.Discard, io.Discard)
		if err == nil || !strings.HasPrefix(err.Error(), setting+" takes ") {
			t.Errorf("%s: %v", missing, err)
		}
	}
}

// Variables of compose and of the worker, which may be in one file with the gateway's, resemble none of its settings.
func TestNoOtherVariableResemblesASetting(t *testing.T) {
	t.Parallel()
	var env []string
	for path, variable := range map[string]string{
		"../docker-compose.yml": `\$\{([A-Z0-9_]+)`, "../deploy/compose.tls.yml": `\$\{([A-Z0-9_]+)`,
		"../deploy/compose.place.yml": `\$\{([A-Z0-9_]+)`, "../deploy/systemd/worker.env": `(?m)^#([A-Z0-9_]+)=`,
	} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		names := regexp.MustCompile(variable).FindAllStringSubmatch(string(text), -1)
		if len(names) == 0 {
			t.Errorf("%s has no variables", path)
		}
		for _, name := range names {
			env = append(env, name[1]+"=x")
		}
	}
	var stdout strings.Builder
	_ = run(t.Context(), []string{"-check-config"}, env, &stdout, io.Discard)
	if strings.Contains(stdout.String(), "resembles") {
		t.Error(stdout.String())
	}
}
