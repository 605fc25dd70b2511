package securityheaders

import (
	"strings"

	"diagnostics/gateway/internal/tools/internal/webview"
)

// retiredHeaders are headers that browsers no longer act on, or act on to no good, and what took their place.
var retiredHeaders = []struct {
	name, advice string
	status       controlStatus
}{
	{"Public-Key-Pins", "browsers dropped it, because a lost key locked visitors out; Certificate Transparency " +
		"replaced it", controlWarn},
	{"Public-Key-Pins-Report-Only", "browsers dropped it with Public-Key-Pins", controlWarn},
	{"X-Content-Security-Policy", "it is a predecessor of Content-Security-Policy that no current browser reads",
		controlWarn},
	{"X-Webkit-Csp", "it is a predecessor of Content-Security-Policy that no current browser reads", controlWarn},
	{"Feature-Policy", "Permissions-Policy replaced it, with another syntax", controlWarn},
	{"Expect-Ct", "browsers require Certificate Transparency anyway", controlInfo},
	{"P3p", "no current browser reads it", controlInfo},
	{"Pragma", "it has a meaning only in requests; Cache-Control is for responses", controlInfo},
	{"Report-To", "Reporting-Endpoints replaced it, except for Network Error Logging", controlInfo},
	{"X-Download-Options", "only Internet Explorer used it", controlInfo},
	{"X-Ua-Compatible", "only Internet Explorer used it", controlInfo},
	{"X-Permitted-Cross-Domain-Policies", "only Flash and PDF plugins used it", controlInfo},
	{"Set-Cookie2", "RFC 6265 retired it, and browsers ignore it", controlInfo},
	{"Large-Allocation", "browsers dropped it", controlInfo},
	{"Warning", "RFC 9111 retired it", controlInfo},
	{"Content-Md5", "RFC 7231 retired it; Content-Digest replaced it", controlInfo},
	{"Tk", "Do Not Track was abandoned", controlInfo},
	{"X-Xss-Protection", "", controlInfo}, // judged by its value
}

// judgeDeprecated names the retired headers that are still sent.
func judgeDeprecated(p page) controlVerdict {
	v := controlVerdict{status: controlPass}
	var shown, removable []string
	for _, h := range retiredHeaders {
		if !p.has(h.name) {
			continue
		}
		value, lower := p.joined(h.name), strings.ToLower(h.name)
		if h.name == "Set-Cookie2" {
			value = webview.CookieMask
		}
		shown = append(shown, lower+": "+webview.HeaderText(value))
		if h.name == "X-Xss-Protection" {
			v.judgeXSSProtection(value)
		} else {
			v.find(h.status, "%s: %s.", lower, h.advice)
		}
		removable = append(removable, lower)
	}
	if len(shown) == 0 {
		v.add("No retired header is sent.")
		return v
	}
	v.value, v.recommendation = new(strings.Join(shown, "; ")), advice{remove: removable}
	return v
}

// judgeXSSProtection: the filter that it steered is gone, and where it still runs it opens holes of its own.
func (v *controlVerdict) judgeXSSProtection(value string) {
	if mode, _, _ := strings.Cut(value, ";"); strings.TrimSpace(mode) == "0" {
		v.find(controlInfo, "x-xss-protection: 0 switches off a filter that only very old browsers have, which is harmless.")
		return
	}
	v.find(controlWarn,
		"x-xss-protection switches on a filter that browsers removed, because pages could be attacked through it.")
}
