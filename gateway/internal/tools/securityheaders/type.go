package securityheaders

import "strings"

// judgeContentTypeOptions follows Fetch's "determine nosniff": only the first value of the combined list counts.
func judgeContentTypeOptions(p page) controlVerdict {
	const name = "X-Content-Type-Options"
	v := controlVerdict{present: p.has(name), value: p.shownValue(name), recommendation: send(name, "nosniff")}
	if !v.present {
		v.status = controlFail
		v.add("The header is missing, so browsers may treat a file as another type than declared, such as an upload as a " +
			"script.")
		return v
	}
	list := splitFieldList(p.values(name))
	if !strings.EqualFold(list[0], "nosniff") {
		v.status = controlFail
		v.add("Browsers ignore the header: its first value is “%s”, and only nosniff counts, without quotes or anything "+
			"after it.", shownHeader(list[0]))
		return v
	}
	v.status, v.recommendation = controlPass, advice{}
	v.add("Browsers accept scripts and style sheets only with matching declared types.")
	if len(list) > 1 {
		v.add("Any further values are ignored.")
	}
	if p.document && p.answer.Header.Get("Content-Type") == "" && p.answer.Header.Get("Content-Length") != "0" {
		v.status, v.recommendation = controlWarn, send("Content-Type", "text/html; charset=utf-8")
		v.add("But the answer declares no Content-Type, so browsers must guess what it is.")
	}
	return v
}
