package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// drain is the orderly end of a service.
type drain struct {
	Settings
	service Service
	// entrances are the public one and that of other instances, which leaves first: their probes have noticed the drain.
	entrances []*entrance
	ended     ends
	// end ends the contexts of all requests.
	end context.CancelCauseFunc
	log *slog.Logger
}

// entrance is a server with the listener that it answers.
type entrance struct {
	server *http.Server
	// socket is the listener itself, listener what the server accepts from.
	socket, listener net.Listener
	clients          clients
	// left receives the error with which the server leaves the listener.
	left chan error
}

// run is unready but accepting for SHUTDOWN_DELAY, so that balancers notice, and then lets the requests in flight
// finish within SHUTDOWN_TIMEOUT.
//
// The listeners are closed before Server.Shutdown is called: net/http drops the requests that it reads from then on,
// and clients that have just connected are still sending theirs. Nor is Shutdown called before a server has left its
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
	patience := min(timeout/2, silence)
	d.close(ctx, patience)
	settled := time.Now().Add(patience)
	for _, e := range d.entrances {
		e.clients.settle(settled)
	}
	if err := d.finish(ctx, until.Add(-min(timeout/10, answerMargin))); err != nil {
		for _, e := range d.entrances {
			_ = e.server.Close()
		}
		return err
	}
	d.log.Info("stopped")
	return nil
}

// close closes the listeners once their servers have accepted what connected before, and waits until the servers have
// left them, or until ctx ends.
func (d *drain) close(ctx context.Context, patience time.Duration) {
	sockets := make([]net.Listener, 0, len(d.entrances))
	for _, e := range d.entrances {
		sockets = append(sockets, e.socket)
	}
	drainBacklogs(sockets, patience, d.log)
	for _, e := range d.entrances {
		_ = e.listener.Close()
	}
	for _, e := range d.entrances {
		select {
		case <-e.left: //nolint:errcheck // only that the server has left counts
		case <-ctx.Done():
		}
	}
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
	left, cut := d.open(), int64(0)
	d.end(d.service.Leaving)
	if err := d.shutdown(ctx); errors.Is(err, context.DeadlineExceeded) {
		cut = min(left, d.open())
	} else if err != nil {
		return stopped(err)
	}
	d.log.Warn("SHUTDOWN_TIMEOUT ran out", "inFlight", left, "cutOff", cut)
	return fmt.Errorf("SHUTDOWN_TIMEOUT ran out with requests still in flight: %d, of which %d were cut off", left, cut)
}

// open returns how many connections the servers have.
func (d *drain) open() (n int64) {
	for _, e := range d.entrances {
		n += e.clients.open.Load()
	}
	return n
}

// shutdown waits for the requests in flight, those of other instances first.
func (d *drain) shutdown(ctx context.Context) error {
	for _, e := range d.entrances {
		if err := e.server.Shutdown(ctx); err != nil {
			return err
		}
	}
	return nil
}

func stopped(err error) error {
	if err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	return nil
}
