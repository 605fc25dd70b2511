package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/tools"

	"github.com/miekg/dns"
)

// hostileInputs are what strangers type: names, addresses, queries, what looks like a label or a line of the metrics.
var hostileInputs = []string{
	`alias.example.com`, ``, ` `, `a`, `example.com`, `secret-target.example.net`, `localhost`, `intranet`, `1.2.3`, `host._tcp`, `10.0.0.1`, `127.0.0.1`,
	`169.254.169.254`, `100.64.0.1`, `224.0.0.1`, `255.255.255.255`, `192.0.2.1`, `[::1]`, `::1`, `fd00::1`, `2001:4860:4860::8888`,
	`8.8.8.8`, `http://10.0.0.1/`, `https://secret-target.example.net/?q=secret`, `http://user:secret@example.com/`,
	`secret-target.example.net:443`, `10.0.0.1:80`, `AS64512`, `AS15169`, `1.0.0.10.in-addr.arpa`,
	`{slug=\"x\"} 1`, `a\nb`, `\u0000`, `x\",outcome=\"forged`, `# TYPE forged counter`, `xn--forged-9za.example`, `\ud800`,
}

// hostileNames answers every question with what leads inside, and with text that could be a label.
func hostileNames(t *testing.T) (address string) {
	t.Helper()
	return nameServer(t, func(w dns.ResponseWriter, q *dns.Msg) {
		m := new(dns.Msg).SetReply(q)
		name := q.Question[0].Name
		if strings.HasPrefix(name, "alias.") {
			m.Answer = append(m.Answer, record(t, name+" 300 IN CNAME forged-label.local."))
		}
		switch q.Question[0].Qtype {
		case dns.TypeA:
			m.Answer = append(m.Answer, record(t, name+" 300 IN A 10.9.8.7"))
		case dns.TypeTXT:
			m.Answer = append(m.Answer, record(t, name+` 300 IN TXT "forged_label{a=\"b\"} 1"`))
		case dns.TypeNS: // so that private answers are not taken for those of a network inside
			m.Answer = append(m.Answer, record(t, name+" 300 IN NS ns.forged-label.com."))
		case dns.TypeMX:
			m.Answer = append(m.Answer, record(t, name+" 300 IN MX 10 forged-label.internal."))
		}
		_ = w.WriteMsg(m)
	})
}

func record(t *testing.T, text string) dns.RR {
	rr, err := dns.NewRR(text)
	if err != nil {
		t.Error(err)
	}
	return rr
}

// series are the names and labels of /metrics, without those of the libraries.
func series(text string) (all []string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "diagnostics_") {
			all = append(all, line[:strings.LastIndexByte(line, ' ')])
		}
	}
	slices.Sort(all)
	return all
}

// Nothing that strangers send becomes a label: after all of it there are the series that there were at the start.
func TestNoForeignLabels(t *testing.T) {
	t.Parallel()
	worker := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("X-Refused", "forged_label")
		w.WriteHeader([]int{418, 429, 502, 503, 504}[time.Now().UnixNano()%5])
		_, _ = io.WriteString(w, `{"error":"forged_label"}`)
	}))
	t.Cleanup(worker.Close)
	s := startMeasured(t, "DNS_RESOLVERS="+hostileNames(t), "DIAGNOSTICS_WORKER_URL="+worker.URL,
		"TRUST_PROXY_HEADERS=true", "RATE_LIMIT_CLIENT_REQUESTS=3", "RDAP_BASE_URL=https://127.0.0.1:1", "DENY_TARGETS=0.0.0.0/0,::/0") // nothing leaves this host
	_, text := s.get(t, s.metrics+"/metrics")
	before := series(text)
	visitor := ""
	send := func(method, path, body string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-Forwarded-For", "forged_label")
		r.Header.Set("X-Real-Ip", visitor)
		r.Header.Set("User-Agent", `forged_label{a="b"} 1`)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	for i, slug := range append(slugs(tools.All(tools.Deps{Now: time.Now})), "forged_label", `x",outcome="forged`) {
		visitor = fmt.Sprintf("9.9.%d.9", i)
		path := "/api/tools/" + strings.NewReplacer(`"`, "%22", `,`, "%2C").Replace(slug)
		for _, input := range hostileInputs {
			send("POST", path, `{"input":"`+input+`"}`)
		}
		send("POST", path, `{"input":"example.com","options":{"forged_label":"forged_label","types":"forged_label","family":"forged_label"}}`)
		send("GET", path, "")
		send("FORGED", path, "")
		send("POST", path, `forged_label`)
	}
	for _, path := range []string{"/forged_label", "/tools/forged_label", "/api/forged_label",
		"/api/connection/forged_label", "/api/connection/ping?n=forged_label", "/tools/ping?input=forged_label", "/assets/forged_label", "/report?target=forged_label"} {
		send("GET", path, "")
	}
	_, text = s.get(t, s.metrics+"/metrics")
	if after := series(text); !slices.Equal(after, before) {
		for _, one := range after {
			if _, was := slices.BinarySearch(before, one); !was {
				t.Errorf("a series that was not there at the start: %s", one)
			}
		}
	}
	for _, forbidden := range []string{"forged", "secret", "example", "10.9.8.7", "10.0.0.1"} {
		if strings.Contains(text, forbidden) {
			t.Errorf("/metrics holds %q", forbidden)
		}
	}
	holdsEach(t, text, `guard_refusals_total{reason="private_address",stage="input"}`,
		`guard_refusals_total{reason="private_address",stage="dial"}`, `guard_refusals_total{reason="private_alias",stage="dial"}`,
		`guard_refusals_total{reason="special_name",stage="input"}`, `guard_refusals_total{reason="denied",stage="input"}`, `rate_limited_total{from="client",limit="client",slug="[a-z-]+"}`,
		`cache_requests_total{cache="dns",result="miss"}`, `cache_requests_total{cache="dns",result="hit"}`,
		`provider_requests_total{outcome="ok",provider="resolver"}`, `egress_sent_bytes_total{slug="dns-lookup"}`,
		`egress_received_bytes_total{slug="dns-lookup"}`, `redis_operation_duration_seconds_count{operation="limits"}`)
}

// holdsEach demands that each of the series counts something.
func holdsEach(t *testing.T, text string, patterns ...string) {
	t.Helper()
	for _, pattern := range patterns {
		quoted := strings.NewReplacer("{", `\{`, "}", `\}`).Replace(pattern)
		if !regexp.MustCompile(`(?m)^diagnostics_` + quoted + ` [1-9]`).MatchString(text) {
			t.Errorf("nothing is counted by %s", pattern)
		}
	}
}

// Every label has a set of values that the code knows: of slug and status, which docs/metrics.md does not list, these.
func TestLabelsHaveKnownValues(t *testing.T) {
	t.Parallel()
	s := startMeasured(t)
	_, text := s.get(t, s.metrics+"/metrics")
	known := append(slugs(tools.All(tools.Deps{Now: time.Now})), "connection-ping", "connection-packet-loss", "other")
	found := map[string]bool{}
	for _, label := range regexp.MustCompile(`(slug|status)="([^"]*)"`).FindAllStringSubmatch(strings.Join(series(text), "\n"), -1) {
		if label[1] == "slug" {
			found[label[2]] = true
			if !slices.Contains(known, label[2]) {
				t.Errorf("a slug is %q", label[2])
			}
		} else if !regexp.MustCompile(`^([1-5]\d\d|canceled)$`).MatchString(label[2]) {
			t.Errorf("a status is %q", label[2])
		}
	}
	if len(found) != len(known) {
		t.Errorf("series of %d slugs, want %d", len(found), len(known))
	}
	if n := len(series(text)); n > 3100 {
		t.Errorf("%d series are many", n)
	}
}
