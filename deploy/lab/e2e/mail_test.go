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
		shown                bool
	}{
		{label: "good", check: "mtaSts", status: "pass", overall: "pass", shown: true, more: facts{
			"domain": "lab-good-mail.com", "summary.pass": 6, "summary.fail": 0, "checks.mx.hosts": length(2), "checks.mx.hosts.0.exchange": "a.lab-good-mail.com", "checks.mx.hosts.0.priority": 10,
			"checks.mx.hosts.0.addresses": []string{"11.80.0.40", "2a10:80::40"}, "checks.mx.nullMx": false, "checks.spf.lookups": 1, "checks.spf.all": "-all", "checks.spf.record": "v=spf1 mx -all",
			"checks.dmarc.policy": "reject", "checks.dmarc.foundAt": "lab-good-mail.com", "checks.dmarc.organizationalDomain": "lab-good-mail.com", "checks.dmarc.alignment.dkim": "relaxed",
			"checks.dkim.selector": "s1", "checks.dkim.keyType": "rsa", "checks.dkim.keyBits": 2048, "checks.mtaSts.mode": "enforce", "checks.mtaSts.mxPatterns": []string{"*.lab-good-mail.com"},
			"checks.mtaSts.maxAge": 1209600, "checks.mtaSts.policy": contains("version: STSv1"), "checks.tlsRpt.reportAddresses": []string{"mailto:t@lab-good-mail.com"}}},
		{label: "plain", check: "mtaSts", status: "missing", overall: "pass", more: facts{"checks.mtaSts.policy": nil, "checks.mtaSts.mode": nil}},
		{label: "nomail", check: "mx", status: "info", overall: "pass", more: facts{"checks.mx.nullMx": true, "checks.dkim.status": "notApplicable", "checks.mtaSts.status": "notApplicable", "checks.tlsRpt.status": "notApplicable", "summary.notApplicable": 3, "note": nonEmpty}},
		{label: "nothing", check: "mx", status: "warn", codes: []string{"MX_IMPLICIT"}, overall: "fail", more: facts{"checks.spf.status": "missing", "checks.dmarc.status": "missing", "checks.tlsRpt.status": "missing", "checks.dkim.status": "missing"}},
		{label: "bare", check: "mx", status: "missing", overall: "pass"},
		{label: "absent", check: "mx", status: "fail", codes: []string{"DOMAIN_NOT_FOUND"}, overall: "fail", more: facts{"summary.missing": 5}},
		{label: "mxgone", check: "mx", status: "fail", codes: []string{"MX_HOST_WITHOUT_ADDRESS"}, overall: "fail"},
		{label: "mxprivate", check: "mx", status: "fail", codes: []string{"MX_ADDRESS_NOT_PUBLIC"}, overall: "fail"},
		{label: "mxalias", check: "mx", status: "warn", codes: []string{"MX_CNAME"}, overall: "warn"},
		{label: "mxliteral", check: "mx", status: "fail", codes: []string{"MX_ADDRESS_LITERAL"}, overall: "fail"},
		{label: "mxnull", check: "mx", status: "fail", codes: []string{"MX_NULL_WITH_OTHERS"}, overall: "fail"},
		{label: "mxfails", check: "mx", status: "error", overall: "error", more: facts{"checks.spf.status": "error", "checks.dmarc.status": "pass"}},
		{label: "spfall", check: "spf", status: "fail", codes: []string{"SPF_ALLOWS_ALL"}, overall: "fail", more: facts{"checks.spf.all": "+all"}},
		{label: "spfneutral", check: "spf", status: "warn", overall: "warn", more: facts{"checks.spf.all": "?all"}},
		{label: "spfsoft", check: "spf", status: "pass", overall: "pass", more: facts{"checks.spf.all": "~all"}},
		{label: "spfopen", check: "spf", status: "warn", overall: "warn", more: facts{"checks.spf.all": nil}},
		{label: "spfptr", check: "spf", status: "warn", codes: []string{"SPF_PTR"}, overall: "warn"},
		{label: "spfsyntax", check: "spf", status: "fail", overall: "fail"},
		{label: "spftwo", check: "spf", status: "fail", codes: []string{"SPF_SEVERAL_RECORDS"}, overall: "fail"},
		{label: "spfloop", check: "spf", status: "fail", codes: []string{"SPF_LOOP"}, overall: "fail"},
		{label: "spftree", check: "spf", status: "pass", overall: "pass", more: facts{"checks.spf.lookups": 10, "checks.spf.voidLookups": 0, "checks.spf.tree.lookups": 10, "checks.spf.tree.children": length(3), "checks.spf.tree.children.0.children": length(4)}},
		{label: "spfeleven", check: "spf", status: "fail", overall: "fail", more: facts{"checks.spf.lookups": 11, "checks.spf.suggestion.record": "v=spf1 a:a.lab-spfeleven-mail.com -all", "checks.spf.suggestion.lookups": 1}},
		{label: "spfdead", check: "spf", status: "fail", codes: []string{"SPF_TARGET_WITHOUT_RECORD"}, overall: "fail", more: facts{"checks.spf.tree.children.0.domain": "gone.lab-spfdead-mail.com"}},
		{label: "spfmacro", check: "spf", status: "pass", codes: []string{"SPF_MACRO_NOT_FOLLOWED"}, overall: "pass", more: facts{"checks.spf.lookups": 4, "checks.spf.voidLookups": 0, "checks.spf.tree.children.1.domain": "lab-spfmacro-mail.lab-spfmacro-mail.com"}},
		{label: "spfnames", check: "spf", status: "warn", codes: []string{"SPF_NAME_INVALID"}, overall: "warn", more: facts{"checks.spf.lookups": 2, "checks.spf.voidLookups": 0, "checks.spf.tree.children.0.domain": "foo:bar/baz.lab-spfnames-mail.com"}},
		{label: "spflong", check: "spf", status: "warn", codes: []string{"SPF_RECORD_TOO_LONG"}, overall: "warn", more: facts{"checks.spf.suggestion.record": "v=spf1 include:_spf1.lab-spflong-mail.com include:_spf2.lab-spflong-mail.com -all", "checks.spf.suggestion.parts": length(2)}},
		{label: "spfvoid", check: "spf", status: "fail", codes: []string{"SPF_TOO_MANY_VOID_LOOKUPS"}, overall: "fail", more: facts{"checks.spf.voidLookups": 3}},
		{label: "spffails", check: "spf", status: "error", overall: "error"},
		{label: "dmarccaps", check: "dmarc", status: "pass", overall: "pass", more: facts{"checks.dmarc.policy": "reject", "checks.spf.suggestion": nil}},
		{label: "dmarcblank", check: "dmarc", status: "missing", codes: []string{"DMARC_LEADING_BLANK", "DMARC_MISSING"}, overall: "fail", more: facts{"checks.dmarc.record": nil}},
		{label: "dmarctested", check: "dmarc", status: "warn", codes: []string{"DMARC_TEST_MODE"}, overall: "warn", more: facts{"checks.dmarc.policy": "reject", "checks.dmarc.testMode": true, "checks.dmarc.summary": contains("receivers apply quarantine")}},
		{label: "dmarcnone", check: "dmarc", status: "warn", codes: []string{"DMARC_POLICY_NONE"}, overall: "warn"},
		{label: "dmarctwo", check: "dmarc", status: "fail", codes: []string{"DMARC_SEVERAL_RECORDS"}, overall: "fail"},
		{label: "dmarcstrict", check: "dmarc", status: "warn", codes: []string{"DMARC_SUBDOMAIN_POLICY_WEAKER"}, overall: "warn", more: facts{"checks.dmarc.subdomainPolicy": "quarantine", "checks.dmarc.alignment.dkim": "strict", "checks.dmarc.alignment.spf": "strict", "checks.dmarc.reportAddresses": length(2), "checks.dmarc.reportDestinations.0.authorized": true}},
		{label: "dmarcforeign", check: "dmarc", status: "warn", codes: []string{"DMARC_REPORTS_NOT_AUTHORIZED"}, overall: "warn", more: facts{"checks.dmarc.reportDestinations.0.domain": "lab-nothing-mail.com", "checks.dmarc.reportDestinations.0.authorized": false}},
		{label: "dmarcfails", check: "dmarc", status: "error", overall: "error"},
		{label: "dkimed", check: "dkim", status: "pass", overall: "pass", more: facts{"checks.dkim.keyType": "ed25519", "checks.dkim.keyBits": 256}},
		{label: "dkimshort", check: "dkim", status: "warn", overall: "warn", more: facts{"checks.dkim.keyBits": 1024}},
		{label: "dkimweak", check: "dkim", status: "fail", overall: "fail", more: facts{"checks.dkim.keyBits": 512}},
		{label: "dkimtest", check: "dkim", status: "warn", overall: "warn"},
		{label: "dkimrevoked", check: "dkim", status: "fail", codes: []string{"DKIM_KEY_REVOKED"}, overall: "fail"},
		{label: "dkimtwo", check: "dkim", status: "fail", overall: "fail"},
		{label: "dkimfails", check: "dkim", status: "error", overall: "error"},
		{label: "tlsrpttwo", check: "tlsRpt", status: "fail", codes: []string{"TLSRPT_SEVERAL_RECORDS"}, overall: "fail"},
		{label: "tlsrpthalf", check: "tlsRpt", status: "warn", codes: []string{"TLSRPT_URI_INVALID"}, overall: "warn"},
		{label: "tlsrptfails", check: "tlsRpt", status: "error", overall: "error"},
		{label: "stsabsent", check: "mtaSts", status: "fail", codes: []string{"MTASTS_HOST_ABSENT"}, overall: "fail"},
		{label: "ststwo", check: "mtaSts", status: "fail", codes: []string{"MTASTS_SEVERAL_RECORDS"}, overall: "fail"},
		{label: "stsprivate", check: "mtaSts", status: "fail", codes: []string{"MTASTS_POLICY_UNREACHABLE"}, overall: "fail"},
		{label: "stsfails", check: "mtaSts", status: "error", overall: "error"},
		{label: "ststesting", check: "mtaSts", status: "warn", codes: []string{"MTASTS_TESTING"}, overall: "warn", more: facts{"checks.mtaSts.mode": "testing"}},
		{label: "stsnone", check: "mtaSts", status: "info", codes: []string{"MTASTS_NONE"}, overall: "pass", more: facts{"checks.mtaSts.mode": "none"}},
		{label: "stsmisses", check: "mtaSts", status: "fail", codes: []string{"MTASTS_MX_NOT_COVERED"}, overall: "fail"},
		{label: "stssyntax", check: "mtaSts", status: "fail", overall: "fail"},
		{label: "stsredirect", check: "mtaSts", status: "fail", codes: []string{"MTASTS_POLICY_REDIRECT"}, overall: "fail", more: facts{"checks.mtaSts.policy": nil}},
		{label: "sts404", check: "mtaSts", status: "fail", codes: []string{"MTASTS_POLICY_ABSENT"}, overall: "fail"},
		{label: "stsexpired", check: "mtaSts", status: "fail", codes: []string{"MTASTS_CERTIFICATE"}, overall: "fail"},
		{label: "stsself", check: "mtaSts", status: "fail", codes: []string{"MTASTS_CERTIFICATE"}, overall: "fail"},
		{label: "stshtml", check: "mtaSts", status: "fail", codes: []string{"MTASTS_MEDIA_TYPE"}, overall: "fail"},
		{label: "stslong", check: "mtaSts", status: "fail", codes: []string{"MTASTS_POLICY_TOO_LONG"}, overall: "fail"},
		{label: "hostile", check: "spf", status: "fail", overall: "fail", more: facts{"checks.dkim.status": "fail"}},
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
			if c.shown {
				show(t, "email-dns-health "+c.label, a)
			}
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

func TestEmailOptions(t *testing.T) {
	runChecks(t, "email-dns-health", []check{
		{name: "no selector", input: "lab-good-mail.com", facts: facts{"checks.dkim.status": "info", "checks.dkim.selector": nil, "checks.dkim.summary": contains("selector"), "overall": "pass"}},
		{name: "another selector", input: "lab-good-mail.com", options: map[string]any{"dkimSelector": "none"}, facts: facts{"checks.dkim.status": "missing", "checks.dkim.selector": "none"}},
		{name: "a bad selector", input: "lab-good-mail.com", options: map[string]any{"dkimSelector": "a..b"}, status: 400},
		{name: "below a domain with a policy", input: "sub.lab-dmarcstrict-mail.com", facts: facts{"checks.dmarc.foundAt": "lab-dmarcstrict-mail.com", "checks.dmarc.policy": nonEmpty, "checks.mx.status": "pass"}},
		{name: "an address", input: "11.80.0.1", status: 400},
	})
}
