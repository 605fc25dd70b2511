package securityheaders

import (
	"encoding/json"
	"slices"
	"strings"

	"diagnostics/gateway/internal/analyze/csp"
	"diagnostics/gateway/internal/tools/internal/format"
	"diagnostics/gateway/internal/tools/internal/webview"
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

// judgeCSP judges the policies that are enforced, all together, by what they leave to someone who can inject markup.
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

// reportingIssues returns reports that go nowhere: report-to names an endpoint that no header defines.
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

const xfo = "X-Frame-Options"

func bestFraming() advice { return send(cspHeader, "frame-ancestors 'self'") }

// judgeFraming follows CSP Level 3 section 6.4.2.1: where an enforced policy has frame-ancestors, X-Frame-Options does
// not count.
func judgeFraming(p page) controlVerdict {
	framing := p.enforced.Framing()
	v := controlVerdict{value: p.framingValue()}
	switch {
	case !p.document && v.value == nil:
		return p.notForData("Frame protection")
	case framing != csp.FramingUnset:
		v.judgeAncestors(framing)
		if p.has(xfo) {
			v.add("X-Frame-Options beside it counts only in browsers too old for frame-ancestors.")
		}
	case p.has(xfo):
		v.judgeXFO(p.values(xfo))
	default:
		v.recommendation = bestFraming()
		v.find(controlFail, "Any site can show this page in a frame and trick people into clicking on it.")
	}
	if framing == csp.FramingUnset && csp.Set(p.reported).Framing() != csp.FramingUnset {
		v.add("frame-ancestors in Content-Security-Policy-Report-Only only reports.")
	}
	return v
}

func (p page) framingValue() *string {
	var parts []string
	for _, policy := range p.enforced {
		if d, ok := policy.Directive("frame-ancestors"); ok {
			parts = append(parts, strings.Join(append([]string{d.Name}, d.Values...), " "))
		}
	}
	if p.has(xfo) {
		parts = append(parts, xfo+": "+webview.HeaderText(p.joined(xfo)))
	}
	return format.TextOrNull(strings.Join(parts, "; "))
}

func (v *controlVerdict) judgeAncestors(framing csp.Framing) {
	switch framing {
	case csp.FramingNone:
		v.find(controlPass, "frame-ancestors lets no site show this page in a frame.")
	case csp.FramingSelf:
		v.find(controlPass, "frame-ancestors lets only the site itself show this page in a frame.")
	case csp.FramingHosts:
		v.find(controlPass,
			"frame-ancestors lets only the named sites show this page in a frame; each of them must be trusted with it.")
	case csp.FramingAnyone, csp.FramingUnset:
		v.recommendation = bestFraming()
		v.find(controlFail,
			"frame-ancestors is open to any site (an asterisk, a bare scheme, or a wildcard below a public suffix).")
	}
}

// judgeXFO follows HTML's "check a navigation response's adherence to X-Frame-Options".
func (v *controlVerdict) judgeXFO(values []string) {
	var distinct []string
	seen := make(map[string]bool)
	for _, value := range splitFieldList(values) {
		if value = strings.ToLower(value); !seen[value] {
			seen[value] = true
			distinct = append(distinct, value)
		}
	}
	isKnown := func(value string) bool { return value == "deny" || value == "sameorigin" || value == "allowall" }
	switch {
	case len(distinct) > 1 && slices.ContainsFunc(distinct, isKnown):
		v.recommendation = bestFraming()
		v.find(controlWarn,
			"X-Frame-Options has several different values, so browsers refuse every frame, whatever was meant.")
	case len(distinct) == 1 && distinct[0] == "deny":
		v.find(controlPass,
			"X-Frame-Options lets no site show this page in a frame; frame-ancestors is the newer way to say so.")
	case len(distinct) == 1 && distinct[0] == "sameorigin":
		v.find(controlPass,
			"X-Frame-Options lets only the site itself show this page in a frame; frame-ancestors is the newer way to "+
				"say so.")
	case strings.HasPrefix(distinct[0], "allow-from"):
		v.recommendation = sendExample(cspHeader, "frame-ancestors 'self' "+exampleOrigin)
		v.find(controlFail, "Browsers ignore ALLOW-FROM, so any site can show this page in a frame.")
	default:
		v.recommendation = bestFraming()
		v.find(controlFail,
			"X-Frame-Options has no value that browsers act on (DENY or SAMEORIGIN), so any site can show this page in a "+
				"frame.")
	}
}
