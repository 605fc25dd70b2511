// Package rdap is the client of the registration data access protocol (RFC 7480 to 7484, 9082, 9083): what a registry
// says of a domain name or of the network that an address lies in.
//
// A question goes to the registry that IANA lists for it (Registries). What is not listed goes to a redirector, unless
// its last label is no top-level domain at all; where the redirector led is remembered, so that the next question of
// that kind goes straight to the registry. An operator's own redirector is asked for everything.
//
// No server is asked faster than its pace, nor one that asked for a pause (turn.go). What comes back is from strangers
// and is read with patience (object.go, jcard.go, dates.go): a member of the wrong type is a missing one.
// What is personal is dropped before anything is kept: no person's name, address, e-mail or telephone number reaches a
// cache or a caller.
package rdap

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"time"

	"diagnostics/gateway/internal/cache"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/limits/fairqueue"
	"diagnostics/gateway/internal/providers/pause"
	"diagnostics/gateway/internal/target"
)

// The bounds promised in docs/contract.md#times-and-sizes.
const (
	// Timeout bounds what the servers of one question take together: the redirector, the registry and what they redirect
	// to. The wait for a turn is not theirs.
	Timeout = 8 * time.Second
	// MaxBody is how much of an answer is read, after decompression.
	MaxBody = 1 << 20
	// MaxRedirects is how many redirects one question follows.
	MaxRedirects = 4
	// KeepFound is how long an answer is kept, KeepNotFound how long it is kept that there is none. Failures are not kept,
	// but for those of a registrar, which are kept as long as KeepNotFound.
	KeepFound    = time.Hour
	KeepNotFound = time.Minute
	// KeepBase is how long it is remembered which registry has a top-level domain or a block.
	KeepBase = 24 * time.Hour
)

// DefaultBase is the public redirector, which leads to all registries that are known.
const DefaultBase = "https://rdap.org"

// Registries are those that IANA lists. Each gives the base URL for a question, where one is listed: https, and at a
// host that may be public.
type Registries interface {
	// Domain takes a name of A-labels in lower case.
	Domain(ctx context.Context, name string) (base target.URL, listed bool)
	Address(ctx context.Context, a netip.Addr) (base target.URL, listed bool)
	// Stale tells that the lists are old: a registry may have moved since.
	Stale() bool
}

// Config is what a Client needs. Egress, Base and Cache are required.
type Config struct {
	// Egress must exempt the host of Base (egress.Settings.ExemptHosts) where that is not public.
	Egress *egress.Client
	// Base is the URL of the redirector, https, such as https://rdap.org.
	Base string
	// Cache keeps answers, pauses and the bases of registries.
	Cache cache.Store
	// Registries are asked first; nil leaves all questions to Base.
	Registries Registries
	// Slots count what each server is asked; nil does not count.
	Slots fairqueue.Slots
	// Now is time.Now where nil.
	Now func() time.Time
	// Timeout is the constant of that name where zero.
	Timeout time.Duration
}

// Client asks for registration data. It is safe for concurrent use.
type Client struct {
	egress  *egress.Client
	base    target.URL
	pauses  pause.Pauses
	listed  Registries       // nil where Base is asked for everything
	queue   *fairqueue.Queue // nil where nothing is counted
	now     func() time.Time
	timeout time.Duration

	domains    *cache.Loading[domainRecord]
	registrars *cache.Loading[domainRecord]
	networks   *cache.Loading[networkRecord]
	bases      *cache.Typed[known]
}

// New makes a client. An error means a Base that is not an https URL, or a missing part.
func New(c Config) (*Client, error) {
	if c.Egress == nil || c.Cache == nil {
		return nil, errors.New("rdap: Config.Egress and Config.Cache are required")
	}
	base, err := target.ParseOperatorURL(c.Base)
	if err != nil {
		return nil, err
	}
	if base.Scheme() != "https" {
		return nil, errors.New("rdap: the base URL must be https")
	}
	client := &Client{
		egress: c.Egress, base: base, listed: c.Registries, now: c.Now, timeout: cmp.Or(c.Timeout, Timeout),
		domains:    cache.NewLoading[domainRecord](c.Cache, "rdap-domain", KeepFound),
		registrars: cache.NewLoading[domainRecord](c.Cache, "rdap-registrar", KeepFound),
		networks:   cache.NewLoading[networkRecord](c.Cache, "rdap-network", KeepFound),
		bases:      cache.NewTyped[known](c.Cache, "rdap-base", KeepBase),
	}
	if c.Slots != nil {
		client.queue = fairqueue.New(c.Slots)
	}
	if client.now == nil {
		client.now = time.Now
	}
	client.pauses = pause.New(c.Cache, "rdap", client.now)
	return client, nil
}
