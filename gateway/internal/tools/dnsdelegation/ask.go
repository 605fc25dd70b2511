package dnsdelegation

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/fault"
	"diagnostics/shared/parallel"

	"github.com/miekg/dns"
)

// times are the waits of a run, which tests shorten.
type times struct {
	try     time.Duration // for one message
	stagger time.Duration // before the next server is queried beside a silent one
	total   time.Duration
}

var defaultTimes = times{try: 1300 * time.Millisecond, stagger: 400 * time.Millisecond, total: maxTime}

const (
	udp = "udp"
	tcp = "tcp"
	// ednsSize is the UDP payload that is sure not to be fragmented (DNS flag day 2020).
	ednsSize = 1232
	// unknownOption is an EDNS option code of the range for local use (RFC 6891 section 9).
	unknownOption = 65280
)

// question is one query. The zero flags query an authoritative server with EDNS and DO.
type question struct {
	name  string // canonical, with the trailing dot
	qtype uint16
	// plain leaves EDNS out.
	plain bool
	// strange adds an option that no server has, and requests recursion.
	strange bool
	// long sends the query over TCP, since the answer would be truncated over UDP.
	long bool
}

func (q question) message() *dns.Msg {
	m := new(dns.Msg).SetQuestion(q.name, q.qtype)
	m.RecursionDesired = q.strange
	if q.plain {
		return m
	}
	m.SetEdns0(ednsSize, true)
	if q.strange {
		opt := m.IsEdns0()
		opt.Option = append(opt.Option, &dns.EDNS0_LOCAL{Code: unknownOption, Data: []byte{0}})
	}
	return m
}

// endpoint is one address of a name server.
type endpoint struct {
	name     string // of the server
	address  netip.Addr
	registry bool // serves the root or a top-level zone: not charged
}

// reply is a message that came from an endpoint.
type reply struct {
	dnsclient.Reply
	from endpoint
	long bool // it came over TCP, since it was truncated over UDP or would be
}

// send sends one message and waits for its reply, once.
func (r *run) send(ctx context.Context, to endpoint, transport string, q question) (reply, error) {
	select {
	case r.budget.slots <- struct{}{}:
		defer func() { <-r.budget.slots }()
	case <-ctx.Done():
		return reply{}, ctx.Err()
	}
	if err := r.budget.take(to.address); err != nil {
		return reply{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, r.times.try)
	defer cancel()
	server := egress.NameServer{Name: trimmed(to.name), Address: to.address, Uncharged: to.registry}
	got, err := r.Egress.Exchange(ctx, server, transport, q.message())
	if err != nil {
		return reply{}, err
	}
	return reply{Reply: got, from: to}, nil
}

// exchange is send, over TCP if the reply over UDP was truncated or would be, and without EDNS if the server rejects
// that.
func (r *run) exchange(ctx context.Context, to endpoint, q question) (reply, error) {
	if q.long {
		return r.sendLong(ctx, to, q)
	}
	got, err := r.send(ctx, to, udp, q)
	if err == nil && rejectsEDNS(got.Msg) && !q.plain {
		q.plain = true
		got, err = r.send(ctx, to, udp, q)
	}
	if err != nil || !got.Truncated {
		return got, err
	}
	return r.sendLong(ctx, to, q)
}

func (r *run) sendLong(ctx context.Context, to endpoint, q question) (reply, error) {
	got, err := r.send(ctx, to, tcp, q)
	got.long = true
	return got, err
}

// rejectsEDNS reports whether a server answers as one without EDNS does (RFC 6891 section 7).
func rejectsEDNS(m *dns.Msg) bool {
	return m.Rcode == dns.RcodeFormatError || m.Rcode == dns.RcodeNotImplemented || m.Rcode == dns.RcodeBadVers
}

// useful reports whether a reply answers as a server of the zone does: it is authoritative, or refers to a zone below.
func (p reply) useful(zone string) bool {
	switch p.Rcode {
	case dns.RcodeSuccess, dns.RcodeNameError:
		return p.Authoritative || p.referral(zone) != ""
	}
	return false
}

// errNoEndpoint is the failure to query a zone without any address.
var errNoEndpoint = errors.New("no address of a name server is known")

// ask queries endpoints of a zone in their order until one gives a useful reply: the next one beside a silent one after
// a while, and each a second time at the end. The error is that of the last one, or errLame.
func (r *run) ask(ctx context.Context, zone string, among []endpoint, q question) (reply, error) {
	if len(among) == 0 {
		return reply{}, errNoEndpoint
	}
	attempts := slices.Concat(among, among)
	got, err := race(ctx, len(attempts), r.times.stagger, func(ctx context.Context, i int) (reply, error) {
		got, err := r.exchange(ctx, attempts[i], q)
		if err == nil && !got.useful(zone) {
			return reply{}, errLame
		}
		return got, err
	})
	if errors.Is(err, errBudget) {
		r.budget.exceeded()
	}
	return got, err
}

// errLame is the failure of a server that answers, and not as a server of the zone.
var errLame = errors.New("not a server of the zone")

// race calls try for each number under n until one succeeds: the next begins when one fails, or after the stagger. It
// returns when none is left running. The error is that of the last failure.
func race[T any](
	ctx context.Context, n int, stagger time.Duration, try func(context.Context, int) (T, error),
) (T, error) {
	type outcome struct {
		value T
		err   error
		panic *parallel.Panic
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan outcome, n)
	begun, running := 0, 0
	begin := func() {
		i := begun
		begun, running = begun+1, running+1
		var o outcome
		parallel.Go(func() { o.value, o.err = try(ctx, i) }, func(p *parallel.Panic) {
			o.panic = p
			results <- o
		})
	}
	next := time.NewTicker(stagger)
	defer next.Stop()
	var won, broken *outcome
	var failed error
	for begin(); running > 0; {
		select {
		case o := <-results:
			running--
			switch {
			case o.panic != nil:
				broken = &o
			case o.err != nil:
				failed = o.err
			case won == nil:
				won = &o
			}
		case <-next.C:
		}
		switch {
		case won != nil || broken != nil || ctx.Err() != nil:
			cancel()
		case begun < n:
			begin()
			next.Reset(stagger)
		}
	}
	if broken != nil {
		panic(broken.panic)
	}
	if won == nil {
		var none T
		return none, failed
	}
	return won.value, nil
}

// ours reports whether a failure is this service's own, or a limit: it says nothing of a server.
func ours(err error) bool {
	return fault.IsOwn(err) || fault.Is(err, fault.Limited) || errors.Is(err, errBudget) ||
		errors.Is(err, context.Canceled)
}
