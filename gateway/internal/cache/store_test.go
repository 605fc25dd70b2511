package cache

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"diagnostics/gateway/internal/redis/breaker"
	"diagnostics/gateway/internal/redis/breaker/redistest"

	"github.com/alicebob/miniredis/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"
)

// bench is one store under test and the means to let time pass in it.
type bench struct {
	store   Store
	advance func(time.Duration)
	// ticks is set for a store with a clock that no test can stop.
	ticks bool
}

// newGuard waits as long as a busy machine may take.
func newGuard(t *testing.T, addr string) *breaker.Breaker {
	t.Helper()
	o := &redis.UniversalOptions{Addrs: []string{addr}}
	breaker.Tune(o)
	o.ReadTimeout, o.WriteTimeout, o.PoolTimeout, o.DialTimeout = time.Minute, time.Minute, time.Minute, time.Minute
	g := breaker.New(redis.NewUniversalClient(o), slog.New(slog.DiscardHandler), breaker.WithPatience(time.Minute))
	t.Cleanup(func() { _ = g.Close() })
	return g
}

func newMemory(t *testing.T, maxBytes uint64) (*Memory, func(time.Duration)) {
	t.Helper()
	var passed atomic.Int64
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	m := NewMemory(maxBytes, WithClock(func() time.Time { return start.Add(time.Duration(passed.Load())) }))
	t.Cleanup(m.Close)
	return m, func(d time.Duration) { passed.Add(int64(d)) }
}

func stores() map[string]func(*testing.T) bench {
	mini := func(t *testing.T) (Store, func(time.Duration)) {
		server := miniredis.RunT(t)
		return NewRedis(newGuard(t, server.Addr())), server.FastForward
	}
	return map[string]func(*testing.T) bench{
		"memory": func(t *testing.T) bench {
			m, advance := newMemory(t, 1<<20)
			return bench{store: m, advance: advance}
		},
		"miniredis": func(t *testing.T) bench {
			s, advance := mini(t)
			return bench{store: s, advance: advance}
		},
		"redis-server": func(t *testing.T) bench {
			// A real server has a clock of its own, which no test can advance.
			return bench{store: NewRedis(newGuard(t, redistest.Start(t).Addr())), advance: time.Sleep, ticks: true}
		},
		"fallback": func(t *testing.T) bench {
			s, advanceShared := mini(t)
			m, advanceLocal := newMemory(t, 1<<20)
			return bench{store: NewFallback(s, m), advance: func(d time.Duration) { advanceShared(d); advanceLocal(d) }}
		},
	}
}

func TestStore(t *testing.T) {
	t.Parallel()
	cases := map[string]func(*testing.T, bench){
		"a missing key is no error": func(t *testing.T, b bench) {
			wantMiss(t, b.store, "missing")
		},
		"what was set is got": func(t *testing.T, b bench) {
			for _, value := range []string{"", "v", "\x00\xff binary", strings.Repeat("x", 200_000)} {
				set(t, b.store, "key", value, time.Minute)
				wantHit(t, b.store, "key", value)
			}
		},
		"keys are apart, whatever they hold": func(t *testing.T, b bench) {
			keys := []string{"", "a", "a:b", "A", "a\r\nDEL a", strings.Repeat("k", 5000), strings.Repeat("k", 5001), "ключ"}
			for i, key := range keys {
				set(t, b.store, key, fmt.Sprint(i), time.Minute)
			}
			for i, key := range keys {
				wantHit(t, b.store, key, fmt.Sprint(i))
			}
		},
		"an entry ends with its own ttl": func(t *testing.T, b bench) {
			const ttl = 120 * time.Millisecond
			set(t, b.store, "long", "2", time.Minute)
			began := time.Now()
			set(t, b.store, "short", "1", ttl)
			got, ok, err := b.store.Get(t.Context(), "short")
			over := b.ticks && time.Since(began) >= ttl // on a busy machine
			if err != nil || !over && (!ok || string(got) != "1") {
				t.Fatalf("before its end: %q, %t, %v", got, ok, err)
			}
			b.advance(125 * time.Millisecond)
			wantMiss(t, b.store, "short")
			wantHit(t, b.store, "long", "2")
		},
		"a new value has a new ttl": func(t *testing.T, b bench) {
			set(t, b.store, "key", "1", 120*time.Millisecond)
			set(t, b.store, "key", "2", time.Minute)
			b.advance(125 * time.Millisecond)
			wantHit(t, b.store, "key", "2")
		},
		"no ttl keeps nothing": func(t *testing.T, b bench) {
			for _, ttl := range []time.Duration{0, -1, -time.Hour} {
				set(t, b.store, "key", "1", time.Minute)
				set(t, b.store, "key", "2", ttl)
				wantMiss(t, b.store, "key")
			}
		},
		"the least ttl still ends": func(t *testing.T, b bench) {
			set(t, b.store, "key", "1", 1)
			b.advance(5 * time.Millisecond)
			wantMiss(t, b.store, "key")
		},
		"values are the store's own": func(t *testing.T, b bench) {
			value := []byte("value")
			if err := b.store.Set(t.Context(), "key", value, time.Minute); err != nil {
				t.Fatal(err)
			}
			value[0] = 'X'
			got, _, _ := b.store.Get(t.Context(), "key")
			got[1] = 'X'
			wantHit(t, b.store, "key", "value")
		},
	}
	for kind, make := range stores() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			for name, check := range cases {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					check(t, make(t))
				})
			}
		})
	}
}

func set(t *testing.T, s Store, key, value string, ttl time.Duration) {
	t.Helper()
	if err := s.Set(t.Context(), key, []byte(value), ttl); err != nil {
		t.Fatalf("Set(%.40q): %v", key, err)
	}
}

func wantHit(t *testing.T, s Store, key, want string) {
	t.Helper()
	got, ok, err := s.Get(t.Context(), key)
	if err != nil || !ok || string(got) != want {
		t.Fatalf("Get(%.40q) = %.40q, %t, %v; want %.40q", key, got, ok, err, want)
	}
}

func wantMiss(t *testing.T, s Store, key string) {
	t.Helper()
	if got, ok, err := s.Get(t.Context(), key); err != nil || ok || got != nil {
		t.Fatalf("Get(%.40q) = %.40q, %t, %v; want a miss", key, got, ok, err)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	const maxBytes = 1 << 20
	m, _ := newMemory(t, maxBytes)
	for i := range 100_000 {
		set(t, m, fmt.Sprintf("key-%d", i), "some value of some length", time.Hour)
	}
	m.entries.CleanUp()
	weight, size := m.entries.WeightedSize(), m.entries.EstimatedSize()
	if weight > maxBytes || size > maxBytes/entryOverhead {
		t.Errorf("100,000 entries weigh %d bytes (%d entries), want at most %d", weight, size, maxBytes)
	}
	if size < maxBytes/entryOverhead/2 {
		t.Errorf("%d entries are left, want the room used", size)
	}
}

func TestMemoryDropsExpired(t *testing.T) {
	t.Parallel()
	m, advance := newMemory(t, 1<<20)
	for i := range 100 {
		set(t, m, fmt.Sprint(i), "v", time.Second)
	}
	advance(3 * time.Second)
	m.entries.CleanUp()
	if n := m.entries.EstimatedSize(); n != 0 {
		t.Errorf("%d expired entries are left", n)
	}
}

func TestRedisKeysTellNothing(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	s := NewRedis(newGuard(t, server.Addr()))
	set(t, s, "whois:visitor-asked-for.example.com", "v", time.Hour)
	set(t, s, strings.Repeat("long", 1000), "v", time.Hour)
	for _, key := range server.Keys() {
		if key == "diagnostics:probe" {
			continue
		}
		if len(key) != len(redisPrefix)+43 || strings.Contains(key, "visitor") {
			t.Errorf("key %q", key)
		}
		if server.TTL(key) != time.Hour {
			t.Errorf("key %q lives %s", key, server.TTL(key))
		}
	}
}

func TestFallbackOutlivesItsSharedStore(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	m, _ := newMemory(t, 1<<20)
	s := NewFallback(NewRedis(newGuard(t, server.Addr())), m)
	set(t, s, "before", "1", time.Hour)
	server.Kill()
	wantHit(t, s, "before", "1")
	wantMiss(t, s, "other")
	set(t, s, "during", "2", time.Hour)
	wantHit(t, s, "during", "2")
}

func TestFallbackPrefersTheSharedStore(t *testing.T) {
	t.Parallel()
	shared, _ := newMemory(t, 1<<20)
	local, _ := newMemory(t, 1<<20)
	s := NewFallback(shared, local)
	set(t, s, "key", "old", time.Hour)
	set(t, shared, "key", "another instance's", time.Hour)
	wantHit(t, s, "key", "another instance's")
	set(t, shared, "key", "", 0)
	wantMiss(t, s, "key")
}

func TestEnvelope(t *testing.T) {
	t.Parallel()
	type value struct {
		Name string
		List []int
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)
	sealed, err := seal("key", Entry[value]{Value: value{"n", []int{1, 2}}, FetchedAt: at})
	if err != nil {
		t.Fatal(err)
	}
	got, ok := open[value]("key", sealed)
	if diff := cmp.Diff(Entry[value]{Value: value{"n", []int{1, 2}}, FetchedAt: at, Cached: true}, got); !ok ||
		diff != "" {
		t.Errorf("opened %t, -want +got:\n%s", ok, diff)
	}
	for i := range sealed {
		damaged := append([]byte(nil), sealed...)
		damaged[i] ^= 0x40
		if _, ok := open[value]("key", damaged); ok {
			t.Errorf("a flipped bit in byte %d goes unseen", i)
		}
		if _, ok := open[value]("key", sealed[:i]); ok {
			t.Errorf("%d of %d bytes are taken", i, len(sealed))
		}
	}
	if _, ok := open[value]("key", append(sealed, ' ')); ok {
		t.Error("a byte too many is taken")
	}
	if _, ok := open[value]("other", sealed); ok {
		t.Error("a value of another key is taken")
	}
	if _, ok := open[[]string]("key", sealed); ok {
		t.Error("a value of another type is taken")
	}
	if _, err := seal("key", Entry[func()]{}); err == nil {
		t.Error("a func is sealed")
	}
}

func FuzzOpen(f *testing.F) {
	sealed, _ := seal("key", Entry[map[string]string]{Value: map[string]string{"a": "b"}, FetchedAt: time.Unix(1, 0)})
	f.Add(sealed)
	f.Add([]byte("dgc\x02"))
	f.Add([]byte(`{"Value":1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, ok := open[map[string]string]("key", b)
		if !ok {
			return
		}
		again, err := seal("key", e)
		if err != nil {
			t.Fatal(err)
		}
		if back, ok := open[map[string]string]("key", again); !ok || !cmp.Equal(back, e) {
			t.Fatalf("%v does not come back: %v", e, back)
		}
	})
}

// broken is a store that fails, where it has an error to fail with.
type broken struct{ err error }

func (b broken) Get(context.Context, string) ([]byte, bool, error)        { return nil, false, b.err }
func (b broken) Set(context.Context, string, []byte, time.Duration) error { return b.err }

// TestForeignTypesAreReplaced: a key of ours that holds no string is a miss, not a refusal without end.
func TestForeignTypesAreReplaced(t *testing.T) {
	t.Parallel()
	for server, addr := range map[string]string{
		"miniredis": miniredis.RunT(t).Addr(), "redis-server": redistest.Start(t).Addr(),
	} {
		client := redis.NewClient(&redis.Options{Addr: addr})
		t.Cleanup(func() { _ = client.Close() })
		var refused strings.Builder
		o := &redis.UniversalOptions{Addrs: []string{addr}}
		breaker.Tune(o)
		guard := breaker.New(redis.NewUniversalClient(o), slog.New(slog.NewTextHandler(&refused, nil)))
		local, _ := newMemory(t, 1<<20)
		for kind, put := range map[string]func(key string) error{
			"list":  func(key string) error { return client.RPush(t.Context(), key, "1").Err() },
			"hash":  func(key string) error { return client.HSet(t.Context(), key, "a", "1").Err() },
			"set":   func(key string) error { return client.SAdd(t.Context(), key, "1").Err() },
			"zset":  func(key string) error { return client.ZAdd(t.Context(), key, redis.Z{Member: "1"}).Err() },
			"bytes": func(key string) error { return client.Set(t.Context(), key, "dgc\x01 cut", 0).Err() },
		} {
			if err := put(breaker.Key(redisPrefix, "kind:"+kind)); err != nil {
				t.Fatal(err)
			}
			l := NewLoading[string](NewFallback(NewRedis(guard), local), "kind", time.Hour)
			e, err := l.Get(t.Context(), kind, nil, give("fresh", time.Minute))
			if err != nil || e.Value != "fresh" || e.Cached {
				t.Errorf("%s, %s: %+v, %v", server, kind, e, err)
			}
			// Another instance, whose memory is empty, finds what was stored in its place.
			other := NewLoading[string](NewRedis(guard), "kind", time.Hour)
			if e, err = other.Get(t.Context(), kind, nil, forbidden[string](t)); err != nil || !e.Cached || e.Value != "fresh" {
				t.Errorf("%s, %s is not replaced: %+v, %v", server, kind, e, err)
			}
		}
		if err := guard.Close(); err != nil || refused.Len() > 0 {
			t.Errorf("%s: %v, logged %s", server, err, refused.String())
		}
	}
}
