package securityheaders

import (
	"slices"
	"strings"

	"github.com/dunglas/httpsfv"
)

const permissionsHeader = "Permissions-Policy"

// bestPermissions switches off what most sites never use.
func bestPermissions() advice {
	return send(permissionsHeader, "camera=(), microphone=(), geolocation=(), payment=(), usb=()")
}

// powerfulFeatures are those behind which a person, a device or money stands.
var powerfulFeatures = map[string]bool{
	"bluetooth": true, "camera": true, "display-capture": true, "geolocation": true, "hid": true, "local-fonts": true,
	"microphone": true, "midi": true, "payment": true, "publickey-credentials-create": true,
	"publickey-credentials-get": true, "screen-wake-lock": true, "serial": true, "usb": true, "window-management": true,
}

// judgePermissionsPolicy reads the header as a structured field that is a dictionary: one mistake makes browsers ignore
// all of it.
func judgePermissionsPolicy(p page) controlVerdict {
	const name = permissionsHeader
	v := controlVerdict{present: p.has(name), value: p.shownValue(name), recommendation: bestPermissions()}
	if !v.present {
		if !p.document {
			return p.notForData("A permissions policy")
		}
		v.status = controlInfo
		v.add("The header is missing, so the page and script in it may ask for every feature that browsers offer.")
		if p.has(name + "-Report-Only") {
			v.add("%s-Report-Only is sent, which only reports.", name)
		}
		if p.has("Feature-Policy") {
			v.add("Feature-Policy, its forerunner, is not read by most browsers.")
		}
		return v
	}
	features, err := parseFieldDictionary(p.values(name))
	if err != nil {
		v.status = controlWarn
		v.add("Browsers ignore all of the header, because it is not a structured dictionary (RFC 9651).")
		if looksLikeFeaturePolicy(p.joined(name)) {
			v.add("It is written as Feature-Policy was: a feature now takes “=” and a list in brackets, and commas separate " +
				"features.")
		}
		return v
	}
	v.judgeFeatures(features)
	return v
}

// looksLikeFeaturePolicy tells the old syntax: camera 'none'; geolocation 'self'.
func looksLikeFeaturePolicy(value string) bool {
	return strings.Contains(value, "'") || strings.Contains(value, ";") && !strings.Contains(value, "=")
}

func (v *controlVerdict) judgeFeatures(features *httpsfv.Dictionary) {
	var open, odd []string
	for _, feature := range features.Names() {
		member, _ := features.Get(feature)
		everyone, mistaken := readAllowlist(member)
		if everyone && powerfulFeatures[feature] {
			open = append(open, feature)
		}
		if mistaken {
			odd = append(odd, feature)
		}
	}
	v.status, v.recommendation = controlPass, advice{}
	switch n := len(features.Names()); n {
	case 0:
		v.status, v.recommendation = controlWarn, bestPermissions()
		v.add("The header names no feature.")
	default:
		v.add("It limits %s.", countWord(n, "feature", "features"))
	}
	if len(open) > 0 {
		slices.Sort(open)
		v.status = controlWarn
		v.recommendation = send(permissionsHeader, strings.Join(open[:min(len(open), 6)], "=(self), ")+"=(self)")
		v.add("An asterisk opens %s to every site that is framed here.", strings.Join(open, ", "))
	}
	if len(odd) > 0 {
		v.atLeast(controlWarn)
		v.add("The list of %s holds values that browsers skip: only (), self, * and quoted origins count, so “none” is "+
			"written ().", shownHeader(odd[0]))
		if v.recommendation.set == nil {
			v.recommendation = send(permissionsHeader, shownHeader(odd[0])+"=()")
		}
	}
}

// readAllowlist reads a feature's value as "construct policy from dictionary and origin" does: everyone tells an
// asterisk, mistaken a value that is skipped.
func readAllowlist(member httpsfv.Member) (everyone, mistaken bool) {
	items := []httpsfv.Item{}
	switch m := member.(type) {
	case httpsfv.Item:
		items = append(items, m)
	case httpsfv.InnerList:
		items = m.Items
	}
	_, isList := member.(httpsfv.InnerList)
	for _, item := range items {
		switch value := item.Value.(type) {
		case httpsfv.Token:
			everyone = everyone || value == "*"
			mistaken = mistaken || value != "*" && value != "self" && value != "src"
		case string:
			mistaken = mistaken || !isList || !looksLikeOrigin(value)
		default:
			mistaken = true
		}
	}
	return everyone, mistaken
}

// looksLikeOrigin tells a serialized origin, in which a wildcard may stand for a subdomain.
func looksLikeOrigin(s string) bool {
	scheme, host, ok := strings.Cut(s, "://")
	return ok && isToken(scheme) && host != "" && !strings.ContainsAny(strings.TrimSuffix(host, "/"), "/?# ")
}
