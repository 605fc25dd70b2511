//go:build e2e

package e2e

import (
	"crypto"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"diagnostics/lab/internal/zone"

	"github.com/miekg/dns"
)

// The zones of reportedServer.
const (
	// halvesZone is not signed. Its name www1 exists for A alone.
	halvesZone = "lab-halves.com"
	signedZone = "lab-signed.com"
	// deniesZone is signed, and the NSEC record of its apex denies every other name.
	deniesZone = "lab-denies.com"

	reportedServerAddress = "11.94.0.96"
)

// reportedRecords are those of the zones beside SOA and NS.
var reportedRecords = []string{
	"www1." + halvesZone + ". 300 IN A 11.80.0.1", "mx." + halvesZone + ". 300 IN A 11.80.0.40",
	"_25._tcp.mx." + halvesZone + ". 300 IN TLSA 3 1 1 " + strings.Repeat("5a", 32),
	"tbs." + halvesZone + `. 300 IN CAA 128 tbs "Unknown"`, "percent." + halvesZone + `. 300 IN CAA 0 issue "%%%%%"`,
	"9." + halvesZone + ". 300 IN A 11.80.0.1",
	signedZone + ". 300 IN MX 10 mail." + signedZone + ".", "mail." + signedZone + ". 300 IN CNAME mx." + signedZone + ".",
	"mx." + signedZone + ". 300 IN A 11.80.0.40",
	"_25._tcp.mx." + signedZone + ". 300 IN TLSA 3 1 1 " + strings.Repeat("5a", 32),
	"sub." + signedZone + ". 300 IN MX 10 out." + signedZone + ".",
	"out." + signedZone + ". 300 IN CNAME mx." + halvesZone + ".",
	"www." + deniesZone + ". 300 IN A 11.80.0.1",
	deniesZone + ". 300 IN NSEC " + deniesZone + ". NS SOA RRSIG NSEC DNSKEY",
}

// reportedServer is the name server of these zones.
type reportedServer struct {
	table   *zone.Table
	keys    map[string]*dns.DNSKEY // by zone
	secrets map[string]crypto.Signer
}

func startReportedZones(t *testing.T) *reportedServer {
	t.Helper()
	s := &reportedServer{zone.NewTable(nil), map[string]*dns.DNSKEY{}, map[string]crypto.Signer{}}
	lines := slices.Clone(reportedRecords)
	for i := range 9 {
		lines = append(lines, fmt.Sprintf("%d.%s. 300 IN CNAME %d.%s.", i, halvesZone, i+1, halvesZone))
	}
	for _, name := range []string{halvesZone, signedZone, deniesZone} {
		lines = append(lines, fmt.Sprintf("%[1]s. 300 IN SOA ns.%[1]s. root.%[1]s. 1 7200 900 1209600 300", name),
			fmt.Sprintf("%[1]s. 300 IN NS ns.%[1]s.", name), "ns."+name+". 300 IN A "+reportedServerAddress)
	}
	for _, name := range []string{signedZone, deniesZone} {
		key := &dns.DNSKEY{Hdr: dns.RR_Header{Name: name + ".", Rrtype: dns.TypeDNSKEY, Class: dns.ClassINET, Ttl: 300},
			Flags: 257, Protocol: 3, Algorithm: dns.ECDSAP256SHA256}
		secret, err := key.Generate(256)
		if err != nil {
			t.Fatal(err)
		}
		s.keys[name+"."], s.secrets[name+"."] = key, secret.(crypto.Signer)
		lines = append(lines, key.String())
	}
	if err := s.table.Add(lines...); err != nil {
		t.Fatal(err)
	}
	if err := internet.ServeDNS(reportedServerAddress, s); err != nil {
		t.Fatal(err)
	}
	return s
}

// unbound is the configuration that trusts the zones' keys and finds their server without a delegation.
func (s *reportedServer) unbound() (text string) {
	for _, key := range s.keys {
		text += fmt.Sprintf(" trust-anchor: %q\n", strings.ReplaceAll(key.String(), "\t", " "))
	}
	for _, name := range []string{halvesZone, signedZone, deniesZone} {
		text += fmt.Sprintf("stub-zone:\n name: %q\n stub-addr: %s\n", name, reportedServerAddress)
	}
	return text
}

// ServeDNS answers from the table, with signatures where they are requested.
func (s *reportedServer) ServeDNS(w dns.ResponseWriter, q *dns.Msg) {
	m := s.table.Answer(q)
	m.Authoritative = true
	name := q.Question[0].Name
	if opt := q.IsEdns0(); opt != nil && opt.Do() {
		if len(m.Ns) > 0 && s.keys[m.Ns[0].Header().Name] != nil {
			m.Rcode, m.Ns = dns.RcodeSuccess, append(m.Ns, s.denial(name))
		}
		m.Answer, m.Ns = s.signed(m.Answer), s.signed(m.Ns)
	}
	if strings.HasPrefix(name, "www1.") && len(m.Answer) == 0 {
		m.Rcode = dns.RcodeNameError
	}
	_ = w.WriteMsg(m)
}

// denial is a record that denies all types of the queried name, made for it (RFC 9824); at the apex of deniesZone it is
// the one of the table.
func (s *reportedServer) denial(name string) dns.RR {
	if name == deniesZone+"." {
		return s.table.Answer(new(dns.Msg).SetQuestion(name, dns.TypeNSEC)).Answer[0]
	}
	return &dns.NSEC{Hdr: dns.RR_Header{Name: name, Rrtype: dns.TypeNSEC, Class: dns.ClassINET, Ttl: 300},
		NextDomain: `\000.` + name, TypeBitMap: []uint16{dns.TypeRRSIG, dns.TypeNSEC}}
}

// signed is a section with a signature behind each set of a signed zone. A set here is of one record.
func (s *reportedServer) signed(section []dns.RR) (all []dns.RR) {
	begin, end := uint32(time.Now().Add(-time.Hour).Unix()), uint32(time.Now().Add(time.Hour).Unix())
	for _, rr := range section {
		all = append(all, rr)
		for apex, key := range s.keys {
			signature := &dns.RRSIG{Hdr: dns.RR_Header{Ttl: 300}, Algorithm: key.Algorithm, KeyTag: key.KeyTag(),
				SignerName: apex, Inception: begin, Expiration: end}
			if dns.IsSubDomain(apex, rr.Header().Name) && signature.Sign(s.secrets[apex], []dns.RR{rr}) == nil {
				all = append(all, signature)
			}
		}
	}
	return all
}
