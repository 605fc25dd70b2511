// Package clientip identifies clients. The peer's address is a fact; a forwarded header may hold anything, and is
// trusted only where the operator configured it.
//
// Trust is granted by PUBLIC_DOMAIN, TRUST_PROXY_HEADERS, TRUSTED_PROXY_PLATFORM or a platform's runtime flag, and
// narrowed (never granted) by TRUSTED_PROXY_CIDRS. Once it is granted, headers.go decides which header is read, and
// how.
package clientip

import (
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"diagnostics/gateway/internal/limits/holder"
	"diagnostics/gateway/internal/tool"
	"diagnostics/shared/netpolicy"
)

// Trust is whose forwarded headers are trusted.
type Trust struct {
	// Headers is true where any of the grants holds.
	Headers bool
	// Peers narrows the trust to peers in these ranges; empty means any peer. It grants nothing by itself.
	Peers []netip.Prefix
	// Header is the one trusted header, as returned by ParseHeader. Empty means the default order: cf-connecting-ip,
	// x-real-ip, the first value of x-forwarded-for. Stock proxies pass some of these three through as the client wrote
	// them.
	Header string
	// Hops is which entry of x-forwarded-for counts where that is the Header: 1 is the last, the one that the nearest
	// proxy wrote.
	Hops int
}

// trusts reports whether the headers that this peer sent are trusted.
func (t Trust) trusts(peer netip.Addr) bool {
	return t.Headers && (len(t.Peers) == 0 ||
		slices.ContainsFunc(t.Peers, func(p netip.Prefix) bool { return p.Contains(peer) }))
}

// Identity is what is known of one request's sender.
type Identity struct {
	// Peer is the other end of the connection; the zero Addr where it is not known.
	Peer netip.Addr
	// Trusted is true where this peer's forwarded headers are trusted.
	Trusted bool
	// Forwarded is the address in a trusted header; the zero Addr where there is none.
	Forwarded netip.Addr
	// OwnMachine is true for a client on this host, without a proxy: see onOwnMachine.
	OwnMachine bool
	// Place is set for a client of another place, which that place names.
	Place *PlaceClient
}

// PlaceClient is a client of another place, by the ID of that place and pseudonyms of the client and of the network
// around it; Group is empty where there is none.
type PlaceClient struct{ Place, Client, Group string }

// OfPlace returns the ID of the place whose client it is, empty for a client of this one.
func (id Identity) OfPlace() string {
	if id.Place == nil {
		return ""
	}
	return id.Place.Place
}

// Addr is the client: the address in the trusted header, else the peer.
func (id Identity) Addr() netip.Addr {
	if id.Forwarded.IsValid() {
		return id.Forwarded
	}
	return id.Peer
}

// LimitKey names the client for rate limits: an IPv4 address, or the /64 of an IPv6 address, the least that one
// subscriber holds.
func (id Identity) LimitKey() string {
	if id.Place != nil {
		return id.Place.key(id.Place.Client)
	}
	if a := id.Addr(); a.Is4() {
		return a.String()
	}
	return masked(id.Addr(), 64)
}

// key is a pseudonym among those of all places.
func (p PlaceClient) key(pseudonym string) string { return p.Place + "/" + pseudonym }

// Network is a network around a client whose limits are a multiple of one client's.
type Network struct {
	Key   string
	Times int
}

// Networks are the wider networks that an IPv6 client counts in, the widest last: a subscriber that is given a /56
// or a /48 has many /64s. IPv4 has none.
func (id Identity) Networks() []Network {
	if id.Place != nil {
		if id.Place.Group == "" {
			return nil
		}
		return []Network{{id.Place.key(id.Place.Group), 16}}
	}
	if !id.Addr().Is6() {
		return nil
	}
	return []Network{{masked(id.Addr(), 56), 4}, {masked(id.Addr(), 48), 16}}
}

// Holders are the client and its networks, and its place, for whom shares are counted.
func (id Identity) Holders() holder.List {
	list := holder.List{{Kind: holder.Client, Key: id.LimitKey(), Times: 1}}
	for _, n := range id.Networks() {
		list = append(list, holder.Holder{Kind: holder.Network, Key: n.Key, Times: int64(n.Times)})
	}
	return list.At(id.OfPlace())
}

// LogPrefix names the neighbourhood of the client, for logs: an IPv4 /24 or an IPv6 /48. It finds an abusive network
// again but not one person. A client of another place has that place alone.
func (id Identity) LogPrefix() string {
	if id.Place != nil {
		return "place " + id.Place.Place
	}
	if id.Addr().Is4() {
		return masked(id.Addr(), 24)
	}
	return masked(id.Addr(), 48)
}

// Visitor is what the tools are given of the client.
func (id Identity) Visitor() tool.Visitor {
	return tool.Visitor{HeadersTrusted: id.Trusted, Addr: id.Forwarded, OwnMachine: id.OwnMachine}
}

func masked(a netip.Addr, bits int) string {
	p, err := a.Prefix(bits)
	if err != nil || !p.IsValid() {
		return "unknown"
	}
	return p.String()
}

// Finder identifies clients.
type Finder struct {
	trust Trust
	log   *slog.Logger
	// Each warning comes once: it is about a setting, not about a request.
	untrusted, missing, everyone, private sync.Once
}

// New returns a Finder. It logs a warning for forwarded headers that are not trusted, for a proxy that sends other
// headers than the trusted one, for headers that are trusted from any peer, and for private addresses in them.
func New(trust Trust, log *slog.Logger) *Finder { return &Finder{trust: trust, log: log} }

// Identify returns the identity of the client that sent the request.
func (f *Finder) Identify(r *http.Request) Identity {
	id := Identity{Peer: peer(r.RemoteAddr)}
	id.Trusted = f.trust.trusts(id.Peer)
	if id.Trusted {
		id.Forwarded = f.trust.forwarded(r.Header)
	}
	id.OwnMachine = !id.Trusted && onOwnMachine(id.Peer, r.Host) && !f.trust.carriesForwarded(r.Header)
	f.warn(id, r.Header)
	return id
}

// warn logs settings that make all clients behind a proxy share one limit, or let a client claim any address.
func (f *Finder) warn(id Identity, h http.Header) {
	switch {
	case id.Forwarded.IsValid() && len(f.trust.Peers) == 0 && !netpolicy.Near(id.Peer):
		f.everyone.Do(func() {
			f.log.Warn("a client address was taken from the headers of a public peer, because headers are trusted from any " +
				"peer: anyone who reaches this port can claim any address; set TRUSTED_PROXY_CIDRS to the ranges of your proxies")
		})
	case id.Forwarded.IsValid() && netpolicy.Near(id.Forwarded):
		f.private.Do(func() {
			f.log.Warn("a trusted proxy sends a private address as the client's: if clients are not in that network, the " +
				"proxy does not see their addresses and they all share one limit; a container engine hides them where a port is " +
				"published on IPv6 and the proxy's network has none")
		})
	case id.Forwarded.IsValid() || !f.trust.carriesForwarded(h):
	case id.Trusted && f.trust.Header != "":
		f.missing.Do(func() {
			f.log.Warn("a trusted proxy sends forwarded headers, but CLIENT_ADDRESS_HEADER gives no address: all visitors " +
				"whose requests come like this share one limit; set CLIENT_ADDRESS_HEADER (for x-forwarded-for also " +
				"TRUSTED_PROXY_HOPS) to what that proxy sends")
		})
	case !id.Trusted && netpolicy.Near(id.Peer):
		f.untrusted.Do(func() {
			f.log.Warn("forwarded headers come from a private peer and are not trusted: all visitors behind it share one " +
				"limit; set PUBLIC_DOMAIN, and CLIENT_ADDRESS_HEADER if the header that this proxy overwrites is not x-real-ip")
		})
	}
}

// onOwnMachine reports whether a client opened the service at a loopback address of its own host. The peer is then
// loopback too, or the engine's side of a container's network if the port is published; a proxy on this host passes on
// the name that its visitor opened. Both can be forged, so this only chooses a sentence.
func onOwnMachine(peer netip.Addr, host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	addr, _ := netip.ParseAddr(strings.Trim(host, "[]"))
	return netpolicy.Near(peer) && (addr.IsLoopback() || strings.EqualFold(host, "localhost"))
}

// peer reads RemoteAddr. A dual-stack socket shows IPv4 peers as ::ffff:a.b.c.d, a link-local one has a zone.
func peer(remoteAddr string) netip.Addr {
	ap, err := netip.ParseAddrPort(remoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr().Unmap().WithZone("")
}

// Shared reports whether a peer may carry many clients: a near one is likely a proxy of our own, and one whose headers
// are trusted is a proxy by configuration.
func (f *Finder) Shared(peer netip.Addr) bool { return netpolicy.Near(peer) || f.trust.trusts(peer) }
