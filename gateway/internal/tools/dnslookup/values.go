package dnslookup

import (
	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/text/bound"

	"github.com/miekg/dns"
)

// maxParams bounds the parameters of a service, in bytes of JSON, as the tags bound each long text of a record.
const maxParams = 8 << 10

// presented is what the values of most types have: the data as zone files and dig have it.
type presented struct {
	Text string `json:"text" bound:"text=8k"`
}

func (p presented) data() string { return p.Text }

// rank is the place of a record among the others of its type, where its data has one; those of one place are in the
// order of their texts.
func (p presented) rank() uint32 { return 0 }

func ranked(first, second uint16) uint32 { return uint32(first)<<16 | uint32(second) }

// caaRecord names who may issue certificates (RFC 8659).
type caaRecord struct {
	presented
	Flags uint8  `json:"flags"`
	Tag   string `json:"tag"`
	Value string `json:"value" bound:"text=8k"`
}

// srvRecord is where a service is (RFC 2782); Target is empty where it is offered nowhere.
type srvRecord struct {
	presented
	Priority uint16 `json:"priority"`
	Weight   uint16 `json:"weight"`
	Port     uint16 `json:"port"`
	Target   string `json:"target"`
}

func (r srvRecord) rank() uint32 { return ranked(r.Priority, r.Weight) }

// serviceRecord is an SVCB or HTTPS record (RFC 9460). Target is empty where it is the owner itself, or with priority 0
// where the service is not there.
type serviceRecord struct {
	presented
	Priority uint16            `json:"priority"`
	Target   string            `json:"target"`
	Params   map[string]string `json:"params"`

	keys []string // of Params, in their order
}

// newService makes the record of an SVCB, or of an HTTPS record, which is one inside.
func newService(rr *dns.SVCB) serviceRecord {
	r := serviceRecord{
		presented: present(rr), Priority: rr.Priority, Target: dnsclient.TrimRoot(rr.Target), Params: map[string]string{},
	}
	for _, param := range dnsclient.ServiceParams(rr) {
		r.Params[param.Key] = param.Value
		r.keys = append(r.keys, param.Key)
	}
	return r
}

func (r serviceRecord) rank() uint32 { return ranked(r.Priority, 0) }

// boundParams cuts the parameters where they fill their share.
func (r *serviceRecord) boundParams(cut *bool) {
	left := maxParams
	for _, key := range r.keys {
		if left -= len(key) + len(`"":"",`); left < 0 {
			*cut = true
			delete(r.Params, key)
			continue
		}
		r.Params[key] = bound.Text(r.Params[key], left, cut)
		left -= bound.Size(r.Params[key])
	}
}

// dsRecord is the digest of a key, by which the zone above vouches for it (RFC 4034 section 5).
type dsRecord struct {
	presented
	KeyTag     uint16 `json:"keyTag"`
	Algorithm  uint8  `json:"algorithm"`
	DigestType uint8  `json:"digestType"`
	Digest     string `json:"digest" bound:"text=8k"`
}

// dnskeyRecord is a key that a zone is signed with (RFC 4034 section 2); PublicKey is base64.
type dnskeyRecord struct {
	presented
	Flags     uint16 `json:"flags"`
	Protocol  uint8  `json:"protocol"`
	Algorithm uint8  `json:"algorithm"`
	PublicKey string `json:"publicKey" bound:"text=8k"`
	KeyTag    uint16 `json:"keyTag"`
}

// tlsaRecord is a certificate, key or digest that a server's TLS is held to (RFC 6698).
type tlsaRecord struct {
	presented
	Usage    uint8  `json:"usage"`
	Selector uint8  `json:"selector"`
	Matching uint8  `json:"matching"`
	Data     string `json:"data" bound:"text=8k"`
}

// naptrRecord is a rule that makes a name or a URI of a name (RFC 3403).
type naptrRecord struct {
	presented
	Order       uint16 `json:"order"`
	Preference  uint16 `json:"preference"`
	Flags       string `json:"flags"`
	Service     string `json:"service"`
	Regexp      string `json:"regexp"`
	Replacement string `json:"replacement"`
}

func newNAPTR(rr *dns.NAPTR) naptrRecord {
	return naptrRecord{
		present(rr), rr.Order, rr.Preference, unescaped(rr.Flags), unescaped(rr.Service), unescaped(rr.Regexp),
		dnsclient.TrimRoot(rr.Replacement),
	}
}

func (r naptrRecord) rank() uint32 { return ranked(r.Order, r.Preference) }

// sshfpRecord is the digest of an SSH server's key (RFC 4255).
type sshfpRecord struct {
	presented
	Algorithm   uint8  `json:"algorithm"`
	Type        uint8  `json:"type"`
	Fingerprint string `json:"fingerprint" bound:"text=8k"`
}

// uriRecord is the URI of a service (RFC 7553).
type uriRecord struct {
	presented
	Priority uint16 `json:"priority"`
	Weight   uint16 `json:"weight"`
	Target   string `json:"target" bound:"text=8k"`
}

func (r uriRecord) rank() uint32 { return ranked(r.Priority, r.Weight) }

// locRecord is a place on Earth (RFC 1876).
type locRecord struct{ presented }

// hinfoRecord is what a host runs on (RFC 1035 section 3.3.2), or the refusal of questions for all types (RFC 8482).
type hinfoRecord struct {
	presented
	CPU string `json:"cpu"`
	OS  string `json:"os"`
}

func present(rr dns.RR) presented { return presented{dnsclient.Presentation(rr)} }

// unescaped is a character-string as it was before the library escaped it.
func unescaped(s string) string { return text.Decode(dnsclient.Unescape(s)) }
