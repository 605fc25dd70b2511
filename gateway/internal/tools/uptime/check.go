package uptime

import (
	"context"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/webview"
	"diagnostics/shared/progress"
)

// maxRedirects is how many redirects a check follows.
const maxRedirects = 5

// familyCheck is what became of one family: the chain of the try that counts, and each address by itself.
type familyCheck struct {
	family    int
	address   netip.Addr // of the site, over this family
	chain     egress.Chain
	first     egress.Hop // of the chain over this family, before any other was taken
	ended     time.Time
	addresses []addressCheck // the first few, in the resolver's order
}

// report reports the current state of the family. The second try may change it.
func (c *familyCheck) report(ctx context.Context) {
	if c.refused() || ctx.Err() != nil {
		return
	}
	progress.Report(ctx, "family", strconv.Itoa(c.family), familyStep{c.family, c.describe().familyFacts})
}

// reportMet reports the first of several addresses, where the chain met it: the others are requested on their own.
func (c *familyCheck) reportMet(ctx context.Context) {
	if len(c.addresses) < 2 || c.first.Response == nil || c.first.Response.Address != c.addresses[0].address {
		return
	}
	met := addressCheck{address: c.first.Response.Address, hop: c.first, tried: true}
	met.report(ctx)
}

// familyStep is a family while the check goes on. Its addresses are steps of their own.
type familyStep struct {
	Family int `json:"family" wire:"enum=4|6"`
	familyFacts
}

// chainNeedsMore reports whether the chain that has ended came to no answer and may do so at another try.
func (c *familyCheck) chainNeedsMore() bool {
	return c.down() && (c.requested() && c.busy() == nil || c.answering().IsValid())
}

// answering is an address that answers where the one that the chain met does not, else the zero address.
func (c *familyCheck) answering() netip.Addr {
	if c.firstUp() {
		return netip.Addr{}
	}
	if i := slices.IndexFunc(c.addresses, func(a addressCheck) bool { return a.up() }); i >= 0 {
		return c.addresses[i].address
	}
	return netip.Addr{}
}

// firstUp reports whether the site itself answered the chain, whatever its redirects led to.
func (c *familyCheck) firstUp() bool { return up(c.first) }

// up reports whether the answer to a request is no server error. A redirect is none, nor is an answer beyond the bounds
// of this service.
func up(hop egress.Hop) bool {
	if hop.Response == nil {
		return fault.BeyondBound(hop.Err)
	}
	return hop.Response.Status < http.StatusInternalServerError
}

// observe records for the address that the chain met what the chain has seen of it.
func (c *familyCheck) observe() {
	if len(c.addresses) == 1 {
		c.addresses[0].see(c.first)
		return
	}
	for i := range c.addresses {
		a := &c.addresses[i]
		if c.first.Response != nil && c.first.Response.Address == a.address && !a.up() {
			a.see(c.first)
		}
	}
}

// lead has the answer of an address speak for the family where its chain met none.
func (c *familyCheck) lead() {
	address := c.answering()
	for i := range c.addresses {
		if a := &c.addresses[i]; a.address == address {
			c.chain, c.first, c.address, c.ended = a.chain(), a.hop, a.address, time.Now()
		}
	}
}

// try follows the site's redirects, from one address where it is valid. met is called with the first hop.
func (r *checker) try(ctx context.Context, c *familyCheck, from netip.Addr, met func(egress.Hop)) {
	seen := func(hop egress.Hop) {
		if met != nil {
			met(hop)
		}
		met = nil
	}
	c.chain = r.client.Follow(ctx, egress.Request{URL: r.url, Family: c.family, Address: from, Seen: seen}, maxRedirects)
	c.first = c.chain.Hops[0]
	if first := c.first.Response; first != nil {
		c.address = first.Address
	}
	// The family was to be tried on the site itself. Where it redirects to a host without that family, all visitors but
	// those with nothing else go on over the other one.
	if c.leavesFamily() {
		c.chain = r.client.Follow(ctx, egress.Request{URL: r.url}, maxRedirects)
	}
	c.ended = time.Now()
}

// addLookup puts the lookup that was made before the round trip into its times.
func (c *familyCheck) addLookup(lookup egress.Resolution) {
	first := c.chain.Hops[0].Response
	if first == nil || first.Timings.DNS >= lookup.Duration {
		return
	}
	first.Timings.Total += lookup.Duration - first.Timings.DNS
	first.Timings.DNS = lookup.Duration
	first.Timings.Delay += lookup.Delay
}

// answer is the last HTTP answer of the chain, nil where there was none.
func (c *familyCheck) answer() *egress.Response {
	for _, hop := range slices.Backward(c.chain.Hops) {
		if hop.Response != nil {
			return hop.Response
		}
	}
	return nil
}

// down reports whether no HTTP answer under 500 came. An answer beyond the bounds of this service is none of these.
func (c *familyCheck) down() bool {
	if last := c.answer(); last != nil {
		return last.Status >= http.StatusInternalServerError
	}
	return !fault.BeyondBound(c.first.Err)
}

// refused reports whether the site itself, not one that it redirects to, may not be visited: its name's answers have
// changed since they were judged first.
func (c *familyCheck) refused() bool { return c.refusal() != nil }

func (c *familyCheck) refusal() error {
	if len(c.chain.Hops) == 1 && fault.Is(c.chain.Hops[0].Err, fault.Refused) {
		return c.chain.Hops[0].Err
	}
	for i := range c.addresses {
		if c.addresses[i].refused() {
			return c.addresses[i].hop.Err
		}
	}
	return nil
}

// requested reports whether the site itself got a request: it did not where the limit of its address is reached.
func (c *familyCheck) requested() bool { return len(c.chain.Hops) > 1 || c.chain.Limited() == nil }

// busy is why this service could not check the site to the end, nil where it could. What was seen of the site until
// then is no verdict on it.
func (c *familyCheck) busy() error {
	if fault.IsOwn(c.chain.Err) {
		return c.chain.Err
	}
	return nil
}

// up reports whether the site has answered to the end.
func (c *familyCheck) up() bool { return c.busy() == nil && !c.down() }

// leavesFamily reports whether all went well up to a redirect to a host without an address of the family.
func (c *familyCheck) leavesFamily() bool {
	last := c.chain.Hops[len(c.chain.Hops)-1]
	return !c.down() && fault.Is(last.Err, fault.NoAddress)
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

// certificateValid is nil where no answer came over TLS or a certificate could not be verified, else whether every
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

// helloTooLong reports whether a server of the chain, or one of the addresses, answers short ClientHellos alone.
func (c *familyCheck) helloTooLong() bool {
	return len(webview.ShortHelloHosts(c.chain)) > 0 || slices.ContainsFunc(c.addresses, func(a addressCheck) bool {
		return a.hop.Response != nil && a.hop.Response.HelloTooLong
	})
}

// maxAddresses is how many addresses of each family are looked at.
const maxAddresses = 3

// addressCheck is what one address of the site answers: its own answer to the URL, before any redirect. tried is false
// where there is no outcome yet.
type addressCheck struct {
	address netip.Addr
	hop     egress.Hop
	tried   bool
}

func checksOf(addresses []netip.Addr) []addressCheck {
	checks := make([]addressCheck, min(len(addresses), maxAddresses))
	for i := range checks {
		checks[i].address = addresses[i]
	}
	return checks
}

// report reports the current state of the address.
func (a *addressCheck) report(ctx context.Context) {
	if !a.refused() {
		progress.Report(ctx, "address", a.address.String(), a.describe())
	}
}

// see takes in what the address has just said. An error status says more of it than the silence after it, but not more
// than that it could not be requested again.
func (a *addressCheck) see(hop egress.Hop) {
	seen := addressCheck{hop: hop, tried: true}
	if !a.tried || hop.Response != nil || a.hop.Response == nil && !seen.prevented() {
		a.hop, a.tried = hop, true
	}
}

// up reports whether the address answered, and not with a server error.
func (a *addressCheck) up() bool { return up(a.hop) }

// prevented reports whether a limit or a shortage of this host prevented the request.
func (a *addressCheck) prevented() bool {
	return fault.Is(a.hop.Err, fault.Limited) || fault.IsOwn(a.hop.Err)
}

// known reports whether anything is known of the address.
func (a *addressCheck) known() bool { return a.tried && !a.prevented() }

// final reports whether another request would say no more.
func (a *addressCheck) final() bool { return a.tried && (a.up() || a.prevented()) }

func (a *addressCheck) refused() bool { return fault.Is(a.hop.Err, fault.Refused) }

// chain is the address's answer as a chain that was not followed.
func (a *addressCheck) chain() egress.Chain {
	chain := egress.Chain{Hops: []egress.Hop{a.hop}, End: egress.EndFinal}
	if a.hop.Err != nil {
		chain.End, chain.Err = egress.EndUnreachable, a.hop.Err
	}
	return chain
}

// trouble is what is wrong with the address by itself.
func (a *addressCheck) trouble() trouble {
	if !a.known() {
		return trouble{}
	}
	return troubleOf(a.chain())
}

func (a *addressCheck) describe() addressState {
	state := addressState{Address: a.address.String(), State: uptimeDown}
	switch {
	case !a.tried:
		state.State = uptimeSkipped
	case fault.IsOwn(a.hop.Err):
		state.State, state.Reason = uptimeSkipped, inWords([]said{{"SHORTAGE_HERE", nil}})
	case a.prevented():
		state.State, state.Reason = uptimeSkipped, inWords([]said{reasonOf(a.hop.Err)})
	default:
		state.Reason = inWords(a.trouble().said())
	}
	if a.hop.Response != nil {
		state.Status = new(a.hop.Response.Status)
	}
	if a.up() {
		state.State = uptimeUp
	}
	return state
}

// skipped are addresses of a family that this host lacks.
func skipped(addresses []netip.Addr, reason *string) []addressState {
	states := make([]addressState, 0, maxAddresses)
	for _, a := range addresses[:min(len(addresses), maxAddresses)] {
		states = append(states, addressState{Address: a.String(), State: uptimeSkipped, Reason: reason})
	}
	return states
}

// differ reports whether not all addresses of a family that answers say what the one does that its chain met.
func (c *familyCheck) differ() bool {
	if c.down() {
		return false
	}
	met := addressCheck{hop: c.first, tried: true}
	return slices.ContainsFunc(c.addresses, func(a addressCheck) bool { return a.known() && a.trouble() != met.trouble() })
}

// familyTrouble is what is wrong with a family and not with single addresses of it, whose own sentences say more.
func (c *familyCheck) familyTrouble() trouble {
	t := c.trouble()
	if c.differ() && slices.ContainsFunc(c.addresses, func(a addressCheck) bool { return a.trouble() == t }) {
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
			t := a.trouble()
			if t == (trouble{}) {
				continue
			}
			if at[t] == nil {
				troubles = append(troubles, t)
			}
			at[t] = append(at[t], a.address.String())
		}
	}
	var all []said
	for _, t := range troubles {
		all = append(all, t.saidOf(atAddresses, finding.Args{"addresses": at[t]})...)
	}
	return all
}
