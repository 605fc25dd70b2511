package main

import (
	"context"
	"log/slog"
	"time"

	"diagnostics/gateway/internal/cache"
	"diagnostics/gateway/internal/limits/pace"
	"diagnostics/gateway/internal/limits/ratelimit"
	"diagnostics/gateway/internal/providers/rdap"
	"diagnostics/gateway/internal/providers/rdap/bootstrap"
	"diagnostics/gateway/internal/target"
)

func (s *service) newRDAP(
	c Config, limiter *pace.Limiter, store cache.Store, log *slog.Logger,
) (*rdap.Client, error) {
	config := rdap.Config{Egress: s.egress, Base: c.RDAPBaseURL.String(), Cache: store, Pace: limiter}
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

// serverBuckets are the buckets of package pace in a Limiter, and so those of all instances that share it.
type serverBuckets struct{ limiter ratelimit.Limiter }

// Take implements pace.Buckets.
func (b serverBuckets) Take(
	ctx context.Context, key string, size int, every time.Duration,
) (ok bool, after time.Duration, err error) {
	d, err := b.limiter.Take(ctx, ratelimit.Stage{{
		Key: "server|" + key, Limit: ratelimit.Limit{Requests: size, Window: time.Duration(size) * every},
	}})
	if !d.Allowed {
		return false, d.RetryAfter, err
	}
	return true, d.ResetAfter, err
}
