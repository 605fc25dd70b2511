package egresstest

import (
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"

	"github.com/quic-go/quic-go/http3"
)

// Serve answers HTTP at the public address.
func (n *Network) Serve(public string, h http.Handler) {
	n.t.Helper()
	n.serve(n.Listen(public), h)
}

// ServeTLS answers HTTPS at the public address, HTTP/2 where the client offers it, with a certificate that the caller
// brings in the configuration.
func (n *Network) ServeTLS(public string, config *tls.Config, h http.Handler) {
	n.t.Helper()
	config = config.Clone()
	if config.NextProtos == nil {
		config.NextProtos = []string{"h2", "http/1.1"}
	}
	n.serve(tls.NewListener(n.Listen(public), config), h)
}

// ServeHTTP3 answers HTTP/3 at the public address, with a certificate that the caller brings in the configuration.
// change may alter the server and be nil.
func (n *Network) ServeHTTP3(public string, config *tls.Config, h http.Handler, change func(*http3.Server)) {
	n.t.Helper()
	c := n.ListenPacket(public)
	s := &http3.Server{Handler: h, TLSConfig: http3.ConfigureTLSConfig(config.Clone())}
	if change != nil {
		change(s)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.Serve(c)
	}()
	n.t.Cleanup(func() {
		_ = s.Close()
		<-ended
	})
}

func (n *Network) serve(l net.Listener, h http.Handler) {
	// Handshakes and requests that fail on purpose do not belong in the test's output.
	s := &http.Server{Handler: h, ErrorLog: log.New(io.Discard, "", 0)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.Serve(l)
	}()
	n.t.Cleanup(func() {
		_ = s.Close()
		<-ended
	})
}

// ServeConn hands each connection to the public address to h, on a goroutine of its own, and closes it after. The
// connections still open end with the test.
func (n *Network) ServeConn(public string, h func(net.Conn)) {
	n.t.Helper()
	l := n.Listen(public)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = c.Close() }()
				stop := make(chan struct{})
				defer close(stop)
				go func() {
					select {
					case <-n.done:
						_ = c.Close()
					case <-stop:
					}
				}()
				h(c)
			}()
		}
	}()
}
