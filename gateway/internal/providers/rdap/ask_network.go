package rdap

import (
	"context"
	"net/netip"
	"time"

	"diagnostics/gateway/internal/cache"
	"diagnostics/gateway/internal/target"
)

// Network asks the registry about the network that a public address lies in. That nothing is found is no error. Errors
// are those of Domain.
func (c *Client) Network(ctx context.Context, addr netip.Addr) (NetworkAnswer, error) {
	load := func(ctx context.Context) (networkRecord, time.Duration, error) { return c.loadNetwork(ctx, addr) }
	kept, err := c.networks.Get(ctx, addr.String(), networkFits(addr), load)
	if err != nil {
		return NetworkAnswer{}, err
	}
	r := kept.Value
	return NetworkAnswer{
		Found: r.Network != nil, Reason: r.Reason, Network: r.Network, Notices: append([]Notice{}, r.Notices...),
		MoreNotices: r.MoreNotices,
		Source:      sourceOf(registryName(r.Reason, false), r.URL, kept),
	}, nil
}

func (c *Client) loadNetwork(ctx context.Context, addr netip.Addr) (networkRecord, time.Duration, error) {
	var record networkRecord
	var b block
	q := question{kind: kindIP, value: addr.String(), read: func(body []byte) (err error) {
		record, b, err = readNetwork(body, addr)
		return err
	}}
	r, err := c.ask(ctx, q, addressKeys(addr))
	if err != nil {
		return networkRecord{}, 0, err
	}
	if r.reason != "" {
		record = networkRecord{Reason: r.reason}
	}
	record.URL = c.shownURL(r.at)
	if record.Network == nil {
		return record, KeepNotFound, nil
	}
	c.rememberBlock(ctx, q, r, b, addr)
	return record, KeepFound, nil
}

// rememberBlock notes which registry has told of the block; only its own answer says how far the block reaches. What
// was found by memory is not noted again, so that the listed registry or the redirector is heard once in KeepBase.
func (c *Client) rememberBlock(ctx context.Context, q question, r reply, b block, addr netip.Addr) {
	base, ok := baseOf(r.at.url, q)
	p, within := largestWithin(b, addr)
	if ok && within && r.moved && !r.at.own {
		c.keep(ctx, blockKey(p), known{Base: base.String()})
	}
}

const (
	nameRedirector = "RDAP redirector"
	nameRoot       = "DNS root zone"
	nameRegistry   = "Registry RDAP"
	nameRegistrar  = "Registrar RDAP"
)

func registryName(r Reason, undelegated bool) string {
	switch {
	case undelegated:
		return nameRoot
	case r == NoService:
		return nameRedirector
	}
	return nameRegistry
}

func sourceOf[V any](name, url string, e cache.Entry[V]) Source {
	return Source{Name: name, URL: url, FetchedAt: e.FetchedAt.UTC(), Cached: e.Cached}
}

// shownURL is what may be told of where the answer came from: not the operator's own host where a visitor could not
// name it. It is empty where nobody was asked.
func (c *Client) shownURL(at server) string {
	if at == (server{}) {
		return ""
	}
	if at.own {
		if _, err := target.ParseURL(at.url.String()); err != nil {
			return ""
		}
	}
	return at.url.String()
}
