package tools

import (
	"time"

	"diagnostics/gateway/internal/providers/rdap"
)

// source is the common part of the same name: who gave a fact, when, and whether it came out of a cache. One of URL, Zone
// and Server says where the provider was asked.
type source struct {
	Name      string `json:"name"`
	URL       string `json:"url,omitempty"`
	Zone      string `json:"zone,omitempty"`
	Server    string `json:"server,omitempty"`
	FetchedAt string `json:"fetchedAt"` // RFC 3339, UTC
	Cached    bool   `json:"cached"`
}

// rfc3339 writes a time as the results do.
func rfc3339(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func sourceOfRDAP(s rdap.Source) source {
	return source{Name: s.Name, URL: s.URL, FetchedAt: rfc3339(s.FetchedAt), Cached: s.Cached}
}

// networkSummary is the common part "network" of whois-lookup and ip-geolocation.
type networkSummary struct {
	Handle       string   `json:"handle"`
	Name         string   `json:"name"`
	Type         string   `json:"type"`
	CIDRs        []string `json:"cidrs"`
	StartAddress string   `json:"startAddress"`
	EndAddress   string   `json:"endAddress"`
	ParentHandle *string  `json:"parentHandle"`
	Status       []string `json:"status"`
}

// describeNetwork gives nil where no network was found.
func describeNetwork(n *rdap.Network) *networkSummary {
	if n == nil {
		return nil
	}
	return &networkSummary{
		Handle: n.Handle, Name: n.Name, Type: n.Type, CIDRs: n.CIDRs,
		StartAddress: n.StartAddress, EndAddress: n.EndAddress, ParentHandle: n.ParentHandle, Status: n.Status,
	}
}
