package dnsclient

import (
	"crypto/sha256"
	"math"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// The codes of Node's dns module that an Answer may carry.
const (
	CodeNoData      = "ENODATA"
	CodeNotFound    = "ENOTFOUND"
	CodeServFail    = "ESERVFAIL"
	CodeRefused     = "EREFUSED"
	CodeFormErr     = "EFORMERR"
	CodeNotImp      = "ENOTIMP"
	CodeBadResp     = "EBADRESP"
	CodeTimeout     = "ETIMEOUT"
	CodeConnRefused = "ECONNREFUSED"
)

// Codes returns all of them.
func Codes() []string {
	return []string{
		CodeNoData, CodeNotFound, CodeServFail, CodeRefused, CodeFormErr, CodeNotImp, CodeBadResp, CodeTimeout,
		CodeConnRefused,
	}
}

// CodeBusy is an Answer that this service lacked the means to query for: it says nothing about the name or its servers,
// and Node's module has no code for it.
const CodeBusy = "EBUSY"

// maxAliases is how many CNAMEs of one answer are followed. Resolvers follow chains of this order; loops are found by
// the names seen.
const maxAliases = 32

// noRCode is the RCode of an Answer that no server gave.
const noRCode = -1

// Answer is one DNS answer, or the failure to get one. It is never an error: Code says what went wrong.
type Answer struct {
	// Code is empty where Records has values, else the code of Node's dns module: ENODATA, ENOTFOUND, ESERVFAIL,
	// EREFUSED, EFORMERR, ENOTIMP, EBADRESP, ETIMEOUT, ECONNREFUSED. Or it is CodeBusy.
	Code string
	// Busy is the *fault.Error behind CodeBusy, else nil: of kind Busy, or Limited where the run has sent what it may.
	Busy error
	// RCode is the response code, -1 where no usable answer came.
	RCode int
	// Records are of the queried type and owned by the queried name or the end of its CNAME chain (the CNAME records
	// themselves for type CNAME). TTLs are shown less their age.
	Records []dns.RR
	// Cut means that the server sent more records than are kept, which are then the first of them in an order that is the
	// same for equal sets.
	Cut bool
	// Digest is equal for equal sets of records where Cut, whatever their order, their TTLs and the case of names.
	Digest [sha256.Size]byte
	// Authority is the authority section as it came, or the first records of a long one. Callers share it.
	Authority []dns.RR
	// CNAMEChain is the targets of the aliases followed, in order, lower case and without a trailing dot. It is empty
	// for type CNAME, which no alias is followed for.
	CNAMEChain []string
	// TTL is, in seconds and less the age, the least of the records and their chain; for ENODATA and ENOTFOUND the time
	// that RFC 2308 lets the absence be kept, 0 where the server gave none.
	TTL           uint32
	Authenticated bool
	// Authoritative is the AA bit: the server serves the zone of the queried name, and not from a cache.
	Authoritative bool
	// Resolver is the server that answered; the zero value where none did.
	Resolver netip.AddrPort
	Duration time.Duration
	Cached   bool
	Age      time.Duration
	Extended []ExtendedError
	// weight is that of what was read, which takes long to compute; 0 where it was not.
	weight int
}

// unanswered is the Answer where no server gave one.
func unanswered(code string) Answer { return Answer{Code: code, RCode: noRCode} }

// busy is the Answer that this service lacked the means to query for.
func busy(err error) Answer { return Answer{Code: CodeBusy, RCode: noRCode, Busy: err} }

// Conclusive reports whether the servers said what there is, or that there is nothing.
func (a Answer) Conclusive() bool {
	return a.Code == "" || a.Code == CodeNoData || a.Code == CodeNotFound
}

// keepFor is how long the answer may be kept: no longer than its TTL, failures not at all.
func (a Answer) keepFor() time.Duration {
	if !a.Conclusive() {
		return 0
	}
	return min(time.Duration(a.TTL)*time.Second, CacheFor)
}

// aged is a copy of the answer with its TTLs less the age, which shares no record with the original.
func (a Answer) aged(age time.Duration) Answer {
	seconds := uint32(age / time.Second) // #nosec G115 -- it is kept for minutes
	a.TTL = less(a.TTL, seconds)
	a.Records = agedRecords(a.Records, seconds)
	a.CNAMEChain = append([]string(nil), a.CNAMEChain...)
	a.Extended = append([]ExtendedError(nil), a.Extended...)
	return a
}

func agedRecords(records []dns.RR, seconds uint32) []dns.RR {
	if len(records) == 0 {
		return nil
	}
	aged := make([]dns.RR, len(records))
	for i, rr := range records {
		aged[i] = dns.Copy(rr)
		aged[i].Header().Ttl = less(rr.Header().Ttl, seconds)
	}
	return aged
}

func less(ttl, seconds uint32) uint32 { return ttl - min(ttl, seconds) }

// readAnswer turns a message that answers the question into an Answer.
func readAnswer(m *dns.Msg, q question) Answer {
	a := Answer{
		Code:          codeOf(m.Rcode),
		RCode:         m.Rcode,
		Authority:     m.Ns,
		Authenticated: m.AuthenticatedData,
		Authoritative: m.Authoritative,
		Extended:      extendedErrors(m),
	}
	owner, ttl, ok := q.name, uint32(math.MaxUint32), true
	if q.qtype != dns.TypeCNAME {
		owner, a.CNAMEChain, ttl, ok = followAliases(m.Answer, q.name)
	}
	if !ok {
		return Answer{Code: CodeBadResp, RCode: m.Rcode, Extended: a.Extended}
	}
	if a.Code == "" {
		a.Records, ttl = ownedBy(m.Answer, owner, q.qtype, ttl)
	}
	if contradicts(m, q, owner, a) {
		return Answer{Code: CodeBadResp, RCode: m.Rcode, Extended: a.Extended}
	}
	if a.Code == "" && len(a.Records) == 0 {
		a.Code = CodeNoData
	}
	switch {
	case a.Code == "":
		a.TTL = ttl
	case a.Conclusive():
		a.TTL = min(ttl, negativeTTL(m.Ns))
	}
	a.bound()
	a.weight = a.Weight()
	return a
}

// contradicts reports whether an answer contradicts itself: a name that does not exist and has what was
// queried, or nothing but records of other names. To take it for an absence would be to make one up.
func contradicts(m *dns.Msg, q question, owner string, a Answer) bool {
	switch {
	case a.Code == CodeNotFound:
		records, _ := ownedBy(m.Answer, owner, q.qtype, 0)
		return len(records) > 0
	case a.Code != "" || len(a.Records) > 0 || len(a.CNAMEChain) > 0:
		return false
	}
	related := func(rr dns.RR) bool { // a DNAME stands at a name above (RFC 6672)
		return dns.CanonicalName(rr.Header().Name) == dns.CanonicalName(q.name) || rr.Header().Rrtype == dns.TypeDNAME
	}
	return len(m.Answer) > 0 && !slices.ContainsFunc(m.Answer, related)
}

// followAliases walks the CNAME records of an answer from name to the end of the chain, whatever order they came in. ok
// is false where the chain loops or is too long. ttl is the least of the chain.
func followAliases(answer []dns.RR, name string) (owner string, chain []string, ttl uint32, ok bool) {
	aliases := make(map[string]*dns.CNAME)
	for _, rr := range answer {
		cname, is := rr.(*dns.CNAME)
		if !is || !usable(rr) {
			continue
		}
		from := dns.CanonicalName(rr.Header().Name)
		if _, seen := aliases[from]; !seen {
			aliases[from] = cname
		}
	}
	owner, ttl = dns.CanonicalName(name), math.MaxUint32
	for {
		alias, is := aliases[owner]
		if !is {
			return owner, chain, ttl, true
		}
		if alias == nil || len(chain) == maxAliases {
			return "", nil, 0, false
		}
		aliases[owner] = nil // seen
		owner = dns.CanonicalName(alias.Target)
		chain = append(chain, strings.TrimSuffix(owner, "."))
		ttl = min(ttl, validTTL(alias.Hdr.Ttl))
	}
}

// ownedBy gives the records of the type that the owner has, and the least of ttl and theirs.
func ownedBy(answer []dns.RR, owner string, qtype uint16, ttl uint32) ([]dns.RR, uint32) {
	var records []dns.RR
	owner = dns.CanonicalName(owner)
	for _, rr := range answer {
		h := rr.Header()
		if h.Rrtype != qtype || !usable(rr) || dns.CanonicalName(h.Name) != owner {
			continue
		}
		h.Ttl = validTTL(h.Ttl)
		if len(records) > 0 { // which makes thousands of equal names one
			h.Name = records[0].Header().Name
		}
		records = append(records, rr)
		ttl = min(ttl, h.Ttl)
	}
	return records, ttl
}

// usable reports whether a record counts. Those of other classes do not, nor those without data: the library reads
// those as a value full of zeroes.
func usable(rr dns.RR) bool {
	h := rr.Header()
	return h.Class == dns.ClassINET && h.Rdlength > 0
}

// validTTL reads a TTL with its highest bit set as 0 (RFC 2181 section 8).
func validTTL(ttl uint32) uint32 {
	if ttl > math.MaxInt32 {
		return 0
	}
	return ttl
}

// negativeTTL is how long an absence may be kept (RFC 2308 section 5), 0 without a SOA record.
func negativeTTL(authority []dns.RR) uint32 {
	for _, rr := range authority {
		if soa, is := rr.(*dns.SOA); is && usable(rr) {
			return min(validTTL(soa.Hdr.Ttl), validTTL(soa.Minttl))
		}
	}
	return 0
}

// codes are those of the response codes that Node's module has one for.
var codes = map[int]string{
	dns.RcodeSuccess: "", dns.RcodeNameError: CodeNotFound, dns.RcodeServerFailure: CodeServFail,
	dns.RcodeRefused: CodeRefused, dns.RcodeFormatError: CodeFormErr, dns.RcodeNotImplemented: CodeNotImp,
}

func codeOf(rcode int) string {
	if code, known := codes[rcode]; known {
		return code
	}
	return CodeBadResp
}

// leastData is how many octets the data of a type has at least, its names as short as they can be.
var leastData = map[uint16]uint16{
	dns.TypeMX: 3, dns.TypeSOA: 22, dns.TypeSRV: 7, dns.TypeHTTPS: 3, dns.TypeSVCB: 3, dns.TypeCAA: 2, dns.TypeDS: 5,
	dns.TypeDNSKEY: 4, dns.TypeTLSA: 4, dns.TypeNAPTR: 8, dns.TypeSSHFP: 3, dns.TypeURI: 4, dns.TypeLOC: 16,
	dns.TypeHINFO: 2,
}

// isCutShort reports whether not all of a record was there to be read. The library takes data that ends between two of
// its fields, and reads the others as zeroes: what a server did not say must not be reported as its answer. Records
// without any data are usable's.
func isCutShort(record dns.RR) bool {
	h := record.Header()
	if h.Rdlength == 0 || h.Class != dns.ClassINET {
		return false
	}
	switch rr := record.(type) {
	case *dns.NAPTR:
		return rr.Replacement == "" // that of the root is a dot
	case *dns.HINFO:
		return int(h.Rdlength) < len("..")+len(Unescape(rr.Cpu))+len(Unescape(rr.Os))
	case *dns.SOA:
		return rr.Mbox == "" || h.Rdlength < leastData[dns.TypeSOA]
	}
	return h.Rdlength < leastData[h.Rrtype]
}
