package egresstest

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/miekg/dns"
	"golang.org/x/net/publicsuffix"
)

// maxChase is how many aliases a Resolver follows within its records.
const maxChase = 16

// Resolver is a recursive resolver on loopback, over UDP and TCP, that answers from records and scripts.
type Resolver struct {
	t        testing.TB
	udp, tcp string

	mu      sync.Mutex
	records map[string][]dns.RR // by canonical owner
	scripts map[string]func(dns.ResponseWriter, *dns.Msg)
	all     func(dns.ResponseWriter, *dns.Msg) // nil where the records answer
	queries []dns.Question
}

// NameServer adds one more resolver at a public address and port 53, such as "1.1.1.1:53".
func (n *Network) NameServer(public string) *Resolver {
	n.t.Helper()
	at := n.address(public)
	r := &Resolver{
		t:       n.t,
		records: make(map[string][]dns.RR),
		scripts: make(map[string]func(dns.ResponseWriter, *dns.Msg)),
	}
	r.serve()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.resolvers[at] = r
	return r
}

// Records adds zone-file lines, such as "example.com. 300 IN A 93.184.216.34". A name that exists without the type
// queried is answered with NODATA, any other with NXDOMAIN, both with a SOA record; aliases are chased within the
// records. The top-level domains of the real root have name servers, no other last label has.
func (r *Resolver) Records(rrs ...string) {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, line := range rrs {
		rr, err := dns.NewRR(line)
		if err != nil || rr == nil {
			r.t.Fatalf("%q is no record: %v", line, err)
		}
		owner := dns.CanonicalName(rr.Header().Name)
		r.records[owner] = append(r.records[owner], rr)
	}
}

// Handle scripts the answers for one name, whatever the type; a nil answer is silence. It goes before the records, and
// is called for UDP and TCP alike, on a goroutine of the server.
func (r *Resolver) Handle(name string, h func(q *dns.Msg) *dns.Msg) {
	r.HandleRaw(name, func(w dns.ResponseWriter, q *dns.Msg) {
		if m := h(q); m != nil {
			_ = w.WriteMsg(m)
		}
	})
}

// HandleRaw is Handle for answers that are several packets, or none that a library would write.
func (r *Resolver) HandleRaw(name string, h func(w dns.ResponseWriter, q *dns.Msg)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.scripts[dns.CanonicalName(name)] = h
}

// HandleAll scripts the answers for all names without a script of their own.
func (r *Resolver) HandleAll(h func(w dns.ResponseWriter, q *dns.Msg)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = h
}

// Queries returns the questions received so far, over UDP and TCP.
func (r *Resolver) Queries() []dns.Question {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]dns.Question(nil), r.queries...)
}

// QueriesFor counts the questions received so far for a name and type.
func (r *Resolver) QueriesFor(name string, qtype uint16) int {
	count := 0
	for _, q := range r.Queries() {
		if q.Qtype == qtype && dns.CanonicalName(q.Name) == dns.CanonicalName(name) {
			count++
		}
	}
	return count
}

// Loopback is where the resolver really listens over UDP, for a test with real sockets.
func (r *Resolver) Loopback() netip.AddrPort { return netip.MustParseAddrPort(r.udp) }

func (r *Resolver) loopback(network string) string {
	if strings.HasPrefix(network, "udp") {
		return r.udp
	}
	return r.tcp
}

func (r *Resolver) serve() {
	r.t.Helper()
	var config net.ListenConfig
	packets, err := config.ListenPacket(context.Background(), "udp4", "127.0.0.1:0")
	if err != nil {
		r.t.Fatalf("listen on loopback: %v", err)
	}
	stream, err := config.Listen(context.Background(), "tcp4", "127.0.0.1:0")
	if err != nil {
		r.t.Fatalf("listen on loopback: %v", err)
	}
	r.udp, r.tcp = packets.LocalAddr().String(), stream.Addr().String()
	r.start(&dns.Server{PacketConn: packets, Handler: dns.HandlerFunc(r.answer)})
	r.start(&dns.Server{Listener: stream, Handler: dns.HandlerFunc(r.answer)})
}

func (r *Resolver) start(s *dns.Server) {
	started := make(chan struct{})
	ended := make(chan struct{})
	s.NotifyStartedFunc = func() { close(started) }
	go func() {
		defer close(ended)
		_ = s.ActivateAndServe()
	}()
	<-started
	r.t.Cleanup(func() {
		_ = s.Shutdown()
		<-ended
	})
}

func (r *Resolver) answer(w dns.ResponseWriter, q *dns.Msg) {
	if len(q.Question) != 1 {
		return
	}
	r.mu.Lock()
	r.queries = append(r.queries, q.Question[0])
	script := r.scripts[dns.CanonicalName(q.Question[0].Name)]
	if script == nil {
		script = r.all
	}
	r.mu.Unlock()
	if script != nil {
		script(w, q)
		return
	}
	m := r.Recursive(q)
	if w.LocalAddr().Network() == "udp" {
		m.Truncate(udpSize(q))
	}
	_ = w.WriteMsg(m)
}

func udpSize(q *dns.Msg) int {
	if opt := q.IsEdns0(); opt != nil {
		return int(opt.UDPSize())
	}
	return dns.MinMsgSize
}

// Recursive is the answer that the records give, for a script that changes only part of it. Without recursion desired
// the resolver is the name server of its records.
func (r *Resolver) Recursive(q *dns.Msg) *dns.Msg {
	m := new(dns.Msg).SetReply(q)
	m.RecursionAvailable, m.Authoritative = true, !q.RecursionDesired
	if opt := q.IsEdns0(); opt != nil {
		m.SetEdns0(1232, opt.Do())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	name := dns.CanonicalName(q.Question[0].Name)
	for range maxChase {
		found, alias := r.at(name, q.Question[0].Qtype)
		m.Answer = append(m.Answer, found...)
		if alias == "" {
			if len(found) == 0 {
				r.deny(m, name)
			}
			return m
		}
		name = alias
	}
	return m
}

// at gives the records of the type, or the alias in their place and where it leads.
func (r *Resolver) at(name string, qtype uint16) (found []dns.RR, alias string) {
	for _, rr := range r.records[name] {
		if rr.Header().Rrtype == qtype {
			found = append(found, dns.Copy(rr))
		}
		if cname, is := rr.(*dns.CNAME); is && qtype != dns.TypeCNAME {
			return []dns.RR{dns.Copy(rr)}, dns.CanonicalName(cname.Target)
		}
	}
	if len(found) == 0 && qtype == dns.TypeNS && delegated(name) {
		found = append(found, &dns.NS{
			Hdr: dns.RR_Header{Name: name, Rrtype: dns.TypeNS, Class: dns.ClassINET, Ttl: 300},
			Ns:  "a.nic." + name,
		})
	}
	return found, ""
}

// delegated reports whether the name is a top-level domain of the real root.
func delegated(name string) bool {
	label := strings.TrimSuffix(name, ".")
	suffix, icann := publicsuffix.PublicSuffix(label)
	return icann && suffix == label && !strings.Contains(label, ".")
}

// deny completes an answer without records: NODATA where the name, or one below it, exists, else NXDOMAIN.
func (r *Resolver) deny(m *dns.Msg, name string) {
	m.Rcode = dns.RcodeNameError
	for owner := range r.records {
		if dns.IsSubDomain(name, owner) {
			m.Rcode = dns.RcodeSuccess
		}
	}
	m.Ns = append(m.Ns, r.authority(name))
}

func (r *Resolver) authority(name string) dns.RR {
	for zone := name; ; {
		for _, rr := range r.records[zone] {
			if rr.Header().Rrtype == dns.TypeSOA {
				return dns.Copy(rr)
			}
		}
		next, end := dns.NextLabel(zone, 0)
		if end {
			break
		}
		zone = zone[next:]
	}
	return &dns.SOA{
		Hdr: dns.RR_Header{Name: ".", Rrtype: dns.TypeSOA, Class: dns.ClassINET, Ttl: 300},
		Ns:  "a.root-servers.net.", Mbox: "nstld.verisign-grs.com.",
		Serial: 1, Refresh: 1800, Retry: 900, Expire: 604800, Minttl: 300,
	}
}
