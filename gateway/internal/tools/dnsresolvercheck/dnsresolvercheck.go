// Package dnsresolvercheck is the tool dns-resolver-check. It sends four public resolvers the same query, and the
// domain's own name servers beside them. That they fail, or disagree, is its result and never an error.
package dnsresolvercheck

import (
	"context"
	"crypto/sha256"
	_ "embed" // openapi.yaml
	"net/netip"
	"reflect"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/format"
	"diagnostics/shared/parallel"
	"diagnostics/shared/progress"

	"github.com/miekg/dns"
)

//go:embed openapi.yaml
var openAPI string

// publicResolver is one of the recursive resolvers that dns-resolver-check compares.
type publicResolver struct {
	id, name string
	server   netip.AddrPort
}

// publicResolvers are run by four different operators. Their order is that of every list of the result.
var publicResolvers = [...]publicResolver{
	{"cloudflare", "Cloudflare", netip.MustParseAddrPort("1.1.1.1:53")},
	{"google", "Google", netip.MustParseAddrPort("8.8.8.8:53")},
	{"quad9", "Quad9", netip.MustParseAddrPort("9.9.9.9:53")},
	{"opendns", "OpenDNS", netip.MustParseAddrPort("208.67.222.222:53")},
}

// secondLookAfter is how long a change may take to reach all resolvers before it is called a conflict.
const secondLookAfter = time.Second

// query is what dns-resolver-check sends to each of its resolvers.
type query struct {
	domain     target.Domain
	recordType string
}

// LimitKey is the domain, whatever the record type.
func (c query) LimitKey() string { return c.domain.LimitKey() }

// Result is what the resolvers answered, and whether that agrees.
type Result struct {
	finding.Report
	Domain     string           `json:"domain"`
	RecordType string           `json:"recordType" wire:"enum=A|AAAA|CNAME|MX|NS|TXT|CAA"`
	Status     string           `json:"status"`
	Summary    string           `json:"summary"`
	Resolvers  []resolverAnswer `json:"resolvers" wire:"len=4"`
	Groups     []resolverGroup  `json:"groups"`
	// Failure is the cause that failing resolvers give: "dnssec" or "unreachable".
	Failure       *string    `json:"failure" wire:"enum=dnssec|unreachable"`
	Changing      *change    `json:"changing"`
	Cause         *cause     `json:"cause"`
	Authoritative *authority `json:"authoritative"`
	Truncated     bool       `json:"truncated,omitempty"`
}

// Enums implements decode.Enumerated.
func (Result) Enums() map[string][]string {
	return map[string][]string{"status": {
		statusUnavailable, statusInconclusive, statusMixedPresence, statusVariation, statusConflict, statusPartial,
		statusAgree, statusAgreeAbsent,
	}}
}

// resolverAnswer is one resolver's answer with its values in normal form.
type resolverAnswer struct {
	ID                string                    `json:"id" wire:"enum=cloudflare|google|quad9|opendns"`
	Name              string                    `json:"name"`
	Address           string                    `json:"address" wire:"enum=1.1.1.1|8.8.8.8|9.9.9.9|208.67.222.222"`
	Outcome           string                    `json:"outcome" wire:"enum=answer|nodata|nxdomain|error"`
	ErrorCode         *string                   `json:"errorCode"`        // of an error only
	Reason            *string                   `json:"reason,omitempty"` // where it could not be queried
	Values            []string                  `json:"values" bound:"text=16k list=72k"`
	TTL               *uint32                   `json:"ttl"`
	Authenticated     bool                      `json:"authenticated"`
	DurationMs        float64                   `json:"durationMs"`
	FilteredSuspected bool                      `json:"filteredSuspected"`
	Cached            bool                      `json:"cached"`
	AgeMs             float64                   `json:"ageMs"`
	ExtendedErrors    []dnsclient.ExtendedError `json:"extendedErrors" bound:"list=4k"`
	// MatchesAuthoritative is null where the answers cannot be compared.
	MatchesAuthoritative *bool `json:"matchesAuthoritative"`
	Truncated            bool  `json:"truncated,omitempty"`

	// Digest stands for all values where more came than are kept.
	Digest [sha256.Size]byte `json:"-"`
	// bare is a denial that no zone vouches for: its authority section is empty.
	bare bool
	// chain is the aliases that were followed.
	chain []string
	// denials are the NSEC and NSEC3 records of a denial.
	denials []dns.RR
	// left is for how many seconds the answer may still be kept, an absence too.
	left uint32
	// whole is for how many its zone lets an absence be kept.
	whole uint32
}

// Enums implements decode.Enumerated.
func (resolverAnswer) Enums() map[string][]string {
	return map[string][]string{"errorCode": append(dnsclient.Codes(), dnsclient.CodeBusy)}
}

// The outcomes of one resolver.
const (
	outcomeAnswer   = "answer"
	outcomeNoData   = "nodata"
	outcomeNXDomain = "nxdomain"
	outcomeError    = "error"
)

// conclusive reports whether the resolver said what there is, or that there is nothing.
func (a resolverAnswer) conclusive() bool { return a.Outcome != outcomeError }

// New makes the tool; client queries the resolvers and the domain's own servers.
func New(client *egress.Client) tool.Tool {
	return tool.New(tool.Spec[query, Result]{
		Slug:    "dns-resolver-check",
		Options: []tool.Option{optionRecordType},
		OpenAPI: openAPI, Findings: rows,
		Parse: parse,
		Run: func(ctx context.Context, check query) (Result, error) {
			return check.run(ctx, client)
		},
		About: func(q query, r Result) bool { return r.Domain == q.domain.String() && r.RecordType == q.recordType },
		Steps: map[string]reflect.Type{
			"resolver": reflect.TypeFor[resolverAnswer](),
		},
	})
}

var optionRecordType = tool.Option{
	Name: "recordType", Doc: "The type of record to compare.",
	Values: []string{"A", "AAAA", "CNAME", "MX", "NS", "TXT", "CAA"}, Default: "A",
}

func parse(in tool.Input) (query, error) {
	domain, err := target.ParseDomain(in.Text, true)
	if err != nil {
		return query{}, err
	}
	recordType, err := optionRecordType.Choice(in.Options)
	if err != nil {
		return query{}, err
	}
	return query{domain: domain, recordType: recordType}, nil
}

func (c query) run(ctx context.Context, client *egress.Client) (Result, error) {
	var answers []resolverAnswer
	var own *authority
	var asking parallel.Group
	asking.Go(func() { answers = c.askResolvers(ctx, client) })
	asking.Go(func() { own = c.askAuthority(ctx, client) })
	asking.Wait()
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	return c.result(answers, own, c.findDenial(ctx, client, answers, own)), ctx.Err()
}

// result puts together what everybody said.
func (c query) result(answers []resolverAnswer, own *authority, why *cause) Result {
	markFiltered(answers)
	compare(answers, own)
	r := Result{
		Domain:        c.domain.String(),
		RecordType:    c.recordType,
		Status:        c.status(answers),
		Resolvers:     answers,
		Groups:        groupResolvers(answers),
		Failure:       causeOf(answers),
		Changing:      c.findChange(answers, own),
		Cause:         why,
		Authoritative: own,
	}
	r.Summary, r.Report = c.summarize(r), c.report(r)
	return r
}

// askResolvers queries the four, a second time where they conflict.
func (c query) askResolvers(ctx context.Context, client *egress.Client) []resolverAnswer {
	answers := make([]resolverAnswer, len(publicResolvers))
	everyone := func(resolverAnswer) bool { return true }
	c.look(ctx, client.DNS().QueryServer, answers, everyone)
	if ctx.Err() == nil && c.status(answers) == statusConflict {
		c.lookAgain(ctx, client, answers)
	}
	return answers
}

// lookAgain queries those that answered once more, past the cache: what differed because it was just being changed, or
// because one of the answers was kept from a minute ago, is not a conflict. One that fails now has failed: a failure
// cannot conflict.
func (c query) lookAgain(ctx context.Context, client *egress.Client, answers []resolverAnswer) {
	wait := time.NewTimer(secondLookAfter)
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-ctx.Done():
		return
	}
	c.look(ctx, client.DNS().QueryServerFresh, answers, resolverAnswer.conclusive)
}

// look queries the resolvers whose answers so far are wanted again, all at once.
func (c query) look(ctx context.Context, ask func(context.Context, netip.AddrPort, string, uint16) dnsclient.Answer,
	answers []resolverAnswer, wanted func(resolverAnswer) bool,
) {
	var asking parallel.Group
	for i, resolver := range publicResolvers {
		if !wanted(answers[i]) {
			continue
		}
		asking.Go(func() {
			answers[i] = resolver.describe(ask(ctx, resolver.server, c.domain.String(), dns.StringToType[c.recordType]))
			if !answers[i].Cached {
				progress.Report(ctx, "resolver", resolver.id, answers[i])
			}
		})
	}
	asking.Wait()
}

func (r publicResolver) describe(a dnsclient.Answer) resolverAnswer {
	_, whole := vouching(a.Authority)
	answer := resolverAnswer{
		ID: r.id, Name: r.name, Address: r.server.Addr().String(),
		Outcome:        outcomeError,
		Values:         normalValues(a.Records),
		Authenticated:  a.Authenticated,
		DurationMs:     format.Milliseconds(a.Duration),
		Cached:         a.Cached,
		AgeMs:          format.Milliseconds(a.Age),
		ExtendedErrors: append([]dnsclient.ExtendedError{}, a.Extended...),
		Truncated:      a.Cut,
		Digest:         a.Digest,
		bare:           len(a.Authority) == 0,
		chain:          a.CNAMEChain,
		denials: which(a.Authority, func(rr dns.RR) bool {
			return rr.Header().Rrtype == dns.TypeNSEC || rr.Header().Rrtype == dns.TypeNSEC3
		}),
		left:  a.TTL,
		whole: whole,
	}
	switch a.Code {
	case "":
		answer.Outcome, answer.TTL = outcomeAnswer, &a.TTL
	case dnsclient.CodeNoData:
		answer.Outcome = outcomeNoData
	case dnsclient.CodeNotFound:
		answer.Outcome = outcomeNXDomain
	default:
		answer.ErrorCode = &a.Code
	}
	if a.Busy != nil {
		answer.Reason = reasonOf(dnsclient.CodeBusy)
	}
	return answer
}
