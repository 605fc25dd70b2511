package asn

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/egress/upstream"
	"diagnostics/gateway/internal/fault"
	"diagnostics/shared/progress"

	"github.com/miekg/dns"
)

// originName is the address backwards, by octet or by nibble, below the zone's origin or origin6.
func (c *Client) originName(addr netip.Addr) string {
	if addr.Is4() {
		return backwards(addr) + ".origin." + c.zone
	}
	return backwards(addr) + ".origin6." + c.zone
}

func (c *Client) peerName(addr netip.Addr) string { return backwards(addr) + ".peer." + c.zone }

func (c *Client) systemName(number uint32) string {
	return "as" + strconv.FormatUint(uint64(number), 10) + "." + c.zone
}

// backwards writes an address as its reverse name does (RFC 1035 section 3.5, RFC 3596 section 2.5), without the zone.
func backwards(addr netip.Addr) string {
	name, _ := dns.ReverseAddr(addr.String()) // which fails for what is no address
	return strings.TrimSuffix(strings.TrimSuffix(name, ".in-addr.arpa."), ".ip6.arpa.")
}

// ask gives what read makes of the texts at a name, kept or fetched. Texts are read before they are kept, so that an
// answer that cannot be read is fetched again; so is what another writer has kept and we cannot read.
func ask[V any](ctx context.Context, c *Client, name string, read func([]string) (V, error)) (V, Source, error) {
	var none V
	readable := func(texts []string) bool { _, err := read(texts); return err == nil }
	entry, err := c.answers.Get(ctx, name, readable, func(ctx context.Context) ([]string, time.Duration, error) {
		texts, err := c.fetch(ctx, name)
		if err == nil {
			_, err = read(texts)
		}
		return texts, KeepFor, classify(name, err)
	})
	if err != nil {
		return none, Source{}, err
	}
	value, err := read(entry.Value)
	if err != nil {
		return none, Source{}, classify(name, err)
	}
	return value, Source{Name: c.sourceName(), Zone: c.zone, FetchedAt: entry.FetchedAt, Cached: entry.Cached}, nil
}

// fetch queries past the resolver's cache: what is kept here is dated by when the service said it, and a bad answer
// must not outlive the question.
func (c *Client) fetch(ctx context.Context, name string) ([]string, error) {
	began := time.Now()
	texts, err := c.query(ctx, name)
	outcome := upstream.OutcomeOf(ctx, err)
	if err == nil && texts == nil {
		outcome = upstream.NotFound
	}
	c.egress.Providers().Asked(upstream.ASN, outcome, time.Since(began))
	return texts, err
}

func (c *Client) query(ctx context.Context, name string) ([]string, error) {
	answer := c.egress.DNS().QueryFresh(progress.Ask(ctx, c.sourceName()), name, dns.TypeTXT)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	switch answer.Code {
	case "":
		return textsOf(answer.Records), nil
	case dnsclient.CodeNoData, dnsclient.CodeNotFound:
		return nil, nil
	case dnsclient.CodeBusy:
		return nil, answer.Busy
	}
	if own := c.egress.ResolverFault(ctx, name, "", answer); own != nil {
		return nil, own
	}
	if answer.Code == dnsclient.CodeTimeout {
		return nil, fault.Wrap(fault.Timeout, fmt.Errorf("asn: %s: %s", name, answer.Code),
			"ASN_TIMEOUT", nil)
	}
	return nil, fault.Wrap(fault.Upstream, fmt.Errorf("asn: %s: %s", name, answer.Code),
		"ASN_FAILED", nil)
}

func textsOf(records []dns.RR) []string {
	texts := make([]string, 0, len(records))
	for _, rr := range records {
		if txt, is := rr.(*dns.TXT); is {
			texts = append(texts, dnsclient.JoinTXT(txt.Txt))
		}
	}
	return texts
}

// classify types the failure to read an answer. The others are typed already.
func classify(name string, err error) error {
	if !errors.Is(err, ErrUnreadable) {
		return err
	}
	return fault.Wrap(fault.Upstream, fmt.Errorf("%s: %w", name, err),
		"ASN_UNREADABLE", nil)
}
