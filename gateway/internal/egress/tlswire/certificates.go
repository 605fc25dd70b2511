package tlswire

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"io"

	"diagnostics/gateway/internal/egress/tlswire/tls13"
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
func certificatesIn(body []byte, protected bool) (all [][]byte) {
	if protected {
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
		if !protected {
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
	var in *tls13.Opener
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
				if in = c.opener(lastSuite(messages)); in == nil {
					return nil, protected
				}
				messages = nil
			}
			kind, inner, err := in.Open(header, body)
			if err != nil {
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

// opener is the one of the server's part of the handshake, nil where its suite or its secret is not known.
func (c *Conn) opener(suite uint16) *tls13.Opener {
	protection, known := tls13.Of(suite)
	secret := c.secret()
	if !known || secret == nil {
		return nil
	}
	opener, _ := protection.Traffic(secret) // which is nil with an error
	return opener
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
