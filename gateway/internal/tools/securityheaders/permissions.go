package securityheaders

import (
	"slices"
	"strings"

	"diagnostics/gateway/internal/text"

	"github.com/dunglas/httpsfv"
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

// addOpen reports asterisks. Frames need the page's allow attribute for nearly every feature.
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

// maxPermissions bounds the line that is recommended, which repeats what the server sent.
const maxPermissions = 2 << 10

// keptPermissions recommends the header with all that it has: an asterisk of a powerful feature narrowed to the site,
// an allowlist that browsers read in part written as they read it. With more, it switches off what most sites never
// use.
func keptPermissions(features *httpsfv.Dictionary, more bool) advice {
	kept := httpsfv.NewDictionary()
	for _, feature := range features.Names() {
		member, _ := features.Get(feature)
		kept.Add(feature, correctedAllowlist(feature, member))
	}
	for _, feature := range rareFeatures {
		if _, has := kept.Get(feature); more && !has {
			kept.Add(feature, allowlistOf(httpsfv.NewParams()))
		}
	}
	line, err := httpsfv.Marshal(kept)
	if err == nil && len(line) <= maxPermissions {
		a := send(permissionsHeader, line)
		a.repeats = true
		return a
	}
	return advice{before: "Correct what is named above and keep the rest; what most sites can add: " +
		bestPermissions().set.Value}
}

// correctedAllowlist is an allowlist without what browsers skip, but for origins that only lack their quotes.
func correctedAllowlist(feature string, member httpsfv.Member) httpsfv.Member {
	everyone, mistaken := readAllowlist(member)
	items, params, _ := allowlistItems(member)
	switch {
	case everyone && powerfulFeatures[feature]:
		return allowlistOf(params, httpsfv.Token("self"))
	case everyone, !mistaken:
		return member
	}
	var values []any
	for _, item := range items {
		switch value := item.Value.(type) {
		case httpsfv.Token:
			if value == "self" {
				values = append(values, value)
			} else if looksLikeOrigin(string(value)) {
				values = append(values, string(value))
			}
		case string:
			if looksLikeOrigin(value) {
				values = append(values, value)
			}
		}
	}
	return allowlistOf(params, values...)
}

func allowlistOf(params *httpsfv.Params, values ...any) httpsfv.InnerList {
	list := httpsfv.InnerList{Params: params}
	for _, value := range values {
		list.Items = append(list.Items, httpsfv.NewItem(value))
	}
	return list
}

// salvagedFeatures is what can be read of a header that browsers ignore as a whole: the members that are well formed,
// and those in the syntax of Feature-Policy (camera 'none'; geolocation 'self').
func salvagedFeatures(values []string) *httpsfv.Dictionary {
	found := httpsfv.NewDictionary()
	for _, part := range splitFieldList(values) {
		if members, err := httpsfv.UnmarshalDictionary([]string{part}); err == nil && len(members.Names()) > 0 {
			for _, name := range members.Names() {
				member, _ := members.Get(name)
				found.Add(name, member)
			}
			continue
		}
		for directive := range strings.SplitSeq(part, ";") {
			if words := strings.Fields(directive); len(words) > 1 && permissionFeatures[words[0]] {
				found.Add(words[0], oldAllowlist(words[1:]))
			}
		}
	}
	return found
}

// oldAllowlist turns the words of a Feature-Policy directive into an allowlist.
func oldAllowlist(words []string) httpsfv.Member {
	var values []any
	for _, word := range words {
		switch {
		case word == "*":
			return httpsfv.NewItem(httpsfv.Token("*"))
		case word == "'self'":
			values = append(values, httpsfv.Token("self"))
		case looksLikeOrigin(word):
			values = append(values, word)
		}
	}
	return allowlistOf(httpsfv.NewParams(), values...)
}

// permissionFeatures are the features that a permissions policy may name: those of the W3C's registry
// (webappsec-permissions-policy, features.md), and those that MDN and Chromium list beside them. Browsers ignore any
// other.
var permissionFeatures = featureSet(
	`accelerometer all-screens-capture ambient-light-sensor aria-notify attribution-reporting autofill autoplay battery
	bluetooth browsing-topics camera captured-surface-control clipboard-read clipboard-write compute-pressure
	controlled-frame conversion-measurement cross-origin-isolated deferred-fetch deferred-fetch-minimal
	device-attributes digital-credentials-create digital-credentials-get direct-sockets direct-sockets-multicast
	direct-sockets-private display-capture document-domain encrypted-media execution-while-not-rendered
	execution-while-out-of-viewport fenced-unpartitioned-storage-read focus-without-user-activation fullscreen gamepad
	geolocation gyroscope hid identity-credential-get identity-credentials-get idle-detection join-ad-interest-group
	keyboard-lock keyboard-map language-detector language-model local-fonts local-network local-network-access
	loopback-network magnetometer manual-text media-playback-while-not-visible microphone midi navigation-override
	on-device-speech-recognition otp-credentials payment picture-in-picture pointer-lock private-aggregation
	private-state-token-issuance private-state-token-redemption publickey-credentials-create publickey-credentials-get
	rewriter run-ad-auction screen-wake-lock serial shared-autofill shared-storage shared-storage-select-url smart-card
	speaker-selection storage-access sub-apps summarizer sync-script sync-xhr translator trust-token-redemption unload
	usb usb-unrestricted vertical-scroll web-app-installation web-printing web-share window-management window-placement
	writer xr-spatial-tracking`,
	// Client hints, which are controlled by features of their own.
	`ch-device-memory ch-downlink ch-dpr ch-prefers-color-scheme ch-prefers-reduced-motion
	ch-prefers-reduced-transparency ch-rtt ch-save-data ch-ua ch-ua-arch ch-ua-bitness ch-ua-form-factors ch-ua-full
	ch-ua-full-version ch-ua-full-version-list ch-ua-high-entropy-values ch-ua-mobile ch-ua-model ch-ua-platform
	ch-ua-platform-version ch-ua-wow64 ch-viewport-height ch-viewport-width ch-width`,
	"ch-ect") //nolint:misspell // the effective connection type

// powerfulFeatures are those behind which a person, a device or money stands.
var powerfulFeatures = featureSet(`bluetooth camera display-capture geolocation hid local-fonts microphone midi payment
	publickey-credentials-create publickey-credentials-get screen-wake-lock serial usb window-management`)

// openByDefault are those that frames may use without the page's allow attribute (the default allowlist is *).
var openByDefault = featureSet(`attribution-reporting browsing-topics ch-save-data ch-ua ch-ua-mobile ch-ua-platform
	document-domain execution-while-not-rendered execution-while-out-of-viewport focus-without-user-activation gamepad
	join-ad-interest-group picture-in-picture private-aggregation run-ad-auction shared-storage storage-access sync-xhr
	unload vertical-scroll`)

func featureSet(lists ...string) map[string]bool {
	set := make(map[string]bool)
	for _, list := range lists {
		for name := range strings.FieldsSeq(list) {
			set[name] = true
		}
	}
	return set
}
