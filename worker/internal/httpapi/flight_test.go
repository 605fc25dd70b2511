package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/shared/workerapi"
)

// testFlights counts the jobs that begin and end; each takes a while, or until it is cancelled.
type testFlights struct {
	*flights[int]
	mu           sync.Mutex
	began, ended int
}

func newTestFlights(takes time.Duration, places int, fail error) *testFlights {
	t := &testFlights{}
	t.flights = &flights[int]{
		limit: 15 * time.Second, places: newPlaces(places), atMost: 5 * time.Second, all: map[netip.Addr]*flight[int]{},
		run: func(ctx context.Context, _ netip.Addr) (int, error) {
			t.mu.Lock()
			t.began++
			n := t.began
			t.mu.Unlock()
			defer func() { t.mu.Lock(); t.ended++; t.mu.Unlock() }()
			select {
			case <-time.After(takes):
				return n, fail
			case <-ctx.Done():
				return 0, ctx.Err()
			}
		},
	}
	return t
}

// ask joins, waits and leaves, as a route does; it gives the number of the job whose result it got, and 0 for none.
func (f *testFlights) ask(target string) int {
	a := netip.MustParseAddr(target)
	fl, _, ok := f.join(time.Now(), a)
	if !ok {
		return 0
	}
	defer f.leave(a, fl)
	<-fl.done
	return fl.result
}

func TestFlightIsShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newTestFlights(time.Second, 2, nil)
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * 10 * time.Millisecond)
				if n := f.ask("11.0.0.1"); n != 1 {
					t.Errorf("asker %d got job %d", i, n)
				}
			})
		}
		wg.Wait()
		if n := f.ask("2a10::1"); n != 2 {
			t.Errorf("another address got job %d", n)
		}
		// Two seconds have passed since the first began.
		time.Sleep(sharedFor - 2*time.Second - time.Nanosecond)
		if n := f.ask("11.0.0.1"); n != 1 {
			t.Errorf("just under three seconds after its start: job %d", n)
		}
		time.Sleep(time.Nanosecond)
		if n := f.ask("11.0.0.1"); n != 3 {
			t.Errorf("three seconds after its start: job %d", n)
		}
		time.Sleep(sharedFor)
		synctest.Wait()
		if len(f.all) != 0 || f.places.inUse() != 0 {
			t.Errorf("%d results held, %d places in use", len(f.all), f.places.inUse())
		}
	})
}

// A job that takes longer than three seconds is joined while it runs.
func TestLongFlightIsShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newTestFlights(5*time.Second, 1, nil)
		go f.ask("11.0.0.1")
		time.Sleep(4 * time.Second)
		if n := f.ask("11.0.0.1"); n != 1 {
			t.Errorf("while it runs: job %d", n)
		}
		if n := f.ask("11.0.0.1"); n != 2 {
			t.Errorf("after its end, more than three seconds from its start: job %d", n)
		}
		synctest.Wait()
	})
}

func TestFlightEndsWithItsLastWaiter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newTestFlights(time.Minute, 1, nil)
		a := netip.MustParseAddr("11.0.0.1")
		first, _, _ := f.join(time.Now(), a)
		second, _, _ := f.join(time.Now(), a)
		if first != second {
			t.Fatal("two flights")
		}
		f.leave(a, first)
		time.Sleep(time.Second)
		if f.ended != 0 || f.places.inUse() != 1 {
			t.Error("the job ended with the first of two waiters")
		}
		f.leave(a, second)
		synctest.Wait()
		if f.ended != 1 || f.places.inUse() != 0 {
			t.Error("the job goes on without a waiter")
		}
		// Its place is free, and who comes now gets a job of their own.
		third, _, ok := f.join(time.Now(), a)
		if !ok || third == first {
			t.Error("an ended job was joined")
		}
		f.leave(a, third)
		synctest.Wait()
	})
}

func TestFailedFlightIsNotKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newTestFlights(time.Millisecond, 1, errors.New("no"))
		if a, b := f.ask("11.0.0.1"), f.ask("11.0.0.1"); a != 1 || b != 2 {
			t.Errorf("jobs %d and %d", a, b)
		}
	})
}

func TestPlacesOutTellWhen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newTestFlights(3*time.Second, 1, nil)
		go f.ask("11.0.0.1")
		time.Sleep(time.Second)
		if _, free, ok := f.join(time.Now(), netip.MustParseAddr("11.0.0.2")); ok || free != 4*time.Second {
			t.Errorf("a place %v, free in %v", ok, free)
		}
		// What runs already takes no place.
		if n := f.ask("11.0.0.1"); n != 1 {
			t.Errorf("job %d", n)
		}
		if n := f.ask("11.0.0.2"); n != 2 {
			t.Errorf("job %d", n)
		}
	})
}

// Over HTTP: one job, many answers, each under its own request id.
func TestSharedJobOverHTTP(t *testing.T) {
	t.Parallel()
	f := start(t, nil)
	release := make(chan struct{})
	f.prober.run = func(context.Context) error { <-release; return nil }
	const askers = 8
	ids := make(chan [2]string, askers)
	for i := range askers {
		go func() {
			id := fmt.Sprintf("6f1c2a34-5b6d-4e7f-8a90-b1c2d3e4f50%d", i)
			a := f.do(f.request("POST", workerapi.PathPing, fmt.Sprintf(`{"target":"11.0.0.1","requestId":%q}`, id)))
			ids <- [2]string{id, a.envelope.RequestID}
		}()
	}
	waitFor(t, func() bool { return f.server.PlacesInUse() == 1 })
	// Another tool and the other family are other jobs.
	var others sync.WaitGroup
	for _, r := range []*http.Request{
		f.request("POST", workerapi.PathTraceroute, target), f.request("POST", workerapi.PathPing, `{"target":"2606:4700:4700::1111"}`),
	} {
		others.Go(func() { f.do(r) })
	}
	waitFor(t, func() bool { return f.server.PlacesInUse() == 3 })
	close(release)
	for range askers {
		if id := <-ids; id[0] != id[1] {
			t.Errorf("request %s was answered as %s", id[0], id[1])
		}
	}
	others.Wait()
	f.prober.mu.Lock()
	defer f.prober.mu.Unlock()
	if len(f.prober.asked) != 3 {
		t.Errorf("jobs for %v", f.prober.asked)
	}
}
