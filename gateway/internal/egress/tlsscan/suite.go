package tlsscan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Strength is how a cipher suite is judged.
type Strength string

const (
	// Strong is forward secrecy with an AEAD.
	Strong Strength = "strong"
	// Weak is no forward secrecy, CBC, or finite-field DH of less than 2,048 bits.
	Weak Strength = "weak"
	// Insecure is NULL, anonymous, export, RC4, 3DES, DES and RC2.
	Insecure Strength = "insecure"
)

// Suite is a cipher suite.
type Suite struct {
	ID uint16
	// Name is IANA's, or the usual one of a suite that is not registered. "0x1234" where it is not known.
	Name string
	// OpenSSL is OpenSSL's name, "" where it has none.
	OpenSSL string
	// KeyExchange is ECDHE, DHE, RSA, ECDH, DH, PSK, ECDHE_PSK, DHE_PSK, RSA_PSK, SRP, KRB5, GOST, …; "(EC)DHE" in TLS
	// 1.3, where suites don't say. Anonymous suites are DHE or ECDHE.
	KeyExchange string
	// Authentication is RSA, ECDSA, DSS, anon, PSK, …; "" in TLS 1.3.
	Authentication string
	// Bits is the strength of the cipher as OpenSSL counts it (3DES: 112).
	Bits     int
	Strength Strength
}

// exchange13 is the key exchange of the suites of TLS 1.3.
const exchange13 = "(EC)DHE"

// SuiteByID gives a suite; false where it is not known, with its number as its name.
func SuiteByID(id uint16) (Suite, bool) {
	at, found := slices.BinarySearchFunc(registry, id, func(r registered, id uint16) int { return cmp.Compare(r.id, id) })
	if !found {
		return Suite{ID: id, Name: fmt.Sprintf("0x%04X", id)}, false
	}
	return suites[at], true
}

// suites are those of the registry, in its order.
var suites = describeAll(registry)

func describeAll(rows []registered) []Suite {
	all := make([]Suite, len(rows))
	for i, row := range rows {
		all[i] = describe(row)
	}
	return all
}

// describe reads what a suite is made of off its name.
func describe(row registered) Suite {
	s := Suite{ID: row.id, Name: row.name, OpenSSL: row.openSSL, KeyExchange: exchange13}
	exchange, cipher, found := strings.Cut(row.name[len("TLS_"):], "_WITH_")
	switch {
	case !found:
		cipher, exchange = exchange, ""
	case !strings.Contains(cipher, "_MGM_"): // GOST's mode for TLS 1.3 (RFC 9367), in spite of the name
		s.KeyExchange, s.Authentication = splitKeyExchange(exchange)
	}
	s.Bits = cipherBits(cipher)
	switch {
	case s.Bits == 0, s.Authentication == "anon", strings.Contains(exchange, "EXPORT"), brokenCipher(cipher):
		s.Strength = Insecure
	case !slices.Contains(forwardSecret, s.KeyExchange), strings.Contains(cipher, "_CBC"):
		s.Strength = Weak
	default:
		s.Strength = Strong
	}
	return s
}

// keyExchanges are the parts of names before "WITH" of which the last word is not the authentication, or not as it is
// called elsewhere.
var keyExchanges = map[string][2]string{
	"NULL":            {"NULL", "anon"},
	"RSA":             {"RSA", "RSA"},
	"RSA_FIPS":        {"RSA", "RSA"},
	"RSA_OLDFIPS":     {"RSA", "RSA"},
	"DH_anon":         {"DHE", "anon"},
	"ECDH_anon":       {"ECDHE", "anon"},
	"PSK":             {"PSK", "PSK"},
	"PSK_DHE":         {"DHE_PSK", "PSK"},
	"DHE_PSK":         {"DHE_PSK", "PSK"},
	"ECDHE_PSK":       {"ECDHE_PSK", "PSK"},
	"RSA_PSK":         {"RSA_PSK", "RSA"},
	"SRP_SHA":         {"SRP", "SRP"},
	"SRP_SHA_RSA":     {"SRP", "RSA"},
	"SRP_SHA_DSS":     {"SRP", "DSS"},
	"KRB5":            {"KRB5", "KRB5"},
	"ECCPWD":          {"ECCPWD", "ECCPWD"},
	"FORTEZZA_KEA":    {"KEA", "DSS"},
	"GOSTR341094":     {"GOST", "GOST"},
	"GOSTR341001":     {"GOST", "GOST"},
	"GOSTR341112_256": {"GOST", "GOST"},
	"GOSTR341094_RSA": {"RSA", "RSA"},
}

// splitKeyExchange takes a name apart, such as DHE_RSA_EXPORT1024.
func splitKeyExchange(name string) (exchange, authentication string) {
	name, _, _ = strings.Cut(name, "_EXPORT")
	if known, ok := keyExchanges[name]; ok {
		return known[0], known[1]
	}
	exchange, authentication, _ = strings.Cut(name, "_")
	return exchange, authentication
}

// forwardSecret are the key exchanges whose keys nobody can find out later.
var forwardSecret = []string{exchange13, "ECDHE", "DHE", "ECDHE_PSK", "DHE_PSK", "SRP", "ECCPWD", "CECPQ1"}

// brokenCipher reports whether a cipher is RC4, 3DES, DES or RC2.
func brokenCipher(cipher string) bool {
	return strings.HasPrefix(cipher, "RC4_") || strings.HasPrefix(cipher, "RC2_") || strings.HasPrefix(cipher, "DES") ||
		strings.HasPrefix(cipher, "3DES_")
}

// strengths are the bits of ciphers by how their names begin; the first that fits holds.
var strengths = []struct {
	prefix string
	bits   int
}{
	{"NULL", 0},
	{"SHA", 0}, // of TLS 1.3, which authenticates and does not encrypt (RFC 9150)
	{"DES40", 40}, {"DES_CBC_40", 40}, {"RC2_CBC_40", 40}, {"RC4_40", 40},
	{"DES_", 56}, {"RC2_56", 56}, {"RC4_56", 56},
	{"FORTEZZA", 80},
	{"3DES", 112},
	{"AES_256", 256}, {"AEGIS_256", 256}, {"ARIA_256", 256}, {"CAMELLIA_256", 256}, {"CHACHA20", 256},
	{"28147", 256}, {"KUZNYECHIK", 256}, {"MAGMA", 256},
}

func cipherBits(cipher string) int {
	for _, s := range strengths {
		if strings.HasPrefix(cipher, s.prefix) {
			return s.bits
		}
	}
	return 128 // AES, ARIA, Camellia, SEED, SM4, IDEA, RC2, RC4, AEGIS-128L
}
