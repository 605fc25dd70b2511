package httpapi

import (
	"net/http"
	"net/netip"
	"slices"

	"diagnostics/gateway/internal/limits/requests"
)

var errDeniedClient = newProblem(http.StatusForbidden, outcomeDenied, "CLIENT_DENIED")

// SetDeniedClients replaces the networks whose clients are refused.
func (s *Server) SetDeniedClients(networks []netip.Prefix) { s.denied.Store(&networks) }

// SetClientLimits replaces the networks whose clients have other limits.
func (s *Server) SetClientLimits(list []requests.ClientLimit) {
	s.config.Metrics.labels(list)
	s.requests.SetClientLimits(list)
}

// admit refuses a client of a denied network, before anything is charged.
func (s *Server) admit(rc *requestContext) error {
	networks := s.denied.Load()
	if networks == nil {
		return nil
	}
	client := rc.client.Addr()
	if slices.ContainsFunc(*networks, func(p netip.Prefix) bool { return p.Contains(client) }) {
		return errDeniedClient
	}
	return nil
}
