package weight_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"math/big"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/analyze/certs/certtest"
	"diagnostics/gateway/internal/analyze/csp"
	"diagnostics/gateway/internal/analyze/gunzip"
	"diagnostics/gateway/internal/analyze/mail/dkim"
	"diagnostics/gateway/internal/analyze/mail/dmarc"
	"diagnostics/gateway/internal/analyze/mail/mtasts"
	"diagnostics/gateway/internal/analyze/mail/tlsrpt"
	"diagnostics/gateway/internal/analyze/robotstxt"
	"diagnostics/gateway/internal/analyze/sitemap"
	"diagnostics/gateway/internal/analyze/weight"
	"diagnostics/gateway/internal/analyze/weight/weighttest"

	"github.com/cloudflare/circl/sign/ed448"
	"github.com/miekg/dns"
	"go.uber.org/goleak"
	"golang.org/x/net/html"
	"golang.org/x/net/http2/hpack"
)

// repeated returns a piece as often as it fits into so many KiB.
func repeated(before, piece string, kib int) []byte {
	return []byte(before + strings.Repeat(piece, kib<<10/len(piece)))
}

func zipped(plain []byte) []byte {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(plain)
	_ = z.Close()
	return packed.Bytes()
}

func unzip(packed []byte) {
	if z, err := gunzip.NewReader(bufio.NewReader(bytes.NewReader(packed)), func() {}); err == nil {
		_, _ = io.Copy(io.Discard, z)
	}
}

// parsing returns every parser with the inputs that cost the most of it, of many that were tried.
func parsing(tb testing.TB) (cases []weighttest.Case) {
	add := func(name string, w weight.Work, input []byte, read func([]byte)) {
		cases = append(cases, weighttest.Bytes(name, w, input, read))
	}
	for _, piece := range []string{"a:\n", "U:*\n", "User-agent: a\nDisallow: /\n"} {
		add(fmt.Sprintf("robots %q", piece), weight.Robots, repeated("", piece, 100), func(text []byte) {
			f := robotstxt.Parse(text, false)
			f.Effect()
			f.Crawlers()
		})
	}
	for _, piece := range []string{"<a a='' b='' c='' d='' e='' f=''/>", "<a/>", "<url><loc>http://a/</loc></url>"} {
		start := "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>"
		add("sitemap "+piece, weight.Sitemap, repeated(start, piece, 200), func(text []byte) {
			sitemap.Read(sitemap.Source{Body: bytes.NewReader(text), Host: "a", Now: time.Now(),
				Limit: func(r io.Reader) io.Reader { return r }, Spend: func(int) error { return nil }})
		})
	}
	for _, piece := range []string{"a ", "* ", ","} {
		add("csp "+piece, weight.CSP, repeated("script-src ", piece, 30), func(text []byte) {
			set := csp.Set(csp.ParseHeaders([]string{string(text)}))
			set.Assess()
			set.Framing()
			for _, p := range set {
				p.Lint()
			}
		})
	}
	add("DMARC", weight.MailRecord, repeated("v=DMARC1;p=none;", "a;", 30),
		func(text []byte) { dmarc.Parse(string(text)) })
	add("DKIM", weight.MailRecord, repeated("v=DKIM1;", "a=b;", 30),
		func(text []byte) { dkim.Read([]string{string(text)}) })
	add("TLS-RPT", weight.MailRecord, repeated("v=TLSRPTv1;", "a;", 30),
		func(text []byte) { tlsrpt.Read([]string{string(text)}) })
	add("MTA-STS", weight.MailRecord, repeated("", "mx: a\n", 30), func(text []byte) { mtasts.ParsePolicy(string(text)) })
	for _, piece := range []string{"<a b=c>", "<a>"} {
		add("HTML "+piece, weight.HTML, repeated("", piece, 100), func(text []byte) {
			for z := html.NewTokenizer(bytes.NewReader(text)); z.Next() != html.ErrorToken; {
				z.Token()
			}
		})
	}
	long := strings.Repeat("a.", 120) + "example."
	for _, record := range []string{long + " 1 IN NS " + long, "a. 1 IN A 192.0.2.1"} {
		rr, err := dns.NewRR(record)
		if err != nil {
			tb.Fatal(err)
		}
		m := new(dns.Msg).SetQuestion(rr.Header().Name, dns.TypeA)
		m.Compress = true
		for range 2000 {
			m.Answer = append(m.Answer, rr)
		}
		packed, err := m.Pack()
		if err != nil {
			tb.Fatal(err)
		}
		add(fmt.Sprintf("DNS %.20s", record), weight.DNSMessage, packed, func(packed []byte) {
			_ = new(dns.Msg).Unpack(packed)
		})
	}
	letters := make([]byte, 200<<10)
	_, _ = rand.Read(letters)
	for i := range letters {
		letters[i] = 'a' + letters[i]&15
	}
	packed := zipped(letters)
	add("unpacked", weight.Unpacked, letters, func([]byte) { unzip(packed) })
	add("packed, empty", weight.Packed, bytes.Repeat(zipped(nil), 3000), unzip)
	add("HPACK", weight.PackedHead, repeated("", "\x82", 50), func(block []byte) {
		n := 0
		_, _ = hpack.NewDecoder(4096, func(hpack.HeaderField) { n++ }).Write(block)
	})
	extensions := func(c *x509.Certificate) {
		for i := range 1000 {
			c.ExtraExtensions = append(c.ExtraExtensions,
				pkix.Extension{Id: []int{1, 3, 6, 1, 4, 1, 9999, i}, Value: []byte{5, 0}})
		}
	}
	costly := certtest.Leaf(tb, certtest.Root(tb, "Root"), []string{"a"}, extensions)
	add("certificate", weight.Certificate, costly.Raw, func(der []byte) { _, _ = x509.ParseCertificate(der) })
	return cases
}

// cryptography returns a verification by each kind of key.
func cryptography(tb testing.TB) (cases []weighttest.Case) {
	digest := sha256.Sum256(nil)
	for curve, w := range map[elliptic.Curve]weight.Work{
		elliptic.P256(): weight.P256, elliptic.P384(): weight.P384, elliptic.P521(): weight.P521,
	} {
		key, err := ecdsa.GenerateKey(curve, rand.Reader)
		if err != nil {
			tb.Fatal(err)
		}
		signature, err := ecdsa.SignASN1(rand.Reader, key, digest[:])
		if err != nil {
			tb.Fatal(err)
		}
		if weight.Verify(&key.PublicKey) != w.Cost {
			tb.Errorf("%s: %v", curve.Params().Name, weight.Verify(&key.PublicKey))
		}
		cases = append(cases, weighttest.Case{Name: curve.Params().Name, Cost: w.Cost, Do: func() {
			ecdsa.VerifyASN1(&key.PublicKey, digest[:], signature)
		}})
	}
	public, private, _ := ed25519.GenerateKey(nil)
	signed := ed25519.Sign(private, nil)
	long, secret, _ := ed448.GenerateKey(nil)
	signed448 := ed448.Sign(secret, nil, "")
	cases = append(cases,
		weighttest.Case{Name: "Ed25519", Cost: weight.Ed25519.Cost, Do: func() { ed25519.Verify(public, nil, signed) }},
		weighttest.Case{Name: "Ed448", Cost: weight.Ed448.Cost, Do: func() { ed448.Verify(long, nil, signed448, "") }})
	for _, size := range []int{1024, 2048, 4096, 8192} {
		modulus := new(big.Int).SetBytes(bytes.Repeat([]byte{0xa5}, size/8))
		signature := new(big.Int).Rsh(modulus, 1)
		for _, e := range []uint64{3, 65537, 1<<31 - 1, 1<<64 - 1} {
			c := weighttest.Case{Name: fmt.Sprintf("RSA %d, exponent %d", size, e)}
			exponent := new(big.Int).SetUint64(e)
			c.Cost = weight.RSA(size, exponent)
			c.Do = func() { new(big.Int).Exp(signature, exponent, modulus) } // as package dnssec does
			if e < 1<<31 {
				key := &rsa.PublicKey{N: modulus, E: int(e)}
				octets := signature.FillBytes(make([]byte, size/8))
				c.Do = func() { _ = rsa.VerifyPKCS1v15(key, crypto.SHA256, digest[:], octets) }
			}
			cases = append(cases, c)
		}
	}
	return cases
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func BenchmarkWeights(b *testing.B) {
	weighttest.Benchmark(b, parsing(b)...)
	weighttest.Benchmark(b, cryptography(b)...)
}

// The figures hold, by and large: twice as much is a parser that has become costly.
func TestWeights(t *testing.T) { //nolint:paralleltest // it measures the process
	if testing.Short() || weighttest.Race {
		t.Skip("it measures")
	}
	const most = 2
	weighttest.Test(t, most, parsing(t)...)
	weighttest.Test(t, most, cryptography(t)...)
}
