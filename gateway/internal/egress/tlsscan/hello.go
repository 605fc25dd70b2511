package tlsscan

import (
	"cmp"
	"crypto/rand"
	"slices"
	"strings"

	"golang.org/x/crypto/cryptobyte"
)

// The types of records and messages (RFC 8446 sections 4 and 5.1, RFC 5246 sections 6.2.1 and 7.4, RFC 6066 section 8).
const (
	recordChangeCipher = 20
	recordAlert        = 21
	recordHandshake    = 22
	recordProtected    = 23

	messageClientHello         = 1
	messageServerHello         = 2
	messageEncryptedExtensions = 8
	messageCertificate         = 11
	messageKeyExchange         = 12
	messageCertificateRequest  = 13
	messageHelloDone           = 14
	messageCertificateStatus   = 22
	messageHash                = 254
)

// The extensions that are written or read (IANA, TLS ExtensionType Values).
const (
	extServerName           = 0
	extStatusRequest        = 5
	extGroups               = 10
	extPointFormats         = 11
	extSignatures           = 13
	extALPN                 = 16
	extSCT                  = 18
	extPadding              = 21
	extExtendedMasterSecret = 23
	extVersions             = 43
	extCookie               = 44
	extSignaturesCert       = 50
	extKeyShares            = 51
	extRenegotiation        = 0xFF01
)

// renegotiationSCSV stands in for extRenegotiation where there are no extensions (RFC 5746 section 3.3).
const renegotiationSCSV = 0x00FF

// keyShare is a public key of a group.
type keyShare struct {
	group uint16
	data  []byte
}

// clientHello is what is written in one.
type clientHello struct {
	// version is the newest that is offered.
	version Version
	// versions go in an extension of their own where TLS 1.3 is one of them.
	versions   []Version
	random     [32]byte
	session    []byte
	suites     []uint16
	serverName string
	groups     []uint16
	signatures []uint16
	// anyChain takes certificates that are signed by any algorithm, whatever signatures has.
	anyChain bool
	shares   []keyShare
	cookie   []byte
	alpn     []string
	// unpadded leaves a hello as short as it is.
	unpadded bool
	// extras are requested where the certificates matter: the OCSP staple and SCTs.
	extras bool
}

// newHello has what every hello needs.
func newHello(v Version) clientHello {
	h := clientHello{version: v}
	_, _ = rand.Read(h.random[:]) // which never fails
	if v == TLS13 {
		h.session = make([]byte, 32) // as middleboxes like it (RFC 8446 appendix D.4)
		_, _ = rand.Read(h.session)
		h.versions = []Version{TLS13}
	}
	return h
}

// legacyVersion is what stands where older servers look for the version.
func (h clientHello) legacyVersion() Version { return min(h.version, TLS12) }

func (h clientHello) marshal() []byte {
	message := h.encode(0)
	// Some servers hang on a hello of 256 to 511 octets (RFC 7685).
	if size := len(message); !h.unpadded && h.version > SSL30 && size > 0xFF && size < 0x200 {
		const header = 4 // of the extension
		message = h.encode(max(0x200-size, header+1))
	}
	return message
}

func (h clientHello) encode(padding int) []byte {
	var b cryptobyte.Builder
	b.AddUint8(messageClientHello)
	b.AddUint24LengthPrefixed(func(b *cryptobyte.Builder) {
		b.AddUint16(uint16(h.legacyVersion()))
		b.AddBytes(h.random[:])
		addBytes8(b, h.session)
		b.AddUint16LengthPrefixed(func(b *cryptobyte.Builder) {
			addAll(b, h.suites)
			if h.version == SSL30 {
				b.AddUint16(renegotiationSCSV)
			}
		})
		addBytes8(b, []byte{0}) // no compression
		if h.version > SSL30 {
			b.AddUint16LengthPrefixed(func(b *cryptobyte.Builder) { h.addExtensions(b, padding) })
		}
	})
	return b.BytesOrPanic()
}

func (h clientHello) addExtensions(b *cryptobyte.Builder, padding int) {
	if h.serverName != "" {
		addExtension(b, extServerName, func(b *cryptobyte.Builder) {
			b.AddUint16LengthPrefixed(func(b *cryptobyte.Builder) {
				b.AddUint8(0)
				addBytes16(b, []byte(h.serverName))
			})
		})
	}
	addExtension(b, extExtendedMasterSecret, func(*cryptobyte.Builder) {})
	addExtension(b, extRenegotiation, func(b *cryptobyte.Builder) { addBytes8(b, nil) })
	if len(h.groups) > 0 {
		addExtension(b, extGroups, func(b *cryptobyte.Builder) { addList16(b, h.groups) })
		addExtension(b, extPointFormats, func(b *cryptobyte.Builder) { addBytes8(b, []byte{0, 1, 2}) })
	}
	if h.version >= TLS12 {
		addExtension(b, extSignatures, func(b *cryptobyte.Builder) { addList16(b, h.signatures) })
	}
	if h.anyChain && h.version >= TLS12 {
		addExtension(b, extSignaturesCert, func(b *cryptobyte.Builder) { addList16(b, signatures) })
	}
	h.addExtras(b)
	if h.version == TLS13 {
		h.add13(b)
	}
	if padding > 0 {
		const header = 4
		addExtension(b, extPadding, func(b *cryptobyte.Builder) { b.AddBytes(make([]byte, padding-header)) })
	}
}

func (h clientHello) addExtras(b *cryptobyte.Builder) {
	if len(h.alpn) > 0 {
		addExtension(b, extALPN, func(b *cryptobyte.Builder) {
			b.AddUint16LengthPrefixed(func(b *cryptobyte.Builder) {
				for _, name := range h.alpn {
					addBytes8(b, []byte(name))
				}
			})
		})
	}
	if !h.extras {
		return
	}
	addExtension(b, extStatusRequest, func(b *cryptobyte.Builder) {
		b.AddUint8(1) // OCSP
		addBytes16(b, nil)
		addBytes16(b, nil)
	})
	addExtension(b, extSCT, func(*cryptobyte.Builder) {})
}

// add13 adds what is of TLS 1.3 alone. A hello without shares has an empty list of them, by which it requests that
// the server name a group (RFC 8446 section 4.2.8).
func (h clientHello) add13(b *cryptobyte.Builder) {
	addExtension(b, extVersions, func(b *cryptobyte.Builder) {
		b.AddUint8LengthPrefixed(func(b *cryptobyte.Builder) { addAll(b, h.versions) })
	})
	if h.cookie != nil {
		addExtension(b, extCookie, func(b *cryptobyte.Builder) { addBytes16(b, h.cookie) })
	}
	addExtension(b, extKeyShares, func(b *cryptobyte.Builder) {
		b.AddUint16LengthPrefixed(func(b *cryptobyte.Builder) {
			for _, share := range h.shares {
				b.AddUint16(share.group)
				addBytes16(b, share.data)
			}
		})
	})
}

func addExtension(b *cryptobyte.Builder, kind uint16, body func(*cryptobyte.Builder)) {
	b.AddUint16(kind)
	b.AddUint16LengthPrefixed(body)
}

func addAll[T ~uint16](b *cryptobyte.Builder, list []T) {
	for _, v := range list {
		b.AddUint16(uint16(v))
	}
}

func addList16(b *cryptobyte.Builder, list []uint16) {
	b.AddUint16LengthPrefixed(func(b *cryptobyte.Builder) { addAll(b, list) })
}

func addBytes8(b *cryptobyte.Builder, v []byte) {
	b.AddUint8LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(v) })
}

func addBytes16(b *cryptobyte.Builder, v []byte) {
	b.AddUint16LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(v) })
}

// inRecord wraps a message or alert that is not protected; none of ours is longer than a record may be.
func inRecord(v Version, kind byte, body []byte) []byte {
	var b cryptobyte.Builder
	b.AddUint8(kind)
	b.AddUint16(uint16(v))
	addBytes16(&b, body)
	return b.BytesOrPanic()
}

// recordVersion is that of the record of a first hello, which older servers look at too.
func (h clientHello) recordVersion() Version { return min(h.version, TLS10) }

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

// offered are the suites that are offered in a version, in our order: first what most servers have, and among these
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
