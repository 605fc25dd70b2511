package tlsprobe

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
	// KeyExchange is ECDHE, DHE, RSA, ECDH, DH, PSK, ECDHE_PSK, DHE_PSK, RSA_PSK, SRP, KRB5, GOST, …; "(EC)DHE" in TLS 1.3,
	// where suites don't say. Anonymous suites are DHE or ECDHE.
	KeyExchange string
	// Authentication is RSA, ECDSA, DSS, anon, PSK, …; "" in TLS 1.3.
	Authentication string
	// Bits is the strength of the cipher as OpenSSL counts it (3DES: 112).
	Bits     int
	Strength Strength
}

// SuiteByID gives a suite; false where it is not known, with its number as its name.
func SuiteByID(id uint16) (Suite, bool) {
	return Suite{}, false
}

// GroupName is IANA's name of a group for key exchange, "0x1234" of an unknown one.
func GroupName(id uint16) string {
	return ""
}
