// Package probe measures with ICMP echo requests: traceroute, which can also do so with UDP and TCP probes, ping and
// packet loss. It is independent of sockets; it uses an exchange.Network, real or simulated.
//
// Each job is a plan: a state machine without clock, goroutine or I/O that returns what it wants next and receives what
// came. One driver runs every plan, on one network, under one budget of packets.
package probe

import (
	"context"
	"net/netip"
	"time"

	"diagnostics/shared/netpolicy"
	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/exchange"
)

// Options are what the operator chose.
type Options struct {
	// Budget paces the packets; nil for none.
	Budget *Budget
	// Waited receives for every probe how long the budget held it back; it may be nil. It is called right before the probe
	// leaves, from anywhere, and must take next to no time.
	Waited func(time.Duration)
	// Raw adds the text that a command-line tool would print. It may name private hops.
	Raw bool
}

// Prober runs jobs on a network. It is safe for concurrent use.
type Prober struct {
	network exchange.Network
	options Options
}

// New makes a Prober.
func New(network exchange.Network, options Options) *Prober {
	return &Prober{network: network, options: options}
}

// Traceroute traces the way to dst. It ends within workerapi.TracerouteLimit, with what it has seen by then. Errors:
// exchange.ErrFamily, exchange.ErrNoRoute, exchange.ErrCutOff, exchange.ErrShortage, exchange.ErrForbidden,
// exchange.ErrNoFlow, exchange.ErrClosed where a probe could not leave, the first or a later one; exchange.ErrProtocol
// where only ICMP ones can; *BusyError where the budget leaves none in time; ctx's error when ctx ends first.
func (p *Prober) Traceroute(ctx context.Context, dst netip.Addr, probe exchange.Probe) (workerapi.Traced, error) {
	_, r, err := p.traceroute(ctx, dst, probe)
	return r, err
}

func (p *Prober) traceroute(
	ctx context.Context, dst netip.Addr, probe exchange.Probe,
) (*trace, workerapi.Traced, error) {
	t := newTrace(time.Now())
	t.probe = probe
	measuredAt, err := p.drive(ctx, dst, probe, t)
	if err != nil {
		return nil, workerapi.Traced{}, err
	}
	r := t.result(dst, p.options.Raw)
	r.MeasuredAt = moment(measuredAt)
	return t, r, nil
}

// Ping sends ten probes, and a few more where a limit on answers is suspected. It ends within workerapi.PingLimit.
// Errors: see Traceroute.
func (p *Prober) Ping(ctx context.Context, dst netip.Addr) (workerapi.Ping, error) {
	s, measuredAt, err := p.series(ctx, dst, seriesShape{
		probes: workerapi.PingProbes, gap: workerapi.PingGap, limit: workerapi.PingLimit,
	})
	if err != nil {
		return workerapi.Ping{}, err
	}
	return s.result(dst, measuredAt, p.options.Raw), nil
}

// PacketLoss sends fifty probes, and a few more as Ping does. It ends within workerapi.PacketLossLimit. Errors: see
// Traceroute.
func (p *Prober) PacketLoss(ctx context.Context, dst netip.Addr) (workerapi.PacketLoss, error) {
	s, measuredAt, err := p.series(ctx, dst, seriesShape{
		probes: workerapi.LossProbes, gap: workerapi.LossGap, limit: workerapi.PacketLossLimit,
	})
	if err != nil {
		return workerapi.PacketLoss{}, err
	}
	return workerapi.PacketLoss{Ping: s.result(dst, measuredAt, p.options.Raw), Bursts: s.bursts()}, nil
}

// series runs a series to its end, and gives the moment when its first probe left.
func (p *Prober) series(ctx context.Context, dst netip.Addr, shape seriesShape) (*series, time.Time, error) {
	s := newSeries(time.Now(), shape)
	measuredAt, err := p.drive(ctx, dst, exchange.Probe{}, s)
	s.end = time.Now()
	return s, moment(measuredAt), err
}

func public(a netip.Addr) bool { return netpolicy.Judge(a).Public }

// moment is a time as results have it.
func moment(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
