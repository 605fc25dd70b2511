package tlsscan

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/binary"
	"hash"
	"slices"

	"golang.org/x/crypto/chacha20poly1305"
)

// What a server protects in a handshake of TLS 1.3 is opened here (RFC 8446 sections 5.2 and 7). Nothing is protected.

// protection is how the records of a suite are protected.
type protection struct {
	newHash func() hash.Hash
	keySize int
	newAEAD func(key []byte) (sealed, error)
}

// sealed is what has been sealed by an AEAD (RFC 5116): the half of a cipher.AEAD that reads.
type sealed interface {
	Open(dst, nonce, ciphertext, extra []byte) ([]byte, error)
}

// protections are those of the suites that are known. AES-CCM is here because devices have nothing else.
var protections = map[uint16]protection{
	0x1301: {sha256.New, 16, aesGCM},
	0x1302: {sha512.New384, 32, aesGCM},
	0x1303: {sha256.New, chacha20poly1305.KeySize, chaCha20},
	0x1304: {sha256.New, 16, func(key []byte) (sealed, error) { return newCCM(key, 16) }},
	0x1305: {sha256.New, 16, func(key []byte) (sealed, error) { return newCCM(key, 8) }},
}

func aesGCM(key []byte) (sealed, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

func chaCha20(key []byte) (sealed, error) { return chacha20poly1305.New(key) }

// opener undoes the protection of records (RFC 8446 section 5.2), in the order in which they came.
type opener struct {
	aead  sealed
	iv    []byte
	count uint64
}

// open returns the content of a record and its type. It fails with ErrMalformed where the record was not protected with
// the key, or is empty.
func (o *opener) open(header, body []byte) (kind byte, inner []byte, err error) {
	nonce := slices.Clone(o.iv)
	for i, b := range binary.BigEndian.AppendUint64(nil, o.count) {
		nonce[len(nonce)-8+i] ^= b
	}
	o.count++
	inner, err = o.aead.Open(nil, nonce, body, header)
	if err != nil {
		return 0, nil, ErrMalformed
	}
	for len(inner) > 0 && inner[len(inner)-1] == 0 { // padding
		inner = inner[:len(inner)-1]
	}
	if len(inner) == 0 {
		return 0, nil, ErrMalformed
	}
	return inner[len(inner)-1], inner[:len(inner)-1], nil
}

// handshake opens the server's part of a handshake of which the shared secret and the messages so far are known (RFC
// 8446 section 7.1).
func (p protection) handshake(shared, messages []byte) (*opener, error) {
	none := make([]byte, p.newHash().Size())
	early, err := hkdf.Extract(p.newHash, none, nil)
	if err != nil {
		return nil, err
	}
	derived, err := p.expand(early, "derived", p.sum(nil), len(none))
	if err != nil {
		return nil, err
	}
	handshake, err := hkdf.Extract(p.newHash, shared, derived)
	if err != nil {
		return nil, err
	}
	secret, err := p.expand(handshake, "s hs traffic", p.sum(messages), len(none))
	if err != nil {
		return nil, err
	}
	return p.traffic(secret)
}

// traffic opens what is protected with a traffic secret (RFC 8446 section 7.3).
func (p protection) traffic(secret []byte) (*opener, error) {
	const ivSize = 12
	key, err := p.expand(secret, "key", nil, p.keySize)
	if err != nil {
		return nil, err
	}
	iv, err := p.expand(secret, "iv", nil, ivSize)
	if err != nil {
		return nil, err
	}
	aead, err := p.newAEAD(key)
	if err != nil {
		return nil, err
	}
	return &opener{aead: aead, iv: iv}, nil
}

// sum is the hash of a transcript (RFC 8446 section 4.4.1).
func (p protection) sum(b []byte) []byte {
	h := p.newHash()
	h.Write(b)
	return h.Sum(nil)
}

// expand is HKDF-Expand-Label (RFC 8446 section 7.1).
func (p protection) expand(secret []byte, label string, context []byte, length int) ([]byte, error) {
	full := "tls13 " + label
	info := []byte{0, byte(length), byte(len(full))} // #nosec G115 -- the lengths are our own, and under 256
	info = append(info, full...)
	info = append(info, byte(len(context))) // #nosec G115 -- that of a hash
	return hkdf.Expand(p.newHash, secret, string(append(info, context...)), length)
}

// ccm opens what AES-CCM sealed (RFC 3610) with the nonce of 12 octets that TLS has (RFC 6655).
type ccm struct {
	block cipher.Block
	tag   int
}

func newCCM(key []byte, tag int) (sealed, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return ccm{block, tag}, nil
}

// Open is that of cipher.AEAD.
func (c ccm) Open(dst, nonce, ciphertext, extra []byte) ([]byte, error) {
	if len(ciphertext) < c.tag {
		return nil, ErrMalformed
	}
	ciphertext, tag := ciphertext[:len(ciphertext)-c.tag], ciphertext[len(ciphertext)-c.tag:]
	// Counter block 0 hides the tag, those from 1 on the text; the counter has three octets.
	counter := append(append([]byte{2}, nonce...), 0, 0, 0)
	stream := cipher.NewCTR(c.block, counter)
	pad := make([]byte, aes.BlockSize)
	stream.XORKeyStream(pad, pad)
	plain := make([]byte, len(ciphertext))
	stream.XORKeyStream(plain, ciphertext)

	mac := c.mac(nonce, plain, extra)
	subtle.XORBytes(mac, mac, pad)
	if subtle.ConstantTimeCompare(mac[:c.tag], tag) != 1 {
		return nil, ErrMalformed
	}
	return append(dst, plain...), nil
}

// mac is CBC-MAC of a block with the lengths, the header and the text, both filled up with zeros.
func (c ccm) mac(nonce, plain, extra []byte) []byte {
	flags := 0x42 + byte((c.tag-2)/2)<<3 // #nosec G115 -- the tag has 8 or 16 octets
	first := append([]byte{flags}, nonce...)
	first = append(first, byte(len(plain)>>16), byte(len(plain)>>8), byte(len(plain))) // #nosec G115 -- a record's
	mac := make([]byte, aes.BlockSize)
	header := binary.BigEndian.AppendUint16(nil, uint16(len(extra))) // #nosec G115 -- the five octets of a record's
	for _, part := range [][]byte{first, append(header, extra...), plain} {
		for len(part) > 0 {
			n := subtle.XORBytes(mac, mac, part)
			c.block.Encrypt(mac, mac)
			part = part[n:]
		}
	}
	return mac
}
