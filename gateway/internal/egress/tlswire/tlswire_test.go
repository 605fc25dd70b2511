package tlswire_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"testing"

	"diagnostics/gateway/internal/analyze/certs/certtest"
	"diagnostics/gateway/internal/egress/tlswire"
	"diagnostics/shared/skiptest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var names = []string{"example.com"}

// shake makes a handshake with a server of the configuration.
func shake(t *testing.T, config *tls.Config, watch func(net.Conn) *tlswire.Conn) (*tlswire.Conn, error) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		far, err := l.Accept()
		if err != nil {
			return
		}
		defer func() { _ = far.Close() }()
		if server := tls.Server(far, config); server.Handshake() == nil {
			_, _ = io.Copy(io.Discard, server)
		}
	}()
	var d net.Dialer
	near, err := d.DialContext(t.Context(), "tcp4", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = near.Close(), l.Close()
		<-ended
	})
	wire := watch(near)
	client := tls.Client(wire, &tls.Config{
		InsecureSkipVerify: true, MinVersion: tls.VersionTLS10, KeyLogWriter: wire.KeyLog(),
	})
	return wire, client.HandshakeContext(t.Context())
}

// What a server sends is read in every version, in whatever pieces it comes.
func TestCertificates(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "Root")
	inter := certtest.Intermediate(t, root, "Intermediate")
	cert := certtest.Leaf(t, inter, names).TLS(inter, root)
	for _, version := range []uint16{tls.VersionTLS10, tls.VersionTLS12, tls.VersionTLS13} {
		for _, curve := range []tls.CurveID{tls.X25519, tls.CurveP521} { // the second makes the server ask for another hello
			t.Run(fmt.Sprint(tls.VersionName(version), " ", curve), func(t *testing.T) {
				t.Parallel()
				config := &tls.Config{
					Certificates: []tls.Certificate{cert}, MinVersion: version, MaxVersion: version,
					CurvePreferences: []tls.CurveID{curve}, ClientAuth: tls.RequestClientCert,
				}
				wire, err := shake(t, config, tlswire.Record)
				if err != nil {
					t.Fatal(err)
				}
				got, whole := wire.Certificates()
				if !whole || len(got) != len(cert.Certificate) {
					t.Fatalf("%d certificates, whole %v", len(got), whole)
				}
				for i := range got {
					if !bytes.Equal(got[i], cert.Certificate[i]) {
						t.Errorf("the certificate %d is another", i)
					}
				}
			})
		}
	}
}

// Nothing is kept where nothing is asked for.
func TestWatchKeepsNothing(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "Root")
	wire, err := shake(t, &tls.Config{Certificates: []tls.Certificate{certtest.Leaf(t, root, names).TLS()}}, tlswire.Watch)
	if got, whole := wire.Certificates(); err != nil || len(got) > 0 || whole {
		t.Errorf("%d certificates, %v", len(got), err)
	}
}

// The suites of TLS 1.3 that Go's own server does not choose here are OpenSSL's to speak.
func TestCertificatesOfOpenSSL(t *testing.T) {
	t.Parallel()
	openssl, err := exec.LookPath("openssl")
	if err != nil {
		skiptest.Skip(t, "openssl is not installed")
	}
	dir := t.TempDir()
	key, cert := dir+"/key.pem", dir+"/cert.pem"
	if out, err := exec.CommandContext(t.Context(), openssl, "req", "-x509", "-newkey", "ec",
		"-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", cert, "-subj", "/CN=example.com").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, suite := range []string{"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"} {
		t.Run(suite, func(t *testing.T) {
			t.Parallel()
			server := exec.CommandContext(t.Context(), openssl, "s_server", "-key", key, "-cert", cert, "-tls1_3",
				"-ciphersuites", suite, "-accept", "127.0.0.1:0", "-naccept", "1")
			if _, err := server.StdinPipe(); err != nil { // which it reads to its end
				t.Fatal(err)
			}
			out, err := server.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := server.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = server.Wait() }()
			defer func() { _ = server.Process.Kill() }()
			var at string
			for line := make([]byte, 0, 100); at == ""; {
				b := make([]byte, 1)
				if _, err := out.Read(b); err != nil {
					t.Fatal(err)
				}
				if line = append(line, b...); b[0] == '\n' {
					if _, address, found := strings.Cut(string(line), "ACCEPT "); found {
						at = strings.TrimSpace(address)
					}
					line = line[:0]
				}
			}
			var d net.Dialer
			c, err := d.DialContext(t.Context(), "tcp", at)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			wire := tlswire.Record(c)
			client := tls.Client(wire, &tls.Config{InsecureSkipVerify: true, KeyLogWriter: wire.KeyLog()})
			if err := client.HandshakeContext(t.Context()); err != nil {
				t.Fatal(err)
			}
			state := client.ConnectionState()
			got, whole := wire.Certificates()
			if name := tls.CipherSuiteName(state.CipherSuite); name != suite || !whole || len(got) != 1 ||
				!bytes.Equal(got[0], state.PeerCertificates[0].Raw) {
				t.Errorf("%s: %d certificates, whole %v", name, len(got), whole)
			}
		})
	}
}

// records is a connection that brings what rest holds, at most a few octets at a time.
type records struct {
	net.Conn
	rest []byte
}

func (r *records) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), 7)], r.rest) // headers come in two
	r.rest = r.rest[n:]
	return n, nil
}

func manyRecords(count, size int) *records {
	one := append([]byte{23, 3, 3, byte(size >> 8), byte(size)}, make([]byte, size)...)
	return &records{rest: bytes.Repeat(one, count)}
}

func TestRecordsAreCounted(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name      string
		count     int
		size      int
		delivered int
		want      error
	}{
		{"as many as there may be", tlswire.MaxRecords, 1, 0, nil},
		{"one more", tlswire.MaxRecords + 1, 1, 0, tlswire.ErrRecords},
		{"one more that is paid for", tlswire.MaxRecords + 1, 1, tlswire.RecordOctets, nil},
		{"one more that is nearly paid for", tlswire.MaxRecords + 1, 1, tlswire.RecordOctets - 1, tlswire.ErrRecords},
		{"empty ones", tlswire.MaxRecords + 1, 0, 0, tlswire.ErrRecords},
		{"large ones", 100, 16 << 10, 0, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			wire := tlswire.Watch(manyRecords(test.count, test.size))
			above := wire.Above(zeroes(test.delivered))
			_, _ = io.ReadFull(above, make([]byte, test.delivered))
			_, err := io.Copy(io.Discard, struct{ io.Reader }{wire})
			if !errors.Is(err, test.want) {
				t.Errorf("%v, want %v", err, test.want)
			}
			if _, again := wire.Read(make([]byte, 1)); test.want != nil && !errors.Is(again, test.want) {
				t.Errorf("then %v", again)
			}
		})
	}
}

// zeroes is a connection that brings so many octets.
func zeroes(n int) net.Conn { return &records{rest: make([]byte, n)} }

func TestHandshakesAreBounded(t *testing.T) {
	t.Parallel()
	const size = 1 << 10
	count := tlswire.MaxHandshake / (size + 5)
	last := tlswire.MaxHandshake - count*(size+5)
	for over, want := range map[int]error{0: nil, 1: tlswire.ErrHandshake} {
		r := manyRecords(count, size)
		r.rest = append(r.rest, manyRecords(1, last-5+over).rest...)
		wire := tlswire.Watch(r)
		if _, err := io.Copy(io.Discard, struct{ io.Reader }{wire}); !errors.Is(err, want) {
			t.Errorf("%d over: %v, want %v", over, err, want)
		}
	}
	// Once it is complete, what follows is no handshake.
	wire := tlswire.Watch(manyRecords(2*count, size))
	wire.Above(zeroes(0))
	if _, err := io.Copy(io.Discard, struct{ io.Reader }{wire}); err != nil {
		t.Error(err)
	}
}

func FuzzCertificates(f *testing.F) {
	f.Add([]byte("\x16\x03\x03\x00\x0a\x0b\x00\x00\x06\x00\x00\x03\x00\x00\x00"), []byte(""))
	f.Add([]byte("\x16\x03\x03\x00\x04\x02\x00\x00\x00\x17\x03\x03\x00\x01x"),
		[]byte("SERVER_HANDSHAKE_TRAFFIC_SECRET 00 00\n"))
	f.Fuzz(func(t *testing.T, wire, keys []byte) {
		c := tlswire.Record(&records{rest: wire})
		_, _ = c.KeyLog().Write(keys)
		_, _ = io.Copy(io.Discard, struct{ io.Reader }{c})
		total := 0
		all, _ := c.Certificates()
		for _, der := range all {
			total += len(der)
		}
		if total > len(wire) {
			t.Errorf("%d octets of certificates in %d", total, len(wire))
		}
	})
}

// fails is a connection whose reads and writes end in errors of their own.
type fails struct {
	net.Conn
	read, write error
}

func (f fails) Read([]byte) (int, error)  { return 0, f.read }
func (f fails) Write([]byte) (int, error) { return 0, f.write }

// What keeps new keys from being answered is told, and not that the next record then looks forged.
func TestAFailedWriteIsTheReadersError(t *testing.T) {
	t.Parallel()
	forged, refused := errors.New("bad record MAC"), errors.New("refused")
	for name, c := range map[string]struct{ write, want error }{"failed": {refused, refused}, "did not": {nil, forged}} {
		wire := tlswire.Watch(fails{write: c.write})
		_, _ = wire.Write([]byte("x"))
		if _, err := wire.Above(fails{read: forged}).Read(make([]byte, 1)); !errors.Is(err, c.want) {
			t.Errorf("a write that %s: %v, want %v", name, err, c.want)
		}
	}
}

// What TLS itself answers is bounded; what its user writes is not.
func TestAnswersOfTLS(t *testing.T) {
	t.Parallel()
	wire := tlswire.Watch(fails{})
	through := wire.Above(fails{})
	for i := range tlswire.MaxAnswers + 1 {
		_, _ = through.Write(nil)
		want := error(nil)
		if i == tlswire.MaxAnswers {
			want = tlswire.ErrRecords
		}
		if _, err := wire.Write([]byte("x")); !errors.Is(err, want) {
			t.Fatalf("answer %d: %v, want %v", i+1, err, want)
		}
	}
	user := tlswire.Watch(fails{})
	through = user.Above(passes{user})
	for range 2 * tlswire.MaxAnswers {
		if _, err := through.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
	}
}

// passes is a TLS client's connection that writes as it is told.
type passes struct{ net.Conn }
