package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/egress/egresstest"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
)

// volatile are the fields that differ between any two answers.
var volatile = regexp.MustCompile(`"(durationMs|ageMs|totalMs|dnsMs|responseTimeMs)":[0-9.e+-]+|"requestId":"[^"]*"`)

// TestNamesInsideAnswerAsAbsentOnes runs every tool that resolves names with a container's name, as Docker's resolver
// serves it, and with a name that does not exist: the answers do not differ, and nothing is dialled.
func TestNamesInsideAnswerAsAbsentOnes(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records("redis1.backend. 600 IN A 172.18.0.3", "redis2.backend. 600 IN AAAA fd00:18::3",
		"redis3.backend. 600 IN CNAME redis1.backend.", "redis4.backend. 600 IN A 127.0.0.11",
		"redis4.backend. 600 IN MX 5 redis1.backend.")
	for i := range 4 {
		// Docker's answer without data has no SOA record, so that it is never kept; the root's that there is no name is.
		n.Handle(fmt.Sprintf("redis%d.backend", i+1), func(q *dns.Msg) *dns.Msg {
			m := n.Recursive(q)
			m.Ns = nil
			return m
		})
	}
	s := gatewayOn(t, n.Client(nil), certs.Checker{}, fakeWorker(t), nil)
	ask := func(slug, input, name string) string {
		body, err := json.Marshal(map[string]string{"input": fmt.Sprintf(input, name)})
		if err != nil {
			t.Fatal(err)
		}
		resp, err := s.Client().Post(s.URL+"/api/tools/"+slug, "application/json", strings.NewReader(string(body)))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		answer, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		text := volatile.ReplaceAllString(string(answer), "")
		return http.StatusText(resp.StatusCode) + " " + strings.ReplaceAll(text, name, "NAME")
	}
	for slug, input := range map[string]string{
		"dns-lookup": "%s", "email-dns-health": "%s", "http-headers": "http://%s/", "ssl-checker": "%s",
		"uptime": "https://%s/", "port-checker": "%s:6379", "redirect-checker": "http://%s/",
		"robots-sitemap": "http://%s/", "security-headers": "https://%s/", "traceroute": "%s", "ping": "%s",
		"packet-loss": "%s",
	} {
		// In the second round answers come from the cache, and say so.
		for round := range 2 {
			want := ask(slug, input, "nobody.backend")
			for i := range 4 {
				name := fmt.Sprintf("redis%d.backend", i+1)
				if diff := cmp.Diff(want, ask(slug, input, name)); diff != "" {
					t.Errorf("round %d: %s of %s differs from a name that does not exist:\n%s", round, slug, name, diff)
				}
			}
		}
	}
	if dials := n.Dials(); len(dials) > 0 {
		t.Errorf("dialled %v", dials)
	}
}
