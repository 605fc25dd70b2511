// Package ipgeolocation is the tool ip-geolocation. It queries the registry, the ASN service and the reverse DNS at
// once. Where the registry or the ASN service fails there is an answer that says what it lacks; where both do there is
// none.
package ipgeolocation

import (
	"context"
	_ "embed" // openapi.yaml
	"errors"
	"reflect"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/providers/asn"
	"diagnostics/gateway/internal/providers/rdap"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/format"
	"diagnostics/gateway/internal/tools/internal/registration"
	"diagnostics/gateway/internal/tools/internal/reverse"
	"diagnostics/shared/parallel"
	"diagnostics/shared/workerapi"
)

//go:embed openapi.yaml
var openAPI string

// Result is where an address is registered. The registries have no more than that: not where it is used.
type Result struct {
	finding.Report
	IP            string                  `json:"ip"`
	Version       int                     `json:"version" wire:"enum=4|6"` // 4 or 6
	Network       *registration.Network   `json:"network"`                 // null where no registry has one
	Country       *string                 `json:"country"`
	CountryName   *string                 `json:"countryName"`                        // English
	CountrySource *string                 `json:"countrySource" wire:"enum=rdap|asn"` // rdap or asn
	Organization  *string                 `json:"organization"`
	AbuseContact  *string                 `json:"abuseContact"` // an e-mail address
	ASN           *registration.ASNRecord `json:"asn"`
	Hostname      *string                 `json:"hostname"` // of the address, in the reverse DNS
	Note          string                  `json:"note"`
	Sources       []registration.Source   `json:"sources" wire:"len=1.."`
	Truncated     bool                    `json:"truncated,omitempty"`
}

// New makes the tool; registries find the holder of an address, networks its announcements, and names its name.
func New(names *egress.Client, registries *rdap.Client, networks *asn.Client) tool.Tool {
	p := providers{names, registries, networks}
	return tool.New(tool.Spec[target.Address, Result]{
		Slug:    "ip-geolocation",
		OpenAPI: openAPI, Findings: rows,
		Parse: func(in tool.Input) (target.Address, error) {
			return target.ParseAddress(in.Text)
		},
		Run:   p.geolocate,
		About: func(a target.Address, r Result) bool { return r.IP == a.String() },
		Steps: map[string]reflect.Type{
			"source": reflect.TypeFor[registration.Source](),
		},
	})
}

// providers are those that the tool queries.
type providers struct {
	names      *egress.Client
	registries *rdap.Client
	networks   *asn.Client
}

// registeredIn is what the registry said, or its failure.
type registeredIn struct {
	rdap.NetworkAnswer
	err error
}

// announcedBy is what the ASN service said, or its failure.
type announcedBy struct {
	asn.Announcements
	err error
}

// namedAs is the name of the address, or the failure to learn of it.
type namedAs struct {
	hostname *string
	err      error
}

func (p providers) geolocate(ctx context.Context, address target.Address) (Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	name := parallel.Start(func() (n namedAs) {
		n.hostname, n.err = reverse.Name(ctx, p.names, address.Addr())
		return n
	})
	beside := parallel.Start(func() (a announcedBy) {
		a.Announcements, a.err = p.networks.Announcements(ctx, address.Addr())
		if a.err == nil {
			registration.Report(ctx, registration.SourcesOfASN(a.Sources)...)
		}
		return a
	})
	// Nothing goes on without a caller.
	defer func() {
		cancel()
		<-beside.Done()
		<-name.Done()
	}()
	var registered registeredIn
	registered.NetworkAnswer, registered.err = p.registries.Network(ctx, address.Addr())
	if registered.err == nil {
		registration.Report(ctx, registration.SourceOfRDAP(registered.Source, new(bool)))
	}
	if isShortage(registered.err) {
		return Result{}, registered.err
	}
	announced := beside.Wait()
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	if fault.Is(announced.err, fault.Busy) { // no server was queried; what a resolver fails at is reported in the note
		return Result{}, announced.err
	}
	if announced.err != nil && registered.Network == nil {
		return Result{}, registered.failure()
	}
	named := name.Wait()
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	return describeLocation(address, registered, announced, named), nil
}

// isShortage reports whether this service lacks the means to query any registry. A pause or a used-up share of one
// registry is not that.
func isShortage(err error) bool {
	var f *fault.Error
	return errors.As(err, &f) && f.Kind == fault.Busy && f.Rule != fault.RuleProviderWait &&
		f.Rule != fault.LimitProviderShare
}

// failure is why there is no network, nil where there is one. Every public address lies in a block that some registry
// has given out, so that a registry's ignorance is its failure.
func (r registeredIn) failure() error {
	switch {
	case r.err != nil:
		return r.err
	case r.Network != nil:
		return nil
	case r.Reason == rdap.NoService:
		return fault.New(fault.Upstream, "NO_REGISTRY_KNOWN", nil)
	}
	return fault.New(fault.Upstream, "REGISTRY_WITHOUT_DATA", nil)
}

func describeLocation(
	address target.Address, registered registeredIn, announced announcedBy, named namedAs,
) Result {
	result := Result{IP: address.String(), Version: workerapi.Family(address.Addr()), Hostname: named.hostname,
		Sources: []registration.Source{}}
	if registered.err == nil {
		result.Sources = append(result.Sources, registration.SourceOfRDAP(registered.Source, &result.Truncated))
	}
	if network := registered.Network; network != nil {
		result.Network = registration.DescribeNetwork(network)
		result.Organization, result.AbuseContact = network.Organization, network.AbuseContact
		result.Truncated = result.Truncated || network.Truncated
	}
	if announced.err == nil {
		result.Sources = append(result.Sources, registration.SourcesOfASN(announced.Sources)...)
		if len(announced.Records) > 0 {
			result.ASN = new(registration.DescribeAnnouncement(announced.Records[0]))
		}
	}
	result.setCountry(registered.Network)
	result.describe(registered, announced, named)
	return result
}

// setCountry prefers the registry's own record of the network, where there is one. Some registries, as ARIN, publish no
// country there.
func (r *Result) setCountry(network *rdap.Network) {
	switch {
	case network != nil && network.Country != nil:
		r.Country, r.CountrySource = network.Country, format.TextOrNull("rdap")
	case r.ASN != nil && r.ASN.Country != nil:
		r.Country, r.CountrySource = r.ASN.Country, format.TextOrNull("asn")
	default:
		return
	}
	r.CountryName = format.TextOrNull(countryName(*r.Country))
}
