package tlsa

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"testing"

	"diagnostics/gateway/internal/analyze/certs/certtest"
)

func TestMatches(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "Root")
	inter := certtest.Intermediate(t, root, "Intermediate")
	leaf, other := certtest.Leaf(t, inter, []string{"www.example.com"}), certtest.Leaf(t, inter, nil)
	data := func(cert *certtest.Cert, selector, matching uint8) string {
		octets := cert.Raw
		if selector == 1 {
			octets = cert.RawSubjectPublicKeyInfo
		}
		switch matching {
		case 1:
			sum := sha256.Sum256(octets)
			octets = sum[:]
		case 2:
			sum := sha512.Sum512(octets)
			octets = sum[:]
		}
		return hex.EncodeToString(octets)
	}
	for selector := range uint8(2) {
		for matching := range uint8(3) {
			for usage := range uint8(4) {
				for _, c := range []struct {
					of      *certtest.Cert
					trusted bool
					want    bool
				}{
					{leaf, true, usage == 1 || usage == 3}, {leaf, false, usage == 3},
					{inter, true, usage == 0 || usage == 2}, {inter, false, usage == 2},
					{other, true, false},
				} {
					r := Record{usage, selector, matching, data(c.of, selector, matching)}
					if got := r.Matches(certtest.List(leaf, inter), c.trusted); got != c.want {
						t.Errorf("%s for %s, trusted %t: %t", r.Params(), c.of.Subject, c.trusted, got)
					}
				}
			}
		}
	}
	chain := certtest.List(leaf, inter)
	for _, c := range []struct {
		record Record
		want   bool
	}{
		{Record{2, 0, 0, data(root, 0, 0)}, true}, // which was not sent
		{Record{2, 0, 1, data(root, 0, 1)}, false},
		{Record{0, 0, 0, data(root, 0, 0)}, false},
		{Record{2, 0, 0, data(certtest.Root(t, "Root"), 0, 0)}, false},
		{Record{4, 1, 1, data(leaf, 1, 1)}, false},
		{Record{3, 2, 1, data(leaf, 1, 1)}, false},
		{Record{3, 1, 3, data(leaf, 1, 1)}, false},
		{Record{3, 1, 1, ""}, false},
		{Record{3, 1, 1, "x"}, false},
	} {
		if got := c.record.Matches(chain, true); got != c.want {
			t.Errorf("%s: %t", c.record.Params(), got)
		}
	}
	if (Record{3, 1, 1, data(leaf, 1, 1)}).Matches(nil, true) {
		t.Error("nothing was sent")
	}
}
