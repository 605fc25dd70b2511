//go:build e2e

package e2e

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"diagnostics/lab"
	"diagnostics/lab/internal/site"
)

// reportedZone is the domain of the servers that a test plays.
const reportedZone = "lab-reported.com"

// reportedPlaces counts the addresses of these servers.
var reportedPlaces atomic.Int32

// playedServer is a server that a test plays.
type playedServer struct {
	host, address string
	config        *tls.Config
	connections   atomic.Int32
}

// play serves ports until the test ends, under a name of its own with a certificate for it. talk has each connection,
// with its number.
func play(t *testing.T, label string, talk func(s *playedServer, n int32, c net.Conn), ports ...string) *playedServer {
	t.Helper()
	s := &playedServer{host: label + "." + reportedZone, address: fmt.Sprintf("11.94.0.%d", 100+reportedPlaces.Add(1))}
	made, err := internet.Certificate(site.Order{Names: []string{"*." + reportedZone}})
	if err != nil {
		t.Fatal(err)
	}
	s.config = &tls.Config{Certificates: []tls.Certificate{made}}
	internet.Script(s.host, lab.Step{Records: []string{"@ 300 IN A " + s.address}})
	var running sync.WaitGroup
	t.Cleanup(running.Wait)
	for _, port := range ports {
		l, err := internet.Listen(lab.NearHost, "tcp", net.JoinHostPort(s.address, port))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		running.Go(func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				running.Go(func() {
					defer c.Close()
					_ = c.SetDeadline(time.Now().Add(20 * time.Second))
					talk(s, s.connections.Add(1), c)
				})
			}
		})
	}
	return s
}

// answerWith answers each request for a path with octets, and others with 404.
func answerWith(paths map[string]string) func(*playedServer, int32, net.Conn) {
	return func(s *playedServer, _ int32, c net.Conn) {
		if _, port, _ := net.SplitHostPort(c.LocalAddr().String()); port != "80" {
			secured := tls.Server(c, s.config)
			defer secured.Close()
			c = secured
		}
		in := bufio.NewReader(c)
		request, err := in.ReadString('\n')
		for line := request; err == nil && strings.TrimSpace(line) != ""; {
			line, err = in.ReadString('\n')
		}
		words := append(strings.Fields(request), "", "")
		answer, known := paths[words[1]]
		if !known {
			answer = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
		}
		_, _ = io.WriteString(c, answer)
	}
}

// shortHellos is a connection of a server that takes a ClientHello of at most 300 octets, and does away with others.
type shortHellos struct {
	net.Conn
	refuse func(net.Conn)
}

func (s shortHellos) Read(b []byte) (int, error) {
	n, err := s.Conn.Read(b)
	const handshake = 22
	if n >= 5 && b[0] == handshake && int(b[3])<<8+int(b[4]) > 300 {
		s.refuse(s.Conn)
		return 0, io.EOF
	}
	return n, err
}

// resets ends a connection with a reset once it is closed.
func resets(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
}

// staysSilent reads for as long as the client waits.
func staysSilent(c net.Conn) { _, _ = io.Copy(io.Discard, c) }
