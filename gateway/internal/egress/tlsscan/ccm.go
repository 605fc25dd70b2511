package tlsscan

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"
	"encoding/binary"
)

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

// mac is CBC-MAC of a block that tells the lengths, the header and the text, both filled up with zeros.
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
