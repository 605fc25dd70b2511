package securityheaders

import "strings"

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
