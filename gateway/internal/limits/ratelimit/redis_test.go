package ratelimit

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"diagnostics/gateway/internal/redis/breaker"
	"diagnostics/gateway/internal/redis/breaker/redistest"

	"github.com/redis/go-redis/v9"
)

func TestRedisKeysAreBoundedAndExpire(t *testing.T) {
	t.Parallel()
	server, client, advance := newMini(t)
	l := NewRedis(client)
	for _, key := range []string{"", "client:192.0.2.1 target:secret.example.com", strings.Repeat("long", 1000)} {
		take(t, l, charge(key, 10, time.Minute))
		take(t, l, charge(key, 10, time.Minute))
	}
	if n := len(server.Keys()); n != 3 {
		t.Errorf("%d keys for three buckets", n)
	}
	for _, key := range server.Keys() {
		if len(key) != len(redisPrefix)+43 || strings.Contains(key, "secret") {
			t.Errorf("key %q", key)
		}
		if ttl := server.TTL(key); ttl != 12*time.Second {
			t.Errorf("key %q lives %s, want until it is full again", key, ttl)
		}
	}
	advance(12 * time.Second)
	if keys := server.Keys(); len(keys) != 0 {
		t.Errorf("%q are left", keys)
	}
}

func TestRedisScriptIsLoadedAgain(t *testing.T) {
	t.Parallel()
	client := redistest.Start(t).Client()
	l := NewRedis(client)
	one, two := charge("one", 5, time.Hour), charge("two", 9, time.Hour)
	for i := 1; i <= 3; i++ {
		if err := client.ScriptFlush(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		if d := take(t, l, one, two); !d.Allowed || d.Remaining != 5-i {
			t.Errorf("take %d after SCRIPT FLUSH: %+v, want each bucket charged once", i, d)
		}
		if d := take(t, l, two); d.Remaining != 9-2*i {
			t.Errorf("the second bucket: %+v", d)
		}
	}
}

// counter counts the round trips of a client.
type counter struct{ pipelines, commands atomic.Int32 }

func (c *counter) DialHook(next redis.DialHook) redis.DialHook { return next }

func (c *counter) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		c.commands.Add(1)
		return next(ctx, cmd)
	}
}

func (c *counter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if cmds[0].Name() == "evalsha" {
			c.pipelines.Add(1)
		}
		return next(ctx, cmds)
	}
}

func TestRedisTakesOneRoundTrip(t *testing.T) {
	t.Parallel()
	client, count := redistest.Start(t).Client(), &counter{}
	l := NewRedis(client)
	charges := []Charge{charge("a", 5, time.Hour), charge("b", 5, time.Hour), charge("c", 5, time.Hour)}
	take(t, l, charges...)
	client.AddHook(count)
	take(t, l, charges...)
	if p, c := count.pipelines.Load(), count.commands.Load(); p != 1 || c != 0 {
		t.Errorf("%d pipelines and %d single commands for three buckets", p, c)
	}
	if _, err := l.Take(t.Context(), Stage(charges), Stage{charge("d", 5, time.Hour)}); err != nil {
		t.Fatal(err)
	}
	if p, c := count.pipelines.Swap(1), count.commands.Load(); p != 3 || c != 0 {
		t.Errorf("%d pipelines and %d single commands more for two stages", p-1, c)
	}
	take(t, l)
	take(t, l, charge("off", 0, time.Hour))
	if p, c := count.pipelines.Load(), count.commands.Load(); p != 1 || c != 0 {
		t.Errorf("no bucket costs a round trip: %d, %d", p, c)
	}
}

// forgetful makes the server forget its scripts before each pipeline, as nodes of a cluster that were not asked yet.
type forgetful struct {
	admin redis.UniversalClient
	names []string
}

func (f *forgetful) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (f *forgetful) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

func (f *forgetful) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if name := cmds[0].Name(); strings.HasPrefix(name, "eval") {
			f.names = append(f.names, name)
			if err := f.admin.ScriptFlush(ctx).Err(); err != nil {
				return err
			}
		}
		return next(ctx, cmds)
	}
}

func TestRedisForgetsScriptsOnce(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	client, hook := server.Client(), &forgetful{admin: server.Client()}
	client.AddHook(hook)
	l := NewRedis(client)
	for i := 1; i <= 2; i++ {
		hook.names = nil
		d, err := l.Take(t.Context(), Stage{charge("a", 5, time.Hour)}, Stage{charge("b", 5, time.Hour)},
			Stage{charge("c", 5, time.Hour)}, Stage{charge("d", 5, time.Hour)})
		if err != nil || d.Remaining != 5-i {
			t.Errorf("take %d: %+v, %v", i, d, err)
		}
		if got := strings.Join(hook.names, " "); got != "evalsha eval eval eval eval" {
			t.Errorf("take %d: %s", i, got)
		}
	}
}

func TestRedisForeignValues(t *testing.T) {
	t.Parallel()
	client := redistest.Start(t).Client()
	l := NewRedis(client)
	for _, foreign := range []string{"", "garbage", "1", "x 5", "1e3", "5 -1", "5 99 1", "\x00\xff"} {
		if err := client.Set(t.Context(), breaker.Key(redisPrefix, foreign), foreign, 0).Err(); err != nil {
			t.Fatal(err)
		}
		if d := take(t, l, charge(foreign, 3, time.Hour)); !d.Allowed || d.Remaining != 2 {
			t.Errorf("over %q: %+v", foreign, d)
		}
	}
}

// A value of another kind where distinct values are kept is not one of ours.
func TestRedisForeignThings(t *testing.T) {
	t.Parallel()
	client := redistest.Start(t).Client()
	l := NewRedis(client)
	for i, plant := range []func(key string) error{
		func(key string) error { return client.Set(t.Context(), key, "5 99", 0).Err() },
		func(key string) error { return client.LPush(t.Context(), key, "x").Err() },
		func(key string) error {
			return client.ZAdd(t.Context(), key, redis.Z{Score: 1e18, Member: "80"}, redis.Z{Score: -1, Member: "x"}).Err()
		},
	} {
		key := fmt.Sprint("things ", i)
		must(t, plant(breaker.Key(redisPrefix, key)))
		for item := range uint16(3) {
			if d := take(t, l, see(key, 80+item, 3, time.Hour)); !d.Allowed || d.Remaining != 2-int(item) {
				t.Errorf("case %d, thing %d: %+v", i, item, d)
			}
		}
		if d := take(t, l, see(key, 90, 3, time.Hour)); d.Allowed || d.RetryAfter > time.Hour {
			t.Errorf("case %d: %+v", i, d)
		}
	}
}

func TestRedisThingsExpire(t *testing.T) {
	t.Parallel()
	server, client, advance := newMini(t)
	l := NewRedis(client)
	take(t, l, see("ports|secret.example.com", 80, 3, time.Minute))
	advance(30 * time.Second)
	take(t, l, see("ports|secret.example.com", 81, 3, time.Minute))
	keys := server.Keys()
	if len(keys) != 1 || strings.Contains(keys[0], "secret") || server.TTL(keys[0]) != time.Minute {
		t.Errorf("keys %q", keys)
	}
	advance(time.Minute)
	if keys := server.Keys(); len(keys) != 0 {
		t.Errorf("%q are left", keys)
	}
}

func TestRedisClockStepsBack(t *testing.T) {
	t.Parallel()
	server, client, advance := newMini(t)
	l, c := NewRedis(client), charge("k", 2, time.Minute)
	advance(time.Hour)
	take(t, l, c)
	take(t, l, c)
	server.SetTime(epoch.Add(30 * time.Minute))
	if d := take(t, l, c); d.Allowed || d.RetryAfter != 30*time.Second {
		t.Errorf("after the step: %+v", d)
	}
	server.SetTime(epoch.Add(30*time.Minute + 30*time.Second))
	if d := take(t, l, c); !d.Allowed {
		t.Errorf("half a window later: %+v", d)
	}
}

func TestRedisThroughTLS(t *testing.T) {
	t.Parallel()
	certFile, keyFile, roots := certificate(t)
	server := redistest.StartTLS(t, certFile, keyFile)
	o, err := redis.ParseURL("rediss://" + server.Addr() + "/0")
	if err != nil {
		t.Fatal(err)
	}
	client := func(config *tls.Config) redis.UniversalClient {
		u := &redis.UniversalOptions{Addrs: []string{o.Addr}, TLSConfig: config}
		breaker.Tune(u)
		c := redis.NewUniversalClient(u)
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	trusting := o.TLSConfig.Clone()
	trusting.RootCAs = roots
	if d := take(t, NewRedis(client(trusting)), charge("k", 2, time.Hour)); !d.Allowed || d.Remaining != 1 {
		t.Errorf("%+v", d)
	}
	for name, config := range map[string]*tls.Config{"unknown root": o.TLSConfig, "in the clear": nil} {
		if _, err := NewRedis(client(config)).Take(t.Context(), []Charge{charge("k", 2, time.Hour)}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// certificate makes a self-signed certificate for 127.0.0.1.
func certificate(t *testing.T) (certFile, keyFile string, roots *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "redis"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	must(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	must(t, os.WriteFile(certFile, certPEM, 0o600))
	must(t, os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	roots = x509.NewCertPool()
	roots.AppendCertsFromPEM(certPEM)
	return certFile, keyFile, roots
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
