package securityheaders

import (
	"net/url"
	"strings"
)

const allowOrigin = "Access-Control-Allow-Origin"

// judgeCORS looks at what the answer to a request without Origin shows. A server that reflects the Origin of each
// request cannot be told by it.
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
			"Every site can read this answer, as anybody without credentials can. That is right for public data, and "+
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
		v.find(controlWarn, "%s, over plain HTTP, can read answers made for a logged-in person, and so can whoever is on "+
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
