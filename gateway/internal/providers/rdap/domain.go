package rdap

import (
	"cmp"
	"slices"
	"strings"

	"diagnostics/gateway/internal/text/bound"

	"golang.org/x/net/idna"
)

const maxContacts = 32

// readDomain reads a registry's or registrar's answer about a name.
func readDomain(body []byte, name string) (domainRecord, error) {
	o, err := decode(body)
	if err != nil {
		return domainRecord{}, err
	}
	if o.notFound() {
		e := o.explain()
		return domainRecord{Reason: e.absence(kindDomain), Notices: e.notices, MoreNotices: e.more}, nil
	}
	if err := o.of("domain"); err != nil {
		return domainRecord{}, err
	}
	if o.LDHName == "" && o.Handle == "" && o.UnicodeName == "" {
		return domainRecord{}, errOtherClass
	}
	if written := cmp.Or(o.LDHName, o.UnicodeName); written != "" && !sameName(string(written), name) {
		return domainRecord{}, errOtherName
	}
	record := domainRecord{Domain: o.domain(name), Related: o.registrarLink()}
	record.Notices = notices(o.Notices, &record.MoreNotices)
	return record, nil
}

func (o object) domain(name string) *Domain {
	d := &Domain{
		Name:        name,
		UnicodeName: unicodeName(name),
		Handle:      o.Handle.pointer(),
		Registrar:   o.registrar(),
		Events:      moments(o.Events),
		DNSSEC:      o.dnssec(),
	}
	d.Status = o.status(&d.Truncated)
	d.Nameservers = o.nameservers(&d.Truncated)
	d.Contacts, d.Redactions = o.contacts(&d.Truncated)
	return d
}

// sameName reports whether two names are the same, one as the server writes it, which may be upper case, in U-labels or
// with a trailing dot.
func sameName(written, name string) bool {
	return canonicalName(written) == strings.ToLower(name)
}

func canonicalName(s string) string {
	s = strings.ToLower(strings.TrimSuffix(s, "."))
	if ascii, err := idna.Lookup.ToASCII(s); err == nil {
		return ascii
	}
	return s
}

func unicodeName(name string) string {
	if u, err := idna.Display.ToUnicode(name); err == nil {
		return u
	}
	return name
}

func (o object) nameservers(cut *bool) []string {
	out := []string{}
	for _, n := range bound.First([]nameserver(o.Nameservers), maxElements, cut) {
		name := canonicalName(n.name)
		if strings.Contains(name, ".") && !strings.Contains(name, " ") && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return bound.List(out, maxNameservers, cut)
}

func (o object) dnssec() DNSSEC {
	d := DNSSEC{DS: []DS{}}
	if o.SecureDNS.value == nil {
		return d
	}
	for _, written := range bound.First([]dsData(o.SecureDNS.value.DS), maxElements, &d.Truncated) {
		if ds, ok := written.read(); ok {
			d.DS = append(d.DS, ds)
		}
	}
	d.DS = bound.List(d.DS, maxDS, &d.Truncated)
	signed := o.SecureDNS.value.DelegationSigned
	if signed.known || len(d.DS) > 0 {
		d.Signed = new(signed.set || !signed.known)
	}
	return d
}

func (d dsData) read() (DS, bool) {
	tag, ok1 := d.KeyTag.small(16)
	algorithm, ok2 := d.Algorithm.small(8)
	digestType, ok3 := d.DigestType.small(8)
	digest := strings.ToUpper(strings.ReplaceAll(string(d.Digest), " ", ""))
	ok := ok1 && ok2 && ok3 && digest != "" && strings.Trim(digest, "0123456789ABCDEF") == ""
	// #nosec G115 -- small has judged how many bits each has
	return DS{KeyTag: uint16(tag), Algorithm: uint8(algorithm), DigestType: uint8(digestType), Digest: digest}, ok
}

// registrarLink is where the registrar has its own object on the name (RDAP response profile of the gTLDs).
func (o object) registrarLink() string {
	for _, l := range o.Links {
		if strings.EqualFold(string(l.Rel), "related") && isRDAP(string(l.Type)) && l.Href != "" {
			return string(l.Href)
		}
	}
	return ""
}

func isRDAP(mediaType string) bool {
	mediaType, _, _ = strings.Cut(mediaType, ";")
	return strings.EqualFold(strings.TrimSpace(mediaType), "application/rdap+json")
}

// thin reports whether a registry publishes no contact but the registrar.
func (d *Domain) thin() bool {
	return !slices.ContainsFunc(d.Contacts, func(c Contact) bool { return c.Organization != nil || c.Country != nil })
}
