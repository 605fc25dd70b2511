// Package emaildnshealth is the tool email-dns-health. It judges the mail records that a domain publishes. It reports
// addresses and connects to none, but for the MTA-STS policy's own host.
package emaildnshealth

import (
	"context"
	_ "embed" // openapi.yaml
	"errors"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/shared/parallel"
)

//go:embed openapi.yaml
var openAPI string

// query is the domain whose mail records email-dns-health reads.
type query struct {
	domain target.Domain
	// selector is the DKIM selector, lower case; empty where none was given.
	selector string
}

// LimitKey is the domain, whatever the selector.
func (d query) LimitKey() string { return d.domain.LimitKey() }

// Result is what email-dns-health found.
type Result struct {
	finding.Report
	Domain  string  `json:"domain"`
	Overall status  `json:"overall" wire:"enum=pass|warn|fail|error"`
	Summary counts  `json:"summary"`
	Checks  results `json:"checks"`
	bimiResult
	// Note says what the records show of the domain as a whole, such as that it sends no mail; null where they show
	// nothing of the kind.
	Note *string `json:"note"`
	// Truncated means that more came than is shown, in the checks of which it did.
	Truncated bool `json:"truncated,omitempty"`
}

// results are the checks of a run, each by its name.
type results struct {
	MX     mxCheck     `json:"mx"`
	SPF    spfCheck    `json:"spf"`
	DMARC  dmarcCheck  `json:"dmarc"`
	DKIM   dkimCheck   `json:"dkim"`
	MTASTS mtaStsCheck `json:"mtaSts"`
	TLSRPT tlsRptCheck `json:"tlsRpt"`
}

// all are the checks in the order in which the answer has them.
func (r *results) all() []*check {
	return []*check{&r.MX.check, &r.SPF.check, &r.DMARC.check, &r.DKIM.check, &r.MTASTS.check, &r.TLSRPT.check}
}

// New makes the tool; client queries the DNS and fetches the MTA-STS policy.
func New(client *egress.Client) tool.Tool {
	return tool.New(tool.Spec[query, Result]{
		Slug:     "email-dns-health",
		Options:  []tool.Option{optionSelector},
		OpenAPI:  openAPI,
		Findings: rows,
		Parse:    parse,
		Run: func(ctx context.Context, m query) (Result, error) {
			return run(ctx, client, m)
		},
		About: func(q query, r Result) bool { return r.Domain == q.domain.String() },
		Steps: map[string]reflect.Type{
			"check": reflect.TypeFor[checkStep](),
		},
	})
}

// checker is one run: what its checks share.
type checker struct {
	client   *egress.Client
	dns      *resolver
	domain   string
	selector string
}

// run looks at the mail hosts first, since whether the domain exists and takes mail decides what else applies. When
// the time of the run is over, what is not finished is an error of its own check.
func run(ctx context.Context, client *egress.Client, m query) (Result, error) {
	run := &checker{client: client, dns: newResolver(client), domain: m.domain.String(), selector: m.selector}
	mx := run.mx(ctx)
	run.report(ctx, "mx", &mx.check)
	var results results
	var bimi bimiResult
	if mx.notFound {
		results = run.nonexistent(mx)
	} else {
		results, bimi = run.others(ctx, mx)
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return Result{}, ctx.Err()
	}
	health := summarize(run.domain, results)
	health.bimiResult = bimi
	health.report()
	boundTree(health.Checks.SPF.Tree)
	return health, nil
}

func (r *checker) others(ctx context.Context, mx mxCheck) (results, bimiResult) {
	results := results{MX: mx}
	var bimi bimiResult
	var checks parallel.Group
	checks.Go(func() {
		more := r.mailHostFacts(ctx, mx)
		results.MX.Hosts = slices.Clone(mx.Hosts) // the other checks read them
		results.MX.complete(r.domain, more)
		if results.MX.Status != mx.Status {
			r.report(ctx, "mx", &results.MX.check)
		}
	})
	begin := func(name string, c *check, look func()) {
		checks.Go(func() {
			look()
			r.report(ctx, name, c)
		})
	}
	begin("spf", &results.SPF.check, func() { results.SPF = r.spf(ctx) })
	begin("dmarc", &results.DMARC.check, func() { results.DMARC, bimi = r.dmarcAndBIMI(ctx) })
	begin("dkim", &results.DKIM.check, func() { results.DKIM = r.dkim(ctx, mx) })
	begin("mtaSts", &results.MTASTS.check, func() { results.MTASTS = r.mtaSts(ctx, mx) })
	begin("tlsRpt", &results.TLSRPT.check, func() { results.TLSRPT = r.tlsRpt(ctx, mx) })
	checks.Wait()
	results.SPF.shorten(ctx, r.dns)
	return results, bimi
}

// nonexistent is a domain that is not there: nothing else is queried.
func (r *checker) nonexistent(mx mxCheck) results {
	missing := newCheck()
	missing.Status = mailMissing
	missing.say("NOT_FOR_NO_DOMAIN", nil)
	return results{
		MX:     mx,
		SPF:    newSPFCheck(missing, r.domain),
		DMARC:  newDMARCCheck(missing),
		DKIM:   newDKIMCheck(missing, r.selector),
		MTASTS: newMTASTSCheck(missing),
		TLSRPT: tlsRptCheck{check: missing, ReportAddresses: []string{}},
	}
}

func parse(in tool.Input) (query, error) {
	domain, err := target.ParseDomain(in.Text, false)
	if err != nil {
		return query{}, err
	}
	typed, _, err := optionSelector.Text(in.Options)
	if err != nil {
		return query{}, err
	}
	selector, err := parseSelector(typed)
	if err != nil {
		return query{}, err
	}
	return query{domain: domain, selector: selector}, nil
}

var optionSelector = tool.Option{
	Name: "dkimSelector", Doc: "A DNS selector; lower-cased by the service.", MaxLength: 253,
	Allowed: "a DNS selector of letters, digits, underscores and inner hyphens, such as selector1",
}

// parseSelector takes a DKIM selector (RFC 6376 section 3.1): one or more labels of letters, digits, underscores and
// inner hyphens. A form that leaves its field empty has no selector.
func parseSelector(s string) (string, error) {
	if s == "" {
		return "", nil
	}
	for label := range strings.SplitSeq(s, ".") {
		if !selectorLabel.MatchString(label) {
			return "", optionSelector.Reject()
		}
	}
	return strings.ToLower(s), nil
}

// selectorLabel is one label, of at most 63 characters.
var selectorLabel = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?$`)
