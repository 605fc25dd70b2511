package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"diagnostics/daemon/daemontest"
	"diagnostics/daemon/files"
	"diagnostics/gateway/internal/config"
	"diagnostics/gateway/internal/httpapi"
	"diagnostics/gateway/internal/redis/breaker"
	"diagnostics/gateway/internal/redis/breaker/redistest"
	"diagnostics/shared/logtest"
	"diagnostics/shared/parallel"
	"diagnostics/shared/waittest"

	"github.com/redis/go-redis/v9"
)

// What cannot be used keeps what was read before.
func TestBadSecretsAreNotTaken(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "\n", "a b", "one,two,three", "a\x00b"} {
		if _, err := config.ParseWorkerToken([]byte(bad)); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	s := &service{}
	if err := s.setRedisPassword([][]byte{[]byte("\n")}); err == nil || s.redisPassword.Load() != nil {
		t.Error("an empty password is taken")
	}
}

// The procedure of docs/operations.md: Redis takes two passwords for a while, and no request is the worse for it,
// though every connection is made anew with each of them.
func TestRedisPasswordIsRotatedUnderTraffic(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, "--requirepass", "old")
	path := daemontest.File(t, t.TempDir(), "password", []byte("old\n"))
	env := []string{"RATE_LIMIT_REDIS_URL=redis://" + server.Addr(), "RATE_LIMIT_REDIS_TOKEN_FILE=" + path}
	c, err := config.Parse(env)
	if err != nil {
		t.Fatal(err)
	}
	var log logtest.Journal
	s := &service{metrics: httpapi.NewMetrics(), files: &files.Watcher{}}
	s.newLimiter(c, slog.New(slog.NewTextHandler(&log, nil)))
	t.Cleanup(func() { _ = s.breaker.Close() })
	s.watchSecrets(env)
	hangups := make(chan os.Signal)
	ctx, cancel := context.WithCancel(t.Context())
	watching := parallel.Start(func() bool {
		s.files.Run(ctx, hangups, slog.New(slog.DiscardHandler))
		return true
	})
	t.Cleanup(func() { cancel(); watching.Wait() })

	admin := redis.NewClient(&redis.Options{Addr: server.Addr(), Password: "old"})
	t.Cleanup(func() { _ = admin.Close() })
	do := func(args ...any) {
		t.Helper()
		if err := admin.Do(t.Context(), args...).Err(); err != nil {
			t.Fatal(args[0], err)
		}
	}
	// Whatever the traffic finds broken is tried once more, on a connection that is made with the password of now.
	var asked, failed atomic.Int64
	write := func(ctx context.Context, client redis.UniversalClient) error {
		return client.Set(ctx, "key", "1", time.Minute).Err()
	}
	var traffic parallel.Group
	over := make(chan struct{})
	for range 4 {
		traffic.Go(func() {
			for {
				select {
				case <-over:
					return
				case <-time.After(time.Millisecond):
				}
				asked.Add(1)
				if err := s.breaker.Do(ctx, breaker.CacheSet, write); err != nil {
					failed.Add(1)
				}
			}
		})
	}
	// pause waits until each connection has been used since.
	pause := func() {
		until := asked.Load() + 20
		waittest.Until(t, "twenty requests more", func() bool { return asked.Load() >= until })
	}
	pause()
	do("ACL", "SETUSER", "default", ">new")
	daemontest.File(t, filepath.Dir(path), "password", []byte("new\n"))
	hangups <- os.Interrupt // whatever comes is taken for a SIGHUP
	pause()
	do("ACL", "SETUSER", "default", "<old")
	pause()
	// Those that were made with the old password go on; those that take their places have the new one.
	if failed.Load() != 0 || s.breaker.State() != breaker.OK {
		t.Errorf("%d of %d failed, redis is %s: %s", failed.Load(), asked.Load(), s.breaker.State(), log.String())
	}
	do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
	pause()
	close(over)
	traffic.Wait()
	if failed.Load() != 0 || s.breaker.State() != breaker.OK || asked.Load() < 20 || log.String() != "" {
		t.Errorf("%d of %d failed, redis is %s: %s", failed.Load(), asked.Load(), s.breaker.State(), log.String())
	}
	if f := s.files.All()[0]; f.Name() != "redis_password" || f.Reloaded() != 1 || f.Failed() != 0 {
		t.Errorf("%s: reloaded %d times, failed %d times", f.Name(), f.Reloaded(), f.Failed())
	}
	t.Logf("%d requests, none failed", asked.Load())
}
