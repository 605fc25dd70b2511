package securityheaders

import (
	"net/url"
	"strings"

	"diagnostics/gateway/internal/tool/finding"
)

// isolationPolicy is a header that is one token of a few (HTML sections 7.1.3 and 7.1.4). Its codes begin with its
// prefix.
type isolationPolicy struct {
	name, prefix string
	best         string            // the value to send
	values       map[string]string // codes
}

func judgeCOOP(p page) verdict {
	return p.judgeIsolation(isolationPolicy{coopHeader, "COOP_", "same-origin", map[string]string{
		"same-origin": "COOP_SAME_ORIGIN", "same-origin-allow-popups": "COOP_ALLOW_POPUPS",
		"noopener-allow-popups": "COOP_NOOPENER", "unsafe-none": "COOP_NOTE",
	}})
}

func judgeCOEP(p page) verdict {
	v := p.judgeIsolation(isolationPolicy{coepHeader, "COEP_", "require-corp", map[string]string{ // #nosec G101 -- codes
		"require-corp": "COEP_REQUIRE_CORP", "credentialless": "COEP_CREDENTIALLESS", "unsafe-none": "COEP_NOTE",
	}})
	opener, _, _ := fieldToken(p.values(coopHeader))
	if v.status() == controlPass && opener == "same-origin" {
		v.add("COEP_ISOLATED", nil)
	}
	return v
}

func (p page) judgeIsolation(policy isolationPolicy) verdict {
	v := verdict{value: p.shownValue(policy.name), set: headerLine{Name: policy.name, Value: policy.best}}
	if v.value == nil {
		if !p.document {
			return p.notForData("ISOLATION_NOT_A_DOCUMENT")
		}
		v.add(policy.prefix+"MISSING", nil)
		v.addReportOnly(p, policy)
		return v
	}
	token, endpoint, ok := fieldToken(p.values(policy.name))
	code, isKnown := policy.values[token]
	switch {
	case !ok:
		v.add(policy.prefix+"INEFFECTIVE", nil)
	case !isKnown:
		v.add(policy.prefix+"UNKNOWN", finding.Args{"value": shownHeader(token)})
	default:
		v.add(code, nil)
	}
	// Browsers obey it only in a secure context.
	if v.status() == controlPass && !p.secure() {
		v.add(policy.prefix+"WITHOUT_TLS", nil)
	}
	v.addEndpoint(p, endpoint)
	v.addReportOnly(p, policy)
	return v
}

func (v *verdict) addEndpoint(p page, endpoint string) {
	if endpoint != "" && !p.definesEndpoint(endpoint) {
		v.add("ENDPOINT_NOT_DEFINED", finding.Args{"endpoint": shownHeader(endpoint)})
	}
}

func (v *verdict) addReportOnly(p page, policy isolationPolicy) {
	name := policy.name + "-Report-Only"
	if !p.has(name) {
		return
	}
	token, endpoint, ok := fieldToken(p.values(name))
	if policy.values[token] == "" || !ok {
		v.add("ISOLATION_REPORT_ONLY_UNKNOWN", finding.Args{"header": policy.name})
		return
	}
	v.add("ISOLATION_REPORT_ONLY", finding.Args{"header": policy.name, "value": token})
	v.addEndpoint(p, endpoint)
}

// judgeCORP follows Fetch's cross-origin resource policy check: the header is no structured field, and its values are
// matched to the letter.
func judgeCORP(p page) verdict {
	v := verdict{value: p.shownValue(corpHeader), set: headerLine{Name: corpHeader, Value: "same-origin"}}
	switch value := p.joined(corpHeader); {
	case v.value == nil:
		v.add("CORP_MISSING", nil)
	case value == "same-origin", value == "same-site":
		v.add("CORP_SAME", finding.Args{"scope": strings.TrimPrefix(value, "same-")})
	case value == "cross-origin":
		v.add("CORP_OPEN", nil)
	default:
		v.add("CORP_INEFFECTIVE", finding.Args{"value": shownHeader(value)})
	}
	return v
}

// judgeCORS judges the answer to a request without Origin. It does not show whether a server reflects the Origin of
// each request.
func judgeCORS(p page) verdict {
	v := verdict{value: p.shownValue(allowOrigin), set: headerLine{Name: allowOrigin, Value: exampleOrigin}}
	if v.value == nil {
		v.add("CORS_NONE", nil)
		return v
	}
	// Fetch's CORS check compares to the letter.
	credentials := p.joined("Access-Control-Allow-Credentials") == "true"
	v.judgeAllowedOrigin(p, p.joined(allowOrigin), credentials)
	if p.has("Access-Control-Allow-Credentials") && !credentials {
		v.add("CORS_CREDENTIALS_CASE", nil)
	}
	return v
}

func (v *verdict) judgeAllowedOrigin(p page, origin string, credentials bool) {
	own := strings.TrimSuffix(p.answer.URL.String(), p.answer.URL.RequestURI())
	args := finding.Args{"origin": shownHeader(origin)}
	switch {
	case origin == "*" && credentials:
		v.add("CORS_WILDCARD_CREDENTIALS", nil)
	case origin == "*":
		v.add("CORS_OPEN", nil)
	case origin == "null":
		v.add("CORS_NULL", nil)
		if credentials {
			v.add("CORS_NULL_CREDENTIALS", nil)
		}
	case !isSerializedOrigin(origin):
		v.add("CORS_INVALID", args)
	case origin == own:
		v.add("CORS_OWN_ORIGIN", nil)
	case credentials && strings.HasPrefix(origin, "http://") && p.answer.URL.Scheme() == "https":
		host := shownHeader(strings.TrimPrefix(origin, "http://"))
		v.set.Value = "https://" + host
		v.add("CORS_PLAIN_CREDENTIALS", args.With(finding.Args{"host": host}))
	case credentials:
		v.add("CORS_CREDENTIALS", args)
	default:
		v.add("CORS_ORIGIN", args)
	}
}

// isSerializedOrigin reports whether browsers could ever have sent this as an Origin.
func isSerializedOrigin(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Scheme != "" && u.Host != "" && s == u.Scheme+"://"+u.Host &&
		!strings.ContainsAny(u.Host, "*, ")
}
