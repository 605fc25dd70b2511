package dnssec

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"time"

	"diagnostics/gateway/internal/analyze/weight"

	"github.com/miekg/dns"
)

// Signature is one signature of a set of records, as judged.
type Signature struct {
	// Owner and Covers are the name and the type of the records.
	Owner, Covers string
	Signer        string
	KeyTag        uint16
	Algorithm     uint8
	// Inception and Expiration are in UTC. Both count as valid.
	Inception, Expiration time.Time
	// Valid means that a key of the zone verifies it, now. Reason is why not, otherwise nil.
	Valid  bool
	Reason *Reason
}

// outcome is what the signatures of a set prove.
type outcome struct {
	// reason is nil where the set is secure.
	reason *Reason
	// expanded is set for records made from a wildcard, whose owner without the first label is encloser.
	expanded   bool
	encloser   name
	signatures []Signature
	warnings   []Reason
}

// expirySoon is how long before its end the last signature is a warning.
const expirySoon = 3 * 24 * time.Hour

// verification is that of one set.
type verification struct {
	*Validator
	zone     name
	keys     []*key
	set      *rrset
	attempts int // that remain
}

// verify judges the signatures of a set (RFC 4035 section 5.3). A valid signature makes the set secure where counts
// accepts its key; nil accepts all.
func (v *Validator) verify(zone name, keys []*key, set *rrset, counts func(*key) bool) outcome {
	var out outcome
	if len(set.signatures) == 0 {
		out.reason = reason(SignatureMissing, zone, set.owner, set.rtype)
		return out
	}
	run := verification{Validator: v, zone: zone, keys: keys, set: set, attempts: maxAttempts}
	var failures []*Reason
	var last *dns.RRSIG // the valid signature that ends last
	var ends time.Time
	for _, signature := range set.signatures {
		by, failure := run.judge(signature)
		s := v.describe(set, signature, failure)
		out.signatures = append(out.signatures, s)
		switch {
		case failure != nil:
			failures = append(failures, failure)
		case counts != nil && !counts(by):
			failures = append(failures, reason(KeysUnsigned, zone, set.owner, set.rtype).with(signature))
		case last == nil || s.Expiration.After(ends):
			last, ends = signature, s.Expiration
		}
	}
	if last == nil {
		out.reason = worst(failures)
		return out
	}
	out.expanded = int(last.Labels) < set.labels()
	out.encloser = set.owner[:last.Labels]
	for _, f := range failures {
		if f.Code != KeysUnsigned {
			out.warnings = append(out.warnings, *f)
		}
	}
	out.warnings = append(out.warnings, v.remarks(zone, set, last, ends)...)
	return out
}

func (v *Validator) describe(set *rrset, s *dns.RRSIG, failure *Reason) Signature {
	return Signature{
		Owner: set.owner.String(), Covers: dns.Type(set.rtype).String(), Signer: dns.CanonicalName(s.SignerName),
		KeyTag: s.KeyTag, Algorithm: s.Algorithm,
		Inception: v.date(s.Inception), Expiration: v.date(s.Expiration),
		Valid: failure == nil, Reason: failure,
	}
}

// remarks are the warnings about a valid signature.
func (v *Validator) remarks(zone name, set *rrset, s *dns.RRSIG, ends time.Time) []Reason {
	var out []Reason
	if ends.Sub(v.now) < expirySoon {
		out = append(out, *reason(SignatureExpiresSoon, zone, set.owner, set.rtype).with(s).at(ends, v.now))
	}
	for _, rr := range set.records {
		if rr.Header().Ttl > s.OrigTtl {
			return append(out, *reason(TTLAboveOriginal, zone, set.owner, set.rtype).with(rr).number(int(rr.Header().Ttl)))
		}
	}
	return out
}

// gravity orders the reasons of failed signatures: the first of a set's is reported. Those that leave the status open
// come first.
var gravity = []Code{SignatureBudget, KeyUnusable, SignatureExpired, SignatureNotYetValid, SignatureInvalid, KeyRevoked,
	KeyNotZone, KeyMalformed, SignatureKeyMissing, SignatureUnsupported, KeysUnsigned, LabelsWrong, SignerWrong}

func worst(reasons []*Reason) *Reason {
	return slices.MinFunc(reasons, func(a, b *Reason) int {
		return slices.Index(gravity, a.Code) - slices.Index(gravity, b.Code)
	})
}

// judge returns the key that a signature is valid by, or why it is not valid.
func (r *verification) judge(s *dns.RRSIG) (*key, *Reason) {
	fail := func(c Code) *Reason { return reason(c, r.zone, r.set.owner, r.set.rtype).with(s) }
	signer, ok := parseName(s.SignerName)
	switch starts, ends := r.date(s.Inception), r.date(s.Expiration); {
	case !ok || !signer.equal(r.zone):
		return nil, fail(SignerWrong)
	case int(s.Labels) > r.set.labels() || int(s.Labels) < len(r.zone):
		return nil, fail(LabelsWrong)
	case ends.Before(r.now):
		return nil, fail(SignatureExpired).at(ends, r.now)
	case starts.After(r.now):
		return nil, fail(SignatureNotYetValid).at(starts, r.now)
	}
	keys, failure := candidates(r.keys, s.KeyTag, s.Algorithm), SignatureInvalid
	switch {
	case len(keys) == 0:
		return nil, fail(SignatureKeyMissing)
	case len(keys) > maxColliding:
		keys, failure = keys[:maxColliding], SignatureBudget
	}
	for _, k := range keys {
		if k.flaw != "" {
			if failure == SignatureInvalid {
				failure = k.flaw
			}
			continue
		}
		valid, spent := r.try(k, s, signer)
		if spent {
			return nil, fail(SignatureBudget)
		}
		if valid {
			return k, nil
		}
	}
	if failure == AlgorithmUnsupported { // only DS records make a zone insecure
		failure = SignatureUnsupported
	}
	return nil, fail(failure)
}

// candidates are the keys that a key tag may mean, at most one more than maxColliding.
func candidates(keys []*key, tag uint16, algorithm uint8) []*key {
	var out []*key
	for _, k := range keys {
		if k.Tag == tag && k.Record.Algorithm == algorithm && len(out) <= maxColliding {
			out = append(out, k)
		}
	}
	return out
}

// try verifies a signature by one key. spent means that the set or the run may take no more verifications.
func (r *verification) try(k *key, s *dns.RRSIG, signer name) (valid, spent bool) {
	if r.attempts == 0 {
		return false, true
	}
	r.attempts--
	sig, err := base64.StdEncoding.DecodeString(s.Signature)
	data, ok := r.set.signedData(s, signer)
	if err != nil || !ok {
		return false, false
	}
	id := digestOf([]byte{k.Record.Algorithm}, []byte(k.Record.PublicKey), sig, data)
	if valid, ok := r.verified[id]; ok {
		return valid, false
	}
	if !r.afford(k.cost + weight.SignedData.Of(len(data))) {
		return false, true
	}
	valid = k.verify(data, sig)
	r.verified[id] = valid
	return valid, false
}

// digestOf identifies a list of byte strings.
func digestOf(parts ...[]byte) (out [sha256.Size]byte) {
	h := sha256.New()
	for _, p := range parts {
		h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(p)))) //nolint:gosec // parts of a message
		h.Write(p)
	}
	return [sha256.Size]byte(h.Sum(nil))
}
