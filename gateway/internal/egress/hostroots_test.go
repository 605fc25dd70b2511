package egress

import (
	"slices"
	"strings"
	"testing"

	"diagnostics/gateway/internal/analyze/certs"
)

func TestStoreSources(t *testing.T) {
	t.Parallel()
	env := func(set ...string) func(string) string {
		return func(name string) string {
			if slices.Contains(set, name) {
				return "/own"
			}
			return ""
		}
	}
	on := func(paths ...string) func(string) bool {
		return func(path string) bool { return slices.Contains(paths, path) }
	}
	const file, dir = "SSL_CERT_FILE", "SSL_CERT_DIR"
	for _, c := range []struct {
		name   string
		env    func(string) string
		exists func(string) bool
		want   string
	}{
		{"Debian", env(), on("/etc/ssl/certs", "/etc/ssl/certs/ca-certificates.crt"), "system"},
		{"Alpine's file alone", env(), on("/etc/ssl/cert.pem"), "system"},
		{"a directory alone", env(), on("/etc/pki/tls/certs"), "system"},
		{"an empty image", env(), on(), certs.SourcePackage},
		{"own file on Debian", env(file), on("/etc/ssl/certs", "/etc/ssl/certs/ca-certificates.crt"), "operator, system"},
		{"own file, and a file that it replaces", env(file), on("/etc/ssl/cert.pem"), "operator, " + certs.SourcePackage},
		{"own file in an empty image", env(file), on(), "operator, " + certs.SourcePackage},
		{"own directory on Debian", env(dir), on("/etc/ssl/certs", "/etc/ssl/certs/ca-certificates.crt"), "operator, system"},
		{"own directory, and one that it replaces", env(dir), on("/etc/ssl/certs"), "operator, " + certs.SourcePackage},
		{"both", env(file, dir), on("/etc/ssl/certs", "/etc/ssl/certs/ca-certificates.crt"), "operator"},
		{"both in an empty image", env(file, dir), on(), "operator"},
	} {
		if got := strings.Join(storeSources(c.env, c.exists), ", "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
