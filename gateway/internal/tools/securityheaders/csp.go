package securityheaders

import (
	"encoding/json"
	"slices"
	"strings"

	"diagnostics/gateway/internal/analyze/csp"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/format"
	"diagnostics/gateway/internal/tools/internal/webview"
)

// judgeCSP judges the policies that are enforced, all together, by what they leave to someone who can inject markup.
func judgeCSP(p page) verdict {
	v := verdict{value: p.shownValue(cspHeader), set: headerLine{Name: cspHeader, Value: cspValue}}
	switch {
	case !p.document && v.value == nil:
		v = p.notForData("CSP_NOT_A_DOCUMENT")
		v.add("CSP_COSTS_NOTHING", nil)
		return v
	case len(p.enforced) == 0:
		if v.value != nil {
			v.add("CSP_EMPTY", nil)
		} else {
			v.add("CSP_MISSING", nil)
		}
		if len(p.reported) > 0 {
			v.add("CSP_REPORT_ONLY", nil)
		}
		v.add("CSP_META_ELEMENT", nil)
		return v
	}
	v.judgePolicies(p)
	if !p.document && v.status() != controlPass {
		return verdict{value: v.value, firstDecides: true,
			facts: append([]fact{{"CSP_FOR_DATA", p.media()}}, v.facts...)}
	}
	return v
}

func (v *verdict) judgePolicies(p page) {
	issues := p.enforced.Assess()
	for _, policy := range p.enforced {
		issues = append(issues, policy.Lint()...)
	}
	issues = append(issues, p.reportingIssues()...)
	slices.SortStableFunc(issues, func(a, b csp.Issue) int { return rank(b.Code) - rank(a.Code) })
	issues = slices.CompactFunc(issues, csp.Issue.Equal)
	if n := len(p.enforced); n > 1 {
		v.add("CSP_SEVERAL", finding.Args{"policies": n})
	}
	v.add(p.scriptsThatRun(issues), nil)
	for _, issue := range issues {
		v.add(issue.Code, issue.Args)
	}
	if len(p.reported) > 0 {
		v.add("CSP_REPORT_ONLY_BESIDE", nil)
	}
	v.adviseCSP(issues)
}

// scriptsThatRun is the code of which scripts run.
func (p page) scriptsThatRun(issues []csp.Issue) string {
	unsafe := slices.ContainsFunc(issues, func(i csp.Issue) bool { return rows[i.Code].Severity == finding.Fail })
	switch {
	case p.enforced.SandboxesScripts():
		return "CSP_NO_SCRIPT"
	case p.enforced.RunsNoScript():
		return "CSP_NO_SCRIPT_SOURCE"
	case unsafe:
		return "CSP_INJECTED_SCRIPT"
	case p.enforced.StrictDynamic() && p.enforced.TrustsOneByOne():
		return "CSP_SCRIPT_BY_TRUST"
	case p.enforced.TrustsOneByOne() && !p.enforced.ListsScriptSources():
		return "CSP_SCRIPT_BY_NONCE"
	case p.enforced.TrustsOneByOne():
		return "CSP_SCRIPT_BY_SOURCE_OR_NONCE"
	}
	return "CSP_SCRIPT_BY_SOURCE"
}

// adviseCSP completes cspRemedy: another policy if this one fails, else one more line beside it. A policy that is only
// to be corrected comes without one.
func (v *verdict) adviseCSP(issues []csp.Issue) {
	args, weak := finding.Args{}, false
	var lines []string
	for _, issue := range issues {
		line := map[string]string{csp.Plugins: "CSP_LINE_OBJECT_SRC", csp.Base: codeLineBase,
			csp.BaseWithNonce: codeLineBase, csp.Forms: "CSP_LINE_FORM_ACTION"}[issue.Code]
		switch {
		case rows[issue.Code].Severity == finding.Fail:
			return
		case line != "":
			lines = append(lines, rows.Clause(line, nil))
			args[[]string{"line", "line2", "line3"}[len(lines)-1]] = line
		case rows[issue.Code].Severity == finding.Warn:
			weak = true
		}
	}
	v.set.Value = strings.Join(lines, "; ")
	if len(lines) == 0 { // the policy to compare with is not to be sent
		v.set.Name = ""
	}
	args["weak"], args["compare"] = weak, weak && len(lines) == 0
	v.complete(cspRemedy, args)
}

// reportingIssues returns reports that go nowhere: report-to names an endpoint that no header defines.
func (p page) reportingIssues() []csp.Issue {
	var issues []csp.Issue
	for _, policy := range p.enforced {
		d, ok := policy.Directive("report-to")
		if ok && len(d.Values) == 1 && !p.definesEndpoint(d.Values[0]) {
			args := finding.Args{"endpoint": csp.Shown(d.Values[0])}
			issues = append(issues, csp.Issue{Code: "CSP_ENDPOINT_NOT_DEFINED", Args: args})
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

// judgeFraming follows CSP Level 3 section 6.4.2.1: if an enforced policy has frame-ancestors, X-Frame-Options does not
// count.
func judgeFraming(p page) verdict {
	framing := p.enforced.Framing()
	v := verdict{value: p.framingValue(), set: headerLine{Name: cspHeader, Value: framingValue}}
	switch {
	case !p.document && v.value == nil:
		return p.notForData("FRAME_PROTECTION_NOT_A_DOCUMENT")
	case framing != csp.FramingUnset:
		v.add(map[csp.Framing]string{csp.FramingNone: "FRAME_PROTECTION_NONE", csp.FramingSelf: "FRAME_PROTECTION_SELF",
			csp.FramingHosts: "FRAME_PROTECTION_HOSTS", csp.FramingAnyone: "FRAME_PROTECTION_ANYONE"}[framing], nil)
		if p.has(xfo) {
			v.add("FRAME_PROTECTION_XFO_BESIDE", nil)
		}
	case p.has(xfo):
		v.judgeXFO(p.values(xfo))
	default:
		v.add("FRAME_PROTECTION_MISSING", nil)
	}
	if framing == csp.FramingUnset && csp.Set(p.reported).Framing() != csp.FramingUnset {
		v.add("FRAME_PROTECTION_REPORT_ONLY", nil)
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

// judgeXFO follows HTML's "check a navigation response's adherence to X-Frame-Options".
func (v *verdict) judgeXFO(values []string) {
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
		v.add("FRAME_PROTECTION_CONFLICT", nil)
	case len(distinct) == 1 && distinct[0] == "deny":
		v.add("FRAME_PROTECTION_DENY", nil)
	case len(distinct) == 1 && distinct[0] == "sameorigin":
		v.add("FRAME_PROTECTION_SAMEORIGIN", nil)
	case strings.HasPrefix(distinct[0], "allow-from"):
		v.set.Value += " " + exampleOrigin
		v.add("FRAME_PROTECTION_ALLOW_FROM", nil)
	default:
		v.add("FRAME_PROTECTION_INEFFECTIVE", nil)
	}
}
