// Package registration writes what the registration tools share: the network, the ASN record, and the source of each
// fact.
package registration

import (
	"context"

	"diagnostics/gateway/internal/bound"
	"diagnostics/gateway/internal/providers/rdap"
	"diagnostics/gateway/internal/tools/internal/format"
	"diagnostics/shared/progress"
)

// Source is the common part of the same name: who gave a fact, when, and whether it came out of a cache. One of URL,
// Zone and Server says where the provider was asked.
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

// Report tells who has answered, while others are asked. What a cache had is no news: the answer itself has it.
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
