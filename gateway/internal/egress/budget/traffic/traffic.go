// Package traffic counts what one run sends to the network and draws from it, whatever lies between the run and its
// sockets, and bounds both: a visitor's few bytes must never become a flood, neither towards a victim nor towards this
// service. docs/security.md has what each tool comes to.
package traffic

import (
	"context"
	"sync/atomic"
	"time"

	"diagnostics/gateway/internal/fault"
)

// Bounds on one run, in bytes on the wire as they are counted here.
const (
	// MaxSent is for what a run sends of itself. It leaves room, below the 128 KB that a run may send, for the
	// kernel's own packets: acknowledgements of what comes, and repetitions of what was lost.
	MaxSent = 100_000
	// maxWire is for both together. An answer of 4 MiB takes some 1,500 acknowledgements.
	maxWire = 118_000
	// MaxReceived is above what the tools read in any run, so that it ends only what never reaches them: padding, tiny
	// records, headers without end.
	MaxReceived = 6 << 20
)

// What a packet adds to its payload: the headers of Ethernet, IPv6, and TCP with timestamps or UDP.
const (
	tcpOverhead = 86
	udpOverhead = 62
	// payload is what a packet carries at most.
	payload = 1400
	// dialPackets are those of a connection without its data, or of one that is not answered.
	dialPackets = 4
)

// Meter is what a run has sent and received. The nil Meter counts nothing and has room for everything.
type Meter struct {
	sent, received atomic.Int64
	answered       atomic.Int64 // bytes that the kernel has sent of its own
	totals         *Totals
}

// Totals is what many runs have sent and received together. The zero Totals is ready for use.
type Totals struct{ sent, received atomic.Int64 }

// Sent is how many bytes were sent, as they are counted here: on the wire, with what the kernel sends of its own.
func (t *Totals) Sent() int64 { return t.sent.Load() }

// Received is how many bytes were received, without the headers of packets.
func (t *Totals) Received() int64 { return t.received.Load() }

type meterKey struct{}

// WithMeter makes all that is sent and received on behalf of the context count in one new meter, and in totals as well.
func WithMeter(ctx context.Context, totals *Totals) context.Context {
	return context.WithValue(ctx, meterKey{}, &Meter{totals: totals})
}

func meterOf(ctx context.Context) *Meter {
	m, _ := ctx.Value(meterKey{}).(*Meter)
	return m
}

// share bounds what some connections of a run draw together.
type share struct {
	left, open atomic.Int64
	full       *fault.Error
}

type shareKey struct{}

// WithShare bounds what the held connections of the context draw together, what is not read of it included. Past so
// many bytes their reading fails with full.
func WithShare(ctx context.Context, bytes int64, full *fault.Error) context.Context {
	s := &share{full: full}
	s.left.Store(bytes)
	return context.WithValue(ctx, shareKey{}, s)
}

// unread is what the kernel has taken of a connection at most that has not been read (egress.bodyBuffer, twice).
const unread = 256 << 10

// draw counts n more. last means that what the connections hold unread may be all that is left.
func (s *share) draw(n int) (last bool, err error) {
	left := s.left.Add(-int64(n))
	if left < 0 {
		return true, s.full
	}
	return left < s.open.Load()*unread, nil
}

// Room is nil where the run may still send so many bytes, else the *fault.Error of kind Limited that says why not.
func Room(ctx context.Context, bytes int) error {
	m := meterOf(ctx)
	if m == nil {
		return nil
	}
	if sum := m.sent.Load() + int64(bytes); sum <= MaxSent && sum+m.answered.Load() <= maxWire {
		return nil
	}
	return tooMuchSent()
}

// Dialled counts the packets that a connection takes beside its data, before it is made.
func Dialled(ctx context.Context) {
	if m := meterOf(ctx); m != nil {
		m.sent.Add(dialPackets * tcpOverhead)
		m.totals.sent.Add(dialPackets * tcpOverhead)
	}
}

func tooMuchSent() error {
	return &fault.Error{
		Kind:       fault.Limited,
		Rule:       fault.LimitTraffic,
		Code:       "CHECK_SENDS_TOO_MUCH",
		RetryAfter: time.Second,
	}
}

func tooMuchDrawn() error {
	return fault.New(fault.Upstream, "CHECK_READS_TOO_MUCH", nil)
}
