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

// forwardSecret are the key exchanges whose keys cannot be recovered later.
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

// group is one for key exchange, by IANA's number and name.
type group struct {
	id   uint16
	name string
	// since and until are the versions that it can be used in.
	since, until Version
}

// groups are those of IANA (tls-parameters, TLS Supported Groups) and of the drafts that servers took before ML-KEM was
// finished, in our order: first what servers are most likely to have.
var groups = []group{
	{4588, "X25519MLKEM768", TLS13, TLS13},
	{29, "x25519", TLS10, TLS13},
	{23, "secp256r1", TLS10, TLS13},
	{30, "x448", TLS10, TLS13},
	{24, "secp384r1", TLS10, TLS13},
	{25, "secp521r1", TLS10, TLS13},
	{4587, "SecP256r1MLKEM768", TLS13, TLS13},
	{4589, "SecP384r1MLKEM1024", TLS13, TLS13},
	{512, "MLKEM512", TLS13, TLS13},
	{513, "MLKEM768", TLS13, TLS13},
	{514, "MLKEM1024", TLS13, TLS13},
	{0x6399, "X25519Kyber768Draft00", TLS13, TLS13},
	{0x639A, "SecP256r1Kyber768Draft00", TLS13, TLS13},
	{256, "ffdhe2048", TLS10, TLS13},
	{257, "ffdhe3072", TLS10, TLS13},
	{258, "ffdhe4096", TLS10, TLS13},
	{259, "ffdhe6144", TLS10, TLS13},
	{260, "ffdhe8192", TLS10, TLS13},
	{31, "brainpoolP256r1tls13", TLS13, TLS13},
	{32, "brainpoolP384r1tls13", TLS13, TLS13},
	{33, "brainpoolP512r1tls13", TLS13, TLS13},
	{41, "curveSM2", TLS13, TLS13},
	{4590, "curveSM2MLKEM768", TLS13, TLS13},
	{26, "brainpoolP256r1", TLS10, TLS12},
	{27, "brainpoolP384r1", TLS10, TLS12},
	{28, "brainpoolP512r1", TLS10, TLS12},
	{22, "secp256k1", TLS10, TLS12},
	{14, "sect571r1", TLS10, TLS12},
	{13, "sect571k1", TLS10, TLS12},
	{11, "sect409k1", TLS10, TLS12},
	{12, "sect409r1", TLS10, TLS12},
	{9, "sect283k1", TLS10, TLS12},
	{10, "sect283r1", TLS10, TLS12},
	{20, "secp224k1", TLS10, TLS12},
	{21, "secp224r1", TLS10, TLS12},
	{6, "sect233k1", TLS10, TLS12},
	{7, "sect233r1", TLS10, TLS12},
	{8, "sect239k1", TLS10, TLS12},
	{18, "secp192k1", TLS10, TLS12},
	{19, "secp192r1", TLS10, TLS12},
	{4, "sect193r1", TLS10, TLS12},
	{5, "sect193r2", TLS10, TLS12},
	{15, "secp160k1", TLS10, TLS12},
	{16, "secp160r1", TLS10, TLS12},
	{17, "secp160r2", TLS10, TLS12},
	{1, "sect163k1", TLS10, TLS12},
	{2, "sect163r1", TLS10, TLS12},
	{3, "sect163r2", TLS10, TLS12},
	{34, "GC256A", TLS12, TLS13},
	{35, "GC256B", TLS12, TLS13},
	{36, "GC256C", TLS12, TLS13},
	{37, "GC256D", TLS12, TLS13},
	{38, "GC512A", TLS12, TLS13},
	{39, "GC512B", TLS12, TLS13},
	{40, "GC512C", TLS12, TLS13},
}

// The groups that are named in code.
const (
	groupP256   = 23
	groupP384   = 24
	groupP521   = 25
	groupX25519 = 29

	groupFFDHE2048 = 256
	groupFFDHE3072 = 257
	groupFFDHE4096 = 258
	groupFFDHE6144 = 259
	groupFFDHE8192 = 260

	groupX25519MLKEM768     = 4588
	groupSecP256r1MLKEM768  = 4587
	groupSecP384r1MLKEM1024 = 4589
	groupMLKEM768           = 513
	groupMLKEM1024          = 514
)

// GroupName is IANA's name of a group for key exchange, "0x1234" of an unknown one.
func GroupName(id uint16) string {
	at := slices.IndexFunc(groups, func(g group) bool { return g.id == id })
	if at < 0 {
		return fmt.Sprintf("0x%04X", id)
	}
	return groups[at].name
}

// isFiniteField reports whether a group is one of RFC 7919.
func isFiniteField(id uint16) bool { return id>>8 == 1 }

// offeredGroups are those that are offered in a version, in our order. Up to TLS 1.2 these are curves: a client that
// names finite fields there may lose every DHE suite (RFC 7919 section 4), and hardly any other does.
func offeredGroups(v Version) []uint16 {
	var ids []uint16
	for _, g := range groups {
		if g.since <= v && v <= g.until && (v == TLS13 || !isFiniteField(g.id)) {
			ids = append(ids, g.id)
		}
	}
	return ids
}

// commonGroups are for servers that give up on long hellos.
var commonGroups = []uint16{groupX25519, groupP256, groupP384, groupP521}
