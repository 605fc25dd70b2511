package certs

import (
	"crypto/x509"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/analyze/certs/certtest"
	"diagnostics/gateway/internal/fault"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

func TestTrusting(t *testing.T) {
	t.Parallel()
	one := certtest.Root(t, "Own")
	all := 0
	for range bundle.Roots() {
		all++
	}
	for _, c := range []struct {
		name    string
		own     *x509.CertPool
		sources []string
		want    string
		roots   int
		own1    bool
	}{
		{"a system's", certtest.Pool(one), []string{SourceSystem}, "system", 1, true},
		{"the operator's alone", certtest.Pool(one), []string{SourceOperator}, "operator", 1, true},
		{"the operator's in an image", certtest.Pool(one), []string{SourceOperator, SourcePackage},
			"operator, " + SourcePackage, all + 1, true},
		{"none", x509.NewCertPool(), []string{SourceSystem}, SourcePackage, all, false},
		{"the operator's, and none in them", x509.NewCertPool(), []string{SourceOperator}, SourcePackage, all, false},
		{"the list that Go falls back on", builtIn().pool.Clone(), []string{SourcePackage}, SourcePackage, all, false},
	} {
		before := c.own.Clone()
		got := Trusting(c.own, c.sources)
		if got.Trust.Source != c.want || got.Trust.Roots != c.roots {
			t.Errorf("%s: %+v", c.name, got.Trust)
		}
		if dated := got.Trust.Date != nil; dated && !strings.Contains(c.want, SourcePackage) {
			t.Errorf("%s: dated %s", c.name, *got.Trust.Date)
		}
		with := got.Roots.Clone()
		with.AddCert(one.Certificate)
		if with.Equal(got.Roots) != c.own1 {
			t.Errorf("%s: whether the own root is trusted is not %v", c.name, c.own1)
		}
		if !c.own.Equal(before) {
			t.Errorf("%s: what was found has been changed", c.name)
		}
	}
}

// Every root of the list can be read, and is public in any form that a store may have of it.
func TestTheBuiltInList(t *testing.T) {
	t.Parallel()
	list := builtIn()
	all := 0
	for range bundle.Roots() {
		all++
	}
	if all < 100 || len(list.roots) != all || count(list.pool) != all {
		t.Errorf("%d of %d roots", len(list.roots), all)
	}
	for _, root := range list.roots {
		renewed := *root
		renewed.Raw, renewed.NotAfter = []byte("renewed"), time.Now().AddDate(30, 0, 0)
		if !publicRoot(&renewed) {
			t.Errorf("%s is not public", root.Subject)
		}
	}
	// The name alone does not make a root one of them.
	impostor := certtest.Root(t, "Impostor", func(c *x509.Certificate) { c.RawSubject = list.roots[0].RawSubject })
	if publicRoot(impostor.Certificate) {
		t.Error("a name with another key is public")
	}
}

// A root that is trusted for older certificates alone refuses newer ones, whatever else there is to try.
func TestConstrainedRoots(t *testing.T) {
	t.Parallel()
	list := builtIn()
	for _, root := range list.roots {
		is := list.constraints[string(root.Raw)] != nil
		today := []*x509.Certificate{{NotBefore: time.Now()}, root}
		if err := list.constrain(today); (err != nil) != is {
			t.Errorf("%s: %v, constrained %v", root.Subject, err, is)
		}
	}

	root := certtest.Root(t, "Distrusted Root")
	inter := certtest.Intermediate(t, root, "Intermediate")
	day := certtest.Epoch.AddDate(0, 0, -30)
	for _, c := range []struct {
		name  string
		until time.Time
		sent  []*certtest.Cert
		codes []string
	}{
		{"issued before", day, []*certtest.Cert{inter}, nil},
		{"issued after", day.Add(-time.Second), []*certtest.Cert{inter}, []string{CodeNoLocalIssuer}},
		{"issued after, root sent", day.Add(-time.Second), []*certtest.Cert{inter, root}, []string{CodeSelfSignedInChain}},
	} {
		checker := Checker{Roots: certtest.Pool(root), Now: func() time.Time { return certtest.Epoch }}
		checker.constraint = func(chain []*x509.Certificate) error {
			if chain[0].NotBefore.After(c.until) {
				return errors.New("distrusted")
			}
			return nil
		}
		leaf := certtest.Leaf(t, inter, []string{"www.example.com"})
		v := checker.Check(certtest.List(append([]*certtest.Cert{leaf}, c.sent...)...), "www.example.com", Signing)
		if !slices.Equal(v.Codes, c.codes) {
			t.Errorf("%s: %v, want %v", c.name, v.Codes, c.codes)
		}
	}
}

func TestVersionDay(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"v0.0.0-20260501120000-0123456789ab": "2026-05-01", "v1.2.4-0.20261231235959-0123456789ab": "2026-12-31",
		"v1.2.3-pre.0.20260501120000-0123456789ab": "2026-05-01", "v1.2.3": "", "(devel)": "", "": "",
		"v0.0.0-20261301120000-0123456789ab": "", "v1.2.3-pre-one": "",
	} {
		got := ""
		if day := versionDay(version); day != nil {
			got = *day
		}
		if got != want {
			t.Errorf("%s: %q, want %q", version, got, want)
		}
	}
}

func TestStoreOfAChecker(t *testing.T) {
	t.Parallel()
	given := TrustStore{Source: "lab", Roots: 1}
	if got := (Checker{Roots: x509.NewCertPool(), Trust: given}).Store(); got != given {
		t.Errorf("%+v", got)
	}
	if got := (Checker{}).Store(); got.Source == "" || got.Roots == 0 {
		t.Errorf("the default: %+v", got)
	}
}

// Every code has a clause in the catalogue of failures: sentences end with them.
func TestEveryCodeHasWords(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "certs.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	codes := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Code") &&
			!strings.HasPrefix(spec.Names[0].Name, "Defect") {
			return true
		}
		literal, ok := spec.Values[0].(*ast.BasicLit)
		if !ok {
			t.Fatalf("%s is no literal", spec.Names[0].Name)
		}
		code, err := strconv.Unquote(literal.Value)
		if err != nil {
			t.Fatal(err)
		}
		codes++
		if fault.Rows[code].Clause == "" {
			t.Errorf("%s has no words", code)
		}
		return true
	})
	if codes < len(Codes()) {
		t.Errorf("%d codes were found", codes)
	}
}
