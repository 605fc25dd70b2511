package httpapi

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"diagnostics/gateway/internal/clientip"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/limits/ratelimit"

	"github.com/labstack/echo/v4"
)

// runStages are the buckets of a run, the narrowest first, each stage charged only where all before it pass: the
// client's own two together, those of the networks around it, the target's. One without a target (my-ip) charges the
// client and its networks alone. No part of a key but the last can hold a "|", so no two kinds of buckets meet.
func (s *Server) runStages(client clientip.Identity, slug, target string) []ratelimit.Stage {
	limits, key := s.config.Limits, client.LimitKey()
	stages := make([]ratelimit.Stage, 0, 4)
	stages = append(stages, ratelimit.Stage{
		{Key: "tool|" + key + "|" + slug + "|" + target, Limit: limits.Tool},
		{Key: "client|" + key, Limit: limits.Client},
	})
	stages = append(stages, networkStages("client|", client, limits.Client)...)
	if target != "" {
		stages = append(stages, ratelimit.Stage{s.targetCharge(target)})
	}
	return stages
}

// targetCharge is a request against what all clients share of a target.
func (s *Server) targetCharge(target string) ratelimit.Charge {
	return ratelimit.Charge{Key: "target|" + target, Limit: s.config.Limits.Target}
}

// sampleStages are the buckets of one sample of the connection routes.
func (s *Server) sampleStages(client clientip.Identity) []ratelimit.Stage {
	limit := s.config.Limits.Samples
	own := ratelimit.Stage{{Key: "samples|" + client.LimitKey(), Limit: limit}}
	return append([]ratelimit.Stage{own}, networkStages("samples|", client, limit)...)
}

// networkStages are the buckets of the networks around a client, whose limit is a multiple of the client's. Several
// clients share them, so each is a stage of its own.
func networkStages(kind string, client clientip.Identity, limit ratelimit.Limit) []ratelimit.Stage {
	networks := client.Networks()
	stages := make([]ratelimit.Stage, 0, len(networks))
	for _, n := range networks {
		wider := ratelimit.Limit{Requests: min(limit.Requests*n.Times, maxRequests), Window: limit.Window}
		stages = append(stages, ratelimit.Stage{{Key: kind + n.Key, Limit: wider}})
	}
	return stages
}

// maxRequests is the most that any limit can be, and up to which a bucket's level is exact.
const maxRequests = 1_000_000_000

// charge takes from the buckets and sets the three headers, which stay on whatever answer follows: those of the bucket
// with the least left among the ones that were looked at. Of a refusal they tell the bucket that refuses, of several
// the one with the longest wait, which Retry-After is about too; wider buckets are not looked at then.
func (s *Server) charge(c echo.Context, stages []ratelimit.Stage) error {
	d, err := s.config.Limiter.Take(c.Request().Context(), stages...)
	if err != nil {
		return fmt.Errorf("charge the rate limits: %w", err)
	}
	contextOf(c).limit = d
	s.setLimitHeaders(c.Response().Header(), d)
	if d.Allowed {
		return nil
	}
	return fault.LimitedFor(d.RetryAfter, "Too many requests.").ByRule(limitOf(d, contextOf(c).client))
}

// setLimitHeaders does nothing with every limit off.
func (s *Server) setLimitHeaders(h http.Header, d ratelimit.Decision) {
	if d.Limit == 0 {
		return
	}
	reset := float64(s.config.Now().Add(d.ResetAfter).UnixNano()) / float64(time.Second)
	set(h, "X-Ratelimit-Limit", strconv.Itoa(d.Limit))
	set(h, "X-Ratelimit-Remaining", strconv.Itoa(max(0, d.Remaining)))
	set(h, "X-Ratelimit-Reset", strconv.FormatInt(int64(math.Ceil(reset)), 10))
}

// set is h.Set for a name in the spelling that net/http has it in, which is not looked for then.
func set(h http.Header, name, value string) { h[name] = []string{value} }
