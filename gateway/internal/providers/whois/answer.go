package whois

import "time"

// Outcome is what a lookup came to.
type Outcome string

// The outcomes.
const (
	// Found is a name that is registered.
	Found Outcome = "found"
	// NotFound is the registry's word: the name is not registered.
	NotFound Outcome = "notFound"
	// Reserved is a name that the registry does not give out.
	Reserved Outcome = "reserved"
	// Unread means that nothing is known: there is no server to query, or it says nothing that can be read.
	Unread Outcome = "unread"
)

// Answer is what is known of a domain name.
type Answer struct {
	Outcome Outcome
	// Domain is set where Found.
	Domain *Domain
	// Why is a sentence for the client, set where Unread.
	Why string
	// Line is the registry's own sentence where Reserved, as far as it may be shown; it may be empty.
	Line string
	// Server is who said so: the registry's WHOIS server, or IANA's where that names none.
	Server    string
	FetchedAt time.Time // UTC
	Cached    bool
}

// Domain is the registration of a domain name. Lists are never nil; a nil pointer is a fact that was not reported.
type Domain struct {
	Status    []string   `json:"status"` // as the registry words it
	Registrar *Registrar `json:"registrar"`
	// The moments are in RFC 3339, UTC. A day without a time is its midnight in UTC.
	Registered *string `json:"registered"`
	Expires    *string `json:"expires"`
	// RegistrarExpires is the registrar's own date, where the answer has one.
	RegistrarExpires *string  `json:"registrarExpires,omitempty"`
	Updated          *string  `json:"updated"`
	Transferred      *string  `json:"transferred"`
	Nameservers      []string `json:"nameservers"` // A-labels, lower case, without trailing dots
	// Signed reports whether the delegation is signed (DNSSEC).
	Signed *bool `json:"signed"`
	// Truncated means that the registry sent more than is shown.
	Truncated bool `json:"truncated,omitempty"`
}

// Registrar is the company that the name was registered through.
type Registrar struct {
	Name   *string `json:"name"`
	IANAID *string `json:"ianaId"`
	URL    *string `json:"url"` // http or https
}
