package securityheaders

import "strings"

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
