package tlsscan_test

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"net"

	"diagnostics/gateway/internal/egress/tlsscan"
)

// A handshake is read up to the certificates, without a key of one's own: whatever they are worth, they are shown.
func ExampleReadHandshake() {
	ours, theirs := net.Pipe()
	defer ours.Close()
	server := tls.Server(theirs, &tls.Config{
		Certificates: []tls.Certificate{selfSigned()}, NextProtos: []string{"h2", "http/1.1"},
		CurvePreferences: []tls.CurveID{tls.X25519}, // any other costs a round trip more
	})
	go func() { _ = server.Handshake() }()

	flight, err := tlsscan.ReadHandshake(context.Background(), ours, tlsscan.Hello{
		ServerName: "example.com", Versions: []tlsscan.Version{tlsscan.TLS12, tlsscan.TLS13}, ALPN: []string{"h2"},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(flight.Version, flight.Suite.KeyExchange, flight.Suite.Strength)
	fmt.Println(len(flight.Certificates), "certificate, then", flight.ALPN)
	// Output:
	// TLSv1.3 (EC)DHE strong
	// 1 certificate, then h2
}

func selfSigned() tls.Certificate {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"example.com"}}
	leaf, err := x509.CreateCertificate(nil, template, template, public, private)
	if err != nil {
		panic(err)
	}
	return tls.Certificate{Certificate: [][]byte{leaf}, PrivateKey: private}
}
