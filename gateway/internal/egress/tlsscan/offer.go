package tlsscan

import (
	"cmp"
	"slices"
	"strings"
)

// Nothing may be offered past these in one hello: some servers give up on more than 128 suites.
const (
	maxSuites        = 120
	maxSuitesSSL30   = 100 // a hello of less than 256 octets, without extensions
	maxSuitesCompact = 40
)

// mostSuites is how many suites one hello of a version has at most.
func mostSuites(v Version) int {
	if v == SSL30 {
		return maxSuitesSSL30
	}
	return maxSuites
}

// offered are the suites that are asked for in a version, in our order: first what most servers have, and among these
// strong ones first.
func offered(v Version) []uint16 { return only(inOrder, func(s Suite) bool { return s.fits(v) }) }

// fits reports whether a suite can be chosen in a version. AEADs, and the suites with SHA-256 and SHA-384 that are no
// PSK's, are of TLS 1.2 (RFC 5246 section 1.2, RFC 5288, RFC 5289, RFC 5487).
func (s Suite) fits(v Version) bool {
	if v == TLS13 || s.KeyExchange == exchange13 {
		return v == TLS13 && s.KeyExchange == exchange13
	}
	return v == TLS12 || !s.only12()
}

func (s Suite) only12() bool {
	_, cipher, _ := strings.Cut(s.Name, "_WITH_")
	if containsAny(cipher, "_GCM", "_CCM", "_POLY1305", "_OMAC") {
		return true
	}
	modern := strings.HasSuffix(cipher, "_SHA256") || strings.HasSuffix(cipher, "_SHA384")
	return modern && s.Authentication != "PSK" && s.KeyExchange != "RSA_PSK"
}

func containsAny(name string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(name, part) })
}

// inOrder are all suites, in our order.
var inOrder = slices.SortedStableFunc(slices.Values(suites), compareRanks)

func compareRanks(a, b Suite) int { return slices.Compare(rank(a), rank(b)) }

// rank is where a suite stands in our order; the lesser comes first.
func rank(s Suite) []int {
	return []int{usage(s), s.Strength.rank(), place(s.KeyExchange, "ECDHE", "DHE", "RSA"),
		place(s.Authentication, "ECDSA", "RSA"), cipherRank(s.Name), int(s.ID)}
}

// usage is 0 for what most servers have, 1 for the rest of what needs no more than a certificate, 2 for the
// certificates of other times and countries, 3 for what needs more than a certificate.
func usage(s Suite) int {
	switch s.KeyExchange {
	case exchange13, "ECDHE", "DHE", "RSA":
	case "DH", "ECDH", "GOST":
		return 2
	default:
		return 3
	}
	switch {
	case s.Authentication == "DSS":
		return 2
	case s.Authentication == "anon", s.Strength == Insecure && s.Bits < 112, cipherRank(s.Name) == rareCipher:
		return 1
	}
	return 0
}

func (s Strength) rank() int { return place(s, Strong, Weak, Insecure) }

// place is where a value stands in a list, behind its end where it does not.
func place[T comparable](value T, list ...T) int {
	if at := slices.Index(list, value); at >= 0 {
		return at
	}
	return len(list)
}

// rareCipher is the rank of those that few servers have.
const rareCipher = 5

// commonCiphers are the parts of the names of the others, by rank. ChaCha20 is never first: some servers prefer it for
// clients that offer it so.
var commonCiphers = [rareCipher][]string{
	{"AES_256_GCM"}, {"AES_128_GCM"}, {"CHACHA20"}, {"AES_256_CBC"}, {"AES_128_CBC", "_3DES_", "_RC4_128"},
}

func cipherRank(name string) int {
	if strings.HasSuffix(name, "_OLD") {
		return rareCipher
	}
	at := slices.IndexFunc(commonCiphers[:], func(alike []string) bool { return containsAny(name, alike...) })
	if at < 0 {
		return rareCipher
	}
	return at
}

// only gives the numbers of those suites of a list that a condition holds for.
func only(list []Suite, condition func(Suite) bool) []uint16 {
	var ids []uint16
	for _, s := range list {
		if condition(s) {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

func idsOf(list []Suite) []uint16 { return only(list, func(Suite) bool { return true }) }

// without gives a list less some of its members.
func without(ids, less []uint16) []uint16 {
	return slices.DeleteFunc(slices.Clone(ids), func(id uint16) bool { return slices.Contains(less, id) })
}

// strongFirst orders suites by strength, and those of one strength in our order.
func strongFirst(list []Suite) {
	slices.SortStableFunc(list, func(a, b Suite) int {
		return cmp.Or(cmp.Compare(a.Strength.rank(), b.Strength.rank()), compareRanks(a, b))
	})
}

// signatures are the signature algorithms that are offered, all that servers may need (IANA, TLS SignatureScheme).
var signatures = []uint16{
	0x0403, 0x0503, 0x0603, // ECDSA with the curves of NIST
	0x0804, 0x0805, 0x0806, // RSA-PSS with common RSA keys
	0x0401, 0x0501, 0x0601, // RSA
	0x0807, 0x0808, // Ed25519, Ed448
	0x0809, 0x080A, 0x080B, // RSA-PSS with PSS keys
	0x081A, 0x081B, 0x081C, // ECDSA with Brainpool's curves
	0x0904, 0x0905, 0x0906, // ML-DSA
	0x0708,                                                 // SM2
	0x0709, 0x070A, 0x070B, 0x070C, 0x070D, 0x070E, 0x070F, // GOST
	0x0303, 0x0301, 0x0203, 0x0201, // SHA-224 and SHA-1
	0x0402, 0x0502, 0x0602, 0x0302, 0x0202, // DSA
	0x0101, 0x0103, // MD5
	0xEEEE, 0xEFEF, 0xEDED, // GOST in TLS 1.2
}

// commonSignatures are for servers that give up on long hellos.
var commonSignatures = []uint16{0x0403, 0x0503, 0x0804, 0x0805, 0x0806, 0x0401, 0x0501, 0x0601, 0x0203, 0x0201}

// signaturesOf gives those of a kind of certificate, "RSA" or "ECDSA"; all for "".
func signaturesOf(authentication string) []uint16 {
	switch authentication {
	case "RSA":
		return []uint16{0x0804, 0x0805, 0x0806, 0x0401, 0x0501, 0x0601, 0x0809, 0x080A, 0x080B, 0x0301, 0x0201}
	case "ECDSA":
		return []uint16{0x0403, 0x0503, 0x0603, 0x0807, 0x0808, 0x081A, 0x081B, 0x081C, 0x0303, 0x0203}
	}
	return signatures
}
