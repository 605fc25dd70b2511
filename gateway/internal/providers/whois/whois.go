// Package whois is the client of the WHOIS protocol (RFC 3912): a line to port 43 of a registry's server, and text
// back. It is for top-level domains whose registries offer no RDAP. IANA's own server says which server a registry has.
//
// The text has no format that all registries share, and most of it is about people. So nothing is read but what a table
// (formats.go) names for a registry: whether the name is registered, its registrar, dates, status and name servers. All
// other lines, those with names, addresses, e-mail and telephone numbers among them, are dropped where they are split
// (lines.go), before anything is kept. A text in another form is Unread.
package whois

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"diagnostics/gateway/internal/cache"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/limits/pace"
	"diagnostics/gateway/internal/providers/registry"
	"diagnostics/gateway/internal/target"
)

// The bounds promised in docs/contract.md#times-and-sizes.
const (
	// Timeout bounds what the servers of one lookup take together, IANA's and the registry's; half of it is the most for
	// IANA's. The wait for a turn is not theirs.
	Timeout = 8 * time.Second
	// MaxText is how much of an answer is read.
	MaxText = 64 << 10
	// KeepReferral is how long it is kept which server a top-level domain has, or that it has none. That IANA's server
	// failed to say so is kept for registry.KeepOther.
	KeepReferral = 24 * time.Hour
)

const (
	port = 43
	// root is IANA's server, which lists those of all top-level domains.
	root = "whois.iana.org"
)

// Config is what a Client needs. Egress and Cache are required.
type Config struct {
	Egress *egress.Client
	// Cache keeps answers, referrals and pauses.
	Cache cache.Store
	// Pace limits how often each server is queried; nil does not limit.
	Pace *pace.Limiter
	// Timeout is the constant of that name where zero.
	Timeout time.Duration
}

// Client queries WHOIS servers. It is safe for concurrent use.
type Client struct {
	egress  *egress.Client
	gate    *registry.Gate
	timeout time.Duration
	root    target.Host

	answers   *cache.Loading[record]
	referrals *cache.Loading[referral]
}

// New makes a client. An error means a missing part.
func New(c Config) (*Client, error) {
	if c.Egress == nil || c.Cache == nil {
		return nil, errors.New("whois: Config.Egress and Config.Cache are required")
	}
	iana, err := target.ParseHost(root)
	if err != nil {
		return nil, err
	}
	return &Client{
		egress: c.Egress, timeout: cmp.Or(c.Timeout, Timeout), root: iana,
		gate:      registry.NewGate("whois", c.Cache, c.Pace, c.Egress.Providers(), time.Now),
		answers:   cache.NewLoading[record](c.Cache, "whois-domain", registry.KeepFound),
		referrals: cache.NewLoading[referral](c.Cache, "whois-server", KeepReferral),
	}, nil
}

// Lookup queries the registry's WHOIS server for a registrable domain name (A-labels, lower case). That there is no
// such server, and that what it says cannot be read, are answers (Unread). Errors are ctx.Err() or *fault.Error:
// Upstream, Timeout, or Busy with RetryAfter (the server is to be left alone for a time, or this service lacks the
// means to query it).
func (c *Client) Lookup(ctx context.Context, name string) (Answer, error) {
	load := func(ctx context.Context) (record, time.Duration, error) {
		r, err := c.lookUp(ctx, name)
		return r, registry.Keep(r.Outcome == Found), err
	}
	kept, err := c.answers.Get(ctx, name, record.fits, load)
	if err != nil {
		return Answer{}, err
	}
	r := kept.Value
	return Answer{
		Outcome: r.Outcome, Domain: r.Domain, Why: r.Why, Line: r.Line, Server: r.Server,
		FetchedAt: kept.FetchedAt.UTC(), Cached: kept.Cached,
	}, nil
}

func (c *Client) lookUp(ctx context.Context, name string) (record, error) {
	tld := name[strings.LastIndexByte(name, '.')+1:]
	began := time.Now()
	at, err := c.referralOf(ctx, tld)
	if err != nil {
		return record{}, err
	}
	if at.Server == "" {
		return record{Outcome: Unread, Why: at.Why, Server: root}, nil
	}
	left := max(c.timeout-time.Since(began), c.timeout/2)
	server, err := target.ParseHost(at.Server)
	if err != nil {
		return record{}, err
	}
	f := formatOf(tld)
	text, err := c.ask(ctx, server, f.question(name), left)
	if err != nil {
		return record{}, err
	}
	s := f.read(text, name)
	if s.outcome != Unread {
		return record{Outcome: s.outcome, Domain: s.domain, Line: s.line, Server: at.Server}, nil
	}
	if wait, refused := tooMany(text); refused && !s.object {
		return record{}, c.gate.Pause(ctx, provider(server), wait)
	}
	return record{Outcome: Unread, Why: fault.Rows.Sentence(complaint(text), called(server)), Server: at.Server}, nil
}
