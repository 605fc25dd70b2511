package certs

import (
	"crypto/x509"
	"os"
	"slices"
	"strings"
	"sync"
)

// Where the roots of a TrustStore come from.
const (
	// SourceSystem is this host's own store.
	SourceSystem = "system"
	// SourceOperator is what SSL_CERT_FILE or SSL_CERT_DIR name.
	SourceOperator = "operator"
	// SourcePackage is Mozilla's list, as it is built in: for a container, and any host without a store.
	SourcePackage = rootsModule
)

// TrustStore tells which roots certificates are judged by.
type TrustStore struct {
	// Source is one of the sources, or SourceOperator and one of the others, joined by a comma and a space.
	Source string `json:"source"`
	// Date is the day of the built-in list ("2026-05-01"), nil where that is not used: other stores tell none.
	Date *string `json:"date"`
	// Roots is how many certificates there are.
	Roots int `json:"roots"`
}

// Store tells what the checker trusts.
func (c Checker) Store() TrustStore { return c.trusted().store }

func (c Checker) trusted() loadedRoots {
	if c.Roots != nil {
		return loadedRoots{c.Roots, c.Trust, c.constraint}
	}
	loaded := defaultRoots()
	if c.constraint != nil {
		loaded.constraint = c.constraint
	}
	return loaded
}

// LoadRoots reads the roots of this host, which a process does once, at the first judgement that needs them. A service
// that has run out of files at that moment would judge by others from then on, so it reads them at its start.
func LoadRoots() { _ = defaultRoots() }

// Roots are what a Checker without roots of its own trusts, for whatever else this process verifies. Nobody may change
// them.
func Roots() *x509.CertPool { return defaultRoots().pool }

type loadedRoots struct {
	pool  *x509.CertPool
	store TrustStore
	// constraint tells what a root is not trusted for, nil where there is nothing.
	constraint func([]*x509.Certificate) error
}

var defaultRoots = sync.OnceValue(func() loadedRoots {
	own, err := x509.SystemCertPool()
	if err != nil {
		own = x509.NewCertPool()
	}
	return chooseRoots(own, storeSources(os.Getenv, exists))
})

// chooseRoots completes what Go found on this host by the built-in list: where it found nothing, and where the operator
// added roots to a store that is not there. An image without a store is so the same with and without roots of its own.
func chooseRoots(own *x509.CertPool, sources []string) loadedRoots {
	list := builtIn()
	switch {
	case own.Equal(x509.NewCertPool()), own.Equal(list.pool):
		own, sources = list.pool, []string{SourcePackage}
	case slices.Contains(sources, SourcePackage):
		own = own.Clone()
		list.addTo(own)
	}
	loaded := loadedRoots{pool: own, store: TrustStore{Source: strings.Join(sources, ", "), Roots: count(own)}}
	if slices.Contains(sources, SourcePackage) {
		loaded.store.Date, loaded.constraint = rootsDate(), list.constrain
	}
	return loaded
}

// Where Go looks for the roots of a host (crypto/x509, root_linux.go): SSL_CERT_FILE stands in place of the files, and
// SSL_CERT_DIR in place of the directories.
var (
	systemFiles = []string{
		"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
		"/etc/pki/tls/cacert.pem", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/cert.pem",
	}
	systemDirectories = []string{"/etc/ssl/certs", "/etc/pki/tls/certs"}
)

// storeSources tells where roots are looked for. What the operator names alone is alone; one of the two variables adds
// to what the other place has, or would have.
func storeSources(env func(string) string, exists func(string) bool) []string {
	file, dir := env("SSL_CERT_FILE") != "", env("SSL_CERT_DIR") != ""
	if file && dir {
		return []string{SourceOperator}
	}
	var sources []string
	places := slices.Concat(systemFiles, systemDirectories)
	if file {
		sources, places = append(sources, SourceOperator), systemDirectories
	}
	if dir {
		sources, places = append(sources, SourceOperator), systemFiles
	}
	if slices.ContainsFunc(places, exists) {
		return append(sources, SourceSystem)
	}
	return append(sources, SourcePackage)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// count is how many certificates a pool has, where it is not that of a system that keeps them to itself.
func count(pool *x509.CertPool) int {
	return len(pool.Subjects()) //nolint:staticcheck // on Linux it has all of them, and nothing else tells how many
}
