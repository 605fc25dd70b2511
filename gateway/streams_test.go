package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"diagnostics/gateway/internal/egress"

	"github.com/google/go-cmp/cmp"
)

// stream sends a request for a stream, holds each line against the description, and gives the kinds of the steps and
// the last line.
func stream(t *testing.T, s *httptest.Server, slug, body string) (kinds []string, last map[string]any) {
	t.Helper()
	path := "/api/tools/" + slug
	req, err := http.NewRequest(http.MethodPost, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/x-ndjson")
	resp, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := description(t).Check(http.MethodPost, path, resp, answer); err != nil {
		t.Errorf("%s %s: %v", slug, body, err)
	}
	for line := range bytes.Lines(answer) {
		last = nil
		if err := json.Unmarshal(line, &last); err != nil {
			t.Fatalf("%s %s: %v: %s", slug, body, err, line)
		}
		if step, ok := last["step"].(map[string]any); ok {
			kinds = append(kinds, step["kind"].(string))
		}
	}
	if _, told := last["status"]; !told {
		last["status"] = float64(resp.StatusCode) // refused before the run
	}
	return kinds, last
}

// ownTimes are the fields that differ between two runs of the same.
var ownTimes = regexp.MustCompile(`(Ms|At)$|^(requestId|retryAfter|cached|ms)$`)

// comparable leaves out what differs between two runs of the same: times, and which of a name's two addresses was the
// first to answer.
func comparable(envelope map[string]any) any {
	if data, ok := envelope["data"].(map[string]any); ok {
		delete(data, "address")
	}
	return withoutTimes(envelope)
}

func withoutTimes(value any) any {
	switch v := value.(type) {
	case map[string]any:
		if v["name"] == "date" { // the header field of a target's answer
			v["value"] = nil
		}
		for name, member := range v {
			if ownTimes.MatchString(name) {
				v[name] = nil
				continue
			}
			v[name] = withoutTimes(member)
		}
	case []any:
		for i := range v {
			v[i] = withoutTimes(v[i])
		}
	}
	return value
}

// Every tool is run both ways: the last line of a stream is the plain answer, its steps are described, and every tool
// has the steps that it promises.
func TestStreamsEndAsPlainAnswers(t *testing.T) {
	t.Parallel()
	n, certs := network(t)
	plain := gatewayOn(t, n.Client(nil, egress.WithChecker(certs)), certs, fakeWorker(t), nil)
	streams := gatewayOn(t, n.Client(nil, egress.WithChecker(certs)), certs, fakeWorker(t), nil)
	seen := map[string][]string{}
	for _, tt := range realRequests {
		path := "/api/tools/" + tt.slug
		status, want := ask(t, description(t), plain, "POST", path, path, tt.body)
		want["status"] = float64(status)
		kinds, got := stream(t, streams, tt.slug, tt.body)
		delete(got, "retryAfter") // of a plain answer it is a header
		if diff := cmp.Diff(comparable(want), comparable(got)); diff != "" {
			t.Errorf("%s %s (- plain, + stream): %s", tt.slug, tt.body, diff)
		}
		seen[tt.slug] = append(seen[tt.slug], kinds...)
	}
	for slug, want := range map[string][]string{
		"dns-lookup": {"stage", "type"}, "dns-resolver-check": {"stage", "resolver"}, "email-dns-health": {"stage", "check"},
		"dns-delegation": {"stage", "zone", "server"}, "port-checker": {"stage", "address"}, "uptime": {"stage", "family", "address"}, "redirect-checker": {"stage", "hop"},
		"robots-sitemap": {"stage", "file"}, "ssl-checker": {"stage", "endpoint", "protocol"},
		"whois-lookup": {"stage", "source"}, "ip-geolocation": {"stage", "source"}, "asn-lookup": {"stage", "source"},
		"http-headers": {"stage"}, "security-headers": {"stage"}, "traceroute": {"stage", "hop"},
		"ping": {"stage", "reply"}, "packet-loss": {"stage", "reply"}, "my-ip": nil,
	} {
		for _, kind := range want {
			if !slices.Contains(seen[slug], kind) {
				t.Errorf("%s tells no %s: %v", slug, kind, seen[slug])
			}
		}
	}
}

// With warm caches too: the last line of a stream is the plain answer to the same question, and neither depends on how
// much of an answer the caches had.
func TestStreamsEndAsPlainAnswersOfWarmCaches(t *testing.T) {
	t.Parallel()
	n, certs := network(t)
	s := gatewayOn(t, n.Client(nil, egress.WithChecker(certs)), certs, fakeWorker(t), nil)
	// The caches have part of what the last questions are about.
	requests := append(slices.Clone(realRequests), realRequests...)
	for _, tt := range requests {
		path := "/api/tools/" + tt.slug
		status, want := ask(t, description(t), s, "POST", path, path, tt.body)
		want["status"] = float64(status)
		_, got := stream(t, s, tt.slug, tt.body)
		delete(got, "retryAfter")
		if diff := cmp.Diff(comparable(withoutTTL(want)), comparable(withoutTTL(got))); diff != "" {
			t.Errorf("%s %s (- plain, + stream): %s", tt.slug, tt.body, diff)
		}
	}
}

// withoutTTL leaves out how long what a cache has is still valid, and what dns-delegation reports of its store.
func withoutTTL(envelope map[string]any) map[string]any {
	var leave func(value any)
	leave = func(value any) {
		switch v := value.(type) {
		case map[string]any:
			for _, name := range []string{"ttl", "shared", "queries"} {
				delete(v, name)
			}
			for _, member := range v {
				leave(member)
			}
		case []any:
			for _, member := range v {
				leave(member)
			}
		}
	}
	leave(envelope)
	return envelope
}

// What the caches have is one line.
func TestStreamsOfWhatWasKept(t *testing.T) {
	t.Parallel()
	n, certs := network(t)
	s := gatewayOn(t, n.Client(nil, egress.WithChecker(certs)), certs, fakeWorker(t), nil)
	for _, tt := range []struct{ slug, body string }{
		{"dns-lookup", `{"input":"site.test-site.com"}`},
		{"dns-resolver-check", `{"input":"site.test-site.com"}`},
		{"email-dns-health", `{"input":"null-site.com"}`},
		{"email-dns-health", `{"input":"site.test-site.com"}`},
		{"whois-lookup", `{"input":"www.test-site.com"}`},
		{"ip-geolocation", `{"input":"93.184.216.34"}`},
		{"asn-lookup", `{"input":"93.184.216.34"}`},
	} {
		for _, kept := range []bool{false, true} {
			kinds, last := stream(t, s, tt.slug, tt.body)
			if last["status"] != 200.0 || (len(kinds) == 0) != kept {
				t.Errorf("%s %s, kept %t: %v, %v", tt.slug, tt.body, kept, kinds, last)
			}
		}
	}
}
