package dnssec

import (
	"slices"

	"github.com/miekg/dns"
)

// Delegation is the step from a zone to a child zone.
type Delegation struct {
	Verdict
	// Zone is the child.
	Zone string
	// DS are the DS records where Status is Secure, otherwise nil.
	DS         []*dns.DS
	Denial     *Denial // nil without NSEC and NSEC3 records
	Signatures []Signature

	anchored bool // DS are trust anchors
}

// Delegation judges the step to a child by an answer for its DS records, or by a referral to it. It is secure with DS
// records and insecure where their absence is proven. Where the parent's records prove that there is no delegation, it
// is bogus (NotDelegated); Answer judges whether a name exists.
func (v *Validator) Delegation(parent Zone, child string, msg *dns.Msg) Delegation {
	d := Delegation{Verdict: parent.inherited(), Zone: dns.CanonicalName(child)}
	if d.Status != Secure {
		return d
	}
	q, ok := parseName(child)
	if !ok || !q.below(parent.name) {
		d.fail(&Reason{Code: OutOfZone, Zone: parent.Name, Name: d.Zone, Type: "DS"})
		return d
	}
	if r := unusable(msg, parent.name, q, dns.TypeDS); r != nil {
		d.fail(r)
		return d
	}
	if set := find(group(slices.Concat(msg.Answer, msg.Ns)), q, dns.TypeDS); set != nil {
		v.signed(&d, &parent, set)
	} else {
		v.unsigned(&d, &parent, q, msg)
	}
	return d
}

// signed judges the DS records.
func (v *Validator) signed(d *Delegation, parent *Zone, set *rrset) {
	out := v.verify(parent.name, parent.keys, set, nil)
	d.Signatures = out.signatures
	d.warn(out.warnings...)
	if out.reason == nil && out.expanded {
		out.reason = reason(LabelsWrong, parent.name, set.owner, dns.TypeDS)
	}
	if out.reason != nil {
		d.fail(out.reason)
		return
	}
	for _, rr := range set.records {
		if ds, ok := rr.(*dns.DS); ok {
			d.DS = append(d.DS, ds)
		}
	}
}

// unsigned judges the proof that there are no DS records (RFC 4035 section 5.2, RFC 5155 section 8.9).
func (v *Validator) unsigned(d *Delegation, parent *Zone, q name, msg *dns.Msg) {
	e := v.gather(parent, msg.Ns, false)
	d.Denial, d.Signatures = e.denial, e.signatures
	d.warn(e.warnings...)
	if e.reason != nil {
		d.fail(e.reason)
		return
	}
	warning, failure := e.iterations(q, dns.TypeDS)
	if failure != nil {
		d.fail(failure)
		return
	}
	if warning != nil {
		d.warn(*warning)
	}
	p, failure := e.prove(q, dns.TypeDS)
	switch {
	case failure != nil:
		d.fail(failure)
	case p.matched && slices.Contains(p.types, dns.TypeNS):
		d.fail(reason(NoDS, parent.name, q, dns.TypeDS).with(p.record))
	default:
		d.fail(reason(NotDelegated, parent.name, q, dns.TypeDS).with(p.record))
	}
}
