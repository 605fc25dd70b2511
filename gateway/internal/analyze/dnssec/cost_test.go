package dnssec

import (
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// BenchmarkVerify shows what a verification costs by each kind of key. Package weight has the figures.
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
			verify, _, _, flaw := readKey(c.key)
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

// The verifications of a run are bounded by what they cost, however many of them there may be: 512 by keys of 4,096
// bits with an exponent of 64 took 0.7 s.
func TestCostlyKeys(t *testing.T) {
	t.Parallel()
	const room = 400 * time.Millisecond
	left, refused := room, false
	v := New(testNow, func(cost time.Duration) bool {
		if cost > left {
			refused = true
			return false
		}
		left -= cost
		return true
	})
	raw := append([]byte{8, 255, 255, 255, 255, 255, 255, 255, 255}, slices.Repeat([]byte{0xa5}, 512)...)
	record := &dns.DNSKEY{Algorithm: dns.RSASHA256, Flags: dns.ZONE, Protocol: 3,
		PublicKey: base64.StdEncoding.EncodeToString(raw)}
	k := &key{Key: Key{Record: record, Tag: record.KeyTag()}}
	if k.verify, k.cost, k.Bits, k.flaw = readKey(record); k.flaw != "" {
		t.Fatal(k.flaw)
	}
	zone, _ := parseName("example.")
	const sets = 40
	for i := range sets {
		owner := fmt.Sprint("n", i, ".example.")
		records := []dns.RR{mustRecord(t, owner+" 300 IN A 192.0.2.1")}
		for n := range maxAttempts {
			signature := slices.Repeat([]byte{byte(n)}, 512)
			records = append(records, &dns.RRSIG{
				Hdr:         dns.RR_Header{Name: owner, Rrtype: dns.TypeRRSIG, Class: dns.ClassINET, Ttl: 300},
				TypeCovered: dns.TypeA, Algorithm: dns.RSASHA256, Labels: 2, OrigTtl: 300, KeyTag: k.Tag, SignerName: "example.",
				Inception: uint32(testNow.Unix()) - 1, Expiration: uint32(testNow.Unix()) + 1,
				Signature: base64.StdEncoding.EncodeToString(signature),
			})
		}
		name, _ := parseName(owner)
		want := SignatureInvalid
		out := v.verify(zone, []*key{k}, find(group(records), name, dns.TypeA), nil)
		if refused {
			want = SignatureBudget
		}
		if out.reason.Code != want {
			t.Fatalf("set %d: %s, want %s", i, out.reason.Code, want)
		}
	}
	if n := len(v.verified); !refused || n > int(room/k.cost) || n < 100 {
		t.Errorf("%d verifications of %v", n, k.cost)
	}
}

func mustRecord(t *testing.T, text string) dns.RR {
	t.Helper()
	rr, err := dns.NewRR(text)
	if err != nil {
		t.Fatal(err)
	}
	return rr
}
