package dnssec

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"math/big"
	"strconv"
	"time"

	"diagnostics/gateway/internal/analyze/weight"

	"github.com/cloudflare/circl/sign/ed448"
	"github.com/miekg/dns"
)

// AlgorithmName is the mnemonic of a signature algorithm in IANA's registry "DNS Security Algorithm Numbers", or its
// number where it has none.
func AlgorithmName(algorithm uint8) string {
	switch algorithm {
	case 17:
		return "SM2SM3"
	case 23:
		return "ECC-GOST12"
	}
	if s, ok := dns.AlgorithmToString[algorithm]; ok {
		return s
	}
	return strconv.Itoa(int(algorithm))
}

// Supported reports whether this package verifies signatures of an algorithm.
func Supported(algorithm uint8) bool {
	switch algorithm {
	case dns.RSASHA1, dns.RSASHA1NSEC3SHA1, dns.RSASHA256, dns.RSASHA512, dns.ECDSAP256SHA256, dns.ECDSAP384SHA384,
		dns.ED25519, dns.ED448:
		return true
	}
	return false
}

// MustNotSign reports whether an algorithm has MUST NOT for signing in IANA's registry (RFC 9904): those with MD5 and
// DSA (RFC 8624), SHA-1 (RFC 9905) and GOST (RFC 9906).
func MustNotSign(algorithm uint8) bool {
	switch algorithm {
	case dns.RSAMD5, dns.DSA, dns.RSASHA1, dns.DSANSEC3SHA1, dns.RSASHA1NSEC3SHA1, dns.ECCGOST:
		return true
	}
	return false
}

// supportedDigest reports whether a digest type of DS records is SHA-1, SHA-256 or SHA-384. Type 5, which
// github.com/miekg/dns calculates as SHA-512, is GOST R 34.11-2012 (RFC 9558).
func supportedDigest(digest uint8) bool {
	return digest == dns.SHA1 || digest == dns.SHA256 || digest == dns.SHA384
}

// verifier reports whether a signature of data is valid.
type verifier func(data, signature []byte) bool

// readKey returns a key's verifier, what a verification costs, and the key's size in bits, all zero if they are not
// known, and why there is no verifier: AlgorithmUnsupported, KeyMalformed, or KeyUnusable for a key that is beyond the
// limits of this package.
func readKey(k *dns.DNSKEY) (verifier, time.Duration, int, Code) {
	raw, err := base64.StdEncoding.DecodeString(k.PublicKey)
	if err != nil {
		return nil, 0, 0, KeyMalformed
	}
	switch k.Algorithm {
	case dns.RSASHA1, dns.RSASHA1NSEC3SHA1:
		return readRSA(raw, crypto.SHA1)
	case dns.RSASHA256:
		return readRSA(raw, crypto.SHA256)
	case dns.RSASHA512:
		return readRSA(raw, crypto.SHA512)
	case dns.ECDSAP256SHA256:
		return readECDSA(raw, elliptic.P256(), crypto.SHA256, weight.P256)
	case dns.ECDSAP384SHA384:
		return readECDSA(raw, elliptic.P384(), crypto.SHA384, weight.P384)
	case dns.ED25519:
		if len(raw) != ed25519.PublicKeySize {
			return nil, 0, 0, KeyMalformed
		}
		return func(data, sig []byte) bool { return ed25519.Verify(raw, data, sig) }, weight.Ed25519.Cost, 256, ""
	case dns.ED448:
		if len(raw) != ed448.PublicKeySize {
			return nil, 0, 0, KeyMalformed
		}
		return func(data, sig []byte) bool { return ed448.Verify(raw, data, sig, "") }, weight.Ed448.Cost, 456, ""
	}
	return nil, 0, 0, AlgorithmUnsupported
}

func sum(hash crypto.Hash, data []byte) []byte {
	h := hash.New()
	h.Write(data)
	return h.Sum(nil)
}

// readECDSA reads a key of RFC 6605: the two coordinates.
func readECDSA(raw []byte, curve elliptic.Curve, hash crypto.Hash, w weight.Work) (verifier, time.Duration, int, Code) {
	size := curve.Params().BitSize / 8
	key, err := ecdsa.ParseUncompressedPublicKey(curve, append([]byte{4}, raw...))
	if err != nil {
		return nil, 0, 0, KeyMalformed
	}
	return func(data, sig []byte) bool {
		if len(sig) != 2*size {
			return false
		}
		r, s := new(big.Int).SetBytes(sig[:size]), new(big.Int).SetBytes(sig[size:])
		return ecdsa.Verify(key, sum(hash, data), r, s)
	}, w.Cost, curve.Params().BitSize, ""
}

// The sizes of RSA keys in bits (RFC 5702 section 2); a public exponent of more than 64 bits has no use.
const (
	minRSA      = 512
	maxRSA      = 4096
	maxExponent = 64
)

// readRSA reads a key of RFC 3110: the exponent with its length, then the modulus.
func readRSA(raw []byte, hash crypto.Hash) (verifier, time.Duration, int, Code) {
	if len(raw) < 3 {
		return nil, 0, 0, KeyMalformed
	}
	length, rest := int(raw[0]), raw[1:]
	if length == 0 {
		length, rest = int(raw[1])<<8|int(raw[2]), raw[3:]
	}
	if length == 0 || len(rest) <= length {
		return nil, 0, 0, KeyMalformed
	}
	e, n := new(big.Int).SetBytes(rest[:length]), new(big.Int).SetBytes(rest[length:])
	if e.Cmp(big.NewInt(1)) <= 0 || n.Bit(0) == 0 {
		return nil, 0, n.BitLen(), KeyMalformed
	}
	if n.BitLen() < minRSA || n.BitLen() > maxRSA || e.BitLen() > maxExponent {
		return nil, 0, n.BitLen(), KeyUnusable
	}
	verify := func(data, sig []byte) bool { return verifyRSA(n, e, hash, sum(hash, data), sig) }
	return verify, weight.RSA(n.BitLen(), e), n.BitLen(), ""
}

// verifyRSA reports whether a signature of PKCS #1 version 1.5 is valid. crypto/rsa refuses keys below 1,024 bits and
// exponents of more than 31 bits, which validators accept (RFC 5702 section 2).
func verifyRSA(n, e *big.Int, hash crypto.Hash, digest, sig []byte) bool {
	if n.BitLen() >= 1024 && e.BitLen() < 32 {
		return rsa.VerifyPKCS1v15(&rsa.PublicKey{N: n, E: int(e.Int64())}, hash, digest, sig) == nil
	}
	size := (n.BitLen() + 7) / 8
	info := append([]byte(digestInfo[hash]), digest...)
	s := new(big.Int).SetBytes(sig)
	if len(sig) != size || size < len(info)+11 || s.Cmp(n) >= 0 {
		return false
	}
	// The one encoding of the digest (RFC 8017 sections 8.2.2 and 9.2): 00 01 ff… 00 and the DigestInfo.
	want := make([]byte, size)
	for i := range want {
		want[i] = 0xff
	}
	want[0], want[1], want[size-len(info)-1] = 0, 1, 0
	copy(want[size-len(info):], info)
	return s.Exp(s, e, n).Cmp(new(big.Int).SetBytes(want)) == 0
}

// digestInfo is the DER encoding of a DigestInfo up to the digest (RFC 8017 section 9.2, note 1).
var digestInfo = map[crypto.Hash]string{
	crypto.SHA1:   "\x30\x21\x30\x09\x06\x05\x2b\x0e\x03\x02\x1a\x05\x00\x04\x14",
	crypto.SHA256: "\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20",
	crypto.SHA512: "\x30\x51\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x03\x05\x00\x04\x40",
}
