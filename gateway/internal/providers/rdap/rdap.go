// Package rdap is the client of the registration data access protocol (RFC 7480 to 7484, 9082, 9083): what a registry
// says of a domain name or of the network that an address lies in.
//
// A question goes to the operator's redirector, which knows the registry of every top-level domain and address block,
// and follows its redirects; where the redirector led is remembered, so that the next question of that kind goes
// straight to the registry. What comes back is from strangers and is read with patience (object.go, jcard.go,
// dates.go): a member of the wrong type is a missing one. What is personal is dropped before anything is kept: no
// person's name, address, e-mail or telephone number reaches a cache or a caller.
package rdap

import (
	"context"
	"errors"
	"time"

	"diagnostics/gateway/internal/cache"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/target"
)

// The bounds of CONTRACT.md section 6.
const (
	// Timeout bounds one question: the redirector, the registry and what they redirect to together.
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

// Slots are the places that this service has at the redirector. Take takes one at once and gives 0, or gives the time
// until one is free; its only error is that of a ctx that has ended.
type Slots interface {
	Take(ctx context.Context) (wait time.Duration, err error)
}

// Config is what a Client needs. Egress, Base and Cache are required.
type Config struct {
	// Egress must exempt the host of Base (egress.Settings.ExemptHosts) where that is not public.
	Egress *egress.Client
	// Base is the URL of the redirector, https, such as https://rdap.org.
	Base string
	// Cache keeps answers, pauses and the bases of registries.
	Cache cache.Store
	// Redirector counts the requests to the redirector; nil does not count them.
	Redirector Slots
	// Now is time.Now where nil.
	Now func() time.Time
	// Timeout is the constant of that name where zero.
	Timeout time.Duration
}

// Client asks for registration data. It is safe for concurrent use.
type Client struct {
	egress  *egress.Client
	base    target.URL
	store   cache.Store
	slots   Slots
	now     func() time.Time
	timeout time.Duration

	domains    *cache.Loading[domainRecord]
	registrars *cache.Loading[domainRecord]
	networks   *cache.Loading[networkRecord]
	bases      *cache.Shelf[known]
}

// New makes a client. An error means a Base that is not an https URL, or a missing part.
func New(c Config) (*Client, error) {
	if c.Egress == nil || c.Cache == nil {
		return nil, errors.New("rdap: a way out and a cache are required")
	}
	base, err := target.ParseOperatorURL(c.Base)
	if err != nil {
		return nil, err
	}
	if base.Scheme() != "https" {
		return nil, errors.New("rdap: the base URL must be https")
	}
	client := &Client{
		egress: c.Egress, base: base, store: c.Cache, slots: c.Redirector, now: c.Now, timeout: c.Timeout,
		domains:    cache.NewLoading[domainRecord](c.Cache, "rdap-domain", KeepFound),
		registrars: cache.NewLoading[domainRecord](c.Cache, "rdap-registrar", KeepFound),
		networks:   cache.NewLoading[networkRecord](c.Cache, "rdap-network", KeepFound),
		bases:      cache.NewShelf[known](c.Cache, "rdap-base", KeepBase),
	}
	if client.now == nil {
		client.now = time.Now
	}
	if client.timeout == 0 {
		client.timeout = Timeout
	}
	return client, nil
}
