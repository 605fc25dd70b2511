package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"
)

// drain is the orderly end of a service.
type drain struct {
	Settings
	service Service
	// socket is the public listener itself, public what the server accepts from.
	socket, public net.Listener
	clients        clients
	ended          ends
	// end ends the contexts of all requests.
	end context.CancelCauseFunc
	log *slog.Logger
}

// run is unready but accepting for SHUTDOWN_DELAY, so that balancers notice, and then lets the requests in flight
// finish within SHUTDOWN_TIMEOUT.
//
// The listener is closed before Server.Shutdown is called: net/http drops the requests that it reads from then on, and
// those of clients that have just connected are on their way. Nor is Shutdown called before the server has left the
// listener: it would close that once more, and fail.
func (d *drain) run() error {
	delay, timeout := time.Duration(d.ShutdownDelay), time.Duration(d.ShutdownTimeout)
	d.log.Info("draining", "delayMs", delay.Milliseconds(), "timeoutMs", timeout.Milliseconds())
	d.service.Drain()
	over, stop := context.WithTimeout(context.Background(), delay)
	defer stop()
	if err := d.ended.before(over.Done()); err != nil {
		return err
	}
	until := time.Now().Add(timeout)
	ctx, cancel := context.WithDeadline(context.Background(), until)
	defer cancel()
	drainBacklog(d.socket, min(timeout/2, silence))
	_ = d.public.Close()
	_ = d.ended.before(ctx.Done())
	d.clients.settle(min(timeout/2, silence))
	if err := d.finish(ctx, until.Add(-min(timeout/10, answerMargin))); err != nil {
		_ = d.service.Server.Close()
		return err
	}
	d.log.Info("stopped")
	return nil
}

// answerMargin is how long before the end of SHUTDOWN_TIMEOUT requests are ended, at most: they can still be answered
// then.
const answerMargin = time.Second

// finish lets the requests in flight finish until a moment, then ends those that are left, and waits for their answers
// until ctx ends.
func (d *drain) finish(ctx context.Context, until time.Time) error {
	timely, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	err := d.shutdown(timely)
	if !errors.Is(err, context.DeadlineExceeded) {
		return stopped(err)
	}
	left, cut := d.clients.open.Load(), int64(0)
	d.end(d.service.Leaving)
	if err := d.shutdown(ctx); errors.Is(err, context.DeadlineExceeded) {
		cut = min(left, d.clients.open.Load())
	} else if err != nil {
		return stopped(err)
	}
	d.log.Warn("SHUTDOWN_TIMEOUT ran out", "inFlight", left, "cutOff", cut)
	return fmt.Errorf("SHUTDOWN_TIMEOUT ran out with requests still in flight: %d, of which %d were cut off", left, cut)
}

// shutdown waits for the requests of other instances, whose probes have noticed the drain, and then for all others.
func (d *drain) shutdown(ctx context.Context) error {
	if d.service.Peers != nil {
		if err := d.service.Peers.Server.Shutdown(ctx); err != nil {
			return err
		}
	}
	return d.service.Server.Shutdown(ctx)
}

func stopped(err error) error {
	if err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	return nil
}
