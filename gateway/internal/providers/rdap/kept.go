package rdap

import (
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"diagnostics/gateway/internal/providers/registry"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/text/bound"
)

// A store may be shared, and another writer can write anything. What is kept is therefore held to all that is demanded
// of a registry's own answer: that it is of the queried object, in our own form, and no longer than what we would keep.
// What is not is fetched anew.

// domainFits judges what is kept of a domain name, of its registry or its registrar.
func domainFits(name string) func(domainRecord) bool {
	return func(r domainRecord) bool {
		if !tidy(r.Reason, r.URL, r.Notices, r.Related, r.Failure) || !validSource(r.URL) || !validNotices(r.Notices) {
			return false
		}
		if r.Domain == nil {
			return (r.Failure != "") != validReason(r.Reason) && (!r.Undelegated || r.Reason == NoService)
		}
		return r.Reason == "" && r.Failure == "" && r.Domain.fits(name)
	}
}

func (d *Domain) fits(name string) bool {
	e := d.Events
	return d.Name == name && d.UnicodeName == unicodeName(name) &&
		tidy(d.Handle, d.Status, d.Registrar, d.Events, d.Nameservers, d.DNSSEC, d.Contacts, d.Redactions) &&
		within(d.Status, maxStatus) && within(d.Nameservers, maxNameservers) && d.DNSSEC.valid() &&
		registry.Unchanged(readMoment, e.Registered, e.Expires, e.Updated, e.Transferred, e.RegistrarExpires) &&
		validRedactions(d.Redactions) && len(d.Contacts) <= maxContacts &&
		!slices.ContainsFunc(d.Contacts, func(c Contact) bool {
			return !within(c.Roles, maxRoles) || !validRedactions(c.Redactions)
		}) &&
		(d.Registrar == nil ||
			registry.Unchanged(webLink, d.Registrar.URL) && registry.Unchanged(address, d.Registrar.AbuseEmail))
}

func (d DNSSEC) valid() bool {
	return within(d.DS, maxDS) && !slices.ContainsFunc(d.DS, func(ds DS) bool {
		return ds.Digest == "" || strings.Trim(ds.Digest, "0123456789ABCDEF") != ""
	})
}

// networkFits judges what is kept of an address's network.
func networkFits(addr netip.Addr) func(networkRecord) bool {
	return func(r networkRecord) bool {
		if !tidy(r) || !validSource(r.URL) || !validNotices(r.Notices) {
			return false
		}
		if r.Network == nil {
			return validReason(r.Reason)
		}
		return r.Reason == "" && r.Network.fits(addr)
	}
}

func (n *Network) fits(addr netip.Addr) bool {
	b := block{start: readAddr(n.StartAddress, false), end: readAddr(n.EndAddress, true)}
	if !b.holds(addr) || b.start.String() != n.StartAddress || b.end.String() != n.EndAddress ||
		!within(n.Status, maxStatus) || !validRedactions(n.Redactions) {
		return false
	}
	var prefixes []netip.Prefix
	for _, s := range n.CIDRs {
		p, err := netip.ParsePrefix(s)
		if err != nil || p.Masked() != p {
			return false
		}
		prefixes = append(prefixes, p)
	}
	return coverExactly(b, prefixes) && registry.Unchanged(networkCountry, n.Country) &&
		registry.Unchanged(address, n.AbuseContact)
}

// validRedactions reports whether boundRedactions gives such.
func validRedactions(all []Redaction) bool {
	var cut bool
	return len(boundRedactions(all, &cut)) == len(all) && !cut
}

// within reports whether a list is as it would be cut.
func within[T any](list []T, limit int) bool {
	var cut bool
	bound.List(list, limit, &cut)
	return !cut
}

func validReason(r Reason) bool { return r == NotFound || r == Reserved || r == NoService }

// validSource reports whether a source has a public URL, or none, which stands for the operator's own host, or for a
// server that was not reached.
func validSource(url string) bool {
	if url == "" {
		return true
	}
	u, err := target.ParseURL(url)
	return err == nil && u.Scheme() == "https"
}

// validNotices reports whether they can be a registry's; ours are made when they are shown.
func validNotices(all []Notice) bool {
	return len(all) <= maxNotices && !slices.ContainsFunc(all, func(n Notice) bool {
		return n.FromService || clean(n.Title, maxTitle) != n.Title
	})
}

// tidy reports whether all texts within some values are plain, on one line and not too long, and all lists there; only
// the notices of an answer without any are null.
func tidy(values ...any) bool {
	return !slices.ContainsFunc(values, func(v any) bool { return !tidyValue(reflect.ValueOf(v)) })
}

func tidyValue(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		return clean(v.String(), maxHref) == v.String()
	case reflect.Pointer:
		return v.IsNil() || tidyValue(v.Elem())
	case reflect.Slice:
		return (!v.IsNil() || v.Type() == reflect.TypeFor[[]Notice]()) && allTidy(v.Len(), v.Index)
	case reflect.Struct:
		return allTidy(v.NumField(), v.Field)
	default:
		return true // numbers and truths are what they are
	}
}

func allTidy(n int, at func(int) reflect.Value) bool {
	for i := range n {
		if !tidyValue(at(i)) {
			return false
		}
	}
	return true
}

// domainRecord is what is kept of one RDAP server's answer about a domain name: nothing personal is in it.
type domainRecord struct {
	Reason  Reason   `json:"reason,omitempty"`
	URL     string   `json:"url"`
	Domain  *Domain  `json:"domain,omitempty"`
	Notices []Notice `json:"notices,omitempty"`
	// MoreNotices means that there are others.
	MoreNotices bool `json:"moreNotices,omitempty"`
	// Undelegated goes with the reason NoService.
	Undelegated bool `json:"undelegated,omitempty"`
	// Related is the registrar's own object, empty where the registry names none.
	Related string `json:"related,omitempty"`
	// Failure is the sentence of a registrar's failure, which is kept for a moment so that it is not queried at once
	// again.
	Failure string `json:"failure,omitempty"`
}

// networkRecord is the same of an address's network.
type networkRecord struct {
	Reason  Reason   `json:"reason,omitempty"`
	URL     string   `json:"url"`
	Network *Network `json:"network,omitempty"`
	Notices []Notice `json:"notices,omitempty"`
	// MoreNotices means that there are others.
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
