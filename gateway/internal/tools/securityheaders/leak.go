package securityheaders

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"diagnostics/gateway/internal/tool/finding"
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
func judgeLeaks(p page) verdict {
	var v verdict
	var shown []string
	for _, name := range slices.Concat(leakyHeaders, debugHeaders) {
		if !p.has(name) {
			continue
		}
		lower, value := strings.ToLower(name), p.joined(name)
		shown = append(shown, lower+": "+webview.HeaderText(value))
		if v.judgeLeak(name, value) {
			v.remove = append(v.remove, lower)
		}
	}
	inner := p.innerAddresses()
	for _, name := range inner {
		lower := strings.ToLower(name)
		if !slices.ContainsFunc(shown, func(line string) bool { return strings.HasPrefix(line, lower+": ") }) {
			shown = append(shown, lower+": "+webview.HeaderValue(lower, strings.Join(p.answer.Header[name], ", ")))
		}
	}
	if len(shown) == 0 {
		v.add("LEAK_NONE", nil)
		return v
	}
	v.value = new(strings.Join(shown, "; "))
	addresses := shownHeader(strings.ToLower(strings.Join(inner, ", ")))
	if len(inner) > 0 {
		v.add("LEAK_ADDRESS", finding.Args{"headers": addresses, "count": len(inner)})
	}
	v.complete(leakRemedy, finding.Args{
		"addresses": addresses, "both": len(inner) > 0 && len(v.remove) > 0, "remove": strings.Join(v.remove, ", "),
		"product": slices.Contains(v.remove, "server"),
	})
	return v
}

// judgeLeak reports whether the header should go.
func (v *verdict) judgeLeak(name, value string) bool {
	if name == "Via" {
		value = withoutViaProtocols(value)
	}
	args := finding.Args{"header": strings.ToLower(name), "value": shownHeader(value)}
	switch {
	case slices.Contains(debugHeaders, name):
		v.add("LEAK_INTERNALS", finding.Args{"header": strings.ToLower(name)})
	case name == "Server" && developmentServer.MatchString(value):
		v.add("LEAK_DEVELOPMENT_SERVER", finding.Args{"value": shownHeader(value)})
	case productVersion.MatchString(value) && name != "X-Runtime":
		v.add("LEAK_VERSION", args)
	case name == "Server" || name == "Via":
		v.add("LEAK_PRODUCT", args)
		return false
	default:
		v.add("LEAK_SOFTWARE", args)
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

// innerAddresses returns the first of the headers that hold an address of a private network, other than those that list
// addresses on purpose.
func (p page) innerAddresses() []string {
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
	slices.Sort(names)
	return names[:min(len(names), 5)]
}

// retiredHeaders are headers that browsers no longer act on, or act on to no good, the most misleading first.
var retiredHeaders = []string{
	"Public-Key-Pins", "Public-Key-Pins-Report-Only", "X-Content-Security-Policy", "X-Webkit-Csp", "Feature-Policy",
	"Expect-Ct", "P3p", "Pragma", "Report-To", "X-Download-Options", "X-Ua-Compatible",
	"X-Permitted-Cross-Domain-Policies", "Set-Cookie2", "Large-Allocation", "Warning", "Content-Md5", "Tk",
	"X-Xss-Protection",
}

// judgeDeprecated names the retired headers that are still sent.
func judgeDeprecated(p page) verdict {
	var v verdict
	var shown []string
	for _, name := range retiredHeaders {
		if !p.has(name) {
			continue
		}
		value, lower := p.joined(name), strings.ToLower(name)
		code := "RETIRED_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
		// The filter that X-XSS-Protection steered is gone, and where it still runs it opens holes of its own.
		if mode, _, _ := strings.Cut(value, ";"); code == "RETIRED_X_XSS_PROTECTION" && strings.TrimSpace(mode) == "0" {
			code = "RETIRED_X_XSS_PROTECTION_OFF"
		}
		if name == "Set-Cookie2" {
			value = webview.CookieMask
		}
		shown = append(shown, lower+": "+webview.HeaderText(value))
		v.add(code, nil)
		v.remove = append(v.remove, lower)
	}
	if len(shown) == 0 {
		v.add("RETIRED_NONE", nil)
		return v
	}
	v.value = new(strings.Join(shown, "; "))
	v.complete(retiredRemedy, finding.Args{"remove": strings.Join(v.remove, ", ")})
	return v
}
