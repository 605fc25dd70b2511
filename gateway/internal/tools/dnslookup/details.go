package dnslookup

import (
	"fmt"
	"net/netip"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/tools/internal/format"

	"github.com/miekg/dns"
)

// detailSet is how the answers came about by type, in the order of their names: a table would be sorted anew for each
// answer. Those of types that were not requested are nil.
type detailSet struct {
	A      *answerDetail `json:"A,omitempty"`
	AAAA   *answerDetail `json:"AAAA,omitempty"`
	CAA    *answerDetail `json:"CAA,omitempty"`
	CNAME  *answerDetail `json:"CNAME,omitempty"`
	DNSKEY *answerDetail `json:"DNSKEY,omitempty"`
	DS     *answerDetail `json:"DS,omitempty"`
	HINFO  *answerDetail `json:"HINFO,omitempty"`
	HTTPS  *answerDetail `json:"HTTPS,omitempty"`
	LOC    *answerDetail `json:"LOC,omitempty"`
	MX     *answerDetail `json:"MX,omitempty"`
	NAPTR  *answerDetail `json:"NAPTR,omitempty"`
	NS     *answerDetail `json:"NS,omitempty"`
	PTR    *answerDetail `json:"PTR,omitempty"`
	SOA    *answerDetail `json:"SOA,omitempty"`
	SRV    *answerDetail `json:"SRV,omitempty"`
	SSHFP  *answerDetail `json:"SSHFP,omitempty"`
	SVCB   *answerDetail `json:"SVCB,omitempty"`
	TLSA   *answerDetail `json:"TLSA,omitempty"`
	TXT    *answerDetail `json:"TXT,omitempty"`
	URI    *answerDetail `json:"URI,omitempty"`
}

// of is the place of one of allTypes.
func (d *detailSet) of(qtype uint16) **answerDetail {
	switch qtype {
	case dns.TypeA:
		return &d.A
	case dns.TypeAAAA:
		return &d.AAAA
	case dns.TypeCAA:
		return &d.CAA
	case dns.TypeCNAME:
		return &d.CNAME
	case dns.TypeDNSKEY:
		return &d.DNSKEY
	case dns.TypeDS:
		return &d.DS
	case dns.TypeHINFO:
		return &d.HINFO
	case dns.TypeHTTPS:
		return &d.HTTPS
	case dns.TypeLOC:
		return &d.LOC
	case dns.TypeMX:
		return &d.MX
	case dns.TypeNAPTR:
		return &d.NAPTR
	case dns.TypeNS:
		return &d.NS
	case dns.TypePTR:
		return &d.PTR
	case dns.TypeSOA:
		return &d.SOA
	case dns.TypeSRV:
		return &d.SRV
	case dns.TypeSSHFP:
		return &d.SSHFP
	case dns.TypeSVCB:
		return &d.SVCB
	case dns.TypeTLSA:
		return &d.TLSA
	case dns.TypeTXT:
		return &d.TXT
	}
	return &d.URI
}

// answerDetail is how one answer came about.
type answerDetail struct {
	RCode          *string                   `json:"rcode"`
	TTL            *uint32                   `json:"ttl"`
	Authenticated  bool                      `json:"authenticated"`
	CNAMEChain     []string                  `json:"cnameChain" bound:"list=4k"`
	Resolver       *string                   `json:"resolver"`
	DurationMs     float64                   `json:"durationMs"`
	Cached         bool                      `json:"cached"`
	AgeMs          float64                   `json:"ageMs"`
	ExtendedErrors []dnsclient.ExtendedError `json:"extendedErrors" bound:"list=4k"`
	Truncated      bool                      `json:"truncated,omitempty"` // the records of this type
}

// resolverNames gives what is shown of a resolver, which mostly is that of the answer before.
func resolverNames(client *egress.Client) func(netip.AddrPort) *string {
	var last netip.AddrPort
	var name *string
	return func(resolver netip.AddrPort) *string {
		if name == nil || resolver != last {
			shown := client.ResolverName(resolver)
			last, name = resolver, &shown
		}
		return name
	}
}

func describeAnswer(a *dnsclient.Answer, show func(netip.AddrPort) *string) answerDetail {
	detail := answerDetail{
		RCode:          rcodeName(a.RCode),
		Authenticated:  a.Authenticated,
		CNAMEChain:     append([]string{}, a.CNAMEChain...),
		DurationMs:     format.Milliseconds(a.Duration),
		Cached:         a.Cached,
		AgeMs:          format.Milliseconds(a.Age),
		ExtendedErrors: append([]dnsclient.ExtendedError{}, a.Extended...),
		Truncated:      a.Cut,
	}
	if len(a.Records) > 0 {
		detail.TTL = new(a.TTL)
	}
	if a.Resolver.IsValid() {
		detail.Resolver = show(a.Resolver)
	}
	return detail
}

// rcodeName gives the mnemonic of a response code (RFC 6895 section 2.3), RCODE<n> where it has none, nil for -1.
func rcodeName(rcode int) *string {
	if rcode < 0 {
		return nil
	}
	if name, ok := dns.RcodeToString[rcode]; ok {
		return &name
	}
	return new(fmt.Sprintf("RCODE%d", rcode))
}
