// Package dnssec validates DNS answers: it judges messages by the keys of their zone, from trust anchors down, as RFC
// 4035, 5155, 6840 and 9276 define. It is pure: no I/O and no clock.
//
// A chain is judged from the top. Trusted makes the start from trust anchors, Keys authenticates a zone's keys,
// Delegation judges the step to a child zone, and Answer the data of a name:
//
//	v := dnssec.New(now, afford)
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
func (v *Verdict) fail(r *Reason) { v.Status, v.Reason = statuses[r.Code], r }

func (v *Verdict) warn(reasons ...Reason) {
	for _, r := range reasons {
		if !slices.Contains(v.Warnings, r) {
			v.Warnings = append(v.Warnings, r)
		}
	}
}

// inherited is the verdict on what depends on v.
func (v *Verdict) inherited() Verdict { return Verdict{Status: v.Status, Reason: v.Reason} }

// Afford reports whether a run has room for the processor time of a verification or of hashing a name (RFC 5155 section
// 5), and counts it. Data that is not yet judged when it refuses is indeterminate, so that messages made to be
// expensive (CVE-2023-50387, CVE-2023-50868) cost no more than others. What is repeated is not counted again.
type Afford func(cost time.Duration) bool

// Bounds on the verifications that a set of records takes.
const (
	// maxAttempts is how many signatures are verified for one set.
	maxAttempts = 16
	// maxColliding is how many keys with equal tag and algorithm are tried for one signature or DS record.
	maxColliding = 4
)

// Validator judges the messages of one run at one point in time. It is not safe for concurrent use.
type Validator struct {
	now      time.Time
	afford   Afford
	verified map[[sha256.Size]byte]bool
	hashed   map[string]string
}

// New returns a Validator that judges dates by now.
func New(now time.Time, afford Afford) *Validator {
	return &Validator{
		now: seconds(now), afford: afford, verified: map[[sha256.Size]byte]bool{}, hashed: map[string]string{},
	}
}

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
