package registration

import "diagnostics/gateway/internal/tool/finding"

// The codes that asn-lookup and ip-geolocation share.
const (
	CodeSeveralOrigins = "SEVERAL_ORIGINS"
	CodeNotAnnounced   = "NOT_ANNOUNCED"
	CodeNamesMissing   = "NAMES_MISSING"
)

// Rows are the rows of those codes.
var Rows = finding.Rows{
	CodeNotAnnounced: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Broken, Weight: 65,
		Args:    "address text",
		Message: "No network announces {address}, according to the ASN service, so packets cannot reach it.",
		Brief:   "Not announced",
		Meaning: "The address cannot be used on the internet at present. Ask its holder whether that is intended.",
	},
	CodeSeveralOrigins: {
		State: finding.Noted, Severity: finding.Info, Group: finding.Note, Weight: 18,
		Args: "networks list, prefix text",
		Message: "{networks} announce {prefix} at the same time: normal for anycast and migrations, otherwise a mistake " +
			"or a hijack.",
		Brief:     "Several networks",
		Remedy:    "Ask the holder whether all of these networks may announce it.",
		Reference: "https://www.rfc-editor.org/rfc/rfc1930#section-7",
	},
	CodeNamesMissing: {
		Severity: finding.Info, Group: finding.Note, Weight: 5,
		Message: "The ASN service did not give every network's name.",
	},
}
