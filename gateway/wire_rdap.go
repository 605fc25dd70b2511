package main

import (
	"context"
	"log/slog"
	"time"

	"diagnostics/gateway/internal/cache"
	"diagnostics/gateway/internal/limits/fairqueue"
	"diagnostics/gateway/internal/limits/ratelimit"
	"diagnostics/gateway/internal/providers/rdap"
	"diagnostics/gateway/internal/providers/rdap/bootstrap"
	"diagnostics/gateway/internal/target"
)

func (s *service) newRDAP(
	c Config, limiter ratelimit.Limiter, store cache.Store, log *slog.Logger,
) (*rdap.Client, error) {
	config := rdap.Config{
		Egress: s.egress, Base: c.RDAPBaseURL.String(), Cache: store, Slots: serverSlots{limiter},
	}
	if c.usesLists() {
		lists := bootstrap.New(s.egress, c.RDAPBootstrapURL.URL, log)
		s.opened = append(s.opened, lists.Close)
		config.Registries = lists
	}
	return rdap.New(config)
}

// usesLists reports whether IANA's lists are asked first: an operator's own redirector is asked for everything.
func (c *Config) usesLists() bool {
	standard, err := target.ParseOperatorURL(rdap.DefaultBase)
	return err == nil && c.RDAPBaseURL.URL == standard
}

// ownRedirector is the host of the operator's own redirector, empty for IANA's lists and rdap.org.
func (c *Config) ownRedirector() string {
	if c.usesLists() {
		return ""
	}
	return c.RDAPBaseURL.Host().String()
}

// rdapHosts are the hosts of the operator's own RDAP services, which may be anywhere.
func (c *Config) rdapHosts() []string {
	hosts := []string{c.RDAPBaseURL.Authority()}
	if c.usesLists() && c.RDAPBootstrapURL.URL != (target.URL{}) {
		hosts = append(hosts, c.RDAPBootstrapURL.Authority())
	}
	return hosts
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
