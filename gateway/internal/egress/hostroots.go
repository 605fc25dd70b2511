package egress

import (
	"crypto/x509"
	"os"
	"slices"
	"sync"

	"diagnostics/gateway/internal/analyze/certs"
)

// HostChecker judges certificates by the roots of this host, which are read once: a service that has run out of files
// would otherwise judge by others from then on.
var HostChecker = sync.OnceValue(func() certs.Checker {
	own, err := x509.SystemCertPool()
	if err != nil {
		own = x509.NewCertPool()
	}
	return certs.Trusting(own, storeSources(os.Getenv, exists))
})

// Where Go looks for the roots of a host (crypto/x509, root_linux.go): SSL_CERT_FILE stands in place of the files, and
// SSL_CERT_DIR in place of the directories.
var (
	systemFiles = []string{
		"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
		"/etc/pki/tls/cacert.pem", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/cert.pem",
	}
	systemDirectories = []string{"/etc/ssl/certs", "/etc/pki/tls/certs"}
)

// storeSources returns where roots are looked for. Where both variables are set, nothing else counts; one of the two
// adds to what the other place has, or would have.
func storeSources(env func(string) string, exists func(string) bool) []string {
	file, dir := env("SSL_CERT_FILE") != "", env("SSL_CERT_DIR") != ""
	if file && dir {
		return []string{certs.SourceOperator}
	}
	var sources []string
	places := slices.Concat(systemFiles, systemDirectories)
	if file {
		sources, places = append(sources, certs.SourceOperator), systemDirectories
	}
	if dir {
		sources, places = append(sources, certs.SourceOperator), systemFiles
	}
	if slices.ContainsFunc(places, exists) {
		return append(sources, certs.SourceSystem)
	}
	return append(sources, certs.SourcePackage)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
