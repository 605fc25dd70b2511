package httpapi

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"

	"diagnostics/shared/workerapi"
)

// digests are the tokens that let in, as digests of one length, so that comparing takes the same time whatever is sent.
type digests [][sha256.Size]byte

func digest(tokens []string) digests {
	d := make(digests, len(tokens))
	for i, t := range tokens {
		d[i] = sha256.Sum256([]byte(t))
	}
	return d
}

// admit reports whether the values of the Authorization header let a request in. There must be exactly one, "Bearer",
// one space and a token (RFC 6750 section 2.1); the scheme is case-insensitive (RFC 9110 section 11.1).
func (d digests) admit(values []string) bool {
	if len(values) != 1 {
		return false
	}
	scheme, token, found := strings.Cut(values[0], " ")
	if !found || token == "" || !strings.EqualFold(scheme, "Bearer") {
		return false
	}
	given := sha256.Sum256([]byte(token))
	match := 0
	for i := range d {
		match |= subtle.ConstantTimeCompare(given[:], d[i][:])
	}
	return match == 1
}

// SetTokens replaces the tokens that let in, at least one. Requests under way go on.
func (s *Server) SetTokens(tokens []string) {
	all := digest(tokens)
	s.tokens.Store(&all)
}

// isCertified reports whether a request may go on as far as its connection is concerned. Where client certificates are
// demanded, all but the bare question whether the process lives needs one: health checks of containers and balancers
// have none. The listener has verified the certificates that there are, and refused the rest.
func (s *Server) isCertified(r *http.Request) bool {
	return !s.config.ClientCertificates || r.URL.Path == workerapi.PathHealth ||
		r.TLS != nil && len(r.TLS.VerifiedChains) > 0
}
