package tlswire

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/tls"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"io"

	"golang.org/x/crypto/chacha20poly1305"
)

// The types of records and handshake messages that matter here (RFC 8446 sections 4 and 5.1).
const (
	recordHandshake    = 22
	recordProtected    = 23 // in TLS 1.3
	messageServerHello = 2
	messageCertificate = 11
)

// KeyLog takes the keys of a handshake (crypto/tls.Config.KeyLogWriter), by which its own certificates are read.
func (c *Conn) KeyLog() io.Writer { return keyLog{c} }

type keyLog struct{ to *Conn }

func (k keyLog) Write(line []byte) (int, error) {
	k.to.keys = append(k.to.keys, line...)
	return len(line), nil
}

// Certificates gives those that the server sent, as they were encoded, leaf first, as far as they came before the
// handshake ended; whole tells that these are all.
func (c *Conn) Certificates() (all [][]byte, whole bool) {
	messages, protected := c.handshake()
	for len(messages) >= 4 {
		kind, length := messages[0], uint24(messages[1:])
		body := messages[4:]
		body = body[:min(length, len(body))]
		if kind == messageCertificate {
			return certificatesIn(body, protected), length == len(body)
		}
		messages = messages[4+len(body):]
	}
	return nil, false
}

// certificatesIn reads a Certificate message: in TLS 1.3 (RFC 8446 section 4.4.2) each has extensions, and a context
// comes first.
func certificatesIn(body []byte, tls13 bool) (all [][]byte) {
	if tls13 {
		if len(body) == 0 || len(body) < 1+int(body[0]) {
			return nil
		}
		body = body[1+int(body[0]):]
	}
	if len(body) < 3 {
		return nil
	}
	for body = body[3:]; len(body) >= 3; {
		length := uint24(body)
		if body = body[3:]; length > len(body) {
			return all
		}
		all, body = append(all, body[:length]), body[length:]
		if !tls13 {
			continue
		}
		if len(body) < 2 {
			return all
		}
		body = body[min(len(body), 2+int(binary.BigEndian.Uint16(body))):]
	}
	return all
}

func uint24(b []byte) int { return int(b[0])<<16 | int(b[1])<<8 | int(b[2]) }

// handshake gives the messages of the server's records, and whether those were protected.
func (c *Conn) handshake() (messages []byte, protected bool) {
	var in opener
	for rest := c.wire; len(rest) >= recordHeader; {
		header := rest[:recordHeader]
		length := int(binary.BigEndian.Uint16(header[3:]))
		if rest = rest[recordHeader:]; length > len(rest) {
			return messages, protected
		}
		body := rest[:length]
		rest = rest[length:]
		switch header[0] {
		case recordHandshake:
			messages = append(messages, body...)
		case recordProtected:
			if !protected {
				// What was said in the clear ends with the hello that chose the suite.
				protected = true
				in = openerFor(lastSuite(messages), c.secret())
				messages = nil
			}
			inner, kind := in.open(header, body)
			if inner == nil {
				return messages, protected
			}
			if kind == recordHandshake {
				messages = append(messages, inner...)
			}
		}
	}
	return messages, protected
}

// lastSuite is the cipher suite of the last ServerHello; a request to say hello again is one too.
func lastSuite(messages []byte) (suite uint16) {
	for len(messages) >= 4 {
		kind, length := messages[0], uint24(messages[1:])
		body := messages[4:]
		body = body[:min(length, len(body))]
		const session = 2 + 32 // after version and random
		if kind == messageServerHello && len(body) > session {
			if at := session + 1 + int(body[session]); len(body) >= at+2 {
				suite = binary.BigEndian.Uint16(body[at:])
			}
		}
		messages = messages[4+len(body):]
	}
	return suite
}

// secret is the one by which the server protects its handshake, nil where it is not known.
func (c *Conn) secret() []byte {
	for line := range bytes.Lines(c.keys) {
		words := bytes.Fields(line)
		if len(words) != 3 || string(words[0]) != "SERVER_HANDSHAKE_TRAFFIC_SECRET" {
			continue
		}
		secret, err := hex.DecodeString(string(words[2]))
		if err == nil {
			return secret
		}
	}
	return nil
}

// opener undoes the protection of records (RFC 8446 section 5.2). The zero value opens none.
type opener struct {
	aead  cipher.AEAD
	iv    []byte
	count uint64
}

func openerFor(suite uint16, secret []byte) opener {
	newHash, keyLength, newAEAD := sha256.New, 16, aesGCM
	switch suite {
	case tls.TLS_AES_128_GCM_SHA256:
	case tls.TLS_AES_256_GCM_SHA384:
		newHash, keyLength = sha512.New384, 32
	case tls.TLS_CHACHA20_POLY1305_SHA256:
		keyLength, newAEAD = chacha20poly1305.KeySize, chacha20poly1305.New
	default:
		return opener{}
	}
	key, err := expandLabel(newHash, secret, "key", keyLength)
	if err != nil {
		return opener{}
	}
	iv, err := expandLabel(newHash, secret, "iv", 12)
	if err != nil {
		return opener{}
	}
	aead, err := newAEAD(key)
	if err != nil {
		return opener{}
	}
	return opener{aead: aead, iv: iv}
}

func aesGCM(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// expandLabel is HKDF-Expand-Label without a context (RFC 8446 section 7.1).
func expandLabel(newHash func() hash.Hash, secret []byte, label string, length int) ([]byte, error) {
	full := "tls13 " + label
	info := binary.BigEndian.AppendUint16(nil, uint16(length)) //nolint:gosec // a key's
	info = append(append(info, byte(len(full))), full...)      // #nosec G115 -- labels are our own, and short
	return hkdf.Expand(newHash, secret, string(append(info, 0)), length)
}

// open gives what a record holds and its type, or nil where it cannot be opened.
func (o *opener) open(header, body []byte) (inner []byte, kind byte) {
	if o.aead == nil {
		return nil, 0
	}
	nonce := bytes.Clone(o.iv)
	for i, b := range binary.BigEndian.AppendUint64(nil, o.count) {
		nonce[4+i] ^= b
	}
	o.count++
	inner, err := o.aead.Open(nil, nonce, body, header)
	if err != nil {
		return nil, 0
	}
	inner = bytes.TrimRight(inner, "\x00")
	if len(inner) == 0 {
		return nil, 0
	}
	return inner[:len(inner)-1], inner[len(inner)-1]
}
