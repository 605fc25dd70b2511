package config

import (
	"crypto/tls"
	"net"
	"net/url"
	"strconv"
	"strings"

	"diagnostics/daemon/settings"

	"github.com/redis/go-redis/v9"
)

// redisURL is the address of a Redis, which may hold a password: it prints as a settings.Secret does.
type redisURL struct {
	settings.Secret
	options *redis.UniversalOptions
}

// Decode implements envconfig.Decoder.
func (r *redisURL) Decode(s string) (err error) {
	r.Secret = settings.NewSecret(s)
	r.options, err = parseRedisURL(s)
	return err
}

// Addresses are the hosts and ports of Redis, or the path of its socket, without credentials.
func (r redisURL) Addresses() string {
	if r.options == nil {
		return ""
	}
	return strings.Join(r.options.Addrs, ",")
}

// Options returns the driver's options for a URL that is set. Where it has no password, the function returns that of
// each new connection; nil is none.
func (r redisURL) Options(password func() string) *redis.UniversalOptions {
	o := *r.options
	if o.Password == "" && password != nil {
		o.CredentialsProvider = func() (string, string) { return o.Username, password() }
	}
	return &o
}

const (
	redisPort    = "6379"
	sentinelPort = "26379"
)

// parseRedisURL reads redis://[user:password@]host[:port][/db], rediss:// for TLS, unix://[user:password@]/path[?db=n],
// redis+cluster://host:port,host:port and redis+sentinel://host:port,host:port/master[/db]. The driver's own parsers
// support no lists of hosts, and accept tuning parameters that the breaker sets.
func parseRedisURL(s string) (*redis.UniversalOptions, error) {
	scheme, rest, found := strings.Cut(s, "://")
	if !found {
		return nil, settings.ErrMalformed
	}
	o := &redis.UniversalOptions{}
	authority, _, _ := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		u, err := url.Parse("redis://" + rest[:at] + "@host")
		if err != nil || u.User == nil {
			return nil, settings.ErrMalformed
		}
		o.Username = u.User.Username()
		o.Password, _ = u.User.Password()
		rest = rest[at+1:]
	}
	if scheme == "unix" {
		return o, unixSocket(o, rest)
	}
	plain, mode, _ := strings.Cut(scheme, "+")
	if strings.HasSuffix(scheme, "+") {
		return nil, settings.ErrMalformed
	}
	switch plain {
	case "redis":
	case "rediss":
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	default:
		return nil, settings.ErrMalformed
	}
	hosts, path, _ := strings.Cut(rest, "/")
	return o, topology(o, mode, hosts, path)
}

func unixSocket(o *redis.UniversalOptions, rest string) error {
	path, query, _ := strings.Cut(rest, "?")
	if !strings.HasPrefix(path, "/") || path == "/" {
		return settings.ErrMalformed
	}
	o.Addrs = []string{path}
	if query == "" {
		return nil
	}
	db, found := strings.CutPrefix(query, "db=")
	if !found {
		return settings.ErrMalformed
	}
	return database(o, db)
}

func topology(o *redis.UniversalOptions, mode, hosts, path string) error {
	var err error
	switch mode {
	case "":
		if o.Addrs, err = hostList(hosts, redisPort); err != nil || len(o.Addrs) != 1 {
			return settings.ErrMalformed
		}
		return database(o, path)
	case "cluster":
		o.IsClusterMode = true
		o.Addrs, err = hostList(hosts, redisPort)
		if path != "" { // a cluster has the one database
			return settings.ErrMalformed
		}
		return err
	case "sentinel":
		if o.Addrs, err = hostList(hosts, sentinelPort); err != nil {
			return err
		}
		master, db, _ := strings.Cut(path, "/")
		if o.MasterName, err = url.PathUnescape(master); err != nil || o.MasterName == "" {
			return settings.ErrMalformed
		}
		return database(o, db)
	}
	return settings.ErrMalformed
}

func database(o *redis.UniversalOptions, s string) error {
	if s == "" {
		return nil
	}
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil {
		return settings.ErrMalformed
	}
	o.DB = int(n)
	return nil
}

func hostList(s, defaultPort string) ([]string, error) {
	var out []string
	for element := range strings.SplitSeq(s, ",") {
		host, port := strings.TrimSpace(element), defaultPort
		if h, p, err := net.SplitHostPort(host); err == nil {
			host, port = h, p
		} else if bare, ok := strings.CutPrefix(host, "["); ok {
			host = strings.TrimSuffix(bare, "]")
		} else if strings.Contains(host, ":") {
			return nil, settings.ErrMalformed
		}
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 || !isHost(host) {
			return nil, settings.ErrMalformed
		}
		out = append(out, net.JoinHostPort(host, port))
	}
	return out, nil
}

// isHost reports whether s is a name or an address; colons only where they are IPv6.
func isHost(s string) bool {
	if s == "" || strings.ContainsAny(s, " []?#@\"'") || !settings.IsPrintable(s) {
		return false
	}
	return !strings.Contains(s, ":") || net.ParseIP(s) != nil
}
