package emaildnshealth

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/gateway/internal/analyze/mail/dmarc"
	"diagnostics/gateway/internal/analyze/mail/spf"
	"diagnostics/gateway/internal/tool/finding"
)

// The checks make facts of what packages of analysis find: each code in their source has a row.
func TestEveryCodeHasARow(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, dir := range []string{".", "../../analyze/mail", "../../analyze/tlsa"} {
		err := fs.WalkDir(os.DirFS(dir), ".", func(path string, _ fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") && path != "catalogue.go" {
				codesIn(t, filepath.Join(dir, path), used)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for code := range used {
		if _, known := rows[code]; !known {
			t.Errorf("%s has no row", code)
		}
	}
}

// An older code is final, and has a row of its own, but for three that other tools use or that were renamed.
func TestIssuesKeepTheirCodes(t *testing.T) {
	t.Parallel()
	elsewhere := []string{"DOMAIN_NOT_FOUND", "TLSA_MATCHES_NOTHING", "HELLO_INTOLERANT"}
	for code, older := range issueCodes {
		_, known := rows[code]
		if !known || issueCodes[older] != "" || rows[older].Message == "" != slices.Contains(elsewhere, older) {
			t.Errorf("%s: %s", code, older)
		}
	}
}

var rowCode = regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$`)

func codesIn(t *testing.T, path string, used map[string]bool) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, is := n.(*ast.BasicLit); is && literal.Kind == token.STRING {
			if text, err := strconv.Unquote(literal.Value); err == nil && rowCode.MatchString(text) {
				used[text] = true
			}
		}
		return true
	})
}

// inOrder is a domain without a fault, which takes mail.
func inOrder() *Result {
	r := &Result{Domain: "example.com"}
	for _, c := range r.Checks.all() {
		*c = newCheck()
	}
	r.Checks.MX.Hosts = []mxHost{newMXHost("mx.example.com", 10)}
	r.Checks.SPF.report = spf.Report{All: "-all"}
	r.Checks.DMARC.applied = dmarc.Reject
	r.Checks.MTASTS.Mode = new("enforce")
	return r
}

// with sets the status of a check and adds an issue.
func (c *check) with(status status, code string) {
	c.Status = status
	c.facts.Add(code, nil)
}

func TestReport(t *testing.T) {
	t.Parallel()
	type checks = results
	for name, c := range map[string]struct {
		change func(*checks)
		state  finding.State
		code   string
		found  string
	}{
		"in order": {func(*checks) {}, finding.OK, codeWell, ""},
		"not there": {func(c *checks) { c.MX.notFound = true; c.MX.with(mailFail, codeNotFound) },
			finding.Failed, codeNotFound, "fail broken NAME_NOT_FOUND"},
		"an exchange without address": {func(c *checks) { c.MX.with(mailFail, "MX_HOST_WITHOUT_ADDRESS") },
			finding.Failed, codeDelivery, "fail broken MX_HOST_WITHOUT_ADDRESS"},
		"an enforced policy without the exchange": {func(c *checks) { c.MTASTS.with(mailFail, "MTASTS_MX_NOT_COVERED") },
			finding.Failed, codeDelivery, "fail broken MTASTS_MX_NOT_COVERED"},
		"a tested policy without the exchange": {func(c *checks) {
			c.MTASTS.Mode = new("testing")
			c.MTASTS.with(mailFail, "MTASTS_MX_NOT_COVERED")
		}, finding.Warned, codeFaulty, "fail safer MTASTS_MX_NOT_COVERED_YET"},
		"anyone may send": {func(c *checks) { c.SPF.report.All = "+all"; c.SPF.with(mailFail, "SPF_ALLOWS_ALL") },
			finding.Warned, codeAnyone, "fail safer SPF_ALLOWS_ALL"},
		"anyone may send by an include": {func(c *checks) { c.SPF.with(mailFail, "SPF_ALLOWS_ALL") },
			finding.Warned, codeForgeable, "fail safer SPF_ALLOWS_ALL"},
		"no SPF, but DMARC": {func(c *checks) { c.SPF.with(mailMissing, "SPF_MISSING") },
			finding.Warned, codeFaulty, "fail safer SPF_MISSING"},
		"no DMARC": {func(c *checks) { c.DMARC.applied = ""; c.DMARC.with(mailMissing, "DMARC_MISSING") },
			finding.Warned, codeForgeable, "fail safer DMARC_MISSING"},
		"a policy of none": {func(c *checks) { c.DMARC.applied = dmarc.None; c.DMARC.with(mailWarn, "DMARC_POLICY_NONE") },
			finding.Warned, codeForgeable, "warn safer DMARC_POLICY_NONE"},
		"a term that matches no one": {func(c *checks) { c.SPF.with(mailWarn, "SPF_NAME_NOT_PUBLIC") },
			finding.Warned, codeFaulty, "warn safer SPF_NAME_NOT_PUBLIC"},
		"an alias that the search met": {func(c *checks) { c.DKIM.with(mailInfo, "DKIM_ALIAS_DEAD_SEARCHED") },
			finding.OK, codeWell, "info note DKIM_ALIAS_DEAD_SEARCHED"},
		"a failed lookup": {func(c *checks) { c.MX.with(mailError, "MX_LOOKUP_FAILED") },
			finding.Unknown, codeNotVerified, "warn note MX_LOOKUP_FAILED"},
		"a failed lookup and a warning": {func(c *checks) {
			c.MX.with(mailError, "MX_LOOKUP_FAILED")
			c.DKIM.with(mailWarn, "DKIM_KEY_SHORT")
		}, finding.Unknown, codeNotVerified, "warn safer DKIM_KEY_SHORT, warn note MX_LOOKUP_FAILED"},
		"a failed lookup and a fault": {func(c *checks) {
			c.DKIM.with(mailError, "DKIM_LOOKUP_FAILED")
			c.SPF.with(mailFail, "SPF_SYNTAX")
		}, finding.Warned, codeFaulty, "fail safer SPF_SYNTAX, warn note DKIM_LOOKUP_FAILED"},
		"a key that is missing": {func(c *checks) { c.DKIM.with(mailMissing, "DKIM_KEY_MISSING") },
			finding.Warned, codeFaulty, "warn safer DKIM_KEY_MISSING"},
		"no mail": {func(c *checks) {
			c.MX.NullMX, c.SPF.report.SendsNothing = true, true
			c.MX.with(mailInfo, "MX_NULL")
		}, finding.OK, codeNoMail, "info note MX_NULL"},
		"no mail, nor records": {func(c *checks) {
			c.MX.NullMX, c.SPF.report.All, c.DMARC.applied = true, "", ""
			c.SPF.with(mailMissing, "SPF_MISSING")
			c.DMARC.with(mailMissing, "DMARC_MISSING")
		}, finding.Noted, codeNoMailOpen, "fail note DMARC_MISSING_NULL_MX, fail note SPF_MISSING_NULL_MX"},
		"sends none": {func(c *checks) { c.SPF.report.SendsNothing = true }, finding.OK, codeNoMail, ""},
	} {
		r := inOrder()
		c.change(&r.Checks)
		r.report()
		var found []string
		for _, f := range r.Findings {
			found = append(found, string(f.Severity)+" "+string(f.Group)+" "+f.Code)
		}
		got := r.Conclusion
		if got.State != c.state || got.Code != c.code || strings.Join(found, ", ") != c.found ||
			!strings.HasSuffix(got.Message, ".") || got.Brief == "" {
			t.Errorf("%s: %+v, %q", name, got, found)
		}
	}
}

// The logo counts in nothing, and its issues are reported all the same.
func TestTheLogoIsANote(t *testing.T) {
	t.Parallel()
	r := inOrder()
	r.BIMI = &bimiRecord{}
	r.BIMI.facts.Add("BIMI_NO_LOGO", nil)
	r.report()
	if r.Conclusion.State != finding.OK || len(r.Findings) != 1 || r.Findings[0].Group != finding.Note {
		t.Errorf("%+v", r.Report)
	}
}

func TestRepairs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change     func(*results)
		code, want string
	}{
		"SPF":               {func(*results) {}, "SPF_MISSING", `example.com. IN TXT "v=spf1 mx ~all"`},
		"SPF of a web host": {func(r *results) { r.MX.with(mailWarn, "MX_IMPLICIT") }, "SPF_MISSING", `example.com. IN TXT "v=spf1 -all"`},
		"DMARC of a web host": {func(r *results) { r.MX.with(mailWarn, "MX_IMPLICIT"); r.SPF.Status = mailMissing }, "DMARC_MISSING",
			`_dmarc.example.com. IN TXT "v=DMARC1; p=reject"`},
		"SPF without mail": {func(r *results) { r.MX.NullMX, r.MX.Hosts = true, nil }, "SPF_MISSING", `example.com. IN TXT "v=spf1 -all"`},
		"SPF of a domain whose exchanges are not known": {func(r *results) { r.MX.Status, r.MX.Hosts = mailError, nil }, "SPF_MISSING", ""},
		"DMARC": {func(*results) {}, "DMARC_MISSING", `_dmarc.example.com. IN TXT "v=DMARC1; p=none; rua=mailto:dmarc@example.com"`},
		"DMARC of a domain whose exchanges are not known": {func(r *results) { r.MX.Status, r.MX.Hosts = mailError, nil }, "DMARC_MISSING", `_dmarc.example.com. IN TXT "v=DMARC1; p=none"`},
		"DMARC without mail":                              {func(r *results) { r.MX.NullMX, r.MX.Hosts, r.SPF.report.SendsNothing = true, nil, true }, "DMARC_MISSING", `_dmarc.example.com. IN TXT "v=DMARC1; p=reject"`},
		"DMARC is misspelt":                               {func(r *results) { r.DMARC.with(mailFail, "DMARC_VERSION") }, "DMARC_UNREADABLE", ""},
		"MTA-STS":                                         {func(*results) {}, "MTASTS_MISSING", `_mta-sts.example.com. IN TXT "v=STSv1; id=1"`},
		"TLS reporting":                                   {func(*results) {}, "TLSRPT_MISSING", `_smtp._tls.example.com. IN TXT "v=TLSRPTv1; rua=mailto:tls-reports@example.com"`},
		"another":                                         {func(*results) {}, "SPF_SYNTAX", ""},
	} {
		r := inOrder()
		c.change(&r.Checks)
		fact := r.inContext(mail.Issue{Code: c.code})
		f := rows.Find(fact.Code, "", fact.Args)
		switch {
		case c.want == "" && (f.Paste != nil || f.Remedy != nil):
			t.Errorf("%s: %+v", name, f)
		case c.want == "":
		case f.Paste == nil || f.Remedy == nil || *f.Paste != (finding.Paste{Kind: finding.PasteDNS, Text: c.want}):
			t.Errorf("%s: %+v, want %s", name, f.Paste, c.want)
		}
	}
}

// Mail is called set up well as far as it was checked, and one record is recommended for a fault.
func TestNothingIsSaidTwice(t *testing.T) {
	t.Parallel()
	for selector, want := range map[string]bool{"-": true, "": false} {
		h, _ := testCase{selector: selector}.run(t)
		if c := h.Conclusion; c.Code != codeWell || (c.Args["searched"] != nil) != want {
			t.Errorf("selector %q: %+v", selector, c)
		}
	}
	for _, mx := range []string{"post.com. 300 IN MX 10 a.post.com.", "post.com. 300 IN MX 0 .", ""} {
		h, _ := testCase{zone: map[string]string{"spf": "", "mx": mx}}.run(t)
		i := slices.IndexFunc(h.Findings, func(f finding.Finding) bool { return strings.HasPrefix(f.Code, "SPF_MISSING") })
		if i < 0 || h.Findings[i].Paste == nil || strings.Contains(h.Findings[i].Message, "v=spf1") {
			t.Errorf("MX %q: %+v", mx, h.Findings)
		}
	}
}

// Findings are about the mail exchange that has the fault.
func TestFindingsNameTheExchange(t *testing.T) {
	t.Parallel()
	h,
		_ := testCase{zone: map[string]string{"mx": "post.com. 300 IN MX 10 a.post.com.\n" +
		"post.com. 300 IN MX 20 gone.post.com."}}.run(t)
	i := slices.IndexFunc(h.Findings, func(f finding.Finding) bool { return f.Code == "MX_HOST_WITHOUT_ADDRESS" })
	if i < 0 || h.Findings[i].Subject == nil || *h.Findings[i].Subject != "gone.post.com" {
		t.Errorf("%+v", h.Findings)
	}
}
