// Package asn is the client of an IP to AS number mapping that is asked over DNS, in the format of Team Cymru's
// service: which networks announce an address (RFC 4271), who their neighbours are, and what an AS number is called.
//
// An answer is one or more TXT records of fields between vertical bars, and a name that does not exist is an answer
// too: no network announces the address, or no one has the number. Answers are kept through package cache as the texts
// that they were, so that instances with a shared store share them.
package asn

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"time"

	"diagnostics/gateway/internal/cache"
	"diagnostics/gateway/internal/egress"
)

const (
	// KeepFor is how long an answer is kept, also the answer that there is nothing. Failures are not kept.
	KeepFor = 30 * time.Minute
	// DefaultZone is Team Cymru's.
	DefaultZone = "asn.cymru.com"
)

// ErrUnreadable is the cause of a failure where the service answered, but not in its format.
var ErrUnreadable = errors.New("asn: the answer cannot be read")

// Source is who gave the facts: the zone that was asked.
type Source struct {
	Name      string
	Zone      string
	FetchedAt time.Time // UTC
	Cached    bool
}

// Sources are where the facts of one answer came from, each zone once: how much of an answer the cache happened to have
// does not change their number.
type Sources []Source

// With adds sources. Two of one zone are one, as old as the older, and cached where either is. The receiver is not
// changed.
func (all Sources) With(more ...Source) Sources {
	out := slices.Clone(all)
	for _, s := range more {
		at := slices.IndexFunc(out, func(o Source) bool { return o.Name == s.Name && o.Zone == s.Zone })
		if at < 0 {
			out = append(out, s)
			continue
		}
		out[at].Cached = out[at].Cached || s.Cached
		if s.FetchedAt.Before(out[at].FetchedAt) {
			out[at].FetchedAt = s.FetchedAt
		}
	}
	return out
}

// Record is one announcement: a prefix and one of the networks that originate it. Country, Registry and Allocated are
// those of the prefix; empty is not known.
type Record struct {
	ASN       uint32
	Prefix    netip.Prefix
	Country   string // ISO 3166-1 alpha-2, or EU or AP as the registries use them; upper case
	Registry  string // such as "arin" or "ripencc"; lower case
	Allocated string // YYYY-MM-DD
}

// System is an autonomous system. Country, Registry and Allocated are those of the number; empty is not known.
type System struct {
	ASN       uint32
	Country   string
	Registry  string
	Allocated string
	Name      string // plain text, at most 256 characters
}

// Client asks the service. It is safe for concurrent use.
type Client struct {
	egress  *egress.Client
	zone    string
	answers *cache.Loading[[]string]
	blocks  *cache.Loading[[]Record]
}

// New makes a client of the zone, DefaultZone where empty. The zone is canonical, without a trailing dot.
func New(out *egress.Client, zone string, store cache.Store) *Client {
	if zone == "" {
		zone = DefaultZone
	}
	return &Client{
		egress:  out,
		zone:    zone,
		answers: cache.NewLoading[[]string](store, "asn-texts", KeepFor),
		blocks:  cache.NewLoading[[]Record](store, "asn-blocks", KeepFor),
	}
}

// Origins gives the announcements that cover a public address, longest prefix first, then by AS number; none where no
// network announces it. Errors are ctx.Err() or *fault.Error: Upstream (with ErrUnreadable as a cause), Timeout, or
// Busy where this service lacks the means to ask.
func (c *Client) Origins(ctx context.Context, addr netip.Addr) ([]Record, Source, error) {
	return ask(ctx, c, c.originName(addr), func(texts []string) ([]Record, error) { return readOrigins(texts, addr) })
}

// Peers gives the AS numbers of the neighbours that the origins of an IPv4 address are reached through, in order. The
// service has none for IPv6, so nothing is asked for and ok is false. Errors are those of Origins.
func (c *Client) Peers(ctx context.Context, addr netip.Addr) (peers []uint32, source Source, ok bool, err error) {
	if !addr.Is4() {
		return nil, Source{}, false, nil
	}
	peers, source, err = ask(ctx, c, c.peerName(addr), func(texts []string) ([]uint32, error) {
		return readPeers(texts, addr)
	})
	return peers, source, err == nil, err
}

// System gives what is known of an AS number, nil where the service does not know it. Errors are those of Origins.
func (c *Client) System(ctx context.Context, number uint32) (*System, Source, error) {
	return ask(ctx, c, c.systemName(number), func(texts []string) (*System, error) { return readSystem(texts, number) })
}

// sourceName names who runs the zone.
func (c *Client) sourceName() string {
	if c.zone == DefaultZone {
		return "Team Cymru"
	}
	return "ASN service"
}
