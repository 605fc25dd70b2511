package securityheaders

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/tools/internal/webview"
)

// leakyHeaders are headers that help only an attacker.
var leakyHeaders = []string{
	"Server", "X-Powered-By", "X-Powered-Cms", "X-Powered-By-Plesk", "X-Aspnet-Version", "X-Aspnetmvc-Version",
	"X-Generator", "Via",
	"X-Php-Version", "X-Runtime", "X-Version", "X-Backend-Server", "X-Backend", "X-Server", "X-Server-Name",
	"X-Served-By-Host",
	"X-Drupal-Cache", "X-Drupal-Dynamic-Cache", "Liferay-Portal", "X-Mod-Pagespeed", "X-Page-Speed", "X-Jenkins",
	"X-Hudson",
	"Microsoftsharepointteamservices", "X-Owa-Version", "X-Feserver", "X-Beserver", "X-Diaginfo", "X-Shopify-Stage",
	"X-Redirect-By",
}

// debugHeaders show the insides of a program: no visitor should ever be sent one.
var debugHeaders = []string{
	"X-Debug-Token", "X-Debug-Token-Link", "X-Chromelogger-Data", "X-Chromephp-Data", "X-Firephp-Data", "X-Wf-Protocol-1",
	"X-Clockwork-Id", "X-Clockwork-Version", "X-Sourcemap", "Sourcemap", "X-Debugbar-Data", "Phpdebugbar",
}

var (
	// productVersion is a product with its version (RFC 9110 section 10.1.5) or a bare version of at least two numbers.
	productVersion = regexp.MustCompile(
		`[A-Za-z][A-Za-z0-9._+-]*[/ ]v?[0-9]+(\.[0-9]+)+|[A-Za-z][A-Za-z._+-]*/v?[0-9]+|^v?[0-9]+(\.[0-9]+)+`)
	// viaHop is what RFC 9110 section 7.6.3 asks of each entry of Via: the protocol and who received by it.
	viaHop = regexp.MustCompile(`^([A-Za-z]+/)?[0-9]+(\.[0-9]+)?[ \t]+`)
	// developmentServer are servers whose makers say that they are not for the public.
	developmentServer = regexp.MustCompile(
		`(?i)werkzeug|simplehttp|webrick|php [0-9.]+ development server|wsgiserver|basehttp`)
	ipv4Literal = regexp.MustCompile(`\b[0-9]{1,3}(\.[0-9]{1,3}){3}\b`)
)

// judgeLeaks looks for software, versions, debugging aids and inner addresses.
func judgeLeaks(p page) controlVerdict {
	v := controlVerdict{status: controlPass}
	var shown, removable []string
	for _, name := range slices.Concat(leakyHeaders, debugHeaders) {
		if !p.has(name) {
			continue
		}
		lower, value := strings.ToLower(name), p.joined(name)
		shown = append(shown, lower+": "+webview.HeaderText(value))
		if v.judgeLeak(name, value) {
			removable = append(removable, lower)
		}
	}
	for _, name := range v.judgeInnerAddresses(p) {
		lower := strings.ToLower(name)
		if !slices.ContainsFunc(shown, func(line string) bool { return strings.HasPrefix(line, lower+": ") }) {
			shown = append(shown, lower+": "+webview.HeaderValue(lower, strings.Join(p.answer.Header[name], ", ")))
		}
	}
	if len(shown) == 0 {
		if v.status == controlPass {
			v.add("No header names the software, its version or its internals.")
		}
		return v
	}
	v.value = new(strings.Join(shown, "; "))
	if len(removable) > 0 {
		v.recommendation.remove = removable
		if v.recommendation.before != "" {
			v.recommendation.before += ". "
		}
		if slices.Contains(removable, "server") {
			v.recommendation.after = "; or name the product alone, as in: Server: nginx"
		}
	}
	return v
}

// judgeLeak reports whether the header should go.
func (v *controlVerdict) judgeLeak(name, value string) bool {
	lower := strings.ToLower(name)
	if name == "Via" {
		value = withoutViaProtocols(value)
	}
	switch {
	case slices.Contains(debugHeaders, name):
		v.find(controlFail, "%s is a debugging aid and must not reach visitors.", lower)
	case name == "Server" && developmentServer.MatchString(value):
		v.find(controlFail, "server names a development server (%s), which is not made for the public.", shownHeader(value))
	case productVersion.MatchString(value) && name != "X-Runtime":
		v.find(controlWarn,
			"%s reveals a version (%s), which helps attackers find matching exploits.", lower, shownHeader(value))
	case name == "Server" || name == "Via":
		v.find(controlInfo, "%s names the product without a version (%s).", lower, shownHeader(value))
		return false
	default:
		v.find(controlInfo, "%s reveals the software (%s) and is of no use to visitors.", lower, shownHeader(value))
	}
	return true
}

// withoutViaProtocols drops the version of the protocol that each entry of Via begins with.
func withoutViaProtocols(value string) string {
	entries := strings.Split(value, ",")
	for i, entry := range entries {
		entries[i] = viaHop.ReplaceAllString(strings.TrimSpace(entry), "")
	}
	return strings.Join(entries, ", ")
}

// judgeInnerAddresses looks for addresses of private networks in any header but those that list addresses on purpose,
// and gives the first of the headers that hold one.
func (v *controlVerdict) judgeInnerAddresses(p page) []string {
	var names []string
	for name, values := range p.answer.Header {
		if name == "Content-Security-Policy" || name == "Set-Cookie" {
			continue
		}
		for _, literal := range ipv4Literal.FindAllString(strings.Join(values, " "), 50) {
			if addr, err := netip.ParseAddr(literal); err == nil && addr.IsPrivate() {
				names = append(names, name)
				break
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	names = names[:min(len(names), 5)]
	list := shownHeader(strings.ToLower(strings.Join(names, ", ")))
	contain := text.Number(len(names), "contains", "contain")
	v.find(controlWarn, "%s %s a private network address.", list, contain)
	v.recommendation.before = "Remove private addresses from: " + list
	return names
}

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
