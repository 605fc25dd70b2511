package dnsclient

import (
	"context"
	"net/netip"
	"strings"
	"time"

	"diagnostics/gateway/internal/egress/budget/memory"
	"diagnostics/gateway/internal/egress/budget/traffic"
	"diagnostics/gateway/internal/egress/upstream"
	"diagnostics/gateway/internal/fault"
	"diagnostics/shared/parallel"
	"diagnostics/shared/progress"

	"github.com/miekg/dns"
)

// Query queries the operator's resolvers: cache and single flight, UDP with EDNS 1232 and DO off but AD wanted, then
// TCP where truncated, Tries tries of Timeout each. name is canonical, without a trailing dot.
//
// Where several resolvers are set the second try goes to the next one, also after SERVFAIL, REFUSED and the like.
//
// A name of a network inside is ENOTFOUND; where it is not clear whether it is one, Query fails in place of
// private addresses, with the code of that failure.
func (c *Client) Query(ctx context.Context, name string, qtype uint16) Answer {
	return c.ask(ctx, cacheKey{name: name, qtype: qtype})
}

// Cached is the answer of Query where the cache has it.
func (c *Client) Cached(ctx context.Context, name string, qtype uint16) (Answer, bool) {
	began := time.Now()
	answer, ok := c.answers.get(cacheKey{name: name, qtype: qtype}, c.settings.Now())
	if !ok {
		return Answer{}, false
	}
	c.settings.Counts.Hit()
	return own(ctx, answer, began), true
}

// QueryUnchecked is Query with the CD bit: a resolver that validates passes on what fails DNSSEC, too (RFC 4035 section
// 3.2.2).
func (c *Client) QueryUnchecked(ctx context.Context, name string, qtype uint16) Answer {
	return c.ask(ctx, cacheKey{name: name, qtype: qtype, unchecked: true})
}

// QueryServer queries one server, with the DO bit; its answers have a cache of their own. A server that DialServer
// refuses is ECONNREFUSED. Names inside are held back as by Query: a router may answer in the place of any server.
func (c *Client) QueryServer(ctx context.Context, server netip.AddrPort, name string, qtype uint16) Answer {
	return c.ask(ctx, cacheKey{server: server, name: name, qtype: qtype})
}

// ask answers from the cache, or from a lookup that all callers of the same question share.
func (c *Client) ask(ctx context.Context, key cacheKey) Answer {
	began := time.Now()
	if answer, ok := c.answers.get(key, c.settings.Now()); ok { // a copy
		c.settings.Counts.Hit()
		return own(ctx, answer, began)
	}
	// Not for the queries of hide, which all callers of its lookup wait for.
	if err := traffic.Room(ctx, questionBytes); err != nil && !key.judging {
		return busy(err)
	}
	answer, err := c.lookups.Do(ctx, key, func(ctx context.Context) (Answer, error) { return c.fetch(ctx, key), nil })
	if err != nil { // ctx ended first
		answer = unanswered(CodeTimeout)
		if own := c.settings.OwnFault(err, key.server.Addr(), began); own != nil {
			answer = busy(own)
		}
	}
	// Those who share a lookup share its answer: each takes a copy.
	return own(ctx, answer.aged(0), began)
}

// questionBytes is what one question may come to on the wire: two tries, over TCP after UDP.
const questionBytes = 3 << 10

// own makes a copy of an answer the caller's. Each counts what it keeps in memory: the one who began a lookup may be
// gone long before the others.
func own(ctx context.Context, answer Answer, began time.Time) Answer {
	memory.Count(ctx, holding(answer))
	answer.Duration = time.Since(began)
	return answer
}

// fetch is one shared lookup, which ends with the Client. The cache is read once more: the lookup before this one may
// have ended in between. What is kept is what may be reported: the TTL of an answer from inside reveals it.
func (c *Client) fetch(ctx context.Context, key cacheKey) Answer {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.life, cancel)()
	if kept, ok := c.answers.get(key, c.settings.Now()); ok {
		c.settings.Counts.Hit()
		return kept
	}
	c.settings.Counts.Miss()
	answer := c.hide(ctx, key, c.lookup(ctx, key))
	c.answers.put(key, answer, c.settings.Now())
	return answer
}

// lookup makes the tries. What a server said beats silence, and a conclusive answer ends it.
func (c *Client) lookup(ctx context.Context, key cacheKey) Answer {
	q := question{
		name: dns.CanonicalName(key.name), qtype: key.qtype, dnssec: key.server.IsValid(), unchecked: key.unchecked,
	}
	servers, dial := c.serversFor(key)
	progress.Enter(ctx, progress.Resolving)
	var best Answer
	for try := range Tries {
		began := time.Now()
		answer := c.tryServer(ctx, dial, servers[try%len(servers)], q)
		if !key.server.IsValid() {
			c.settings.Observer.Asked(upstream.Resolver, outcomeOf(ctx, answer), time.Since(began))
		}
		if try == 0 || rank(answer) >= rank(best) {
			best = answer
		}
		lastWord := answer.RCode != noRCode && len(servers) == 1
		if best.Conclusive() || lastWord || ctx.Err() != nil {
			break
		}
	}
	return best
}

// outcomeOf is that of one try. Of a lookup that no one waits for any more the resolver has not failed.
func outcomeOf(ctx context.Context, a Answer) upstream.Outcome {
	switch {
	case a.Busy != nil:
		return upstream.OwnFault
	case a.Code == "":
		return upstream.OK
	case a.Conclusive():
		return upstream.NotFound
	case ctx.Err() != nil:
		return upstream.Canceled
	case a.Code == CodeTimeout:
		return upstream.Timeout
	}
	return upstream.Failed
}

// serversFor gives the servers to query in turn, and how they are dialled.
func (c *Client) serversFor(key cacheKey) ([]netip.AddrPort, DialFunc) {
	if key.server.IsValid() {
		return []netip.AddrPort{key.server}, c.settings.DialServer
	}
	servers := c.settings.Resolvers
	if len(servers) == 0 {
		servers = c.system.servers()
	}
	return servers, c.settings.DialResolver
}

// tryServer is one try: UDP, and whatever that server's answer makes necessary, within one bound of time.
func (c *Client) tryServer(ctx context.Context, dial DialFunc, server netip.AddrPort, q question) Answer {
	ctx, cancel := context.WithTimeout(ctx, c.settings.Timeout)
	defer cancel()
	began := time.Now()
	answer, err := attempt{dial: dial, server: server, reading: c.reading, question: q}.run(ctx)
	if err != nil {
		return c.failed(err, server, began)
	}
	answer.Resolver = server
	return answer
}

// failed is the Answer of a try that got none. A message that came, however broken, is the server's doing.
func (c *Client) failed(err error, server netip.AddrPort, began time.Time) Answer {
	code := codeOfError(err)
	if code == CodeBadResp {
		return unanswered(code)
	}
	if fault.Is(err, fault.Busy) {
		return busy(err)
	}
	if own := c.settings.OwnFault(err, server.Addr(), began); own != nil {
		return busy(own)
	}
	return unanswered(code)
}

// rank orders the outcomes of tries: the higher carries more. A try that this service could not make leaves open what a
// silent server would have said, so that it stands above silence.
func rank(a Answer) int {
	switch {
	case a.Conclusive():
		return 5
	case a.RCode != noRCode:
		return 4
	case a.Code == CodeBadResp:
		return 3
	case a.Busy != nil:
		return 2
	case a.Code == CodeTimeout:
		return 1
	}
	return 0
}

// QueryFresh is Query past the cache and past lookups under way, for callers that keep answers themselves. The name is
// the operator's own, so nothing is held back. Public addresses are kept for the others; whether a client may see
// anything else would have to be queried first.
func (c *Client) QueryFresh(ctx context.Context, name string, qtype uint16) Answer {
	began := time.Now()
	key := cacheKey{name: name, qtype: qtype}
	answer := c.lookup(ctx, key)
	if c.settings.Public == nil || c.leadsOutside(answer) {
		c.answers.put(key, answer, c.settings.Now())
	}
	return own(ctx, answer, began)
}

// QueryEach queries every one of the operator's resolvers, each past the cache and with Tries tries. Each answer has
// its Resolver, also where that did not answer. The name is this service's own, so nothing is held back.
func (c *Client) QueryEach(ctx context.Context, name string, qtype uint16) []Answer {
	servers, dial := c.serversFor(cacheKey{})
	answers := make([]Answer, len(servers))
	q := question{name: dns.CanonicalName(name), qtype: qtype}
	parallel.Each(len(servers), len(servers), func(i int) {
		for range Tries {
			began := time.Now()
			answers[i] = c.tryServer(ctx, dial, servers[i], q)
			c.settings.Observer.Asked(upstream.Resolver, outcomeOf(ctx, answers[i]), time.Since(began))
			if answers[i].Conclusive() || ctx.Err() != nil {
				break
			}
		}
		answers[i].Resolver = servers[i]
	})
	return answers
}

// QueryServerFresh is QueryServer past the cache and past lookups under way, for a second look.
func (c *Client) QueryServerFresh(ctx context.Context, server netip.AddrPort, name string, qtype uint16) Answer {
	began := time.Now()
	key := cacheKey{server: server, name: name, qtype: qtype}
	answer := c.hide(ctx, key, c.lookup(ctx, key))
	c.answers.put(key, answer, c.settings.Now())
	return own(ctx, answer, began)
}

// ResolverAnswers reports whether the operator's resolver answers at all, after a lookup of a name has failed: it
// queries the one that gave the failure, or else the first, for the name's last label, which every resolver finds. It
// queries once, past the cache, and callers at the same time share the question.
func (c *Client) ResolverAnswers(ctx context.Context, name string, failed Answer) bool {
	servers, dial := c.serversFor(cacheKey{})
	server := servers[0]
	if failed.Resolver.IsValid() {
		server = failed.Resolver
	}
	label := name[strings.LastIndexByte(name, '.')+1:]
	key := cacheKey{server: server, name: label, qtype: dns.TypeNS}
	works, err := c.checks.Do(ctx, key, func(ctx context.Context) (bool, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(c.life, cancel)()
		q := question{name: dns.CanonicalName(label), qtype: dns.TypeNS}
		return c.tryServer(ctx, dial, server, q).Conclusive(), nil
	})
	return err == nil && works
}

// firstAuthorityTry is how long a server of a zone is waited for before it is queried once more, for a packet that was
// lost: its callers wait for seconds, and not for two tries of Timeout.
const firstAuthorityTry = 1200 * time.Millisecond

// AskAuthority queries one of a zone's own servers, without recursion, twice where it is silent. Nothing is kept or
// shared: what the servers of a zone answer is for comparison with what others have cached, and each caller pays for
// the address. An Answer that is not Authoritative is that of a server which does not serve the zone.
func (c *Client) AskAuthority(ctx context.Context, server netip.AddrPort, name string, qtype uint16) Answer {
	if err := traffic.Room(ctx, questionBytes); err != nil {
		return busy(err)
	}
	began := time.Now()
	q := question{name: dns.CanonicalName(name), qtype: qtype, authority: true}
	first, cancel := context.WithTimeout(ctx, firstAuthorityTry)
	answer := c.tryServer(first, c.settings.DialServer, server, q)
	cancel()
	if answer.Code == CodeTimeout && ctx.Err() == nil {
		answer = c.tryServer(ctx, c.settings.DialServer, server, q)
	}
	return own(ctx, answer, began)
}
