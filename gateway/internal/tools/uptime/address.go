package uptime

import (
	"context"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/tools/internal/format"
	"diagnostics/gateway/internal/tools/internal/webview"
	"diagnostics/shared/progress"
)

// maxAddresses is how many addresses of each family are looked at.
const maxAddresses = 3

// addressCheck is what one address of the site says: its own answer to the URL, before any redirect. asked is false
// where it has not been heard of yet.
type addressCheck struct {
	address netip.Addr
	hop     egress.Hop
	asked   bool
}

func checksOf(addresses []netip.Addr) []addressCheck {
	checks := make([]addressCheck, min(len(addresses), maxAddresses))
	for i := range checks {
		checks[i].address = addresses[i]
	}
	return checks
}

// ask makes one request to the address.
func (r checker) ask(ctx context.Context, a *addressCheck, limit time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	answer, err := r.client.Do(ctx, egress.Request{URL: r.url, Address: a.address})
	a.see(egress.Hop{URL: r.url, Response: answer, Err: err})
	a.report(ctx)
}

// report tells the address as it is known now.
func (a *addressCheck) report(ctx context.Context) {
	if !a.refused() {
		progress.Report(ctx, "address", a.address.String(), a.describe())
	}
}

// see takes in what the address has just said. An error status says more of it than the silence after it, but not more
// than that it could not be asked again.
func (a *addressCheck) see(hop egress.Hop) {
	seen := addressCheck{hop: hop, asked: true}
	if !a.asked || hop.Response != nil || a.hop.Response == nil && !seen.prevented() {
		a.hop, a.asked = hop, true
	}
}

// up reports whether the address gave an answer of its own that is no server error. A redirect is one.
func (a *addressCheck) up() bool {
	return a.hop.Response != nil && a.hop.Response.Status < http.StatusInternalServerError
}

// prevented reports whether a limit or a shortage of this host kept the address from being asked.
func (a *addressCheck) prevented() bool {
	return fault.Is(a.hop.Err, fault.Limited) || fault.IsOwn(a.hop.Err)
}

// known reports whether anything is known of the address.
func (a *addressCheck) known() bool { return a.asked && !a.prevented() }

// final reports whether another request would say no more.
func (a *addressCheck) final() bool { return a.asked && (a.up() || a.prevented()) }

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
	case !a.asked:
		state.State = uptimeSkipped
	case fault.IsOwn(a.hop.Err):
		state.State, state.Reason = uptimeSkipped, new("This service "+fault.ShortagePhrase+".")
	case a.prevented():
		state.State, state.Reason = uptimeSkipped, new(webview.FaultSentence(a.hop.Err))
	default:
		state.Reason = format.TextOrNull(a.trouble().reason())
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
func skipped(addresses []netip.Addr, reason string) []addressState {
	states := make([]addressState, 0, maxAddresses)
	for _, a := range addresses[:min(len(addresses), maxAddresses)] {
		states = append(states, addressState{Address: a.String(), State: uptimeSkipped, Reason: &reason})
	}
	return states
}

// differ reports whether not all addresses of a family that answers say what the one does that its chain met.
func (c *familyCheck) differ() bool {
	if c.down() {
		return false
	}
	met := addressCheck{hop: c.first, asked: true}
	return slices.ContainsFunc(c.addresses, func(a addressCheck) bool { return a.known() && a.trouble() != met.trouble() })
}

// familyTrouble is what is wrong with a family and not with single addresses of it, whose own words tell more.
func (c *familyCheck) familyTrouble() trouble {
	t := c.trouble()
	if c.differ() && slices.ContainsFunc(c.addresses, func(a addressCheck) bool { return a.trouble() == t }) {
		return trouble{}
	}
	return t
}

// addressReasons says what is wrong with single addresses of the families, those with the same trouble in one sentence.
func addressReasons(checks ...familyCheck) string {
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
	sentences := make([]string, 0, len(troubles))
	for _, t := range troubles {
		sentences = append(sentences, "At "+text.Listed(at[t])+": "+t.reason())
	}
	return strings.Join(sentences, " ")
}
