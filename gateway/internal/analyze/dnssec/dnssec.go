// Package dnssec validates DNS answers: it judges messages by the keys of their zone, from trust anchors down, as RFC
// 4035, 5155, 6840 and 9276 define. It is pure: no I/O and no clock.
//
// A chain is judged from the top. Trusted makes the start from trust anchors, Keys authenticates a zone's keys,
// Delegation judges the step to a child zone, and Answer the data of a name:
//
//	v := dnssec.New(now, dnssec.DefaultBudget())
//	root := v.Keys(dnssec.Trusted(".", anchors), rootKeys)
//	com := v.Keys(v.Delegation(root, "com.", comDS), comKeys)
//	answer := v.Answer(com, "www.com.", dns.TypeA, message)
//
// Each result carries a Verdict. What follows a result that is not secure inherits its verdict.
package dnssec

import (
	"crypto/sha256"
	"slices"
	"time"

	"github.com/miekg/dns"
)

// Status is the security status of data (RFC 4033 section 5, RFC 4035 section 4.3).
type Status string

// The statuses.
const (
	// Secure: a chain of signatures leads from a trust anchor to the data.
	Secure Status = "secure"
	// Insecure: such a chain proves that the data is not signed, or is signed in a way that validators do not check.
	Insecure Status = "insecure"
	// Bogus: the data ought to be signed and does not validate.
	Bogus Status = "bogus"
	// Indeterminate: this package cannot judge the data.
	Indeterminate Status = "indeterminate"
)

// Verdict is a status and why.
type Verdict struct {
	Status Status
	// Reason is nil where Status is Secure.
	Reason *Reason
	// Warnings do not change the status. None is there twice.
	Warnings []Reason
}

// fail sets the status that belongs to a reason.
func (v *Verdict) fail(r *Reason) { v.Status, v.Reason = catalogue[r.Code].status, r }

func (v *Verdict) warn(reasons ...Reason) {
	for _, r := range reasons {
		if !slices.Contains(v.Warnings, r) {
			v.Warnings = append(v.Warnings, r)
		}
	}
}

// inherited is the verdict on what depends on v.
func (v *Verdict) inherited() Verdict { return Verdict{Status: v.Status, Reason: v.Reason} }

// Budget bounds the work of a run, so that messages made to be expensive (CVE-2023-50387, CVE-2023-50868) cost no more
// than others. Data that is not yet judged when it is spent is indeterminate.
type Budget struct {
	// Set is how many signatures are verified for one set of records.
	Set int
	// Signatures is how many are verified in a run. A repeated verification counts once.
	Signatures int
	// Hashes is how many names are hashed in a run (RFC 5155 section 5). A repeated name counts once.
	Hashes int
}

// DefaultBudget is enough for every zone that is not made to exhaust it.
func DefaultBudget() Budget { return Budget{Set: 16, Signatures: 512, Hashes: 150} }

// maxColliding is how many keys with equal tag and algorithm are tried for one signature or DS record.
const maxColliding = 4

// Validator judges the messages of one run at one point in time. It is not safe for concurrent use.
type Validator struct {
	now      time.Time
	left     Budget
	verified map[[sha256.Size]byte]bool
	hashed   map[string]string
}

// New returns a Validator that judges dates by now.
func New(now time.Time, b Budget) *Validator {
	return &Validator{now: seconds(now), left: b, verified: map[[sha256.Size]byte]bool{}, hashed: map[string]string{}}
}

// Left is what remains of the budget.
func (v *Validator) Left() Budget { return v.left }

// unusable returns why a message is not an answer, or nil.
func unusable(msg *dns.Msg, zone, owner name, rtype uint16) *Reason {
	switch {
	case msg == nil || msg.Rcode != dns.RcodeSuccess && msg.Rcode != dns.RcodeNameError:
		return reason(NoAnswer, zone, owner, rtype)
	case msg.Truncated:
		return reason(Truncated, zone, owner, rtype)
	}
	return nil
}
