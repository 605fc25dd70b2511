package emaildnshealth

import (
	"context"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/gateway/internal/analyze/weight"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/budget/processor"
	"diagnostics/gateway/internal/egress/budget/traffic"
	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/fault"
	"diagnostics/shared/netpolicy"
	"diagnostics/shared/parallel"

	"github.com/miekg/dns"
)

// Bounds on the DNS of one run. The records of strangers say what is looked up, so that without them one request could
// be made to send thousands of queries.
const (
	maxMailQueries    = 120
	maxMailConcurrent = 8
	// maxMailBytes bounds the memory that all answers of a run take, which are kept to its end. Those of a domain with a
	// hundred lookups take a tenth of it.
	maxMailBytes = 2 << 20
)

// resolver is the DNS of one run: each question is sent once, a few at a time, up to a bound. It is the Resolver of
// packages spf and dmarc, and spf's AddressResolver.
type resolver struct {
	client *egress.Client
	slots  chan struct{}

	mu    sync.Mutex
	left  int
	room  int // of maxMailBytes
	spare int // of what the run may send, left to others
	asked map[question]func(context.Context) reply

	own *ownResolver

	// news means that a server was queried, not the cache alone.
	news *atomic.Bool
}

// ownResolver is whether this service's own resolver does not work, which is found out once: where it does not, no
// lookup says anything about the domain, and none is made any more.
type ownResolver struct {
	once   sync.Once
	broken atomic.Bool
}

type question struct {
	name  string
	qtype uint16
}

// reply is an answer in the terms of mailauth's errors.
type reply struct {
	records []dns.RR
	// alias means that the name is an alias of another, cname is what it is an alias of, and expanded is the end of the
	// chain of aliases.
	alias           bool
	cname, expanded string
	// authenticated means that the resolver vouches for the answer by DNSSEC.
	authenticated bool
	// cut means that there are more mail hosts than are kept.
	cut bool
	err error
}

func newResolver(client *egress.Client) *resolver {
	return &resolver{
		client: client,
		slots:  make(chan struct{}, maxMailConcurrent),
		left:   maxMailQueries,
		room:   maxMailBytes,
		asked:  make(map[question]func(context.Context) reply),
		news:   new(atomic.Bool),
		own:    new(ownResolver),
	}
}

// ask gives the answer to a question, which all its callers share.
func (r *resolver) ask(ctx context.Context, name string, qtype uint16) reply {
	if len(name) > netpolicy.MaxNameOctets {
		return reply{err: mail.ErrNotFound} // no such name can exist
	}
	return r.flight(question{name, qtype})(ctx)
}

func (r *resolver) flight(q question) func(context.Context) reply {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.asked[q]; ok {
		return known
	}
	if r.left == 0 {
		return func(context.Context) reply {
			return reply{err: &mail.LookupError{Code: mail.CodeBound}}
		}
	}
	r.left--
	var once sync.Once
	var got reply
	r.asked[q] = func(ctx context.Context) reply {
		once.Do(func() { got = r.send(ctx, q) })
		return got
	}
	return r.asked[q]
}

func (r *resolver) send(ctx context.Context, q question) reply {
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return reply{err: &mail.LookupError{Code: dnsclient.CodeTimeout}}
	}
	if r.own.broken.Load() {
		return reply{err: &mail.LookupError{Code: mail.CodeResolver}}
	}
	if r.spare > 0 && traffic.Room(ctx, r.spare) != nil {
		return reply{err: &mail.LookupError{Code: mail.CodeBound}}
	}
	a := r.client.DNS().Query(ctx, q.name, q.qtype)
	if !a.Cached {
		r.news.Store(true)
	}
	if !r.keeps(a) {
		return reply{err: &mail.LookupError{Code: mail.CodeLong}}
	}
	if q.qtype == dns.TypeTXT && processor.Spend(ctx, weight.MailRecord, a.Weight()) != nil {
		return reply{err: &mail.LookupError{Code: mail.CodeBound}}
	}
	answer := reply{records: a.Records, alias: len(a.CNAMEChain) > 0, cut: a.Cut, authenticated: a.Authenticated}
	if answer.alias {
		answer.cname, answer.expanded = a.CNAMEChain[0], a.CNAMEChain[len(a.CNAMEChain)-1]
	}
	switch a.Code {
	case "", dnsclient.CodeNoData:
		// Which of several texts is missing is unknown; of the mail hosts enough are there.
		if a.Cut && q.qtype != dns.TypeMX {
			answer.err = &mail.LookupError{Code: mail.CodeLong}
		}
	case dnsclient.CodeBusy:
		answer.err = &mail.LookupError{Code: codeOfBusy(a.Busy)}
	case dnsclient.CodeNotFound:
		answer.err = mail.ErrNotFound
	default:
		answer.err = &mail.LookupError{Code: r.codeOf(ctx, q.name, a)}
	}
	return answer
}

// codeOf gives the code of a failed lookup, which may be the fault of this service's own resolver.
func (r *resolver) codeOf(ctx context.Context, name string, failed dnsclient.Answer) string {
	r.own.once.Do(func() { r.own.broken.Store(r.client.ResolverFault(ctx, name, name, failed) != nil) })
	if r.own.broken.Load() {
		return mail.CodeResolver
	}
	return failed.Code
}

// codeOfBusy distinguishes a run that has spent its budget from a shortage of this service.
func codeOfBusy(err error) string {
	if fault.Is(err, fault.Limited) {
		return mail.CodeBound
	}
	return mail.CodeBusy
}

// keeps takes the room for an answer, and reports whether there was some.
func (r *resolver) keeps(a dnsclient.Answer) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.room -= a.Weight()
	return r.room >= 0
}

// TXT gives the TXT records of a name, each with its strings joined.
func (r *resolver) TXT(ctx context.Context, name string) ([]string, error) {
	answer := r.ask(ctx, name, dns.TypeTXT)
	return answer.texts(), answer.err
}

// texts are the TXT records of an answer, each with its strings joined.
func (a reply) texts() []string {
	var texts []string
	for _, record := range a.records {
		if txt, is := record.(*dns.TXT); is {
			texts = append(texts, dnsclient.JoinTXT(txt.Txt))
		}
	}
	return texts
}

// MX gives the names of the mail hosts of a name.
func (r *resolver) MX(ctx context.Context, name string) ([]string, error) {
	answer := r.ask(ctx, name, dns.TypeMX)
	var names []string
	for _, record := range answer.records {
		if mx, is := record.(*dns.MX); is {
			names = append(names, dnsclient.TrimRoot(mx.Mx))
		}
	}
	return names, answer.err
}

// V4 gives the IPv4 addresses of a name.
func (r *resolver) V4(ctx context.Context, name string) ([]netip.Addr, error) {
	answer := r.ask(ctx, name, dns.TypeA)
	return dnsclient.Addresses(answer.records), answer.err
}

// Addresses gives the IPv4 addresses of a name, or the IPv6 ones where it has no others.
func (r *resolver) Addresses(ctx context.Context, name string) ([]netip.Addr, error) {
	v4, err := r.V4(ctx, name)
	if len(v4) > 0 || err != nil {
		return v4, err
	}
	answer := r.ask(ctx, name, dns.TypeAAAA)
	return dnsclient.Addresses(answer.records), answer.err
}

// AllAddresses gives the addresses of both families.
func (r *resolver) AllAddresses(ctx context.Context, name string) ([]netip.Addr, error) {
	addresses, _, err := r.Both(ctx, name)
	return addresses, err
}

// Both gives the addresses of both families, and whether the name is an alias. A failed lookup of either is an error.
func (r *resolver) Both(ctx context.Context, name string) (addresses []netip.Addr, alias bool, err error) {
	var v4, v6 reply
	var lookups parallel.Group
	lookups.Go(func() { v4 = r.ask(ctx, name, dns.TypeA) })
	lookups.Go(func() { v6 = r.ask(ctx, name, dns.TypeAAAA) })
	lookups.Wait()
	addresses = dnsclient.Addresses(v4.records)
	// What a DNS64 resolver adds to a name that has an IPv4 address is none of the domain's.
	addresses = append(addresses, r.client.WithoutSynthesised(addresses, dnsclient.Addresses(v6.records))...)
	for _, answer := range []reply{v4, v6} {
		if failure := mail.Failure(answer.err); failure != nil {
			return addresses, v4.alias || v6.alias, failure
		}
	}
	return addresses, v4.alias || v6.alias, nil
}

// What a run looks up beside the records that it judges (a search for DKIM keys, the TLSA records and reverse names of
// the mail hosts, BIMI) has bounds of its own, each for itself: none of it may keep a record of the domain from being
// looked up, or wait behind a reverse zone that is dead.
const (
	asideSlots = maxMailConcurrent / 2
	asideBytes = 192 << 10
	// asideSpare is how much of what a run may send is left to the records.
	asideSpare = traffic.MaxSent / 2
	asideTime  = 5 * time.Second
	// maxAside is how many questions that are, all together.
	maxAside = searchQueries + keyQueries + nameQueries + bimiQueries
)

// aside is a resolver for so many questions that shares nothing with this one but the client.
func (r *resolver) aside(questions int) *resolver {
	a := newResolver(r.client)
	a.slots = make(chan struct{}, asideSlots)
	a.left, a.room, a.spare = questions, asideBytes, asideSpare
	a.news, a.own = r.news, r.own
	return a
}
