package tlsscan

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/gateway/internal/analyze/certs/certtest"
)

// What a server of crypto/tls says is read in every version and with every group that keys can be exchanged in.
func TestReadHandshake(t *testing.T) {
	t.Parallel()
	cert := certificate(t)
	cert.OCSPStaple = []byte("a staple")
	cert.SignedCertificateTimestamps = [][]byte{[]byte("one"), []byte("two")}
	for _, version := range []Version{TLS10, TLS11, TLS12, TLS13} {
		for _, curve := range []tls.CurveID{tls.X25519, tls.CurveP256, tls.CurveP384, tls.CurveP521, tls.X25519MLKEM768,
			tls.SecP256r1MLKEM768, tls.SecP384r1MLKEM1024} {
			if version < TLS13 && curve > 255 {
				continue
			}
			t.Run(fmt.Sprint(version, " ", curve), func(t *testing.T) {
				t.Parallel()
				server := serveTLS(t, &tls.Config{
					Certificates: []tls.Certificate{cert}, MinVersion: uint16(version), MaxVersion: uint16(version),
					CurvePreferences: []tls.CurveID{curve}, ClientAuth: tls.RequestClientCert,
					NextProtos: []string{"h2", "http/1.1"},
				})
				got, err := ReadHandshake(t.Context(), server.connect(t), Hello{ServerName: "example.com", ALPN: []string{"h2"}})
				if err != nil {
					t.Fatal(err)
				}
				if got.Version != version || got.Group != uint16(curve) || !got.ClientRequested || got.ALPN != "h2" ||
					string(got.Staple) != "a staple" || len(got.SCTs) != 2 || string(got.SCTs[1]) != "two" {
					t.Errorf("%+v", got)
				}
				if len(got.Certificates) != 3 {
					t.Fatalf("%d certificates", len(got.Certificates))
				}
				for i := range got.Certificates {
					if !bytes.Equal(got.Certificates[i], cert.Certificate[i]) {
						t.Errorf("the certificate %d is another", i)
					}
				}
			})
		}
	}
}

// A server with two certificates shows the one that is requested, in TLS 1.2 and 1.3.
func TestAuthentication(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "Root")
	ec := certtest.Leaf(t, root, []string{"example.com"}).TLS()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"example.com"},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	both := []tls.Certificate{ec, {Certificate: [][]byte{der}, PrivateKey: key}}
	for _, version := range []Version{TLS12, TLS13} {
		server := serveTLS(t, &tls.Config{Certificates: both, MinVersion: uint16(version), MaxVersion: uint16(version)})
		for kind, want := range map[string][]byte{"ECDSA": ec.Certificate[0], "RSA": der} {
			got, err := ReadHandshake(t.Context(), server.connect(t), Hello{Authentication: kind})
			if err != nil || len(got.Certificates) == 0 || !bytes.Equal(got.Certificates[0], want) {
				t.Errorf("%s, %s: %+v, %v", version, kind, got, err)
			}
		}
	}
	alone := serveTLS(t, &tls.Config{Certificates: both[:1]})
	other := Hello{Versions: []Version{TLS12}, Authentication: "RSA"}
	if got, err := ReadHandshake(t.Context(), alone.connect(t), other); !errors.As(err, new(Alert)) {
		t.Errorf("a certificate that there is not: %+v, %v", got, err)
	}
}

// What has been out of use for long is read as well, and reported with its weak parameters.
func TestReadHandshakeOld(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		version Version
		suite   string
		group   uint16
		bits    int
	}{
		{SSL30, "RSA_WITH_RC4_128_MD5", 0, 0},
		{SSL30, "DHE_RSA_EXPORT_WITH_DES40_CBC_SHA", 0, 512},
		{TLS10, "RSA_EXPORT_WITH_RC2_CBC_40_MD5", 0, 0},
		{TLS11, "RSA_WITH_DES_CBC_SHA", 0, 0},
		{TLS12, "DH_anon_WITH_3DES_EDE_CBC_SHA", 0, 512},
		{TLS12, "ECDHE_ECDSA_WITH_CAMELLIA_256_GCM_SHA384", 28, 0},
	} {
		f := fake{
			suites: map[Version][]uint16{c.version: ids(t, c.suite)}, groups: map[Version][]uint16{TLS12: {28}}, dhBits: 512,
		}
		got, err := ReadHandshake(t.Context(), f.serve(t).connect(t), Hello{Versions: []Version{c.version}})
		certificates := 1
		if got.Suite.Authentication == "anon" {
			certificates = 0
		}
		if err != nil || got.Version != c.version || got.Suite.Name != "TLS_"+c.suite || got.Group != c.group ||
			got.DHBits != c.bits || len(got.Certificates) != certificates {
			t.Errorf("%+v: %+v, %v", c, got, err)
		}
	}
}

// shake reads the handshake of a server that says something, and then no more.
func shake(t *testing.T, hello Hello, say func(clientHello) []byte) (Flight, error) {
	t.Helper()
	server := serve(t, func(_ int32, conn net.Conn) {
		h, _, _ := readHello(conn)
		_, _ = conn.Write(say(h))
		_ = conn.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, conn)
	})
	return ReadHandshake(t.Context(), server.connect(t), hello)
}

func TestReadHandshakeErrors(t *testing.T) {
	t.Parallel()
	only := func(v Version) Hello { return Hello{Versions: []Version{v}} }
	in := func(messages ...[]byte) []byte {
		return stream(recordHandshake, bytes.Join(messages, nil), 1000)
	}
	hello := serverHello{version: TLS12, suite: 0x2F}.marshal()
	share := func(h serverHello) []byte { return in(h.marshal()) }
	cert := certificates{all: [][]byte{[]byte("leaf"), []byte("issuer")}}.marshal()
	for name, c := range map[string]struct {
		hello Hello
		say   []byte
		want  error // nil: there is a certificate
	}{
		"a whole flight":                     {only(TLS12), in(hello, cert, inMessage(messageHelloDone, nil)), nil},
		"an end after the certificates":      {only(TLS12), in(hello, cert), nil},
		"an alert after them":                {only(TLS12), append(in(hello, cert), inRecord(TLS12, recordAlert, []byte{2, 80})...), nil},
		"too much after them":                {only(TLS12), in(hello, cert, inMessage(99, make([]byte, MaxHandshake))), nil},
		"nonsense after them":                {only(TLS12), in(hello, cert, inMessage(messageKeyExchange, nil), []byte("nonsense")), nil},
		"an end before them":                 {only(TLS12), in(hello), io.ErrUnexpectedEOF},
		"an end at once":                     {only(TLS12), nil, io.EOF},
		"an alert":                           {only(TLS12), inRecord(TLS12, recordAlert, []byte{2, 40}), Alert{2, 40}},
		"a warning first":                    {only(TLS12), append(inRecord(TLS12, recordAlert, []byte{1, 112}), in(hello, cert)...), nil},
		"not TLS":                            {only(TLS12), []byte("HTTP/1.1 400 Bad Request\r\n\r\n"), ErrNotTLS},
		"another message first":              {only(TLS12), in(cert), ErrMalformed},
		"certificates without end":           {only(TLS12), in(hello, []byte{messageCertificate, 1, 0xFF, 0xF0, 1, 0xFF, 0xED}, make([]byte, 0x1FFF0)), ErrTooLong},
		"a wrong length":                     {only(TLS12), in(hello, []byte{messageCertificate, 0, 0, 6, 0, 0, 9, 0, 0, 1}), ErrMalformed},
		"an older version":                   {only(TLS12), in(serverHello{version: TLS10, suite: 0x2F}.marshal()), ErrOtherVersion},
		"a newer version":                    {only(TLS12), in(serverHello{version: TLS13, suite: 0x1301, group: 29, share: make([]byte, 32)}.marshal()), ErrOtherVersion},
		"a suite of another version":         {Hello{}, in(serverHello{version: TLS12, suite: 0x1301}.marshal()), ErrNotOffered},
		"an unknown suite":                   {only(TLS12), in(serverHello{version: TLS12, suite: 0x1234}.marshal()), ErrNotOffered},
		"a share of another group":           {only(TLS13), share(serverHello{version: TLS13, suite: 0x1301, group: 23, share: make([]byte, 65)}), ErrNotOffered},
		"a share that is none":               {only(TLS13), share(serverHello{version: TLS13, suite: 0x1301, group: 29, share: make([]byte, 32)}), ErrMalformed},
		"a short share":                      {only(TLS13), share(serverHello{version: TLS13, suite: 0x1301, group: 29, share: []byte{9}}), ErrMalformed},
		"no share":                           {only(TLS13), share(serverHello{version: TLS13, suite: 0x1301}), ErrNotOffered},
		"a request for an unknown group":     {only(TLS13), share(serverHello{version: TLS13, suite: 0x1301, group: 0x1234, retry: true}), ErrNotOffered},
		"a request for x448":                 {only(TLS13), share(serverHello{version: TLS13, suite: 0x1301, group: 30, retry: true}), ErrNotComputed},
		"a request that was not offered":     {Hello{}, share(serverHello{version: TLS13, suite: 0x1301, group: groupFFDHE2048, retry: true}), ErrNotOffered},
		"two requests":                       {only(TLS13), in(bytes.Repeat(serverHello{version: TLS13, suite: 0x1301, group: 23, retry: true}.marshal(), 2)), ErrMalformed},
		"a cookie too long":                  {only(TLS13), share(serverHello{version: TLS13, suite: 0x1301, group: 23, retry: true, cookie: make([]byte, 65000)}), ErrTooLong},
		"a cookie":                           {only(TLS13), share(serverHello{version: TLS13, suite: 0x1301, group: 23, retry: true, cookie: make([]byte, maxCookie)}), io.ErrUnexpectedEOF},
		"certificates in the clear":          {only(TLS13), in(serverHello{version: TLS13, suite: 0x1301, group: 29, share: append([]byte{9}, make([]byte, 31)...)}.marshal(), cert), ErrMalformed},
		"certificates in the clear after it": {only(TLS13), append(share(serverHello{version: TLS13, suite: 0x1301, group: 29, share: append([]byte{9}, make([]byte, 31)...)}), in(cert)...), ErrMalformed},
		"records that cannot be opened": {only(TLS13), append(share(serverHello{version: TLS13, suite: 0x1301, group: 29, share: append([]byte{9}, make([]byte, 31)...)}),
			inRecord(TLS12, recordProtected, make([]byte, 100))...), ErrMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := shake(t, c.hello, func(clientHello) []byte { return c.say })
			if !errors.Is(err, c.want) || (err == nil) != (len(got.Certificates) == 2) {
				t.Errorf("%+v, %v, want %v", got, err, c.want)
			}
		})
	}
}

// A handshake ends with its context, however slowly the server speaks.
func TestReadHandshakeEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		conn, _ := pipes(func(_ int32, conn net.Conn) {
			go func() { _, _ = io.Copy(io.Discard, conn) }()
			for _, err := conn.Write([]byte{22, 3, 3, 0, 255}); err == nil; _, err = conn.Write([]byte{2}) {
				time.Sleep(10 * time.Millisecond)
			}
		})(t.Context())
		defer time.Sleep(time.Second) // until the server has ended, in the bubble's time
		defer conn.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if got, err := ReadHandshake(ctx, conn, Hello{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%+v, %v", got, err)
		}
	})
}
