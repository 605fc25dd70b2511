// Package ipgeolocation is the tool ip-geolocation. It asks the registry and the ASN service at once. Without the
// registry there is no answer; without the ASN service there is one that says what it lacks.
package ipgeolocation

import (
	"context"
	_ "embed" // openapi.yaml

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/providers/asn"
	"diagnostics/gateway/internal/providers/rdap"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tools/internal/format"
	"diagnostics/gateway/internal/tools/internal/registration"
	"diagnostics/shared/parallel"
)

//go:embed openapi.yaml
var openAPI string

// Result is where an address is registered. That is all that the registries know: not where it is used.
type Result struct {
	IP            string                  `json:"ip"`
	Version       int                     `json:"version"` // 4 or 6
	Network       *registration.Network   `json:"network"` // never null
	Country       *string                 `json:"country"`
	CountryName   *string                 `json:"countryName"`   // English
	CountrySource *string                 `json:"countrySource"` // rdap or asn
	Organization  *string                 `json:"organization"`
	AbuseContact  *string                 `json:"abuseContact"` // an e-mail address
	ASN           *registration.ASNRecord `json:"asn"`
	Note          string                  `json:"note"`
	Sources       []registration.Source   `json:"sources"`
	Truncated     bool                    `json:"truncated,omitempty"`
}

// New makes the tool; registries tell whose an address is, networks who announces it.
func New(registries *rdap.Client, networks *asn.Client) tool.Tool {
	return tool.New(tool.Spec[target.Address, Result]{
		Slug:    "ip-geolocation",
		OpenAPI: openAPI,
		Parse: func(in tool.Input) (target.Address, error) {
			return target.ParseAddress(in.Text)
		},
		Run: func(ctx context.Context, address target.Address) (Result, error) {
			return geolocate(ctx, registries, networks, address)
		},
	})
}

// announcedBy is what the ASN service said, or its failure.
type announcedBy struct {
	asn.Announcements
	err error
}

func geolocate(
	ctx context.Context, registries *rdap.Client, networks *asn.Client, address target.Address,
) (Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	beside := parallel.Start(func() announcedBy {
		found, err := networks.Announcements(ctx, address.Addr())
		return announcedBy{found, err}
	})
	registered, err := findNetwork(ctx, registries, address)
	if err != nil {
		cancel()
		beside.Wait()
		return Result{}, err
	}
	announced := beside.Wait()
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	if fault.Is(announced.err, fault.Busy) { // nobody was asked; what a resolver fails at is told in the note
		return Result{}, announced.err
	}
	return describeLocation(address, registered, announced), nil
}

// findNetwork takes a registry's ignorance as its failure: every public address lies in a block that some registry has
// given out, and there is nothing to tell without it.
func findNetwork(ctx context.Context, client *rdap.Client, address target.Address) (rdap.NetworkAnswer, error) {
	answer, err := client.Network(ctx, address.Addr())
	if err != nil {
		return rdap.NetworkAnswer{}, err
	}
	if answer.Network != nil {
		return answer, nil
	}
	if answer.Reason == rdap.NoService {
		return rdap.NetworkAnswer{}, fault.New(fault.Upstream,
			"No registry that offers registration data (RDAP) is known for this address.")
	}
	return rdap.NetworkAnswer{}, fault.New(fault.Upstream, "The registry has no registration data for this address.")
}

func describeLocation(address target.Address, registered rdap.NetworkAnswer, announced announcedBy) Result {
	network := registered.Network
	result := Result{
		IP: address.String(), Version: 6,
		Network: registration.DescribeNetwork(network), Organization: network.Organization,
		AbuseContact: network.AbuseContact, Truncated: network.Truncated,
	}
	result.Sources = []registration.Source{registration.SourceOfRDAP(registered.Source, &result.Truncated)}
	if address.Addr().Is4() {
		result.Version = 4
	}
	if announced.err == nil {
		result.Sources = append(result.Sources, registration.SourceOfASN(announced.Source))
		if len(announced.Records) > 0 {
			record := registration.DescribeAnnouncement(announced.Records[0])
			result.ASN = &record
		}
	}
	result.setCountry(network)
	result.Note = note(result, announced)
	return result
}

// setCountry prefers the registry's own record of the network. Some registries, as ARIN, tell no country there.
func (r *Result) setCountry(network *rdap.Network) {
	switch {
	case network.Country != nil:
		r.Country, r.CountrySource = network.Country, format.TextOrNull("rdap")
	case r.ASN != nil && r.ASN.Country != nil:
		r.Country, r.CountrySource = r.ASN.Country, format.TextOrNull("asn")
	default:
		return
	}
	r.CountryName = format.TextOrNull(countryName(*r.Country))
}
