// Package dkim judges the DKIM key records of one selector (RFC 6376 section 3.6, RFC 8301, RFC 8463). It is pure: no
// I/O.
package dkim

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"slices"
	"strings"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/gateway/internal/tool/finding"
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
		r.Issues.Add("DKIM_SEVERAL_RECORDS", finding.Args{"records": len(keys)})
		return r
	case len(keys) == 0 && len(txt) > 0:
		r.Issues.Add("DKIM_NOT_A_KEY", finding.Args{"record": mail.Quoted(txt[0])})
		return r
	case len(keys) == 0:
		return r
	case len(txt) > 1:
		r.Issues.Add("DKIM_EXTRA_RECORDS", nil)
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
		r.Issues.Add("DKIM_KEY_ABSENT", nil)
	case strip(p) == "":
		r.Revoked = true
		r.Issues.Add("DKIM_KEY_REVOKED", nil)
	default:
		r.key(strip(p))
	}
}

func (r *Report) syntax(record string, tags mail.Tags, broken []string) {
	if version, ok := tags.Get("v"); ok && (version != "DKIM1" || tags[0].Name != "v") {
		r.Issues.Add("DKIM_VERSION", nil)
	}
	if len(broken) > 0 || strings.Contains(record, `\`) {
		part := ""
		if len(broken) > 0 {
			part = mail.Quoted(broken[0])
		}
		r.Issues.Add("DKIM_SYNTAX", finding.Args{"part": part})
	}
	if doubles := tags.Doubles(); len(doubles) > 0 {
		r.Issues.Add("DKIM_TAG_TWICE", finding.Args{"tag": mail.Show(doubles[0])})
	}
}

// usage reads the tags that say what the key may be used for.
func (r *Report) usage(tags mail.Tags) {
	if h, ok := tags.Get("h"); ok && !listed(h, "sha256") {
		r.Issues.Add("DKIM_HASH", nil)
	}
	if s, ok := tags.Get("s"); ok && !listed(s, "email") && !listed(s, "*") {
		r.Issues.Add("DKIM_SERVICE_TYPE", nil)
	}
	if g, ok := tags.Get("g"); ok && g != "*" {
		r.Issues.Add("DKIM_TAG_RETIRED", nil)
	}
	t, _ := tags.Get("t")
	if listed(t, "y") {
		r.Issues.Add("DKIM_TEST_MODE", nil)
	}
	if listed(t, "s") {
		r.Issues.Add("DKIM_STRICT_DOMAIN", nil)
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
		r.Issues.Add("DKIM_KEY_INVALID", finding.Args{"problem": "DKIM_KEY_NOT_BASE64"})
		return
	}
	switch strings.ToLower(r.KeyType) {
	case "rsa":
		r.rsa(octets)
	case "ed25519":
		r.ed25519(octets)
	default:
		r.Issues.Add("DKIM_KEY_TYPE", finding.Args{"type": r.KeyType})
	}
}

// rsa reads a SubjectPublicKeyInfo, or the bare RSAPublicKey that RFC 6376 names and hardly anyone publishes.
func (r *Report) rsa(der []byte) {
	key, problem := parseRSA(der)
	if problem != "" {
		r.Issues.Add("DKIM_KEY_INVALID", finding.Args{"problem": problem})
		return
	}
	bits := key.N.BitLen()
	r.KeyBits = bits
	switch {
	case bits < minBits:
		r.Issues.Add("DKIM_KEY_TOO_SHORT", finding.Args{"bits": bits})
	case bits < goodBits:
		r.Issues.Add("DKIM_KEY_SHORT", finding.Args{"bits": bits})
	case bits > maxBits:
		r.Issues.Add("DKIM_KEY_LONG", finding.Args{"bits": bits})
	}
}

// parseRSA reads a key; problem is the code of a clause on what is wrong with another.
func parseRSA(der []byte) (public *rsa.PublicKey, problem string) {
	if key, err := x509.ParsePKCS1PublicKey(der); err == nil {
		return key, ""
	}
	parsed, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return nil, "DKIM_KEY_INCOMPLETE"
	}
	key, ok := parsed.(*rsa.PublicKey)
	if !ok {
		return nil, "DKIM_KEY_OTHER_TYPE"
	}
	return key, ""
}

func (r *Report) ed25519(octets []byte) {
	if len(octets) != ed25519Octets {
		r.Issues.Add("DKIM_ED25519_KEY_INVALID", finding.Args{"octets": len(octets)})
		return
	}
	r.KeyBits = 8 * ed25519Octets
	r.Issues.Add("DKIM_ED25519", nil)
}
