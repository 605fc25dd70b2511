package main

import (
	"context"
	"log/slog"
	"time"

	"diagnostics/gateway/internal/cache"
	"diagnostics/gateway/internal/config"
	"diagnostics/gateway/internal/limits/fairqueue"
	"diagnostics/gateway/internal/limits/ratelimit"
	"diagnostics/gateway/internal/providers/rdap"
	"diagnostics/gateway/internal/providers/rdap/bootstrap"
)

func (s *service) newRDAP(
	c config.Config, limiter ratelimit.Limiter, store cache.Store, log *slog.Logger,
) (*rdap.Client, error) {
	config := rdap.Config{
		Egress: s.egress, Base: c.RDAPBaseURL.String(), Cache: store, Slots: serverSlots{limiter},
	}
	if c.UsesLists() {
		lists := bootstrap.New(s.egress, c.RDAPBootstrapURL.URL, log)
		s.opened = append(s.opened, lists.Close)
		config.Registries = lists
	}
	return rdap.New(config)
}

// serverSlots counts what all instances together ask a server.
type serverSlots struct{ limiter ratelimit.Limiter }

// Take implements fairqueue.Slots.
func (s serverSlots) Take(ctx context.Context, server string, pace fairqueue.Pace) (time.Duration, error) {
	d, err := s.limiter.Take(ctx, ratelimit.Stage{{
		Key:   "server|" + server,
		Limit: ratelimit.Limit{Requests: pace.Burst, Window: time.Duration(pace.Burst) * pace.Every},
	}})
	return d.RetryAfter, err
}
