package whois

import (
	"context"
	"errors"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/providers/pause"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/upstream"
)

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
