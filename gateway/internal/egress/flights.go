package egress

import (
	"context"
	"sync"
)

// flights lets identical lookups share one. A flight belongs to nobody: it goes on when the caller that began it leaves,
// and ends when the last of those who wait for it has left.
type flights struct {
	life context.Context

	mu    sync.Mutex
	under map[dnsKey]*flight
}

type flight struct {
	cancel  context.CancelFunc
	done    chan struct{}
	answer  Answer
	waiting int
}

func newFlights(life context.Context) *flights {
	return &flights{life: life, under: make(map[dnsKey]*flight)}
}

// join gives the answer of the flight for key, which it begins where there is none. ok is false where ctx ended first.
func (fs *flights) join(ctx context.Context, key dnsKey, lookup func(context.Context) Answer) (answer Answer, ok bool) {
	f := fs.board(key, lookup)
	defer fs.leave(key, f)
	select {
	case <-f.done:
		return f.answer, true
	case <-ctx.Done():
		return Answer{}, false
	}
}

func (fs *flights) board(key dnsKey, lookup func(context.Context) Answer) *flight {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f, ok := fs.under[key]; ok {
		f.waiting++
		return f
	}
	ctx, cancel := context.WithCancel(fs.life)
	f := &flight{cancel: cancel, done: make(chan struct{}), waiting: 1}
	fs.under[key] = f
	go func() {
		defer cancel()
		f.answer = lookup(ctx)
		fs.land(key, f)
		close(f.done)
	}()
	return f
}

// leave counts a waiter out. The last one ends the flight, and takes it off the board at once: a newcomer must not join
// a lookup that is being cancelled.
func (fs *flights) leave(key dnsKey, f *flight) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f.waiting--; f.waiting > 0 {
		return
	}
	f.cancel()
	fs.remove(key, f)
}

func (fs *flights) land(key dnsKey, f *flight) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.remove(key, f)
}

func (fs *flights) remove(key dnsKey, f *flight) {
	if fs.under[key] == f {
		delete(fs.under, key)
	}
}
