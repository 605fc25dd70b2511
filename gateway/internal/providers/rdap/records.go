package rdap

import (
	"time"
)

// domainRecord is what is kept of one RDAP server's answer about a domain name: nothing personal is in it.
type domainRecord struct {
	Reason  Reason   `json:"reason,omitempty"`
	URL     string   `json:"url"`
	Domain  *Domain  `json:"domain,omitempty"`
	Notices []Notice `json:"notices,omitempty"`
	// MoreNotices tells that there are others.
	MoreNotices bool `json:"moreNotices,omitempty"`
	// Undelegated goes with the reason NoService.
	Undelegated bool `json:"undelegated,omitempty"`
	// Related is the registrar's own object, empty where the registry names none.
	Related string `json:"related,omitempty"`
	// Heard is when the redirector said that there is no service, where that was remembered of another name.
	Heard *time.Time `json:"heard,omitempty"`
	// Failure is the sentence of a registrar's failure, which is kept for a moment so that it is not asked at once again.
	Failure string `json:"failure,omitempty"`
}

// networkRecord is the same of an address's network.
type networkRecord struct {
	Reason  Reason   `json:"reason,omitempty"`
	URL     string   `json:"url"`
	Network *Network `json:"network,omitempty"`
	Notices []Notice `json:"notices,omitempty"`
	// MoreNotices tells that there are others.
	MoreNotices bool `json:"moreNotices,omitempty"`
}

// The shares that lists have of an answer, in bytes of JSON, which bound what is kept too: a body is at most MaxBody
// long, and escapes make a multiple of it.
const (
	maxStatus      = 16 << 10
	maxNameservers = 32 << 10
	maxDS          = 32 << 10
	maxRoles       = 4 << 10 // of one contact
	maxRedactions  = 4 << 10 // of one contact, and of what is no contact's
)
