// Package revocation judges whether an authority has revoked a certificate: by its certificate revocation list (CRL,
// RFC 5280) or by an answer of its responder (OCSP, RFC 6960). Nothing counts before its signature was verified. It is
// pure: no I/O but reading what it is given.
package revocation

import (
	"time"

	"diagnostics/gateway/internal/tool/finding"
)

// Status is what is known about a certificate.
type Status string

// The statuses. NotChecked is for certificates whose authority was not queried.
const (
	Good       Status = "good"
	Revoked    Status = "revoked"
	Unknown    Status = "unknown"
	NotChecked Status = "notChecked"
)

// Source is where a status comes from; empty for none.
type Source string

// The sources.
const (
	CRL    Source = "crl"
	OCSP   Source = "ocsp"
	Staple Source = "staple" // an OCSP answer that came with the handshake (RFC 6066 section 8)
)

// Verdict is a status with its circumstances. Moments that are not known are zero.
type Verdict struct {
	Status     Status    `json:"status"`
	Source     Source    `json:"source"`
	URL        string    `json:"url"`
	ProducedAt time.Time `json:"producedAt"`
	NextUpdate time.Time `json:"nextUpdate"`
	RevokedAt  time.Time `json:"revokedAt"`
	// Reason is the authority's for a revocation, by its name in RFC 5280 section 5.3.1. It may be empty.
	Reason string `json:"reason"`
	// Why are the reasons for which the status is not known, or was not checked.
	Why []Why `json:"-"`
}

// Why is the code of a reason, with its arguments.
type Why struct {
	Code string
	Args finding.Args
}

// Undecided returns a verdict that decides nothing.
func Undecided(status Status, code string, args finding.Args) Verdict {
	return Verdict{Status: status, Why: []Why{{code, args}}}
}

// Problem is the code of why an answer decides nothing.
type Problem string

// Error returns the code.
func (p Problem) Error() string { return string(p) }

func (p Problem) why() []Why { return []Why{{Code: string(p)}} }

// Known reports whether the authority's own word decides.
func (v Verdict) Known() bool { return v.Status == Good || v.Status == Revoked }

// longest is how long a verdict is kept, and skew what clocks may differ by: responders sign an answer the moment
// before it is sent.
const (
	longest = 12 * time.Hour
	skew    = 5 * time.Minute
)

// Keep is how long the verdict may be kept: to its next update, and not at all where that is not known.
func (v Verdict) Keep(now time.Time) time.Duration {
	if !v.Known() || v.NextUpdate.IsZero() {
		return 0
	}
	return max(0, min(longest, v.NextUpdate.Sub(now)))
}

// early reports whether an answer is not of its time yet. Both ends of the time are inside it.
func early(thisUpdate, now time.Time) bool { return now.Add(skew).Before(thisUpdate) }

// late reports whether an answer is no longer of its time.
func late(nextUpdate, now time.Time) bool { return now.Add(-skew).After(nextUpdate) }

// reasons are the names of the codes of RFC 5280 section 5.3.1; unspecified is the same as none.
var reasons = map[int]string{
	1: "keyCompromise", 2: "cACompromise", 3: "affiliationChanged", 4: "superseded", 5: "cessationOfOperation",
	6: "certificateHold", 8: "removeFromCRL", 9: "privilegeWithdrawn", 10: "aACompromise",
}
