package certs

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// Where the roots of a TrustStore come from.
const (
	// SourceSystem is the host's own store.
	SourceSystem = "system"
	// SourceOperator is what SSL_CERT_FILE or SSL_CERT_DIR name.
	SourceOperator = "operator"
	// SourcePackage is Mozilla's list, which the Go project keeps up to date, as it is built in: for a container, and
	// any host without a store.
	SourcePackage = "golang.org/x/crypto/x509roots/fallback"
)

// TrustStore describes the roots that certificates are judged by.
type TrustStore struct {
	// Source is one of the sources, or SourceOperator and one of the others, joined by a comma and a space.
	Source string `json:"source"`
	// Date is the day of the built-in list ("2026-05-01"), nil where that is not used: other stores have none.
	Date *string `json:"date"`
	// Roots is how many certificates there are.
	Roots int `json:"roots"`
}

// Store describes what the checker trusts.
func (c Checker) Store() TrustStore { return c.trusting().Trust }

// trusting is the checker with the built-in roots where it has none.
func (c Checker) trusting() Checker {
	if c.Roots == nil {
		built := Trusting(builtIn().pool, []string{SourcePackage})
		c.Roots, c.Trust = built.Roots, built.Trust
		if c.constraint == nil {
			c.constraint = built.constraint
		}
	}
	return c
}

// Trusting returns a checker that trusts the roots of a host, which come from the sources. The built-in list takes
// their place where there are none, and completes them where the operator added roots to a store that is not there:
// an image without a store trusts the same with and without roots of the operator.
func Trusting(own *x509.CertPool, sources []string) Checker {
	list := builtIn()
	switch {
	case own.Equal(x509.NewCertPool()), own.Equal(list.pool):
		own, sources = list.pool, []string{SourcePackage}
	case slices.Contains(sources, SourcePackage):
		own = own.Clone()
		list.addTo(own)
	}
	c := Checker{Roots: own, Trust: TrustStore{Source: strings.Join(sources, ", "), Roots: count(own)}}
	if slices.Contains(sources, SourcePackage) {
		c.Trust.Date, c.constraint = rootsDate(), list.constrain
	}
	return c
}

// count is how many certificates a pool has, where it is not that of a system that keeps them to itself.
func count(pool *x509.CertPool) int {
	return len(pool.Subjects()) //nolint:staticcheck // on Linux it has all of them, and nothing else says how many
}

// rootList is the built-in list. constraints are what Mozilla says of a root besides, by the root's own bytes: some are
// trusted for older certificates alone.
type rootList struct {
	roots       []*x509.Certificate
	pool        *x509.CertPool
	keys        map[[sha256.Size]byte]bool
	constraints map[string]func([]*x509.Certificate) error
}

var builtIn = sync.OnceValue(func() rootList {
	list := rootList{
		pool: x509.NewCertPool(), keys: map[[sha256.Size]byte]bool{},
		constraints: map[string]func([]*x509.Certificate) error{},
	}
	for root := range bundle.Roots() {
		cert, err := x509.ParseCertificate(root.Certificate)
		if err != nil {
			continue // TestTheBuiltInList checks that there is none
		}
		list.roots = append(list.roots, cert)
		list.keys[identity(cert)] = true
		if root.Constraint != nil {
			list.constraints[string(cert.Raw)] = root.Constraint
		}
	}
	list.addTo(list.pool)
	return list
})

// addTo adds the roots without their constraints, which verify applies: a pool would require those of the
// copies that it verifies.
func (l rootList) addTo(pool *x509.CertPool) {
	for _, root := range l.roots {
		pool.AddCert(root)
	}
}

// constrain returns why the root of a chain is not trusted for it, or nil.
func (l rootList) constrain(chain []*x509.Certificate) error {
	constraint := l.constraints[string(chain[len(chain)-1].Raw)]
	if constraint == nil {
		return nil
	}
	return constraint(chain)
}

// publicRoot reports whether the certificate is that of an authority which browsers trust, in whatever form: stores
// hold older and newer certificates of one authority.
func publicRoot(cert *x509.Certificate) bool { return builtIn().keys[identity(cert)] }

// identity is the hash of an authority's name and key.
func identity(cert *x509.Certificate) [sha256.Size]byte {
	return sha256.Sum256(bytes.Join([][]byte{cert.RawSubject, cert.RawSubjectPublicKeyInfo}, nil))
}

// rootsDate is the day of the list's version, as this binary was built with it; nil where it does not say.
func rootsDate() *string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == SourcePackage {
				return versionDay(module.Version)
			}
		}
	}
	return nil
}

// versionDay is the day of a pseudo-version, such as v0.0.0-20260501120000-0123456789ab.
func versionDay(version string) *string {
	parts := strings.Split(version, "-")
	if len(parts) < 3 {
		return nil
	}
	stamp := parts[len(parts)-2]
	at, err := time.Parse("20060102150405", stamp[strings.LastIndexByte(stamp, '.')+1:])
	if err != nil {
		return nil
	}
	return new(at.Format(time.DateOnly))
}
