package tlsscan

import (
	"crypto/rand"

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
	// extras are asked for where the certificates matter: the OCSP staple and SCTs.
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
	if size := len(message); h.version > SSL30 && size > 0xFF && size < 0x200 {
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

// add13 adds what is of TLS 1.3 alone. A hello without shares has an empty list of them, by which a server is asked to
// name a group (RFC 8446 section 4.2.8).
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
