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
const NoteNamesMissing = "The ASN service did not give every network's name."

// SourcesOfASN are the sources of what the ASN service said.
func SourcesOfASN(all asn.Sources) []Source {
	out := make([]Source, len(all))
	for i, s := range all {
		out[i] = Source{Name: s.Name, Zone: s.Zone, FetchedAt: format.RFC3339(s.FetchedAt), Cached: s.Cached}
	}
	return out
}

// DescribeAnnouncement is the record of one announcement.
func DescribeAnnouncement(a asn.Announcement) ASNRecord {
	return ASNRecord{
		ASN: a.ASN, Name: format.TextOrNull(a.Name), Prefix: format.TextOrNull(a.Prefix.String()),
		Country: format.TextOrNull(a.Country), Registry: format.TextOrNull(a.Registry),
		Allocated: format.TextOrNull(a.Allocated),
	}
}
