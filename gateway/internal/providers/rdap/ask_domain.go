package rdap

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/text/bound"

	"github.com/miekg/dns"
	"golang.org/x/net/publicsuffix"
)

// Domain asks the registry about a registrable domain name (A-labels, lower case), and the registrar too where the
// registry knows the name and its registrar alone. That nothing is found is no error. Errors are ctx.Err() or
// *fault.Error: Upstream, Timeout, or Busy with RetryAfter (the provider is to be left alone for a time, with ErrPause
// where it asked for that, or this service lacks the means to ask it). A failure of the registrar is a notice. told,
// unless nil, is given the registry's source before the registrar is asked.
func (c *Client) Domain(ctx context.Context, name string, told func(Source)) (DomainAnswer, error) {
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
	answer.Sources[0] = answer.Sources[0].heard(r.Heard)
	if told != nil {
		told(answer.Sources[0])
	}
	if r.Domain == nil || r.Related == "" || !r.Domain.thin() {
		return answer, nil
	}
	return c.withRegistrar(ctx, name, r.Related, answer)
}

func (c *Client) loadDomain(ctx context.Context, name string) (domainRecord, time.Duration, error) {
	var record domainRecord
	q := question{kind: kindDomain, value: name, read: func(body []byte) (err error) {
		record, err = readDomain(body, name)
		return err
	}}
	keys := domainKeys(name)
	r, err := c.ask(ctx, q, keys)
	if err != nil {
		return domainRecord{}, 0, err
	}
	if r.reason != "" {
		record = domainRecord{Reason: r.reason, Undelegated: r.undelegated}
	}
	record.URL = c.shownURL(r.at)
	if !r.heard.IsZero() {
		record.Heard = &r.heard
	}
	c.rememberDomain(ctx, q, r, keys)
	if record.Domain == nil {
		return record, KeepNotFound, nil
	}
	return record, KeepFound, nil
}

// heard dates a source whose answer was remembered of another name: nobody was asked of this one.
func (s Source) heard(at *time.Time) Source {
	if at != nil && at.Before(s.FetchedAt) {
		s.FetchedAt, s.Cached = *at, true
	}
	return s
}

// rememberDomain notes where the redirector led, now that a registry has answered there.
func (c *Client) rememberDomain(ctx context.Context, q question, r reply, keys []string) {
	if len(keys) == 0 || r.remembered {
		return
	}
	if r.reason == NoService {
		c.keep(ctx, keys[0], known{None: true})
		return
	}
	if base, ok := baseOf(r.led, q); ok && !r.vague {
		c.keep(ctx, keys[0], known{Base: base.String()})
	}
}

// withRegistrar adds what the registrar says, or a notice of why it does not.
func (c *Client) withRegistrar(ctx context.Context, name, related string, answer DomainAnswer) (DomainAnswer, error) {
	load := func(ctx context.Context) (domainRecord, time.Duration, error) {
		return c.loadRegistrar(ctx, name, related)
	}
	kept, err := c.registrars.Get(ctx, name+" "+related, domainFits(name), load)
	if err != nil {
		return DomainAnswer{}, err
	}
	r := kept.Value
	if r.Domain == nil {
		answer.Notices = append(answer.Notices, registrarNotice(r.Failure))
		return answer, nil
	}
	answer.Domain = merged(answer.Domain, r.Domain)
	answer.MoreNotices = answer.MoreNotices || r.MoreNotices
	answer.Notices = mergedNotices(answer.Notices, r.Notices, &answer.MoreNotices)
	answer.Sources = append(answer.Sources, sourceOf(nameRegistrar, r.URL, kept))
	return answer, nil
}

// loadRegistrar gives a failure as a value: the registry's answer stands without the registrar's.
func (c *Client) loadRegistrar(ctx context.Context, name, related string) (domainRecord, time.Duration, error) {
	record, err := c.askRegistrar(ctx, name, related)
	var failed *fault.Error
	switch {
	case err == nil && record.Domain != nil:
		return record, KeepFound, nil
	case err == nil:
		return domainRecord{Failure: "The registrar has no data on this name."}, KeepNotFound, nil
	case fault.IsOwn(err) && errors.As(err, &failed): // which is over in seconds
		return domainRecord{Failure: failed.Sentence}, 0, nil
	case errors.As(err, &failed):
		return domainRecord{Failure: failed.Sentence}, KeepNotFound, nil
	}
	return domainRecord{}, 0, err
}

func (c *Client) askRegistrar(ctx context.Context, name, related string) (domainRecord, error) {
	u, err := target.ParseURL(related)
	if err != nil || u.Scheme() != "https" {
		return domainRecord{}, fault.New(fault.Upstream,
			"The registry names a server of the registrar that is not a public https URL.")
	}
	var record domainRecord
	q := question{kind: kindDomain, value: name, read: func(body []byte) (err error) {
		record, err = readDomain(body, name)
		return err
	}}
	r, err := c.walk(ctx, q, server{url: u}, target.URL{})
	if err != nil || r.reason != "" {
		return domainRecord{}, err
	}
	record.URL = r.at.url.String()
	return record, nil
}

func registrarNotice(failure string) Notice {
	return Notice{
		Title: "Registrar data missing", Description: failure + " The data shown comes from the registry alone.",
		FromService: true,
	}
}

func mergedNotices(registry, registrar []Notice, more *bool) []Notice {
	out := slices.Clone(registry)
	for _, n := range registrar {
		if !slices.Contains(registry, n) {
			out = append(out, n)
		}
	}
	return bound.First(out, maxNotices, more)
}

// mayBeDelegated reports whether a name's last label is a top-level domain. Those of the public suffix list's ICANN
// part are; of others the root is asked, by way of the resolvers, whose answers are kept. One that cannot be asked
// leaves it open, and that is no word against the name.
func (c *Client) mayBeDelegated(ctx context.Context, name string) bool {
	tld := name[strings.LastIndexByte(name, '.')+1:]
	if suffix, icann := publicsuffix.PublicSuffix(tld); icann && suffix == tld {
		return true
	}
	answer := c.egress.DNS().Query(ctx, tld, dns.TypeNS)
	return answer.Code != dnsclient.CodeNotFound && answer.Code != dnsclient.CodeNoData
}
