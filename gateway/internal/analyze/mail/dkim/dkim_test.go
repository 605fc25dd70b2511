package dkim

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"math/big"
	"strings"
	"testing"

	"diagnostics/gateway/internal/analyze/mail/mailtest"

	"github.com/google/go-cmp/cmp"
)

// modulus makes a number of so many bits. It need not be a product of primes: nothing here computes with it.
func modulus(bits int) *rsa.PublicKey {
	n := new(big.Int).Lsh(big.NewInt(1), uint(bits-1))
	return &rsa.PublicKey{N: n.SetBit(n, 0, 1), E: 65537}
}

func spki(t *testing.T, key any) string {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(der)
}

func TestRead(t *testing.T) {
	t.Parallel()
	good := spki(t, modulus(2048))
	bare := base64.StdEncoding.EncodeToString(x509.MarshalPKCS1PublicKey(modulus(2048)))
	edPublic, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ed := base64.StdEncoding.EncodeToString(edPublic)
	folded := good[:70] + " \t" + good[70:]
	for name, c := range map[string]struct {
		txt     []string
		found   bool
		kind    string
		bits    int
		revoked bool
		want    []string
	}{
		"none":                     {},
		"rsa 2048":                 {txt: []string{"v=DKIM1; k=rsa; p=" + good}, found: true, kind: "rsa", bits: 2048},
		"without version and type": {txt: []string{"p=" + good}, found: true, kind: "rsa", bits: 2048},
		"bare rsa key":             {txt: []string{"v=DKIM1; p=" + bare}, found: true, kind: "rsa", bits: 2048},
		"folded":                   {txt: []string{"v=DKIM1; p=" + folded + ";"}, found: true, kind: "rsa", bits: 2048},
		"without padding":          {txt: []string{"v=DKIM1; k=ed25519; p=" + strings.TrimRight(ed, "=")}, found: true, kind: "ed25519", bits: 256, want: []string{"DKIM_ED25519"}},
		"rsa 1023":                 {txt: []string{"p=" + spki(t, modulus(1023))}, found: true, kind: "rsa", bits: 1023, want: []string{"DKIM_KEY_TOO_SHORT"}},
		"rsa 1024":                 {txt: []string{"p=" + spki(t, modulus(1024))}, found: true, kind: "rsa", bits: 1024, want: []string{"DKIM_KEY_SHORT"}},
		"rsa 2047":                 {txt: []string{"p=" + spki(t, modulus(2047))}, found: true, kind: "rsa", bits: 2047, want: []string{"DKIM_KEY_SHORT"}},
		"rsa 4096":                 {txt: []string{"p=" + spki(t, modulus(4096))}, found: true, kind: "rsa", bits: 4096},
		"rsa 4097":                 {txt: []string{"p=" + spki(t, modulus(4097))}, found: true, kind: "rsa", bits: 4097, want: []string{"DKIM_KEY_LONG"}},
		"ed25519":                  {txt: []string{"v=DKIM1; k=ed25519; p=" + ed}, found: true, kind: "ed25519", bits: 256, want: []string{"DKIM_ED25519"}},
		"ed25519 wrapped":          {txt: []string{"v=DKIM1; k=ed25519; p=" + spki(t, edPublic)}, found: true, kind: "ed25519", want: []string{"DKIM_ED25519_KEY_INVALID"}},
		"ed25519 called rsa":       {txt: []string{"v=DKIM1; k=rsa; p=" + spki(t, edPublic)}, found: true, kind: "rsa", want: []string{"DKIM_KEY_INVALID"}},
		"unknown type":             {txt: []string{"v=DKIM1; k=dsa; p=" + good}, found: true, kind: "dsa", want: []string{"DKIM_KEY_TYPE"}},
		"revoked":                  {txt: []string{"v=DKIM1; p="}, found: true, kind: "rsa", revoked: true, want: []string{"DKIM_KEY_REVOKED"}},
		"no p":                     {txt: []string{"v=DKIM1; k=rsa"}, found: true, kind: "rsa", want: []string{"DKIM_KEY_ABSENT"}},
		"broken base64":            {txt: []string{"v=DKIM1; p=" + good[:40] + "*"}, found: true, kind: "rsa", want: []string{"DKIM_KEY_INVALID"}},
		"cut off":                  {txt: []string{"v=DKIM1; p=" + good[:200]}, found: true, kind: "rsa", want: []string{"DKIM_KEY_INVALID"}},
		"version 2":                {txt: []string{"v=DKIM2; p=" + good}, found: true, kind: "rsa", bits: 2048, want: []string{"DKIM_VERSION"}},
		"version in lower case":    {txt: []string{"v=dkim1; p=" + good}, found: true, kind: "rsa", bits: 2048, want: []string{"DKIM_VERSION"}},
		"version not first":        {txt: []string{"k=rsa; v=DKIM1; p=" + good}, found: true, kind: "rsa", bits: 2048, want: []string{"DKIM_VERSION"}},
		"backslashes":              {txt: []string{`v=DKIM1; k=rsa\; p=` + good}, found: true, kind: `rsa\`, want: []string{"DKIM_KEY_TYPE", "DKIM_SYNTAX"}},
		"nonsense":                 {txt: []string{"v=DKIM1; nonsense; p=" + good}, found: true, kind: "rsa", bits: 2048, want: []string{"DKIM_SYNTAX"}},
		"a tag twice":              {txt: []string{"v=DKIM1; k=rsa; k=rsa; p=" + good}, found: true, kind: "rsa", bits: 2048, want: []string{"DKIM_TAG_TWICE"}},
		"sha1 only":                {txt: []string{"v=DKIM1; h=sha1; p=" + good}, found: true, kind: "rsa", bits: 2048, want: []string{"DKIM_HASH"}},
		"sha1 and sha256":          {txt: []string{"v=DKIM1; h=sha1 : SHA256; p=" + good}, found: true, kind: "rsa", bits: 2048},
		"another service":          {txt: []string{"v=DKIM1; s=tlsrpt; p=" + good}, found: true, kind: "rsa", bits: 2048, want: []string{"DKIM_SERVICE_TYPE"}},
		"service email":            {txt: []string{"v=DKIM1; s=x:email; p=" + good}, found: true, kind: "rsa", bits: 2048},
		"testing":                  {txt: []string{"v=DKIM1; t=y; p=" + good}, found: true, kind: "rsa", bits: 2048, want: []string{"DKIM_TEST_MODE"}},
		"testing and strict":       {txt: []string{"v=DKIM1; t=s:y; p=" + good}, found: true, kind: "rsa", bits: 2048, want: []string{"DKIM_STRICT_DOMAIN", "DKIM_TEST_MODE"}},
		"granularity":              {txt: []string{"v=DKIM1; g=joe; p=" + good}, found: true, kind: "rsa", bits: 2048, want: []string{"DKIM_TAG_RETIRED"}},
		"several":                  {txt: []string{"v=DKIM1; p=" + good, "p=" + bare}, found: true, want: []string{"DKIM_SEVERAL_RECORDS"}},
		"another text beside":      {txt: []string{"v=DKIM1; p=" + good, "hello"}, found: true, kind: "rsa", bits: 2048, want: []string{"DKIM_EXTRA_RECORDS"}},
		"only another text":        {txt: []string{"v=spf1 -all"}, want: []string{"DKIM_NOT_A_KEY"}},
	} {
		r := Read(c.txt)
		if diff := cmp.Diff(append([]string{}, c.want...), mailtest.Codes(r.Issues)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if r.Found != c.found || r.KeyType != c.kind || r.KeyBits != c.bits || r.Revoked != c.revoked {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
