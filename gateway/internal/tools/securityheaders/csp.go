package securityheaders

import (
	"encoding/json"
	"slices"
	"strings"

	"diagnostics/gateway/internal/analyze/csp"
)

const cspHeader = "Content-Security-Policy"

// bestCSP is a policy that a site can start from: the random part changes with every answer.
func bestCSP() advice {
	a := send(cspHeader, "default-src 'self'; script-src 'nonce-{RANDOM}' 'strict-dynamic'; object-src 'none'; "+
		"base-uri 'none'; form-action 'self'; frame-ancestors 'self'")
	a.set.StartingPoint = true
	a.after = " (with {RANDOM} as at least 128 random bits in base64, new in every answer and repeated in the " +
		"nonce attribute of each script element)"
	return a
}

// judgeCSP judges the policies that are enforced, all together, by what they leave to somebody who can inject markup.
func judgeCSP(p page) controlVerdict {
	v := controlVerdict{value: p.shownValue(cspHeader)}
	switch {
	case !p.document && v.value == nil:
		v = p.notForData("A content security policy")
		v.add("For data, “default-src 'none'; frame-ancestors 'none'” costs nothing.")
		return v
	case len(p.enforced) == 0:
		v.judgeMissingCSP(p)
		return v
	}
	v.status = controlPass
	v.judgePolicies(p)
	if !p.document && v.status != controlPass {
		v.status, v.recommendation = controlInfo, advice{}
		v.findings = append([]string{"This answer is not a document (" + p.shownMedia() +
			"), so the policy matters only if a browser shows it as one."}, v.findings...)
	}
	return v
}

func (v *controlVerdict) judgeMissingCSP(p page) {
	v.status, v.recommendation = controlFail, bestCSP()
	if v.value != nil {
		v.add("The header has no directive, so nothing is restricted.")
	} else {
		v.add("No policy is enforced, so injected script runs unhindered.")
	}
	if len(p.reported) > 0 {
		v.add("Content-Security-Policy-Report-Only is sent, which reports what it would block but blocks nothing.")
	}
	v.add("A policy in a meta element would not be seen here, because the body is not read.")
}

func (v *controlVerdict) judgePolicies(p page) {
	issues := p.enforced.Assess()
	for _, policy := range p.enforced {
		issues = append(issues, policy.Lint()...)
	}
	issues = append(issues, p.reportingIssues()...)
	slices.SortStableFunc(issues, func(a, b csp.Issue) int { return int(b.Severity) - int(a.Severity) })
	v.addHeadline(p, issues)
	for _, issue := range slices.Compact(issues) {
		v.find(cspStatus[issue.Severity], "%s", issue.Message)
	}
	if len(p.reported) > 0 {
		v.add("Content-Security-Policy-Report-Only is sent too, and only reports; sandbox and upgrade-insecure-requests do " +
			"nothing in it.")
	}
	v.recommendation = cspAdvice(issues)
}

func (v *controlVerdict) addHeadline(p page, issues []csp.Issue) {
	heaviest := csp.Info
	for _, issue := range issues {
		heaviest = max(heaviest, issue.Severity)
	}
	if n := len(p.enforced); n > 1 {
		v.add("%d policies are enforced together, so a source is allowed only if all of them allow it.", n)
	}
	switch {
	case p.enforced.SandboxesScripts():
		v.add("No script runs.")
	case p.enforced.RunsNoScript():
		v.add("No script runs, since no source of scripts is allowed.")
	case heaviest == csp.Fail:
		v.add("Injected script is not stopped.")
	case p.enforced.StrictDynamic() && p.enforced.TrustsOneByOne():
		v.add("Only script that carries a nonce or hash runs, and what such script loads ('strict-dynamic').")
	case p.enforced.TrustsOneByOne() && !p.enforced.ListsScriptSources():
		v.add("Only script that carries a nonce or hash runs.")
	case p.enforced.TrustsOneByOne():
		v.add("Only script from listed sources, or named by a nonce or hash, runs.")
	default:
		v.add("Only script from listed sources runs.")
	}
}

// cspStatus leaves what is only good to know at a pass.
var cspStatus = map[csp.Severity]controlStatus{csp.Fail: controlFail, csp.Warn: controlWarn, csp.Info: controlPass}

// cspAdvice is the header line to send: another policy where this one fails, else one more line beside it, since
// policies are enforced together. A policy that is only to be corrected comes without one.
func cspAdvice(issues []csp.Issue) advice {
	var more []string
	weak := false
	for _, issue := range issues {
		switch {
		case issue.Severity == csp.Fail:
			return bestCSP()
		case issue.Code == "no-object-src":
			more = append(more, "object-src 'none'")
		case issue.Code == "no-base-uri":
			more = append(more, "base-uri 'none'")
		case issue.Code == "no-form-action":
			more = append(more, "form-action 'self'")
		case issue.Severity == csp.Warn:
			weak = true
		}
	}
	switch {
	case len(more) == 0 && weak:
		return advice{before: "Correct what is named above; a policy to compare with: " + bestCSP().text()}
	case len(more) == 0:
		return advice{}
	}
	a := send(cspHeader, strings.Join(more, "; "))
	a.before = "Send one more line beside it: "
	if weak {
		a.before = "Correct what is named above, and send beside it: "
	}
	return a
}

// reportingIssues tells of reports that go nowhere: report-to names an endpoint that no header defines.
func (p page) reportingIssues() []csp.Issue {
	var issues []csp.Issue
	for _, policy := range p.enforced {
		d, ok := policy.Directive("report-to")
		if ok && len(d.Values) == 1 && !p.definesEndpoint(d.Values[0]) {
			message := "report-to names " + csp.Quote(d.Values[0]) +
				", which neither Reporting-Endpoints nor Report-To defines, so no report is sent to it."
			issues = append(issues, csp.Issue{Severity: csp.Info, Code: "undefined-endpoint", Message: message})
		}
	}
	return issues
}

// definesEndpoint reports whether the headers define an endpoint. It looks at Reporting-Endpoints (a structured field)
// and at its forerunner Report-To (JSON objects).
func (p page) definesEndpoint(name string) bool {
	if endpoints, err := parseFieldDictionary(p.values("Reporting-Endpoints")); err == nil {
		if _, ok := endpoints.Get(name); ok {
			return true
		}
	}
	var groups []struct {
		Group string `json:"group"`
	}
	if json.Unmarshal([]byte("["+p.joined("Report-To")+"]"), &groups) != nil {
		return false
	}
	for _, group := range groups {
		if group.Group == name || group.Group == "" && name == "default" {
			return true
		}
	}
	return false
}
