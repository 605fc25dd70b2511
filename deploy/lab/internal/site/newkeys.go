package site

import (
	"bufio"
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"encoding/hex"
	"io"
	"net"
	"strings"
	"time"
)

// keysPerOctet are the updates that crypto/tls takes between two octets of an answer.
const keysPerOctet = 15

// newKeys shakes hands and then writes TLS 1.3 by itself, since crypto/tls sends no KeyUpdate (RFC 8446 section 4.6.3):
// octets of a header without end, and between them updates that request one in return.
func newKeys(ctx context.Context, c net.Conn) {
	_ = c.SetDeadline(time.Now().Add(idle))
	config, _ := ctx.Value(startTLSKey{}).(*tls.Config)
	config = config.Clone()
	var keys bytes.Buffer
	config.KeyLogWriter = &keys
	config.SessionTicketsDisabled = true // nothing was written under the key when it is taken over
	server := tls.Server(c, config)
	if _, err := server.Read(make([]byte, 4096)); err != nil {
		return
	}
	if server.ConnectionState().CipherSuite != tls.TLS_AES_128_GCM_SHA256 {
		return // the one that is written here, and that Go's own client prefers
	}
	writer := &tls13Writer{secret: trafficSecret(&keys)}
	if writer.secret == nil || writer.rekey() != nil {
		return
	}
	go func() { _, _ = io.Copy(io.Discard, c) }()
	octets := []byte("HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", 10_000))
	for _, octet := range octets {
		var out bytes.Buffer
		for range keysPerOctet {
			out.Write(writer.seal(recordHandshake, 24, 0, 0, 1, 1)) // KeyUpdate, update_requested
			if writer.next() != nil {
				return
			}
		}
		out.Write(writer.seal(recordData, octet))
		if _, err := c.Write(out.Bytes()); err != nil {
			return
		}
	}
}

// trafficSecret finds the server's in a key log.
func trafficSecret(log io.Reader) []byte {
	for lines := bufio.NewScanner(log); lines.Scan(); {
		if words := strings.Fields(lines.Text()); len(words) == 3 && words[0] == "SERVER_TRAFFIC_SECRET_0" {
			secret, _ := hex.DecodeString(words[2])
			return secret
		}
	}
	return nil
}

// tls13Writer protects records (RFC 8446 section 5.2) with TLS_AES_128_GCM_SHA256.
type tls13Writer struct {
	secret []byte
	aead   cipher.AEAD
	iv     []byte
	count  uint64
}

// next is the key that follows (section 7.2).
func (w *tls13Writer) next() (err error) {
	if w.secret, err = expandLabel(w.secret, "traffic upd", sha256.Size); err != nil {
		return err
	}
	return w.rekey()
}

func (w *tls13Writer) rekey() error {
	key, err := expandLabel(w.secret, "key", 16)
	if err != nil {
		return err
	}
	if w.iv, err = expandLabel(w.secret, "iv", 12); err != nil {
		return err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return err
	}
	w.count = 0
	w.aead, err = cipher.NewGCM(block)
	return err
}

func (w *tls13Writer) seal(kind byte, body ...byte) []byte {
	inner := append(bytes.Clone(body), kind)
	header := binary.BigEndian.AppendUint16([]byte{recordData, 3, 3}, uint16(len(inner)+w.aead.Overhead()))
	nonce := bytes.Clone(w.iv)
	for i, b := range binary.BigEndian.AppendUint64(nil, w.count) {
		nonce[4+i] ^= b
	}
	w.count++
	return w.aead.Seal(header, nonce, inner, header)
}

// expandLabel is HKDF-Expand-Label without a context (section 7.1).
func expandLabel(secret []byte, label string, length int) ([]byte, error) {
	full := "tls13 " + label
	info := binary.BigEndian.AppendUint16(nil, uint16(length))
	info = append(append(info, byte(len(full))), full...)
	return hkdf.Expand(sha256.New, secret, string(append(info, 0)), length)
}
