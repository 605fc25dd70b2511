package tlsserver

import (
	"slices"
	"strings"
)

// Codes of ssl-checker's issues that the table gives.
const (
	cbc               = "CBC_CIPHER"
	noSecrecy         = "NO_FORWARD_SECRECY"
	onlyRead          = "HANDSHAKE_ONLY_READ"
	notRevoked        = "REVOCATION_NOT_CHECKED"
	intolerant        = "HELLO_INTOLERANT"
	mustStapleMissing = "MUST_STAPLE_MISSING"
)

// unknownIssuers are the codes of chains that end nowhere.
var unknownIssuers = []string{"DEPTH_ZERO_SELF_SIGNED_CERT", "SELF_SIGNED_CERT_IN_CHAIN",
	"UNABLE_TO_VERIFY_LEAF_SIGNATURE", "UNABLE_TO_GET_ISSUER_CERT_LOCALLY"}

// insecure are the codes of suites that no server should take, by words of their names; a suite counts for the first.
var insecure = []struct {
	code  string
	words []string
}{
	{"NULL_CIPHER", []string{"NULL"}},
	{"ANONYMOUS_CIPHER", []string{"anon"}},
	{"EXPORT_CIPHER", []string{"EXPORT"}},
	{"RC2_CIPHER", []string{"RC2"}},
	{"DES_CIPHER", []string{"DES", "DES40"}},
	{"RC4_CIPHER", []string{"RC4"}},
	{"3DES_CIPHER", []string{"3DES"}},
}

// Codes are all codes of the issues that ssl-checker should report: those of the table, and those that follow from the
// protocols, the suites and the groups. They are sorted.
func (t Truth) Codes() []string {
	codes := slices.Clone(t.Issues)
	for _, list := range t.Suites {
		for _, name := range list {
			if code := insecureCode(name); code != "" {
				codes = append(codes, code)
			}
		}
	}
	// A chain without a trusted root has no authority that could revoke it.
	revocable := t.Staple == "" && !slices.Contains(t.Issues, mustStapleMissing) &&
		!slices.Contains(unknownIssuers, t.Error)
	for code, holds := range map[string]bool{
		"SSL3":                          t.Takes(ssl3),
		"DEPRECATED_PROTOCOL":           t.Takes(tls10) || t.Takes(tls11),
		"NO_TLS13":                      !t.Takes(tls13),
		"WEAK_DH":                       t.DHBits > 0 && t.DHBits < 2048,
		"POST_QUANTUM":                  slices.Contains(t.Groups, "X25519MLKEM768"),
		"NOT_POST_QUANTUM":              !t.VersionsOnly && !t.ShortHellos && !slices.Contains(t.Groups, "X25519MLKEM768"),
		"CLIENT_CERTIFICATE_REQUESTED":  t.Requests,
		notRevoked:                      revocable,
		"OTHER_CERTIFICATE_WITHOUT_SNI": t.Nameless != "" && t.Nameless != Refused,
	} {
		if holds {
			codes = append(codes, code)
		}
	}
	if t.Error != "" {
		codes = append(codes, t.Error)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

func insecureCode(suite string) string {
	words := strings.Split(suite, "_")
	for _, kind := range insecure {
		if slices.ContainsFunc(kind.words, func(word string) bool { return slices.Contains(words, word) }) {
			return kind.code
		}
	}
	return ""
}
