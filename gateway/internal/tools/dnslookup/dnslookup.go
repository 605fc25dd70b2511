// Package dnslookup is the tool dns-lookup. It shows what the operator's resolvers answer for a name. It reports
// addresses and connects to none, so that private ones are shown and not refused.
package dnslookup

import (
	"context"
	_ "embed" // openapi.yaml
	"reflect"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/format"
	"diagnostics/shared/parallel"
	"diagnostics/shared/progress"

	"github.com/miekg/dns"
)

//go:embed openapi.yaml
var openAPI string

// atOnce is how many queries of one run are under way at a time: all that are requested by default, and the
// twenty in two rounds.
const atOnce = 10

// Result is what dns-lookup found. Errors holds only the types that failed; Details holds all.
type Result struct {
	finding.Report
	Domain  string            `json:"domain"`
	Records recordSet         `json:"records"`
	Errors  map[string]string `json:"errors"`
	Details detailSet         `json:"details"`
	// Truncated means that more came than is shown, in the details of the types of which it did.
	Truncated bool `json:"truncated,omitempty"`
}

// Enums implements decode.Enumerated.
func (Result) Enums() map[string][]string { return map[string][]string{"errors": dnsclient.Codes()} }

// New makes the tool; client queries the operator's resolvers.
func New(client *egress.Client) tool.Tool {
	return tool.New(tool.Spec[query, Result]{
		Slug:    "dns-lookup",
		Options: []tool.Option{optionTypes},
		OpenAPI: openAPI, Findings: rows,
		Parse: parse,
		Run: func(ctx context.Context, asked query) (Result, error) {
			return run(ctx, client, asked.String(), asked.types)
		},
		About: func(q query, r Result) bool { return r.Domain == q.String() },
		Steps: map[string]reflect.Type{
			"type": reflect.TypeFor[typeStep](),
		},
	})
}

func run(ctx context.Context, client *egress.Client, name string, types []uint16) (Result, error) {
	answers := ask(ctx, client.DNS(), name, types)
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	result := Result{Domain: name, Errors: map[string]string{}}
	details := make([]answerDetail, len(types))
	show := resolverNames(client)
	for i, qtype := range types {
		answer := &answers[i]
		if answer.Busy != nil {
			return Result{}, answer.Busy
		}
		details[i] = describeAnswer(answer, show)
		*result.Details.of(qtype) = &details[i]
		result.Records.take(qtype, answer)
		if answer.Code != "" {
			result.Errors[dns.TypeToString[qtype]] = answer.Code
		}
	}
	result.bound(types, answers)
	o := outcome{name: name, types: types, answers: answers,
		existence: client.DNS().Existence(ctx, name, types, answers)}
	for i := range answers {
		if o.reason, o.bogus = client.DNS().FailsDNSSEC(ctx, name, types[i], answers[i]); o.bogus {
			break
		}
	}
	o.loop = o.aliasFails() && loops(ctx, client.DNS(), name)
	result.Report = o.report()
	return result, ctx.Err()
}

// ask returns the answers for the types.
func ask(ctx context.Context, client *dnsclient.Client, name string, types []uint16) []dnsclient.Answer {
	answers := make([]dnsclient.Answer, len(types))
	var missing []int
	for i, qtype := range types {
		var cached bool
		if answers[i], cached = client.Cached(ctx, name, qtype); !cached {
			missing = append(missing, i)
		}
	}
	parallel.Each(len(missing), atOnce, func(n int) {
		i := missing[n]
		answers[i] = client.Query(ctx, name, types[i])
		report(ctx, types[i], &answers[i])
	})
	return answers
}

// loops reports whether the aliases that begin at a name lead back to one of them.
func loops(ctx context.Context, client *dnsclient.Client, name string) bool {
	const most = 8
	seen := map[string]bool{}
	for range most {
		seen[name] = true
		var next recordSet
		answer := client.Query(ctx, name, dns.TypeCNAME)
		next.take(dns.TypeCNAME, &answer)
		if len(next.CNAME) == 0 {
			return false
		}
		if name = next.CNAME[0]; seen[name] {
			return true
		}
	}
	return false
}

// typeStep is the answer of a resolver for one type, reported while others are awaited.
type typeStep struct {
	Type    string    `json:"type"`
	Records recordSet `json:"records"`
	Error   *string   `json:"error"`
}

// Enums implements decode.Enumerated.
func (typeStep) Enums() map[string][]string { return map[string][]string{"error": dnsclient.Codes()} }

func report(ctx context.Context, qtype uint16, answer *dnsclient.Answer) {
	if progress.Of(ctx) == nil || answer.Cached || answer.Busy != nil || ctx.Err() != nil {
		return
	}
	step := typeStep{Type: dns.TypeToString[qtype], Error: format.TextOrNull(answer.Code)}
	step.Records.take(qtype, answer)
	progress.Report(ctx, "type", step.Type, step)
}
