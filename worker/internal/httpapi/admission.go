package httpapi

import (
	"net/http"

	"diagnostics/shared/workerapi"
)

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
