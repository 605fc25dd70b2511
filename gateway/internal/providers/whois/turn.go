package whois

import (
	"context"
	"strconv"
	"time"

	"diagnostics/gateway/internal/fairqueue"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/providers/pause"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool"
)

// pace is how often one server is asked. Registries that name a limit allow some dozens of questions a minute.
var pace = fairqueue.Pace{Burst: 5, Every: time.Second}

// turn waits until the server may be asked. Errors are *fault.Error (Busy) or those of a ctx that has ended.
func (c *Client) turn(ctx context.Context, server target.Host) error {
	if err := c.paused(ctx, server); err != nil || c.queue == nil {
		return err
	}
	caller := tool.CallerOf(ctx)
	again, err := c.queue.Wait(ctx, server.Name()+":"+strconv.Itoa(port), pace,
		fairqueue.Visitor{Client: caller.Client, Network: caller.Network}, fairqueue.MaxWait)
	switch {
	case err != nil:
		return err
	case again > 0:
		return pause.TryLater(fault.Busy, again, "Too many registrations are being looked up at the moment.", nil).
			ByRule(fault.LimitProviderShare)
	}
	return c.paused(ctx, server) // whoever was before may have been asked for one
}
