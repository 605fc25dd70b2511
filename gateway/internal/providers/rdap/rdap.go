// Package rdap is the client of the registration data access protocol (RFC 7480 to 7484, 9082, 9083): what a registry
// says of a domain name or of the network that an address lies in.
//
// A question takes these steps (ask.go):
//
//  1. It begins at the registry that IANA lists for it (Registries). If none is listed, it begins at the redirector,
//     unless the name's last label is no top-level domain. An operator's own redirector gets every question.
//  2. It waits until the server may be queried: no pause is left, and the server's pace has room. The first server
//     must have room within seconds; for a later one the question waits up to MaxPatience.
//  3. It sends one request. All requests of a walk share Timeout, and the waits are not part of it.
//  4. If the server refuses because of earlier requests, by its status or in words, a pause begins and the walk ends.
//  5. A redirect leads to another public https URL, and back to step 2: MaxRedirects times, and never in a circle.
//  6. Any other response ends the walk: 200 has the object, and 404 means that there is none or, at the redirector,
//     that it knows no registry. All else is a failure.
//  7. If IANA's lists are old and the listed registry may have moved, the question walks once more, from the
//     redirector.
//
// Answers are untrusted and are read with tolerance (object.go, jcard.go): a member of the wrong type counts as
// missing. Personal data is dropped before anything is cached: no person's name, address, e-mail or telephone number
// reaches a cache or a caller. Objects are kept for an hour, absences and a registrar's failures for a minute, and
// other failures not at all.
package rdap

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"slices"
	"time"

	"diagnostics/gateway/internal/cache"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/limits/pace"
	"diagnostics/gateway/internal/providers/registry"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/text/bound"
	"diagnostics/gateway/internal/tool/finding"
)

// The bounds promised in docs/contract.md#times-and-sizes.
const (
	// Timeout bounds what the servers of one question take together: the redirector, the registry and what they redirect
	// to. The wait for their paces is not included.
	Timeout = 8 * time.Second
	// MaxBody is how much of an answer is read, after decompression.
	MaxBody = 1 << 20
	// MaxRedirects is how many redirects one question follows.
	MaxRedirects = 4
	// MaxPatience is how long one question waits for the paces of servers before a busy one ends it.
	MaxPatience = 10 * time.Second
)

// DefaultBase is the public redirector, which leads to all known registries.
const DefaultBase = "https://rdap.org"

// The names of sources.
const (
	nameRedirector = "RDAP redirector"
	nameRoot       = "DNS root zone"
	nameRegistry   = "Registry RDAP"
	nameRegistrar  = "Registrar RDAP"
)

// Registries are those that IANA lists. Each method returns the base URL for a question, where one is listed: https,
// and at a host that may be public.
type Registries interface {
	// Domain takes a name of A-labels in lower case.
	Domain(ctx context.Context, name string) (base target.URL, listed bool)
	Address(ctx context.Context, a netip.Addr) (base target.URL, listed bool)
	// Stale reports whether the lists are old: a registry may have moved since.
	Stale() bool
}

// Config is what a Client needs. Egress, Base and Cache are required.
type Config struct {
	// Egress must exempt the host of Base (egress.Settings.ExemptHosts) where that is not public.
	Egress *egress.Client
	// Base is the URL of the redirector, https, such as https://rdap.org.
	Base string
	// Cache keeps answers and pauses.
	Cache cache.Store
	// Registries are queried first; nil leaves all questions to Base.
	Registries Registries
	// Pace limits how often each server is queried; nil does not limit.
	Pace *pace.Limiter
	// Now is time.Now where nil.
	Now func() time.Time
	// Timeout is the constant of that name where zero.
	Timeout time.Duration
}

// Client requests registration data. It is safe for concurrent use.
type Client struct {
	egress  *egress.Client
	base    target.URL
	gate    *registry.Gate
	listed  Registries // nil if Base gets every query
	now     func() time.Time
	timeout time.Duration

	domains    *cache.Loading[domainRecord]
	registrars *cache.Loading[domainRecord]
	networks   *cache.Loading[networkRecord]
}

// New returns a client. It fails for a Base that is not an https URL, and for a missing part.
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
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Client{
		egress: c.Egress, base: base, listed: c.Registries, now: c.Now, timeout: cmp.Or(c.Timeout, Timeout),
		gate:       registry.NewGate("rdap", c.Cache, c.Pace, c.Egress.Providers(), c.Now),
		domains:    cache.NewLoading[domainRecord](c.Cache, "rdap-domain", registry.KeepFound),
		registrars: cache.NewLoading[domainRecord](c.Cache, "rdap-registrar", registry.KeepFound),
		networks:   cache.NewLoading[networkRecord](c.Cache, "rdap-network", registry.KeepFound),
	}, nil
}

// Domain queries the registry for a registrable domain name (A-labels, lower case), and the registrar too where the
// registry publishes no other contact. That nothing is found is no error. Errors are ctx.Err() or *fault.Error:
// Upstream, Timeout, or Busy with RetryAfter (the provider is to be left alone for a time, or this service lacks the
// means to query it). A failure of the registrar is a notice. report, unless nil, is called with the registry's source
// before the registrar is queried.
func (c *Client) Domain(ctx context.Context, name string, report func(Source)) (DomainAnswer, error) {
	load := func(ctx context.Context) (domainRecord, time.Duration, error) { return c.loadDomain(ctx, name) }
	kept, err := c.domains.Get(ctx, name, domainFits(name), load)
	if err != nil {
		return DomainAnswer{}, err
	}
	r := kept.Value
	answer := DomainAnswer{
		Found: r.Domain != nil, Reason: r.Reason, Domain: r.Domain, Notices: append([]Notice{}, r.Notices...),
		MoreNotices: r.MoreNotices, Undelegated: r.Undelegated,
		Sources: []Source{sourceOf(registryName(r.Reason, r.Undelegated), r.URL, kept)},
	}
	if report != nil {
		report(answer.Sources[0])
	}
	if r.Domain == nil || r.Related == "" || !r.Domain.thin() {
		return answer, nil
	}
	return c.withRegistrar(ctx, name, r.Related, answer)
}

// domainQuestion is a question about a name whose answer goes to record.
func domainQuestion(name string, record *domainRecord) question {
	return question{
		kind: kindDomain, value: name,
		listed: func(ctx context.Context, r Registries) (target.URL, bool) { return r.Domain(ctx, name) },
		read: func(body []byte) (err error) {
			*record, err = readDomain(body, name)
			return err
		},
	}
}

func (c *Client) loadDomain(ctx context.Context, name string) (domainRecord, time.Duration, error) {
	var record domainRecord
	r, err := c.ask(ctx, domainQuestion(name, &record))
	if err != nil {
		return domainRecord{}, 0, err
	}
	if r.reason != "" {
		record = domainRecord{
			Reason: r.reason, Undelegated: r.undelegated, Notices: r.explanation.notices, MoreNotices: r.explanation.more,
		}
	}
	record.URL = c.shownURL(r.at)
	return record, registry.Keep(record.Domain != nil), nil
}

// forAnswer is how long before the end of a run the registrar is given up: the registry's answer stands without it.
const forAnswer = 2 * time.Second

// withRegistrar adds what the registrar says, or a notice of why it is missing.
func (c *Client) withRegistrar(ctx context.Context, name, related string, answer DomainAnswer) (DomainAnswer, error) {
	load := func(ctx context.Context) (domainRecord, time.Duration, error) {
		return c.loadRegistrar(ctx, name, related)
	}
	bounded, cancel := ctx, context.CancelFunc(func() {})
	if deadline, ok := ctx.Deadline(); ok {
		bounded, cancel = context.WithDeadline(ctx, deadline.Add(-forAnswer))
	}
	defer cancel()
	kept, err := c.registrars.Get(bounded, name+" "+related, domainFits(name), load)
	r := kept.Value
	switch {
	case err != nil && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
		r = domainRecord{Failure: fault.Rows.Sentence("REGISTRAR_TIMEOUT", nil)}
	case err != nil:
		return DomainAnswer{}, err
	}
	if r.Domain == nil {
		missing := fault.Rows["REGISTRAR_MISSING"]
		answer.Notices = append(answer.Notices, Notice{
			Title: missing.Brief, Description: r.Failure + " " + missing.Message,
			FromService: true,
		})
		return answer, nil
	}
	answer.Domain = merged(answer.Domain, r.Domain)
	answer.MoreNotices = answer.MoreNotices || r.MoreNotices
	for _, n := range r.Notices {
		if !slices.Contains(answer.Notices, n) {
			answer.Notices = append(answer.Notices, n)
		}
	}
	answer.Notices = bound.First(answer.Notices, maxNotices, &answer.MoreNotices)
	answer.Sources = append(answer.Sources, sourceOf(nameRegistrar, r.URL, kept))
	return answer, nil
}

// loadRegistrar returns a failure as a value: the registry's answer stands without the registrar's.
func (c *Client) loadRegistrar(ctx context.Context, name, related string) (domainRecord, time.Duration, error) {
	record, err := c.askRegistrar(ctx, name, related)
	var failed *fault.Error
	switch {
	case err == nil && record.Domain != nil:
		return record, registry.KeepFound, nil
	case err == nil:
		e := explanation{notices: record.Notices}
		return domainRecord{Failure: fault.Rows.Sentence("REGISTRAR_WITHOUT_DATA",
			finding.Args{"said": e.quoted()})}, registry.KeepOther, nil
	case fault.IsOwn(err) && errors.As(err, &failed): // which is over in seconds
		return domainRecord{Failure: failed.Sentence()}, 0, nil
	case errors.As(err, &failed):
		return domainRecord{Failure: failed.Sentence()}, registry.KeepOther, nil
	}
	return domainRecord{}, 0, err
}

func (c *Client) askRegistrar(ctx context.Context, name, related string) (domainRecord, error) {
	u, err := target.ParseURL(related)
	if err != nil || u.Scheme() != "https" {
		return domainRecord{}, fault.New(fault.Upstream, "REGISTRAR_NOT_PUBLIC", nil)
	}
	var record domainRecord
	r, err := c.walk(ctx, domainQuestion(name, &record), server{url: u})
	if err != nil || r.reason != "" {
		return domainRecord{Notices: r.explanation.notices}, err
	}
	record.URL = r.at.url.String()
	return record, nil
}

// Network queries the registry for the network that a public address lies in. That nothing is found is no error. Errors
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
		MoreNotices: r.MoreNotices, Source: sourceOf(registryName(r.Reason, false), r.URL, kept),
	}, nil
}

func (c *Client) loadNetwork(ctx context.Context, addr netip.Addr) (networkRecord, time.Duration, error) {
	var record networkRecord
	r, err := c.ask(ctx, question{
		kind: kindIP, value: addr.String(),
		listed: func(ctx context.Context, r Registries) (target.URL, bool) { return r.Address(ctx, addr) },
		read: func(body []byte) (err error) {
			record, err = readNetwork(body, addr)
			return err
		},
	})
	if err != nil {
		return networkRecord{}, 0, err
	}
	if r.reason != "" {
		record = networkRecord{Reason: r.reason, Notices: r.explanation.notices, MoreNotices: r.explanation.more}
	}
	record.URL = c.shownURL(r.at)
	return record, registry.Keep(record.Network != nil), nil
}

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

// shownURL is the public URL of the answer. It is empty where no server was queried, and for an operator's own host
// that no client could name.
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
