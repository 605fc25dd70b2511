package rdap

import (
	"context"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"diagnostics/gateway/internal/target"
	"diagnostics/shared/netpolicy"
)

// The path segments of questions (RFC 9082 section 3.1).
const (
	kindDomain = "domain"
	kindIP     = "ip"
)

// known is what is remembered of a top-level domain or a block: the base URL of its registry, or that there is none.
type known struct {
	Base string `json:"base,omitempty"`
	None bool   `json:"none,omitempty"`

	url   target.URL
	heard time.Time // when it was learnt
}

// recall gives the first of the keys that something is remembered for.
func (c *Client) recall(ctx context.Context, keys []string) (known, bool) {
	for _, key := range keys {
		kept, ok := c.bases.Kept(ctx, key, known.usable)
		if !ok {
			continue
		}
		k := kept.Value
		k.heard = kept.FetchedAt
		if !k.None {
			k.url, _ = target.ParseURL(k.Base)
		}
		return k, true
	}
	return known{}, false
}

// usable reports whether what is remembered is something that we could have kept: the store may be shared.
func (k known) usable() bool {
	if k.None {
		return k.Base == ""
	}
	u, err := target.ParseURL(k.Base)
	return err == nil && u.Scheme() == "https"
}

func (c *Client) keep(ctx context.Context, key string, k known) {
	ttl := KeepBase
	if k.None {
		ttl = KeepNotFound
	}
	c.bases.Keep(ctx, key, k, ttl)
}

// domainKeys is the top-level domain. The registries of names below .arpa are those of the blocks that they stand for,
// so nothing is remembered for it.
func domainKeys(name string) []string {
	tld := name[strings.LastIndexByte(name, '.')+1:]
	if tld == "arpa" || tld == name {
		return nil
	}
	return []string{"domain:" + tld}
}

// The lengths of prefixes that a base is remembered for, the shortest last. A block need not be a prefix: what is
// remembered is the largest of these that holds the address and lies within the block.
const (
	gridStep  = 4
	gridEndV4 = 8
	gridEndV6 = 16
	// Networks of a registry are not registered at greater lengths in numbers that matter.
	gridStartV4 = 28
	gridStartV6 = 48
)

// grid gives the prefixes that hold the address, longest first.
func grid(a netip.Addr) []netip.Prefix {
	from, to := gridStartV4, gridEndV4
	if a.Is6() {
		from, to = gridStartV6, gridEndV6
	}
	var out []netip.Prefix
	for bits := from; bits >= to; bits -= gridStep {
		out = append(out, netip.PrefixFrom(a, bits).Masked())
	}
	return out
}

func addressKeys(a netip.Addr) []string {
	var keys []string
	for _, p := range grid(a) {
		keys = append(keys, blockKey(p))
	}
	return keys
}

func blockKey(p netip.Prefix) string { return "ip:" + p.String() }

// largestWithin is the largest prefix of the grid that holds the address and lies within the block.
func largestWithin(b block, a netip.Addr) (netip.Prefix, bool) {
	var found netip.Prefix
	for _, p := range grid(a) {
		if b.holds(p.Addr()) && b.holds(netpolicy.LastOf(p)) {
			found = p
		}
	}
	return found, found.IsValid()
}

// baseOf takes "/domain/example.com" off the end of a URL. It gives none where the URL has another shape: what cannot
// be told is not remembered.
func baseOf(u target.URL, q question) (target.URL, bool) {
	path, _, hasQuery := strings.Cut(u.RequestURI(), "?")
	path = strings.TrimSuffix(path, "/")
	before, last, ok := cutLast(path)
	if hasQuery || !ok || !q.names(last) {
		return target.URL{}, false
	}
	before, kind, ok := cutLast(before)
	if !ok || kind != q.kind {
		return target.URL{}, false
	}
	base, err := target.ParseURL(u.Scheme() + "://" + u.Authority() + before)
	return base, err == nil && base.Scheme() == "https"
}

func cutLast(path string) (before, last string, ok bool) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return "", "", false
	}
	return path[:i], path[i+1:], true
}

// names reports whether a segment of a path, escaped, is the object that was asked for.
func (q question) names(segment string) bool {
	written, err := url.PathUnescape(segment)
	if err != nil {
		return false
	}
	if q.kind == kindIP {
		a, err := netip.ParseAddr(written)
		return err == nil && a.String() == q.value
	}
	return sameName(written, q.value)
}
