// Package asnlookup is the tool asn-lookup. It queries the DNS-based ASN service about an address or an AS number. That
// it has neither is a result; that it fails is an error, unless it has answered the query and fails only for names or
// peers.
package asnlookup

import (
	"context"
	_ "embed" // openapi.yaml
	"errors"
	"net/netip"
	"reflect"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/providers/asn"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/format"
	"diagnostics/gateway/internal/tools/internal/registration"
	"diagnostics/shared/parallel"
)

//go:embed openapi.yaml
var openAPI string

// Result is who announces an address, or who has an AS number.
type Result struct {
	finding.Report
	Query     string                   `json:"query"`
	QueryType string                   `json:"queryType" wire:"enum=ip|asn"` // ip or asn
	Records   []registration.ASNRecord `json:"records"`                      // longest prefix first
	Peers     []uint32                 `json:"peers"`                        // IPv4 only
	// Announced means of an address that a network announces it, and of a number that the service has it: whether the
	// number announces anything is not looked up.
	Announced bool                  `json:"announced"`
	Summary   string                `json:"summary"` // what Announced means here, and what several origins do
	Notes     []string              `json:"notes"`   // what could not be had
	Sources   []registration.Source `json:"sources"`
}

// New makes the tool; client queries the ASN service.
func New(client *asn.Client) tool.Tool {
	return tool.New(tool.Spec[target.NetworkQuery, Result]{
		Slug:    "asn-lookup",
		OpenAPI: openAPI, Findings: rows,
		Parse: func(in tool.Input) (target.NetworkQuery, error) {
			return target.ParseNetworkQuery(in.Text)
		},
		Run: func(ctx context.Context, query target.NetworkQuery) (Result, error) {
			if query.IsAddr() {
				return lookUpAddress(ctx, client, query.Addr())
			}
			return lookUpNumber(ctx, client, query.ASN())
		},
		About: func(q target.NetworkQuery, r Result) bool { return r.Query == q.String() },
		Steps: map[string]reflect.Type{
			"source": reflect.TypeFor[registration.Source](),
		},
	})
}

func lookUpNumber(ctx context.Context, client *asn.Client, number target.ASN) (Result, error) {
	system, from, err := client.System(ctx, uint32(number))
	if err != nil {
		return Result{}, err
	}
	sources := registration.SourcesOfASN(asn.Sources{from})
	registration.Report(ctx, sources...)
	report := reportNumber(number.String(), system)
	result := Result{
		Report: report,
		Query:  number.String(), QueryType: "asn", Records: []registration.ASNRecord{}, Peers: []uint32{},
		Summary: report.Conclusion.Message, Notes: []string{},
		Sources: sources,
	}
	if system != nil {
		result.Announced = true
		result.Records = append(result.Records, registration.ASNRecord{
			ASN: system.ASN, Name: format.TextOrNull(system.Name), Country: format.TextOrNull(system.Country),
			Registry: format.TextOrNull(system.Registry), Allocated: format.TextOrNull(system.Allocated),
		})
	}
	return result, nil
}

// addressPeers is the answer to the question for peers, which goes out beside the one for origins.
type addressPeers struct {
	peers []uint32
	from  asn.Source
	asked bool
	err   error
}

func lookUpAddress(ctx context.Context, client *asn.Client, addr netip.Addr) (Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	beside := parallel.Start(func() (p addressPeers) {
		p.peers, p.from, p.asked, p.err = client.Peers(ctx, addr)
		return p
	})
	found, err := client.Announcements(ctx, addr)
	if err != nil {
		cancel()
		beside.Wait()
		return Result{}, err
	}
	registration.Report(ctx, registration.SourcesOfASN(found.Sources)...)
	return describeAddress(ctx, addr, found, beside.Wait())
}

func describeAddress(
	ctx context.Context, addr netip.Addr, found asn.Announcements, beside addressPeers,
) (Result, error) {
	result := Result{
		Query: addr.String(), QueryType: "ip", Records: []registration.ASNRecord{}, Peers: []uint32{},
		Announced: len(found.Records) > 0,
	}
	for _, a := range found.Records {
		result.Records = append(result.Records, registration.DescribeAnnouncement(a))
	}
	from := found.Sources
	switch {
	case ctx.Err() != nil:
		return Result{}, ctx.Err()
	case errors.Is(beside.err, asn.ErrUnreadable), fault.IsOwn(beside.err):
		return Result{}, beside.err
	case beside.asked:
		result.Peers = append(result.Peers, beside.peers...)
		from = from.With(beside.from)
	}
	result.Report = reportAddress(result.Query, found, beside.err != nil)
	result.Summary, result.Notes = result.Conclusion.Message, notes(result.Report)
	result.Sources = registration.SourcesOfASN(from)
	return result, nil
}
