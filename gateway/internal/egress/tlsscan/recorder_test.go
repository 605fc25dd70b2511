package tlsscan

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"testing"

	"diagnostics/shared/skiptest"
)

// record makes a handshake of crypto/tls with a server.
func record(t *testing.T, server *far) (*Recorder, tls.ConnectionState) {
	t.Helper()
	r := &Recorder{Conn: server.connect(t)}
	client := tls.Client(r, &tls.Config{
		InsecureSkipVerify: true, MinVersion: tls.VersionTLS10, KeyLogWriter: &r.KeyLog,
	})
	if err := client.HandshakeContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r, client.ConnectionState()
}

// The certificates of a handshake of crypto/tls are read in every version; with P-521 the server requests another
// hello.
func TestRecorder(t *testing.T) {
	t.Parallel()
	cert := certificate(t)
	for _, version := range []Version{TLS10, TLS12, TLS13} {
		for _, curve := range []tls.CurveID{tls.X25519, tls.CurveP521} {
			t.Run(fmt.Sprint(version, " ", curve), func(t *testing.T) {
				t.Parallel()
				r, _ := record(t, serveTLS(t, &tls.Config{
					Certificates: []tls.Certificate{cert}, MinVersion: uint16(version), MaxVersion: uint16(version),
					CurvePreferences: []tls.CurveID{curve}, ClientAuth: tls.RequestClientCert,
				}))
				got, err := r.Flight()
				if err != nil || got.Version != version || !slices.EqualFunc(got.Certificates, cert.Certificate, bytes.Equal) {
					t.Errorf("%s, %d certificates, %v", got.Version, len(got.Certificates), err)
				}
			})
		}
	}
}

// OpenSSL speaks the suites of TLS 1.3 that Go's own server does not choose here.
func TestRecorderOpenSSL(t *testing.T) {
	t.Parallel()
	if !hasOpenSSL() {
		skiptest.Skip(t, "openssl is not installed")
	}
	dir := t.TempDir()
	keys(t, dir, "ec")
	for _, suite := range []string{"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"} {
		t.Run(suite, func(t *testing.T) {
			t.Parallel()
			r, state := record(t, serveOpenSSL(t, "-cert", filepath.Join(dir, "ec.pem"), "-key", filepath.Join(dir, "ec.key"),
				"-tls1_3", "-ciphersuites", suite))
			got, err := r.Flight()
			if err != nil || got.Suite.Name != suite || len(got.Certificates) != 1 ||
				!bytes.Equal(got.Certificates[0], state.PeerCertificates[0].Raw) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// said is a connection that brings a few octets at a time.
type said struct {
	net.Conn
	rest []byte
}

func (s *said) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), 7)], s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// recorded is a Recorder that has read all of it.
func recorded(all []byte) *Recorder {
	r := &Recorder{Conn: &said{rest: all}}
	_, _ = io.Copy(io.Discard, struct{ io.Reader }{r})
	return r
}

// What has come is separated from what has not: the version, an alert in place of it, and certificates that are cut.
func TestRecordedParts(t *testing.T) {
	t.Parallel()
	in := func(messages ...[]byte) []byte { return stream(recordHandshake, bytes.Join(messages, nil), 1000) }
	hello12 := serverHello{version: TLS12, suite: 0xC02F}.marshal()
	hello13 := serverHello{version: TLS13, suite: 0x1301, group: 29, share: make([]byte, 32)}.marshal()
	retry := serverHello{version: TLS13, suite: 0x1301, group: 23, retry: true}.marshal()
	cert := certificates{all: [][]byte{[]byte("leaf"), make([]byte, 50)}}.marshal()
	endless := append([]byte{messageCertificate, 1, 0xFF, 0xF0, 1, 0xFF, 0xED, 0, 0, 4}, "leaf"...)
	warning := inRecord(TLS10, recordAlert, []byte{1, 112})
	for name, c := range map[string]struct {
		in           []byte
		version      Version
		certificates int
		err          error
	}{
		"nothing":                     {nil, 0, 0, io.EOF},
		"half a header":               {[]byte{22, 3}, 0, 0, io.ErrUnexpectedEOF},
		"a hello":                     {in(hello12), TLS12, 0, io.ErrUnexpectedEOF},
		"half a hello":                {in(hello12)[:20], 0, 0, io.ErrUnexpectedEOF},
		"a hello in two records":      {stream(recordHandshake, hello12, 10), TLS12, 0, io.ErrUnexpectedEOF},
		"a hello of TLS 1.0":          {in(serverHello{version: TLS10, suite: 5}.marshal()), TLS10, 0, io.ErrUnexpectedEOF},
		"a hello without its keys":    {in(hello13), TLS13, 0, ErrMalformed},
		"a request for another":       {in(retry), TLS13, 0, io.ErrUnexpectedEOF},
		"an alert":                    {inRecord(TLS10, recordAlert, []byte{2, 70}), 0, 0, Alert{2, 70}},
		"a warning, then a hello":     {append(bytes.Clone(warning), in(hello12)...), TLS12, 0, io.ErrUnexpectedEOF},
		"a close":                     {inRecord(TLS10, recordAlert, []byte{1, 0}), 0, 0, Alert{1, 0}},
		"an alert after a hello":      {append(in(hello12), inRecord(TLS12, recordAlert, []byte{2, 40})...), TLS12, 0, Alert{2, 40}},
		"not TLS":                     {[]byte("SSH-2.0-OpenSSH"), 0, 0, ErrNotTLS},
		"certificates":                {in(hello12, cert), TLS12, 2, nil},
		"an alert after them":         {append(in(hello12, cert), inRecord(TLS12, recordAlert, []byte{2, 40})...), TLS12, 2, nil},
		"certificates that are cut":   {in(hello12, cert[:len(cert)-1]), TLS12, 1, io.ErrUnexpectedEOF},
		"certificates without end":    {in(hello12, endless, make([]byte, MaxHandshake)), TLS12, 1, ErrTooLong},
		"certificates before a hello": {in(cert), 0, 0, ErrMalformed},
	} {
		got, err := recorded(c.in).Flight()
		if got.Version != c.version || len(got.Certificates) != c.certificates || !errors.Is(err, c.err) {
			t.Errorf("%s: %s, %d certificates, %v", name, got.Version, len(got.Certificates), err)
		}
	}
}

// No more than MaxHandshake octets are kept.
func TestRecorderIsBounded(t *testing.T) {
	t.Parallel()
	if r := recorded(make([]byte, MaxHandshake+100)); len(r.wire) != MaxHandshake {
		t.Errorf("%d octets", len(r.wire))
	}
}

func FuzzRecorder(f *testing.F) {
	secret := []byte("SERVER_HANDSHAKE_TRAFFIC_SECRET 00 00\n")
	f.Add(inRecord(TLS12, recordHandshake, serverHello{version: TLS12, suite: 5}.marshal()), []byte(nil))
	f.Add(append(inRecord(TLS12, recordHandshake, serverHello{version: TLS13, suite: 0x1301}.marshal()),
		"\x17\x03\x03\x00\x01x"...), secret)
	f.Add(inRecord(TLS10, recordAlert, []byte{2, 40}), []byte(nil))
	f.Fuzz(func(t *testing.T, wire, keys []byte) {
		r := recorded(wire)
		_, _ = r.KeyLog.Write(keys)
		got, err := r.Flight()
		total := 0
		for _, der := range got.Certificates {
			total += len(der)
		}
		if total > len(wire) || err == nil && got.Version == 0 {
			t.Errorf("%d octets of certificates in %d, version %s, %v", total, len(wire), got.Version, err)
		}
	})
}
