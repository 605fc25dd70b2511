// Package uptime is the tool uptime. It reports whether a site answers, over each family on its own and at up to three
// addresses of it. That it does not is a result, not a failure.
package uptime

import (
	"context"
	_ "embed" // openapi.yaml
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/challenge"
	"diagnostics/gateway/internal/tools/internal/webview"
	"diagnostics/shared/parallel"
)

//go:embed openapi.yaml
var openAPI string

// The verdicts on a site.
const (
	verdictUp       = "up"
	verdictDegraded = "degraded"
	verdictDown     = "down"
)

// The states of one family of a site.
const (
	uptimeUp        = "up"
	uptimeDown      = "down"
	uptimeNoAddress = "noAddress"
	uptimeSkipped   = "skipped" // this host lacks the family or could not check over it, or the address's limit is reached
)

// Result is whether a site answers. The fields from Status to FinalURL, CertificateValid, Timings and Challenge
// are those of the family that answered first, null where none did.
type Result struct {
	finding.Report
	URL              string               `json:"url"`
	Online           bool                 `json:"online"`
	Verdict          string               `json:"verdict" wire:"enum=up|degraded|down"`
	Status           *int                 `json:"status"`
	StatusText       *string              `json:"statusText"`
	ResponseTimeMs   *float64             `json:"responseTimeMs"` // of the whole chain of redirects
	FinalURL         *string              `json:"finalUrl"`
	CertificateValid *bool                `json:"certificateValid"`
	Reason           *string              `json:"reason"`
	Timings          *webview.Timings     `json:"timings"` // of the last answer
	Challenge        *challenge.Challenge `json:"challenge"`
	Families         families             `json:"families"`
	Notes            []webview.Note       `json:"notes"`           // on all answers of the family that answered first
	HTTP3            *webview.HTTP3       `json:"http3,omitempty"` // of the origin of the last answer
	HelloTooLong     bool                 `json:"helloTooLong,omitempty"`
	Truncated        bool                 `json:"truncated,omitempty"`
}

type families struct {
	IPv4 familyState `json:"ipv4"`
	IPv6 familyState `json:"ipv6"`
}

type familyState struct {
	familyFacts
	Addresses []addressState `json:"addresses" wire:"len=0..3"`
}

type familyFacts struct {
	State          string   `json:"state" wire:"enum=up|down|noAddress|skipped"`
	Address        *string  `json:"address"`
	Status         *int     `json:"status"`
	ResponseTimeMs *float64 `json:"responseTimeMs"`
	Reason         *string  `json:"reason"`

	why said // the reason of a family that was not checked
}

// because sets the reason.
func (s familyState) because(why said) familyState {
	s.why, s.Reason = why, inWords([]said{why})
	return s
}

// addressState is what one address of a site answers by itself, before any redirect.
type addressState struct {
	Address string  `json:"address"`
	State   string  `json:"state" wire:"enum=up|down|skipped"` // up, down or skipped
	Status  *int    `json:"status"`
	Reason  *string `json:"reason"`
}

// limits keep the two tries, each a chain of up to six requests, well inside the bound of the whole run.
type limits struct {
	first, second time.Duration
	pause         time.Duration // between them
	beside        time.Duration // after which the second is made beside a first that is silent
	notice        time.Duration // after which what is known so far is reported
}

var defaultLimits = limits{first: 11 * time.Second, second: 5 * time.Second, pause: 250 * time.Millisecond,
	beside: 2 * time.Second, notice: time.Second}

// New makes the tool; client makes the requests.
func New(client *egress.Client) tool.Tool { return newWithin(client, defaultLimits) }

func newWithin(client *egress.Client, bounds limits) tool.Tool {
	return tool.New(tool.Spec[webview.Page, *Result]{
		Slug:    "uptime",
		Options: []tool.Option{webview.OptionHTTP3},
		OpenAPI: openAPI, Findings: rows,
		Parse: webview.ParsePage,
		Run: func(ctx context.Context, page webview.Page) (*Result, error) {
			state := &soFar{host: webview.Place(page.URL)}
			r := &checker{client: client, bounds: bounds, url: page.URL, http3: page.HTTP3, state: state}
			return r.run(ctx)
		},
		About: func(p webview.Page, r *Result) bool { return r.URL == p.String() },
		Steps: map[string]reflect.Type{
			"address": reflect.TypeFor[addressState](),
			"family":  reflect.TypeFor[familyStep](),
		},
	})
}

// checker is one run of the tool.
type checker struct {
	client *egress.Client
	bounds limits
	url    target.URL
	http3  bool
	state  *soFar
}

func (r *checker) run(ctx context.Context) (*Result, error) {
	resolution, err := r.resolve(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return r.unresolved(ctx, err)
	}
	// A site that only the missing family leads to is neither up nor down as far as this service can find out.
	if err := resolution.Reachable(); err != nil {
		return nil, err
	}
	checks := r.checkFamilies(ctx, resolution)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for i := range checks {
		if err := checks[i].refusal(); err != nil {
			return nil, err
		}
	}
	if err := unsettled(checks); err != nil {
		return nil, err
	}
	return r.withHTTP3(ctx, r.conclude(resolution, checks), firstAnswer(counted(checks)).answer()), nil
}

// withHTTP3 tries HTTP/3 with the origin of the last answer, where it is to be tried.
func (r *checker) withHTTP3(ctx context.Context, result *Result, last *egress.Response) *Result {
	if r.http3 {
		result.HTTP3 = webview.CheckHTTP3(ctx, r.client, last, &result.Truncated)
		result.Report = result.With(result.HTTP3.Findings...)
	}
	return result
}

// unsettled gives the error where no verdict is possible: the site is not up over any family that was checked, and one
// was not, because of a limit or because this service lacked the means.
func unsettled(checks []familyCheck) error {
	if slices.ContainsFunc(checks, func(c familyCheck) bool { return c.up() }) {
		return nil
	}
	for i := range checks {
		if !checks[i].requested() {
			return checks[i].chain.Limited()
		}
		if err := checks[i].busy(); err != nil {
			return err
		}
		for _, a := range checks[i].addresses {
			if a.prevented() {
				return a.hop.Err
			}
		}
	}
	return nil
}

// resolve looks the name up, once more where the name servers failed.
func (r *checker) resolve(ctx context.Context) (egress.Resolution, error) {
	resolution, err := r.client.Resolve(ctx, r.url.Host())
	if !fault.IsOwn(err) && (fault.Is(err, fault.Upstream) || fault.Is(err, fault.Timeout)) {
		pause(ctx, r.bounds.pause)
		return r.client.Resolve(ctx, r.url.Host())
	}
	return resolution, err
}

// unresolved is the result for a name that leads nowhere: a site that cannot be found is down. A refusal stays one.
func (r *checker) unresolved(ctx context.Context, err error) (*Result, error) {
	state := uptimeDown
	switch {
	case fault.IsOwn(err):
		return nil, err
	case fault.Is(err, fault.NoAddress):
		state = uptimeNoAddress
	case !fault.Is(err, fault.Upstream) && !fault.Is(err, fault.Timeout):
		return nil, err
	}
	why := reasonOf(err)
	family := familyState{familyFacts{State: state}, []addressState{}}.because(why)
	return r.withHTTP3(ctx, &Result{
		Report: unresolvedReport(webview.Place(r.url), state == uptimeNoAddress, why),
		URL:    r.url.String(), Verdict: verdictDown, Reason: family.Reason,
		Families: families{IPv4: family, IPv6: family}, Notes: []webview.Note{},
	}, nil), nil
}

// checkFamilies checks the families that both the site and this host have, at the same time.
func (r *checker) checkFamilies(ctx context.Context, resolution egress.Resolution) []familyCheck {
	has := r.client.Families()
	var checks []familyCheck
	add := func(family int, addresses []netip.Addr) {
		checks = append(checks, familyCheck{family: family, address: addresses[0], addresses: checksOf(addresses)})
	}
	if has.V4 && len(resolution.V4) > 0 {
		add(4, resolution.V4)
	}
	if has.V6 && len(resolution.V6) > 0 {
		add(6, resolution.V6)
	}
	parallel.Each(len(checks), len(checks), func(i int) { r.check(ctx, &checks[i], resolution) })
	return checks
}

// unchecked describes a family over which this service could not check the site.
func (c *familyCheck) unchecked() familyState {
	return familyState{familyFacts{State: uptimeSkipped, Address: new(c.address.String())}, c.describeAddresses()}.because(
		said{saidShortage, finding.Args{"by": c.name()}})
}

// untried describes a family that was not checked. unanswered means that its lookup failed: name servers that answer
// for one family alone are common, and their site is no worse for it.
func (r *checker) untried(family int, addresses []netip.Addr, unanswered bool) familyState {
	if len(addresses) == 0 {
		why := said{saidNoFamily, finding.Args{"host": r.url.Host().Short(), "by": fmt.Sprintf("IPv%d", family)}}
		if unanswered {
			why.code = saidUnlooked
		}
		return familyState{familyFacts{State: uptimeNoAddress}, []addressState{}}.because(why)
	}
	why := said{fmt.Sprintf("NO_IPV%d_HERE", family), nil}
	address := addresses[0].String()
	return familyState{familyFacts{State: uptimeSkipped, Address: &address}, skipped(addresses, inWords([]said{why}))}.
		because(why)
}

// pause waits, at most to the end of ctx.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
