package registration

import (
	"diagnostics/gateway/internal/providers/asn"
	"diagnostics/gateway/internal/tools/internal/format"
)

// ASNRecord is the part "asn" of ip-geolocation and a record of asn-lookup. Country, Registry and Allocated are those
// of the prefix, or of the number where there is no prefix; null is not told.
type ASNRecord struct {
	ASN       uint32  `json:"asn"`
	Name      *string `json:"name"`
	Prefix    *string `json:"prefix"`
	Country   *string `json:"country"`
	Registry  *string `json:"registry"`
	Allocated *string `json:"allocated"` // YYYY-MM-DD
}

// NoteNamesMissing is the note of a result in which networks lack names that they may have.
const NoteNamesMissing = "The ASN service did not answer for every network's name."

// SourceOfASN is the source of what the ASN service said.
func SourceOfASN(s asn.Source) Source {
	return Source{Name: s.Name, Zone: s.Zone, FetchedAt: format.RFC3339(s.FetchedAt), Cached: s.Cached}
}

// DescribeAnnouncement is the record of one announcement.
func DescribeAnnouncement(a asn.Announcement) ASNRecord {
	return ASNRecord{
		ASN: a.ASN, Name: format.TextOrNull(a.Name), Prefix: format.TextOrNull(a.Prefix.String()),
		Country: format.TextOrNull(a.Country), Registry: format.TextOrNull(a.Registry),
		Allocated: format.TextOrNull(a.Allocated),
	}
}
