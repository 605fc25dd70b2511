package dnslookup

import (
	"net/netip"
	"strings"

	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/text"

	"github.com/miekg/dns"
)

// recordSet is the values by type. The list of a type that was not requested is nil, and no other is.
type recordSet struct {
	A      []string        `json:"A,omitzero"`
	AAAA   []string        `json:"AAAA,omitzero"`
	MX     []mxRecord      `json:"MX,omitzero"`
	TXT    []string        `json:"TXT,omitzero"`
	CNAME  []string        `json:"CNAME,omitzero"`
	NS     []string        `json:"NS,omitzero"`
	SOA    []soaRecord     `json:"SOA,omitzero" wire:"len=0..1"`
	CAA    []caaRecord     `json:"CAA,omitzero"`
	SRV    []srvRecord     `json:"SRV,omitzero"`
	HTTPS  []serviceRecord `json:"HTTPS,omitzero"`
	SVCB   []serviceRecord `json:"SVCB,omitzero"`
	DS     []dsRecord      `json:"DS,omitzero"`
	DNSKEY []dnskeyRecord  `json:"DNSKEY,omitzero"`
	TLSA   []tlsaRecord    `json:"TLSA,omitzero"`
	NAPTR  []naptrRecord   `json:"NAPTR,omitzero"`
	PTR    []string        `json:"PTR,omitzero"`
	SSHFP  []sshfpRecord   `json:"SSHFP,omitzero"`
	URI    []uriRecord     `json:"URI,omitzero"`
	LOC    []locRecord     `json:"LOC,omitzero"`
	HINFO  []hinfoRecord   `json:"HINFO,omitzero"`
}

// of is the list of one of allTypes.
func (r *recordSet) of(qtype uint16) list {
	switch qtype {
	case dns.TypeA:
		return (*addressList)(&r.A)
	case dns.TypeAAAA:
		return (*addressList)(&r.AAAA)
	case dns.TypeMX:
		return (*mxList)(&r.MX)
	case dns.TypeTXT:
		return (*textList)(&r.TXT)
	case dns.TypeCNAME:
		return (*nameList)(&r.CNAME)
	case dns.TypeNS:
		return (*nameList)(&r.NS)
	case dns.TypeSOA:
		return (*soaList)(&r.SOA)
	case dns.TypePTR:
		return (*nameList)(&r.PTR)
	}
	return r.ofValues(qtype)
}

func (r *recordSet) ofValues(qtype uint16) list {
	switch qtype {
	case dns.TypeCAA:
		return (*valueList[caaRecord, *caaRecord])(&r.CAA)
	case dns.TypeSRV:
		return (*valueList[srvRecord, *srvRecord])(&r.SRV)
	case dns.TypeHTTPS:
		return (*valueList[serviceRecord, *serviceRecord])(&r.HTTPS)
	case dns.TypeSVCB:
		return (*valueList[serviceRecord, *serviceRecord])(&r.SVCB)
	case dns.TypeDS:
		return (*valueList[dsRecord, *dsRecord])(&r.DS)
	case dns.TypeDNSKEY:
		return (*valueList[dnskeyRecord, *dnskeyRecord])(&r.DNSKEY)
	case dns.TypeTLSA:
		return (*valueList[tlsaRecord, *tlsaRecord])(&r.TLSA)
	case dns.TypeNAPTR:
		return (*valueList[naptrRecord, *naptrRecord])(&r.NAPTR)
	case dns.TypeSSHFP:
		return (*valueList[sshfpRecord, *sshfpRecord])(&r.SSHFP)
	case dns.TypeURI:
		return (*valueList[uriRecord, *uriRecord])(&r.URI)
	case dns.TypeLOC:
		return (*valueList[locRecord, *locRecord])(&r.LOC)
	}
	return (*valueList[hinfoRecord, *hinfoRecord])(&r.HINFO)
}

// mxRecord is a mail exchange; Exchange is empty in a null MX (RFC 7505).
type mxRecord struct {
	Exchange string `json:"exchange"`
	Priority uint16 `json:"priority"`
}

// soaRecord is a start of authority (RFC 1035 section 3.3.13), with the names of Node's dns module. Times are seconds.
type soaRecord struct {
	NSName     string `json:"nsname"`
	Hostmaster string `json:"hostmaster"`
	Serial     uint32 `json:"serial"`
	Refresh    uint32 `json:"refresh"`
	Retry      uint32 `json:"retry"`
	Expire     uint32 `json:"expire"`
	MinTTL     uint32 `json:"minttl"`
}

// take lists the records of an answer to the question for a type in one order; the list is empty where it is a failure.
func (r *recordSet) take(qtype uint16, answer *dnsclient.Answer) {
	values := r.of(qtype)
	values.open()
	if answer.Code == "" {
		r.add(answer.Records)
		values.sort()
	}
}

// add files records under their types.
func (r *recordSet) add(records []dns.RR) {
	for _, record := range records {
		switch rr := record.(type) {
		case *dns.A:
			if addr, ok := netip.AddrFromSlice(rr.A); ok {
				r.A = append(r.A, addr.Unmap().String())
			}
		case *dns.AAAA:
			// An IPv4-mapped value stays IPv6: that is what the record holds.
			if addr, ok := netip.AddrFromSlice(rr.AAAA.To16()); ok {
				r.AAAA = append(r.AAAA, addr.String())
			}
		case *dns.MX:
			r.MX = append(r.MX, mxRecord{Exchange: dnsclient.TrimRoot(rr.Mx), Priority: rr.Preference})
		case *dns.TXT:
			r.TXT = append(r.TXT, dnsclient.JoinTXT(rr.Txt))
		case *dns.CNAME:
			r.CNAME = append(r.CNAME, dnsclient.TrimRoot(rr.Target))
		case *dns.NS:
			r.NS = append(r.NS, dnsclient.TrimRoot(rr.Ns))
		case *dns.SOA:
			if len(r.SOA) > 0 {
				continue // a zone has one (RFC 1035 section 5.2); what else comes is a broken server's
			}
			r.SOA = append(r.SOA, soaRecord{
				NSName: dnsclient.TrimRoot(rr.Ns), Hostmaster: dnsclient.TrimRoot(rr.Mbox), Serial: rr.Serial,
				Refresh: rr.Refresh, Retry: rr.Retry, Expire: rr.Expire, MinTTL: rr.Minttl,
			})
		case *dns.PTR:
			r.PTR = append(r.PTR, dnsclient.TrimRoot(rr.Ptr))
		default:
			r.addValue(record)
		}
	}
}

// addValue files a record of a type whose values are objects with their data in presentation form.
func (r *recordSet) addValue(record dns.RR) {
	switch rr := record.(type) {
	case *dns.CAA:
		r.CAA = append(r.CAA, caaRecord{present(rr), rr.Flag, unescaped(rr.Tag), text.Decode(rr.Value)})
	case *dns.SRV:
		r.SRV = append(r.SRV, srvRecord{present(rr), rr.Priority, rr.Weight, rr.Port, dnsclient.TrimRoot(rr.Target)})
	case *dns.HTTPS:
		r.HTTPS = append(r.HTTPS, newService(&rr.SVCB))
	case *dns.SVCB:
		r.SVCB = append(r.SVCB, newService(rr))
	case *dns.DS:
		r.DS = append(r.DS, dsRecord{present(rr), rr.KeyTag, rr.Algorithm, rr.DigestType, strings.ToLower(rr.Digest)})
	case *dns.DNSKEY:
		r.DNSKEY = append(r.DNSKEY, dnskeyRecord{
			present(rr), rr.Flags, rr.Protocol, rr.Algorithm, rr.PublicKey, dnsclient.KeyTag(rr),
		})
	case *dns.TLSA:
		r.TLSA = append(r.TLSA, tlsaRecord{
			present(rr), rr.Usage, rr.Selector, rr.MatchingType, strings.ToLower(rr.Certificate),
		})
	case *dns.NAPTR:
		r.NAPTR = append(r.NAPTR, newNAPTR(rr))
	case *dns.SSHFP:
		r.SSHFP = append(r.SSHFP, sshfpRecord{present(rr), rr.Algorithm, rr.Type, strings.ToLower(rr.FingerPrint)})
	case *dns.URI:
		r.URI = append(r.URI, uriRecord{present(rr), rr.Priority, rr.Weight, text.Decode(rr.Target)})
	case *dns.LOC:
		r.LOC = append(r.LOC, locRecord{present(rr)})
	case *dns.HINFO:
		r.HINFO = append(r.HINFO, hinfoRecord{present(rr), unescaped(rr.Cpu), unescaped(rr.Os)})
	}
}
