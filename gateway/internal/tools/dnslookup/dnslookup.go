// Package dnslookup is the tool dns-lookup. It shows what the operator's resolvers answer for a name. It reports
// addresses and connects to none, so that private ones are shown and not refused.
package dnslookup

import (
	"context"
	_ "embed" // openapi.yaml
	"fmt"
	"net/netip"

	"diagnostics/gateway/internal/dnsclient"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tools/internal/format"
	"diagnostics/shared/parallel"

	"github.com/miekg/dns"
)

//go:embed openapi.yaml
var openAPI string

// recordTypes are the queries of dns-lookup, all sent at once.
var recordTypes = [...]uint16{
	dns.TypeA, dns.TypeAAAA, dns.TypeMX, dns.TypeTXT, dns.TypeCNAME, dns.TypeNS, dns.TypeSOA,
}

// Result is what dns-lookup found. Errors holds only the types that failed; Details holds all.
type Result struct {
	Domain  string            `json:"domain"`
	Records recordSet         `json:"records"`
	Errors  map[string]string `json:"errors"`
	Details detailSet         `json:"details"`
	// Truncated tells that more came than is shown, in the details of the types of which it did.
	Truncated bool `json:"truncated,omitempty"`
}

// detailSet is how the answers came about by type, in the order of their names: a table would be sorted anew for each
// answer.
type detailSet struct {
	A     answerDetail `json:"A"`
	AAAA  answerDetail `json:"AAAA"`
	CNAME answerDetail `json:"CNAME"`
	MX    answerDetail `json:"MX"`
	NS    answerDetail `json:"NS"`
	SOA   answerDetail `json:"SOA"`
	TXT   answerDetail `json:"TXT"`
}

// of is the part of one of recordTypes.
func (d *detailSet) of(qtype uint16) *answerDetail {
	switch qtype {
	case dns.TypeA:
		return &d.A
	case dns.TypeAAAA:
		return &d.AAAA
	case dns.TypeCNAME:
		return &d.CNAME
	case dns.TypeMX:
		return &d.MX
	case dns.TypeNS:
		return &d.NS
	case dns.TypeSOA:
		return &d.SOA
	}
	return &d.TXT
}

// answerDetail is how one answer came about.
type answerDetail struct {
	RCode          *string                   `json:"rcode"`
	TTL            *uint32                   `json:"ttl"`
	Authenticated  bool                      `json:"authenticated"`
	CNAMEChain     []string                  `json:"cnameChain"`
	Resolver       *string                   `json:"resolver"`
	DurationMs     float64                   `json:"durationMs"`
	Cached         bool                      `json:"cached"`
	AgeMs          float64                   `json:"ageMs"`
	ExtendedErrors []dnsclient.ExtendedError `json:"extendedErrors"`
	Truncated      bool                      `json:"truncated,omitempty"` // the records of this type
}

// New makes the tool; client asks the operator's resolvers.
func New(client *egress.Client) tool.Tool {
	return tool.New(tool.Spec[target.Domain, Result]{
		Slug:    "dns-lookup",
		OpenAPI: openAPI,
		Parse: func(in tool.Input) (target.Domain, error) {
			return target.ParseDomain(in.Text, true)
		},
		Run: func(ctx context.Context, name target.Domain) (Result, error) {
			return run(ctx, client, name.String())
		},
	})
}

func run(ctx context.Context, client *egress.Client, name string) (Result, error) {
	var answers [len(recordTypes)]dnsclient.Answer
	var queries parallel.Group
	client.DNS().Kept(ctx, name, recordTypes[:], answers[:], func(at int) {
		queries.Go(func() { answers[at] = client.DNS().Query(ctx, name, recordTypes[at]) })
	})
	queries.Wait()
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}

	result := Result{
		Domain:  name,
		Records: newRecordSet(),
		Errors:  map[string]string{},
	}
	show := resolverNames(client)
	for i := range answers {
		answer := &answers[i]
		if answer.Busy != nil {
			return Result{}, answer.Busy
		}
		kind := dns.TypeToString[recordTypes[i]]
		*result.Details.of(recordTypes[i]) = describeAnswer(answer, show)
		if answer.Code != "" {
			result.Errors[kind] = answer.Code
			continue
		}
		result.Records.add(answer.Records)
	}
	result.Records.sort()
	result.bound(answers[:])
	return result, nil
}

// resolverNames gives what is shown of a resolver, which mostly is that of the answer before.
func resolverNames(client *egress.Client) func(netip.AddrPort) *string {
	var last netip.AddrPort
	var name *string
	return func(resolver netip.AddrPort) *string {
		if name == nil || resolver != last {
			shown := client.ResolverName(resolver)
			last, name = resolver, &shown
		}
		return name
	}
}

func describeAnswer(a *dnsclient.Answer, show func(netip.AddrPort) *string) answerDetail {
	detail := answerDetail{
		RCode:          rcodeName(a.RCode),
		Authenticated:  a.Authenticated,
		CNAMEChain:     append([]string{}, a.CNAMEChain...),
		DurationMs:     format.Milliseconds(a.Duration),
		Cached:         a.Cached,
		AgeMs:          format.Milliseconds(a.Age),
		ExtendedErrors: append([]dnsclient.ExtendedError{}, a.Extended...),
		Truncated:      a.Cut,
	}
	if len(a.Records) > 0 {
		ttl := a.TTL
		detail.TTL = &ttl
	}
	if a.Resolver.IsValid() {
		detail.Resolver = show(a.Resolver)
	}
	return detail
}

// rcodeName gives the mnemonic of a response code (RFC 6895 section 2.3), RCODE<n> where it has none, nil for -1.
func rcodeName(rcode int) *string {
	if rcode < 0 {
		return nil
	}
	name, ok := dns.RcodeToString[rcode]
	if !ok {
		name = fmt.Sprintf("RCODE%d", rcode)
	}
	return &name
}
