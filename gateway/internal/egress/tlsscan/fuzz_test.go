package tlsscan

import (
	"bytes"
	"context"
	"io"
	"net"
	"testing"
	"time"
)

func FuzzServerHello(f *testing.F) {
	f.Add(serverHello{version: TLS13, suite: 0x1301, group: 29, share: make([]byte, 32)}.marshal()[4:])
	f.Add(serverHello{version: TLS13, suite: 0x1301, group: 29, retry: true, cookie: []byte("c")}.marshal()[4:])
	f.Add(serverHello{version: TLS12, suite: 0xC02F, alpn: "h2", scts: [][]byte{{1}}}.marshal()[4:])
	f.Add(serverHello{version: SSL30, suite: 5}.marshal()[4:])
	f.Fuzz(func(t *testing.T, body []byte) {
		h, err := parseServerHello(body)
		if err == nil && len(h.share)+len(h.cookie)+len(h.alpn) > len(body) {
			t.Errorf("%+v of %d octets", h, len(body))
		}
	})
}

func FuzzCertificates(f *testing.F) {
	c := certificates{all: [][]byte{{1, 2, 3}, {4}}, staple: []byte("ocsp"), scts: [][]byte{{5}}}
	f.Add(c.marshal()[4:])
	f.Add(c.marshal13()[4:])
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, v := range []Version{TLS12, TLS13} {
			c, err := parseCertificates(body, v)
			size := len(c.staple)
			for _, der := range c.all {
				size += len(der)
			}
			if size > len(body) {
				t.Errorf("%d octets out of %d, %v", size, len(body), err)
			}
		}
		_, _ = parseEncryptedExtensions(body)
		_, _ = readStatus(body)
	})
}

func FuzzKeyExchange(f *testing.F) {
	f.Add("ECDHE", curveExchange(29)[4:])
	f.Add("DHE", primeExchange(1024)[4:])
	f.Add("DHE", ffdhe(2048))
	f.Add("DHE_PSK", append([]byte{0, 0}, primeExchange(512)[4:]...))
	f.Fuzz(func(t *testing.T, exchange string, body []byte) {
		x, err := parseKeyExchange(Suite{KeyExchange: exchange}, body)
		if err != nil && x != (keyExchange{}) || x.dhBits > 8*len(body) {
			t.Errorf("%+v, %v", x, err)
		}
	})
}

// FuzzReader reads what a server might send at all; it ends, and keeps no more than the bound.
func FuzzReader(f *testing.F) {
	for _, v := range Versions {
		reply, _ := everything.reply(newHelloWithAll(v))
		f.Add(inRecord(TLS12, recordHandshake, reply))
	}
	f.Add(inRecord(TLS10, recordAlert, []byte{1, 112, 2, 40}))
	f.Add([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
	f.Fuzz(func(t *testing.T, sent []byte) {
		var got flight
		r := reader{from: bytes.NewReader(sent)}
		err := got.readUntil(&r, func(f *flight) bool { return f.done })
		if err == nil != got.done || len(r.handshake) > MaxHandshake {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// FuzzHandshake answers hellos of all kinds.
func FuzzHandshake(f *testing.F) {
	for _, v := range Versions {
		reply, _ := everything.reply(newHelloWithAll(v))
		f.Add(uint8(4-v&7), inRecord(TLS12, recordHandshake, reply))
	}
	share := serverHello{version: TLS13, suite: 0x1301, group: 29, share: make([]byte, 32)}
	protected := inRecord(TLS12, recordProtected, make([]byte, 99))
	for _, first := range []byte{0, 9} { // a share that is none, and one that is
		share.share[0] = first
		f.Add(uint8(0), append(inRecord(TLS12, recordHandshake, share.marshal()), protected...))
	}
	f.Fuzz(func(t *testing.T, which uint8, sent []byte) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		got, err := ReadHandshake(ctx, &answering{Reader: bytes.NewReader(sent)}, Hello{Versions: Versions[which%5:]})
		if ctx.Err() != nil || err != nil && len(got.Certificates) > 0 {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// answering is a connection of which the other end has said everything already.
type answering struct {
	io.Reader
	net.Conn
}

func (a *answering) Read(p []byte) (int, error)  { return a.Reader.Read(p) }
func (a *answering) Write(p []byte) (int, error) { return len(p), nil }
func (a *answering) SetDeadline(time.Time) error { return nil }
func (a *answering) Close() error                { return nil }

// everything is a server that takes all there is.
var everything = fake{dhBits: 1024, suites: map[Version][]uint16{}, groups: map[Version][]uint16{}}

func init() {
	for _, v := range Versions {
		everything.suites[v], everything.groups[v] = offered(v), offeredGroups(v)
	}
}

func newHelloWithAll(v Version) clientHello {
	h := newHello(v)
	h.suites, h.groups = offered(v), offeredGroups(v)
	return h
}
