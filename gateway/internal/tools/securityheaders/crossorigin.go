package securityheaders

import (
	"net/url"
	"strings"
)

// isolationPolicy is a header that is one token of a few (HTML sections 7.1.3 and 7.1.4).
type isolationPolicy struct {
	name    string
	absent  string // what its absence means
	best    string // the value to send
	meaning map[string]isolationValue
}

type isolationValue struct {
	status controlStatus
	means  string
}

func coopPolicy() isolationPolicy {
	return isolationPolicy{
		name:   "Cross-Origin-Opener-Policy",
		absent: "a window that this page opens, or that opens it, keeps a reference to it whatever its site",
		best:   "same-origin",
		meaning: map[string]isolationValue{
			"same-origin": {controlPass, "windows of other origins keep no reference to this page"},
			"same-origin-allow-popups": {controlPass,
				"windows of other origins that open this page keep no reference to it; popups that it opens itself do"},
			"noopener-allow-popups": {controlPass,
				"no window that opens this page keeps a reference to it, not even one of the same origin"},
			"unsafe-none": {controlInfo, "this is the default and protects nothing"},
		},
	}
}

func coepPolicy() isolationPolicy {
	return isolationPolicy{
		name: "Cross-Origin-Embedder-Policy",
		absent: "resources of other origins load without their consent; only pages that need cross-origin isolation " +
			"(SharedArrayBuffer, exact timers) must send it",
		best: "require-corp",
		meaning: map[string]isolationValue{
			"require-corp":   {controlPass, "resources of other origins load only with their consent"},
			"credentialless": {controlPass, "resources of other origins load without credentials, or with their consent"},
			"unsafe-none":    {controlInfo, "this is the default and protects nothing"},
		},
	}
}

func judgeCOOP(p page) controlVerdict { return p.judgeIsolation(coopPolicy()) }

func judgeCOEP(p page) controlVerdict {
	v := p.judgeIsolation(coepPolicy())
	opener, _, _ := fieldToken(p.values("Cross-Origin-Opener-Policy"))
	if v.status == controlPass && opener == "same-origin" {
		v.add("Together with Cross-Origin-Opener-Policy: same-origin the page is cross-origin isolated.")
	}
	return v
}

func (p page) judgeIsolation(policy isolationPolicy) controlVerdict {
	v := controlVerdict{value: p.shownValue(policy.name), recommendation: send(policy.name, policy.best)}
	if v.value == nil {
		if !p.document {
			return p.notForData("This header")
		}
		v.find(controlInfo, "The header is missing: %s.", policy.absent)
		v.addReportOnly(p, policy)
		return v
	}
	token, endpoint, ok := fieldToken(p.values(policy.name))
	value, isKnown := policy.meaning[token]
	switch {
	case !ok:
		v.find(controlWarn,
			"Browsers ignore the header: it must be one token, sent once (RFC 9651), such as %s.", policy.best)
	case !isKnown:
		v.find(controlWarn,
			"Browsers ignore the value “%s”, which they do not know (values are lower case).", shownHeader(token))
	default:
		v.find(value.status, "%s: %s.", token, value.means)
	}
	if v.status == controlPass {
		v.recommendation = advice{}
		v.needSecure(p)
	}
	v.addEndpoint(p, endpoint)
	v.addReportOnly(p, policy)
	return v
}

// needSecure holds back a pass that browsers give in a secure context alone.
func (v *controlVerdict) needSecure(p page) {
	if !p.secure() {
		v.find(controlWarn, "But browsers ignore it, because the answer did not come over valid HTTPS.")
		v.recommendation = advice{before: "Send this header over https with a valid certificate."}
	}
}

func (v *controlVerdict) addEndpoint(p page, endpoint string) {
	if endpoint != "" && !p.definesEndpoint(endpoint) {
		v.add("Its report-to names “%s”, which Reporting-Endpoints does not define, so no report is sent.",
			shownHeader(endpoint))
	}
}

func (v *controlVerdict) addReportOnly(p page, policy isolationPolicy) {
	name := policy.name + "-Report-Only"
	if !p.has(name) {
		return
	}
	token, endpoint, ok := fieldToken(p.values(name))
	if _, isKnown := policy.meaning[token]; !ok || !isKnown {
		v.add("%s has no value that browsers know.", name)
		return
	}
	v.add("%s: %s only reports.", name, token)
	v.addEndpoint(p, endpoint)
}

// judgeCORP follows Fetch's cross-origin resource policy check: the header is no structured field, and its values are
// matched to the letter.
func judgeCORP(p page) controlVerdict {
	const name = "Cross-Origin-Resource-Policy"
	v := controlVerdict{value: p.shownValue(name), recommendation: send(name, "same-origin")}
	if v.value == nil {
		v.find(controlInfo,
			"The header is missing, so other sites can embed this resource, credentials included, where nothing else "+
				"stops them.")
		return v
	}
	switch value := p.joined(name); value {
	case "same-origin", "same-site":
		v.recommendation = advice{}
		v.find(controlPass, "Only the same %s can embed this resource.",
			map[string]string{"same-origin": "origin", "same-site": "site"}[value])
	case "cross-origin":
		v.recommendation = advice{}
		v.find(controlInfo, "Every site may embed this resource, which is right only for public files.")
	default:
		v.find(controlWarn,
			"Browsers ignore the value “%s”: it must be same-origin, same-site or cross-origin, in lower case and sent "+
				"once.", shownHeader(value))
	}
	return v
}

const allowOrigin = "Access-Control-Allow-Origin"

// judgeCORS judges the answer to a request without Origin. It does not show whether a server reflects the Origin of
// each request.
func judgeCORS(p page) controlVerdict {
	v := controlVerdict{status: controlPass, value: p.shownValue(allowOrigin)}
	// Fetch's CORS check compares to the letter.
	credentials := p.joined("Access-Control-Allow-Credentials") == "true"
	if v.value == nil {
		v.add("No other site is allowed to read this answer. The request had no Origin header; a server may allow more " +
			"when there is one.")
		return v
	}
	v.judgeAllowedOrigin(p, p.joined(allowOrigin), credentials)
	if p.has("Access-Control-Allow-Credentials") && !credentials {
		v.add("Access-Control-Allow-Credentials counts only as true, in lower case.")
	}
	return v
}

func (v *controlVerdict) judgeAllowedOrigin(p page, origin string, credentials bool) {
	own := strings.TrimSuffix(p.answer.URL.String(), p.answer.URL.RequestURI())
	switch {
	case origin == "*" && credentials:
		v.status, v.recommendation = controlWarn, sendExample(allowOrigin, exampleOrigin)
		v.recommendation.after = " (with Vary: Origin)"
		v.add("An asterisk beside Access-Control-Allow-Credentials: true does not work: browsers refuse to hand out " +
			"answers to requests with credentials. To allow every site, leave Access-Control-Allow-Credentials out.")
	case origin == "*":
		v.find(controlInfo,
			"Every site can read this answer, as anyone without credentials can. That is right for public data, and "+
				"wrong where only the network or the address protects it.")
	case origin == "null":
		v.judgeNullOrigin(credentials)
	case !isSerializedOrigin(origin):
		v.recommendation = sendExample(allowOrigin, exampleOrigin)
		v.find(controlWarn,
			"Browsers refuse the value “%s”: it must be one origin, *, or null, sent once, without a path, a list or a "+
				"wildcard inside.", shownHeader(origin))
	case origin == own:
		v.find(controlInfo, "It names the site's own origin, which needs no permission.")
	case credentials && strings.HasPrefix(origin, "http://") && p.answer.URL.Scheme() == "https":
		v.recommendation = send(allowOrigin, "https://"+shownHeader(strings.TrimPrefix(origin, "http://")))
		v.recommendation.repeats = true
		v.find(controlWarn, "%s, over plain HTTP, can read answers made for a logged-in person, and so can anyone on "+
			"its network.", shownHeader(origin))
	case credentials:
		v.find(controlInfo,
			"%s can read answers made for a logged-in person, and must be trusted with that.", shownHeader(origin))
	default:
		v.find(controlInfo, "%s can read this answer.", shownHeader(origin))
	}
}

func (v *controlVerdict) judgeNullOrigin(credentials bool) {
	v.recommendation = sendExample(allowOrigin, exampleOrigin)
	v.find(controlWarn, "The origin null is that of every sandboxed frame, so any site can read this answer through one.")
	if credentials {
		v.find(controlFail, "With Access-Control-Allow-Credentials: true that includes answers made for a logged-in person.")
	}
}

// isSerializedOrigin reports whether browsers could ever have sent this as an Origin.
func isSerializedOrigin(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Scheme != "" && u.Host != "" && s == u.Scheme+"://"+u.Host &&
		!strings.ContainsAny(u.Host, "*, ")
}
