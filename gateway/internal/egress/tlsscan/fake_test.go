package tlsscan

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"diagnostics/gateway/internal/analyze/certs/certtest"

	"golang.org/x/crypto/cryptobyte"
)

// parseClientHello reads what marshal writes; false where it makes no sense.
func parseClientHello(message []byte) (h clientHello, ok bool) {
	s := cryptobyte.String(message)
	var kind, compressions uint8
	var version uint16
	var body, session, suites, extensions cryptobyte.String
	var random []byte
	if !s.ReadUint8(&kind) || kind != messageClientHello || !s.ReadUint24LengthPrefixed(&body) || !s.Empty() ||
		!body.ReadUint16(&version) || !body.ReadBytes(&random, 32) || !body.ReadUint8LengthPrefixed(&session) ||
		!body.ReadUint16LengthPrefixed(&suites) || !body.ReadUint8(&compressions) || compressions != 1 || !body.Skip(1) {
		return clientHello{}, false
	}
	h.version = Version(version)
	copy(h.random[:], random)
	h.session = session
	if h.suites, ok = readAll(suites); !ok {
		return clientHello{}, false
	}
	if h.version == SSL30 {
		h.suites = h.suites[:len(h.suites)-1] // the signal
		return h, body.Empty()
	}
	if !body.ReadUint16LengthPrefixed(&extensions) || !body.Empty() {
		return clientHello{}, false
	}
	for !extensions.Empty() {
		var kind uint16
		var data cryptobyte.String
		if !extensions.ReadUint16(&kind) || !extensions.ReadUint16LengthPrefixed(&data) || !h.takeExtension(kind, data) {
			return clientHello{}, false
		}
	}
	return h, true
}

func readAll(list cryptobyte.String) (all []uint16, ok bool) {
	for !list.Empty() {
		var v uint16
		if !list.ReadUint16(&v) {
			return nil, false
		}
		all = append(all, v)
	}
	return all, true
}

func (h *clientHello) takeExtension(kind uint16, data cryptobyte.String) (ok bool) {
	var list cryptobyte.String
	switch kind {
	case extServerName:
		var name cryptobyte.String
		ok = data.ReadUint16LengthPrefixed(&list) && list.Skip(1) && list.ReadUint16LengthPrefixed(&name) && list.Empty()
		h.serverName = string(name)
	case extGroups:
		ok = data.ReadUint16LengthPrefixed(&list)
		h.groups, _ = readAll(list)
	case extSignatures:
		ok = data.ReadUint16LengthPrefixed(&list)
		h.signatures, _ = readAll(list)
	case extSignaturesCert:
		h.anyChain, ok = true, data.ReadUint16LengthPrefixed(&list)
	case extVersions:
		ok = data.ReadUint8LengthPrefixed(&list)
		all, _ := readAll(list)
		for _, v := range all {
			h.versions = append(h.versions, Version(v))
		}
		h.version = slices.Max(h.versions)
	case extALPN:
		for ok = data.ReadUint16LengthPrefixed(&list); ok && !list.Empty(); {
			var name cryptobyte.String
			ok = list.ReadUint8LengthPrefixed(&name)
			h.alpn = append(h.alpn, string(name))
		}
	case extCookie:
		ok = data.ReadUint16LengthPrefixed(&list)
		h.cookie = list
	case extKeyShares:
		for ok = data.ReadUint16LengthPrefixed(&list); ok && !list.Empty(); {
			var share keyShare
			var public cryptobyte.String
			ok = list.ReadUint16(&share.group) && list.ReadUint16LengthPrefixed(&public)
			share.data = public
			h.shares = append(h.shares, share)
		}
	case extStatusRequest:
		h.extras, ok = true, bytes.Equal(data, []byte{1, 0, 0, 0, 0})
		return ok
	case extPadding:
		return len(bytes.Trim(data, "\x00")) == 0
	case extExtendedMasterSecret, extSCT:
		return data.Empty()
	case extPointFormats, extRenegotiation:
		return data.ReadUint8LengthPrefixed(&list) && data.Empty()
	}
	return ok && data.Empty()
}

// The messages that a server writes.

func inMessage(kind byte, body []byte) []byte {
	var b cryptobyte.Builder
	b.AddUint8(kind)
	b.AddUint24LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(body) })
	return b.BytesOrPanic()
}

func (h serverHello) marshal() []byte {
	var b cryptobyte.Builder
	b.AddUint16(uint16(min(h.version, TLS12)))
	random := bytes.Repeat([]byte{7}, 32)
	if h.retry {
		random = helloRetry
	}
	b.AddBytes(random)
	addBytes8(&b, []byte("session"))
	b.AddUint16(h.suite)
	b.AddUint8(0)
	var e cryptobyte.Builder
	if h.version == TLS13 {
		addExtension(&e, extVersions, func(b *cryptobyte.Builder) { b.AddUint16(uint16(TLS13)) })
	}
	if h.group != 0 {
		addExtension(&e, extKeyShares, func(b *cryptobyte.Builder) {
			b.AddUint16(h.group)
			if !h.retry {
				addBytes16(b, h.share)
			}
		})
	}
	if h.cookie != nil {
		addExtension(&e, extCookie, func(b *cryptobyte.Builder) { addBytes16(b, h.cookie) })
	}
	if h.alpn != "" {
		addExtension(&e, extALPN, func(b *cryptobyte.Builder) {
			b.AddUint16LengthPrefixed(func(b *cryptobyte.Builder) { addBytes8(b, []byte(h.alpn)) })
		})
	}
	if h.scts != nil {
		addExtension(&e, extSCT, func(b *cryptobyte.Builder) { addSCTs(b, h.scts) })
	}
	if extensions := e.BytesOrPanic(); len(extensions) > 0 {
		addBytes16(&b, extensions)
	}
	return inMessage(messageServerHello, b.BytesOrPanic())
}

func addSCTs(b *cryptobyte.Builder, scts [][]byte) {
	b.AddUint16LengthPrefixed(func(b *cryptobyte.Builder) {
		for _, sct := range scts {
			addBytes16(b, sct)
		}
	})
}

func (c certificates) marshal() []byte {
	var b cryptobyte.Builder
	b.AddUint24LengthPrefixed(func(b *cryptobyte.Builder) {
		for _, der := range c.all {
			b.AddUint24LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(der) })
		}
	})
	return inMessage(messageCertificate, b.BytesOrPanic())
}

func (c certificates) marshal13() []byte {
	var b cryptobyte.Builder
	addBytes8(&b, nil)
	b.AddUint24LengthPrefixed(func(b *cryptobyte.Builder) {
		for i, der := range c.all {
			b.AddUint24LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(der) })
			b.AddUint16LengthPrefixed(func(b *cryptobyte.Builder) {
				if i > 0 {
					return
				}
				if c.staple != nil {
					addExtension(b, extStatusRequest, func(b *cryptobyte.Builder) { b.AddBytes(statusOf(c.staple)) })
				}
				if c.scts != nil {
					addExtension(b, extSCT, func(b *cryptobyte.Builder) { addSCTs(b, c.scts) })
				}
			})
		}
	})
	return inMessage(messageCertificate, b.BytesOrPanic())
}

func statusOf(staple []byte) []byte {
	var b cryptobyte.Builder
	b.AddUint8(1)
	b.AddUint24LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(staple) })
	return b.BytesOrPanic()
}

// curveExchange and primeExchange are ServerKeyExchanges, with a signature that is not read.
func curveExchange(group uint16) []byte {
	body := binary.BigEndian.AppendUint16([]byte{3}, group)
	return inMessage(messageKeyExchange, append(body, 1, 4, 0, 0))
}

func primeExchange(bits int) []byte {
	prime := make([]byte, (bits+7)/8)
	prime[0] = 1 << ((bits - 1) % 8)
	var b cryptobyte.Builder
	addBytes16(&b, prime)
	addBytes16(&b, []byte{2})
	addBytes16(&b, []byte{4})
	return inMessage(messageKeyExchange, b.BytesOrPanic())
}

// fake is a server made of tables, for what no library speaks any more and for what servers do wrong.
type fake struct {
	// suites and groups are taken, by version, in its order.
	suites map[Version][]uint16
	groups map[Version][]uint16
	// clientOrder reports that the client's order counts.
	clientOrder bool
	// dhBits is the size of its prime.
	dhBits int
	// refuse ends a connection in place of a ServerHello, handshake_failure where there is none.
	refuse func(conn net.Conn, h clientHello)
	// intolerant reports hellos that it refuses whatever they offer.
	intolerant func(h clientHello, size int) bool
	// before is said in front of everything.
	before []byte
	// older makes it answer with its newest version that is older than the offered one.
	older bool
}

func alert(level, description byte) func(net.Conn, clientHello) {
	return func(conn net.Conn, _ clientHello) {
		_, _ = conn.Write(inRecord(TLS10, recordAlert, []byte{level, description}))
	}
}

// hangUp closes a connection with a reset.
func hangUp(conn net.Conn, _ clientHello) { _ = conn.(*net.TCPConn).SetLinger(0) }

// closeQuietly closes it in an orderly way.
func closeQuietly(net.Conn, clientHello) {}

// stayQuiet says nothing until the client goes.
func stayQuiet(conn net.Conn, _ clientHello) { _, _ = io.Copy(io.Discard, conn) }

func readHello(conn net.Conn) (h clientHello, size int, ok bool) {
	header := make([]byte, recordHeader)
	if _, err := io.ReadFull(conn, header); err != nil {
		return clientHello{}, 0, false
	}
	message := make([]byte, binary.BigEndian.Uint16(header[3:]))
	if _, err := io.ReadFull(conn, message); err != nil {
		return clientHello{}, 0, false
	}
	h, ok = parseClientHello(message)
	return h, len(message), ok
}

func (f fake) answer(_ int32, conn net.Conn) {
	h, size, ok := readHello(conn)
	if !ok {
		return
	}
	_, _ = conn.Write(f.before)
	reply, ok := f.reply(h)
	if !ok || f.intolerant != nil && f.intolerant(h, size) {
		if f.refuse == nil {
			f.refuse = alert(2, alertHandshakeFailure)
		}
		f.refuse(conn, h)
		return
	}
	// In pieces that have nothing to do with messages.
	for part := range slices.Chunk(reply, 37) {
		_, _ = conn.Write(inRecord(min(h.version, TLS12), recordHandshake, part))
	}
	_, _ = io.Copy(io.Discard, conn)
}

// reply is the first flight for a hello.
func (f fake) reply(h clientHello) ([]byte, bool) {
	for f.older && len(f.suites[h.version]) == 0 && h.version > SSL30 {
		h.version--
	}
	suite, ok := f.choose(f.suites[h.version], h.suites)
	if !ok {
		return nil, false
	}
	hello := serverHello{version: h.version, suite: suite}
	group, hasGroup := f.choose(f.groups[h.version], h.groups)
	if h.version == TLS13 {
		if !hasGroup {
			return nil, false
		}
		hello.group, hello.retry = group, true
		return hello.marshal(), true
	}
	reply := hello.marshal()
	s, _ := SuiteByID(suite)
	if s.Authentication != "anon" {
		reply = append(reply, certificates{all: [][]byte{[]byte("a certificate")}}.marshal()...)
	}
	switch s.KeyExchange {
	case "ECDHE":
		if !hasGroup {
			return nil, false
		}
		reply = append(reply, curveExchange(group)...)
	case "DHE":
		reply = append(reply, primeExchange(f.dhBits)...)
	}
	return append(reply, inMessage(messageHelloDone, nil)...), true
}

// choose gives the first of the server's that the client has, or of the client's that the server has.
func (f fake) choose(ours, theirs []uint16) (uint16, bool) {
	if f.clientOrder {
		ours, theirs = theirs, ours
	}
	at := slices.IndexFunc(ours, func(id uint16) bool { return slices.Contains(theirs, id) })
	if at < 0 {
		return 0, false
	}
	return ours[at], true
}

func (f fake) serve(t *testing.T) *far {
	t.Helper()
	return serve(t, f.answer)
}

// ids are the numbers of suites by IANA's names.
func ids(t *testing.T, names ...string) (all []uint16) {
	t.Helper()
	for _, name := range names {
		at := slices.IndexFunc(registry, func(r registered) bool { return r.name == "TLS_"+name })
		if at < 0 {
			t.Fatalf("there is no suite %s", name)
		}
		all = append(all, registry[at].id)
	}
	return all
}

// far is a server on loopback, and how many connections came to it.
type far struct {
	address string
	came    atomic.Int32
}

// dial opens a connection to it.
func (f *far) dial(ctx context.Context) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp4", f.address)
}

// connect is dial for a test's own connection.
func (f *far) connect(t *testing.T) net.Conn {
	t.Helper()
	conn, err := f.dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// serve answers every connection with a function, which is given the number of the connection, and closes it.
func serve(t *testing.T, answer func(number int32, conn net.Conn)) *far {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &far{address: l.Addr().String()}
	var running sync.WaitGroup
	var mu sync.Mutex
	open := map[net.Conn]bool{}
	running.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open[conn] = true
			mu.Unlock()
			number := f.came.Add(1)
			running.Go(func() {
				answer(number, conn)
				conn.Close()
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for conn := range open {
			conn.Close()
		}
		mu.Unlock()
		running.Wait()
	})
	return f
}

// serveTLS is a server of crypto/tls.
func serveTLS(t *testing.T, config *tls.Config) *far {
	t.Helper()
	return serve(t, func(_ int32, conn net.Conn) { _ = tls.Server(conn, config).Handshake() })
}

// certificate is one for example.com, with what signed it.
func certificate(t *testing.T) tls.Certificate {
	t.Helper()
	root := certtest.Root(t, "Root")
	inter := certtest.Intermediate(t, root, "Intermediate")
	return certtest.Leaf(t, inter, []string{"example.com"}).TLS(inter, root)
}
