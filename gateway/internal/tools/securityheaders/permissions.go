package securityheaders

import (
	"fmt"
	"slices"
	"strings"

	"diagnostics/gateway/internal/tool/finding"

	"github.com/dunglas/httpsfv"
)

// rareFeatures are what most sites never use, to be switched off; permissionsValue does.
var rareFeatures = []string{"camera", "microphone", "geolocation", "payment", "usb"}

// judgePermissionsPolicy reads the header as a structured field that is a dictionary: one mistake makes browsers ignore
// all of it.
func judgePermissionsPolicy(p page) verdict {
	const name = permissionsHeader
	v := verdict{value: p.shownValue(name), set: headerLine{Name: name, Value: permissionsValue}}
	if v.value == nil {
		if !p.document {
			return p.notForData("PERMISSIONS_POLICY_NOT_A_DOCUMENT")
		}
		v.add("PERMISSIONS_POLICY_MISSING", nil)
		if p.has(name + "-Report-Only") {
			v.add(codeReportOnly, finding.Args{"header": name})
		}
		if p.has("Feature-Policy") {
			v.add("PERMISSIONS_POLICY_PREDECESSOR", nil)
		}
		return v
	}
	features, err := parseFieldDictionary(p.values(name))
	if err != nil {
		v.add("PERMISSIONS_POLICY_INEFFECTIVE", nil)
		if looksLikeFeaturePolicy(p.joined(name)) {
			v.add("PERMISSIONS_POLICY_OLD_SYNTAX", nil)
		}
		v.keepPermissions(salvagedFeatures(p.values(name)), true)
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
func (v *verdict) judgeFeatures(features *httpsfv.Dictionary) {
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
	switch {
	case len(features.Names()) == 0:
		v.add("PERMISSIONS_POLICY_EMPTY", nil)
	case limits == 0:
		v.add("PERMISSIONS_POLICY_NO_LIMIT", nil)
	default:
		v.add("PERMISSIONS_POLICY_LIMITS", finding.Args{"limited": limits})
	}
	v.addOpen(open)
	if len(unknown) > 0 {
		v.add("PERMISSIONS_POLICY_UNKNOWN_FEATURES", finding.Args{"features": shownNames(unknown)})
	}
	if len(odd) > 0 {
		v.add("PERMISSIONS_POLICY_SKIPPED_VALUES", finding.Args{"feature": shownHeader(odd[0])})
	}
	isPowerful := func(name string) bool { return powerfulFeatures[name] }
	if limits == 0 || len(odd) > 0 || slices.ContainsFunc(open, isPowerful) {
		v.keepPermissions(features, limits == 0)
	}
}

// addOpen reports asterisks. Frames need the page's allow attribute for nearly every feature.
func (v *verdict) addOpen(open []string) {
	var byFrame, byDefault []string
	for _, feature := range open {
		if openByDefault[feature] {
			byDefault = append(byDefault, feature)
		} else {
			byFrame = append(byFrame, feature)
		}
	}
	if len(byFrame) > 0 {
		v.add("PERMISSIONS_POLICY_OPEN", finding.Args{"features": shownNames(byFrame)})
	}
	if len(byDefault) > 0 {
		v.add("PERMISSIONS_POLICY_OPEN_BY_DEFAULT", finding.Args{"features": shownNames(byDefault)})
	}
}

// shownNames lists the first of several names that a stranger wrote, and how many more there are.
func shownNames(names []string) (shown []string) {
	const most = 4
	for _, name := range names[:min(len(names), most)] {
		shown = append(shown, shownHeader(name))
	}
	if more := len(names) - most; more > 0 {
		shown = append(shown, fmt.Sprintf("%d more", more))
	}
	return shown
}

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

// keepPermissions recommends the header with all that it has: an asterisk of a powerful feature narrowed to the site,
// an allowlist that browsers read in part written as they read it. With more, it switches off what most sites never
// use.
func (v *verdict) keepPermissions(features *httpsfv.Dictionary, more bool) {
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
	if line, err := httpsfv.Marshal(kept); err == nil && len(line) <= maxPermissions {
		v.set.Value = line
		v.complete(permissionsRemedy, finding.Args{"policy": line})
		return
	}
	v.complete(permissionsRemedy, finding.Args{"long": true})
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
