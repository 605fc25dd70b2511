//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"diagnostics/lab"
	"diagnostics/lab/internal/site"
)

// shape is every key that a line may have, with the form of its value; optional ones end in "?".
type shape map[string]string

// Forms of values.
const (
	uuid    = `[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`
	number  = `\d+(\.\d+)?(e[+-]\d+)?`
	whole   = `\d+|\d(\.\d+)?e\+\d+` // as a JSON number is printed
	status  = `0|[1-5]\d\d`
	prefix  = `(\d+\.){3}0/24|[0-9a-f:]+::/48|unknown|place [a-z0-9-]+`
	listen  = `127\.77\.\d+\.\d+:\d+`
	onOff   = `on|off`
	hosts   = `[0-9A-Za-z.:,\[\]-]+`
	stores  = `(127\.\d+\.\d+\.\d+|localhost):\d+|/.+|redis.*`
	route   = `unmatched|/|/report|/history|/api|/privacy|/robots\.txt|/assets/\*|/tools/:slug|/healthz|/readyz|/api/openapi\.yaml|/api/connection/(ping|packet-loss)|/api/tools/[a-z-]+|/peer/ready|/peer/tools/[a-z-]+`
	slug    = `[a-z-]+`
	outcome = `[a-z_]+`
	// what files are of, in the metrics too
	reloaded  = `[A-Z_]+_FILE( with [A-Z_]+_FILE)?`
	operation = `[a-z ]+`
	date      = `\d{4}-\d\d-\d\d`
)

// code is package redact's of a failure: a form that took any words would take a target's.
const code = `[A-Za-z0-9_,;-]+`

// shapes are all lines that our binaries write in the lab, by their message or, where that ends in "…", its
// beginning.
var shapes = map[string]shape{
	"request":        {"requestId": uuid, "method?": `GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|CONNECT|TRACE|other`, "route?": route, "slug?": slug, "status": status, "durationMs": number, "outcome?": outcome, "client?": prefix, "proxyRequestId?": `[A-Za-z0-9._-]+`, "traceparent?": `[0-9a-f-]+`},
	"request failed": {"requestId": uuid, "route": route, "operation?": operation, "code": code},
	"gateway started": {"version": `[0-9A-Za-z.+-]+`, "commit": `[0-9a-f]{40}|unknown`, "listen": listen, "metrics": `off|` + listen, "ipv4": `true|false`, "ipv6": `true|false`,
		"redis": `off|` + stores, "worker": `off|` + hosts, "place": `[a-z0-9-]+`, "peers": `off|\S+:\d+`, "proxyHeaders": `none|any peer|peers in TRUSTED_PROXY_CIDRS`, "clientAddress": `the connection|[a-z0-9 ,-]+`, "auditLog": onOff},
	"worker started":     {"version": `[0-9A-Za-z.+-]+`, "commit": `[0-9a-f]{40}|unknown`, "listen": listen, "metrics": `off|` + listen, "families": `\[4 6\]|\[4\]|\[6\]`, "mode": `raw|datagram`, "slots": number, "tls": `off|on|client certificates`},
	"privileges dropped": {"uid": number, "gid": number},
	"job":                {"tool": `traceroute|ping|packet-loss`, "status": status, "durationMs": number, "requestId": uuid, "operation?": operation, "code?": code},
	"the diagnostics worker is lost, its tools fail":                                {"worker": hosts, "error": `(connect to the worker|the worker does not answer|the worker broke off): .*`},
	"the diagnostics worker is back":                                                {"worker": hosts, "outageMs": whole},
	"the diagnostics worker is not ready, its tools may fail":                       {"worker": hosts, "error": `.+`},
	"the diagnostics worker is ready again":                                         {"worker": hosts, "outageMs": whole},
	"a diagnostics worker is lost":                                                  {"worker": listen, "error": `(connect to the worker|the worker does not answer|the worker broke off): .*`},
	"a diagnostics worker is back":                                                  {"worker": listen, "outageMs": whole},
	"a diagnostics worker is not ready":                                             {"worker": listen, "error": `.+`},
	"a diagnostics worker is ready again":                                           {"worker": listen, "outageMs": whole},
	"a place is lost":                                                               {"place": `[a-z0-9-]+`, "error": `.+`},
	"a place is back":                                                               {"place": `[a-z0-9-]+`, "outageMs": whole},
	"a place is not ready, runs there may fail":                                     {"place": `[a-z0-9-]+`, "error": `.+`},
	"a place is ready again":                                                        {"place": `[a-z0-9-]+`, "outageMs": whole},
	"a place answers with a status that it should not have for this one's requests": {"place": `[a-z0-9-]+`, "status": status},
	"redis is down, memory takes over":                                              {"redis": stores, "error": `.+`},
	"redis is back":                                                                 {"redis": stores, "outageMs": whole},
	"redis refuses a command, memory takes over for it":                             {"redis": stores, "error": `.+`},
	"redis is slow, memory takes over for what takes too long":                      {"redis": stores, "error": `redis answers too late: .+`},
	"draining":                 {"delayMs": whole, "timeoutMs": whole},
	"stopped":                  {},
	"SHUTDOWN_TIMEOUT ran out": {"inFlight": number, "cutOff": number},
	"log lines were dropped":   {"count": number},
	"audit lines were dropped": {"count": number},
	"the audit log cannot be written, its lines are dropped":                                                                                             {"operation?": operation, "code": code},
	"old files of the audit log cannot be removed, they may grow without a bound":                                                                        {"operation?": operation, "code": code},
	"PPROF_ENABLED does nothing: METRICS_LISTEN_ADDR is empty, and profiles are served there alone":                                                      {},
	"a file that changed was read again and is in use":                                                                                                   {"setting": reloaded},
	"a file that changed cannot be used, what was read before stays in use":                                                                              {"setting": reloaded, "reason": `it (cannot be read|is empty|is not what its setting takes|has more than a mebibyte|holds no certificate in PEM, or one that cannot be read)|(it is no JSON|entry \d+:|line \d+ is not|a ).+|the key (is no private key in PEM without a password|does not belong to the certificate)`},
	"SIGHUP: the files that settings name were read again":                                                                                               {"files": number, "changed": number},
	"DIAGNOSTICS_WORKER_URL leads to a public address without TLS: …":                                                                                    {"worker": hosts},
	"DIAGNOSTICS_WORKER_CA_FILE and DIAGNOSTICS_WORKER_CLIENT_CERT_FILE do nothing: …":                                                                   {"worker": hosts},
	"a variable resembles a setting, but is none: it does nothing":                                                                                       {"variable": `[A-Za-z0-9_]+`, "setting": `[A-Z0-9_]+`},
	"neither PUBLIC_DOMAIN nor HOST_ADDRESSES is set, and a container cannot see …":                                                                      {},
	"no sockets for UDP and TCP probes; traces that ask for these are answered 502":                                                                      {"cause": `.*`},
	"no ICMP socket of this family; its jobs are answered 502":                                                                                           {"family": `4|6`, "cause": `.*`},
	"this host has no route to a destination, or its link is down: measurements of it are refused":                                                       {"family": `4|6`},
	"forwarded headers come from a private peer and are not trusted: …":                                                                                  {},
	"a client address was taken from the headers of a public peer, because headers are trusted from any peer: …":                                         {},
	"a trusted proxy sends forwarded headers, but CLIENT_ADDRESS_HEADER gives no address: …":                                                             {},
	"a trusted proxy sends a private address as the client's: …":                                                                                         {},
	"proxy headers are trusted, but CLIENT_ADDRESS_HEADER is not set: …":                                                                                 {},
	"MAX_CONNECTIONS with MAX_IN_FLIGHT may need more files than this process may open: raise the limit (ulimit -n, LimitNOFILE), or lower the settings": {"limit": number, "needed": number},

	"the addresses of PUBLIC_DOMAIN are refused as this host's own":            {"addresses": `[0-9a-f.:,]+`},
	"no address of PUBLIC_DOMAIN is known: …":                                  {},
	"the network's NAT64 prefixes have changed":                                {"prefixes": `\[.*\]`},
	"the lists of RDAP registries cannot be fetched, the last good ones serve": {"file": `(dns|ipv4|ipv6|asn)\.json`, "published": date, "operation?": operation, "code": code},
	"the lists of RDAP registries are fetched again":                           {"published": date},
}

// labPlaces are names of the lab and addresses of its public hosts. A client's network is no target.
var labPlaces = regexp.MustCompile(`(?i)lab-[a-z0-9-]+\.[a-z]|\.lab\b|\b11\.\d+\.\d+\.\d+|2a10:`)

// lateEnd is the message of a process that could not end in time.
var lateEnd = regexp.MustCompile(
	`^(gateway|worker): SHUTDOWN_TIMEOUT ran out with requests still in flight: \d+, of which \d+ were cut off$`)

// strangeLines finds what is wrong with the whole log of processes: nothing is on stderr but lateEnd, and stdout holds
// lines of the known shapes alone, which name no target.
func strangeLines(processes []*lab.Process) (findings []string) {
	seen := map[string]bool{}
	for _, p := range processes {
		if seen[p.Name()] {
			continue // a second one by that name writes to the same files
		}
		seen[p.Name()] = true
		if text := p.Errors(); text != "" && !lateEnd.MatchString(text) {
			findings = append(findings, fmt.Sprintf("%s wrote to stderr: %.300s", p.Name(), text))
		}
		found := 0
		for line := range strings.Lines(p.Log()) {
			if fault := strangeness(line); fault != "" && found < 5 {
				found++
				findings = append(findings, fmt.Sprintf("the log of %s has a strange line, %s: %.500s", p.Name(), fault, line))
			}
		}
	}
	return findings
}

// strangeness says what is wrong with a line.
func strangeness(line string) string {
	var fields map[string]any
	if err := json.Unmarshal([]byte(line), &fields); err != nil {
		return "which is no JSON object"
	}
	message, _ := fields["msg"].(string)
	known, ok := shapeOf(message)
	if !ok {
		return "of an unknown message"
	}
	if !matches(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`, fields["time"]) ||
		!matches(`DEBUG|INFO|WARN|ERROR`, fields["level"]) {
		return "without its time or its level"
	}
	rest := line
	for _, known := range []string{"client", "worker", "addresses"} { // none is a target
		rest = strings.Replace(rest, fmt.Sprintf("%q:%q", known, fmt.Sprint(fields[known])), "", 1)
	}
	for _, own := range []string{"time", "level", "msg"} {
		delete(fields, own)
	}
	for key, form := range known {
		name, optional := strings.CutSuffix(key, "?")
		value, given := fields[name]
		if !given && !optional || given && !matches(form, value) {
			return "whose " + name + " is not as it should be"
		}
		delete(fields, name)
	}
	if len(fields) > 0 {
		return fmt.Sprintf("with %v in it", slices.Sorted(maps.Keys(fields)))
	}
	if name := labPlaces.FindString(rest); name != "" {
		return "which names " + name
	}
	return ""
}

func shapeOf(message string) (shape, bool) {
	if known, ok := shapes[message]; ok {
		return known, true
	}
	for key, known := range shapes {
		if start, open := strings.CutSuffix(key, "…"); open && strings.HasPrefix(message, start) {
			return known, true
		}
	}
	return nil, false
}

func matches(form string, value any) bool {
	return regexp.MustCompile(`^(?:` + form + `)$`).MatchString(fmt.Sprint(value))
}

func TestStrangeLinesAreFound(t *testing.T) {
	const id = `"requestId":"0f1c2a34-5b6d-4e7f-8a90-b1c2d3e4f506"`
	const start = `{"time":"2026-05-01T12:00:00.1Z","level":"DEBUG","msg":`
	for line, ok := range map[string]bool{
		start + `"stopped"}`: true,
		start + `"request failed",` + id + `,"route":"/api/tools/uptime","operation":"dial","code":"connection_refused"}`:                                 true,
		start + `"request failed",` + id + `,"route":"/api/tools/uptime","code":"eof"}`:                                                                   true,
		start + `"request failed",` + id + `,"route":"/api/tools/uptime","code":"dial_tcp_192.0.2.1:443"}`:                                                false,
		start + `"request failed",` + id + `,"route":"/api/tools/uptime","code":"www.example.com"}`:                                                       false,
		start + `"request failed",` + id + `,"route":"/api/tools/uptime","code":"secret word"}`:                                                           false,
		start + `"request failed",` + id + `,"route":"/api/tools/uptime","operation":"example.com","code":"eof"}`:                                         false,
		start + `"request failed",` + id + `,"route":"/api/tools/uptime","error":"connection refused"}`:                                                   false,
		start + `"job","tool":"ping","status":200,"durationMs":1.5,` + id + `}`:                                                                           true,
		start + `"job","tool":"ping","status":200,"durationMs":1.5,` + id + `,"target":"8.8.8.8"}`:                                                        false,
		start + `"job","tool":"ping","status":200,` + id + `}`:                                                                                            false,
		start + `"http2: Transport: unhandled response frame"}`:                                                                                           false,
		`{"level":"DEBUG","msg":"stopped"}`:                                                                                                               false,
		`2026/05/01 12:00:00 Unsolicited response received on idle HTTP channel`:                                                                          false,
		start + `"request",` + id + `,"method":"GET","route":"/","slug":"unknown","status":200,"durationMs":1,"outcome":"ok","client":"11.80.0.0/24"}`:    true,
		start + `"request",` + id + `,"method":"GET","route":"/","slug":"lab-dns.com","status":200,"durationMs":1,"outcome":"ok","client":"11.8.0.0/24"}`: false,
		start + `"request",` + id + `,"method":"GET","route":"/","slug":"unknown","status":200,"durationMs":1,"outcome":"ok","client":"11.80.0.7"}`:       false,
	} {
		if fault := strangeness(line); (fault == "") != ok {
			t.Errorf("%q: %s", fault, line)
		}
	}
}

// Servers that make net/http print cost a count, and no line: each unknown frame, as many as a round trip takes, and
// what a server says after its answer.
func TestALoudServerDoesNotFillTheLog(t *testing.T) {
	private := freeAddr(t, 9090)
	gateway, err := service.StartGateway(t.Context(), "gateway-loud", "METRICS_LISTEN_ADDR="+private)
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"https://frames." + site.Zone + "/", "http://unsolicited." + site.Zone + "/"} {
		a := post(t, gateway, "http-headers", map[string]any{"input": target}, nil)
		t.Logf("%s: status %d after %v", target, a.Status, a.Took)
	}
	const least, most = 150, 250
	var count float64
	eventually(t, "the lines are counted", func() bool {
		m, err := internet.Metrics(t.Context(), private)
		if err != nil {
			t.Fatal(err)
		}
		count = m["diagnostics_foreign_log_lines_total"]
		return count >= least
	})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := gateway.Process.Stop(ctx); err != nil {
		t.Error(err)
	}
	text := gateway.Process.Log() + gateway.Process.Errors()
	if count > most || strings.Contains(text, site.Unsolicited) || strings.Contains(text, "frame") ||
		len(text) > 8<<10 {
		t.Errorf("%v lines counted, and %d bytes in the log: %.500s", count, len(text), text)
	}
	t.Logf("%v lines of libraries were counted, the log has %d bytes", count, len(text))
}

// The audit log of the shipped binary: a line for a run, for its owner's eyes alone.
func TestAuditLog(t *testing.T) {
	path := filepath.Join(internet.Dir(), "audit", "audit.log")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	gateway, err := service.StartGateway(t.Context(), "gateway-audit", "AUDIT_LOG_FILE="+path)
	if err != nil {
		t.Fatal(err)
	}
	a := post(t, gateway, "http-headers", map[string]any{"input": "http://Fast.lab-site.com:80/path?secret"}, nil)
	page := fetch(t, gateway, http.MethodGet, "/privacy", nil, nil)
	if !strings.Contains(string(page.Body), "A bounded audit log records") {
		t.Error("/privacy does not mention it")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := gateway.Process.Stop(ctx); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(path)
	want := regexp.MustCompile(`^\{"time":"[0-9T:.-]+Z","client":"127\.[0-9.]+","tool":"http-headers","host":"fast\.lab-site\.com","requestId":"` +
		a.Header.Get("X-Request-Id") + `"\}\n$`)
	if err != nil || !want.Match(text) {
		t.Errorf("%v: %s", err, text)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}
