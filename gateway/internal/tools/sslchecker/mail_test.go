package sslchecker

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"diagnostics/gateway/internal/analyze/certs/certtest"
	"diagnostics/gateway/internal/egress/tlsscan"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tools/internal/toolstest"
)

// smtp are the lines of a server that offers STARTTLS.
var smtp = []string{"220 mx.example.com\r\n", "250-mx.example.com\r\n250 STARTTLS\r\n", "220 go\r\n"}

// mailServer serves a port; each is called with the number of a connection, and reports whether TLS begins on it.
func (w *world) mailServer(t *testing.T, port string, each func(n int32, c net.Conn) bool) *atomic.Int32 {
	t.Helper()
	config := oneCertificate(certtest.Leaf(t, w.inter, []string{sslName}).TLS(w.inter))
	came := new(atomic.Int32)
	w.ServeConn("93.184.216.34:"+port, func(c net.Conn) {
		if each(came.Add(1), c) {
			handshakeAndWait(c, config)
		}
	})
	return came
}

// TestSSLConnectionsRefused: a mail server that accepts two connections has not refused the versions that would have
// come after them.
func TestSSLConnectionsRefused(t *testing.T) {
	t.Parallel()
	const line = "421 4.7.0 too many connections"
	for name, c := range map[string]struct{ port, says, shown string }{
		"a line":            {"25", line + "\r\n", line},
		"an end":            {"25", "", "closed further ones before TLS could begin"},
		"after EHLO":        {"587", "220 hi\r\n|" + line + "\r\n", line},
		"the line of POP3":  {"110", "-ERR \x07too many\r\n", `"-ERR too many"`},
		"a goodbye of IMAP": {"143", "* BYE too many\r\n", "* BYE too many"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.probing = true
			came := w.mailServer(t, c.port, func(n int32, conn net.Conn) bool {
				if n > 2 {
					converse(conn, strings.Split(c.says, "|")...)
					return false
				}
				converse(conn, map[string][]string{"110": {"+OK\r\n", "+OK\r\n"}, "143": {"* OK\r\n", "a1 OK\r\n"}, "25": smtp,
					"587": smtp}[c.port]...)
				return true
			})
			got := w.mustCheck(t, sslName+":"+c.port)
			if s := yesNo(got.SupportedProtocols); got.Complete || s != "null null yes yes" {
				t.Errorf("complete %t, %s", got.Complete, s)
			}
			if n := came.Load(); n > maxMailConnections {
				t.Errorf("%d connections", n)
			}
			for _, i := range got.Issues {
				if i.Code == "CONNECTIONS_REFUSED" && i.Severity == severityInfo && strings.Contains(i.Message, c.shown) {
					return
				}
			}
			t.Errorf("%v", got.Issues)
		})
	}
}

// TestSSLPortsOfMail: each port of mail gets one connection at a time, and few in all.
func TestSSLPortsOfMail(t *testing.T) {
	t.Parallel()
	for _, port := range []string{"25", "110", "143", "465", "587", "993", "995"} {
		t.Run(port, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.probing = true
			came := w.mailServer(t, port, func(_ int32, conn net.Conn) bool {
				switch port {
				case "25", "587":
					converse(conn, smtp...)
				case "110":
					converse(conn, "+OK\r\n", "+OK\r\n")
				case "143":
					converse(conn, "* OK\r\n", "a1 OK\r\n")
				}
				return true
			})
			got := w.mustCheck(t, sslName+":"+port)
			if !got.Complete || yesNo(got.SupportedProtocols) != "no no yes yes" || len(got.CipherSuites) != 0 ||
				len(got.OtherCertificates) != 0 || hasIssue(got, severityInfo, "CONNECTIONS_REFUSED") {
				t.Errorf("complete %t, %s, %v", got.Complete, yesNo(got.SupportedProtocols), got.Issues)
			}
			if came.Load() > maxMailConnections {
				t.Errorf("%d connections", came.Load())
			}
			s := &scripted{report: tlsscan.Report{Complete: true}}
			_, err := w.checkerWith(t, s).run(t.Context(), toolstest.HostPort(t, sslName+":"+port))
			if err != nil || s.last.AtOnce != 1 || !s.last.VersionsOnly {
				t.Errorf("%v, %+v", err, s.last)
			}
		})
	}
}

// TestSSLInconsistentStartTLS: every second connection offers none, whichever is the first.
func TestSSLInconsistentStartTLS(t *testing.T) {
	t.Parallel()
	for _, without := range []int32{0, 1} {
		w := newWorld(t)
		w.probing = true
		w.mailServer(t, "25", func(n int32, conn net.Conn) bool {
			if n%2 == without {
				converse(conn, smtp[0], "250 mx.example.com\r\n")
				return false
			}
			converse(conn, smtp...)
			return true
		})
		got := w.mustCheck(t, sslName+":25")
		if !hasIssue(got, severityWarn, "STARTTLS_INCONSISTENT") || !got.Authorized {
			t.Errorf("%v", got.Issues)
		}
	}
}

// TestSSLBegunStartTLS: a server that had begun an answer is not said to have sent nothing.
func TestSSLBegunStartTLS(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		port     string
		says     []string
		sentence string
	}{
		"no greeting":     {"25", []string{""}, "sent nothing in time"},
		"a greeting":      {"25", []string{"220-mail.example\r\n"}, "had begun its greeting on port 25"},
		"half a line":     {"25", []string{"22"}, "had begun its greeting on port 25"},
		"no EHLO":         {"25", []string{smtp[0], ""}, "did not answer EHLO on port 25"},
		"EHLO":            {"587", []string{smtp[0], "250-mx\r\n"}, "had begun its answer to EHLO on port 587"},
		"no STARTTLS":     {"25", []string{smtp[0], smtp[1], ""}, "did not answer STARTTLS on port 25"},
		"STARTTLS":        {"25", []string{smtp[0], smtp[1], "220-"}, "had begun its answer to STARTTLS on port 25"},
		"POP3's greeting": {"110", []string{"+OK"}, "had begun its greeting on port 110"},
		"no STLS":         {"110", []string{"+OK\r\n", ""}, "did not answer STLS on port 110"},
		"IMAP's greeting": {"143", []string{"* OK"}, "had begun its greeting on port 143"},
		"IMAP's STARTTLS": {"143", []string{"* OK\r\n", "* OK still\r\n"}, "had begun its answer to STARTTLS on port 143"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.timeout = sslTimeout
			w.ServeConn("93.184.216.34:"+c.port, func(conn net.Conn) {
				converse(conn, c.says...)
				_, _ = io.Copy(io.Discard, conn)
			})
			_, err := w.check(t, sslName+":"+c.port)
			failed, _ := errors.AsType[*fault.Error](err)
			if failed == nil || failed.Kind != fault.Timeout || !strings.Contains(failed.Sentence(), c.sentence) {
				t.Errorf("%v", err)
			}
		})
	}
}

// intolerant serves TLS to hellos of at most so many octets; refuse does away with others.
func intolerant(conn net.Conn, config *tls.Config, most int, refuse func(net.Conn)) {
	header := make([]byte, 5)
	if _, err := io.ReadFull(conn, header); err != nil {
		return
	}
	body := make([]byte, binary.BigEndian.Uint16(header[3:]))
	if len(header)+len(body) > most {
		refuse(conn)
		return
	}
	if _, err := io.ReadFull(conn, body); err == nil {
		handshakeAndWait(prefixed{conn, io.MultiReader(bytes.NewReader(append(header, body...)), conn)}, config)
	}
}

// prefixed is a connection of which something was read already.
type prefixed struct {
	net.Conn
	from io.Reader
}

func (p prefixed) Read(b []byte) (int, error) { return p.from.Read(b) }

func resetConn(conn net.Conn) { _ = conn.(*net.TCPConn).SetLinger(0) }

func staySilent(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }

// TestSSLHelloTooLong: a server that drops or resets hellos longer than a segment is read with a short one.
func TestSSLHelloTooLong(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		port   string
		refuse func(net.Conn)
		first  int32 // so many long hellos are refused
		want   bool
	}{
		"a reset":               {"443", resetConn, 99, true},
		"a reset by chance":     {"443", resetConn, 1, false},
		"silence":               {"443", staySilent, 99, true},
		"silence after EHLO":    {"25", staySilent, 99, true},
		"a reset after EHLO":    {"587", resetConn, 99, true},
		"an end on port 993":    {"993", func(net.Conn) {}, 99, true},
		"no intolerance":        {"443", resetConn, 0, false},
		"an alert to long ones": {"443", func(c net.Conn) { _, _ = io.WriteString(c, "\x15\x03\x01\x00\x02\x02\x32"); staySilent(c) }, 99, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.timeout, w.probing = 3*time.Second, true
			config := oneCertificate(certtest.Leaf(t, w.inter, []string{sslName}).TLS(w.inter))
			var long atomic.Int32
			w.ServeConn("93.184.216.34:"+c.port, func(conn net.Conn) {
				if c.port == "25" || c.port == "587" {
					converse(conn, smtp...)
				}
				most := 300
				if long.Load() >= c.first {
					most = 1 << 16
				}
				intolerant(conn, config, most, func(conn net.Conn) {
					long.Add(1)
					c.refuse(conn)
				})
			})
			got := w.mustCheck(t, sslName+":"+c.port)
			if got.HelloTooLong != c.want || hasIssue(got, severityWarn, "HELLO_INTOLERANT") != c.want || !got.Authorized {
				t.Errorf("too long %t, %v", got.HelloTooLong, got.Issues)
			}
			if s := yesNo(got.SupportedProtocols); c.want && s != "no no yes yes" {
				t.Errorf("%s", s)
			}
		})
	}
}

// TestSSLMailConnectionsOfSeveralAddresses: the bound is for a run over all its addresses.
func TestSSLMailConnectionsOfSeveralAddresses(t *testing.T) {
	t.Parallel()
	addresses := []string{four, six, "93.184.216.35", "93.184.216.36"}
	w := farmOf(t, addresses...)
	w.probing = true
	config := oneCertificate(certtest.Leaf(t, w.inter, []string{farm}).TLS(w.inter))
	var came atomic.Int32
	for _, a := range addresses {
		w.ServeConn(net.JoinHostPort(a, "993"), func(c net.Conn) { came.Add(1); handshakeAndWait(c, config) })
	}
	got, err := w.checker(t).run(t.Context(), toolstest.HostPort(t, farm+":993"))
	if err != nil || !got.Complete || came.Load() > maxMailConnections {
		t.Errorf("%v, complete %t, %d connections", err, got.Complete, came.Load())
	}
}
