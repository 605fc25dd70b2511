package dnsclient

import (
	"context"
	"net/netip"
	"time"

	"diagnostics/gateway/internal/egress/budget/memory"

	"github.com/miekg/dns"
)

// maxReplyBytes bounds what is kept of a Reply by the weight of its records. A DNSKEY answer with four RSA keys of
// 4,096 bits weighs some 5 KiB, the referral to a zone with 13 name servers of both families some 12 KiB.
const maxReplyBytes = 64 << 10

// Reply is one message as a server sent it. Records of other classes than IN and those whose data is incomplete are
// left out.
type Reply struct {
	*dns.Msg
	// Cut reports whether the message held more records than are kept.
	Cut  bool
	Took time.Duration
}

// Exchange sends one message to one server over "udp" or "tcp" and returns the message that answers it, whose id and
// question are those of the query. There is no second try, and a truncated reply is returned as it is. Nothing is
// cached or shared. The ctx bounds the time. With operator the server is one that the operator configured, and is
// dialled by DialResolver; else by DialServer.
//
// Errors are a *fault.Error of kind Busy where this host failed, those of the dial function, and those that CodeOf
// names.
func (c *Client) Exchange(
	ctx context.Context, server netip.AddrPort, transport string, query *dns.Msg, operator bool,
) (Reply, error) {
	a := attempt{dial: c.settings.DialServer, server: server, reading: c.reading}
	if operator {
		a.dial = c.settings.DialResolver
	}
	began := time.Now()
	var reply Reply
	if err := a.over(ctx, transport, query, func(m *dns.Msg) { reply = keptOf(m) }); err != nil {
		if own := c.settings.OwnFault(err, server.Addr(), began); own != nil {
			return Reply{}, own
		}
		return Reply{}, err
	}
	reply.Took = time.Since(began)
	memory.Count(ctx, reply.holding())
	return reply, nil
}

// CodeOf returns the code of an Exchange without a reply: EBADRESP for a malformed message, ETIMEOUT, or ECONNREFUSED.
func CodeOf(err error) string { return codeOfError(err) }

// keptOf cuts a message to maxReplyBytes.
func keptOf(m *dns.Msg) Reply {
	reply, left := Reply{Msg: m}, maxReplyBytes
	for _, section := range []*[]dns.RR{&m.Answer, &m.Ns, &m.Extra} {
		kept := make([]dns.RR, 0, min(len(*section), 64))
		for _, rr := range *section {
			opt := rr.Header().Rrtype == dns.TypeOPT
			if !opt && (!usable(rr) || isCutShort(rr)) {
				continue
			}
			if left -= recordWeight(rr); left < 0 && !opt {
				reply.Cut = true
				continue
			}
			kept = append(kept, rr)
		}
		*section = kept
	}
	return reply
}

// holding is what a run holds with a reply.
func (r Reply) holding() int {
	size := 512
	for _, section := range [][]dns.RR{r.Answer, r.Ns, r.Extra} {
		for _, rr := range section {
			size += recordWeight(rr)
		}
	}
	return size
}
