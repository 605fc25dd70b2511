package dnssec

import (
	"crypto/sha512"
	"encoding/base64"
	"math/big"
	"testing"

	"github.com/miekg/dns"
)

// BenchmarkVerify shows what a verification costs by each kind of key; costOf has the proportions.
func BenchmarkVerify(b *testing.B) {
	bytes := func(n int) (out []byte) {
		for i := byte(0); len(out) < n; i++ {
			sum := sha512.Sum512([]byte{i})
			out = append(out, sum[:]...)
		}
		return out[:n]
	}
	rsa := func(size int, e *big.Int) *dns.DNSKEY {
		modulus := bytes(size)
		modulus[0], modulus[size-1] = 0xff, modulus[size-1]|1
		raw := append(append([]byte{byte(len(e.Bytes()))}, e.Bytes()...), modulus...)
		return &dns.DNSKEY{Algorithm: dns.RSASHA256, PublicKey: base64.StdEncoding.EncodeToString(raw)}
	}
	curve := func(algorithm uint8, bits int) *dns.DNSKEY {
		k := &dns.DNSKEY{Algorithm: algorithm}
		if _, err := k.Generate(bits); err != nil {
			b.Fatal(err)
		}
		return k
	}
	for name, c := range map[string]struct {
		key  *dns.DNSKEY
		size int
	}{
		"RSA-1024":           {rsa(128, big.NewInt(65537)), 128},
		"RSA-2048":           {rsa(256, big.NewInt(65537)), 256},
		"RSA-4096":           {rsa(512, big.NewInt(65537)), 512},
		"RSA-4096, 31-bit e": {rsa(512, big.NewInt(1<<31-1)), 512},
		"RSA-4096, 64-bit e": {rsa(512, new(big.Int).SetUint64(1<<64-1)), 512},
		"P-256":              {curve(dns.ECDSAP256SHA256, 256), 64},
		"P-384":              {curve(dns.ECDSAP384SHA384, 384), 96},
		"Ed25519":            {curve(dns.ED25519, 256), 64},
	} {
		b.Run(name, func(b *testing.B) {
			verify, _, flaw := readKey(c.key)
			if flaw != "" {
				b.Fatal(flaw)
			}
			signature := bytes(c.size)
			signature[0], signature[c.size-1] = 0, 0
			for b.Loop() {
				verify([]byte("data"), signature)
			}
		})
	}
}
