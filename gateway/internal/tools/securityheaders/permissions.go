package securityheaders

import (
	"slices"
	"strings"

	"github.com/dunglas/httpsfv"

	"diagnostics/gateway/internal/text"
)

const permissionsHeader = "Permissions-Policy"

// rareFeatures are what most sites never use, to be switched off.
var rareFeatures = []string{"camera", "microphone", "geolocation", "payment", "usb"}

// bestPermissions switches off what most sites never use.
func bestPermissions() advice {
	return send(permissionsHeader, strings.Join(rareFeatures, "=(), ")+"=()")
}

// judgePermissionsPolicy reads the header as a structured field that is a dictionary: one mistake makes browsers ignore
// all of it.
func judgePermissionsPolicy(p page) controlVerdict {
	const name = permissionsHeader
	v := controlVerdict{value: p.shownValue(name), recommendation: bestPermissions()}
	if v.value == nil {
		if !p.document {
			return p.notForData("A permissions policy")
		}
		v.find(controlInfo,
			"The header is missing, so the page and scripts in it may ask for every feature that browsers offer.")
		if p.has(name + "-Report-Only") {
			v.add("%s-Report-Only is sent, which only reports.", name)
		}
		if p.has("Feature-Policy") {
			v.add("Most browsers do not read Feature-Policy, its predecessor.")
		}
		return v
	}
	features, err := parseFieldDictionary(p.values(name))
	if err != nil {
		v.find(controlWarn, "Browsers ignore all of the header, because it is not a structured dictionary (RFC 9651).")
		if looksLikeFeaturePolicy(p.joined(name)) {
			v.add("It is written as Feature-Policy was: a feature now takes “=” and a list in brackets, and commas separate " +
				"features.")
		}
		v.recommendation = keptPermissions(salvagedFeatures(p.values(name)), true)
		return v
	}
	v.judgeFeatures(features)
	return v
}

// looksLikeFeaturePolicy reports whether this is the old syntax: camera 'none'; geolocation 'self'.
func looksLikeFeaturePolicy(value string) bool {
	return strings.Contains(value, "'") || strings.Contains(value, ";") && !strings.Contains(value, "=")
}

// judgeFeatures counts as limits what browsers take for one: not a name that they do not know, nor an asterisk, which
// leaves a feature as it is without the header (Permissions Policy, "define an inherited policy": a frame needs the
// page's allow attribute either way).
func (v *controlVerdict) judgeFeatures(features *httpsfv.Dictionary) {
	var open, odd, unknown []string
	for _, feature := range features.Names() {
		member, _ := features.Get(feature)
		everyone, mistaken := readAllowlist(member)
		switch {
		case !permissionFeatures[feature]:
			unknown = append(unknown, feature)
			continue
		case everyone:
			open = append(open, feature)
		}
		if mistaken {
			odd = append(odd, feature)
		}
	}
	limits := len(features.Names()) - len(open) - len(unknown)
	v.status, v.recommendation = controlPass, advice{}
	switch {
	case len(features.Names()) == 0:
		v.find(controlWarn, "The header names no feature.")
	case limits == 0:
		v.find(controlInfo,
			"The header limits nothing, so the page and scripts in it may ask for every feature that browsers offer, as "+
				"without it.")
	default:
		v.add("It limits %s.", countWord(limits, "feature", "features"))
	}
	v.addOpen(open)
	if len(unknown) > 0 {
		v.add("%s known here, and browsers ignore names that they do not know.",
			someOf(unknown, "is not a feature", "are not features"))
	}
	if len(odd) > 0 {
		v.find(controlWarn,
			"The list of %s has values that browsers skip: only (), self, * and quoted origins count, so “none” is "+
				"written ().", shownHeader(odd[0]))
	}
	if limits == 0 || len(odd) > 0 || slices.ContainsFunc(open, func(name string) bool { return powerfulFeatures[name] }) {
		v.recommendation = keptPermissions(features, limits == 0)
	}
}

// addOpen tells of asterisks. Frames need the page's allow attribute for nearly every feature.
func (v *controlVerdict) addOpen(open []string) {
	var byFrame, byDefault []string
	for _, feature := range open {
		if openByDefault[feature] {
			byDefault = append(byDefault, feature)
		} else {
			byFrame = append(byFrame, feature)
		}
	}
	if len(byFrame) > 0 {
		v.add("%s set to *, which is no limit: any frame that is given “allow” for the feature may use it, as without the "+
			"header.",
			someOf(byFrame, "is", "are"))
	}
	if len(byDefault) > 0 {
		v.add("%s set to *, which is no limit: every frame may use the feature, as without the header.",
			someOf(byDefault, "is", "are"))
	}
}

// someOf names the first of several with the verb that goes with their number.
func someOf(names []string, one, several string) string {
	return namesOf(names) + " " + text.Number(len(names), one, several)
}

// namesOf lists the first of several names that a stranger wrote.
func namesOf(names []string) string { return text.ListedUpTo(4, names, shownHeader) }

// readAllowlist reads a feature's value as "construct policy from dictionary and origin" does: it reports whether that
// has an asterisk, and whether a value was skipped.
func readAllowlist(member httpsfv.Member) (everyone, mistaken bool) {
	items, _, isList := allowlistItems(member)
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

// allowlistItems are the origins of an allowlist, and its parameters, such as where to report.
func allowlistItems(member httpsfv.Member) (items []httpsfv.Item, params *httpsfv.Params, isList bool) {
	switch m := member.(type) {
	case httpsfv.Item:
		return []httpsfv.Item{m}, m.Params, false
	case httpsfv.InnerList:
		return m.Items, m.Params, true
	}
	return nil, httpsfv.NewParams(), false
}

// looksLikeOrigin reports whether s is a serialized origin, in which a wildcard may stand for a subdomain.
func looksLikeOrigin(s string) bool {
	scheme, host, ok := strings.Cut(s, "://")
	return ok && isToken(scheme) && host != "" && !strings.ContainsAny(strings.TrimSuffix(host, "/"), "/?# ")
}
