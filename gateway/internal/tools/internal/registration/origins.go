package registration

import (
	"fmt"

	"diagnostics/gateway/internal/providers/asn"
	"diagnostics/gateway/internal/text"
)

// Winners are the announcements of the longest prefix, to which packets go. records are as asn.Client gives them.
func Winners(records []asn.Announcement) []asn.Announcement {
	for i := range records {
		if records[i].Prefix != records[0].Prefix {
			return records[:i]
		}
	}
	return records
}

// SeveralOrigins says in words that more than one network announces the longest prefix, and what that may mean. It is
// empty where that is not so.
func SeveralOrigins(records []asn.Announcement) string {
	winners := Winners(records)
	if len(winners) < 2 {
		return ""
	}
	return fmt.Sprintf("%s announce %s at the same time. That is usual for anycast and during moves; otherwise it is a "+
		"sign of a mistake or a hijack.", Numbers(winners), winners[0].Prefix)
}

// named is how many networks a sentence names.
const named = 4

// Numbers lists the networks of some announcements: "AS1, AS2 and AS3".
func Numbers(records []asn.Announcement) string {
	return text.ListedUpTo(named, records, func(r asn.Announcement) string { return fmt.Sprintf("AS%d", r.ASN) })
}
