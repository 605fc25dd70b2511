// Package dkim judges the DKIM key records of one selector (RFC 6376 section 3.6, RFC 8301, RFC 8463). It is pure: no
// I/O.
package dkim

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"diagnostics/gateway/internal/analyze/mail"
)

// Report is what the records of a selector say.
type Report struct {
	// Record is the key record, empty where there is none or several.
	Record string
	// Found reports whether there is any key record, a revoked or broken one included.
	Found bool
	// KeyType is the k tag, "rsa" where the record has none; empty without a record.
	KeyType string
	// KeyBits is the size of the key, 0 where it cannot be read.
	KeyBits int
	// Revoked means an empty p tag.
	Revoked bool
	Issues  mail.Issues
}

const sectionKey = "RFC 6376 section 3.6.1"

// Sizes of RSA keys (RFC 8301 section 3.2).
const (
	minBits  = 1024
	goodBits = 2048
	maxBits  = 4096
)

const ed25519Octets = 32

// Read judges the TXT records of a selector. Records that hold no key of any kind are counted as none.
func Read(txt []string) Report {
	var r Report
	keys := slices.DeleteFunc(slices.Clone(txt), func(record string) bool { return !isKey(record) })
	switch {
	case len(keys) > 1:
		r.Found = true
		r.add(mail.Fail, "DKIM_SEVERAL_RECORDS", "RFC 6376 section 3.6.2.2",
			"The selector has %d key records, and which one is used is undefined. Keep one.", len(keys))
		return r
	case len(keys) == 0 && len(txt) > 0:
		r.add(mail.Warn, "DKIM_NOT_A_KEY", sectionKey,
			"The selector has a TXT record that is not a DKIM key: %q. Publish v=DKIM1; p=… there.", mail.Show(txt[0]))
		return r
	case len(keys) == 0:
		return r
	case len(txt) > 1:
		r.add(mail.Warn, "DKIM_EXTRA_RECORDS", "RFC 6376 section 3.6.2.2",
			"The selector has other TXT records besides the key, and which one is used is undefined. Remove them.")
	}
	r.Found, r.Record = true, keys[0]
	r.read(keys[0])
	return r
}

// isKey reports whether a TXT record was meant to be a key: it says that it is DKIM, or it has a p tag.
func isKey(record string) bool {
	tags, _ := mail.ParseTags(record)
	if version, ok := tags.Get("v"); ok {
		return strings.HasPrefix(strings.ToUpper(version), "DKIM")
	}
	_, ok := tags.Get("p")
	return ok
}

func (r *Report) add(severity mail.Severity, code, reference, format string, args ...any) {
	r.Issues.Add(severity, code, reference, fmt.Sprintf(format, args...))
}

func (r *Report) read(record string) {
	tags, broken := mail.ParseTags(record)
	r.syntax(record, tags, broken)
	r.KeyType = "rsa"
	if k, ok := tags.Get("k"); ok {
		r.KeyType = mail.Show(k)
	}
	r.usage(tags)
	p, ok := tags.Get("p")
	switch {
	case !ok:
		r.add(mail.Fail, "DKIM_KEY_ABSENT", sectionKey,
			"The record has no p tag and therefore no key. Add p= with the public key.")
	case strip(p) == "":
		r.Revoked = true
		r.add(mail.Fail, "DKIM_KEY_REVOKED", sectionKey,
			"The p tag is empty: the key was revoked, and signatures with this selector fail. Sign with another selector.")
	default:
		r.key(strip(p))
	}
}

func (r *Report) syntax(record string, tags mail.Tags, broken []string) {
	if version, ok := tags.Get("v"); ok && (version != "DKIM1" || tags[0].Name != "v") {
		r.add(mail.Fail, "DKIM_VERSION", sectionKey,
			"If a record has a v tag, it must come first and say DKIM1. Correct it.")
	}
	if len(broken) > 0 || strings.Contains(record, `\`) {
		part := "a backslash"
		if len(broken) > 0 {
			part = fmt.Sprintf("%q", mail.Show(broken[0]))
		}
		r.add(mail.Fail, "DKIM_SYNTAX", "RFC 6376 section 3.2",
			"The record has %s, which is not a tag with a value, so verifiers may reject the whole record. Correct it.", part)
	}
	if doubles := tags.Doubles(); len(doubles) > 0 {
		r.add(mail.Fail, "DKIM_TAG_TWICE", "RFC 6376 section 3.2",
			"The tag %s appears more than once, which makes the record invalid. Keep one.", mail.Show(doubles[0]))
	}
}

// usage reads the tags that say what the key may be used for.
func (r *Report) usage(tags mail.Tags) {
	if h, ok := tags.Get("h"); ok && !listed(h, "sha256") {
		r.add(mail.Fail, "DKIM_HASH", "RFC 8301 section 3.1",
			"The h tag does not allow sha256, the only hash that may still be used. Add it, or remove the tag.")
	}
	if s, ok := tags.Get("s"); ok && !listed(s, "email") && !listed(s, "*") {
		r.add(mail.Fail, "DKIM_SERVICE_TYPE", sectionKey,
			"The s tag says that the key is not for mail. Use s=email, or remove the tag.")
	}
	if g, ok := tags.Get("g"); ok && g != "*" {
		r.add(mail.Info, "DKIM_TAG_RETIRED", "RFC 6376 appendix E",
			"The tag g was retired by RFC 6376; old verifiers may still narrow the key to it. Remove it.")
	}
	t, _ := tags.Get("t")
	if listed(t, "y") {
		r.add(mail.Warn, "DKIM_TEST_MODE", sectionKey,
			"The record says t=y, so verifiers treat signed mail like unsigned mail. Remove it when the test is over.")
	}
	if listed(t, "s") {
		r.add(mail.Info, "DKIM_STRICT_DOMAIN", sectionKey, "The record says t=s: the key may not sign for subdomains.")
	}
}

func listed(list, value string) bool {
	for item := range strings.SplitSeq(list, ":") {
		if strings.EqualFold(strip(item), value) {
			return true
		}
	}
	return false
}

// strip takes out the folding white space that may stand anywhere in a value.
func strip(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" \t\r\n", r) }), "")
}

func (r *Report) key(p string) {
	octets, err := base64.StdEncoding.DecodeString(p)
	if err != nil {
		octets, err = base64.RawStdEncoding.DecodeString(p)
	}
	if err != nil {
		r.add(mail.Fail, "DKIM_KEY_INVALID", sectionKey,
			"The p tag is not valid base64, so no signature verifies. Copy the whole public key again.")
		return
	}
	switch strings.ToLower(r.KeyType) {
	case "rsa":
		r.rsa(octets)
	case "ed25519":
		r.ed25519(octets)
	default:
		r.add(mail.Fail, "DKIM_KEY_TYPE", sectionKey,
			"The key type %s does not exist, so verifiers ignore the key. Use rsa or ed25519.", r.KeyType)
	}
}

// rsa reads a SubjectPublicKeyInfo, or the bare RSAPublicKey that RFC 6376 names and hardly anyone publishes.
func (r *Report) rsa(der []byte) {
	key, problem := parseRSA(der)
	if problem != "" {
		r.add(mail.Fail, "DKIM_KEY_INVALID", sectionKey,
			"The p tag %s, so no signature verifies. Copy the whole public key again.", problem)
		return
	}
	bits := key.N.BitLen()
	r.KeyBits = bits
	switch {
	case bits < minBits:
		r.add(mail.Fail, "DKIM_KEY_TOO_SHORT", "RFC 8301 section 3.2",
			"The key has %d bits, and verifiers reject keys under 1024 bits. Publish a 2048-bit key.", bits)
	case bits < goodBits:
		r.add(mail.Warn, "DKIM_KEY_SHORT", "RFC 8301 section 3.2", "The key has %d bits. Publish a 2048-bit key.", bits)
	case bits > maxBits:
		r.add(mail.Warn, "DKIM_KEY_LONG", "RFC 8301 section 3.2",
			"The key has %d bits, and verifiers need not support keys over 4096 bits. Publish a 2048-bit key.", bits)
	}
}

func parseRSA(der []byte) (*rsa.PublicKey, string) {
	if key, err := x509.ParsePKCS1PublicKey(der); err == nil {
		return key, ""
	}
	parsed, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return nil, "does not hold a complete RSA key"
	}
	key, ok := parsed.(*rsa.PublicKey)
	if !ok {
		return nil, "holds a key that is not RSA, though k says rsa"
	}
	return key, ""
}

func (r *Report) ed25519(octets []byte) {
	if len(octets) != ed25519Octets {
		r.add(mail.Fail, "DKIM_KEY_INVALID", "RFC 8463 section 4.2",
			"An Ed25519 key is 32 octets in base64, without any wrapping; this one has %d. Publish the bare key.", len(octets))
		return
	}
	r.KeyBits = 8 * ed25519Octets
	r.add(mail.Info, "DKIM_ED25519", "RFC 8463 section 5",
		"Not every receiver verifies Ed25519. Sign with an RSA key at another selector too.")
}
