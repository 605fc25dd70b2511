package securityheaders

import (
	"strings"

	"diagnostics/gateway/internal/tool/finding"
)

// referrerPolicies are the tokens of the Referrer Policy specification, and the code of each.
var referrerPolicies = map[string]string{
	"no-referrer":                     "REFERRER_POLICY_NO_REFERRER",
	"same-origin":                     "REFERRER_POLICY_SAME_ORIGIN",
	"strict-origin":                   codeReferrerStrict,
	"strict-origin-when-cross-origin": codeReferrerStrict,
	"origin":                          "REFERRER_POLICY_ORIGIN",
	"origin-when-cross-origin":        "REFERRER_POLICY_CROSS_ORIGIN",
	"no-referrer-when-downgrade":      "REFERRER_POLICY_WEAK",
	"unsafe-url":                      "REFERRER_POLICY_UNSAFE",
}

// judgeReferrerPolicy follows "parse a referrer policy from a Referrer-Policy header": the last token that is known
// wins.
func judgeReferrerPolicy(p page) verdict {
	v := verdict{value: p.shownValue(referrerHeader), set: headerLine{Name: referrerHeader, Value: referrerValue}}
	if v.value == nil {
		if !p.document {
			return p.notForData("REFERRER_POLICY_NOT_A_DOCUMENT")
		}
		v.add("REFERRER_POLICY_MISSING", nil)
		return v
	}
	policy, unknown := lastReferrerPolicy(p.values(referrerHeader))
	args := finding.Args{}
	if unknown != "" {
		args["example"] = shownHeader(unknown)
	}
	switch code := referrerPolicies[policy]; code {
	case "":
		v.add("REFERRER_POLICY_UNKNOWN", args)
		return v
	case codeReferrerStrict:
		v.add(code, finding.Args{"policy": policy})
	default:
		v.add(code, nil)
	}
	if unknown != "" {
		v.add("REFERRER_POLICY_SKIPPED", args)
	}
	return v
}

// lastReferrerPolicy returns the last token that is known, and the first that is not.
func lastReferrerPolicy(values []string) (policy, unknown string) {
	for token := range strings.SplitSeq(strings.Join(values, ","), ",") {
		token = strings.ToLower(strings.Trim(token, " \t"))
		if referrerPolicies[token] != "" {
			policy = token
		} else if unknown == "" {
			unknown = token
		}
	}
	return policy, unknown
}

// judgeContentTypeOptions follows Fetch's "determine nosniff": only the first value of the combined list counts.
func judgeContentTypeOptions(p page) verdict {
	v := verdict{value: p.shownValue(noSniffHeader), set: headerLine{Name: noSniffHeader, Value: "nosniff"}}
	if v.value == nil {
		v.add("CONTENT_TYPE_OPTIONS_MISSING", nil)
		return v
	}
	list := splitFieldList(p.values(noSniffHeader))
	if !strings.EqualFold(list[0], "nosniff") {
		v.add("CONTENT_TYPE_OPTIONS_INEFFECTIVE", finding.Args{"value": shownHeader(list[0])})
		return v
	}
	v.add("CONTENT_TYPE_OPTIONS_NOSNIFF", nil)
	if len(list) > 1 {
		v.add("CONTENT_TYPE_OPTIONS_MORE", nil)
	}
	if p.document && p.answer.Header.Get("Content-Type") == "" && p.answer.Header.Get("Content-Length") != "0" {
		v.set = headerLine{Name: "Content-Type", Value: "text/html; charset=utf-8"}
		v.add("CONTENT_TYPE_MISSING", nil)
	}
	return v
}
