//go:build e2e

package e2e

import (
	"encoding/json"
	"testing"
)

func TestEmailDNSHealth(t *testing.T) {
	t.Parallel()
	// What is found at the domain of a label: the status of one check, the issues by code, and what it comes to.
	for _, c := range []struct {
		label, check, status string
		codes                []string
		overall              string
		more                 facts
	}{
		{label: "spfneutral", check: "spf", status: "warn", overall: "warn", more: facts{"checks.spf.all": "?all"}},
		{label: "spfsoft", check: "spf", status: "pass", overall: "pass", more: facts{"checks.spf.all": "~all"}},
		{label: "spfopen", check: "spf", status: "warn", overall: "warn", more: facts{"checks.spf.all": nil}},
		{label: "spfdead", check: "spf", status: "fail", codes: []string{"SPF_TARGET_WITHOUT_RECORD"}, overall: "fail", more: facts{"checks.spf.tree.children.0.domain": "gone.lab-spfdead-mail.com"}},
		{label: "spfmacro", check: "spf", status: "pass", codes: []string{"SPF_MACRO_NOT_FOLLOWED"}, overall: "pass", more: facts{"checks.spf.lookups": 4, "checks.spf.voidLookups": 0, "checks.spf.tree.children.1.domain": "lab-spfmacro-mail.lab-spfmacro-mail.com"}},
		{label: "spfnames", check: "spf", status: "warn", codes: []string{"SPF_NAME_INVALID"}, overall: "warn", more: facts{"checks.spf.lookups": 2, "checks.spf.voidLookups": 0, "checks.spf.tree.children.0.domain": "foo:bar/baz.lab-spfnames-mail.com"}},
		{label: "spflong", check: "spf", status: "warn", codes: []string{"SPF_RECORD_TOO_LONG"}, overall: "warn", more: facts{"checks.spf.suggestion.record": "v=spf1 include:_spf1.lab-spflong-mail.com include:_spf2.lab-spflong-mail.com -all", "checks.spf.suggestion.parts": length(2)}},
		{label: "dmarccaps", check: "dmarc", status: "pass", overall: "pass", more: facts{"checks.dmarc.policy": "reject", "checks.spf.suggestion": nil}},
		{label: "dmarcblank", check: "dmarc", status: "missing", codes: []string{"DMARC_LEADING_BLANK", "DMARC_MISSING"}, overall: "fail", more: facts{"checks.dmarc.record": nil}},
		{label: "dmarctested", check: "dmarc", status: "warn", codes: []string{"DMARC_TEST_MODE"}, overall: "warn", more: facts{"checks.dmarc.policy": "reject", "checks.dmarc.testMode": true, "checks.dmarc.summary": contains("receivers apply quarantine")}},
		{label: "dmarcnone", check: "dmarc", status: "warn", codes: []string{"DMARC_POLICY_NONE"}, overall: "warn"},
		{label: "dmarcfails", check: "dmarc", status: "error", overall: "error"},
		{label: "dkimshort", check: "dkim", status: "warn", overall: "warn", more: facts{"checks.dkim.keyBits": 1024}},
		{label: "dkimfails", check: "dkim", status: "error", overall: "error"},
		{label: "tlsrptfails", check: "tlsRpt", status: "error", overall: "error"},
		{label: "stsabsent", check: "mtaSts", status: "fail", codes: []string{"MTASTS_HOST_ABSENT"}, overall: "fail"},
		{label: "stsfails", check: "mtaSts", status: "error", overall: "error"},
		{label: "stsnone", check: "mtaSts", status: "info", codes: []string{"MTASTS_NONE"}, overall: "pass", more: facts{"checks.mtaSts.mode": "none"}},
		{label: "stsself", check: "mtaSts", status: "fail", codes: []string{"MTASTS_CERTIFICATE"}, overall: "fail"},
		{label: "stshtml", check: "mtaSts", status: "fail", codes: []string{"MTASTS_MEDIA_TYPE"}, overall: "fail"},
	} {
		t.Run(c.label, func(t *testing.T) {
			t.Parallel()
			a := call(t, "email-dns-health", "lab-"+c.label+"-mail.com", map[string]any{"dkimSelector": "S1"})
			if a.Status != 200 {
				t.Fatalf("status %d: %s", a.Status, a.Body)
			}
			want := facts{"checks." + c.check + ".status": c.status, "overall": c.overall}
			for _, code := range c.codes {
				if !has("code", code)(a.at("checks." + c.check + ".issues")) {
					t.Errorf("no issue %s: %v", code, a.each("checks."+c.check+".issues", "code"))
				}
			}
			want.hold(t, a)
			c.more.hold(t, a)
			holdSums(t, a)
		})
	}
}

// holdSums: six checks, each counted once, each issue with what to do and where that is written.
func holdSums(t *testing.T, a answer) {
	t.Helper()
	var data struct {
		Summary map[string]int
		Checks  map[string]struct {
			Status, Summary string
			Issues          []struct{ Code, Severity, Message, Reference string }
		}
	}
	text, err := json.Marshal(a.Data)
	if err == nil {
		err = json.Unmarshal(text, &data)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range data.Checks {
		data.Summary[c.Status]--
		if c.Summary == "" {
			t.Errorf("%s has no summary", name)
		}
		for _, i := range c.Issues {
			if i.Code == "" || i.Severity == "" || i.Message == "" || i.Reference == "" {
				t.Errorf("%s: %+v", name, i)
			}
		}
	}
	for status, n := range data.Summary {
		if n != 0 || len(data.Checks) != 6 {
			t.Errorf("the summary has %d too many %s", n, status)
		}
	}
}
