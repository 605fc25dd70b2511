package pace

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/limits/ratelimit"
	"diagnostics/gateway/internal/tool"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// memory are buckets as the gateway has them.
type memory struct{ *ratelimit.Memory }

func (m memory) Take(ctx context.Context, key string, size int, every time.Duration) (bool, time.Duration, error) {
	d, err := m.Memory.Take(ctx, ratelimit.Stage{{
		Key: key, Limit: ratelimit.Limit{Requests: size, Window: time.Duration(size) * every},
	}})
	if !d.Allowed {
		return false, d.RetryAfter, err
	}
	return true, d.ResetAfter, err
}

var (
	pace = Pace{Burst: 4, Every: time.Second}
	fast = Pace{Burst: 10, Every: 10 * time.Millisecond}
)

// server counts what its clients get: "ok 2s" for a grant after that wait, "busy" for a refusal.
type server struct {
	*Limiter
	t    *testing.T
	wg   sync.WaitGroup
	mu   sync.Mutex
	seen map[string]map[string]int
}

func newServer(t *testing.T) *server {
	t.Helper()
	return &server{Limiter: New(memory{ratelimit.NewMemory()}), t: t, seen: map[string]map[string]int{}}
}

// ask sends one client to the server, and returns when it waits or is gone again.
func (s *server) ask(p Pace, client, network string) {
	s.wg.Go(func() {
		began := time.Now()
		err := s.Wait(s.t.Context(), "s", p, tool.Caller{Client: client, Network: network})
		got := fmt.Sprint("ok ", time.Since(began).Round(time.Millisecond))
		var f *fault.Error
		if errors.As(err, &f) {
			got = "busy"
			if f.Kind != fault.Busy || f.Rule != fault.LimitProviderShare || f.RetryAfter <= 0 ||
				time.Since(began) != 0 { // of the bubble
				s.t.Errorf("%s: %+v after %v", client, f, time.Since(began))
			}
		} else if err != nil {
			s.t.Error(err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.seen[client] == nil {
			s.seen[client] = map[string]int{}
		}
		s.seen[client][got]++
	})
	synctest.Wait()
}

func (s *server) want(client string, want map[string]int) {
	s.t.Helper()
	s.wg.Wait()
	if got := fmt.Sprint(s.seen[client]); got != fmt.Sprint(want) {
		s.t.Errorf("%s: %s, want %v", client, got, want)
	}
}

// A client alone gets half of the bucket and its share; others find the rest and the tokens to come, whatever the first
// goes on to query.
func TestOneClientLeavesRoomForOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		for range 50 {
			s.ask(pace, "greedy", "")
		}
		for _, client := range []string{"a", "b", "c", "d", "e"} {
			s.ask(pace, client, "")
		}
		s.want("greedy", map[string]int{"ok 0s": 4, "ok 1s": 1, "busy": 45})
		for i, client := range []string{"a", "b", "c", "d"} {
			s.want(client, map[string]int{fmt.Sprintf("ok %ds", i+2): 1})
		}
		s.want("e", map[string]int{"busy": 1})
		// While the bucket is less than half full the greedy one has one token in four: the others never find it empty.
		for i := range 100 {
			for range 3 {
				s.ask(pace, "greedy", "")
			}
			s.ask(pace, fmt.Sprint("late ", i), "")
			time.Sleep(2 * time.Second)
		}
		s.wg.Wait()
		for i := range 100 {
			if s.seen[fmt.Sprint("late ", i)]["busy"] > 0 {
				t.Errorf("late client %d is refused", i)
			}
		}
	})
}

// The clients of one network have a share together.
func TestOneNetworkLeavesRoomForOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		granted := 0
		for i := range 50 {
			s.ask(pace, fmt.Sprint(i), "net")
		}
		s.ask(pace, "other", "")
		s.wg.Wait()
		for i := range 50 {
			granted += 1 - s.seen[fmt.Sprint(i)]["busy"]
		}
		if granted != pace.Burst/2+1+pace.Burst {
			t.Errorf("%d clients of the network get a token", granted)
		}
		s.want("other", map[string]int{"ok 4s": 1})
	})
}

// A server whose bucket is drained leaves the others alone, and its own is full again after its time.
func TestServersAreApart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		for i := range 9 {
			s.ask(pace, fmt.Sprint(i), "")
		}
		if err := s.Wait(t.Context(), "other", pace, tool.Caller{Client: "1"}); err != nil {
			t.Error(err)
		}
		s.ask(pace, "refused", "")
		s.want("refused", map[string]int{"busy": 1})
		time.Sleep(9 * time.Second)
		s.ask(pace, "later", "")
		s.want("later", map[string]int{"ok 0s": 1})
	})
}

// At most MaxWaiting requests wait, however fast the pace is.
func TestMaxWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		for i := range fast.Burst + MaxWaiting + 1 {
			s.ask(fast, fmt.Sprint(i), "")
		}
		s.want(fmt.Sprint(fast.Burst+MaxWaiting-1), map[string]int{"ok 200ms": 1})
		s.want(fmt.Sprint(fast.Burst+MaxWaiting), map[string]int{"busy": 1})
	})
}

// A wait ends with its context, and none begins that would outlast it.
func TestContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		for i := range pace.Burst {
			s.ask(pace, fmt.Sprint(i), "")
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(500*time.Millisecond, cancel)
		if err := s.Wait(ctx, "s", pace, tool.Caller{Client: "gone"}); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		for _, limit := range []time.Duration{time.Second, 5 * time.Second} {
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			err := s.Wait(ctx, "s", pace, tool.Caller{Client: limit.String()})
			if (err == nil) != (limit > time.Second) {
				t.Errorf("with %v: %v", limit, err)
			}
			cancel()
		}
		if err := New(broken{}).Wait(t.Context(), "s", pace, tool.Caller{}); !errors.Is(err, errBroken) {
			t.Errorf("%v", err)
		}
		if err := (*Limiter)(nil).Wait(t.Context(), "s", pace, tool.Caller{}); err != nil {
			t.Error(err)
		}
	})
}

var errBroken = errors.New("broken")

type broken struct{}

func (broken) Take(context.Context, string, int, time.Duration) (bool, time.Duration, error) {
	return false, 0, errBroken
}
