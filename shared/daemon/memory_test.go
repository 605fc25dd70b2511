package daemon

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// What is held over some seconds, one look after the other, and when it is given back.
func TestGiveBack(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	all := func(n int, held uint64) []uint64 { return slices.Repeat([]uint64{held}, n) }
	tests := []struct {
		name      string
		start     uint64
		held      []uint64 // at each look
		allocated uint64   // before each look of those that are busy
		busy      int      // how many looks from the first are
		needed    uint64   // what is left after collecting
		collected []int    // the looks that collected
	}{
		{"nothing happens", 30, all(3, 30), 0, 0, 30, nil},
		{"a little more stays", 30, all(3, 62), 0, 0, 30, nil},
		{"a peak that is over", 30, []uint64{63, 63, 30}, 8, 1, 30, []int{2}},
		{"hardly anything going on", 30, []uint64{63, 30}, 7, 1, 30, []int{1}},
		{"a peak that goes on is let go on", 30, []uint64{100, 200, 300, 250}, 50, 3, 30, []int{4}},
		{"what is needed is not asked for again at once", 30, all(9, 100), 0, 0, 100, []int{1}},
		{"what was needed may not be any more", 30, all(21, 100), 0, 0, 100, []int{1, 10, 20}},
		{"from less, less is a peak", 100, []uint64{30, 63, 30}, 0, 0, 30, []int{2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var held, allocated, look atomic.Uint64
				held.Store(tt.start * mib)
				var collected []int
				m := memory{held: held.Load, allocated: allocated.Load, collect: func() {
					collected = append(collected, int(look.Load()))
					held.Store(tt.needed * mib)
				}}
				ctx, stop := context.WithCancel(t.Context())
				done := make(chan struct{})
				go func() {
					defer close(done)
					m.giveBack(ctx)
				}()
				synctest.Wait()
				for i, n := range tt.held {
					held.Store(n * mib)
					look.Store(uint64(i + 1))
					if i < tt.busy {
						allocated.Add(tt.allocated * mib)
					}
					time.Sleep(memoryLook)
					synctest.Wait()
				}
				stop()
				<-done
				if !slices.Equal(collected, tt.collected) {
					t.Errorf("collected at looks %v, want %v", collected, tt.collected)
				}
			})
		})
	}
}

// waste takes memory that is free again when it returns.
func waste(size int) {
	bytes := make([]byte, size)
	for i := 0; i < len(bytes); i += 4096 {
		bytes[i] = 1
	}
}

func TestProcessMemory(t *testing.T) {
	m := processMemory()
	if held := m.held(); held < 1<<20 || held > 1<<40 {
		t.Errorf("%d bytes are held", held)
	}
	waste(256 << 20)
	full := m.held()
	m.collect()
	after := m.held()
	for start := time.Now(); after+128<<20 > full && time.Since(start) < 20*time.Second; after = m.held() {
		time.Sleep(10 * time.Millisecond)
	}
	if after+128<<20 > full {
		t.Errorf("%d MiB before, %d after", full>>20, after>>20)
	}
}
