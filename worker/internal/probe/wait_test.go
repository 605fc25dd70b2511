package probe

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// waits are what a budget's waits were told as.
type waits struct {
	mu  sync.Mutex
	all []time.Duration
}

func (w *waits) add(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, d)
}

// Four pings at once under a budget of ten probes a second take turns: each has a probe every 400 ms, and wants the
// next one half a gap (100 ms) after the last. A ping by itself waits for nothing, however long it pauses between its
// probes.
func TestWaitsAreTold(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		jobs         int
		longest      time.Duration
		told, atOnce int
	}{
		"one":  {1, 0, 10, 10},
		"four": {4, 300 * time.Millisecond, 40, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := &waits{}
				p := New(nil, Options{Budget: NewBudget(10, 0), Waited: w.add})
				var all sync.WaitGroup
				for range tt.jobs {
					job := *p
					job.network = chain(1)
					all.Go(func() {
						if _, err := job.Ping(t.Context(), simTarget); err != nil {
							t.Error(err)
						}
					})
				}
				all.Wait()
				atOnce := 0
				for _, d := range w.all {
					if d < 0 {
						t.Errorf("a wait of %v", d)
					}
					if d == 0 {
						atOnce++
					}
				}
				if len(w.all) != tt.told || atOnce != tt.atOnce || slices.Max(w.all) != tt.longest {
					t.Errorf("%d were told, %d of them nothing, the longest %v", len(w.all), atOnce, slices.Max(w.all))
				}
			})
		})
	}
}
