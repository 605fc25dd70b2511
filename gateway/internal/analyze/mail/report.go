package mail

import (
	"net/url"
	"regexp"
	"strings"

	"diagnostics/shared/ascii"
)

// ReportURI is one address of a rua or ruf tag.
type ReportURI struct {
	// Text is the URI without a retired size limit.
	Text string
	// Scheme is lower case.
	Scheme string
	// Host is the domain that the reports go to, lower case, without a trailing dot.
	Host string
	// Size is the retired limit behind an exclamation point ("10m"), empty where there is none.
	Size string
}

// sizeLimit is the "!10m" that RFC 7489 section 6.2 let follow a URI.
var sizeLimit = regexp.MustCompile(`!([0-9]+[kKmMgGtT]?)$`)

// ParseReportURI takes a mailto URI with one address, or another URI with a host. problem is the code of a
// clause on what is wrong with it, empty if nothing is.
func ParseReportURI(s string) (uri ReportURI, problem string) {
	text := strings.Trim(s, whiteSpace)
	if m := sizeLimit.FindStringSubmatch(text); m != nil {
		uri.Size = m[1]
		text = strings.TrimSuffix(text, "!"+m[1])
	}
	uri.Text = text
	if !ascii.Is(text) || strings.ContainsAny(text, whiteSpace) {
		return uri, "REPORT_URI_CHARACTERS"
	}
	parsed, err := url.Parse(text)
	if err != nil {
		return uri, "REPORT_URI_INVALID"
	}
	uri.Scheme = parsed.Scheme
	if uri.Scheme == "" && strings.Contains(text, "@") {
		return uri, "REPORT_URI_WITHOUT_MAILTO"
	}
	if uri.Scheme == "mailto" {
		return uri.withMailbox(parsed)
	}
	uri.Host = canonicalHost(parsed.Hostname())
	if uri.Scheme == "" || uri.Host == "" {
		return uri, "REPORT_URI_WITHOUT_HOST"
	}
	return uri, ""
}

func (u ReportURI) withMailbox(parsed *url.URL) (ReportURI, string) {
	address, err := url.PathUnescape(parsed.Opaque)
	if err != nil || parsed.Opaque == "" {
		return u, "REPORT_URI_WITHOUT_ADDRESS"
	}
	at := strings.LastIndexByte(address, '@')
	if at < 1 || strings.Contains(address[:at], "@") {
		return u, "REPORT_URI_SEVERAL_ADDRESSES"
	}
	u.Host = canonicalHost(address[at+1:])
	if u.Host == "" || strings.ContainsAny(u.Host, `,;:/\ <>"`) {
		return u, "REPORT_URI_WITHOUT_DOMAIN"
	}
	return u, ""
}

func canonicalHost(s string) string { return strings.ToLower(strings.TrimSuffix(s, ".")) }
