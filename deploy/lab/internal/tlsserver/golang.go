package tlsserver

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"

	"diagnostics/lab/internal/site"
)

// modern are the suites of goServer without changes.
func modern() suites {
	return suites{tls12: {ecdsa12}, tls13: {aes128, aes256, chacha}}
}

// twoGroups are the groups of most servers here.
var twoGroups = []string{"x25519", "secp256r1"}

// goServer runs a server of Go's crypto/tls in this process: one suite of TLS 1.2, all of TLS 1.3 (which cannot be
// chosen), two groups.
func goServer(o site.Order, changes ...func(*tls.Config)) func(*workshop, Server) error {
	return func(w *workshop, s Server) error {
		config, err := w.served(s, o)
		if err != nil {
			return err
		}
		usual(config)
		for _, change := range changes {
			change(config)
		}
		return w.serve(s.at(0), answering(config))
	}
}

// usual is the configuration of goServer without changes.
func usual(config *tls.Config) *tls.Config {
	config.MinVersion = tls.VersionTLS12
	config.CipherSuites = []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256}
	config.CurvePreferences = []tls.CurveID{tls.X25519, tls.CurveP256}
	return config
}

// answering shakes hands and answers a request of HTTP.
func answering(config *tls.Config) func(context.Context, net.Conn) {
	return func(ctx context.Context, c net.Conn) {
		secured := tls.Server(c, config)
		if secured.HandshakeContext(ctx) != nil {
			return
		}
		in := bufio.NewReader(secured)
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			if line == "\r\n" || line == "\n" {
				break
			}
		}
		_, _ = io.WriteString(secured, "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nhello\n")
		_ = secured.Close()
	}
}
