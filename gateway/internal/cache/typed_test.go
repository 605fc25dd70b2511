package cache

import (
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/redis/breaker"
	"diagnostics/gateway/internal/redis/breaker/redistest"
)

// A foreign value in a shared store is a miss, and is replaced by a fetched one.
func TestPoisonedEntries(t *testing.T) {
	t.Parallel()
	now := time.Now()
	sealed := func(key string, value any, at time.Time) string {
		s, err := seal(key, Entry[any]{Value: value, FetchedAt: at})
		if err != nil {
			t.Fatal(err)
		}
		return string(s)
	}
	short := func(v string) bool { return len(v) <= 8 }
	for name, c := range map[string]struct {
		kept string
		ok   bool
	}{
		"as it was kept":              {sealed("kind:key", "kept", now), true},
		"as old as may be":            {sealed("kind:key", "kept", now.Add(-time.Hour+time.Minute)), true},
		"too old":                     {sealed("kind:key", "kept", now.Add(-time.Hour-time.Minute)), false},
		"of a clock ahead of ours":    {sealed("kind:key", "kept", now.Add(maxAhead/2)), true},
		"from the future":             {sealed("kind:key", "kept", now.Add(maxAhead+time.Minute)), false},
		"from the end of time":        {sealed("kind:key", "kept", time.Unix(0, 1<<63-1)), false},
		"from the beginning of time":  {sealed("kind:key", "kept", time.Unix(0, -1<<63)), false},
		"of another key":              {sealed("kind:other", "kept", now), false},
		"of another kind":             {sealed("other:key", "kept", now), false},
		"that does not fit":           {sealed("kind:key", "kept too long", now), false},
		"of another type":             {sealed("kind:key", 5, now), false},
		"of the form before this one": {"dgc\x01" + sealed("kind:key", "kept", now)[4:], false},
		"compressed":                  {"\x1f\x8b\x08\x00", false},
		"nothing":                     {"", false},
	} {
		m, _ := newMemory(t, 1<<20)
		set(t, m, "kind:key", c.kept, time.Hour)
		l := NewLoading[string](m, "kind", time.Hour)
		e, err := l.Get(t.Context(), "key", short, give("fresh", time.Minute))
		if err != nil || e.Cached != c.ok || (e.Value == "kept") != c.ok {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
		if e, err = l.Get(t.Context(), "key", short, forbidden[string](t)); err != nil || !e.Cached {
			t.Errorf("%s is not replaced: %+v, %v", name, e, err)
		}
	}
}

// A value over a megabyte is a miss, of which no more than that is read, and never kept.
func TestLongValues(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	guard := newGuard(t, server.Addr())
	store := NewRedis(guard)
	for size, ok := range map[int]bool{maxValue: true, maxValue + 1: false} {
		value := strings.Repeat("x", size)
		if err := store.Set(t.Context(), "ours", []byte(value), time.Hour); (err == nil) != ok {
			t.Errorf("%d bytes are kept with %v", size, err)
		}
		if err := server.Client().Set(t.Context(), breaker.Key(redisPrefix, "theirs"), value, 0).Err(); err != nil {
			t.Fatal(err)
		}
		got, found, err := store.Get(t.Context(), "theirs")
		if err != nil || found != ok || found && string(got) != value {
			t.Errorf("%d bytes: found %t, %d bytes, %v", size, found, len(got), err)
		}
	}
	theirs := breaker.Key(redisPrefix, "theirs")
	if err := server.Client().Do(t.Context(), "SETRANGE", theirs, 8<<20, "x").Err(); err != nil {
		t.Fatal(err)
	}
	if _, found, err := store.Get(t.Context(), "theirs"); found || err != nil || guard.State() != breaker.OK {
		t.Errorf("8 MiB: found %t, %v, Redis is %s", found, err, guard.State())
	}
}
