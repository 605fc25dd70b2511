// Package weight holds the processor time of the work that a run makes, as measured: of parsing input, by its length,
// and of cryptography, by the key. egress/budget/processor counts it.
//
// Each figure is the mean over the input of its kind that costs the most, garbage collection included, rounded up. All
// are for a core on which P256 takes 40 µs, such as an idle one of an AMD EPYC 9005, so that other machines and busy
// ones measure the same. This prints them beside what is measured:
//
//	go test -run '^$' -bench '^BenchmarkWeights$' -benchtime 50ms ./gateway/internal/...
package weight

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/x509"
	"math/big"
	"math/bits"
	"time"
)

// Work is a kind of work.
type Work struct {
	// Cost is the processor time of Unit bytes, or of one operation if Unit is 1.
	Cost time.Duration
	Unit int
}

// Of returns the cost of n bytes or operations.
func (w Work) Of(n int) time.Duration { return time.Duration(int64(n) * int64(w.Cost) / int64(w.Unit)) }

const kib = 1 << 10

// Input.
var (
	// Received is what a connection reads: the kernel's work, copies, and TLS.
	Received = Work{3 * time.Microsecond, kib}
	// Head is the head of an answer of HTTP/1, and PackedHead a header block of HTTP/2, interim ones included.
	Head       = Work{8 * time.Microsecond, kib}
	PackedHead = Work{20 * time.Microsecond, kib}
	// Packed is what a decompressor reads, and Unpacked what it returns.
	Packed   = Work{6 * time.Microsecond, kib}
	Unpacked = Work{5 * time.Microsecond, kib}
	// DNSMessage is worst if every record has long compressed names.
	DNSMessage = Work{100 * time.Microsecond, kib}
	// Certificate is the DER of a certificate, and RevocationList that of a CRL or an OCSP answer.
	Certificate    = Work{15 * time.Microsecond, kib}
	RevocationList = Work{8 * time.Microsecond, kib}
	RDAP           = Work{80 * time.Microsecond, kib}
	WHOIS          = Work{350 * time.Microsecond, kib}
	Robots         = Work{40 * time.Microsecond, kib}
	// Sitemap is worst if every tag has many attributes. All sitemaps of a run together have at most 8 MiB.
	Sitemap = Work{45 * time.Microsecond, kib}
	HTML    = Work{30 * time.Microsecond, kib}
	CSP     = Work{200 * time.Microsecond, kib}
	// MailRecord is a record or policy of SPF, DKIM, DMARC, MTA-STS, TLS-RPT or BIMI.
	MailRecord = Work{100 * time.Microsecond, kib}
	// SignedData is what a DNSSEC signature is over: canonical form and hashes.
	SignedData = Work{20 * time.Microsecond, kib}
)

// Operations.
var (
	// Read is a read from a connection, however little it returns, and Connection a connection of TCP or UDP from its dial
	// to its end.
	Read       = Work{8 * time.Microsecond, 1}
	Connection = Work{80 * time.Microsecond, 1}
	// Handshake is our part of a TLS handshake, without what its certificates take.
	Handshake = Work{300 * time.Microsecond, 1}
	// NSEC3Hash is one iteration, with the longest salt.
	NSEC3Hash = Work{250 * time.Nanosecond, 1}
)

// Verifications of a signature by an elliptic curve.
var (
	P256    = Work{40 * time.Microsecond, 1}
	P384    = Work{400 * time.Microsecond, 1}
	P521    = Work{1600 * time.Microsecond, 1}
	Ed25519 = Work{40 * time.Microsecond, 1}
	Ed448   = Work{120 * time.Microsecond, 1}
)

// RSA returns the cost of a verification by a key with a modulus of so many bits: it grows with the square of the
// length, and with the multiplications that the exponent takes, 19 for the usual 65537. The figure for one of them is
// that of an exponent of 3, which has the fewest to share what a modulus costs; others measure a third of it.
func RSA(modulus int, exponent *big.Int) time.Duration {
	multiplications := exponent.BitLen()
	for _, word := range exponent.Bits() {
		multiplications += bits.OnesCount(uint(word))
	}
	const each, other = 850 * time.Nanosecond, 10 * time.Microsecond
	kilobits := (modulus + 1023) / 1024
	return other + time.Duration(kilobits*kilobits*multiplications)*each
}

// Verify returns the cost of a verification by the key of a certificate.
func Verify(key crypto.PublicKey) time.Duration {
	switch key := key.(type) {
	case *rsa.PublicKey:
		return RSA(key.N.BitLen(), big.NewInt(int64(key.E)))
	case *ecdsa.PublicKey:
		switch size := key.Params().BitSize; {
		case size > 384:
			return P521.Cost
		case size > 256:
			return P384.Cost
		}
		return P256.Cost
	}
	return Ed448.Cost
}

// Shown returns the cost of a handshake by what the server showed in it: its certificates are parsed, and the first
// one's key verifies a signature.
func Shown(certificates []*x509.Certificate) time.Duration {
	cost := Handshake.Cost
	for _, cert := range certificates {
		cost += Certificate.Of(len(cert.Raw))
	}
	if len(certificates) > 0 {
		cost += Verify(certificates[0].PublicKey)
	}
	return cost
}
