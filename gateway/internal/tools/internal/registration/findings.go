package registration

import (
	"fmt"

	"diagnostics/gateway/internal/providers/asn"
	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/tool/finding"
)

// The codes that asn-lookup and ip-geolocation share.
const (
	CodeSeveralOrigins = "SEVERAL_ORIGINS"
	CodeNotAnnounced   = "NOT_ANNOUNCED"
	CodeNamesMissing   = "NAMES_MISSING"
)

// MessageNotAnnounced takes the address.
const MessageNotAnnounced = "No network announces %[1]s, according to the ASN service."

// The findings of those codes. Several origins take the networks and the prefix, the absence of any the address.
var (
	SeveralOriginsEntry = finding.Entry{Severity: finding.Info, Group: finding.Note, Weight: 25,
		Message: "%[1]s announce %[2]s at the same time, which is usual for anycast and during moves, and otherwise a sign " +
			"of a mistake or a hijack.",
		Remedy:    "Ask the holder whether all of these networks may announce it.",
		Reference: "https://www.rfc-editor.org/rfc/rfc1930#section-7"}
	NotAnnouncedEntry = finding.Entry{Severity: finding.Warn, Group: finding.Broken, Weight: 65,
		Message: "No network announces %[1]s, according to the ASN service; if so, packets cannot reach it."}
	NamesMissingEntry = finding.Entry{Severity: finding.Info, Group: finding.Note, Weight: 5, Message: NoteNamesMissing}
)

// MostShown is how many characters of a registry's own text a sentence has.
const MostShown = 100

// OriginInWords is "AS15169 (GOOGLE, US)".
func OriginInWords(a asn.Announcement) string {
	if name := text.Show(a.Name, MostShown); name != "" {
		return fmt.Sprintf("AS%d (%s)", a.ASN, name)
	}
	return fmt.Sprintf("AS%d", a.ASN)
}
