// Package registration writes what the registration tools share: the network, the ASN record, and the source of each
// fact.
package registration

import (
	"context"
	"fmt"

	"diagnostics/gateway/internal/providers/asn"
	"diagnostics/gateway/internal/providers/rdap"
	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/text/bound"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/format"
	"diagnostics/shared/progress"
)

// Source is the common part of the same name: who gave a fact, when, and whether it came out of a cache. One of URL,
// Zone and Server says where the provider was queried.
type Source struct {
	Name      string `json:"name"`
	URL       string `json:"url,omitempty"`
	Zone      string `json:"zone,omitempty"`
	Server    string `json:"server,omitempty"`
	FetchedAt string `json:"fetchedAt"` // RFC 3339, UTC
	Cached    bool   `json:"cached"`
}

// maxURL is the share of an answer, in bytes of JSON, that the URL of a source has: redirects may have led to any.
const maxURL = 8 << 10

// SourceOfRDAP is the source of what a registry said. The mark is set where its URL is too long to be shown whole.
func SourceOfRDAP(s rdap.Source, cut *bool) Source {
	return Source{
		Name: s.Name, URL: bound.Text(s.URL, maxURL, cut), FetchedAt: format.RFC3339(s.FetchedAt), Cached: s.Cached,
	}
}

// Report reports sources to the progress of a run while others are queried. Cached ones are in the result alone.
func Report(ctx context.Context, sources ...Source) {
	for _, s := range sources {
		if s.Cached {
			continue
		}
		progress.Report(ctx, "source", s.Name+s.URL+s.Zone+s.Server, s)
	}
}

// Network is the common part "network" of whois-lookup and ip-geolocation.
type Network struct {
	rdap.Allocation
	// Redactions are what the registry says it holds back of the network and of all its contacts.
	Redactions []rdap.Redaction `json:"redactions"`
	Truncated  bool             `json:"truncated,omitempty"`
}

// DescribeNetwork gives nil where no network was found.
func DescribeNetwork(n *rdap.Network) *Network {
	if n == nil {
		return nil
	}
	return &Network{n.Allocation, n.Redactions, n.Truncated}
}

// ASNRecord is the part "asn" of ip-geolocation and a record of asn-lookup. Country, Registry and Allocated are those
// of the prefix, or of the number where there is no prefix; null is not reported.
type ASNRecord struct {
	ASN       uint32  `json:"asn"`
	Name      *string `json:"name"`
	Prefix    *string `json:"prefix"`
	Country   *string `json:"country"`
	Registry  *string `json:"registry"`
	Allocated *string `json:"allocated"` // YYYY-MM-DD
}

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

// Winners are the announcements of the longest prefix, to which packets go. records are as asn.Client gives them.
func Winners(records []asn.Announcement) []asn.Announcement {
	for i := range records {
		if records[i].Prefix != records[0].Prefix {
			return records[:i]
		}
	}
	return records
}

// Networks lists the networks of some announcements, "AS1" each; past four, the last element says how many more there
// are.
func Networks(records []asn.Announcement) (list []string) {
	for i, r := range records {
		if i == maxNetworks {
			return append(list, fmt.Sprintf("%d more", len(records)-i))
		}
		list = append(list, fmt.Sprintf("AS%d", r.ASN))
	}
	return list
}

// maxName is the number of characters of a registry's own text in a sentence.
const maxName = 100

// Shown returns a registry's own text for a sentence.
func Shown(s string) string { return text.Show(s, maxName) }

// maxNetworks is how many networks a sentence lists.
const maxNetworks = 4

// SeveralOrigins returns the arguments of CodeSeveralOrigins if more than one network announces the longest prefix,
// else nil.
func SeveralOrigins(records []asn.Announcement) finding.Args {
	winners := Winners(records)
	if len(winners) < 2 {
		return nil
	}
	return finding.Args{"networks": Networks(winners), "prefix": winners[0].Prefix.String()}
}
