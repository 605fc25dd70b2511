package uptime

import (
	"context"
	"net/http"
	"net/netip"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/fault"
)

// maxRedirects is how many redirects a check follows.
const maxRedirects = 5

// familyCheck is what became of one family: the chain of the try that counts.
type familyCheck struct {
	family  int
	address netip.Addr // of the site, over this family
	chain   egress.Chain
	ended   time.Time
}

// check tries the site over one family, and once more where that was not enough: a deployment or a lost packet is no
// outage. lookup is how long the site's own lookup took, which the exchange finds in the cache.
func (r checker) check(ctx context.Context, c *familyCheck, lookup time.Duration) {
	r.try(ctx, c, r.bounds.first)
	c.addLookup(lookup)
	if !c.down() || c.refused() || !c.visited() || c.busy() != nil || ctx.Err() != nil {
		return
	}
	pause(ctx, r.bounds.pause)
	second := familyCheck{family: c.family, address: c.address}
	r.try(ctx, &second, r.bounds.second)
	// A 503 says more about the site than the silence after it, but not more than that it could not be asked again.
	if second.answer() != nil || c.answer() == nil || second.busy() != nil {
		*c = second
	}
}

func (r checker) try(ctx context.Context, c *familyCheck, limit time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	c.chain = r.client.Follow(ctx, egress.Request{URL: r.url, Family: c.family}, maxRedirects)
	if first := c.chain.Hops[0].Response; first != nil {
		c.address = first.Address
	}
	// The family was to be tried on the site itself. Where it redirects to a host without that family, all visitors but
	// those with nothing else go on over the other one.
	if c.leavesFamily() {
		c.chain = r.client.Follow(ctx, egress.Request{URL: r.url}, maxRedirects)
	}
	c.ended = time.Now()
}

// addLookup puts the lookup that was made before the exchange into the exchange's times.
func (c *familyCheck) addLookup(lookup time.Duration) {
	first := c.chain.Hops[0].Response
	if first == nil || first.Timings.DNS >= lookup {
		return
	}
	first.Timings.Total += lookup - first.Timings.DNS
	first.Timings.DNS = lookup
}

// answer is the last HTTP answer of the chain, nil where there was none.
func (c *familyCheck) answer() *egress.Response {
	for i := len(c.chain.Hops) - 1; i >= 0; i-- {
		if r := c.chain.Hops[i].Response; r != nil {
			return r
		}
	}
	return nil
}

// down tells that no HTTP answer under 500 came.
func (c *familyCheck) down() bool {
	last := c.answer()
	return last == nil || last.Status >= http.StatusInternalServerError
}

// refused tells that the site itself, not one that it redirects to, may not be visited: its name's answers have changed
// since they were judged first.
func (c *familyCheck) refused() bool {
	return len(c.chain.Hops) == 1 && fault.Is(c.chain.Hops[0].Err, fault.Refused)
}

// visited tells that the site itself was not left alone because the limit of its address is reached.
func (c *familyCheck) visited() bool { return len(c.chain.Hops) > 1 || c.chain.Limited() == nil }

// busy is why this service could not check the site to the end, nil where it could. What was seen of the site until
// then is no verdict on it.
func (c *familyCheck) busy() error {
	if fault.IsOwn(c.chain.Err) {
		return c.chain.Err
	}
	return nil
}

// up tells that the site has answered to the end.
func (c *familyCheck) up() bool { return c.busy() == nil && !c.down() }

// leavesFamily tells that all went well up to a redirect to a host without an address of the family.
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

// certificateValid is nil where no answer came over TLS, else whether every certificate of the chain is valid.
func (c *familyCheck) certificateValid() *bool {
	var valid *bool
	for _, hop := range c.chain.Hops {
		if hop.Response == nil || hop.Response.TLS == nil {
			continue
		}
		ok := hop.Response.TLS.Verdict.Authorized && (valid == nil || *valid)
		valid = &ok
	}
	return valid
}
