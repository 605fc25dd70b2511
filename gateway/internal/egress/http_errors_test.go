package egress_test

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/analyze/certs/certtest"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// frames answers the first request of a connection of HTTP/2 with what write sends.
func frames(config *tls.Config, write func(f *http2.Framer, stream uint32)) func(net.Conn) {
	config = config.Clone()
	config.NextProtos = []string{"h2"}
	return func(c net.Conn) {
		server := tls.Server(c, config)
		if _, err := io.ReadFull(server, make([]byte, len(http2.ClientPreface))); err != nil {
			return
		}
		f := http2.NewFramer(server, server)
		_ = f.WriteSettings()
		for {
			frame, err := f.ReadFrame()
			if err != nil {
				return
			}
			if request, is := frame.(*http2.HeadersFrame); is {
				write(f, request.StreamID)
				stay(server)
				return
			}
		}
	}
}

// fields answers with a head of these fields, in frames of a size that every client takes.
func fields(list ...string) func(*http2.Framer, uint32) {
	const frameSize = 16 << 10
	packed := packedFields(list...)
	return func(f *http2.Framer, stream uint32) {
		rest := packed
		first := rest[:min(len(rest), frameSize)]
		rest = rest[len(first):]
		_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: first, EndHeaders: len(rest) == 0})
		for len(rest) > 0 {
			next := rest[:min(len(rest), frameSize)]
			rest = rest[len(next):]
			_ = f.WriteContinuation(stream, len(rest) == 0, next)
		}
	}
}

// packedFields are fields as HTTP/2 compresses them, without a memory of earlier ones.
func packedFields(list ...string) []byte {
	var packed bytes.Buffer
	encoder := hpack.NewEncoder(&packed)
	for i := 0; i < len(list); i += 2 {
		_ = encoder.WriteField(hpack.HeaderField{Name: list[i], Value: list[i+1], Sensitive: true})
	}
	return packed.Bytes()
}

// Every text that decides is provoked here: a release of Go may word it differently.
func TestTextsOfTheLibrary(t *testing.T) {
	t.Parallel()
	const (
		notHTTP     = "example.com did not answer with valid HTTP."
		longHeaders = "example.com sent response headers of more than 64 KiB."
		brokenOff   = "example.com closed the HTTP/2 connection without an answer."
	)
	many := []string{":status", "200"}
	for i := range 70 {
		many = append(many, fmt.Sprint("x-", i), strings.Repeat("x", 1000))
	}
	config, trust := site(t)
	over1 := func(answer string) func(*egresstest.Network) {
		return func(n *egresstest.Network) { n.ServeConn(web4+":80", answerWith(answer)) }
	}
	over2 := func(write func(*http2.Framer, uint32)) func(*egresstest.Network) {
		return func(n *egresstest.Network) { n.ServeConn(web4+":443", frames(config, write)) }
	}
	for name, test := range map[string]struct {
		serve    func(*egresstest.Network)
		sentence string
	}{
		"a status line that quotes": {over1("net/http: server response headers exceeded 1 bytes; http2: \r\n"), notHTTP},
		"a bad status":              {over1("HTTP/1.1 2x0 OK\r\n\r\n"), notHTTP},

		"HTTP/2: a long head":   {over2(fields(many...)), longHeaders},
		"HTTP/2: a long field":  {over2(fields(":status", "200", "x", strings.Repeat("x", 2*egress.MaxHeaderBytes))), "example.com sent HTTP/2 headers that are broken or longer than 64 KiB."},
		"HTTP/2: no status":     {over2(fields("x", "y")), notHTTP},
		"HTTP/2: a bad status":  {over2(fields(":status", "x")), notHTTP},
		"HTTP/2: a bad name":    {over2(fields(":status", "200", "X Y", "z")), notHTTP},
		"HTTP/2: a bad value":   {over2(fields(":status", "200", "x", "y\n")), notHTTP},
		"HTTP/2: a reset":       {over2(func(f *http2.Framer, stream uint32) { _ = f.WriteRSTStream(stream, http2.ErrCodeCancel) }), brokenOff},
		"HTTP/2: a goaway":      {over2(func(f *http2.Framer, _ uint32) { _ = f.WriteGoAway(0, http2.ErrCodeEnhanceYourCalm, nil) }), brokenOff},
		"HTTP/2: a short frame": {over2(func(f *http2.Framer, _ uint32) { _ = f.WriteRawFrame(http2.FramePing, 0, 0, []byte("x")) }), brokenOff},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := withSite(t)
			test.serve(n)
			url := "http://example.com/"
			if strings.HasPrefix(name, "HTTP/2") {
				url = "https://example.com/"
			}
			_, err := get(t, n.Client(nil, trust), url)
			if s := wantFault(t, err, fault.Upstream); s != test.sentence {
				t.Errorf("%q, want %q (%v)", s, test.sentence, err)
			}
		})
	}
}

// A key that crypto/tls does not take is reported as what it is, and so is a handshake without end.
func TestHandshakesThatAreEnded(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "root")
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		n := withSite(t)
		long := certtest.Foreign(t, root, []string{"other.example.com"}, certtest.RSAOfBits(t, certs.MaxKeyBits+1, 65537))
		config := &tls.Config{Certificates: []tls.Certificate{certtest.Leaf(t, root, []string{"example.com"}).TLS(long)},
			MinVersion: version, MaxVersion: version}
		n.ServeTLS(web4+":443", config, http.NotFoundHandler())
		_, err := get(t, n.Client(nil), "https://example.com/")
		want := "example.com has an RSA key of more than 8192 bits in its certificates, which this service does not verify."
		if s := wantFault(t, err, fault.Upstream); s != want || !egress.KeyTooLong(err) || egress.ConnectTimedOut(err) {
			t.Errorf("%q (%v)", s, err)
		}
	}
	n := withSite(t)
	config := &tls.Config{Certificates: []tls.Certificate{
		certtest.Leaf(t, root, []string{"example.com"}).TLS(slices.Repeat([]*certtest.Cert{root}, 600)...)}}
	n.ServeTLS(web4+":443", config, http.NotFoundHandler())
	_, err := get(t, n.Client(nil), "https://example.com/")
	if s := wantFault(t, err, fault.Upstream); s != "example.com sent a TLS handshake of more than 128 KiB." {
		t.Errorf("%q (%v)", s, err)
	}
	n = withSite(t)
	n.ServeConn(web4+":443", func(c net.Conn) {
		_, _ = c.Read(make([]byte, 4096))
		_, _ = io.WriteString(c, "\x16\x03\x03\x00\x04\x02\x00\xff\xff")
		for err := error(nil); err == nil; {
			_, err = io.WriteString(c, "\x16\x03\x03\x00\x01\x01")
		}
	})
	_, err = get(t, n.Client(nil), "https://example.com/")
	if s := wantFault(t, err, fault.Upstream); s != noSense {
		t.Errorf("%q (%v)", s, err)
	}
}

func TestAlertsAreNamed(t *testing.T) {
	t.Parallel()
	for alert, name := range map[byte]string{
		10: " (unexpected_message)", 40: " (handshake_failure)", 42: " (bad_certificate)", 47: " (illegal_parameter)",
		49: " (access_denied)", 50: " (decode_error)", 70: " (protocol_version)", 71: " (insufficient_security)",
		80: " (internal_error)", 86: " (inappropriate_fallback)", 112: " (unrecognized_name)", 116: " (certificate_required)",
		120: " (no_application_protocol)",

		0: "", 48: "", 121: "", 255: "",
	} {
		t.Run(fmt.Sprint(alert), func(t *testing.T) {
			t.Parallel()
			n := withSite(t)
			n.ServeConn(web4+":443", func(c net.Conn) {
				_, _ = c.Read(make([]byte, 4096))
				_, _ = c.Write([]byte{0x15, 3, 3, 0, 2, 2, alert})
				stay(c)
			})
			_, err := get(t, n.Client(nil), "https://example.com/")
			want := "example.com refused the TLS handshake" + name + "."
			if alert == 0 { // close_notify says goodbye
				want = "example.com closed the connection during the TLS handshake."
			}
			if s := wantFault(t, err, fault.Upstream); s != want {
				t.Errorf("%q, want %q (%v)", s, want, err)
			}
		})
	}
}
