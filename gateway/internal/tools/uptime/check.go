package uptime

import (
	"context"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/endpoints"
	"diagnostics/gateway/internal/tools/internal/webview"
	"diagnostics/shared/parallel"
	"diagnostics/shared/progress"
)

const (
	// maxRedirects is how many redirects a check follows.
	maxRedirects = 5
	// maxAddresses is how many addresses of each family are checked.
	maxAddresses = 3
)

// address is the response of one address of the site to the URL, before any redirect.
type address = endpoints.Result[egress.Hop]

// familyCheck is the check of the site over one family: its addresses, and the redirects from one of them.
type familyCheck struct {
	family    int
	addresses []address
	address   netip.Addr // where the chain begins
	chain     egress.Chain
	ended     time.Time // of the chain
}

// check requests the URL at the first addresses of one family, each a second time if it fails: a deployment or a lost
// packet is no outage. It then follows the redirects from the first address that answered, while slower ones are still
// awaited.
func (r *checker) check(ctx context.Context, c *familyCheck, resolution egress.Resolution) {
	limited, cancel := context.WithTimeout(ctx, r.bounds.first+r.bounds.pause+r.bounds.second)
	defer cancel()
	run := endpoints.Run(limited, resolution, endpoints.Policy{
		Max: maxAddresses, First: r.bounds.first, Retry: r.bounds.second, Pause: r.bounds.pause,
		Beside: r.bounds.beside, Grace: r.bounds.beside,
	}, func(ctx context.Context, at netip.Addr) address {
		return r.request(ctx, egress.Request{URL: r.url, Address: at})
	}, func(run *endpoints.Checks[egress.Hop], i int) {
		if a := run.Results[i]; len(run.Results) > 1 && a.State != endpoints.Refused && ctx.Err() == nil {
			progress.Report(ctx, "address", a.Address.String(), describeAddress(a))
		}
	})
	defer run.Stop()
	c.addresses = run.Results
	from := first(c.addresses)
	if from.State != endpoints.Up && len(resolution.V4)+len(resolution.V6) > maxAddresses {
		from = r.request(limited, egress.Request{URL: r.url, Family: c.family}) // at any address, as browsers do
	}
	r.follow(limited, c, from, resolution)
	if run.Running > 0 {
		c.report(ctx)
		run.Wait()
	}
	c.report(ctx)
}

// request makes one request, without following redirects.
func (r *checker) request(ctx context.Context, request egress.Request) address {
	response, err := r.client.Do(ctx, request)
	if response != nil {
		request.Address = response.Address
		r.state.answered(ctx, response)
	}
	return judge(request.Address, egress.Hop{URL: r.url, Response: response, Err: err})
}

// judge returns the result of a request to an address. It is down if the status is 500 or more. A response beyond the
// bounds of this service is not the site's fault.
func judge(at netip.Addr, hop egress.Hop) address {
	a := address{Address: at, State: endpoints.StateOf(hop.Err), Value: hop, Err: hop.Err}
	switch {
	case hop.Response != nil && hop.Response.Status >= http.StatusInternalServerError:
		a.State = endpoints.Down
	case fault.BeyondBound(hop.Err):
		a.State = endpoints.Up
	}
	return a
}

// first returns the first address that answered. Without one it returns the address whose failure says most: an error
// status, then one that was not tried and might have answered, then any failure before silence.
func first(addresses []address) address {
	rank := func(a address) int {
		switch {
		case a.State == endpoints.Up:
			return 0
		case a.State == endpoints.Down && a.Err == nil:
			return 1
		case a.State != endpoints.Down:
			return 2
		case !fault.Is(a.Err, fault.Timeout):
			return 3
		}
		return 4
	}
	return slices.MinFunc(addresses, func(a, b address) int { return rank(a) - rank(b) })
}

// follow follows the redirects from an address's response, a second time if they lead to a server error. The lookup
// that preceded the check is added to the response's times.
func (r *checker) follow(ctx context.Context, c *familyCheck, from address, lookup egress.Resolution) {
	if response := from.Value.Response; response != nil && response.Timings.DNS < lookup.Duration {
		response.Timings.Total += lookup.Duration - response.Timings.DNS
		response.Timings.DNS = lookup.Duration
		response.Timings.Delay += lookup.Delay
	}
	if from.Address.IsValid() {
		c.address = from.Address
	}
	for attempt := 1; ; attempt++ {
		ctx := progress.Know(ctx, progress.Known{Attempt: attempt})
		request := egress.Request{URL: r.url, Family: c.family}
		c.chain = r.client.FollowFrom(ctx, request, from.Value, maxRedirects)
		if end := c.chain.Hops[len(c.chain.Hops)-1]; c.state() == endpoints.Up && fault.Is(end.Err, fault.NoAddress) {
			// The site redirects to a host without an address of the family, where visitors use the other one.
			request.Family = 0
			c.chain = r.client.FollowFrom(ctx, request, from.Value, maxRedirects)
		}
		if attempt == 2 || len(c.chain.Hops) == 1 || c.state() != endpoints.Down {
			c.ended = time.Now()
			return
		}
		pause(ctx, r.bounds.pause)
	}
}

// state returns the state of the family: it is up if the last HTTP response has a status under 500 or was beyond the
// bounds of this service, and busy if this service could not make a request of the chain.
func (c *familyCheck) state() endpoints.State {
	last := c.response()
	switch state := endpoints.StateOf(c.chain.Err); {
	case state == endpoints.Busy, last == nil && state != endpoints.Down:
		return state
	case last != nil && last.Status < http.StatusInternalServerError, last == nil && fault.BeyondBound(c.chain.Err):
		return endpoints.Up
	}
	return endpoints.Down
}

// response returns the last HTTP response of the chain, or nil.
func (c *familyCheck) response() *egress.Response {
	for _, hop := range slices.Backward(c.chain.Hops) {
		if hop.Response != nil {
			return hop.Response
		}
	}
	return nil
}

// refusal returns the address policy's refusal of the site, or nil: its name's addresses have changed since they were
// judged first.
func (c *familyCheck) refusal() error {
	for _, a := range c.addresses {
		if a.State == endpoints.Refused {
			return a.Err
		}
	}
	if c.state() == endpoints.Refused {
		return c.chain.Err
	}
	return nil
}

// familyStep is a family while the check goes on. Its addresses are steps of their own.
type familyStep struct {
	Family int `json:"family" wire:"enum=4|6"`
	familyFacts
}

// report reports the current state of the family.
func (c *familyCheck) report(ctx context.Context) {
	if c.refusal() == nil && ctx.Err() == nil {
		progress.Report(ctx, "family", strconv.Itoa(c.family), familyStep{c.family, c.describe().familyFacts})
	}
}

func (c *familyCheck) responseTime() time.Duration {
	var sum time.Duration
	for _, hop := range c.chain.Hops {
		if hop.Response != nil {
			sum += hop.Response.Timings.Total
		}
	}
	return sum
}

// certificateValid returns nil if no response came over TLS or a certificate could not be verified, else whether every
// certificate of the chain is valid.
func (c *familyCheck) certificateValid() *bool {
	var valid, unverified bool
	for _, hop := range c.chain.Hops {
		if webview.CertificateRefused(hop.Response) {
			return new(false)
		}
		valid = valid || hop.Response != nil && hop.Response.TLS != nil
		unverified = unverified || webview.CheckCertificate(hop.Response) != nil
	}
	if !valid || unverified {
		return nil
	}
	return &valid
}

// helloTooLong reports whether a server of the chain, or one of the addresses, answers only short ClientHellos.
func (c *familyCheck) helloTooLong() bool {
	return len(webview.ShortHelloHosts(c.chain)) > 0 || slices.ContainsFunc(c.addresses, func(a address) bool {
		return a.Value.Response != nil && a.Value.Response.HelloTooLong
	})
}

// chainOf returns an address's response as a chain that was not followed.
func chainOf(hop egress.Hop) egress.Chain {
	chain := egress.Chain{Hops: []egress.Hop{hop}, End: egress.EndFinal}
	if hop.Err != nil {
		chain.End, chain.Err = egress.EndUnreachable, hop.Err
	}
	return chain
}

// addressTrouble returns what is wrong with one address.
func addressTrouble(a address) trouble {
	if a.State != endpoints.Up && a.State != endpoints.Down {
		return trouble{}
	}
	return troubleOf(chainOf(a.Value))
}

func describeAddress(a address) addressState {
	state := addressState{Address: a.Address.String(), State: uptimeSkipped}
	switch a.State {
	case endpoints.Up, endpoints.Down:
		state.State, state.Reason = uptimeDown, inWords(addressTrouble(a).said())
		if a.State == endpoints.Up {
			state.State = uptimeUp
		}
	case endpoints.Busy:
		state.Reason = inWords([]said{{"SHORTAGE_HERE", nil}})
	case endpoints.Skipped:
		state.Reason = inWords([]said{reasonOf(a.Err)})
	}
	if a.Value.Response != nil {
		state.Status = new(a.Value.Response.Status)
	}
	return state
}

// differ reports whether an address of a family that is up does not say the same as the one where the chain begins.
func (c *familyCheck) differ() bool {
	if c.state() == endpoints.Down {
		return false
	}
	begins := troubleOf(chainOf(c.chain.Hops[0]))
	return slices.ContainsFunc(c.addresses, func(a address) bool {
		return (a.State == endpoints.Up || a.State == endpoints.Down) && addressTrouble(a) != begins
	})
}

// familyTrouble returns what is wrong with a family but not with single addresses, whose own sentences say more.
func (c *familyCheck) familyTrouble() trouble {
	t := c.trouble()
	if c.differ() && slices.ContainsFunc(c.addresses, func(a address) bool { return addressTrouble(a) == t }) {
		return trouble{}
	}
	return t
}

// addressReasons returns what is wrong with single addresses of the families, those with the same trouble in one
// sentence.
func addressReasons(checks ...familyCheck) []said {
	var troubles []trouble
	at := make(map[trouble][]string)
	for i := range checks {
		if !checks[i].differ() {
			continue
		}
		for _, a := range checks[i].addresses {
			t := addressTrouble(a)
			if t == (trouble{}) {
				continue
			}
			if at[t] == nil {
				troubles = append(troubles, t)
			}
			at[t] = append(at[t], a.Address.String())
		}
	}
	var all []said
	for _, t := range troubles {
		all = append(all, t.saidOf(atAddresses, finding.Args{"addresses": at[t]})...)
	}
	return all
}

// soFar is the conclusion before the end of a run that takes long. All families share one.
type soFar struct {
	host string

	mu       sync.Mutex
	late     bool
	status   string // of the first response, or empty
	reported string // the code of the last conclusion
}

// due reports what is known, and what becomes known from now on.
func (s *soFar) due(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.late = true
	s.report(ctx)
}

// answered notes a response of the site itself.
func (s *soFar) answered(ctx context.Context, r *egress.Response) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status == "" {
		s.status = webview.Answered(r.Status, r.StatusText)
	}
	if s.late {
		s.report(ctx)
	}
}

// report sends the conclusion from a goroutine that ends at once: the caller has to wait, and a stack that has grown
// hardly shrinks.
func (s *soFar) report(ctx context.Context) {
	if progress.Of(ctx) == nil {
		return
	}
	code, args := codeSilent, finding.Args{"host": s.host}
	if s.status != "" {
		code, args["answer"] = codeAnswers, s.status
	}
	if code == s.reported {
		return
	}
	s.reported = code
	parallel.Apart(func() { progress.Report(ctx, "conclusion", "", rows.Conclude(code, args)) })
}
