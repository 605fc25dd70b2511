// Package tlsa reads TLSA records (RFC 6698), holds them against certificates, and judges those of mail servers (RFC
// 7672). It is pure: no I/O.
package tlsa

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/asn1"
	"encoding/hex"
	"fmt"
	"strings"

	"diagnostics/gateway/internal/tool/finding"

	"github.com/miekg/dns"
)

// Record is one TLSA record.
type Record struct {
	Usage    uint8 `json:"usage"`
	Selector uint8 `json:"selector"`
	Matching uint8 `json:"matching"`
	// Data is the certificate association data in lower-case hexadecimal.
	Data string `json:"data"`
}

// Read gives the TLSA records of an answer; it is never nil.
func Read(answer []dns.RR) []Record {
	records := []Record{}
	for _, rr := range answer {
		if r, is := rr.(*dns.TLSA); is {
			records = append(records, Record{Usage: r.Usage, Selector: r.Selector, Matching: r.MatchingType,
				Data: strings.ToLower(r.Certificate)})
		}
	}
	return records
}

// Params are the three numbers of a record as they are usually written: "3 1 1".
func (r Record) Params() string { return fmt.Sprintf("%d %d %d", r.Usage, r.Selector, r.Matching) }

// The registered values that a record for SMTP may have (RFC 7218, RFC 7672 section 3.1).
const (
	pkixEE       = 1
	daneEE       = 3
	publicKey    = 1
	whole        = 0
	digestSHA256 = 1
	digestSHA512 = 2
)

// Problem returns why senders cannot use the record at all, as the code of a clause and its arguments; an empty code if
// they can.
func (r Record) Problem() (code string, args finding.Args) {
	octets, err := hex.DecodeString(r.Data)
	digest := func(name string, expected int) (string, finding.Args) {
		return "TLSA_DIGEST_LENGTH", finding.Args{"digest": name, "expected": expected, "octets": len(octets)}
	}
	switch {
	case r.Usage <= pkixEE:
		return "TLSA_USAGE_FOR_WEB", finding.Args{"usage": r.Usage}
	case r.Usage > daneEE:
		return "TLSA_USAGE_UNKNOWN", finding.Args{"usage": r.Usage}
	case r.Selector > publicKey:
		return "TLSA_SELECTOR_UNKNOWN", finding.Args{"selector": r.Selector}
	case r.Matching > digestSHA512:
		return "TLSA_MATCHING_UNKNOWN", finding.Args{"matching": r.Matching}
	case err != nil || len(octets) == 0:
		return "TLSA_NO_DATA", nil
	case r.Matching == whole && !isDER(octets):
		return "TLSA_DATA_INCOMPLETE", nil
	case r.Matching == digestSHA256 && len(octets) != sha256.Size:
		return digest("SHA-256", sha256.Size)
	case r.Matching == digestSHA512 && len(octets) != sha512.Size:
		return digest("SHA-512", sha512.Size)
	}
	return "", nil
}

// isDER reports whether the octets are one ASN.1 sequence, as certificates and public keys are, and nothing else.
func isDER(octets []byte) bool {
	var value asn1.RawValue
	rest, err := asn1.Unmarshal(octets, &value)
	return err == nil && len(rest) == 0 && value.Class == asn1.ClassUniversal && value.Tag == asn1.TagSequence
}

// Zero reports whether the data is nothing but zeros, which no certificate and no key has for a digest.
func (r Record) Zero() bool { return r.Data != "" && strings.Trim(r.Data, "0") == "" }
