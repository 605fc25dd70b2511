package dnsdelegation

import (
	"diagnostics/gateway/internal/tool/finding"
)

// Result is the way down to a name, and what is wrong with it.
type Result struct {
	Conclusion   finding.Conclusion `json:"conclusion"`
	Findings     []located          `json:"findings" bound:"list=96k"`
	Domain       string             `json:"domain"`
	Delegation   string             `json:"delegation" wire:"enum=ok|warn|fail"`
	DNSSEC       string             `json:"dnssec" wire:"enum=secure|insecure|bogus|indeterminate"`
	Reason       *reason            `json:"reason"`
	Zones        []zoneResult       `json:"zones" bound:"list=640k"`
	Answers      []answerResult     `json:"answers" bound:"list=96k"`
	Aliases      []aliasResult      `json:"aliases"`
	TrustAnchors trustAnchors       `json:"trustAnchors"`
	Queries      int                `json:"queries" wire:"max=160"`
	Complete     bool               `json:"complete"`
	Truncated    bool               `json:"truncated,omitempty"`
}

// located is a finding with the zone and the name server that it is about.
type located struct {
	finding.Finding
	Zone   *string `json:"zone"`
	Server *string `json:"server"`
}

// Adopt implements finding.Adopter.
func (r *Result) Adopt(c finding.Rows) error {
	r.Findings = finding.Adopted(r.Findings, c, func(l *located) *finding.Finding { return &l.Finding })
	return r.Conclusion.Adopt(c)
}

type reason struct {
	Code    string `json:"code"`
	Zone    string `json:"zone"`
	Message string `json:"message"`
}

type trustAnchors struct {
	Source string  `json:"source"`
	Date   *string `json:"date"`
}

type answerResult struct {
	Name      string   `json:"name"`
	Type      string   `json:"type"`
	RCode     *string  `json:"rcode"`
	Values    []string `json:"values" bound:"text=16k list=24k"`
	DNSSEC    string   `json:"dnssec" wire:"enum=secure|insecure|bogus|indeterminate"`
	Truncated bool     `json:"truncated,omitempty"`
}

type aliasResult struct {
	Name   string `json:"name"`
	Target string `json:"target"`
	// Zones are those on the way to the target that no list before has.
	Zones []zoneResult `json:"zones"`
}

type zoneResult struct {
	Zone       string            `json:"zone"`
	Parent     *string           `json:"parent"`
	ParentNS   []string          `json:"parentNs" bound:"list=8k"`
	ChildNS    []string          `json:"childNs" bound:"list=8k"`
	Servers    []serverResult    `json:"servers" bound:"list=32k"`
	Shared     bool              `json:"shared,omitempty"`
	Records    []string          `json:"records"`
	Rollover   *rollover         `json:"rollover"`
	DS         []dsResult        `json:"ds"`
	Keys       []keyResult       `json:"keys"`
	Signatures []signatureResult `json:"signatures"`
	Denial     *denialResult     `json:"denial"`
	DNSSEC     string            `json:"dnssec" wire:"enum=secure|insecure|bogus|indeterminate"`
	Reason     *string           `json:"reason"`
	Truncated  bool              `json:"truncated,omitempty"`
}

type serverResult struct {
	Name          string   `json:"name"`
	Address       *string  `json:"address"`
	Family        *int     `json:"family" wire:"enum=4|6"`
	Glue          bool     `json:"glue"`
	UDP           string   `json:"udp" wire:"enum=answer|timeout|refused|error|skipped"`
	TCP           string   `json:"tcp" wire:"enum=answer|timeout|refused|error|skipped"`
	Authoritative *bool    `json:"authoritative"`
	RCode         *string  `json:"rcode"`
	Serial        *uint32  `json:"serial"`
	NS            []string `json:"ns" wire:"null" bound:"list=2k"` // null where it gave none
	EDNS          *bool    `json:"edns"`
	EDNSOption    *bool    `json:"ednsOption"`
	Shared        bool     `json:"shared,omitempty"`
	Recursion     *bool    `json:"recursion"`
	Ms            *float64 `json:"ms"`
	Reason        *string  `json:"reason"`
}

// numbered is a registered number with its name.
type numbered struct {
	Number int    `json:"number" wire:"max=255"`
	Name   string `json:"name"`
}

type dsResult struct {
	KeyTag     uint16   `json:"keyTag"`
	Algorithm  numbered `json:"algorithm"`
	DigestType numbered `json:"digestType"`
	Digest     string   `json:"digest" bound:"text=1k"`
	Matches    bool     `json:"matches"`
}

type keyResult struct {
	KeyTag    uint16   `json:"keyTag"`
	Algorithm numbered `json:"algorithm"`
	Bits      *int     `json:"bits"`
	Role      string   `json:"role" wire:"enum=ksk|zsk|csk"` // ksk, zsk or csk
	Flags     uint16   `json:"flags"`
}

type signatureResult struct {
	Covers     string   `json:"covers"`
	KeyTag     uint16   `json:"keyTag"`
	Algorithm  numbered `json:"algorithm"`
	Inception  string   `json:"inception"`
	Expiration string   `json:"expiration"`
	Valid      bool     `json:"valid"`
	Reason     *string  `json:"reason"`
}

type denialResult struct {
	Kind       string `json:"kind" wire:"enum=nsec|nsec3"` // nsec or nsec3
	Iterations *int   `json:"iterations" wire:"max=65535"`
	OptOut     *bool  `json:"optOut"`
}

type rollover struct {
	CDS     []string `json:"cds" bound:"text=2k list=8k"`
	CDNSKEY []string `json:"cdnskey" bound:"text=2k list=8k"`
	State   string   `json:"state" wire:"enum=done|pending|delete|inconsistent|unsafe"`
}
