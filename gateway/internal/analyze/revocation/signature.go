package revocation

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	_ "crypto/sha256" // for crypto.Hash
	_ "crypto/sha512"
	"crypto/x509/pkix"
	"encoding/asn1"
)

// algorithm is one whose signatures are over a digest, so that what is signed need not be kept.
type algorithm struct {
	hash crypto.Hash
	key  keyKind
}

type keyKind uint8

const (
	rsaPKCS1 keyKind = iota
	rsaPSS
	ecdsaKey
)

// errAlgorithm is for signatures over SHA-1 and older, which prove nothing, and for Ed25519 and Ed448: those read what
// is signed twice, the second time after the signature (RFC 8032 section 5.1.6).
const errAlgorithm Problem = "CRL_ALGORITHM"

// algorithms are those of RFC 4055 and RFC 5758, without parameters that matter.
var algorithms = map[string]algorithm{
	"1.2.840.113549.1.1.11": {crypto.SHA256, rsaPKCS1},
	"1.2.840.113549.1.1.12": {crypto.SHA384, rsaPKCS1},
	"1.2.840.113549.1.1.13": {crypto.SHA512, rsaPKCS1},
	"1.2.840.10045.4.3.2":   {crypto.SHA256, ecdsaKey},
	"1.2.840.10045.4.3.3":   {crypto.SHA384, ecdsaKey},
	"1.2.840.10045.4.3.4":   {crypto.SHA512, ecdsaKey},
}

const (
	oidPSS  = "1.2.840.113549.1.1.10"
	oidMGF1 = "1.2.840.113549.1.1.8"
)

var pssHashes = map[string]crypto.Hash{
	"2.16.840.1.101.3.4.2.1": crypto.SHA256, "2.16.840.1.101.3.4.2.2": crypto.SHA384,
	"2.16.840.1.101.3.4.2.3": crypto.SHA512,
}

// readAlgorithm reads an AlgorithmIdentifier. Its error is a Problem.
func readAlgorithm(der []byte) (algorithm, error) {
	var id pkix.AlgorithmIdentifier
	if rest, err := asn1.Unmarshal(der, &id); err != nil || len(rest) > 0 {
		return algorithm{}, errNoList
	}
	if id.Algorithm.String() == oidPSS {
		return readPSS(id.Parameters.FullBytes)
	}
	if a, known := algorithms[id.Algorithm.String()]; known {
		return a, nil
	}
	return algorithm{}, errAlgorithm
}

// readPSS takes the parameters that crypto/x509 takes as well: one hash for all, and a salt of its length.
func readPSS(der []byte) (algorithm, error) {
	var p struct {
		Hash    pkix.AlgorithmIdentifier `asn1:"explicit,tag:0"`
		MGF     pkix.AlgorithmIdentifier `asn1:"explicit,tag:1"`
		Salt    int                      `asn1:"explicit,tag:2"`
		Trailer int                      `asn1:"optional,explicit,tag:3,default:1"`
	}
	var mask pkix.AlgorithmIdentifier
	if rest, err := asn1.Unmarshal(der, &p); err != nil || len(rest) > 0 {
		return algorithm{}, errAlgorithm
	}
	_, err := asn1.Unmarshal(p.MGF.Parameters.FullBytes, &mask)
	hash, known := pssHashes[p.Hash.Algorithm.String()]
	if err != nil || !known || p.MGF.Algorithm.String() != oidMGF1 || !mask.Algorithm.Equal(p.Hash.Algorithm) ||
		p.Salt != hash.Size() || p.Trailer != 1 {
		return algorithm{}, errAlgorithm
	}
	return algorithm{hash, rsaPSS}, nil
}

// verifies reports whether the signature over the digest was made by the key.
func (a algorithm) verifies(key crypto.PublicKey, digest, signature []byte) bool {
	switch key := key.(type) {
	case *rsa.PublicKey:
		switch a.key {
		case rsaPKCS1:
			return rsa.VerifyPKCS1v15(key, a.hash, digest, signature) == nil
		case rsaPSS:
			options := &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash}
			return rsa.VerifyPSS(key, a.hash, digest, signature, options) == nil
		}
	case *ecdsa.PublicKey:
		return a.key == ecdsaKey && ecdsa.VerifyASN1(key, digest, signature)
	}
	return false
}
