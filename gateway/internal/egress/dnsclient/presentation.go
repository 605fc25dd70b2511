package dnsclient

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/miekg/dns"
)

// Presentation gives the data of a record as zone files have it (RFC 1035 section 5.1): what dig prints behind the
// type, but for names, which have no dot of the root at their end, and hexadecimal, which is lower case and in one
// piece. Data that has no form of its own is that of RFC 3597.
func Presentation(record dns.RR) string {
	switch rr := record.(type) {
	case *dns.CAA:
		return fmt.Sprintf("%d %s %s", rr.Flag, rr.Tag, quote(rr.Value))
	case *dns.SRV:
		return fmt.Sprintf("%d %d %d %s", rr.Priority, rr.Weight, rr.Port, nameOrRoot(rr.Target))
	case *dns.SVCB:
		return presentService(rr)
	case *dns.HTTPS:
		return presentService(&rr.SVCB)
	case *dns.DS:
		return fmt.Sprintf("%d %d %d %s", rr.KeyTag, rr.Algorithm, rr.DigestType, strings.ToLower(rr.Digest))
	case *dns.DNSKEY:
		// One without a key may be (RFC 2535 section 3.1.2).
		return strings.TrimSuffix(fmt.Sprintf("%d %d %d %s", rr.Flags, rr.Protocol, rr.Algorithm, rr.PublicKey), " ")
	case *dns.TLSA:
		return fmt.Sprintf("%d %d %d %s", rr.Usage, rr.Selector, rr.MatchingType, strings.ToLower(rr.Certificate))
	case *dns.NAPTR:
		return fmt.Sprintf("%d %d %s %s %s %s", rr.Order, rr.Preference, requote(rr.Flags), requote(rr.Service),
			requote(rr.Regexp), nameOrRoot(rr.Replacement))
	case *dns.SSHFP:
		return fmt.Sprintf("%d %d %s", rr.Algorithm, rr.Type, strings.ToLower(rr.FingerPrint))
	case *dns.URI:
		return fmt.Sprintf("%d %d %s", rr.Priority, rr.Weight, quote(rr.Target))
	case *dns.LOC:
		return presentLocation(rr)
	case *dns.HINFO:
		return requote(rr.Cpu) + " " + requote(rr.Os)
	case *dns.RFC3597:
		return fmt.Sprintf(`\# %d %s`, len(rr.Rdata)/2, strings.ToLower(rr.Rdata))
	}
	return strings.TrimPrefix(record.String(), record.Header().String())
}

// nameOrRoot is TrimRoot for where an empty name would leave a gap.
func nameOrRoot(name string) string {
	if name == "." {
		return name
	}
	return TrimRoot(name)
}

// quote writes bytes as a character-string in quotes.
func quote(raw string) string { return `"` + escape(raw) + `"` }

// requote is quote for what the library has escaped in its own way.
func requote(escaped string) string { return quote(string(Unescape(escaped))) }

// escape puts a backslash before quotes and backslashes, and writes what is not printable ASCII as \DDD.
func escape(raw string) string {
	var b strings.Builder
	b.Grow(len(raw))
	for i := range len(raw) {
		switch c := raw[i]; {
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\%03d`, c)
		case c == '"', c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// KeyTag is the number by which a DS or RRSIG record means a key (RFC 4034 appendix B), which is no digest and need not
// be unique. As in dig, RSA/MD5 has no rule of its own: it must not be used any more. The library's method takes keys
// of 4 KiB at most.
func KeyTag(key *dns.DNSKEY) uint16 {
	public, err := base64.StdEncoding.DecodeString(key.PublicKey)
	if err != nil {
		return 0 // the library made it of bytes
	}
	sum := uint32(key.Flags) + uint32(key.Protocol)<<8 + uint32(key.Algorithm)
	for i, c := range public {
		if i%2 == 0 {
			sum += uint32(c) << 8
		} else {
			sum += uint32(c)
		}
	}
	return uint16(sum + sum>>16) // #nosec G115 -- the low half is meant
}
