package sslchecker

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/analyze/certs/certtest"
	"diagnostics/gateway/internal/fault"
)

// converse plays a server's part: it sends a line, reads one, sends the next. The connection is left as it is after the
// last line.
func converse(c net.Conn, says ...string) {
	in := bufio.NewReader(c)
	for i, line := range says {
		if i > 0 {
			if _, err := in.ReadString('\n'); err != nil {
				return
			}
		}
		if _, err := io.WriteString(c, line); err != nil {
			return
		}
	}
}

func TestSSLStartTLS(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		port, protocol string
		says           []string
	}{
		{"25", "smtp", []string{"220 mx.example.com ESMTP\r\n", "250-mx.example.com\r\n250-PIPELINING\r\n250-starttls\r\n250 8BITMIME\r\n", "220 Go ahead\r\n"}},
		{"587", "smtp", []string{"220-hello\r\n220 mx.example.com\n", "250-mx\r\n250 STARTTLS\r\n", "220\r\n"}},
		{"110", "pop3", []string{"+OK POP3 ready <1896.697170952@example.com>\r\n", "+OK Begin TLS\r\n"}},
		{"143", "imap", []string{"* OK [CAPABILITY IMAP4rev1 STARTTLS] ready\r\n", "* CAPABILITY IMAP4rev1\r\na1 OK begin\r\n"}},
	} {
		t.Run(c.port, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			config := oneCertificate(certtest.Leaf(t, w.inter, []string{sslName}).TLS(w.inter))
			config.NextProtos = []string{"nothing of the web"} // refuses a client that offers h2
			w.ServeConn("93.184.216.34:"+c.port, func(conn net.Conn) {
				converse(conn, c.says...)
				handshakeAndWait(conn, config)
			})
			got := w.mustCheck(t, sslName+":"+c.port)
			if got.STARTTLS == nil || *got.STARTTLS != c.protocol || !got.Authorized || got.ALPN != nil {
				t.Errorf("starttls %v, authorized %v, alpn %v", got.STARTTLS, got.Authorized, got.ALPN)
			}
			if s := yesNo(got.SupportedProtocols); s != "no no yes yes" {
				t.Errorf("supported: %s", s)
			}
		})
	}
}

// TestSSLHostileStartTLS: a server without STARTTLS, or one that does not play by the rules, is reported as such in
// bounded time.
func TestSSLHostileStartTLS(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20)
	for _, c := range []struct {
		name, port string
		says       []string
		kind       fault.Kind
		sentence   string
	}{
		{"smtp without", "25", []string{"220 hi\r\n", "250-mx\r\n250 SIZE\r\n"}, fault.Upstream, "does not offer STARTTLS"},
		{"smtp named so", "25", []string{"220 hi\r\n", "250-STARTTLS\r\n250 SIZE\r\n"}, fault.Upstream, "does not offer STARTTLS"},
		{"smtp without EHLO", "25", []string{"220 hi\r\n", "502 what\r\n"}, fault.Upstream, "does not offer STARTTLS"},
		{"smtp changes its mind", "25", []string{"220 hi\r\n", "250-mx\r\n250 STARTTLS\r\n", "454 not now\r\n"}, fault.Upstream, "offers STARTTLS on port 25, but refuses it: it answers 454."},
		{"smtp turns away", "25", []string{"554 go away <script>\r\n"}, fault.Upstream, "rejected the connection"},
		{"smtp mixed codes", "25", []string{"220-hi\r\n250 hi\r\n"}, fault.Upstream, "does not speak proper SMTP"},
		{"smtp long line", "25", []string{"220 " + long}, fault.Upstream, "does not speak proper SMTP"},
		{"smtp endless reply", "587", []string{strings.Repeat("220-more\r\n", 5000)}, fault.Upstream, "does not speak proper SMTP"},
		{"smtp injected answer", "25", []string{"220 hi\r\n", "250-mx\r\n250 STARTTLS\r\n", "220 go\r\n250 injected\r\n"}, fault.Upstream, "does not speak proper SMTP"},
		{"HTTP on 25", "25", []string{"HTTP/1.1 400 Bad Request\r\n"}, fault.Upstream, "does not speak proper SMTP"},
		{"TLS on 25", "25", []string{"\x16\x03\x01\r\n"}, fault.Upstream, "does not speak proper SMTP"},
		{"smtp stops mid-line", "25", []string{"220 h"}, fault.Upstream, "does not speak proper SMTP"},
		{"smtp closes", "25", []string{"220 hi\r\n"}, fault.Upstream, "closed the connection"},
		{"pop3 without", "110", []string{"+OK hi\r\n", "-ERR unknown command\r\n"}, fault.Upstream, "does not offer STARTTLS"},
		{"pop3 refuses it", "110", []string{"+OK hi\r\n", "-ERR not now\r\n", "+OK\r\nUSER\r\nstls\r\n.\r\n"}, fault.Upstream, "offers STARTTLS on port 110, but refuses it: it answers -ERR."},
		{"pop3 without, and says so", "110", []string{"+OK hi\r\n", "-ERR what\r\n", "+OK\r\nUSER\r\n.\r\n"}, fault.Upstream, "does not offer STARTTLS"},
		{"pop3 without capabilities", "110", []string{"+OK hi\r\n", "-ERR what\r\n", "-ERR what\r\n"}, fault.Upstream, "does not offer STARTTLS"},
		{"pop3 endless capabilities", "110", []string{"+OK hi\r\n", "-ERR what\r\n", "+OK\r\n" + strings.Repeat("STLS\r\n", 5000)}, fault.Upstream, "does not offer STARTTLS"},
		{"pop3 turns away", "110", []string{"-ERR busy\r\n"}, fault.Upstream, "rejected the connection"},
		{"pop3 nonsense", "110", []string{"220 hi\r\n"}, fault.Upstream, "does not speak proper POP3"},
		{"imap without", "143", []string{"* OK hi\r\n", "a1 BAD what\r\n"}, fault.Upstream, "does not offer STARTTLS"},
		{"imap refuses it", "143", []string{"* OK hi\r\n", "a1 NO not now\r\n", "* CAPABILITY IMAP4rev1 StartTLS\r\na2 OK done\r\n"}, fault.Upstream, "offers STARTTLS on port 143, but refuses it: it answers NO."},
		{"imap says it is bad", "143", []string{"* OK hi\r\n", "a1 BAD what\r\n", "* CAPABILITY STARTTLS\r\na2 OK done\r\n"}, fault.Upstream, "but refuses it: it answers BAD."},
		{"imap without, and says so", "143", []string{"* OK hi\r\n", "a1 BAD what\r\n", "* CAPABILITY IMAP4rev1 LOGINDISABLED\r\na2 OK done\r\n"}, fault.Upstream, "does not offer STARTTLS"},
		{"imap known already", "143", []string{"* PREAUTH hi\r\n"}, fault.Upstream, "does not offer STARTTLS"},
		{"imap turns away", "143", []string{"* BYE busy\r\n"}, fault.Upstream, "rejected the connection"},
		{"imap turns away late", "143", []string{"* OK hi\r\n", "* BYE busy\r\n"}, fault.Upstream, "rejected the connection"},
		{"imap other tag", "143", []string{"* OK hi\r\n", "a2 OK go\r\n"}, fault.Upstream, "does not speak proper IMAP"},
		{"imap endless", "143", []string{"* OK hi\r\n", strings.Repeat("* OK still here\r\n", 5000)}, fault.Upstream, "does not speak proper IMAP"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.ServeConn("93.184.216.34:"+c.port, func(conn net.Conn) { converse(conn, c.says...) })
			_, err := w.check(t, sslName+":"+c.port)
			var failed *fault.Error
			if !errors.As(err, &failed) || failed.Kind != c.kind || !strings.Contains(failed.Sentence(), c.sentence) {
				t.Errorf("got %v", err)
			}
			if strings.Contains(err.Error(), "script") {
				t.Error("the server's words are in the error")
			}
		})
	}
}

// A dialogue is read up to 64 KiB, and no further.
func TestSSLLongStartTLS(t *testing.T) {
	t.Parallel()
	line := "220-" + strings.Repeat("x", 1018) + "\r\n" // a KiB
	for size, want := range map[int]error{63: io.EOF, 64: io.EOF, 65: errStarttlsProtocol} {
		conn := script{in: bytes.NewReader([]byte(strings.Repeat(line, size)))}
		if err := startTLS(conn, "smtp"); !errors.Is(err, want) {
			t.Errorf("%d KiB: %v, want %v", size, err, want)
		}
	}
}

// TestSSLSlowStartTLS: a greeting that never comes, and one that comes byte by byte, end in time.
func TestSSLSlowStartTLS(t *testing.T) {
	t.Parallel()
	for name, serve := range map[string]func(net.Conn){
		"silent": func(c net.Conn) { _, _ = io.Copy(io.Discard, c) },
		"drips": func(c net.Conn) {
			for {
				if _, err := c.Write([]byte("2")); err != nil {
					return
				}
				time.Sleep(sslTimeout / 10) // the drip itself: faster, it would meet the bound on a line first
			}
		},
	} {
		w := newWorld(t)
		w.timeout = sslTimeout
		w.ServeConn("93.184.216.34:25", serve)
		if _, err := w.check(t, sslName+":25"); !fault.Is(err, fault.Timeout) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// script is a connection whose other side sends one thing, whatever it receives.
type script struct {
	net.Conn
	in *bytes.Reader
}

func (s script) Read(p []byte) (int, error) { return s.in.Read(p) }

func (s script) Write(p []byte) (int, error) { return len(p), nil }

func FuzzSSLStartTLS(f *testing.F) {
	f.Add("smtp", "220 hi\r\n250-mx\r\n250 STARTTLS\r\n220 go\r\n")
	f.Add("pop3", "+OK hi\r\n+OK go\r\n")
	f.Add("imap", "* OK hi\r\n* x\r\na1 OK go\r\n")
	f.Add("smtp", "220-\n220")
	f.Fuzz(func(t *testing.T, protocol, says string) {
		conn := script{in: bytes.NewReader([]byte(says))}
		err := startTLS(conn, protocol)
		if err == nil && conn.in.Len() == 0 && says != "" && !strings.HasSuffix(says, "\n") && protocol != "" {
			switch protocol {
			case "smtp", "pop3", "imap":
				t.Errorf("%s: an unfinished line passes: %q", protocol, says)
			}
		}
	})
}
