package clientip

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

func request(remote string, lines ...string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/api/tools/my-ip", nil)
	r.RemoteAddr = remote
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Add(name, value)
	}
	return r
}

func prefixes(t *testing.T, list ...string) []netip.Prefix {
	t.Helper()
	var out []netip.Prefix
	for _, s := range list {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func TestTrustCombinations(t *testing.T) {
	t.Parallel()
	const cf, realIP, xff = "cf-connecting-ip: 192.0.2.1", "x-real-ip: 192.0.2.2", "x-forwarded-for: 192.0.2.3, 192.0.2.4"
	narrowed := Trust{Headers: true, Peers: prefixes(t, "10.0.0.0/8", "fd00::/8")}
	tests := []struct {
		name    string
		trust   Trust
		remote  string
		headers []string
		trusted bool
		addr    string
	}{
		{"no trust ignores all three", Trust{}, "10.0.0.1:1", []string{cf, realIP, xff}, false, "10.0.0.1"},
		{"ranges alone grant nothing", Trust{Peers: prefixes(t, "10.0.0.0/8")}, "10.0.0.1:1", []string{cf}, false, "10.0.0.1"},
		{"cf-connecting-ip comes first", Trust{Headers: true}, "10.0.0.1:1", []string{xff, realIP, cf}, true, "192.0.2.1"},
		{"then x-real-ip", Trust{Headers: true}, "10.0.0.1:1", []string{xff, realIP}, true, "192.0.2.2"},
		{"then the first of x-forwarded-for", Trust{Headers: true}, "10.0.0.1:1", []string{xff}, true, "192.0.2.3"},
		{"trusted without headers is the peer", Trust{Headers: true}, "203.0.113.9:1", nil, true, "203.0.113.9"},
		{"first address inside the range", narrowed, "10.0.0.0:1", []string{cf}, true, "192.0.2.1"},
		{"last address inside the range", narrowed, "10.255.255.255:1", []string{cf}, true, "192.0.2.1"},
		{"just below the range", narrowed, "9.255.255.255:1", []string{cf}, false, "9.255.255.255"},
		{"just above the range", narrowed, "11.0.0.0:1", []string{cf}, false, "11.0.0.0"},
		{"an IPv4 range holds a mapped peer", narrowed, "[::ffff:10.0.0.1]:1", []string{cf}, true, "192.0.2.1"},
		{"an IPv6 range holds an IPv6 peer", narrowed, "[fd00::1]:1", []string{cf}, true, "192.0.2.1"},
		{"an unreadable peer is outside every range", narrowed, "@", []string{cf}, false, "invalid IP"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			id := New(tt.trust, quiet()).Identify(request(tt.remote, tt.headers...))
			if id.Trusted != tt.trusted || id.Addr().String() != tt.addr {
				t.Errorf("trusted %v, address %v; want %v, %s", id.Trusted, id.Addr(), tt.trusted, tt.addr)
			}
			v := id.Visitor()
			if v.HeadersTrusted != tt.trusted || v.Addr != id.Forwarded {
				t.Errorf("visitor %+v of identity %+v", v, id)
			}
			if !tt.trusted && v.Addr.IsValid() {
				t.Errorf("an untrusted header reached the visitor: %v", v.Addr)
			}
		})
	}
}

// Where a proxy may stand between, or the request does not say that it is for this machine, the client may be anywhere.
func TestOwnMachine(t *testing.T) {
	t.Parallel()
	loopback, engine, stranger := "127.0.0.1:1", "172.30.231.1:1", "192.0.2.9:1"
	for _, tt := range []struct {
		name         string
		trust        Trust
		remote, host string
		headers      []string
		want         bool
	}{
		{"make run", Trust{}, loopback, "127.0.0.1:8080", nil, true},
		{"another loopback address", Trust{}, "127.255.255.254:1", "127.255.255.254", nil, true},
		{"IPv6", Trust{}, "[::1]:1", "[::1]:8080", nil, true},
		{"IPv6 without a port", Trust{}, "[::1]:1", "[::1]", nil, true},
		{"by name", Trust{}, loopback, "LocalHost:8080", nil, true},
		{"a container's published port", Trust{}, engine, "127.0.0.1:8080", nil, true},
		{"from another machine", Trust{}, stranger, "127.0.0.1:8080", nil, false},
		{"an unknown peer", Trust{}, "@", "127.0.0.1:8080", nil, false},
		{"through a proxy on this host", Trust{}, loopback, "tools.example.com", nil, false},
		{"through a proxy that says so", Trust{}, loopback, "127.0.0.1:8080", []string{"x-forwarded-for: 192.0.2.1"}, false},
		{"through the proxy that is trusted", Trust{Headers: true}, loopback, "127.0.0.1:8080", nil, false},
		{"by an address of its network", Trust{}, engine, "172.30.231.2:8080", nil, false},
		{"just above loopback", Trust{}, loopback, "128.0.0.1:8080", nil, false},
		{"a name below localhost", Trust{}, loopback, "localhost.example.com", nil, false},
		{"no host", Trust{}, loopback, "", nil, false},
	} {
		r := request(tt.remote, tt.headers...)
		r.Host = tt.host
		if got := New(tt.trust, quiet()).Identify(r).Visitor().OwnMachine; got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
}

func TestHeaderValues(t *testing.T) {
	t.Parallel()
	const fallback = "x-forwarded-for: 198.51.100.7"
	tests := []struct {
		name    string
		headers []string
		want    string
	}{
		{"IPv6", []string{"cf-connecting-ip: 2001:DB8::1"}, "2001:db8::1"},
		{"mapped IPv4 is IPv4", []string{"cf-connecting-ip: ::ffff:192.0.2.1"}, "192.0.2.1"},
		{"surrounding spaces", []string{"x-forwarded-for:  \t192.0.2.1 \t, junk"}, "192.0.2.1"},
		{"a private address is still the client", []string{"x-real-ip: 10.1.2.3"}, "10.1.2.3"},
		{"empty is skipped", []string{"cf-connecting-ip: ", fallback}, "198.51.100.7"},
		{"a port is no part of it", []string{"cf-connecting-ip: 192.0.2.1:80", fallback}, "192.0.2.1"},
		{"brackets are no part of it", []string{"x-real-ip: [2001:db8::1]", fallback}, "2001:db8::1"},
		{"a zone is skipped", []string{"x-real-ip: fe80::1%eth0", fallback}, "198.51.100.7"},
		{"a name is skipped", []string{"x-real-ip: localhost", fallback}, "198.51.100.7"},
		{"a list in x-real-ip is skipped", []string{"x-real-ip: 192.0.2.1, 192.0.2.2", fallback}, "198.51.100.7"},
		{"a repeated x-real-ip is skipped", []string{"x-real-ip: 192.0.2.1", "x-real-ip: 192.0.2.1", fallback}, "198.51.100.7"},
		{"short and octal forms are skipped", []string{"cf-connecting-ip: 127.1", "x-real-ip: 010.0.0.1", fallback}, "198.51.100.7"},
		{"quotes are skipped", []string{`x-real-ip: "192.0.2.1"`, fallback}, "198.51.100.7"},
		{"two x-forwarded-for lines are one list", []string{"x-forwarded-for: 192.0.2.1", "x-forwarded-for: 192.0.2.2"}, "192.0.2.1"},
		{"only the first of x-forwarded-for is looked at", []string{"x-forwarded-for: unknown, 192.0.2.2"}, "203.0.113.9"},
		{"an empty first value is none", []string{"x-forwarded-for: , 192.0.2.2"}, "203.0.113.9"},
		{"Forwarded is not one of the three", []string{"forwarded: for=192.0.2.1"}, "203.0.113.9"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			id := New(Trust{Headers: true}, quiet()).Identify(request("203.0.113.9:5", tt.headers...))
			if got := id.Addr().String(); got != tt.want {
				t.Errorf("client %s, want %s", got, tt.want)
			}
		})
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	tests := []struct{ remote, limit, log string }{
		{"192.0.2.77:1", "192.0.2.77", "192.0.2.0/24"},
		{"[::ffff:192.0.2.77]:1", "192.0.2.77", "192.0.2.0/24"},
		{"[2001:db8:1:2::]:1", "2001:db8:1:2::/64", "2001:db8:1::/48"},
		{"[2001:db8:1:2:ffff:ffff:ffff:ffff]:1", "2001:db8:1:2::/64", "2001:db8:1::/48"},
		{"[2001:db8:1:3::]:1", "2001:db8:1:3::/64", "2001:db8:1::/48"},
		{"[fe80::1%eth0]:1", "fe80::/64", "fe80::/48"},
		{"", "unknown", "unknown"},
	}
	for _, tt := range tests {
		id := New(Trust{}, quiet()).Identify(request(tt.remote))
		if id.LimitKey() != tt.limit || id.LogPrefix() != tt.log {
			t.Errorf("%s: keys %s, %s; want %s, %s", tt.remote, id.LimitKey(), id.LogPrefix(), tt.limit, tt.log)
		}
	}
}

func TestWarnsOnceAboutAnUntrustedProxy(t *testing.T) {
	t.Parallel()
	const header = "x-forwarded-for: 192.0.2.1"
	tests := []struct {
		name   string
		trust  Trust
		remote string
		header []string
		want   int
	}{
		{"private peer", Trust{}, "172.17.0.1:1", []string{header}, 1},
		{"loopback peer", Trust{}, "127.0.0.1:1", []string{header}, 1},
		{"shared address space", Trust{}, "100.64.0.1:1", []string{header}, 1},
		{"private peer outside the ranges", Trust{Headers: true, Peers: prefixes(t, "10.0.0.0/8")}, "172.17.0.1:1", []string{header}, 1},
		{"public peer", Trust{}, "203.0.113.9:1", []string{header}, 0},
		{"no header", Trust{}, "172.17.0.1:1", nil, 0},
		{"trusted", Trust{Headers: true}, "172.17.0.1:1", []string{header}, 0},
		{"the header of the settings", Trust{Header: "Fly-Client-Ip"}, "172.17.0.1:1", []string{"fly-client-ip: 192.0.2.1"}, 1},
		{"a header without a client", Trust{}, "172.17.0.1:1", []string{"fly-client-ip: 192.0.2.1"}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			f := New(tt.trust, slog.New(slog.NewTextHandler(&log, nil)))
			for range 3 {
				f.Identify(request(tt.remote, tt.header...))
			}
			if got := strings.Count(log.String(), "level=WARN"); got != tt.want {
				t.Errorf("%d warnings, want %d: %s", got, tt.want, log.String())
			}
			if strings.Contains(log.String(), "192.0.2.1") {
				t.Errorf("the log repeats a header's value: %s", log.String())
			}
		})
	}
}

func FuzzIdentify(f *testing.F) {
	f.Add("192.0.2.1", "2001:db8::1", "192.0.2.1, 192.0.2.2", "203.0.113.9:1")
	f.Add("::ffff:1.2.3.4", "fe80::1%x", ",", "[::1%lo]:1")
	f.Fuzz(func(t *testing.T, cf, realIP, xff, remote string) {
		r := request(remote)
		r.Header["Cf-Connecting-Ip"] = []string{cf}
		r.Header["X-Real-Ip"] = []string{realIP}
		r.Header["X-Forwarded-For"] = []string{xff}
		id := New(Trust{Headers: true}, quiet()).Identify(r)
		if a := id.Addr(); a.Is4In6() || a.Zone() != "" {
			t.Errorf("client %v is mapped or zoned", a)
		}
		if strings.ContainsAny(id.LimitKey()+id.LogPrefix(), "|\n\r ") {
			t.Errorf("keys %q, %q", id.LimitKey(), id.LogPrefix())
		}
		if untrusted := New(Trust{}, quiet()).Identify(r); untrusted.Forwarded.IsValid() {
			t.Errorf("untrusted headers gave %v", untrusted.Forwarded)
		}
	})
}
