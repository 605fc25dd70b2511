package dnssec

import (
	"fmt"
	"strconv"
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

// Codes returns all codes, in no order.
func Codes() []Code {
	var out []Code
	for c := range catalogue {
		out = append(out, c)
	}
	return out
}

// Status is the status of data for which the code is the reason, empty for codes that are only warnings.
func (c Code) Status() Status { return catalogue[c].status }

// RFC is the section that defines the check: "RFC 4035 section 5.3.1".
func (c Code) RFC() string { return catalogue[c].rfc }

// entry describes a code. The sentence names the fields of Reason in braces.
type entry struct {
	status        Status
	rfc, sentence string
}

var catalogue = map[Code]entry{
	NoAnswer:         {Indeterminate, "RFC 4035 section 4.3", "The servers of {zone} do not answer for {type} of {name}."},
	Truncated:        {Indeterminate, "RFC 2181 section 9", "The answer of {zone} for {type} of {name} is truncated."},
	Referral:         {Indeterminate, "RFC 4035 section 3.1.4", "The answer of {zone} for {name} refers to another zone."},
	OutOfZone:        {Indeterminate, "RFC 4035 section 5.3.1", "{name} is not a name of {zone}."},
	TypeNotValidated: {Indeterminate, "RFC 4035 section 3.1", "Answers of type {type} are not validated."},
	AnchorUnmatched: {Indeterminate, "RFC 4035 section 5",
		"No trust anchor for {zone} names a key that {zone} publishes."},
	KeyUnusable: {Indeterminate, "RFC 3110 section 2",
		"Key {tag} of {zone} is of a size that this check does not verify."},
	SignatureBudget: {Indeterminate, "RFC 4035 section 5.3.3",
		"{zone} takes more signature verifications than this check performs; it stopped at {type} of {name}."},
	HashBudget: {Indeterminate, "RFC 9276 section 3.2",
		"{zone} takes more NSEC3 hashes than this check performs; it stopped at {type} of {name}."},

	NoDS: {Insecure, "RFC 4035 section 5.2", "{zone} proves that {name} has no DS record, so that {name} is not signed."},
	OptOut: {Insecure, "RFC 5155 section 9.2",
		"The NSEC3 records of {zone} opt out: {name} may be a delegation without signatures."},
	AlgorithmUnsupported: {Insecure, "RFC 4035 section 5.2",
		"The DS record with key tag {tag} of {name} is of algorithm {algorithm}, which validators do not support."},
	DigestUnsupported: {Insecure, "RFC 6840 section 5.2",
		"The DS record with key tag {tag} of {name} is of digest type {number}, which validators do not support."},
	IterationsHigh: {Insecure, "RFC 9276 section 3.2",
		"{zone} uses NSEC3 with {number} iterations; validators treat more than 100 as unsigned."},

	KeysMissing: {Bogus, "RFC 4035 section 5.2", "{zone} has a DS record at its parent but publishes no DNSKEY record."},
	DSKeyMissing: {Bogus, "RFC 4035 section 5.2",
		"The DS record of {zone} names key {tag} of algorithm {algorithm}, which {zone} does not publish."},
	DigestMismatch: {Bogus, "RFC 4035 section 5.2",
		"The digest in the DS record of {zone} is not that of key {tag}, which {zone} publishes."},
	KeyRevoked:   {Bogus, "RFC 5011 section 2.1", "Key {tag} of {zone} is revoked."},
	KeyNotZone:   {Bogus, "RFC 4034 section 2.1", "Key {tag} of {zone} is not a zone key of protocol 3."},
	KeyMalformed: {Bogus, "RFC 4034 section 2.1.4", "Key {tag} of {zone} is not a key of algorithm {algorithm}."},
	KeysUnsigned: {Bogus, "RFC 4035 section 5.2",
		"The DNSKEY records of {zone} are not signed by a key that its DS records name."},
	SignatureMissing: {Bogus, "RFC 4035 section 5.3.1", "The {type} records of {name} have no signature."},
	SignatureExpired: {Bogus, "RFC 4035 section 5.3.1",
		"The signature of the {type} records of {name} expired on {date}, {off} ago.{clock}"},
	SignatureNotYetValid: {Bogus, "RFC 4035 section 5.3.1",
		"The signature of the {type} records of {name} is valid from {date}, {off} from now.{clock}"},
	SignatureInvalid: {Bogus, "RFC 4035 section 5.3.3",
		"The signature of the {type} records of {name} by key {tag} does not match them."},
	SignatureKeyMissing: {Bogus, "RFC 4035 section 5.3.1",
		"The signature of the {type} records of {name} is by key {tag} of algorithm {algorithm}, " +
			"which {zone} does not publish."},
	SignatureUnsupported: {Bogus, "RFC 6840 section 5.12",
		"The {type} records of {name} have no signature but of algorithm {algorithm}, which validators do not support."},
	SignerWrong: {Bogus, "RFC 4035 section 5.3.1", "The signature of the {type} records of {name} is not by {zone}."},
	LabelsWrong: {Bogus, "RFC 4035 section 5.3.1",
		"The signature of the {type} records of {name} has a count of labels that does not fit the name."},
	RecordsMissing: {Bogus, "RFC 4035 section 3.1.1",
		"The answer has a signature of the {type} records of {name}, but not the records."},
	WildcardUnproven: {Bogus, "RFC 4035 section 5.3.4",
		"The {type} records of {name} come from a wildcard, without proof that {name} itself does not exist."},
	AliasWrong: {Bogus, "RFC 6672 section 5.3.1", "The CNAME record of {name} does not follow from the DNAME record."},
	DenialMissing: {Bogus, "RFC 4035 section 5.4",
		"{zone} is signed and denies {type} of {name} without NSEC or NSEC3 records."},
	DenialIncomplete: {Bogus, "RFC 4035 section 5.4",
		"The NSEC or NSEC3 records of {zone} do not prove that {type} of {name} does not exist."},
	DenialWrongSide: {Bogus, "RFC 6840 section 4.1",
		"The record that denies {type} of {name} is of the wrong side of a zone cut, or above a DNAME record."},
	TypeExists: {Bogus, "RFC 4035 section 5.4",
		"{zone} denies {type} of {name}, but its own NSEC or NSEC3 record lists the type or an alias."},
	NameDenied: {Bogus, "RFC 4035 section 5.4",
		"{zone} answers that {name} exists without {type} records, but its own records deny the name."},
	NameExists: {Bogus, "RFC 5155 section 8.4",
		"The answer for {type} of {name} is NXDOMAIN, but the zone's own records prove that {name} exists."},
	NotDelegated: {Bogus, "RFC 6840 section 4.4",
		"The records of {zone} that deny a DS record prove that {name} is not delegated."},

	SignatureExpiresSoon: {"", "RFC 6781 section 4.4.2",
		"The signature of the {type} records of {name} expires on {date}, {off} from now."},
	TTLAboveOriginal: {"", "RFC 4035 section 5.3.3",
		"The {type} records of {name} have a TTL of {number} s, more than the original TTL that is signed."},
	IterationsNotZero: {"", "RFC 9276 section 3.1", "{zone} uses NSEC3 with {number} iterations; it ought to be 0."},
	AlgorithmDeprecated: {"", "RFC 9905 section 2",
		"Key {tag} of {zone} is of algorithm {algorithm}, which must not be used; " +
			"some validators treat the zone as not signed."},
	AlgorithmUnsigned: {"", "RFC 6840 section 5.11",
		"The DS records of {zone} name algorithm {algorithm}, but no key of it that they name signs the DNSKEY records."},
	DigestDeprecated: {"", "RFC 8624 section 3.3",
		"The DS record with key tag {tag} of {zone} is of digest type {number} (SHA-1), which must not be used."},
	DigestIgnored: {"", "RFC 4509 section 3",
		"The DS record with key tag {tag} of {zone} is ignored, because others have a stronger digest than SHA-1."},
	KeyShort: {"", "RFC 6781 section 3.4.2", "Key {tag} of {zone} has {number} bits; RSA keys ought to have 2048."},
	DenialContradicts: {"", "RFC 8198 section 4",
		"A record of {zone} denies {type} of {name}, which exists; resolvers that cache it lose the name."},
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

// Sentence is the reason in English.
func (r Reason) Sentence() string {
	clock := ""
	if r.Off <= clockSkew {
		clock = " A clock that is wrong by minutes has this effect."
	}
	return strings.NewReplacer(
		"{zone}", shown(r.Zone), "{name}", shown(r.Name), "{type}", r.Type, "{tag}", strconv.Itoa(int(r.KeyTag)),
		"{algorithm}", fmt.Sprintf("%d (%s)", r.Algorithm, AlgorithmName(r.Algorithm)),
		"{number}", strconv.Itoa(r.Number), "{date}", r.Date.Format("2006-01-02 15:04 UTC"),
		"{off}", span(r.Off), "{clock}", clock,
	).Replace(catalogue[r.Code].sentence)
}

// shown is a name without the trailing dot.
func shown(name string) string {
	if name == "." {
		return "the root"
	}
	return strings.TrimSuffix(name, ".")
}
