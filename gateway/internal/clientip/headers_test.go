package clientip

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"
)

// finder trusts any peer's header of that name.
func finder(t *testing.T, header string, hops int) *Finder {
	t.Helper()
	name, err := ParseHeader(header)
	if err != nil {
		t.Fatal(err)
	}
	return New(Trust{Headers: true, Header: name, Hops: hops}, quiet())
}

const peerAddr = "203.0.113.9"

func TestOneHeaderIsBelieved(t *testing.T) {
	t.Parallel()
	const cf, realIP, xff = "cf-connecting-ip: 192.0.2.1", "x-real-ip: 192.0.2.2", "x-forwarded-for: 192.0.2.3"
	tests := []struct {
		name, header string
		lines        []string
		want         string
	}{
		{"it alone, of three", "x-real-ip", []string{cf, realIP, xff}, "192.0.2.2"},
		{"nothing stands in for it", "x-real-ip", []string{cf, xff}, peerAddr},
		{"without regard to case", "X-REAL-ip", []string{realIP}, "192.0.2.2"},
		{"an underscore is no hyphen", "x-real-ip", []string{"x_real_ip: 192.0.2.2"}, peerAddr},
		{"any name", "fly-client-ip", []string{cf, "Fly-Client-IP: 192.0.2.4"}, "192.0.2.4"},
		{"spaces around it", "x-real-ip", []string{"x-real-ip: \t192.0.2.2 "}, "192.0.2.2"},
		{"IPv6", "x-real-ip", []string{"x-real-ip: 2001:DB8::1"}, "2001:db8::1"},
		{"IPv4-mapped", "x-real-ip", []string{"x-real-ip: ::ffff:192.0.2.2"}, "192.0.2.2"},
		{"private is still an address", "x-real-ip", []string{"x-real-ip: 10.1.2.3"}, "10.1.2.3"},
		{"two lines", "x-real-ip", []string{realIP, realIP}, peerAddr},
		{"a list", "x-real-ip", []string{"x-real-ip: 192.0.2.1, 192.0.2.2"}, peerAddr},
		{"empty", "x-real-ip", []string{"x-real-ip: "}, peerAddr},
		{"a port", "x-real-ip", []string{"x-real-ip: 192.0.2.2:80"}, "192.0.2.2"},
		{"brackets", "x-real-ip", []string{"x-real-ip: [2001:db8::1]"}, "2001:db8::1"},
		{"a zone", "x-real-ip", []string{"x-real-ip: fe80::1%eth0"}, peerAddr},
		{"quotes", "x-real-ip", []string{`x-real-ip: "192.0.2.2"`}, peerAddr},
		{"octal", "x-real-ip", []string{"x-real-ip: 010.0.0.1"}, peerAddr},
		{"RFC 7239", "forwarded", []string{"forwarded: for=192.0.2.1"}, "192.0.2.1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			id := finder(t, tt.header, 1).Identify(request(peerAddr+":5", tt.lines...))
			if got := id.Addr().String(); got != tt.want || !id.Trusted || id.Forwarded.IsValid() != (tt.want != peerAddr) {
				t.Errorf("client %s of %+v, want %s", got, id, tt.want)
			}
		})
	}
}

func TestCountsFromTheRight(t *testing.T) {
	t.Parallel()
	sixteen := "192.0.2.16" + strings.Repeat(", 10.0.0.1", 15)
	tests := []struct {
		name  string
		hops  int
		lines []string
		want  string
	}{
		{"the last of one", 1, []string{"192.0.2.1"}, "192.0.2.1"},
		{"the last of many", 1, []string{"192.0.2.1, 192.0.2.2 ,192.0.2.3"}, "192.0.2.3"},
		{"the last line", 1, []string{"192.0.2.1", "192.0.2.2"}, "192.0.2.2"},
		{"the second from the right", 2, []string{"192.0.2.1, 192.0.2.2, 10.0.0.1"}, "192.0.2.2"},
		{"counted over lines", 2, []string{"192.0.2.1, 192.0.2.2", "10.0.0.1"}, "192.0.2.2"},
		{"counted over many lines", 3, []string{"192.0.2.1", "192.0.2.2", "10.0.0.1", "10.0.0.2"}, "192.0.2.2"},
		{"as many entries as hops", 2, []string{"192.0.2.1, 10.0.0.1"}, "192.0.2.1"},
		{"one fewer", 2, []string{"192.0.2.1"}, peerAddr},
		{"sixteen of sixteen", MaxHops, []string{sixteen}, "192.0.2.16"},
		{"sixteen of fifteen", MaxHops, []string{strings.TrimPrefix(sixteen, "192.0.2.16, ")}, peerAddr},
		{"no header", 1, nil, peerAddr},
		{"an empty line", 1, []string{""}, peerAddr},
		{"an empty entry counts, and is none", 1, []string{"192.0.2.1,"}, peerAddr},
		{"an empty entry in between counts", 2, []string{"192.0.2.1,,10.0.0.1"}, peerAddr},
		{"an empty last line counts", 1, []string{"192.0.2.1", ""}, peerAddr},
		{"what is left of it is never looked at", 1, []string{"unknown, \"x,192.0.2.2"}, "192.0.2.2"},
		{"nor is what is right of it", 2, []string{"192.0.2.1, junk"}, "192.0.2.1"},
		{"an entry that is no address is not passed over", 1, []string{"192.0.2.1, unknown"}, peerAddr},
		{"an entry with a port", 1, []string{"192.0.2.1, 192.0.2.2:80"}, "192.0.2.2"},
		{"an entry with a port that is none", 1, []string{"192.0.2.1, 192.0.2.2:0"}, peerAddr},
		{"IPv6", 1, []string{"192.0.2.1, 2001:db8::1"}, "2001:db8::1"},
		{"IPv6 in brackets", 1, []string{"192.0.2.1, [2001:db8::1]"}, "2001:db8::1"},
		{"IPv4-mapped", 1, []string{"::ffff:192.0.2.1"}, "192.0.2.1"},
		{"a long list", 1, []string{strings.Repeat("10.0.0.1,", 3000) + "192.0.2.1"}, "192.0.2.1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := request(peerAddr + ":5")
			r.Header[headerForwarded] = tt.lines
			id := finder(t, "x-forwarded-for", tt.hops).Identify(r)
			if got := id.Addr().String(); got != tt.want {
				t.Errorf("client %s, want %s", got, tt.want)
			}
		})
	}
}

func TestAddressesWithPorts(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"192.0.2.2:1": "192.0.2.2", "192.0.2.2:65535": "192.0.2.2", " 192.0.2.2:51008 ": "192.0.2.2",
		"[2001:db8::9]:4711": "2001:db8::9", "[2001:db8::9]": "2001:db8::9", "[::ffff:192.0.2.2]:80": "192.0.2.2",
		"2001:db8::9:4711": "2001:db8::9:4711", // an address without a port
		"192.0.2.2:0":      "", "192.0.2.2:65536": "", "192.0.2.2:080": "", "192.0.2.2:": "", "192.0.2.2:+80": "", "192.0.2.2:x": "",
		"192.0.2.2: 80": "", "192.0.2.2:80:80": "", "[192.0.2.2]:80": "", "[192.0.2.2]": "", "[2001:db8::9": "", "2001:db8::9]": "",
		"2001:db8::9]:80": "", "[2001:db8::9]80": "", "[2001:db8::9]:": "", "[2001:db8::9]:0": "", "[2001:db8::9]:09": "",
		"[[2001:db8::9]]": "", "[fe80::1%eth0]": "", "[fe80::1%eth0]:80": "", "fe80::1%eth0": "", "[]": "", "[]:80": "", ":80": "",
		"example.com:80": "", "localhost": "", "::ffff:192.0.2.2:80": "", "010.0.0.1:80": "", "": "", ":": "",
	} {
		if got := literal(value); got.IsValid() != (want != "") || want != "" && got.String() != want {
			t.Errorf("%q is %v, want %q", value, got, want)
		}
	}
	f := finder(t, "x-forwarded-for", 1)
	one := f.Identify(request(peerAddr+":5", "x-forwarded-for: 192.0.2.2:1"))
	two := f.Identify(request(peerAddr+":5", "x-forwarded-for: 192.0.2.2:2"))
	if one.LimitKey() != two.LimitKey() || one.LimitKey() != "192.0.2.2" {
		t.Errorf("two ports of one client count as %s and %s", one.LimitKey(), two.LimitKey())
	}
}

func TestForwarded(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		hops  int
		lines []string
		want  string
	}{
		{1, []string{"for=192.0.2.1"}, "192.0.2.1"},
		{1, []string{"For=192.0.2.1;proto=https;by=203.0.113.43"}, "192.0.2.1"},
		{1, []string{`by="[2001:db8::1]:80"; FOR="[2001:db8:cafe::17]:4711"`}, "2001:db8:cafe::17"},
		{1, []string{`for="192.0.2.43:47011"`}, "192.0.2.43"},
		{1, []string{`for=192.0.2.43:47011`}, "192.0.2.43"},
		{1, []string{`for="192.\0.2.1"`}, "192.0.2.1"},
		{1, []string{`for=192.0.2.1;host="a\"b,c;for=192.0.2.9"`}, "192.0.2.1"},
		{1, []string{"for=192.0.2.1, for=192.0.2.2"}, "192.0.2.2"},
		{2, []string{"for=192.0.2.1, for=192.0.2.2"}, "192.0.2.1"},
		{2, []string{"for=192.0.2.1", "for=192.0.2.2"}, "192.0.2.1"},
		{3, []string{"for=192.0.2.1, for=192.0.2.2"}, peerAddr},
		{2, []string{"for=192.0.2.1, for=unknown"}, "192.0.2.1"},
		{2, []string{"for=192.0.2.1, for=_gazonk"}, "192.0.2.1"},
		{2, []string{"for=192.0.2.1, proto=https"}, "192.0.2.1"},
		{2, []string{`for=192.0.2.1, for=10.0.0.1;host="x,y"`}, "192.0.2.1"},
		{1, []string{`for="open, for=192.0.2.7`}, "192.0.2.7"},
		{1, []string{`for=\", for=192.0.2.7`}, "192.0.2.7"},
		{2, []string{`for="open`, `for=192.0.2.7, for="10.0.0.1:80"`}, "192.0.2.7"},
		{1, []string{"for=192.0.2.1, for=unknown"}, peerAddr},
		{1, []string{`for="_gazonk:80"`}, peerAddr},
		{1, []string{"for=192.0.2.1;for=192.0.2.1"}, peerAddr},
		{1, []string{"for=192.0.2.1;FOR=192.0.2.2"}, peerAddr},
		{1, []string{"for=192.0.2.1, proto=https"}, peerAddr},
		{1, []string{"for="}, peerAddr},
		{1, []string{`for=""`}, peerAddr},
		{1, []string{"for =192.0.2.1"}, peerAddr},
		{1, []string{`for="192.0.2.1`}, peerAddr},
		{1, []string{`for="192.0.2.1"x`}, peerAddr},
		{1, []string{`for="192.0.2.1\"`}, peerAddr},
		{1, []string{`for="192.0.2.1:0"`}, peerAddr},
		{1, []string{`for="fe80::1%eth0"`}, peerAddr},
		{1, []string{"192.0.2.1"}, peerAddr},
		{1, []string{"for=192.0.2.1,"}, peerAddr},
		{1, []string{""}, peerAddr},
		{1, nil, peerAddr},
	} {
		r := request(peerAddr + ":5")
		r.Header[headerStandard] = tt.lines
		if got := finder(t, "forwarded", tt.hops).Identify(r).Addr().String(); got != tt.want {
			t.Errorf("%d of %q: client %s, want %s", tt.hops, tt.lines, got, tt.want)
		}
	}
}

// What a client sent stands left of the elements that proxies appended, whatever it is.
func FuzzForwarded(f *testing.F) {
	f.Add(`for="open`, "192.0.2.1")
	f.Add(`"\",for=1\`, `for="`)
	f.Add(`;,;"`, "=")
	f.Fuzz(func(t *testing.T, first, second string) {
		r := request(peerAddr + ":5")
		r.Header[headerStandard] = []string{first, second + `, for="192.0.2.7:80";host="a,b"`, "proto=http;for=10.0.0.1"}
		if got := finder(t, "forwarded", 2).Identify(r).Addr().String(); got != "192.0.2.7" {
			t.Errorf("client %s", got)
		}
		r.Header[headerStandard] = []string{first}
		if a := finder(t, "forwarded", 1).Identify(r).Addr(); a.Is4In6() || a.Zone() != "" {
			t.Errorf("client %v is mapped or zoned", a)
		}
	})
}

// A visitor's entries stand left of the proxy's, whatever they are.
func FuzzCountsFromTheRight(f *testing.F) {
	f.Add("192.0.2.1", "192.0.2.2")
	f.Add(",,", "")
	f.Add("\"", "for=1")
	f.Fuzz(func(t *testing.T, first, second string) {
		r := request(peerAddr + ":5")
		r.Header[headerForwarded] = []string{first, second + ", 192.0.2.7", "10.0.0.1"}
		if got := finder(t, "x-forwarded-for", 2).Identify(r).Addr().String(); got != "192.0.2.7" {
			t.Errorf("client %s", got)
		}
	})
}

func TestParseHeader(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"x-real-ip": "X-Real-Ip", "CF-Connecting-IP": "Cf-Connecting-Ip", "a": "A", "x_real_ip": "X_real_ip", "9~": "9~",
		"!#$%&'*+-.^_`|~": http.CanonicalHeaderKey("!#$%&'*+-.^_`|~"), "az-AZ-09": "Az-Az-09",
	} {
		if got, err := ParseHeader(in); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", in, got, err, want)
		}
	}
	for _, in := range []string{"", " ", "x real ip", " x-real-ip", "x-real-ip ", "x-real-ip:",
		"x,y", "x/y", "x\"", "x(y)", "x@y", "x[", "x{", "x`\x7f", "x\x00", "x\n", "ä", "x-real-ip\u00ad"} {
		if got, err := ParseHeader(in); err == nil {
			t.Errorf("%q: taken as %s", in, got)
		}
	}
}

// A proxy that sends other headers than the trusted one makes all clients share a limit.
func TestWarnsOnceAboutAMissingHeader(t *testing.T) {
	t.Parallel()
	const xff, realIP = "x-forwarded-for: 192.0.2.1", "x-real-ip: 192.0.2.1"
	tests := []struct {
		name  string
		trust Trust
		lines []string
		want  int
	}{
		{"another header", Trust{Headers: true, Header: headerRealIP}, []string{xff}, 1},
		{"no address in it", Trust{Headers: true, Header: headerRealIP}, []string{"x-real-ip: unknown"}, 1},
		{"fewer entries than hops", Trust{Headers: true, Header: headerForwarded, Hops: 2}, []string{xff}, 1},
		{"a header that we do not know", Trust{Headers: true, Header: "Fly-Client-Ip"}, []string{"fly-client-ip: ?"}, 1},
		{"it gives an address", Trust{Headers: true, Header: headerRealIP}, []string{realIP, xff}, 0},
		{"no forwarded header at all", Trust{Headers: true, Header: headerRealIP}, nil, 0},
		{"no header named", Trust{Headers: true}, []string{"x-real-ip: unknown"}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			f := New(tt.trust, slog.New(slog.NewTextHandler(&log, nil)))
			for range 3 {
				f.Identify(request("203.0.113.9:1", tt.lines...))
			}
			if got := strings.Count(log.String(), "CLIENT_ADDRESS_HEADER gives no address"); got != tt.want {
				t.Errorf("%d warnings, want %d: %s", got, tt.want, log.String())
			}
			if strings.Contains(log.String(), "192.0.2.1") {
				t.Errorf("the log repeats a header's value: %s", log.String())
			}
		})
	}
}

// Headers that are trusted from any peer are logged when one comes from outside this network.
func TestWarnsOnceAboutPublicPeers(t *testing.T) {
	t.Parallel()
	const realIP = "x-real-ip: 192.0.2.1"
	narrowed := Trust{Headers: true, Header: headerRealIP, Peers: prefixes(t, "203.0.113.0/24")}
	tests := []struct {
		name   string
		trust  Trust
		remote string
		lines  []string
		want   int
	}{
		{"a public peer", Trust{Headers: true, Header: headerRealIP}, "203.0.113.9:1", []string{realIP}, 1},
		{"a public peer, no header named", Trust{Headers: true}, "203.0.113.9:1", []string{realIP}, 1},
		{"a private peer", Trust{Headers: true}, "10.0.0.1:1", []string{realIP}, 0},
		{"a public peer without a header", Trust{Headers: true}, "203.0.113.9:1", nil, 0},
		{"a peer of the ranges", narrowed, "203.0.113.9:1", []string{realIP}, 0},
		{"headers are not trusted", Trust{}, "203.0.113.9:1", []string{realIP}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			f := New(tt.trust, slog.New(slog.NewTextHandler(&log, nil)))
			for range 3 {
				f.Identify(request(tt.remote, tt.lines...))
			}
			if got := strings.Count(log.String(), "set TRUSTED_PROXY_CIDRS"); got != tt.want {
				t.Errorf("%d warnings, want %d: %s", got, tt.want, log.String())
			}
			if strings.Contains(log.String(), "192.0.2.1") || strings.Contains(log.String(), "203.0.113.9") {
				t.Errorf("the log names an address: %s", log.String())
			}
		})
	}
}

// A proxy that sends a private address does not see its clients' addresses, unless they are in that network.
func TestWarnsOnceAboutPrivateVisitors(t *testing.T) {
	t.Parallel()
	trusting := Trust{Headers: true, Header: headerRealIP, Peers: prefixes(t, "172.30.231.0/24")}
	tests := []struct {
		name  string
		trust Trust
		line  string
		want  int
	}{
		{"the engine's address", trusting, "x-real-ip: 172.30.231.1", 1},
		{"one of IPv6", trusting, "x-real-ip: fd7e:d1a6::1", 1},
		{"a loopback address", trusting, "x-real-ip: 127.0.0.1", 1},
		{"shared address space", trusting, "x-real-ip: 100.64.0.1", 1},
		{"a public address", trusting, "x-real-ip: 192.0.2.1", 0},
		{"no header", trusting, "accept: */*", 0},
		{"a header that is not trusted", Trust{}, "x-real-ip: 172.30.231.1", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			f := New(tt.trust, slog.New(slog.NewTextHandler(&log, nil)))
			for range 3 {
				f.Identify(request("172.30.231.9:1", tt.line))
			}
			if got := strings.Count(log.String(), "sends a private address"); got != tt.want {
				t.Errorf("%d warnings, want %d: %s", got, tt.want, log.String())
			}
			if strings.Contains(log.String(), "231.1") || strings.Contains(log.String(), "fd7e") {
				t.Errorf("the log names an address: %s", log.String())
			}
		})
	}
}
