package config

import (
	"slices"
	"strings"
	"testing"
)

func TestRedisURL(t *testing.T) {
	t.Parallel()
	type want struct {
		addrs           []string
		user, password  string
		db              int
		tls, cluster    bool
		sentinelsMaster string
	}
	good := map[string]want{
		"redis://localhost":                                {addrs: []string{"localhost:6379"}},
		"redis://localhost/":                               {addrs: []string{"localhost:6379"}},
		"redis://10.0.0.1:7000/3":                          {addrs: []string{"10.0.0.1:7000"}, db: 3},
		"redis://:p%40ss%2Fword@redis:6379/0":              {addrs: []string{"redis:6379"}, password: "p@ss/word"},
		"redis://user:pass@redis":                          {addrs: []string{"redis:6379"}, user: "user", password: "pass"},
		"redis://[2001:db8::1]:7000":                       {addrs: []string{"[2001:db8::1]:7000"}},
		"redis://[2001:db8::1]":                            {addrs: []string{"[2001:db8::1]:6379"}},
		"rediss://redis.example.com:6380":                  {addrs: []string{"redis.example.com:6380"}, tls: true},
		"unix:///run/redis.sock":                           {addrs: []string{"/run/redis.sock"}},
		"unix:///run/redis.sock?db=2":                      {addrs: []string{"/run/redis.sock"}, db: 2},
		"unix://user:pass@/run/redis.sock":                 {addrs: []string{"/run/redis.sock"}, user: "user", password: "pass"},
		"redis+cluster://a:1,b:2,c":                        {addrs: []string{"a:1", "b:2", "c:6379"}, cluster: true},
		"redis+cluster://one":                              {addrs: []string{"one:6379"}, cluster: true},
		"rediss+cluster://:p@[::1]:1,[::2]:2/":             {addrs: []string{"[::1]:1", "[::2]:2"}, cluster: true, tls: true, password: "p"},
		"redis+sentinel://a:1,b/mymaster":                  {addrs: []string{"a:1", "b:26379"}, sentinelsMaster: "mymaster"},
		"rediss+sentinel://user:p@a,b:3,[::1]/my%20m/4":    {addrs: []string{"a:26379", "b:3", "[::1]:26379"}, sentinelsMaster: "my m", db: 4, tls: true, user: "user", password: "p"},
		"redis://" + strings.Repeat("a", 60) + ".internal": {addrs: []string{strings.Repeat("a", 60) + ".internal:6379"}},
	}
	for in, w := range good {
		o, err := parseRedisURL(in)
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if !slices.Equal(o.Addrs, w.addrs) || o.Username != w.user || o.Password != w.password || o.DB != w.db ||
			(o.TLSConfig != nil) != w.tls || o.IsClusterMode != w.cluster || o.MasterName != w.sentinelsMaster {
			t.Errorf("%s: %+v", in, o)
		}
	}
	bad := []string{"", "localhost", "localhost:6379", "http://localhost", "redis:localhost", "redis://", "redis:///1",
		"redis://localhost/x", "redis://localhost/1/2",
		"redis://localhost:0", "redis://localhost:65536", "redis://localhost:x", "redis://a,b", "redis://localhost?db=1", "redis://localhost/0?pool_size=1",
		"redis://u:%zz@localhost", "rediss", "rediss+x://a", "redis+://a", "unix://run/redis.sock", "unix://", "unix:///", "unix:///run/redis.sock?x=1", "unix:///run/redis.sock?db=x",
		"redis+cluster://a,", "redis+cluster://a:1,:2", "redis+cluster://a/1", "redis+sentinel://a,b", "redis+sentinel://a,b/", "redis+sentinel://a/m/x", "redis+sentinel:///m",
		"redis://::1", "redis://a:b:c", "redis://ho st", "REDIS://localhost", "redis://localhost#x", "unix+cluster:///x"}
	for _, in := range bad {
		if o, err := parseRedisURL(in); err == nil {
			t.Errorf("%q: taken as %+v", in, o)
		}
	}
}

func TestRedisTokenStandsInForAPassword(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{"redis://localhost": "token", "redis://user@localhost": "token",
		"redis://:own@localhost": "own"} {
		var r redisURL
		if err := r.Decode(url); err != nil {
			t.Fatal(err)
		}
		o := r.Options(func() string { return "token" })
		got := o.Password
		if o.CredentialsProvider != nil {
			var user string
			if user, got = o.CredentialsProvider(); user != o.Username {
				t.Errorf("%s: user %q", url, user)
			}
		}
		if got != want {
			t.Errorf("%s: %q", url, got)
		}
	}
}

func FuzzRedisURL(f *testing.F) {
	for _, s := range []string{"redis://u:p@h:1/2", "unix:///a?db=1", "redis+cluster://a:1,[::1]",
		"rediss+sentinel://a,b/m/1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		o, err := parseRedisURL(s)
		if err != nil {
			return
		}
		if len(o.Addrs) == 0 {
			t.Errorf("%q: no address", s)
		}
		for _, a := range o.Addrs {
			if a == "" || strings.ContainsAny(a, " \r\n,@") && !strings.HasPrefix(a, "/") {
				t.Errorf("%q: address %q", s, a)
			}
		}
	})
}
