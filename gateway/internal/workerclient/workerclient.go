// Package workerclient is the gateway's bearer client of the worker (shared/workerapi).
package workerclient

import (
	"context"
	"net/netip"

	"diagnostics/shared/workerapi"
)

// Client asks one worker. It is safe for concurrent use.
type Client struct{}

// New makes a client of the worker at base (http or https URL) with a bearer token.
func New(base, token string) (*Client, error) { panic("unwritten") }

// Job is what to probe: an address that was judged, and the name that it came from.
type Job struct {
	Address   netip.Addr
	Hostname  string
	RequestID string
}

// Ready asks the worker's /readyz (kept for a few seconds).
func (c *Client) Ready(ctx context.Context) (workerapi.Ready, error) { panic("unwritten") }

// Traceroute, Ping and PacketLoss run one job. Errors are *fault.Error: Busy with the worker's Retry-After (429 of the
// worker), Timeout, Upstream (all other misbehaviour). Answers are held against the contract; private hops are hidden
// once more.
func (c *Client) Traceroute(ctx context.Context, j Job) (workerapi.Traceroute, error) {
	panic("unwritten")
}

// Ping: see Traceroute.
func (c *Client) Ping(ctx context.Context, j Job) (workerapi.Ping, error) { panic("unwritten") }

// PacketLoss: see Traceroute.
func (c *Client) PacketLoss(ctx context.Context, j Job) (workerapi.PacketLoss, error) {
	panic("unwritten")
}
