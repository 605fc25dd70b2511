// Package registration writes what the registration tools share: the network, the ASN record, and the source of each
// fact.
package registration

import (
	"diagnostics/gateway/internal/providers/rdap"
	"diagnostics/gateway/internal/tools/internal/format"
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

// SourceOfRDAP is the source of what a registry said.
func SourceOfRDAP(s rdap.Source) Source {
	return Source{Name: s.Name, URL: s.URL, FetchedAt: format.RFC3339(s.FetchedAt), Cached: s.Cached}
}

// Network is the common part "network" of whois-lookup and ip-geolocation.
type Network struct {
	Handle       string   `json:"handle"`
	Name         string   `json:"name"`
	Type         string   `json:"type"`
	CIDRs        []string `json:"cidrs"`
	StartAddress string   `json:"startAddress"`
	EndAddress   string   `json:"endAddress"`
	ParentHandle *string  `json:"parentHandle"`
	Status       []string `json:"status"`
}

// DescribeNetwork gives nil where no network was found.
func DescribeNetwork(n *rdap.Network) *Network {
	if n == nil {
		return nil
	}
	return &Network{
		Handle: n.Handle, Name: n.Name, Type: n.Type, CIDRs: n.CIDRs,
		StartAddress: n.StartAddress, EndAddress: n.EndAddress, ParentHandle: n.ParentHandle, Status: n.Status,
	}
}
