package sslchecker

import (
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"diagnostics/gateway/internal/certcheck/certtest"
)

// serverHello makes the record of a ServerHello, with a supported_versions extension where selected is not 0.
func serverHello(legacy, selected uint16) []byte {
	body := binary.BigEndian.AppendUint16(nil, legacy)
	body = append(body, make([]byte, 32)...)
	body = append(body, 0 /* session id */, 0x13, 0x01, 0)
	if selected != 0 {
		body = append(body, 0, 12, 0, 51, 0, 2, 1, 1, 0, 43, 0, 2) // key_share first, so that it is stepped over
		body = binary.BigEndian.AppendUint16(body, selected)
	}
	message := append([]byte{2, 0, 0, byte(len(body))}, body...)
	return append([]byte{22, 3, 3, 0, byte(len(message))}, message...)
}

func alert(level, description byte) []byte { return []byte{21, 3, 1, 0, 2, level, description} }

func TestSSLReadOpening(t *testing.T) {
	t.Parallel()
	hello12 := serverHello(tls.VersionTLS12, 0)
	for _, c := range []struct {
		name string
		in   []byte
		want opening
	}{
		{"nothing", nil, opening{alert: -1, silent: true}},
		{"half a header", []byte{22, 3}, opening{alert: -1}},
		{"TLS 1.2", hello12, opening{version: tls.VersionTLS12, alert: -1}},
		{"TLS 1.3", serverHello(tls.VersionTLS12, tls.VersionTLS13), opening{version: tls.VersionTLS13, alert: -1}},
		{"TLS 1.0", serverHello(tls.VersionTLS10, 0), opening{version: tls.VersionTLS10, alert: -1}},
		{"cut short", hello12[:20], opening{alert: -1}},
		{"in two records", append(append([]byte{22, 3, 3, 0, 10}, hello12[5:15]...), append([]byte{22, 3, 3, 0, byte(len(hello12) - 15)}, hello12[15:]...)...),
			opening{version: tls.VersionTLS12, alert: -1}},
		{"refused", alert(2, 70), opening{alert: 70}},
		{"warned, then answered", append(alert(1, 112), hello12...), opening{version: tls.VersionTLS12, alert: -1}},
		{"closed", alert(1, 0), opening{alert: 0}},
		{"answered, then failed", append(append([]byte(nil), hello12...), alert(2, 40)...), opening{version: tls.VersionTLS12, alert: -1}},
		{"SSH", []byte("SSH-2.0-OpenSSH"), opening{alert: -1}},
	} {
		if got := readOpening(c.in); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestSSLOpeningTakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		in   opening
		err  error
		want string
	}{
		{"chosen", opening{version: tls.VersionTLS12, alert: -1}, io.EOF, "yes"},
		{"another chosen", opening{version: tls.VersionTLS10, alert: -1}, io.EOF, "no"},
		{"protocol_version", opening{alert: 70}, errors.New("x"), "no"},
		{"handshake_failure", opening{alert: 40}, errors.New("x"), "no"},
		{"internal_error", opening{alert: 80}, errors.New("x"), "no"},
		{"closed", opening{alert: -1, silent: true}, io.EOF, "no"},
		{"reset", opening{alert: -1, silent: true}, syscall.ECONNRESET, "null"},
		{"silence", opening{alert: -1, silent: true}, errors.New("deadline"), "null"},
		{"no TLS", opening{alert: -1}, io.EOF, "null"},
	} {
		got := yesNo(map[string]*bool{protocolName(tls.VersionTLS10): c.in.takes(tls.VersionTLS12, c.err)})
		if got != c.want+" null null null" {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

// TestSSLVersionThatCannotBeTold: silence on one version is neither yes nor no, and does not hold up the result.
func TestSSLVersionThatCannotBeTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.timeout = 4 * sslTimeout
	config := oneCertificate(certtest.Leaf(t, w.inter, []string{sslName}).TLS(w.inter))
	silence := errors.New("say nothing")
	config.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		if hello.SupportedVersions[0] == tls.VersionTLS11 {
			time.Sleep(2 * w.timeout)
			return nil, silence
		}
		return nil, nil
	}
	w.serve(sslServer, config)
	start := time.Now()
	got := w.mustCheck(t, sslName)
	if s := yesNo(got.SupportedProtocols); s != "no null yes yes" {
		t.Errorf("supported: %s", s)
	}
	if took := time.Since(start); took > 5*w.timeout {
		t.Errorf("took %v", took)
	}
}

// TestSSLConnectionLimit: a server that takes one connection and no more leaves the other versions untold.
func TestSSLConnectionLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	config := oneCertificate(certtest.Leaf(t, w.inter, []string{sslName}).TLS(w.inter))
	l := w.Listen(sslServer)
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		_ = l.Close()
		handshakeAndWait(c, config)
		_ = c.Close()
	}()
	if s := yesNo(w.mustCheck(t, sslName).SupportedProtocols); s != "null null null yes" {
		t.Errorf("supported: %s", s)
	}
}

func FuzzSSLReadOpening(f *testing.F) {
	f.Add(serverHello(tls.VersionTLS12, tls.VersionTLS13))
	f.Add(append(alert(1, 112), serverHello(tls.VersionTLS10, 0)...))
	f.Add(alert(2, 40))
	f.Fuzz(func(t *testing.T, b []byte) {
		o := readOpening(b)
		if o.version != 0 && o.alert >= 0 {
			t.Errorf("both a choice and a refusal: %+v", o)
		}
		_ = o.takes(tls.VersionTLS12, net.ErrClosed)
	})
}
