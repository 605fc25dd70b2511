package rdap

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"diagnostics/gateway/internal/text/bound"
)

var (
	errNotObject  = errors.New("rdap: not an object")
	errOtherClass = errors.New("rdap: an object of another class")
	errOtherName  = errors.New("rdap: an object of another name")
	errNoRange    = errors.New("rdap: a network without a usable address range")
	errOtherRange = errors.New("rdap: a network that does not hold the address")
)

// object is a domain or an IP network as RFC 9083 sections 5.3 and 5.4 have it, or an error (section 6).
type object struct {
	Class       text             `json:"objectClassName"`
	Handle      text             `json:"handle"`
	LDHName     text             `json:"ldhName"`
	UnicodeName text             `json:"unicodeName"`
	Status      list[text]       `json:"status"`
	Entities    list[entity]     `json:"entities"`
	Events      list[event]      `json:"events"`
	Nameservers list[nameserver] `json:"nameservers"`
	SecureDNS   part[secureDNS]  `json:"secureDNS"`
	Links       list[link]       `json:"links"`
	Notices     list[remark]     `json:"notices"`
	Redacted    list[redaction]  `json:"redacted"` // RFC 9537
	ErrorCode   text             `json:"errorCode"`
	Title       text             `json:"title"`       // of an error
	Description list[line]       `json:"description"` // of an error

	Start        text         `json:"startAddress"`
	End          text         `json:"endAddress"`
	CIDRs        list[prefix] `json:"cidr0_cidrs"`
	Name         text         `json:"name"`
	Type         text         `json:"type"`
	Country      text         `json:"country"`
	ParentHandle text         `json:"parentHandle"`
}

// notFound reports whether this is an error object that came with status 200.
func (o object) notFound() bool { return o.ErrorCode == "404" }

// of checks the class. Some servers leave it out.
func (o object) of(class string) error {
	if o.Class != "" && !strings.EqualFold(string(o.Class), class) {
		return errOtherClass
	}
	return nil
}

func (o object) status(cut *bool) []string {
	out := make([]string, 0, len(o.Status))
	for _, s := range bound.First([]text(o.Status), maxElements, cut) {
		if s != "" {
			out = append(out, string(s))
		}
	}
	return bound.List(out, maxStatus, cut)
}

type entity struct {
	Handle    text           `json:"handle"`
	Roles     list[text]     `json:"roles"`
	Card      card           `json:"vcardArray"`
	PublicIDs list[publicID] `json:"publicIds"`
	Links     list[link]     `json:"links"`
	Entities  list[entity]   `json:"entities"`
	Remarks   list[remark]   `json:"remarks"`
	Status    list[text]     `json:"status"`
}

// has reports whether the entity has a role. Roles are compared without case, as they come in all.
func (e entity) has(role string) bool {
	return slices.ContainsFunc(e.Roles, func(r text) bool { return strings.EqualFold(string(r), role) })
}

// find gives the first entity that a condition holds for, those of the list before those inside them.
func find(entities []entity, condition func(entity) bool) (entity, bool) {
	if i := slices.IndexFunc(entities, condition); i >= 0 {
		return entities[i], true
	}
	for _, e := range entities {
		if found, ok := find(e.Entities, condition); ok {
			return found, true
		}
	}
	return entity{}, false
}

// withRole gives the first entity of the role.
func withRole(entities []entity, role string) (entity, bool) {
	return find(entities, func(e entity) bool { return e.has(role) })
}

type publicID struct {
	Type       text `json:"type"`
	Identifier text `json:"identifier"`
}

type event struct {
	Action text `json:"eventAction"`
	Date   text `json:"eventDate"`
}

type link struct {
	Rel  text `json:"rel"`
	Type text `json:"type"`
	Href href `json:"href"`
}

// remark is a notice or a remark.
type remark struct {
	Title       text       `json:"title"`
	Type        text       `json:"type"`
	Description list[line] `json:"description"`
}

type secureDNS struct {
	DelegationSigned truth        `json:"delegationSigned"`
	DS               list[dsData] `json:"dsData"`
}

type dsData struct {
	KeyTag     text `json:"keyTag"`
	Algorithm  text `json:"algorithm"`
	DigestType text `json:"digestType"`
	Digest     href `json:"digest"`
}

// prefix is an element of the cidr0 extension.
type prefix struct {
	V4     text `json:"v4prefix"`
	V6     text `json:"v6prefix"`
	Length text `json:"length"`
}

// nameserver is an object, or a bare name.
type nameserver struct{ name string }

func (n *nameserver) UnmarshalJSON(raw []byte) error {
	var named part[struct {
		LDHName     text `json:"ldhName"`
		UnicodeName text `json:"unicodeName"`
	}]
	_ = named.UnmarshalJSON(raw)
	var bare text
	_ = bare.UnmarshalJSON(raw)
	n.name = string(bare)
	if v := named.value; v != nil {
		n.name = string(cmp.Or(v.LDHName, v.UnicodeName))
	}
	return nil
}

// small reads a number of a DS record.
func (t text) small(bits int) (uint64, bool) {
	n, err := strconv.ParseUint(string(t), 10, bits)
	return n, err == nil
}
