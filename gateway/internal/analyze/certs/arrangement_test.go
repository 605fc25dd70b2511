package certs_test

import (
	"crypto/x509"
	"slices"
	"testing"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/analyze/certs/certtest"

	"github.com/google/go-cmp/cmp"
)

// TestArrangement tells repeats, order, roots, strangers and wrong intermediates apart.
func TestArrangement(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "Root")
	first := certtest.Intermediate(t, root, "First")
	second := certtest.Intermediate(t, first, "Second")
	leaf := certtest.Leaf(t, second, hosts)
	old := certtest.Root(t, "Old Root")
	rootByOld := certtest.CrossSign(t, old, root)
	other := certtest.Root(t, "Other Root")
	otherInter := certtest.Intermediate(t, other, "Other Intermediate")
	otherLeaf := certtest.Leaf(t, other, []string{"other.example.com"})
	rekeyed := certtest.Intermediate(t, first, "Second")
	self := certtest.Leaf(t, nil, hosts)
	direct := certtest.Leaf(t, root, hosts)

	type told struct {
		Repeated, OutOfOrder, Root bool
		Foreign, Wrong             []string
	}
	for _, c := range []struct {
		name string
		sent []*certtest.Cert
		want told
	}{
		{"as it should be", []*certtest.Cert{leaf, second, first}, told{}},
		{"the root too", []*certtest.Cert{leaf, second, first, root}, told{Root: true}},
		{"cross-signed root", []*certtest.Cert{leaf, second, first, rootByOld}, told{}},
		{"cross-signed root and both roots", []*certtest.Cert{leaf, second, first, rootByOld, old, root}, told{Root: true}},
		{"the other way round", []*certtest.Cert{leaf, first, second}, told{OutOfOrder: true}},
		{"root before the others", []*certtest.Cert{leaf, root, second, first}, told{OutOfOrder: true, Root: true}},
		{"one repeated", []*certtest.Cert{leaf, second, first, second}, told{Repeated: true}},
		{"the leaf repeated", []*certtest.Cert{leaf, leaf, second, first}, told{Repeated: true}},
		{"a stranger", []*certtest.Cert{leaf, second, first, otherInter}, told{Foreign: []string{"Other Intermediate"}}},
		{"a stranger between", []*certtest.Cert{leaf, otherInter, second, first}, told{Foreign: []string{"Other Intermediate"}}},
		{"strange roots", []*certtest.Cert{leaf, second, first, other}, told{Foreign: []string{"Other Root"}}},
		{"another server's", []*certtest.Cert{leaf, second, first, otherLeaf}, told{Foreign: []string{"other.example.com"}}},
		{"its issuer's namesake", []*certtest.Cert{leaf, rekeyed, second, first}, told{Foreign: []string{"Second"}}},
		{"everything", []*certtest.Cert{leaf, first, second, root, other, second},
			told{Repeated: true, OutOfOrder: true, Root: true, Foreign: []string{"Other Root"}}},
		{"alone", []*certtest.Cert{leaf}, told{}},
		{"issued by the root, which came", []*certtest.Cert{direct, root}, told{Root: true}},
		{"issued by the root, a stranger came", []*certtest.Cert{direct, first}, told{Foreign: []string{"First"}}},
		{"missing intermediate, root sent", []*certtest.Cert{leaf, root}, told{}},
		{"missing intermediate, another server's", []*certtest.Cert{leaf, otherLeaf}, told{}},
		{"wrong intermediate", []*certtest.Cert{leaf, otherInter}, told{Wrong: []string{"Other Intermediate"}}},
		{"wrong intermediate twice", []*certtest.Cert{leaf, otherInter, otherInter},
			told{Repeated: true, Wrong: []string{"Other Intermediate"}}},
		{"the one above alone", []*certtest.Cert{leaf, first, root}, told{Wrong: []string{"First"}}},
		{"a gap above, and who knows", []*certtest.Cert{certtest.Leaf(t, otherInter, hosts), otherInter, first}, told{}},
		{"an untrusted root that came", []*certtest.Cert{certtest.Leaf(t, otherInter, hosts), otherInter, other}, told{}},
		{"self-signed", []*certtest.Cert{self}, told{}},
		{"self-signed, with others", []*certtest.Cert{self, first, root}, told{Foreign: []string{"First", "Root"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := judge(root, c.sent...).Sent
			have := told{got.Repeated, got.OutOfOrder, got.Root, subjects(got.Foreign), subjects(got.Wrong)}
			if d := cmp.Diff(c.want, have); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func subjects(certs []*x509.Certificate) (names []string) {
	for _, cert := range certs {
		names = append(names, cert.Subject.CommonName)
	}
	return names
}

// TestArrangementOfTooMany: past what is judged nobody is a stranger, and nothing costs more.
func TestArrangementOfTooMany(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "Root")
	inter := certtest.Intermediate(t, root, "Intermediate")
	stranger := certtest.Root(t, "Stranger")
	sent := []*certtest.Cert{certtest.Leaf(t, inter, hosts), inter}
	for len(sent) < certs.MaxCertificates {
		sent = append(sent, certtest.Root(t, "Other "+string(rune('a'+len(sent)))))
	}
	if v := judge(root, sent...); len(v.Sent.Foreign) != certs.MaxCertificates-2 {
		t.Errorf("%d strangers", len(v.Sent.Foreign))
	}
	if v := judge(root, append(slices.Clone(sent), stranger)...); v.Sent.Foreign != nil || !v.Cut {
		t.Errorf("cut: %d strangers", len(v.Sent.Foreign))
	}
	// Repeats past the tenth are not looked for.
	if v := judge(root, append(slices.Clone(sent), inter)...); v.Sent.Repeated {
		t.Error("repeated")
	}
}

// TestPublic: the last of the chain decides, and only where the chain leads there.
func TestPublic(t *testing.T) {
	t.Parallel()
	root, private := certtest.Root(t, "Public Root"), certtest.Root(t, "Private Root")
	c := certs.Checker{Roots: certtest.Pool(root, private), Now: epoch, Public: root.Equal}
	for name, test := range map[string]struct {
		sent   []*certtest.Cert
		public bool
	}{
		"public":        {[]*certtest.Cert{certtest.Leaf(t, root, hosts)}, true},
		"expired":       {[]*certtest.Cert{certtest.Leaf(t, root, hosts, past)}, true},
		"private":       {[]*certtest.Cert{certtest.Leaf(t, private, hosts)}, false},
		"self-signed":   {[]*certtest.Cert{certtest.Leaf(t, nil, hosts), root}, false},
		"leads nowhere": {[]*certtest.Cert{certtest.Leaf(t, certtest.Root(t, "Other"), hosts)}, false},
	} {
		if v := c.Check(certtest.List(test.sent...), host, certs.Signing); v.Public != test.public {
			t.Errorf("%s: %v", name, v.Public)
		}
	}
	if v := judge(private, certtest.Leaf(t, private, hosts)); v.Public {
		t.Error("a root that nobody knows is in the built-in list")
	}
}
