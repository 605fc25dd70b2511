// Package whoislookup is the tool whois-lookup. It shows the registration of a domain or of an address's network,
// queried over RDAP, or over WHOIS where a domain's registry offers no RDAP, without anything personal.
package whoislookup

import (
	"context"
	_ "embed" // openapi.yaml
	"reflect"
	"slices"
	"time"

	"diagnostics/gateway/internal/providers/rdap"
	"diagnostics/gateway/internal/providers/whois"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/format"
	"diagnostics/gateway/internal/tools/internal/registration"
)

//go:embed openapi.yaml
var openAPI string

// Result is what whois-lookup found: Domain or Network where Found, else Reason.
type Result struct {
	finding.Report
	Query             string                `json:"query"`
	QueryType         string                `json:"queryType" wire:"enum=domain|ip"` // domain or ip
	Found             bool                  `json:"found"`
	RegistrableDomain *string               `json:"registrableDomain"` // A-labels
	Domain            *rdap.Domain          `json:"domain"`
	Network           *registration.Network `json:"network"`
	Notices           []rdap.Notice         `json:"notices"`
	Reason            *rdap.Reason          `json:"reason" wire:"enum=notFound|reserved|rateLimited|noRdapService"`
	Sources           []registration.Source `json:"sources" wire:"len=1.."`
	// Truncated means that the registry sent more than is shown: more notices, or what says so itself.
	Truncated bool `json:"truncated,omitempty"`

	undelegated bool // there is no such top-level domain
	suffix      bool // names are registered below the domain
}

// New makes the tool; client queries the registries, and port43 those that offer no RDAP.
func New(client *rdap.Client, port43 *whois.Client) tool.Tool {
	return tool.New(tool.Spec[target.Registration, Result]{
		Slug:    "whois-lookup",
		OpenAPI: openAPI, Findings: rows,
		Parse: func(in tool.Input) (target.Registration, error) {
			return target.ParseRegistration(in.Text)
		},
		Run: func(ctx context.Context, query target.Registration) (Result, error) {
			var result Result
			var err error
			if query.IsAddr() {
				result, err = network(ctx, client, query)
			} else {
				result, err = domain(ctx, client, port43, query)
			}
			if err == nil {
				result.Report = result.report(time.Now())
			}
			return result, err
		},
		About: func(q target.Registration, r Result) bool { return r.Query == q.String() },
		Steps: map[string]reflect.Type{
			"source": reflect.TypeFor[registration.Source](),
		},
	})
}

func domain(
	ctx context.Context, client *rdap.Client, port43 *whois.Client, query target.Registration,
) (Result, error) {
	name := query.Registrable()
	report := func(s rdap.Source) { registration.Report(ctx, registration.SourceOfRDAP(s, new(bool))) }
	answer, err := client.Domain(ctx, name, report)
	if err != nil {
		return Result{}, err
	}
	result := Result{
		Query: query.String(), QueryType: "domain", RegistrableDomain: &name,
		Found: answer.Found, Reason: format.TextOrNull(answer.Reason), Domain: answer.Domain,
		Notices: withAbsence(answer.Notices, answer.Reason, noticeNoDomain),
		Sources: []registration.Source{}, Truncated: answer.MoreNotices || cut(answer.Domain),
		undelegated: answer.Undelegated, suffix: query.IsSuffix(),
	}
	for _, s := range answer.Sources {
		result.Sources = append(result.Sources, registration.SourceOfRDAP(s, &result.Truncated))
	}
	registration.Report(ctx, result.Sources[1:]...)
	if answer.Reason == rdap.NoService && !answer.Undelegated {
		return result.withWHOIS(ctx, port43, name)
	}
	return result, nil
}

func network(ctx context.Context, client *rdap.Client, query target.Registration) (Result, error) {
	answer, err := client.Network(ctx, query.Addr())
	if err != nil {
		return Result{}, err
	}
	result := Result{
		Query: query.String(), QueryType: "ip",
		Found: answer.Found, Reason: format.TextOrNull(answer.Reason), Network: registration.DescribeNetwork(answer.Network),
		Notices: withAbsence(answer.Notices, answer.Reason, noticeNoNetwork),
	}
	result.Truncated = answer.MoreNotices || answer.Network != nil && answer.Network.Truncated
	result.Sources = []registration.Source{registration.SourceOfRDAP(answer.Source, &result.Truncated)}
	registration.Report(ctx, result.Sources...)
	return result, nil
}

// cut reports whether anything of a registration is not shown.
func cut(d *rdap.Domain) bool {
	return d != nil && (d.Truncated || d.DNSSEC.Truncated ||
		slices.ContainsFunc(d.Contacts, func(c rdap.Contact) bool { return c.Truncated }))
}

// withAbsence adds to the registry's notices what its silence on the object means.
func withAbsence(notices []rdap.Notice, reason rdap.Reason, absence string) []rdap.Notice {
	if reason != rdap.NotFound {
		return notices
	}
	return append(notices, ownNotice(absence))
}

// ownNotice returns a notice of this service.
func ownNotice(code string) rdap.Notice {
	c := rows.Conclude(code, nil)
	return rdap.Notice{Title: c.Brief, Description: c.Message, FromService: true}
}
