package tools

import "diagnostics/gateway/internal/providers/asn"

// asnRecord is the part "asn" of ip-geolocation and a record of asn-lookup. Country, Registry and Allocated are those of the
// prefix, or of the number where there is no prefix; null is not told.
type asnRecord struct {
	ASN       uint32  `json:"asn"`
	Name      *string `json:"name"`
	Prefix    *string `json:"prefix"`
	Country   *string `json:"country"`
	Registry  *string `json:"registry"`
	Allocated *string `json:"allocated"` // YYYY-MM-DD
}

const noteNamesMissing = "The ASN service did not answer for every network's name."

func sourceOfASN(s asn.Source) source {
	return source{Name: s.Name, Zone: s.Zone, FetchedAt: rfc3339(s.FetchedAt), Cached: s.Cached}
}

func describeAnnouncement(a asn.Announcement) asnRecord {
	return asnRecord{
		ASN: a.ASN, Name: textOrNull(a.Name), Prefix: textOrNull(a.Prefix.String()),
		Country: textOrNull(a.Country), Registry: textOrNull(a.Registry), Allocated: textOrNull(a.Allocated),
	}
}

// textOrNull gives nil for what is empty.
func textOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
