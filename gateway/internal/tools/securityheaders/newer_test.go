package securityheaders

import (
	"strings"
	"testing"

	"diagnostics/gateway/internal/tools/internal/toolstest"
)

func newerOf(t *testing.T, result Result, name string) newerHeader {
	t.Helper()
	for _, h := range result.NewerHeaders {
		if h.Name == name {
			return h
		}
	}
	t.Fatalf("no %s in %+v", name, result.NewerHeaders)
	return newerHeader{}
}

func TestNewerHeaders(t *testing.T) {
	t.Parallel()
	const apart = "run the page apart from other hosts of the same domain"
	for _, test := range []struct {
		name   string
		fields []string
		says   string
	}{
		{"Integrity-Policy", nil, "Not sent, and most sites need none: it makes browsers refuse scripts or style sheets " +
			"without an integrity attribute."},
		{"Integrity-Policy", []string{"Integrity-Policy-Report-Only: blocked-destinations=(script)"},
			"integrity attribute. Integrity-Policy-Report-Only is sent, which only reports."},
		{"Integrity-Policy", []string{"Integrity-Policy: blocked-destinations=(script style)"},
			"Browsers that know it refuse scripts and style sheets without an integrity attribute."},
		{"Integrity-Policy", []string{"Integrity-Policy: blocked-destinations=(script), sources=(inline)"},
			"Browsers that know it refuse scripts without an integrity attribute."},
		{"Integrity-Policy", []string{"Integrity-Policy: blocked-destinations=(script), sources=(other)"},
			"It refuses nothing: its sources must name inline, or be left out."},
		{"Integrity-Policy", []string{"Integrity-Policy: blocked-destinations=(script), endpoints=(x)",
			`Reporting-Endpoints: y="https://r.example.com/"`},
			"It names the endpoint “x”, which Reporting-Endpoints does not define."},
		{"Integrity-Policy", []string{"Integrity-Policy: blocked-destinations=script"}, "It refuses nothing: blocked-"},
		{"Integrity-Policy", []string{"Integrity-Policy: script;"}, "Browsers ignore it, because it is not a structured"},
		{"Document-Policy", nil, "in Chromium only."},
		{"Document-Policy", []string{"Document-Policy: js-profiling, sync-xhr=?0"},
			"It sets js-profiling and sync-xhr. Only Chromium reads it."},
		{"Document-Policy", []string{"Document-Policy: js-profiling"}, "It sets js-profiling. Only Chromium reads it."},
		{"Document-Policy", []string{"Document-Policy: "}, "It sets nothing."},
		{"Document-Policy", []string{"Document-Policy: ("}, "Browsers ignore it"},
		{"Origin-Agent-Cluster", nil, "it asks browsers to " + apart},
		{"Origin-Agent-Cluster", []string{"Origin-Agent-Cluster: ?1"}, "It asks browsers to " + apart + ". They may ignore"},
		{"Origin-Agent-Cluster", []string{"Origin-Agent-Cluster: ?0"}, "It asks browsers not to " + apart + "."},
		{"Origin-Agent-Cluster", []string{"Origin-Agent-Cluster: true"}, "Browsers ignore it: the value must be ?1."},
		{"Clear-Site-Data", nil, "belongs on answers such as the one to a logout."},
		{"Clear-Site-Data", []string{`Clear-Site-Data: "cache", "cookies", "other"`},
			"of what they keep for the site: what they cached; cookies, of all hosts of the domain. That belongs on"},
		{"Clear-Site-Data", []string{`Clear-Site-Data: "cache", "*", "storage"`}, "for the site: everything. That"},
		{"Clear-Site-Data", []string{"Clear-Site-Data: cookies"}, "Browsers ignore it: the types of data must be in quotes"},
		{"Reporting-Endpoints", nil, "where browsers send reports"},
		{"Reporting-Endpoints", []string{`Reporting-Endpoints: csp="https://r.example.com/", own="/reports"`},
			"Browsers can send reports to what it calls csp and own."},
		{"Reporting-Endpoints", []string{`Reporting-Endpoints: a="https://r.example.com/", b="http://r.example.com/", c=1`},
			"what it calls a. b and c are ignored: an endpoint is an https URL in quotes."},
		{"Reporting-Endpoints", []string{"Reporting-Endpoints: "}, "It names no endpoint."},
		{"Reporting-Endpoints", []string{"Reporting-Endpoints: A"}, "Browsers ignore it"},
	} {
		got := newerOf(t, controlsOf(t, answerTo(t, "https://example.com/", 200, test.fields...)), test.name)
		present := len(test.fields) > 0 && strings.HasPrefix(test.fields[0], test.name+":")
		if !strings.Contains(got.Finding, test.says) || got.Present != present || (got.Value != nil) != present {
			t.Errorf("%s %q: present %t, %s: %s; want %q", test.name, test.fields, got.Present, toolstest.Text(got.Value),
				got.Finding, test.says)
		}
	}
}

// What browsers apply over valid HTTPS alone is reported as that.
func TestNewerHeadersWithoutTLS(t *testing.T) {
	t.Parallel()
	got := controlsOf(t, answerTo(t, "http://example.com/", 200, "Origin-Agent-Cluster: ?1",
		`Clear-Site-Data: "cookies"`))
	for _, name := range []string{"Origin-Agent-Cluster", "Clear-Site-Data"} {
		if h := newerOf(t, got, name); h.Finding != rows.Sentence(codeNewerSecure, nil) {
			t.Errorf("%s: %s", name, h.Finding)
		}
	}
}
