package whois

import (
	"context"
	"errors"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/providers/registry"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/tool/finding"
)

// referral is IANA's word on a top-level domain: its WHOIS server, or else why none is known.
type referral struct {
	Server string `json:"server,omitempty"`
	Why    string `json:"why,omitempty"`
}

// fits reports whether what was kept is something that we could have kept: the store may be shared.
func (r referral) fits() bool {
	if r.Server == "" {
		return r.Why != "" && text.Show(r.Why, MaxText) == r.Why
	}
	server, ok := readServer(r.Server)
	return ok && server == r.Server && r.Why == ""
}

// referralOf gives the WHOIS server of a top-level domain. That IANA's server fails is a reason why none is known, and
// no error: whether this registry has one was never known, and nothing else depends on it. Errors are those of a ctx
// that has ended, or *fault.Error of this service's own and of a pause (Busy).
func (c *Client) referralOf(ctx context.Context, tld string) (referral, error) {
	kept, err := c.referrals.Get(ctx, tld, referral.fits, func(ctx context.Context) (referral, time.Duration, error) {
		answer, err := c.ask(ctx, c.root, tld, c.timeout/2)
		var failed *fault.Error
		switch {
		case err == nil:
			return c.readReferral(ctx, answer, tld)
		case errors.As(err, &failed) && !fault.IsOwn(err):
			why := failed.Args.With(finding.Args{"failure": failed.Code, "tld": tld})
			return referral{Why: fault.Rows.Sentence("WHOIS_SERVER_UNKNOWN", why)}, registry.KeepOther, nil
		}
		return referral{}, 0, err
	})
	return kept.Value, err
}

// readReferral reads IANA's answer about a top-level domain, and says how long it may be kept.
func (c *Client) readReferral(ctx context.Context, answer, tld string) (referral, time.Duration, error) {
	listed, of := false, finding.Args{"tld": tld}
	for _, e := range split(answer, flat) {
		switch e.key {
		case "whois", "refer":
			if server, ok := readServer(e.value); ok {
				return referral{Server: server}, KeepReferral, nil
			}
		case "domain":
			listed = listed || sameName(e.value, tld)
		}
	}
	if listed || says(answer, noSuchObject) {
		return referral{Why: fault.Rows.Sentence("WHOIS_SERVER_NOT_LISTED", of)}, KeepReferral, nil
	}
	if wait, refused := tooMany(answer); refused {
		return referral{}, 0, c.gate.Pause(ctx, provider(c.root), wait)
	}
	return referral{Why: fault.Rows.Sentence("WHOIS_SERVER_NOT_NAMED", of)}, registry.KeepOther, nil
}

// readServer takes a public name: an address literal is no WHOIS server.
func readServer(s string) (string, bool) {
	host, err := target.ParseHost(s)
	if err != nil || host.IsAddr() {
		return "", false
	}
	return host.Name(), true
}
