package dnssec

import (
	"strings"
	"time"

	"diagnostics/gateway/internal/text"

	"github.com/miekg/dns"
)

// Reason is why data has its status, or a warning. Fields that a code has no use for are zero. Reasons are comparable.
type Reason struct {
	Code Code
	// Zone is the zone whose keys the data was judged by, or to which it belongs.
	Zone string
	// Name and Type are the owner and the type of the records that are at fault, or were asked for: "www.example.", "A".
	Name, Type string
	// KeyTag and Algorithm are those of the key, DS record or signature that is at fault.
	KeyTag    uint16
	Algorithm uint8
	// Number is the digest type for DigestUnsupported and DigestDeprecated, the bits for KeyShort, the iterations for
	// IterationsHigh and IterationsNotZero, and the TTL in seconds for TTLAboveOriginal.
	Number int
	// Date is when a signature starts or ends, in UTC, and Off how far it is from the time of judgement.
	Date time.Time
	Off  time.Duration
	// Record is the record that decides, in presentation form with single spaces, cut at 500 characters.
	Record string
}

// Code names a reason.
type Code string

// Reasons of data that is indeterminate.
const (
	NoAnswer         Code = "noAnswer"
	Truncated        Code = "truncated"
	Referral         Code = "referral"
	OutOfZone        Code = "outOfZone"
	TypeNotValidated Code = "typeNotValidated"
	AnchorUnmatched  Code = "anchorUnmatched"
	KeyUnusable      Code = "keyUnusable"
	SignatureBudget  Code = "signatureBudget"
	HashBudget       Code = "hashBudget"
)

// Reasons of data that is insecure.
const (
	NoDS                 Code = "noDs"
	OptOut               Code = "optOut"
	AlgorithmUnsupported Code = "algorithmUnsupported"
	DigestUnsupported    Code = "digestUnsupported"
	IterationsHigh       Code = "iterationsHigh"
)

// Reasons of data that is bogus.
const (
	KeysMissing          Code = "keysMissing"
	DSKeyMissing         Code = "dsKeyMissing"
	DigestMismatch       Code = "digestMismatch"
	KeyRevoked           Code = "keyRevoked"
	KeyNotZone           Code = "keyNotZone"
	KeyMalformed         Code = "keyMalformed"
	KeysUnsigned         Code = "keysUnsigned"
	SignatureMissing     Code = "signatureMissing"
	SignatureExpired     Code = "signatureExpired"
	SignatureNotYetValid Code = "signatureNotYetValid"
	SignatureInvalid     Code = "signatureInvalid"
	SignatureKeyMissing  Code = "signatureKeyMissing"
	SignatureUnsupported Code = "signatureUnsupported"
	SignerWrong          Code = "signerWrong"
	LabelsWrong          Code = "labelsWrong"
	RecordsMissing       Code = "recordsMissing"
	WildcardUnproven     Code = "wildcardUnproven"
	AliasWrong           Code = "aliasWrong"
	DenialMissing        Code = "denialMissing"
	DenialIncomplete     Code = "denialIncomplete"
	DenialWrongSide      Code = "denialWrongSide"
	TypeExists           Code = "typeExists"
	NameDenied           Code = "nameDenied"
	NameExists           Code = "nameExists" // a warning with NSEC
	NotDelegated         Code = "notDelegated"
)

// Warnings. The reasons of single signatures, keys and DS records are warnings too where others suffice.
const (
	SignatureExpiresSoon Code = "signatureExpiresSoon"
	TTLAboveOriginal     Code = "ttlAboveOriginal"
	IterationsNotZero    Code = "iterationsNotZero"
	AlgorithmDeprecated  Code = "algorithmDeprecated"
	AlgorithmUnsigned    Code = "algorithmUnsigned"
	DigestDeprecated     Code = "digestDeprecated"
	DigestIgnored        Code = "digestIgnored"
	KeyShort             Code = "keyShort"
	DenialContradicts    Code = "denialContradicts"
)

// Status is the status of data for which the code is the reason, empty for codes that are only warnings.
func (c Code) Status() Status { return statuses[c] }

// statuses are all codes with the status of data for which they are the reason; warnings have none.
var statuses = map[Code]Status{
	NoAnswer:             Indeterminate,
	Truncated:            Indeterminate,
	Referral:             Indeterminate,
	OutOfZone:            Indeterminate,
	TypeNotValidated:     Indeterminate,
	AnchorUnmatched:      Indeterminate,
	KeyUnusable:          Indeterminate,
	SignatureBudget:      Indeterminate,
	HashBudget:           Indeterminate,
	NoDS:                 Insecure,
	OptOut:               Insecure,
	AlgorithmUnsupported: Insecure,
	DigestUnsupported:    Insecure,
	IterationsHigh:       Insecure,
	KeysMissing:          Bogus,
	DSKeyMissing:         Bogus,
	DigestMismatch:       Bogus,
	KeyRevoked:           Bogus,
	KeyNotZone:           Bogus,
	KeyMalformed:         Bogus,
	KeysUnsigned:         Bogus,
	SignatureMissing:     Bogus,
	SignatureExpired:     Bogus,
	SignatureNotYetValid: Bogus,
	SignatureInvalid:     Bogus,
	SignatureKeyMissing:  Bogus,
	SignatureUnsupported: Bogus,
	SignerWrong:          Bogus,
	LabelsWrong:          Bogus,
	RecordsMissing:       Bogus,
	WildcardUnproven:     Bogus,
	AliasWrong:           Bogus,
	DenialMissing:        Bogus,
	DenialIncomplete:     Bogus,
	DenialWrongSide:      Bogus,
	TypeExists:           Bogus,
	NameDenied:           Bogus,
	NameExists:           Bogus,
	NotDelegated:         Bogus,
	SignatureExpiresSoon: "",
	TTLAboveOriginal:     "",
	IterationsNotZero:    "",
	AlgorithmDeprecated:  "",
	AlgorithmUnsigned:    "",
	DigestDeprecated:     "",
	DigestIgnored:        "",
	KeyShort:             "",
	DenialContradicts:    "",
}

// reason makes a Reason about the records of an owner.
func reason(code Code, zone, owner name, rtype uint16) *Reason {
	return &Reason{Code: code, Zone: zone.String(), Name: owner.String(), Type: dns.Type(rtype).String()}
}

// maxRecord is how many characters of a record are kept.
const maxRecord = 500

// with adds the record that decides.
func (r *Reason) with(rr dns.RR) *Reason {
	r.Record = text.Show(strings.Join(strings.Fields(rr.String()), " "), maxRecord)
	switch rr := rr.(type) {
	case *dns.RRSIG:
		r.KeyTag, r.Algorithm = rr.KeyTag, rr.Algorithm
	case *dns.DS:
		r.KeyTag, r.Algorithm = rr.KeyTag, rr.Algorithm
	case *dns.DNSKEY:
		r.KeyTag, r.Algorithm = rr.KeyTag(), rr.Algorithm
	}
	return r
}

// number sets Number.
func (r *Reason) number(n int) *Reason {
	r.Number = n
	return r
}
