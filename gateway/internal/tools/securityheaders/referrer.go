package securityheaders

import "strings"

// referrerPolicies are the tokens of the Referrer Policy specification, and what each comes to.
var referrerPolicies = map[string]struct {
	status controlStatus
	means  string
}{
	"no-referrer":                     {controlPass, "links and resources are fetched without a referrer"},
	"same-origin":                     {controlPass, "only the site itself gets a referrer"},
	"strict-origin":                   {controlPass, "other sites get the origin, and nothing over plain HTTP"},
	"strict-origin-when-cross-origin": {controlPass, "other sites get the origin, and nothing over plain HTTP"},
	"origin":                          {controlInfo, "everybody gets the origin, over plain HTTP too"},
	"origin-when-cross-origin":        {controlInfo, "other sites get the origin, over plain HTTP too"},
	"no-referrer-when-downgrade":      {controlWarn, "other https sites get the whole URL, with its path and query"},
	"unsafe-url": {controlFail,
		"everybody gets the whole URL, with its path and query, over plain HTTP too"},
}

// judgeReferrerPolicy follows "parse a referrer policy from a Referrer-Policy header": the last token that is known
// wins.
func judgeReferrerPolicy(p page) controlVerdict {
	const name = "Referrer-Policy"
	v := controlVerdict{value: p.shownValue(name), recommendation: send(name, "strict-origin-when-cross-origin")}
	if v.value == nil {
		if !p.document {
			return p.notForData("A referrer policy")
		}
		v.find(controlInfo,
			"The header is missing; current browsers then use strict-origin-when-cross-origin, older ones give other "+
				"sites the whole URL.")
		return v
	}
	policy, unknown := lastReferrerPolicy(p.values(name))
	if policy == "" {
		v.find(controlWarn, "Browsers know none of the values%s, so their default applies.", examplesOf(unknown))
		return v
	}
	about := referrerPolicies[policy]
	v.find(about.status, "%s applies: %s.", policy, about.means)
	if len(unknown) > 0 {
		v.add("Browsers skip the values that they do not know%s.", examplesOf(unknown))
	}
	if v.status == controlPass {
		v.recommendation = advice{}
	}
	return v
}

func lastReferrerPolicy(values []string) (policy string, unknown []string) {
	for token := range strings.SplitSeq(strings.Join(values, ","), ",") {
		token = strings.ToLower(strings.Trim(token, " \t"))
		if token == "" {
			continue
		}
		if _, ok := referrerPolicies[token]; ok {
			policy = token
			continue
		}
		unknown = append(unknown, token)
	}
	return policy, unknown
}

// examplesOf names the first of some values, in brackets.
func examplesOf(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return " (“" + shownHeader(values[0]) + "”)"
}

// judgeContentTypeOptions follows Fetch's "determine nosniff": only the first value of the combined list counts.
func judgeContentTypeOptions(p page) controlVerdict {
	const name = "X-Content-Type-Options"
	v := controlVerdict{value: p.shownValue(name), recommendation: send(name, "nosniff")}
	if v.value == nil {
		v.find(controlFail,
			"The header is missing, so browsers may treat a file as another type than declared, such as an upload as a "+
				"script.")
		return v
	}
	list := splitFieldList(p.values(name))
	if !strings.EqualFold(list[0], "nosniff") {
		v.find(controlFail,
			"Browsers ignore the header: its first value is “%s”, and only nosniff counts, without quotes or anything "+
				"after it.", shownHeader(list[0]))
		return v
	}
	v.recommendation = advice{}
	v.find(controlPass, "Browsers accept scripts and style sheets only with matching declared types.")
	if len(list) > 1 {
		v.add("Any further values are ignored.")
	}
	if p.document && p.answer.Header.Get("Content-Type") == "" && p.answer.Header.Get("Content-Length") != "0" {
		v.recommendation = send("Content-Type", "text/html; charset=utf-8")
		v.find(controlWarn, "But the answer declares no Content-Type, so browsers must guess what it is.")
	}
	return v
}
