package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"diagnostics/daemon/daemontest"
	"diagnostics/daemon/daemontest/testca"
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

// A file that cannot be read stops the start with the setting's name; one without effect is logged.
func TestWorkerTLSFiles(t *testing.T) {
	t.Parallel()
	dir, ca := t.TempDir(), testca.New(t, "worker")
	put := func(name string, content []byte) string { return daemontest.File(t, dir, name, content) }
	cert, key := ca.Issue(t, time.Hour, "gateway")
	_, foreign := ca.Issue(t, time.Hour, "other")
	good, goodKey, roots := put("cert", cert), put("key", key), put("ca", ca.PEM())
	for _, tt := range []struct{ url, ca, cert, key, says, logs string }{
		{"https://worker", roots, good, goodKey, "", ""},
		{"https://worker", "", "", "", "", ""},
		{"http://worker", roots, "", "", "", "do nothing"},
		{"https://worker", good + "none", "", "", "DIAGNOSTICS_WORKER_CA_FILE takes a file of certificates in PEM: it cannot be read", ""},
		{"https://worker", goodKey, "", "", "DIAGNOSTICS_WORKER_CA_FILE takes a file of certificates in PEM: it holds no certificate in PEM", ""},
		{"https://worker", "", good, put("foreign", foreign),
			"DIAGNOSTICS_WORKER_CLIENT_CERT_FILE with DIAGNOSTICS_WORKER_CLIENT_KEY_FILE takes a certificate and its private key in PEM: the key does not belong", ""},
	} {
		c, err := config.Parse([]string{"DIAGNOSTICS_WORKER_URL=" + tt.url, "DIAGNOSTICS_WORKER_CA_FILE=" + tt.ca,
			"DIAGNOSTICS_WORKER_CLIENT_CERT_FILE=" + tt.cert, "DIAGNOSTICS_WORKER_CLIENT_KEY_FILE=" + tt.key})
		if err != nil {
			t.Fatal(err)
		}
		var log logtest.Journal
		_, err = newWorkerTLS(c, &files.Watcher{}, slog.New(slog.NewTextHandler(&log, nil)))
		if (err == nil) != (tt.says == "") || err != nil && !strings.HasPrefix(err.Error(), tt.says) {
			t.Errorf("%+v: %v", tt, err)
		}
		if log.String() != "" && (tt.logs == "" || !strings.Contains(log.String(), tt.logs)) ||
			log.String() == "" && tt.logs != "" {
			t.Errorf("%+v: %q", tt, log.String())
		}
	}
}

// A token that the worker could not be sent keeps the one before.
func TestBadSecretsAreNotTaken(t *testing.T) {
	t.Parallel()
	s := &service{}
	for _, bad := range []string{"", "\n", "a b", "one,two,three", "a\x00b"} {
		if err := s.takeToken([][]byte{[]byte(bad)}); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	if err := s.takeRedisPassword([][]byte{[]byte("\n")}); err == nil || s.redisPassword.Load() != nil {
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
