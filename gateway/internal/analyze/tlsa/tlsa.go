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

// Problem says why senders cannot use the record at all, in words that follow "cannot be used: "; it is empty where
// they can.
func (r Record) Problem() string {
	octets, err := hex.DecodeString(r.Data)
	switch {
	case r.Usage <= pkixEE:
		return fmt.Sprintf("usage %d relies on public authorities, and mail senders follow only usages 2 and 3", r.Usage)
	case r.Usage > daneEE:
		return fmt.Sprintf("usage %d does not exist", r.Usage)
	case r.Selector > publicKey:
		return fmt.Sprintf("selector %d does not exist", r.Selector)
	case r.Matching > digestSHA512:
		return fmt.Sprintf("matching type %d does not exist", r.Matching)
	case err != nil || len(octets) == 0:
		return "it has no data"
	case r.Matching == whole && !isDER(octets):
		return "its data is not a complete certificate or public key"
	case r.Matching == digestSHA256 && len(octets) != sha256.Size:
		return fmt.Sprintf("a SHA-256 digest has %d octets, and this one has %d", sha256.Size, len(octets))
	case r.Matching == digestSHA512 && len(octets) != sha512.Size:
		return fmt.Sprintf("a SHA-512 digest has %d octets, and this one has %d", sha512.Size, len(octets))
	}
	return ""
}

// isDER reports whether the octets are one ASN.1 sequence, as certificates and public keys are, and nothing else.
func isDER(octets []byte) bool {
	var value asn1.RawValue
	rest, err := asn1.Unmarshal(octets, &value)
	return err == nil && len(rest) == 0 && value.Class == asn1.ClassUniversal && value.Tag == asn1.TagSequence
}

// Zero reports whether the data is nothing but zeros, which no certificate and no key has for a digest.
func (r Record) Zero() bool { return r.Data != "" && strings.Trim(r.Data, "0") == "" }
