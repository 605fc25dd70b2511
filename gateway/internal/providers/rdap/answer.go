package rdap

import "time"

// Reason says why nothing was found.
type Reason string

// The reasons, named as whois-lookup's.
const (
	// NotFound is the registry's word: it has no such object.
	NotFound Reason = "notFound"
	// Reserved is NotFound where the registry explains that it does not give the name out.
	Reserved Reason = "reserved"
	// NoService is what the redirector answers: no RDAP server is known for this top-level domain or block. It is given
	// for a name whose last label is no top-level domain too.
	NoService Reason = "noRdapService"
)

// Source is who gave the facts.
type Source struct {
	// Name is "Registry RDAP", "Registrar RDAP", "RDAP redirector", or "DNS root zone" where that alone was queried.
	Name string
	// URL is what was queried, empty for the root zone and where the host is the operator's own and not public.
	URL       string
	FetchedAt time.Time // UTC
	Cached    bool
}

// Notice is a message of the registry or the registrar about its answer, or ours about the registrar's failure. Plain
// text, bounded in length.
type Notice struct {
	Title       string `json:"title"`
	Description string `json:"description"`
	// FromService marks ours.
	FromService bool `json:"fromService,omitempty"`
}

// DomainAnswer is what is known of a domain name.
type DomainAnswer struct {
	// Found reports whether Domain is set; else Reason says why not.
	Found  bool
	Reason Reason
	// Undelegated goes with NoService where the last label is no top-level domain, so that there is no registry of any
	// kind: on port 43 neither.
	Undelegated bool
	Domain      *Domain
	Notices     []Notice // never nil
	// MoreNotices means that there are others.
	MoreNotices bool
	// Sources are the registry (or the redirector, where it has none listed), then the registrar where it answered.
	Sources []Source
}

// Domain is the registration of a domain name. Lists are never nil; a nil pointer is a fact that was not reported.
type Domain struct {
	Name        string     `json:"name"`        // A-labels, lower case
	UnicodeName string     `json:"unicodeName"` // U-labels
	Handle      *string    `json:"handle"`
	Status      []string   `json:"status"` // as the registry words it
	Registrar   *Registrar `json:"registrar"`
	Events      Events     `json:"events"`
	Nameservers []string   `json:"nameservers"` // lower case, without trailing dots
	DNSSEC      DNSSEC     `json:"dnssec"`
	Contacts    []Contact  `json:"contacts"`
	// Redactions are those that are not of a contact.
	Redactions []Redaction `json:"redactions"`
	// Truncated means that the registry sent more than is shown: of the lists here, not of those inside.
	Truncated bool `json:"truncated,omitempty"`
}

// Registrar is the company that the name was registered through.
type Registrar struct {
	Name       *string `json:"name"`
	IANAID     *string `json:"ianaId"`
	URL        *string `json:"url"` // http or https
	AbuseEmail *string `json:"abuseEmail"`
	AbusePhone *string `json:"abusePhone"`
}

// Events are moments in RFC 3339, UTC.
type Events struct {
	Registered  *string `json:"registered"`
	Expires     *string `json:"expires"`
	Updated     *string `json:"updated"`
	Transferred *string `json:"transferred"`
	// RegistrarExpires is when the registrar's own registration ends, which the registry may renew by itself.
	RegistrarExpires *string `json:"registrarExpires"`
}

// DNSSEC is the delegation's state.
type DNSSEC struct {
	// Signed is nil where the registry does not publish it.
	Signed *bool `json:"signed"`
	DS     []DS  `json:"ds"`
	// Truncated is as that of Domain.
	Truncated bool `json:"truncated,omitempty"`
}

// DS is a delegation signer record (RFC 4034 section 5).
type DS struct {
	KeyTag     uint16 `json:"keyTag"`
	Algorithm  uint8  `json:"algorithm"`
	DigestType uint8  `json:"digestType"`
	Digest     string `json:"digest"` // hexadecimal, upper case
}

// Contact is a role in a registration, without anything personal.
type Contact struct {
	Roles        []string `json:"roles" wire:"len=1.."`
	Organization *string  `json:"organization"`
	// Country is ISO 3166-1 alpha-2 where the registry wrote that or an English name, else as written.
	Country *string `json:"country"`
	// Redacted means that the provider says of itself that it holds data of this contact back.
	Redacted bool `json:"redacted"`
	// Redactions are what it says it holds back, and why, where it gives a reason.
	Redactions []Redaction `json:"redactions"`
	// Truncated is as that of Domain.
	Truncated bool `json:"truncated,omitempty"`
}

// Redaction is something that a provider says it holds back (RFC 9537). One of the two at least is set.
type Redaction struct {
	Name   *string `json:"name"`   // what it is, such as "Registrant Phone"
	Reason *string `json:"reason"` // why, as the provider words it, such as "Server policy"
}

// NetworkAnswer is what is known of an address's network.
type NetworkAnswer struct {
	// Found reports whether Network is set; else Reason says why not.
	Found   bool
	Reason  Reason
	Network *Network
	Notices []Notice // never nil
	// MoreNotices means that there are others.
	MoreNotices bool
	Source      Source
}

// Allocation is an address block as its registry calls it. Lists are never nil; handle, name and type are empty where
// the registry does not publish them.
type Allocation struct {
	Handle string `json:"handle"`
	Name   string `json:"name"`
	Type   string `json:"type"`
	// CIDRs cover the block exactly, in order.
	CIDRs        []string `json:"cidrs" wire:"len=1.."`
	StartAddress string   `json:"startAddress"`
	EndAddress   string   `json:"endAddress"`
	ParentHandle *string  `json:"parentHandle"`
	Status       []string `json:"status"`
}

// Network is the registration of an address block.
type Network struct {
	Allocation
	// Country is the network object's own (ISO 3166-1 alpha-2, upper case), never a contact's. ARIN publishes none.
	Country *string `json:"country"`
	// Organization is the registrant's name where it is an organization.
	Organization *string `json:"organization"`
	// AbuseContact is an e-mail address.
	AbuseContact *string `json:"abuseContact"`
	// Redactions are what the registry says it holds back of the network and of all its contacts.
	Redactions []Redaction `json:"redactions"`
	// Truncated is as that of Domain.
	Truncated bool `json:"truncated,omitempty"`
}
