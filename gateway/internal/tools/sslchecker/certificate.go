package sslchecker

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"fmt"
	"slices"
	"strings"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/tools/internal/format"
)

// maxShownChain bounds the certificates that are described beside the server's own: as many as are judged.
const maxShownChain = certs.MaxCertificates - 1

// certificate is the server's own certificate. A handshake carries up to 128 KiB of certificates, whose texts may have
// any characters.
type certificate struct {
	chainElement
	SubjectAltNames altNames `json:"subjectAltNames" bound:"apart"`
	ValidationLevel *string  `json:"validationLevel"`
	OCSPURLs        []string `json:"ocspUrls" bound:"text=4k list=16k"`
	CRLURLs         []string `json:"crlUrls" bound:"text=4k list=16k"`
	MustStaple      bool     `json:"mustStaple"`
	// EffectiveEnd is the earliest end on the path that was used, null without a path to a trusted root.
	EffectiveEnd *string `json:"effectiveEnd"`
}

// chainElement is what is shown of every certificate. Names are strings of RFC 4514, moments RFC 3339.
type chainElement struct {
	Subject            string `json:"subject" bound:"text=4k"`
	Issuer             string `json:"issuer" bound:"text=4k"`
	SerialNumber       string `json:"serialNumber" bound:"text=256"`
	Fingerprint256     string `json:"fingerprint256"`
	ValidFrom          string `json:"validFrom"`
	ValidTo            string `json:"validTo"`
	DaysRemaining      int64  `json:"daysRemaining" wire:"signed"`
	KeyType            string `json:"keyType"`
	KeyBits            int    `json:"keyBits"`
	SignatureAlgorithm string `json:"signatureAlgorithm"`
	SelfSigned         bool   `json:"selfSigned"`
	IsCA               bool   `json:"isCA"`
	Truncated          bool   `json:"truncated,omitempty"` // a text or a list of this certificate
}

// altNames are the names that a certificate holds for.
type altNames struct {
	DNS       []string `json:"dns" bound:"text=1k list=256k"`
	IP        []string `json:"ip" bound:"list=64k"`
	Truncated bool     `json:"truncated,omitempty"`
}

func describeCertificate(cert *x509.Certificate, now time.Time) certificate {
	names := altNames{DNS: cleanStrings(cert.DNSNames), IP: []string{}}
	for _, ip := range cert.IPAddresses {
		names.IP = append(names.IP, ip.String())
	}
	return certificate{
		chainElement:    describeElement(cert, now),
		SubjectAltNames: names,
		ValidationLevel: validationLevel(cert),
		OCSPURLs:        cleanStrings(cert.OCSPServer),
		CRLURLs:         cleanStrings(cert.CRLDistributionPoints),
		MustStaple:      mustStaple(cert),
	}
}

func describeChain(certs []*x509.Certificate, now time.Time) []chainElement {
	chain := []chainElement{}
	for _, cert := range certs {
		chain = append(chain, describeElement(cert, now))
	}
	return chain
}

func describeElement(cert *x509.Certificate, now time.Time) chainElement {
	keyType, keyBits := describeKey(cert)
	return chainElement{
		Subject:            distinguishedName(cert.RawSubject, cert.Subject),
		Issuer:             distinguishedName(cert.RawIssuer, cert.Issuer),
		SerialNumber:       serialNumber(cert),
		Fingerprint256:     fingerprint256(cert.Raw),
		ValidFrom:          format.RFC3339(cert.NotBefore),
		ValidTo:            format.RFC3339(cert.NotAfter),
		DaysRemaining:      daysRemaining(cert.NotAfter, now),
		KeyType:            keyType,
		KeyBits:            keyBits,
		SignatureAlgorithm: signatureAlgorithm(cert),
		SelfSigned:         certs.SelfSigned(cert),
		IsCA:               cert.BasicConstraintsValid && cert.IsCA,
	}
}

// distinguishedName writes a name as RFC 4514 does. The name is read from the raw bytes, since pkix.Name reorders it.
func distinguishedName(raw []byte, parsed pkix.Name) string {
	var rdns pkix.RDNSequence
	if rest, err := asn1.Unmarshal(raw, &rdns); err != nil || len(rest) > 0 {
		return cleanString(parsed.String())
	}
	return cleanString(rdns.String())
}

// serialNumber is upper-case hexadecimal in whole octets, as Node shows it.
func serialNumber(cert *x509.Certificate) string {
	sign := ""
	if cert.SerialNumber.Sign() < 0 {
		sign = "-"
	}
	octets := cert.SerialNumber.Bytes()
	if len(octets) == 0 {
		return "00"
	}
	return fmt.Sprintf("%s%X", sign, octets)
}

// fingerprint256 is the SHA-256 of the certificate, as Node shows it.
func fingerprint256(raw []byte) string {
	sum := sha256.Sum256(raw)
	return strings.ReplaceAll(fmt.Sprintf("% X", sum), " ", ":")
}

// daysRemaining is whole days rounded down: 0 within the last day, -1 from the first moment past the end. Seconds are
// counted, since a validity to the year 9999 is more than a time.Duration holds.
func daysRemaining(notAfter, now time.Time) int64 {
	left := notAfter.Unix() - now.Unix()
	if now.Nanosecond() > 0 {
		left--
	}
	days := left / daySeconds
	if left%daySeconds < 0 {
		days--
	}
	return days
}

func describeKey(cert *x509.Certificate) (kind string, bits int) {
	switch key := cert.PublicKey.(type) {
	case *rsa.PublicKey:
		return "RSA", key.N.BitLen()
	case *ecdsa.PublicKey:
		return "ECDSA", key.Curve.Params().BitSize
	case ed25519.PublicKey:
		return "Ed25519", 256
	}
	if cert.PublicKeyAlgorithm != x509.UnknownPublicKeyAlgorithm {
		return cert.PublicKeyAlgorithm.String(), 0
	}
	return describeOtherKey(cert.RawSubjectPublicKeyInfo)
}

// oidEd448 is the kind of key of RFC 8410 that crypto/x509 does not read.
var oidEd448 = asn1.ObjectIdentifier{1, 3, 101, 113}

// oidPSS is that of an RSA key for PSS signatures alone (RFC 4055).
var oidPSS = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 10}

// describeOtherKey names a key that crypto/x509 does not read; without bits where they are not known.
func describeOtherKey(raw []byte) (kind string, bits int) {
	var info struct {
		Algorithm pkix.AlgorithmIdentifier
		Key       asn1.BitString
	}
	if rest, err := asn1.Unmarshal(raw, &info); err != nil || len(rest) > 0 {
		return "unknown", 0
	}
	switch {
	case info.Algorithm.Algorithm.Equal(oidEd448):
		return "Ed448", 456
	case info.Algorithm.Algorithm.Equal(oidPSS):
		if key, err := x509.ParsePKCS1PublicKey(info.Key.RightAlign()); err == nil {
			return "RSASSA-PSS", key.N.BitLen()
		}
		return "RSASSA-PSS", 0
	}
	return "unknown", 0
}

// signatureAlgorithms are the names of OpenSSL.
var signatureAlgorithms = map[x509.SignatureAlgorithm]string{
	x509.MD2WithRSA:       "md2WithRSAEncryption",
	x509.MD5WithRSA:       "md5WithRSAEncryption",
	x509.SHA1WithRSA:      "sha1WithRSAEncryption",
	x509.SHA256WithRSA:    "sha256WithRSAEncryption",
	x509.SHA384WithRSA:    "sha384WithRSAEncryption",
	x509.SHA512WithRSA:    "sha512WithRSAEncryption",
	x509.DSAWithSHA1:      "dsaWithSHA1",
	x509.DSAWithSHA256:    "dsa_with_SHA256",
	x509.ECDSAWithSHA1:    "ecdsa-with-SHA1",
	x509.ECDSAWithSHA256:  "ecdsa-with-SHA256",
	x509.ECDSAWithSHA384:  "ecdsa-with-SHA384",
	x509.ECDSAWithSHA512:  "ecdsa-with-SHA512",
	x509.SHA256WithRSAPSS: "rsassaPss-SHA256",
	x509.SHA384WithRSAPSS: "rsassaPss-SHA384",
	x509.SHA512WithRSAPSS: "rsassaPss-SHA512",
	x509.PureEd25519:      "ED25519",
}

func signatureAlgorithm(cert *x509.Certificate) string {
	return cmp.Or(signatureAlgorithms[cert.SignatureAlgorithm], "unknown")
}

// validationLevels are the reserved policies of the CA/Browser Forum (Baseline Requirements section 7.1.6.1), the
// strictest first.
var validationLevels = []struct {
	policy asn1.ObjectIdentifier
	level  string
}{
	{asn1.ObjectIdentifier{2, 23, 140, 1, 1}, "EV"},
	{asn1.ObjectIdentifier{2, 23, 140, 1, 2, 2}, "OV"},
	{asn1.ObjectIdentifier{2, 23, 140, 1, 2, 3}, "IV"},
	{asn1.ObjectIdentifier{2, 23, 140, 1, 2, 1}, "DV"},
}

// validationLevel says how the authority claims to have validated the subject, nil where it claims nothing.
func validationLevel(cert *x509.Certificate) *string {
	for _, known := range validationLevels {
		if slices.ContainsFunc(cert.Policies, func(p x509.OID) bool { return p.EqualASN1OID(known.policy) }) {
			return &known.level
		}
	}
	return nil
}

// oidTLSFeature is the extension of RFC 7633; a feature of 5 (status_request) is what is called must-staple.
var oidTLSFeature = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 1, 24}

func mustStaple(cert *x509.Certificate) bool {
	const statusRequest = 5
	var features []int
	_, err := asn1.Unmarshal(extension(cert.Extensions, oidTLSFeature), &features)
	return err == nil && slices.Contains(features, statusRequest)
}

// extension gives the value of an extension, nil where it is absent.
func extension(list []pkix.Extension, id asn1.ObjectIdentifier) []byte {
	for _, e := range list {
		if e.Id.Equal(id) {
			return e.Value
		}
	}
	return nil
}

// cleanString makes a stranger's string fit for JSON.
func cleanString(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func cleanStrings(list []string) []string {
	clean := make([]string, len(list))
	for i, s := range list {
		clean[i] = cleanString(s)
	}
	return clean
}
