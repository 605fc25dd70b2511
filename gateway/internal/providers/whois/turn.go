package whois

import (
	"context"
	"strconv"
	"time"

	"diagnostics/gateway/internal/egress/upstream"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/limits/pace"
	"diagnostics/gateway/internal/providers/pause"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool"
)

// serverPace is how often one server is queried. Registries that name a limit allow some dozens of questions a minute.
var serverPace = pace.Pace{Burst: 5, Every: time.Second}

// turn waits until the server may be queried. Errors are *fault.Error (Busy) or those of a ctx that has ended.
func (c *Client) turn(ctx context.Context, server target.Host) error {
	if err := c.paused(ctx, server); err != nil {
		return err
	}
	if err := c.pace.Wait(ctx, server.Name()+":"+strconv.Itoa(port), serverPace, tool.CallerOf(ctx)); err != nil {
		return err
	}
	return c.paused(ctx, server) // the pause may have begun during the wait
}

// defaultPause is for a server that requests a pause of no given length.
const defaultPause = time.Minute

// pause begins the pause that a server requested, and returns the error of the request that it refused.
func (c *Client) pause(ctx context.Context, server target.Host, wait time.Duration) error {
	c.pauses.Begin(ctx, server.Name(), wait)
	c.egress.Providers().Paused(upstream.WHOIS, server.Name(), wait)
	return tooOften(server, wait)
}

// paused returns the error of a pause that has not ended.
func (c *Client) paused(ctx context.Context, server target.Host) error {
	if left, paused := c.pauses.Left(ctx, server.Name()); paused {
		return tooOften(server, left)
	}
	return nil
}

func tooOften(server target.Host, wait time.Duration) error {
	return pause.TryLater(fault.Busy, wait, "PROVIDER_PAUSED", called(server))
}
