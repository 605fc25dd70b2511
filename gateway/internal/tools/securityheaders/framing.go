package securityheaders

import (
	"slices"
	"strings"

	"diagnostics/gateway/internal/analyze/csp"
	"diagnostics/gateway/internal/tools/internal/format"
	"diagnostics/gateway/internal/tools/internal/webview"
)

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
