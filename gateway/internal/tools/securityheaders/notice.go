package securityheaders

import (
	"fmt"
	"net/http"
	"strings"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/tools/internal/format"
)

// challengeSigns are the headers by which protective services mark an answer of their own. Where value is empty the
// header's presence is enough; where refusal is set it only counts beside a status of 400 or more, because pages carry
// it too.
var challengeSigns = []struct {
	header, value, service string
	refusal                bool
}{
	{"Cf-Mitigated", "challenge", "Cloudflare", false},
	{"X-Amzn-Waf-Action", "challenge", "AWS WAF", false},
	{"X-Amzn-Waf-Action", "captcha", "AWS WAF", false},
	{"X-Vercel-Mitigated", "challenge", "Vercel", false},
	{"X-Vercel-Mitigated", "deny", "Vercel", false},
	{"X-Px-Block", "", "HUMAN", false},
	{"X-Sucuri-Block", "", "Sucuri", true},
	{"X-Datadome", "", "DataDome", true},
	{"X-Dd-B", "", "DataDome", true},
	{"X-Kpsdk-Ct", "", "Kasada", true},
	{"X-Iinfo", "", "Imperva", true},
	{"Server", "AkamaiGHost", "Akamai", true},
	{"Server", "ddos-guard", "DDoS-Guard", true},
}

// noticeOf says that an answer is not the page that was meant, nil where it may be.
func noticeOf(r *egress.Response) *string {
	var notice string
	switch service := challengedBy(r); {
	case service != "":
		notice = fmt.Sprintf("%s answered instead of the site, with a challenge or a block page (status %d): these are "+
			"that page's headers, not those that people get.", service, r.Status)
	case r.Status == http.StatusUnauthorized:
		notice = "The target asks for a login (status 401): these are the headers of that answer, and the pages behind it " +
			"may send others."
	case r.Status >= http.StatusBadRequest:
		notice = fmt.Sprintf("The target answered with an error (%s): error pages often lack headers that a site's other "+
			"pages have.", statusLine(r))
	case r.Status >= http.StatusMultipleChoices:
		notice = fmt.Sprintf("The target answered %s and redirects nowhere: these are the headers of that answer, not of "+
			"a page.",
			statusLine(r))
	}
	return format.TextOrNull(notice)
}

// statusLine is the status with its standard phrase; the server's own is free text.
func statusLine(r *egress.Response) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", r.Status, http.StatusText(r.Status)))
}

// challengedBy names the service whose own answer this is, empty where there is no sign of one.
func challengedBy(r *egress.Response) string {
	for _, sign := range challengeSigns {
		if sign.refusal && r.Status < http.StatusBadRequest {
			continue
		}
		for _, value := range r.Header.Values(sign.header) {
			if sign.value == "" || strings.EqualFold(strings.TrimSpace(value), sign.value) {
				return sign.service
			}
		}
	}
	return ""
}
