// Package uptime is the tool uptime. It reports whether a site answers, over each family on its own and at up to three
// addresses of it. That it does not is a result, not a failure.
package uptime

import (
	"cmp"
	"context"
	_ "embed" // openapi.yaml
	"fmt"
	"reflect"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/challenge"
	"diagnostics/gateway/internal/tools/internal/endpoints"
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

// limits keep both attempts at an address and the redirects after them well inside the bound of the whole run: together
// they may take as long as first, pause and second.
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
	return r.withHTTP3(ctx, r.conclude(resolution, checks), fastest(counted(checks)).response()), nil
}

// withHTTP3 tries HTTP/3 with the origin of the last answer, where it is to be tried.
func (r *checker) withHTTP3(ctx context.Context, result *Result, last *egress.Response) *Result {
	if r.http3 {
		result.HTTP3 = webview.CheckHTTP3(ctx, r.client, last, &result.Truncated)
		result.Report = result.With(result.HTTP3.Findings...)
	}
	return result
}

// unsettled returns the error of a site on which no verdict is possible: it is up over no family, and a limit or a
// shortage of this service prevented a request.
func unsettled(checks []familyCheck) error {
	prevented := func(state endpoints.State) bool { return state == endpoints.Skipped || state == endpoints.Busy }
	var why error
	for i := range checks {
		state := checks[i].state()
		if state == endpoints.Up {
			return nil
		}
		if prevented(state) {
			why = cmp.Or(why, checks[i].chain.Err)
		}
		for _, a := range checks[i].addresses {
			if prevented(a.State) {
				why = cmp.Or(why, a.Err)
			}
		}
	}
	return why
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
	var checks []familyCheck
	for _, family := range []int{4, 6} {
		if addresses := resolution.Only(family).All(); len(addresses) > 0 {
			checks = append(checks, familyCheck{family: family, address: addresses[0]})
		}
	}
	var notice parallel.Group
	defer notice.Wait()
	checking, cancel := context.WithCancel(ctx)
	defer cancel()
	notice.Go(func() {
		select {
		case <-time.After(r.bounds.notice):
			r.state.due(ctx)
		case <-checking.Done():
		}
	})
	parallel.Each(len(checks), len(checks), func(i int) {
		r.check(checking, &checks[i], resolution.Only(checks[i].family))
	})
	return checks
}

// untried describes a family that was not checked. If its lookup failed, the site is no worse for it: name servers that
// answer for only one family are common.
func (r *checker) untried(family int, resolution egress.Resolution) familyState {
	addresses, unanswered := resolution.V4, resolution.Unanswered.V4
	if family == 6 {
		addresses, unanswered = resolution.V6, resolution.Unanswered.V6
	}
	if len(addresses) == 0 {
		why := said{saidNoFamily, finding.Args{"host": r.url.Host().Short(), "by": fmt.Sprintf("IPv%d", family)}}
		if unanswered {
			why.code = saidUnlooked
		}
		return familyState{familyFacts{State: uptimeNoAddress}, []addressState{}}.because(why)
	}
	why := reasonOf(resolution.NoRoute(addresses[0]))
	state := familyState{familyFacts{State: uptimeSkipped, Address: new(addresses[0].String())}, nil}.because(why)
	for _, a := range addresses[:min(len(addresses), maxAddresses)] {
		state.Addresses = append(state.Addresses,
			addressState{Address: a.String(), State: uptimeSkipped, Reason: state.Reason})
	}
	return state
}

// pause waits, at most to the end of ctx.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
