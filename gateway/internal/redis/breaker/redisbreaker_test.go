package breaker_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/gateway/internal/redis/breaker"
	"diagnostics/gateway/internal/redis/breaker/redistest"
	"diagnostics/shared/logtest"
	"diagnostics/shared/waittest"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

func TestMain(m *testing.M) { redistest.Main(m) }

type journal = logtest.Journal

func newGuard(t *testing.T, addr string) (*breaker.Breaker, *journal) {
	t.Helper()
	o := &redis.UniversalOptions{Addrs: []string{addr}}
	breaker.Tune(o)
	log := &journal{}
	b := breaker.New(redis.NewUniversalClient(o), slog.New(slog.NewTextHandler(log, nil)))
	t.Cleanup(func() { _ = b.Close() })
	return b, log
}

func await(t *testing.T, b *breaker.Breaker, state string) {
	t.Helper()
	waittest.Until(t, state, func() bool { return b.State() == state })
}

func write(ctx context.Context, c redis.UniversalClient) error {
	return c.Set(ctx, "key", "value", time.Minute).Err()
}

func TestDoGivesTheClientAndTheError(t *testing.T) {
	t.Parallel()
	b, log := newGuard(t, miniredis.RunT(t).Addr())
	if err := b.Do(t.Context(), breaker.Limits, write); err != nil {
		t.Fatal(err)
	}
	err := b.Do(t.Context(), breaker.Limits, func(ctx context.Context, c redis.UniversalClient) error {
		deadline, ok := ctx.Deadline()
		if !ok || time.Until(deadline) > breaker.Bound {
			t.Errorf("deadline %v, %t", deadline, ok)
		}
		return c.Get(ctx, "missing").Err()
	})
	if !errors.Is(err, redis.Nil) || b.State() != breaker.OK || log.String() != "" {
		t.Errorf("a missing key: %v, state %s, log %q", err, b.State(), log)
	}
}

// panicky is a driver that panics while it is on.
type panicky struct{ on atomic.Bool }

func (p *panicky) DialHook(next redis.DialHook) redis.DialHook { return next }

func (p *panicky) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if p.on.Load() {
			panic("boom")
		}
		return next(ctx, cmd)
	}
}

func (p *panicky) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func TestAPanicOfTheDriverIsAnOutage(t *testing.T) {
	t.Parallel()
	o := &redis.UniversalOptions{Addrs: []string{miniredis.RunT(t).Addr()}}
	breaker.Tune(o)
	client, driver, log := redis.NewUniversalClient(o), &panicky{}, &journal{}
	driver.on.Store(true)
	client.AddHook(driver)
	b := breaker.New(client, slog.New(slog.NewTextHandler(log, nil)))
	t.Cleanup(func() { _ = b.Close() })
	await(t, b, breaker.Down)
	if !strings.Contains(log.String(), "breaker_test.(*panicky)") {
		t.Errorf("logged without a stack: %s", log)
	}
	driver.on.Store(false)
	await(t, b, breaker.OK)
}

func TestCheckNoticesWhatNobodyAskedFor(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	b, _ := newGuard(t, server.Addr())
	if got := b.Check(t.Context()); got != breaker.OK {
		t.Fatalf("with Redis: %s", got)
	}
	<-b.Probed()
	server.Close()
	if got := b.State(); got != breaker.OK {
		t.Fatalf("no one has asked, and the state is %s", got)
	}
	// Check reuses its result for a second.
	waittest.Until(t, "the loss is noticed", func() bool { return b.Check(t.Context()) == breaker.Down })
}

func TestErrorsThatMeanAnOutage(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		err  error
		want string
	}{
		"connection refused":    {syscall.ECONNREFUSED, breaker.Down},
		"end of file":           {io.EOF, breaker.Down},
		"timeout":               {context.DeadlineExceeded, breaker.Down},
		"no connection free":    {redis.ErrPoolTimeout, breaker.Down},
		"not the protocol":      {errors.New("redis: can't parse reply"), breaker.Down},
		"loading":               {reply("LOADING Redis is loading the dataset in memory"), breaker.Down},
		"replica":               {reply("READONLY You can't write against a read only replica."), breaker.Down},
		"full":                  {reply("OOM command not allowed when used memory > 'maxmemory'."), breaker.Down},
		"full, inside a script": {reply("ERR Error running script (call to f_1): @user_script:1: -OOM command not allowed"), breaker.Down},
		"cannot save":           {reply("MISCONF Redis is configured to save RDB snapshots"), breaker.Down},
		"busy":                  {reply("BUSY Redis is busy running a script."), breaker.Down},
		"no password":           {reply("NOAUTH Authentication required."), breaker.Down},
		"wrong password":        {reply("WRONGPASS invalid username-password pair"), breaker.Down},
		"no right":              {reply("NOPERM this user has no permissions"), breaker.Down},
		"too many clients":      {reply("ERR max number of clients reached"), breaker.Down},
		"broken cluster":        {reply("CLUSTERDOWN Hash slot not served"), breaker.Down},
		"wrapped":               {fmt.Errorf("take: %w", reply("READONLY You can't write")), breaker.Down},
		"wrong type":            {reply("WRONGTYPE Operation against a key holding the wrong kind of value"), breaker.OK},
		"a key that is there":   {reply("BUSYKEY Target key name already exists."), breaker.OK},
		"no script":             {reply("NOSCRIPT No matching script."), breaker.OK},
		"another error":         {reply("ERR unknown command"), breaker.OK},
		"no value":              {redis.Nil, breaker.OK},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, _ := newGuard(t, miniredis.RunT(t).Addr())
			err := b.Do(t.Context(), breaker.Limits, func(context.Context, redis.UniversalClient) error { return c.err })
			if !errors.Is(err, c.err) || b.State() != c.want {
				t.Errorf("%v, state %s; want %v, %s", err, b.State(), c.err, c.want)
			}
		})
	}
}

// reply is an error that Redis replied with.
type reply string

func (r reply) Error() string { return string(r) }
func (reply) RedisError()     {}

func TestWhileDownNothingIsAsked(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	b, log := newGuard(t, server.Addr())
	<-b.Probed()
	server.Close()
	if err := b.Do(t.Context(), breaker.Limits, write); err == nil || errors.Is(err, breaker.ErrDown) {
		t.Fatalf("the first call gives its own error, got %v", err)
	}
	for range 1000 {
		err := b.Do(t.Context(), breaker.Limits, func(context.Context, redis.UniversalClient) error {
			t.Error("redis was asked")
			return nil
		})
		if !errors.Is(err, breaker.ErrDown) {
			t.Fatalf("got %v", err)
		}
	}
	if n := strings.Count(log.String(), "level=WARN"); n != 1 {
		t.Errorf("%d warnings:\n%s", n, log)
	}
}

// What a PING does not notice: the server answers and yet cannot serve.
func TestProbeWrites(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ breaks, mends []any }{
		"full memory": {[]any{"CONFIG", "SET", "maxmemory", "1"}, []any{"CONFIG", "SET", "maxmemory", "0"}},
		"replica":     {[]any{"REPLICAOF", "127.0.0.1", "1"}, []any{"REPLICAOF", "NO", "ONE"}},
		"no right":    {[]any{"ACL", "SETUSER", "limited", "-eval"}, []any{"ACL", "SETUSER", "limited", "+eval"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t)
			admin := server.Client()
			do(t, admin, "ACL", "SETUSER", "limited", "on", ">password", "~*", "+@all")
			o := server.Options()
			o.Username, o.Password = "limited", "password"
			// The clock of the bubble stands still during calls to Redis.
			synctest.Test(t, func(t *testing.T) {
				b := breaker.New(redis.NewUniversalClient(o), slog.New(slog.DiscardHandler))
				defer b.Close()
				script := func(ctx context.Context, c redis.UniversalClient) error {
					return c.Eval(ctx, "return redis.call('SET', KEYS[1], 1)", []string{"k"}).Err()
				}
				if err := b.Do(t.Context(), breaker.Limits, script); err != nil || b.Check(t.Context()) != breaker.OK {
					t.Fatal(err)
				}
				do(t, admin, c.breaks...)
				time.Sleep(2 * time.Second)
				if state := b.Check(t.Context()); state != breaker.Down {
					t.Errorf("who asks for readiness is told that it is %s", state)
				}
				time.Sleep(time.Minute)
				if b.State() != breaker.Down {
					t.Error("back before it can serve")
				}
				do(t, admin, c.mends...)
				await(t, b, breaker.OK)
				if err := b.Do(t.Context(), breaker.Limits, script); err != nil {
					t.Errorf("mended: %v", err)
				}
			})
		})
	}
}

func do(t *testing.T, c redis.UniversalClient, args ...any) {
	t.Helper()
	if err := c.Do(t.Context(), args...).Err(); err != nil {
		t.Fatal(err)
	}
}

func TestStartIsProbedWithoutWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		b, _ := silentGuard(t)
		if took := time.Since(start); took != 0 { // of the bubble's clock
			t.Errorf("New took %s", took)
		}
		await(t, b, breaker.Down)
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
}

// silentGuard is a Breaker before a Redis that accepts connections and never answers.
func silentGuard(t *testing.T) (*breaker.Breaker, *journal) {
	t.Helper()
	o := &redis.UniversalOptions{Addrs: []string{"redis.example:6379"}}
	breaker.Tune(o)
	o.Dialer = redistest.Silent
	log := &journal{}
	return breaker.New(redis.NewUniversalClient(o), slog.New(slog.NewTextHandler(log, nil))), log
}

// A host that drops packets: the connection is never even refused.
func TestConnectThatHangsIsBounded(t *testing.T) {
	t.Parallel()
	b, _ := newGuard(t, fullBacklog(t))
	// The kernel would try for two minutes and then give another error.
	if err := b.Do(t.Context(), breaker.Limits, write); !errors.Is(err, os.ErrDeadlineExceeded) &&
		!errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// fullBacklog is a listener that accepts nothing and whose queue is full: further SYNs are dropped.
func fullBacklog(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	addr := fmt.Sprintf("127.0.0.1:%d", name.(*syscall.SockaddrInet4).Port)
	for range 10 {
		conn, err := net.DialTimeout("tcp4", addr, 100*time.Millisecond)
		if err != nil {
			return addr
		}
		t.Cleanup(func() { _ = conn.Close() })
	}
	t.Fatal("the queue never fills")
	return ""
}

func TestCallerThatLeavesIsNoOutage(t *testing.T) {
	t.Parallel()
	b, log := newGuard(t, miniredis.RunT(t).Addr())
	ctx, cancel := context.WithCancel(t.Context())
	err := b.Do(ctx, breaker.Limits, func(ctx context.Context, _ redis.UniversalClient) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	})
	if !errors.Is(err, context.Canceled) || b.State() != breaker.OK || log.String() != "" {
		t.Errorf("%v, state %s, log %q", err, b.State(), log)
	}
}

// lateTimer is a context whose deadline has passed a moment before its timer fires.
type lateTimer struct{ context.Context }

func (lateTimer) Deadline() (time.Time, bool) { return time.Now().Add(-time.Millisecond), true }

func TestDeadlineOfTheCallerBeforeItsTimer(t *testing.T) {
	t.Parallel()
	b, log := newGuard(t, miniredis.RunT(t).Addr())
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := b.Do(lateTimer{ctx}, breaker.Limits, func(context.Context, redis.UniversalClient) error {
		return os.ErrDeadlineExceeded
	})
	if !errors.Is(err, os.ErrDeadlineExceeded) || ctx.Err() == nil {
		t.Errorf("gave %v, the caller's context: %v", err, ctx.Err())
	}
	if b.State() != breaker.OK || log.String() != "" {
		t.Errorf("state %s, log %q", b.State(), log)
	}
}

// A call of one outage that ends after the recovery must not begin the next.
func TestLateFailureIsNoNewOutage(t *testing.T) {
	t.Parallel()
	b, _ := newGuard(t, miniredis.RunT(t).Addr())
	late, entered, release := make(chan error), make(chan struct{}), make(chan struct{})
	go func() {
		late <- b.Do(t.Context(), breaker.Limits, func(context.Context, redis.UniversalClient) error {
			close(entered)
			<-release
			return io.EOF
		})
	}()
	<-entered
	_ = b.Do(t.Context(), breaker.Limits, func(context.Context, redis.UniversalClient) error { return io.EOF })
	if b.State() != breaker.Down {
		t.Fatal("not down")
	}
	await(t, b, breaker.OK)
	close(release)
	if err := <-late; !errors.Is(err, io.EOF) || b.State() != breaker.OK {
		t.Errorf("%v, state %s", err, b.State())
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	for _, down := range []bool{false, true} {
		b, log := newGuard(t, server.Addr())
		if down {
			_ = b.Do(t.Context(), breaker.Limits, func(context.Context, redis.UniversalClient) error { return io.EOF })
		}
		before := log.String()
		if err := b.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if err := b.Do(t.Context(), breaker.Limits, write); err == nil {
			t.Error("a call after Close passes")
		}
		if log.String() != before {
			t.Errorf("Close logs %q", log)
		}
	}
}
