package tlsscan

import (
	"bytes"
	"encoding/hex"
	"testing"
)

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
