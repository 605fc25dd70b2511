package tlsprobe

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"testing"
)

// What a server of crypto/tls says is read in every version and with every group that keys can be exchanged in.
func TestReadHandshake(t *testing.T) {
	t.Parallel()
	cert := certificate(t)
	cert.OCSPStaple = []byte("a staple")
	cert.SignedCertificateTimestamps = [][]byte{[]byte("one"), []byte("two")}
	for _, version := range []Version{TLS10, TLS11, TLS12, TLS13} {
		for _, curve := range []tls.CurveID{tls.X25519, tls.CurveP256, tls.CurveP384, tls.CurveP521, tls.X25519MLKEM768,
			tls.SecP256r1MLKEM768, tls.SecP384r1MLKEM1024} {
			if version < TLS13 && curve > 255 {
				continue
			}
			t.Run(fmt.Sprint(version, " ", curve), func(t *testing.T) {
				t.Parallel()
				server := serveTLS(t, &tls.Config{
					Certificates: []tls.Certificate{cert}, MinVersion: uint16(version), MaxVersion: uint16(version),
					CurvePreferences: []tls.CurveID{curve}, ClientAuth: tls.RequestClientCert, NextProtos: []string{"h2", "http/1.1"},
				})
				got, err := ReadHandshake(t.Context(), server.connect(t), Hello{ServerName: "example.com", ALPN: []string{"h2"}})
				if err != nil {
					t.Fatal(err)
				}
				if got.Version != version || got.Group != uint16(curve) || !got.ClientRequested || got.ALPN != "h2" ||
					string(got.Staple) != "a staple" || len(got.SCTs) != 2 || string(got.SCTs[1]) != "two" {
					t.Errorf("%+v", got)
				}
				if len(got.Certificates) != 3 {
					t.Fatalf("%d certificates", len(got.Certificates))
				}
				for i := range got.Certificates {
					if !bytes.Equal(got.Certificates[i], cert.Certificate[i]) {
						t.Errorf("the certificate %d is another", i)
					}
				}
			})
		}
	}
}
