package whois

import (
	"context"
	"errors"
	"strconv"
	"time"

	"diagnostics/gateway/internal/egress/upstream"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/limits/fairqueue"
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

// defaultPause is for a server that says to wait but not how long.
const defaultPause = time.Minute

// ErrPause is wrapped by the failures of kind Busy that are a server's own wish to be left alone for a time.
var ErrPause = errors.New("whois: the server asked for a pause")

// pause leaves a server alone for as long as it asks, and gives the error of who asked it.
func (c *Client) pause(ctx context.Context, server target.Host, wait time.Duration) error {
	c.pauses.Begin(ctx, server.Name(), wait)
	c.egress.Providers().Paused(upstream.WHOIS, server.Name(), wait)
	return tooOften(server, wait)
}

// paused is the error of a pause that has not ended.
func (c *Client) paused(ctx context.Context, server target.Host) error {
	if left, paused := c.pauses.Left(ctx, server.Name()); paused {
		return tooOften(server, left)
	}
	return nil
}

func tooOften(server target.Host, wait time.Duration) error {
	return pause.TryLater(fault.Busy, wait, called(server)+" has been asked too often.", ErrPause)
}
