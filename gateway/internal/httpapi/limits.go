package httpapi

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/ratelimit"

	"github.com/labstack/echo/v4"
)

// runCharges are the buckets of a run. One without a target (my-ip) charges the client alone. No part of a key but the
// last can hold a "|", so no two kinds of buckets meet.
func (s *Server) runCharges(client, slug, target string) []ratelimit.Charge {
	charges := []ratelimit.Charge{
		{Key: "tool|" + client + "|" + slug + "|" + target, Limit: s.config.Limits.Tool},
		{Key: "client|" + client, Limit: s.config.Limits.Client},
	}
	if target != "" {
		charges = append(charges, ratelimit.Charge{Key: "target|" + target, Limit: s.config.Limits.Target})
	}
	return charges
}

// charge takes from the buckets and sets the three headers, which stay on whatever answer follows.
func (s *Server) charge(c echo.Context, charges ...ratelimit.Charge) error {
	d, err := s.config.Limiter.Take(c.Request().Context(), charges)
	if err != nil {
		return fmt.Errorf("charge the rate limits: %w", err)
	}
	s.tell(c.Response().Header(), d)
	if d.Allowed {
		return nil
	}
	s.config.Metrics.limited.WithLabelValues(label(c)).Inc()
	wait := max(d.RetryAfter, time.Second)
	return &fault.Error{Kind: fault.Limited, RetryAfter: wait,
		Sentence: "Too many requests. Try again in " + inWords(wholeSeconds(wait)) + "."}
}

// tell sets the rate-limit headers. With every limit off there is nothing to tell.
func (s *Server) tell(h http.Header, d ratelimit.Decision) {
	if d.Limit == 0 {
		return
	}
	reset := float64(s.config.Now().Add(d.ResetAfter).UnixNano()) / float64(time.Second)
	h.Set("X-RateLimit-Limit", strconv.Itoa(d.Limit))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(max(0, d.Remaining)))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(int64(math.Ceil(reset)), 10))
}

func inWords(seconds int64) string {
	switch {
	case seconds == 1:
		return "1 second"
	case seconds < 120:
		return fmt.Sprintf("%d seconds", seconds)
	}
	return fmt.Sprintf("%d minutes", (seconds+59)/60)
}
