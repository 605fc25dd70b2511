package authority

import (
	"net"
	"slices"
	"time"

	"github.com/miekg/dns"
)

// Server answers a query; nil is silence. It implements dns.Handler.
type Server func(q *dns.Msg, udp bool) *dns.Msg

// ServeDNS answers one query, truncated to the size that the client takes.
func (s Server) ServeDNS(w dns.ResponseWriter, q *dns.Msg) {
	_, udp := w.LocalAddr().(*net.UDPAddr)
	m := s(q, udp)
	if m == nil {
		return
	}
	if udp {
		size := dns.MinMsgSize
		if opt := q.IsEdns0(); opt != nil {
			size = max(size, int(opt.UDPSize()))
		}
		m.Truncate(size)
	}
	// A client that has left is not the server's concern.
	_ = w.WriteMsg(m)
}

// Serving answers for zones, and refuses the rest and transfers.
func Serving(zones ...*Zone) Server {
	for _, z := range zones {
		z.index()
	}
	return func(q *dns.Msg, _ bool) *dns.Msg {
		if len(q.Question) != 1 || q.Question[0].Qclass != dns.ClassINET {
			return failed(q, dns.RcodeFormatError)
		}
		name, best := dns.CanonicalName(q.Question[0].Name), (*Zone)(nil)
		for _, z := range zones {
			above := name != z.Origin || q.Question[0].Qtype != dns.TypeDS || len(zones) == 1
			if dns.IsSubDomain(z.Origin, name) && above && (best == nil || dns.IsSubDomain(best.Origin, z.Origin)) {
				best = z
			}
		}
		if best == nil || q.Question[0].Qtype == dns.TypeAXFR {
			return failed(q, dns.RcodeRefused)
		}
		return best.Answer(q)
	}
}

func failed(q *dns.Msg, rcode int) *dns.Msg {
	m := new(dns.Msg).SetRcode(q, rcode)
	if opt := q.IsEdns0(); opt != nil {
		m.SetEdns0(1232, opt.Do())
	}
	return m
}

// Twist makes a server behave in another way.
type Twist func(Server) Server

// Silent never answers.
func Silent(Server) Server { return func(*dns.Msg, bool) *dns.Msg { return nil } }

// Fails answers everything with a response code.
func Fails(rcode int) Twist {
	return func(Server) Server { return func(q *dns.Msg, _ bool) *dns.Msg { return failed(q, rcode) } }
}

// Lame refers everything to the root, as old servers do for zones that they do not have.
func Lame(Server) Server {
	return func(q *dns.Msg, _ bool) *dns.Msg {
		m := failed(q, dns.RcodeSuccess)
		m.Ns = []dns.RR{&dns.NS{Hdr: dns.RR_Header{Name: ".", Rrtype: dns.TypeNS, Class: dns.ClassINET, Ttl: 3600},
			Ns: RootServer}}
		return m
	}
}

// RootServer is the name of the lab's first root server.
const RootServer = "a.root-servers.net."

// Slow answers after a while.
func Slow(wait time.Duration) Twist {
	return func(s Server) Server {
		return func(q *dns.Msg, udp bool) *dns.Msg {
			time.Sleep(wait) // the behaviour itself
			return s(q, udp)
		}
	}
}

// OverUDP and OverTCP answer queries over one transport in another way.
func OverUDP(t Twist) Twist { return on(func(_ *dns.Msg, udp bool) bool { return udp }, t) }

// OverTCP is described with OverUDP.
func OverTCP(t Twist) Twist { return on(func(_ *dns.Msg, udp bool) bool { return !udp }, t) }

// Truncates sets TC in place of all records.
func Truncates(_, m *dns.Msg) { m.Answer, m.Ns, m.Extra, m.Truncated = nil, nil, opts(m), true }

// opts are the OPT records of a message.
func opts(m *dns.Msg) []dns.RR {
	return slices.DeleteFunc(slices.Clone(m.Extra), func(rr dns.RR) bool { return rr.Header().Rrtype != dns.TypeOPT })
}

// plain is a query without EDNS.
func plain(q *dns.Msg) *dns.Msg {
	p := q.Copy()
	p.Extra = nil
	return p
}

// IgnoresEDNS answers as if a query had no OPT record.
func IgnoresEDNS(s Server) Server {
	return func(q *dns.Msg, udp bool) *dns.Msg { return s(plain(q), udp) }
}

// OnEDNS answers queries with EDNS in another way.
func OnEDNS(t Twist) Twist { return on(func(q *dns.Msg, _ bool) bool { return q.IsEdns0() != nil }, t) }

// OnOption answers queries with any EDNS option in another way.
func OnOption(t Twist) Twist {
	return on(func(q *dns.Msg, _ bool) bool { opt := q.IsEdns0(); return opt != nil && len(opt.Option) > 0 }, t)
}

// OnType answers queries for a type in another way.
func OnType(t Twist, types ...uint16) Twist {
	return on(func(q *dns.Msg, _ bool) bool { return slices.Contains(types, q.Question[0].Qtype) }, t)
}

// OnName answers queries for one name in another way.
func OnName(name string, t Twist) Twist {
	return on(func(q *dns.Msg, _ bool) bool { return dns.CanonicalName(q.Question[0].Name) == name }, t)
}

// Below confines a change to the names of a zone.
func Below(zone string, t Twist) Twist {
	return on(func(q *dns.Msg, _ bool) bool { return dns.IsSubDomain(zone, dns.CanonicalName(q.Question[0].Name)) }, t)
}

func on(concerns func(q *dns.Msg, udp bool) bool, t Twist) Twist {
	return func(s Server) Server {
		other := t(s)
		return func(q *dns.Msg, udp bool) *dns.Msg {
			if concerns(q, udp) {
				return other(q, udp)
			}
			return s(q, udp)
		}
	}
}

// Changes changes each answer.
func Changes(change func(q, m *dns.Msg)) Twist {
	return func(s Server) Server {
		return func(q *dns.Msg, udp bool) *dns.Msg {
			m := s(q, udp)
			if m != nil {
				change(q, m)
			}
			return m
		}
	}
}

// PlainFormErr answers FORMERR without an OPT record, as servers without EDNS do (RFC 6891 section 7).
func PlainFormErr(Server) Server {
	return func(q *dns.Msg, _ bool) *dns.Msg { return failed(plain(q), dns.RcodeFormatError) }
}

// Echoes sends the options of a query back.
func Echoes(q, m *dns.Msg) {
	if from, to := q.IsEdns0(), m.IsEdns0(); from != nil && to != nil {
		to.Option = from.Option
	}
}

// Recursive offers recursion.
func Recursive(_, m *dns.Msg) { m.RecursionAvailable = true }

// Denies answers NXDOMAIN with the SOA record that a denial of the type has.
func Denies(_, m *dns.Msg) { m.Rcode, m.Answer = dns.RcodeNameError, nil }

// Serial answers with another serial number.
func Serial(n uint32) Twist {
	return Changes(func(_, m *dns.Msg) {
		for i, rr := range m.Answer {
			if _, is := rr.(*dns.SOA); is {
				soa := dns.Copy(rr).(*dns.SOA)
				soa.Serial, m.Answer[i] = n, soa
			}
		}
	})
}
