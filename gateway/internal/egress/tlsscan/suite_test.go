package tlsscan

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/mlkem"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"diagnostics/shared/skiptest"
)

func TestRegistry(t *testing.T) {
	t.Parallel()
	if !slices.IsSortedFunc(registry, func(a, b registered) int { return cmp.Or(cmp.Compare(a.id, b.id), 1) }) {
		t.Error("the registry is not sorted, or a number stands in it twice")
	}
	names := map[string]bool{}
	exchanges := map[string]bool{}
	authentications := map[string]bool{}
	for _, s := range suites {
		if names[s.Name] {
			t.Errorf("%s stands in it twice", s.Name)
		}
		names[s.Name] = true
		exchanges[s.KeyExchange], authentications[s.Authentication] = true, true
	}
	// What is read off a name that is not understood would be another word.
	known := []string{"(EC)DHE", "CECPQ1", "DH", "DHE", "DHE_PSK", "ECCPWD", "ECDH", "ECDHE", "ECDHE_PSK", "GOST", "KEA",
		"KRB5", "NULL", "PSK", "RSA", "RSA_PSK", "SRP"}
	for word := range exchanges {
		if !slices.Contains(known, word) {
			t.Errorf("a key exchange %q", word)
		}
	}
	known = []string{"", "DSS", "ECCPWD", "ECDSA", "GOST", "KRB5", "PSK", "RSA", "SRP", "anon"}
	for word := range authentications {
		if !slices.Contains(known, word) {
			t.Errorf("an authentication %q", word)
		}
	}
}

func TestSuiteByID(t *testing.T) {
	t.Parallel()
	for _, want := range []Suite{
		{0x0000, "TLS_NULL_WITH_NULL_NULL", "", "NULL", "anon", 0, Insecure},
		{0x0001, "TLS_RSA_WITH_NULL_MD5", "NULL-MD5", "RSA", "RSA", 0, Insecure},
		{0x0003, "TLS_RSA_EXPORT_WITH_RC4_40_MD5", "EXP-RC4-MD5", "RSA", "RSA", 40, Insecure},
		{0x0005, "TLS_RSA_WITH_RC4_128_SHA", "RC4-SHA", "RSA", "RSA", 128, Insecure},
		{0x0006, "TLS_RSA_EXPORT_WITH_RC2_CBC_40_MD5", "EXP-RC2-CBC-MD5", "RSA", "RSA", 40, Insecure},
		{0x0007, "TLS_RSA_WITH_IDEA_CBC_SHA", "IDEA-CBC-SHA", "RSA", "RSA", 128, Weak},
		{0x0009, "TLS_RSA_WITH_DES_CBC_SHA", "DES-CBC-SHA", "RSA", "RSA", 56, Insecure},
		{0x000A, "TLS_RSA_WITH_3DES_EDE_CBC_SHA", "DES-CBC3-SHA", "RSA", "RSA", 112, Insecure},
		{0x000B, "TLS_DH_DSS_EXPORT_WITH_DES40_CBC_SHA", "EXP-DH-DSS-DES-CBC-SHA", "DH", "DSS", 40, Insecure},
		{0x0014, "TLS_DHE_RSA_EXPORT_WITH_DES40_CBC_SHA", "EXP-EDH-RSA-DES-CBC-SHA", "DHE", "RSA", 40, Insecure},
		{0x001B, "TLS_DH_anon_WITH_3DES_EDE_CBC_SHA", "ADH-DES-CBC3-SHA", "DHE", "anon", 112, Insecure},
		{0x001D, "SSL_FORTEZZA_KEA_WITH_FORTEZZA_CBC_SHA", "", "KEA", "DSS", 80, Weak},
		{0x0026, "TLS_KRB5_EXPORT_WITH_DES_CBC_40_SHA", "EXP-KRB5-DES-CBC-SHA", "KRB5", "KRB5", 40, Insecure},
		{0x0033, "TLS_DHE_RSA_WITH_AES_128_CBC_SHA", "DHE-RSA-AES128-SHA", "DHE", "RSA", 128, Weak},
		{0x0061, "TLS_RSA_EXPORT1024_WITH_RC2_56_MD5", "EXP1024-RC2-CBC-MD5", "RSA", "RSA", 56, Insecure},
		{0x0063, "TLS_DHE_DSS_EXPORT1024_WITH_DES_CBC_SHA", "EXP1024-DHE-DSS-DES-CBC-SHA", "DHE", "DSS", 56, Insecure},
		{0x0081, "TLS_GOSTR341001_WITH_28147_CNT_IMIT", "GOST2001-GOST89-GOST89", "GOST", "GOST", 256, Weak},
		{0x0083, "TLS_GOSTR341001_WITH_NULL_GOSTR3411", "GOST2001-NULL-GOST94", "GOST", "GOST", 0, Insecure},
		{0x0095, "TLS_RSA_PSK_WITH_AES_256_CBC_SHA", "RSA-PSK-AES256-CBC-SHA", "RSA_PSK", "RSA", 256, Weak},
		{0x0096, "TLS_RSA_WITH_SEED_CBC_SHA", "SEED-SHA", "RSA", "RSA", 128, Weak},
		{0x009C, "TLS_RSA_WITH_AES_128_GCM_SHA256", "AES128-GCM-SHA256", "RSA", "RSA", 128, Weak},
		{0x009F, "TLS_DHE_RSA_WITH_AES_256_GCM_SHA384", "DHE-RSA-AES256-GCM-SHA384", "DHE", "RSA", 256, Strong},
		{0x00A6, "TLS_DH_anon_WITH_AES_128_GCM_SHA256", "ADH-AES128-GCM-SHA256", "DHE", "anon", 128, Insecure},
		{0x00A8, "TLS_PSK_WITH_AES_128_GCM_SHA256", "PSK-AES128-GCM-SHA256", "PSK", "PSK", 128, Weak},
		{0x00C6, "TLS_SM4_GCM_SM3", "TLS_SM4_GCM_SM3", "(EC)DHE", "", 128, Strong},
		{0x1301, "TLS_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256", "(EC)DHE", "", 128, Strong},
		{0x1306, "TLS_AEGIS_256_SHA512", "", "(EC)DHE", "", 256, Strong},
		{0xC00F, "TLS_ECDH_RSA_WITH_AES_256_CBC_SHA", "ECDH-RSA-AES256-SHA", "ECDH", "RSA", 256, Weak},
		{0xC017, "TLS_ECDH_anon_WITH_3DES_EDE_CBC_SHA", "AECDH-DES-CBC3-SHA", "ECDHE", "anon", 112, Insecure},
		{0xC022, "TLS_SRP_SHA_DSS_WITH_AES_256_CBC_SHA", "SRP-DSS-AES-256-CBC-SHA", "SRP", "DSS", 256, Weak},
		{0xC02B, "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE", "ECDSA", 128, Strong},
		{0xC0AA, "TLS_PSK_DHE_WITH_AES_128_CCM_8", "DHE-PSK-AES128-CCM8", "DHE_PSK", "PSK", 128, Strong},
		{0xC0B1, "TLS_ECCPWD_WITH_AES_256_GCM_SHA384", "", "ECCPWD", "ECCPWD", 256, Strong},
		{0xC0B4, "TLS_SHA256_SHA256", "TLS_SHA256_SHA256", "(EC)DHE", "", 0, Insecure},
		{0xC103, "TLS_GOSTR341112_256_WITH_KUZNYECHIK_MGM_L", "", "(EC)DHE", "", 256, Strong},
		{0xCC13, "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256_OLD", "ECDHE-RSA-CHACHA20-POLY1305-OLD", "ECDHE", "RSA", 256, Strong},
		{0xFEFF, "SSL_RSA_FIPS_WITH_3DES_EDE_CBC_SHA", "", "RSA", "RSA", 112, Insecure},
	} {
		if got, ok := SuiteByID(want.ID); !ok || got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	for _, id := range []uint16{0x00FF, 0x5600, 0x1234, 0xFFFF} {
		if got, ok := SuiteByID(id); ok || got.ID != id || !strings.HasPrefix(got.Name, "0x") {
			t.Errorf("%+v, %v", got, ok)
		}
	}
}

// What Go names too has the same name.
func TestNamesOfGo(t *testing.T) {
	t.Parallel()
	for _, suite := range slices.Concat(tls.CipherSuites(), tls.InsecureCipherSuites()) {
		if got, _ := SuiteByID(suite.ID); got.Name != suite.Name {
			t.Errorf("%q is Go's %q", got.Name, suite.Name)
		}
	}
}

// What OpenSSL has is as OpenSSL lists it: both names, the exchange, the authentication and the bits.
func TestNamesOfOpenSSL(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "openssl", "ciphers", "-V", "-stdname",
		"ALL:COMPLEMENTOFALL:@SECLEVEL=0").Output()
	if err != nil {
		skiptest.Skip(t, err)
	}
	line := regexp.MustCompile(`^\s*0x(..),0x(..) - (\S+)\s+- (\S+)\s+\S+\s+Kx=(\S+)\s+Au=(\S+)\s+Enc=[\w/]+(?:\((\d+)\))?`)
	seen := 0
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); seen++ {
		m := line.FindStringSubmatch(lines.Text())
		if m == nil {
			t.Fatalf("not understood: %s", lines.Text())
		}
		id, _ := strconv.ParseUint(m[1]+m[2], 16, 16)
		got, ok := SuiteByID(uint16(id))
		bits, _ := strconv.Atoi(m[7])
		if bits == 168 { // of which OpenSSL counts 112 (SSL_CIPHER_get_bits)
			bits = 112
		}
		exchange := map[string]string{"any": "(EC)DHE", "DH": "DHE", "ECDH": "ECDHE", "DHEPSK": "DHE_PSK",
			"ECDHEPSK": "ECDHE_PSK", "RSAPSK": "RSA_PSK"}
		authentication := map[string]string{"any": "", "None": "anon"}
		want := Suite{
			ID: uint16(id), Name: m[3], OpenSSL: m[4], KeyExchange: cmp.Or(exchange[m[5]], m[5]), Bits: bits,
			Strength: got.Strength,
		}
		if word, other := authentication[m[6]]; other {
			want.Authentication = word
		} else {
			want.Authentication = m[6]
		}
		if !ok || got != want {
			t.Errorf("%+v, OpenSSL says %+v", got, want)
		}
	}
	if seen < 100 {
		t.Errorf("OpenSSL has only %d suites", seen)
	}
}

func TestGroupName(t *testing.T) {
	t.Parallel()
	for id, want := range map[uint16]string{
		23: "secp256r1", 29: "x25519", 30: "x448", 26: "brainpoolP256r1", 31: "brainpoolP256r1tls13", 256: "ffdhe2048",
		260: "ffdhe8192", 4588: "X25519MLKEM768", 512: "MLKEM512", 0x6399: "X25519Kyber768Draft00", 0x1234: "0x1234",
		0: "0x0000",
	} {
		if got := GroupName(id); got != want {
			t.Errorf("%d is %q, want %q", id, got, want)
		}
	}
	numbers, names := map[uint16]bool{}, map[string]bool{}
	for _, g := range groups {
		if numbers[g.id] || names[g.name] {
			t.Errorf("%s stands there twice", g.name)
		}
		numbers[g.id], names[g.name] = true, true
	}
	for _, id := range slices.Concat(agreeable, commonGroups) {
		if !numbers[id] {
			t.Errorf("the group %d is not known", id)
		}
	}
}

func TestVersionString(t *testing.T) {
	t.Parallel()
	for v, want := range map[Version]string{
		SSL30: "SSLv3", TLS10: "TLSv1.0", TLS11: "TLSv1.1", TLS12: "TLSv1.2", TLS13: "TLSv1.3", 0x0305: "0x0305",
		0x02FF: "0x02FF",
	} {
		if got := v.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Both ends come to the same secret; crypto/tls holds the other groups (TestReadHandshake).
func TestEncapsulation(t *testing.T) {
	t.Parallel()
	for group, encapsulate := range map[uint16]func([]byte) (secret, sealed []byte, err error){
		groupMLKEM768: func(key []byte) ([]byte, []byte, error) {
			public, err := mlkem.NewEncapsulationKey768(key)
			if err != nil {
				return nil, nil, err
			}
			secret, sealed := public.Encapsulate()
			return secret, sealed, nil
		},
		groupMLKEM1024: func(key []byte) ([]byte, []byte, error) {
			public, err := mlkem.NewEncapsulationKey1024(key)
			if err != nil {
				return nil, nil, err
			}
			secret, sealed := public.Encapsulate()
			return secret, sealed, nil
		},
	} {
		ours, err := newAgreement(group)
		if err != nil {
			t.Fatal(err)
		}
		want, sealed, err := encapsulate(ours.share.data)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ours.finish(sealed); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %x, want %x, %v", GroupName(group), got, want, err)
		}
	}
}

// A server's half of a wrong length is malformed, whatever the group.
func TestWrongShares(t *testing.T) {
	t.Parallel()
	for _, group := range agreeable {
		ours, err := newAgreement(group)
		if err != nil || ours.share.group != group {
			t.Fatal(err)
		}
		for _, size := range []int{0, 1, 31, 65, 1600, 5000} {
			if secret, err := ours.finish(make([]byte, size)); !errors.Is(err, ErrMalformed) {
				t.Errorf("%s, %d octets: %x, %v", GroupName(group), size, secret, err)
			}
		}
	}
	if _, err := newAgreement(30); !errors.Is(err, ErrNotOffered) {
		t.Errorf("x448: %v", err)
	}
}

// The third vector of NIST SP 800-38C (appendix C.3) has a nonce of 12 octets and a tag of 8; what was changed on the
// way is not opened. OpenSSL's servers hold the tag of 16.
func TestCCM(t *testing.T) {
	t.Parallel()
	unhex := func(s string) []byte {
		b, err := hex.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	aead, err := newCCM(unhex("404142434445464748494a4b4c4d4e4f"), 8)
	if err != nil {
		t.Fatal(err)
	}
	nonce, extra := unhex("101112131415161718191a1b"), unhex("000102030405060708090a0b0c0d0e0f10111213")
	sealed := unhex("e3b201a9f5b71a7a9b1ceaeccd97e70b6176aad9a4428aa5484392fbc1b09951")
	plain := unhex("202122232425262728292a2b2c2d2e2f3031323334353637")
	if got, err := aead.Open(nil, nonce, sealed, extra); err != nil || !bytes.Equal(got, plain) {
		t.Errorf("%x, %v", got, err)
	}
	for i := range sealed {
		changed := bytes.Clone(sealed)
		changed[i] ^= 1
		if _, err := aead.Open(nil, nonce, changed, extra); err == nil {
			t.Errorf("octet %d can be changed", i)
		}
	}
	for n := range 8 {
		if _, err := aead.Open(nil, nonce, sealed[:n], extra); err == nil {
			t.Errorf("%d octets are opened", n)
		}
	}
}
