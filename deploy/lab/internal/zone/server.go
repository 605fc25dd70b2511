package zone

import (
	"errors"
	"net"
	"time"

	"github.com/miekg/dns"
)

// Listen opens the sockets of a server.
type Listen interface {
	Listen(network, address string) (net.Listener, error)
	ListenPacket(network, address string) (net.PacketConn, error)
}

// Servers are running servers.
type Servers struct{ running []*dns.Server }

// Serve answers from a table on port 53 of each address, over UDP and TCP.
func (s *Servers) Serve(l Listen, t *Table, addresses ...string) error {
	for _, a := range addresses {
		if err := s.ServeHandler(l, a, false, t); err != nil {
			return err
		}
	}
	return nil
}

// ServeHandler is Serve of one address with answers of any making, over UDP alone where set.
func (s *Servers) ServeHandler(l Listen, host string, udpOnly bool, h dns.Handler) error {
	address := net.JoinHostPort(host, "53")
	pc, err := l.ListenPacket("udp", address)
	if err != nil {
		return err
	}
	if err := s.run(&dns.Server{PacketConn: pc, Handler: h, UDPSize: 4096}); err != nil || udpOnly {
		return err
	}
	tcp, err := l.Listen("tcp", address)
	if err != nil {
		return err
	}
	return s.run(&dns.Server{Listener: tcp, Handler: h})
}

// run returns when the server answers.
func (s *Servers) run(server *dns.Server) error {
	ready := make(chan struct{})
	server.NotifyStartedFunc = func() { close(ready) }
	failed := make(chan error, 1)
	go func() { failed <- server.ActivateAndServe() }()
	select {
	case <-ready:
		s.running = append(s.running, server)
		return nil
	case err := <-failed:
		return err
	}
}

// Close stops all servers.
func (s *Servers) Close() error {
	var errs []error
	for _, server := range s.running {
		errs = append(errs, server.Shutdown())
	}
	return errors.Join(errs...)
}

// ServeDNS answers one query.
func (t *Table) ServeDNS(w dns.ResponseWriter, q *dns.Msg) {
	_, udp := w.LocalAddr().(*net.UDPAddr)
	answer := t.answer(q, udp)
	if answer == nil {
		return
	}
	if udp {
		size := dns.MinMsgSize
		if opt := q.IsEdns0(); opt != nil {
			size = int(opt.UDPSize())
		}
		answer.Truncate(size)
	}
	// A client that has left is not the server's concern.
	_ = w.WriteMsg(answer)
}

// Answer answers one query as over TCP; nil is silence. For a query without recursion a table is the name server of its
// zones.
func (t *Table) Answer(q *dns.Msg) *dns.Msg { return t.answer(q, false) }

func (t *Table) answer(q *dns.Msg, udp bool) *dns.Msg {
	m := new(dns.Msg).SetReply(q)
	m.RecursionAvailable, m.Compress, m.Authoritative = true, true, !q.RecursionDesired
	if opt := q.IsEdns0(); opt != nil {
		m.SetEdns0(4096, opt.Do())
	}
	if len(q.Question) != 1 || q.Question[0].Qclass != dns.ClassINET {
		m.Rcode = dns.RcodeRefused
		return m
	}
	name, qtype := dns.CanonicalName(q.Question[0].Name), q.Question[0].Qtype
	for range maxChain {
		next, done := t.extend(m, name, qtype, udp)
		if done {
			if m.Rcode == dropped {
				return nil
			}
			return m
		}
		name = next
	}
	m.Answer, m.Rcode = nil, dns.RcodeServerFailure
	return m
}

// dropped is no response code: it marks a query that gets no answer.
const dropped = -1

// extend adds what is known of a name to the answer; next is the target of its alias, if that is all that is known.
func (t *Table) extend(m *dns.Msg, name string, qtype uint16, udp bool) (next string, done bool) {
	if step, ok := t.step(name, qtype); ok {
		return t.play(m, step, name, qtype, udp)
	}
	byType, ok := t.at(name)
	if !ok {
		m.Rcode, m.Ns = dns.RcodeNameError, t.soa(name)
		return "", true
	}
	if alias := byType[dns.TypeCNAME]; len(alias) > 0 && qtype != dns.TypeCNAME {
		m.Answer = append(m.Answer, alias[0])
		return dns.CanonicalName(alias[0].(*dns.CNAME).Target), false
	}
	if len(byType[qtype]) == 0 {
		m.Ns = t.soa(name)
		return "", true
	}
	m.Answer = append(m.Answer, byType[qtype]...)
	return "", true
}

func (t *Table) play(m *dns.Msg, s Step, name string, qtype uint16, udp bool) (next string, done bool) {
	time.Sleep(s.Delay) // the behaviour itself
	if s.Drop {
		m.Rcode = dropped
		return "", true
	}
	m.Rcode, m.AuthenticatedData = s.RCode, s.Authenticated
	if opt := m.IsEdns0(); opt != nil {
		for _, ede := range s.Extended {
			opt.Option = append(opt.Option, &ede)
		}
	}
	if s.Truncate && udp {
		m.Truncated = true
		return "", true
	}
	found := false
	for _, line := range s.Records {
		rr, err := dns.NewRR("$ORIGIN " + name + "\n" + line)
		if err != nil || rr == nil {
			m.Rcode = dns.RcodeServerFailure
			return "", true
		}
		switch rr.Header().Rrtype {
		case qtype:
			m.Answer, found = append(m.Answer, rr), true
		case dns.TypeCNAME:
			m.Answer = append(m.Answer, rr)
			return dns.CanonicalName(rr.(*dns.CNAME).Target), false
		}
	}
	if !found && !s.WithoutSOA && s.RCode != dns.RcodeServerFailure && s.RCode != dns.RcodeRefused {
		m.Ns = t.soa(name)
	}
	return "", true
}
