package rdap

import (
	"context"
	"errors"
	"time"

	"diagnostics/gateway/internal/fairqueue"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/providers/pause"
	"diagnostics/gateway/internal/tool"
)

// The paces of servers. A registry tells nobody how often it may be asked, and says so when it was asked too often; the
// public redirector answers 429 past ten requests in ten seconds, and in no 10.5 s, since requests may arrive closer
// together than they were sent, does this service send it more than eight.
var (
	registryPace   = fairqueue.Pace{Burst: 10, Every: 500 * time.Millisecond}
	redirectorPace = fairqueue.Pace{Burst: 3, Every: 2100 * time.Millisecond}
)

const defaultAuthority = "rdap.org:443"

func paceOf(server string) fairqueue.Pace {
	if server == defaultAuthority {
		return redirectorPace
	}
	return registryPace
}

// turn waits until the server may be asked, within what the walk has left of its patience. Errors are *fault.Error
// (Busy) or those of a ctx that has ended.
func (w *walk) turn(ctx context.Context) error {
	if err := w.client.paused(ctx, w.at); err != nil || w.client.queue == nil {
		return err
	}
	began, server, caller := time.Now(), w.at.url.Authority(), tool.CallerOf(ctx)
	again, err := w.client.queue.Wait(ctx, server, paceOf(server),
		fairqueue.Visitor{Client: caller.Client, Network: caller.Network}, w.patience)
	waited := time.Since(began)
	w.patience -= waited
	switch {
	case err != nil:
		return err
	case again > 0:
		return pause.TryLater(fault.Busy, again, "Too many registrations are being looked up at the moment.", ErrShare).
			ByRule(fault.LimitProviderShare)
	case waited > 0: // whoever was before may have been asked for a pause
		return w.client.paused(ctx, w.at)
	}
	return nil
}

// ErrShare is wrapped by the failures of kind Busy by which this service keeps to its own share of a server: nobody was
// asked, and nobody is at fault.
var ErrShare = errors.New("rdap: the share of the server is used up")
