package tlsserver

// Truth is what is so of a server, in the words of ssl-checker's answer.
type Truth struct {
	// Status is that of the answer where it is not 200; the rest is then for the references alone.
	Status int
	// Suites are those that the server takes, by protocol (SSLv3, TLSv1.0 … TLSv1.3), with IANA's names. The protocols
	// that it takes are the keys.
	Suites map[string][]string
	// Order is whose preference decides. Suites are in that of the server where it does.
	Order Order
	// Groups are those of the key exchange, in any order, with IANA's names.
	Groups []string
	// DHBits is the length of the prime of finite-field Diffie-Hellman.
	DHBits int
	// VersionsOnly is a server whose suites and groups the service does not probe.
	VersionsOnly bool
	// ShortHellos is a server that the service probes with short hellos, which leave out other certificates and
	// post-quantum groups.
	ShortHellos bool
	// Alike is a server that differs from the good one in its certificates alone: testssl.sh, which takes a minute for
	// suites and groups, probes only the good one for them.
	Alike bool
	// Sent are the common names of the certificates that the server sends, the leaf first.
	Sent []string
	// Error is the code of what is wrong with them, where anything is.
	Error string
	// Issues are the codes that do not follow from the rest; see Codes.
	Issues []string
	// Staple is the status of the stapled OCSP response, where there is one.
	Staple string
	// Requests is whether the server requests a client's certificate.
	Requests bool

	// Nameless is the common name of the certificate for a client that sends no name, where it is another one, or
	// Refused.
	Nameless string
	// Endpoints are the codes of what is wrong at each address, where the addresses differ.
	Endpoints []string

	// Differs says why a reference reports something else, by the reference and what differs: "openssl: trust, sent".
	Differs map[string]string
}

// Order is whose order of preference decides about the suite.
type Order int

// The orders.
const (
	Clients Order = iota
	Servers
	// Rules are Go's: its own order, with ChaCha20 first for clients that have it first.
	Rules
)

// Refused is what Nameless is where clients that send no name are turned away.
const Refused = "refused"

// Takes reports whether the server takes the protocol.
func (t Truth) Takes(protocol string) bool { return t.Suites[protocol] != nil }

// The protocols, oldest first.
const (
	ssl3  = "SSLv3"
	tls10 = "TLSv1.0"
	tls11 = "TLSv1.1"
	tls12 = "TLSv1.2"
	tls13 = "TLSv1.3"
)

// Protocols are all that the service reports, oldest first.
var Protocols = []string{ssl3, tls10, tls11, tls12, tls13}

type suites = map[string][]string

// Suites that many servers of the table have.
const (
	aes128  = "TLS_AES_128_GCM_SHA256"
	aes256  = "TLS_AES_256_GCM_SHA384"
	chacha  = "TLS_CHACHA20_POLY1305_SHA256"
	ecdsa12 = "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"
	rsa12   = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"
)
