package sslchecker

import (
	"crypto/tls"
	"slices"
	"strings"
)

// cipher names a cipher suite as OpenSSL and as IANA do; Bits is its strength as OpenSSL counts it.
type cipher struct {
	Name         string `json:"name"`
	StandardName string `json:"standardName"`
	Bits         int    `json:"bits"`
}

// openSSLCiphers are the names of OpenSSL for the suites that Go has before TLS 1.3, where both names are the same.
var openSSLCiphers = map[uint16]string{
	tls.TLS_RSA_WITH_RC4_128_SHA:                      "RC4-SHA",
	tls.TLS_RSA_WITH_3DES_EDE_CBC_SHA:                 "DES-CBC3-SHA",
	tls.TLS_RSA_WITH_AES_128_CBC_SHA:                  "AES128-SHA",
	tls.TLS_RSA_WITH_AES_256_CBC_SHA:                  "AES256-SHA",
	tls.TLS_RSA_WITH_AES_128_CBC_SHA256:               "AES128-SHA256",
	tls.TLS_RSA_WITH_AES_128_GCM_SHA256:               "AES128-GCM-SHA256",
	tls.TLS_RSA_WITH_AES_256_GCM_SHA384:               "AES256-GCM-SHA384",
	tls.TLS_ECDHE_ECDSA_WITH_RC4_128_SHA:              "ECDHE-ECDSA-RC4-SHA",
	tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA:          "ECDHE-ECDSA-AES128-SHA",
	tls.TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA:          "ECDHE-ECDSA-AES256-SHA",
	tls.TLS_ECDHE_RSA_WITH_RC4_128_SHA:                "ECDHE-RSA-RC4-SHA",
	tls.TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA:           "ECDHE-RSA-DES-CBC3-SHA",
	tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA:            "ECDHE-RSA-AES128-SHA",
	tls.TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA:            "ECDHE-RSA-AES256-SHA",
	tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256:       "ECDHE-ECDSA-AES128-SHA256",
	tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256:         "ECDHE-RSA-AES128-SHA256",
	tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256:         "ECDHE-RSA-AES128-GCM-SHA256",
	tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256:       "ECDHE-ECDSA-AES128-GCM-SHA256",
	tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384:         "ECDHE-RSA-AES256-GCM-SHA384",
	tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384:       "ECDHE-ECDSA-AES256-GCM-SHA384",
	tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256:   "ECDHE-RSA-CHACHA20-POLY1305",
	tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: "ECDHE-ECDSA-CHACHA20-POLY1305",
}

// everySuite is what the handshakes offer: the insecure suites too, since a server that has no others is to be shown
// and not missed.
func everySuite() []uint16 {
	var ids []uint16
	for _, suite := range slices.Concat(tls.CipherSuites(), tls.InsecureCipherSuites()) {
		ids = append(ids, suite.ID)
	}
	return ids
}

func describeCipher(id uint16) cipher {
	standard := tls.CipherSuiteName(id)
	name, ok := openSSLCiphers[id]
	if !ok {
		name = standard
	}
	return cipher{Name: name, StandardName: standard, Bits: cipherBits(standard)}
}

// cipherBits reads the strength off the IANA name.
func cipherBits(standard string) int {
	switch {
	case strings.Contains(standard, "_3DES_"):
		return 112
	case strings.Contains(standard, "AES_256"), strings.Contains(standard, "CHACHA20"):
		return 256
	default:
		return 128
	}
}

// curveNames are the usual names of the key exchange groups that Go names otherwise.
var curveNames = map[tls.CurveID]string{tls.CurveP256: "P-256", tls.CurveP384: "P-384", tls.CurveP521: "P-521"}

// describeKeyExchange names the group of an ephemeral exchange, or RSA where the server's key itself transports the
// secret. A handshake that broke off before its group was known is ECDHE.
func describeKeyExchange(state tls.ConnectionState) string {
	if isRSAKeyExchange(state.CipherSuite) {
		return "RSA"
	}
	if state.CurveID == 0 {
		return "ECDHE"
	}
	if name, ok := curveNames[state.CurveID]; ok {
		return name
	}
	return state.CurveID.String()
}

func isRSAKeyExchange(suite uint16) bool {
	return strings.HasPrefix(tls.CipherSuiteName(suite), "TLS_RSA_WITH_")
}

// protocolName gives the name of a version as OpenSSL and Node write it.
func protocolName(version uint16) string {
	return strings.Replace(tls.VersionName(version), "TLS ", "TLSv", 1)
}
