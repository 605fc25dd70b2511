package tools

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool"
)

// targetCase is one input of testdata/targets.json and how the tool is to judge its format.
type targetCase struct {
	ID     string `json:"id"`
	Slug   string `json:"slug"`
	Input  string `json:"input"`
	Expect string `json:"expect"`
	Why    string `json:"why"`
}

func readTargetCases(t *testing.T) []targetCase {
	t.Helper()
	raw, err := os.ReadFile("testdata/targets.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []targetCase
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

// parseAsEdge does what the edge does with an input before any packet: the rules that all tools share, then the tool's
// own.
func parseAsEdge(tl tool.Tool, input string) (tool.Job, error) {
	text, err := tool.CleanInput(input)
	if err != nil {
		return tool.Job{}, err
	}
	return tl.Parse(tool.Input{Text: text})
}

// TestTargetCases judges every case of testdata/targets.json, for tools that are built and for those that come later
// alike.
func TestTargetCases(t *testing.T) {
	t.Parallel()
	bySlug := make(map[string]tool.Tool)
	for _, tl := range All(Deps{}) {
		bySlug[tl.Slug()] = tl
	}
	cases := readTargetCases(t)
	if len(cases) < 891 {
		t.Fatalf("testdata/targets.json has %d cases, want at least 891", len(cases))
	}
	rejected, accepted := 0, 0
	for _, c := range cases {
		tl, ok := bySlug[c.Slug]
		if !ok {
			t.Errorf("%s: no tool %q", c.ID, c.Slug)
			continue
		}
		job, err := parseAsEdge(tl, c.Input)
		switch c.Expect {
		case "reject":
			rejected++
			if !fault.Is(err, fault.Invalid) && !fault.Is(err, fault.Refused) {
				t.Errorf("%s: %s %.120q: error %v, want Invalid or Refused (%s)", c.ID, c.Slug, c.Input, err, c.Why)
			}
		case "accept-format":
			accepted++
			if err != nil {
				t.Errorf("%s: %s %.120q: refused with %v (%s)", c.ID, c.Slug, c.Input, err, c.Why)
			} else if job.LimitKey() == "" {
				t.Errorf("%s: %s %.120q: no limit key", c.ID, c.Slug, c.Input)
			}
		default:
			t.Errorf("%s: unknown expectation %q", c.ID, c.Expect)
		}
	}
	t.Logf("%d cases: %d to reject, %d to accept", len(cases), rejected, accepted)
}

// TestLimitKeysAreCanonical couples spellings of one target across the tools: docs/contract.md#limits counts them as
// one.
func TestLimitKeysAreCanonical(t *testing.T) {
	t.Parallel()
	bySlug := make(map[string]tool.Tool)
	for _, tl := range All(Deps{}) {
		bySlug[tl.Slug()] = tl
	}
	for _, c := range []struct{ slug, input, key, denyKey string }{
		{"dns-lookup", "EXAMPLE.com.", "example.com", "example.com"},
		{"uptime", "https://example.com:443/x", "example.com", "example.com"},
		{"port-checker", "example.com:25", "example.com", "example.com"},
		{"ssl-checker", "example.com", "example.com", "example.com"},
		{"redirect-checker", "HTTP://Example.Com/?x", "example.com", "example.com"},
		{"ssl-checker", "[2606:4700:4700:0::1111]:8443", "2606:4700:4700::1111", "2606:4700:4700::1111"},
		{"ip-geolocation", "2606:4700:4700::1111", "2606:4700:4700::1111", "2606:4700:4700::1111"},
		{"asn-lookup", "as15169", "AS15169", "AS15169"},
		{"asn-lookup", "15169", "AS15169", "AS15169"},
		{"whois-lookup", "WWW.Example.co.uk.", "example.co.uk", "www.example.co.uk"},
		{"whois-lookup", "8.8.8.8", "8.8.8.8", "8.8.8.8"},
		{"traceroute", "münchen.de", "xn--mnchen-3ya.de", "xn--mnchen-3ya.de"},
	} {
		job, err := bySlug[c.slug].Parse(tool.Input{Text: c.input})
		if err != nil || job.LimitKey() != c.key || job.DenyKey() != c.denyKey {
			t.Errorf("%s %q: limit key %q, deny key %q, %v; want %q, %q", c.slug, c.input, job.LimitKey(), job.DenyKey(), err,
				c.key, c.denyKey)
		}
	}
}

// TestNamesInsideAreRefusedByFormat: names that networks and clouds answer for themselves are refused with no packet
// sent, by every tool that takes a name, and their neighbours are not.
func TestNamesInsideAreRefusedByFormat(t *testing.T) {
	t.Parallel()
	shapes := map[string]string{
		"dns-lookup": "%", "dns-resolver-check": "%", "email-dns-health": "%", "whois-lookup": "%", "ssl-checker": "%:443",
		"port-checker": "%:80", "traceroute": "%", "ping": "%", "packet-loss": "%", "http-headers": "http://%/",
		"uptime": "https://%/", "redirect-checker": "http://%/", "robots-sitemap": "https://%/x", "security-headers": "http://%/",
	}
	names := map[string]bool{
		"metadata.goog": false, "METADATA.goog.": false, "x.metadata.goog": false, "metadata.tencentyun.com": false,
		"vm.abc.bx.internal.cloudapp.net": false, "db.sub.vcn.oraclevcn.com": false, "api.metadata.cloud.ibm.com": false,
		"redis.project_inside": false, "a.b.c_d": false, "a_b": false, "x_y.local": false, "t_d": false,
		"about.goog": true, "metadata.goog.com": true, "xmetadata.goog": true, "myapp.cloudapp.net": true,
		"cloud.ibm.com": true, "www.tencentyun.com": true, "julia_b.example.com": true, "_a.b_.example.co.uk": true,
	}
	bySlug := make(map[string]tool.Tool)
	for _, tl := range All(Deps{}) {
		bySlug[tl.Slug()] = tl
	}
	for slug, shape := range shapes {
		for name, taken := range names {
			_, err := parseAsEdge(bySlug[slug], strings.Replace(shape, "%", name, 1))
			refused := fault.Is(err, fault.Invalid) || fault.Is(err, fault.Refused)
			if (err == nil) != taken || refused == taken {
				t.Errorf("%s %s: %v", slug, name, err)
			}
		}
	}
	// Any owner name is a target of the tools for DNS; no registry sells one with an underscore at an end.
	for slug, shape := range shapes {
		owners := slug == "dns-lookup" || slug == "dns-resolver-check"
		for _, name := range []string{"_dmarc.com", "x._a.co.uk", "a_.com"} {
			if _, err := parseAsEdge(bySlug[slug], strings.Replace(shape, "%", name, 1)); (err == nil) != owners {
				t.Errorf("%s %s: %v", slug, name, err)
			}
		}
	}
}
