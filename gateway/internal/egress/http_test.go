package egress_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/analyze/certs/certtest"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"

	"github.com/google/go-cmp/cmp"
)

const (
	web4 = "93.184.216.34"
	web6 = "2606:4700::1"
)

// withSite is a network with example.com at web4 alone.
func withSite(t testing.TB) *egresstest.Network {
	n := egresstest.New(t)
	n.Records("example.com. 300 IN A " + web4)
	return n
}

func get(t testing.TB, c *egress.Client, url string, change ...func(*egress.Request)) (*egress.Response, error) {
	t.Helper()
	r := egress.Request{URL: parseURL(t, url)}
	for _, f := range change {
		f(&r)
	}
	return c.Do(t.Context(), r)
}

func maxBody(limit int64) func(*egress.Request) {
	return func(r *egress.Request) { r.MaxBody = limit }
}

// answerWith serves raw bytes after the head of one request.
func answerWith(text string) func(net.Conn) {
	return func(c net.Conn) {
		_, _ = http.ReadRequest(bufio.NewReader(c))
		_, _ = io.WriteString(c, text)
	}
}

// stay keeps a connection open until the other side leaves.
func stay(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

func TestDoOverHTTP1(t *testing.T) {
	t.Parallel()
	n := withSite(t)
	got := make(chan *http.Request, 1)
	n.Serve(web4+":8080", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r
		w.Header().Add("Set-Cookie", "a=1")
		w.Header().Add("Set-Cookie", "b=2")
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "short and stout")
	}))
	c := n.Client(nil)
	r, err := get(t, c, "http://example.com:8080/a%2Fb//c?q=1&[x]=50%", func(r *egress.Request) {
		r.Header = http.Header{
			"Accept": {"text/plain"}, "Host": {"evil.example.net"}, "User-Agent": {"another"}, "Referer": {"http://x/"},
			"Authorization": {"Basic x"}, "cookie": {"c=3"}, "Connection": {"upgrade"}, "Upgrade": {"websocket"}, "X-Extra": {"1"},
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != http.StatusTeapot || r.StatusText != "I'm a teapot" || r.Proto != "HTTP/1.1" ||
		r.Address != netip.MustParseAddr(web4) {
		t.Errorf("%+v", r)
	}
	if diff := cmp.Diff([]string{"a=1", "b=2"}, r.Header["Set-Cookie"]); diff != "" {
		t.Error(diff)
	}
	if r.Body != nil || r.Truncated || r.BodyErr != nil || r.TLS != nil || r.Timings.HasTLS {
		t.Errorf("body %q, %v, %v, TLS %v", r.Body, r.Truncated, r.BodyErr, r.TLS)
	}
	request := <-got
	want := http.Header{"Accept": {"text/plain"}, "User-Agent": {egresstest.UserAgent}, "X-Extra": {"1"}}
	if diff := cmp.Diff(want, request.Header); diff != "" {
		t.Error(diff)
	}
	if request.Host != "example.com:8080" || request.RequestURI != "/a%2Fb//c?q=1&[x]=50%25" ||
		request.Method != http.MethodGet {
		t.Errorf("%s %s at %s", request.Method, request.RequestURI, request.Host)
	}
}

// site makes a TLS configuration for example.com and the checker that trusts it.
func site(t testing.TB, opts ...certtest.Option) (*tls.Config, egress.Option) {
	root := certtest.Root(t, "root")
	leaf := certtest.Leaf(t, root, []string{"example.com"}, opts...)
	checker := certs.Checker{Roots: certtest.Pool(root), Now: func() time.Time { return certtest.Epoch }}
	return &tls.Config{Certificates: []tls.Certificate{leaf.TLS()}}, egress.WithChecker(checker)
}

func TestDoOverTLS(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		protos  []string
		version uint16
		suites  []uint16
		proto   string
	}{
		{"HTTP/2", []string{"h2", "http/1.1"}, tls.VersionTLS13, nil, "HTTP/2"},
		{"HTTP/1.1 by choice of the server", []string{"http/1.1"}, tls.VersionTLS13, nil, "HTTP/1.1"},
		{"TLS 1.2", []string{"h2"}, tls.VersionTLS12, nil, "HTTP/2"},
		{"TLS 1.0", []string{"http/1.1"}, tls.VersionTLS10, nil, "HTTP/1.1"},
		{"an old suite", []string{"http/1.1"}, tls.VersionTLS12, []uint16{tls.TLS_ECDHE_ECDSA_WITH_RC4_128_SHA}, "HTTP/1.1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			n := withSite(t)
			config, trust := site(t)
			config.NextProtos, config.MinVersion, config.MaxVersion, config.CipherSuites = test.protos, tls.VersionTLS10,
				test.version, test.suites
			n.ServeTLS(web4+":443", config, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, "hello")
			}))
			r, err := get(t, n.Client(nil, trust), "https://example.com/", maxBody(100), func(r *egress.Request) {
				r.RequireValidCertificate = true
			})
			if err != nil {
				t.Fatal(err)
			}
			if r.Proto != test.proto || r.StatusText != "OK" || string(r.Body) != "hello" || r.BodyErr != nil {
				t.Errorf("%+v", r)
			}
			if r.TLS == nil || !r.TLS.Verdict.Authorized || r.TLS.State.Version != test.version ||
				r.TLS.State.ServerName != "example.com" {
				t.Errorf("%+v", r.TLS)
			}
			if !r.Timings.HasTLS || r.Timings.TLS <= 0 {
				t.Errorf("%+v", r.Timings)
			}
		})
	}
}

func TestInvalidCertificates(t *testing.T) {
	t.Parallel()
	n := withSite(t)
	config, trust := site(t, certtest.Valid(certtest.Epoch.AddDate(-1, 0, 0), certtest.Epoch.AddDate(0, 0, -1)))
	var requests atomic.Int32
	n.ServeTLS(web4+":443", config, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
	c := n.Client(nil, trust)

	r, err := get(t, c, "https://example.com/")
	if err != nil || r.TLS.Verdict.Authorized || r.TLS.Verdict.Code != certs.CodeExpired {
		t.Errorf("shown all the same: %+v, %v", r, err)
	}
	if requests.Load() != 1 {
		t.Errorf("%d requests, want 1", requests.Load())
	}
	_, err = get(t, c, "https://example.com/", func(r *egress.Request) { r.RequireValidCertificate = true })
	if s := wantFault(t, err, fault.Upstream); s != "The certificate of example.com is not valid: it has expired." {
		t.Error(s)
	}
	var refused *egress.CertificateError
	if !errors.As(err, &refused) || refused.Code != certs.CodeExpired {
		t.Errorf("the cause is %v", errors.Unwrap(err))
	}
	if requests.Load() != 1 {
		t.Error("the request was written before the certificate was judged")
	}
}

// A certificate that browsers refuse for what it is used for is not valid here either.
func TestCertificatesForSomethingElse(t *testing.T) {
	t.Parallel()
	encrypts := func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageKeyEncipherment }
	everybody := func(c *x509.Certificate) { c.DNSNames = []string{"*.com"} }
	for code, change := range map[string]certtest.Option{
		certs.CodePurpose: encrypts, certs.CodeNameMismatch: everybody,
	} {
		n := withSite(t)
		config, trust := site(t, change)
		n.ServeTLS(web4+":443", config, http.NotFoundHandler())
		r, err := get(t, n.Client(nil, trust), "https://example.com/")
		if err != nil || r.TLS.Verdict.Authorized || r.TLS.Verdict.Code != code {
			t.Errorf("%s: %+v, %v", code, r, err)
		}
	}
}

func TestAddressLiteralsOverTLS(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	config, trust := site(t)
	names := make(chan string, 1)
	config.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		names <- hello.ServerName
		return nil, nil
	}
	n.ServeTLS("["+web6+"]:443", config, http.NotFoundHandler())
	r, err := get(t, n.Client(nil, trust), "https://["+web6+"]/")
	if err != nil {
		t.Fatal(err)
	}
	if name := <-names; name != "" {
		t.Errorf("server name %q was sent for an address", name)
	}
	if r.TLS.Verdict.Code != certs.CodeNameMismatch || r.Address != netip.MustParseAddr(web6) {
		t.Errorf("%+v", r.TLS.Verdict)
	}
}

// patience is short where a test waits for the end of it, and long where it must not come, however busy the machine is.
func patience(expected fault.Kind) time.Duration {
	if expected == fault.Timeout {
		return time.Second
	}
	return egress.HTTPTimeout
}

// The answers of HTTP/1 that are no valid HTTP are in TestRoundTripsOfHTTP1.
func TestServersThatMisbehave(t *testing.T) {
	t.Parallel()
	reset := func(c net.Conn) {
		_, _ = http.ReadRequest(bufio.NewReader(c))
		if tcp, is := c.(*net.TCPConn); is {
			_ = tcp.SetLinger(0)
		}
	}
	tlsAlert := func(c net.Conn) {
		server := tls.Server(c, &tls.Config{MinVersion: tls.VersionTLS13,
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return nil, errors.New("none") }})
		_ = server.Handshake()
		stay(c)
	}
	config, _ := site(t)
	config.NextProtos = []string{"http/1.1"}
	greetOverTLS := func(c net.Conn) {
		server := tls.Server(c, config)
		_, _ = io.WriteString(server, "220 mail.example.com ESMTP\r\n")
		stay(server)
	}
	for _, test := range []struct {
		name     string
		url      string
		serve    func(net.Conn)
		kind     fault.Kind
		sentence string
	}{
		{"silence", "http://example.com/", stay, fault.Timeout, "example.com accepted the connection but did not answer in time."},
		{"half a head", "http://example.com/", func(c net.Conn) { answerWith("HTTP/1.1 200 OK\r\nX: ")(c); stay(c) }, fault.Timeout, "example.com accepted the connection but did not answer in time."},
		{"close at once", "http://example.com/", func(net.Conn) {}, fault.Upstream, ""},
		{"reset", "http://example.com/", reset, fault.Upstream, "example.com reset the connection without an answer."},
		{"a greeting before the request", "http://example.com/", func(c net.Conn) { _, _ = io.WriteString(c, "SSH-2.0-OpenSSH_9.9\r\n"); stay(c) }, fault.Upstream, "example.com did not answer with valid HTTP."},
		{"a greeting over TLS", "https://example.com/", greetOverTLS, fault.Upstream, "example.com did not answer with valid HTTP."},
		{"plain HTTP on the TLS port", "https://example.com/", func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n"); stay(c) }, fault.Upstream, "example.com answers in plain HTTP on this port, not TLS. Use http:// in the URL."},
		{"no TLS", "https://example.com/", func(c net.Conn) { _, _ = io.WriteString(c, "SSH-2.0-OpenSSH_9.9\r\n"); stay(c) }, fault.Upstream, "example.com does not use TLS on this port."},
		{"a TLS alert", "https://example.com/", tlsAlert, fault.Upstream, "example.com refused the TLS handshake (internal_error)."},
		{"close in the handshake", "https://example.com/", func(net.Conn) {}, fault.Upstream, "example.com closed the connection during the TLS handshake."},
		{"silence in the handshake", "https://example.com/", stay, fault.Timeout, "example.com did not finish the TLS handshake in time."},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			n := withSite(t)
			port := ":80"
			if strings.HasPrefix(test.url, "https") {
				port = ":443"
			}
			n.ServeConn(web4+port, test.serve)
			bound := patience(test.kind)
			c := n.Client(nil, egress.WithBounds(bound, bound, bound))
			_, err := get(t, c, test.url)
			if s := wantFault(t, err, test.kind); test.sentence != "" && s != test.sentence {
				t.Errorf("%q, want %q (%v)", s, test.sentence, err)
			}
		})
	}
}

func TestSocketFailures(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		arrange  func(n *egresstest.Network)
		kind     fault.Kind
		sentence string
	}{
		{"refused", func(*egresstest.Network) {}, fault.Upstream, "example.com refused the connection."},
		{"no route", func(n *egresstest.Network) { n.Fail(web4+":80", syscall.EHOSTUNREACH) }, fault.Upstream, "example.com cannot be reached: there is no route to its address."},
		{"prohibited", func(n *egresstest.Network) { n.Fail(web4+":80", syscall.EACCES) }, fault.Upstream, "example.com cannot be reached: the connection is blocked on the way."},
		{"dropped", func(n *egresstest.Network) { n.Drop(web4 + ":80") }, fault.Timeout, "example.com did not accept a connection in time."},
		{"timed out by the kernel", func(n *egresstest.Network) { n.Fail(web4+":80", syscall.ETIMEDOUT) }, fault.Timeout, "example.com did not accept a connection in time."},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			n := withSite(t)
			test.arrange(n)
			bound := patience(test.kind)
			_, err := get(t, n.Client(nil, egress.WithBounds(bound, bound, bound)), "http://example.com/")
			if s := wantFault(t, err, test.kind); s != test.sentence ||
				egress.ConnectTimedOut(err) != strings.HasSuffix(s, "did not accept a connection in time.") {
				t.Errorf("%q, want %q", s, test.sentence)
			}
		})
	}
}

// HTTP/2 counts the fields unpacked, and the library allows a little for its own way of counting. The bound of HTTP/1
// is in TestRoundTripsOfHTTP1.
func TestHeaderBoundOfHTTP2(t *testing.T) {
	t.Parallel()
	for size, fits := range map[int]bool{egress.MaxHeaderBytes - 1024: true, egress.MaxHeaderBytes + 1024: false} {
		n := withSite(t)
		config, trust := site(t)
		n.ServeTLS(web4+":443", config, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for i := range 16 {
				w.Header().Set(fmt.Sprint("X-", i), strings.Repeat("x", size/16))
			}
		}))
		r, err := get(t, n.Client(nil, trust), "https://example.com/")
		if (err == nil) != fits {
			t.Errorf("HTTP/2, %d bytes: %v", size, err)
		}
		if fits && r.Proto != "HTTP/2" {
			t.Errorf("spoke %s", r.Proto)
		}
		if !fits && sentence(err) != "example.com sent response headers of more than 64 KiB." {
			t.Error(err)
		}
	}
}

// listenFirst is a connection that takes its time to write, and reports whether anything was read before.
type listenFirst struct {
	net.Conn
	wrote, early *atomic.Bool
}

func (c listenFirst) Write(p []byte) (int, error) {
	time.Sleep(time.Second) // of the bubble
	c.wrote.Store(true)
	return c.Conn.Write(p)
}

func (c listenFirst) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && !c.wrote.Load() {
		c.early.Store(true)
	}
	return n, err
}

// What a server says unasked is read after the request, so that chance decides nothing and the library logs nothing.
func TestNothingIsReadBeforeTheRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		web := &egresstest.Pipes{Serve: func(_ netip.AddrPort, far net.Conn) {
			go stay(far)
			_, _ = io.WriteString(far, "HTTP/1.1 200 Too early\r\nContent-Length: 0\r\n\r\n")
		}}
		var wrote, early atomic.Bool
		dial := func(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
			conn, err := web.Dial(ctx, network, to)
			return listenFirst{conn, &wrote, &early}, err
		}
		r, err := get(t, pipesClient(t, dial), "http://"+web4+"/")
		if err != nil || r.StatusText != "Too early" {
			t.Errorf("%+v, %v", r, err)
		}
		if early.Load() || !wrote.Load() {
			t.Errorf("read early: %v, wrote: %v", early.Load(), wrote.Load())
		}
	})
}

// Connect is the dial alone: the charge may be made in a store far away.
func TestTimings(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const wait = 100 * time.Millisecond
		names := &egresstest.Pipes{Serve: egresstest.NameServer(slowly(wait, "example.com. 0 IN A "+web4))}
		web := &egresstest.Pipes{Serve: func(_ netip.AddrPort, far net.Conn) {
			_ = requestHead(far)
			time.Sleep(2 * wait)
			_, _ = io.WriteString(far, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n")
			time.Sleep(3 * wait)
			_, _ = io.WriteString(far, "late")
		}}
		dial := func(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
			if to.Port() == 53 {
				return names.Dial(ctx, network, to)
			}
			time.Sleep(4 * wait)
			return web.Dial(ctx, network, to)
		}
		settings := egress.Settings{Resolvers: addrPorts("192.0.2.53:53"), Families: egress.FamiliesBoth,
			Charge: func(context.Context, netip.AddrPort) error { time.Sleep(5 * wait); return nil }}
		c, err := egress.New(settings, egress.WithDialer(dial),
			egress.WithOwnAddresses(func() []netip.Addr { return nil }))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		r, err := get(t, c, "http://example.com/", maxBody(100))
		if err != nil || string(r.Body) != "late" {
			t.Fatalf("%+v, %v", r, err)
		}
		want := egress.Timings{DNS: wait, Connect: 4 * wait, FirstByte: 2 * wait, Body: 3 * wait, Total: 15 * wait}
		if r.Timings != want {
			t.Errorf("%+v, want %+v", r.Timings, want)
		}
	})
}

// Without a body to read, the round trip ends with the headers.
func TestHeadersAreTheEnd(t *testing.T) {
	t.Parallel()
	n := withSite(t)
	n.Serve(web4+":80", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	if r, err := get(t, n.Client(nil), "http://example.com/"); err != nil || r.Status != http.StatusOK ||
		r.Timings.Total <= 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A proxy of the environment would be dialled in place of the target, and the policy would judge the proxy.
func TestProxiesOfTheEnvironmentAreIgnored(t *testing.T) {
	proxy := make(chan struct{}, 10)
	n := withSite(t)
	n.Serve(web4+":80", http.NotFoundHandler())
	n.ServeConn("93.184.216.99:3128", func(net.Conn) { proxy <- struct{}{} })
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"} {
		t.Setenv(name, "http://93.184.216.99:3128")
	}
	t.Setenv("NO_PROXY", "")
	if _, err := get(t, n.Client(nil), "http://example.com/"); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(addrPorts(web4+":80"), n.Dials(), equateAddrs); diff != "" || len(proxy) != 0 {
		t.Errorf("%s, %d connections to the proxy", diff, len(proxy))
	}
}

func TestNextAddressIsTried(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		arrange func(n *egresstest.Network)
	}{
		{"the first refuses", func(*egresstest.Network) {}},
		{"the first has no route", func(n *egresstest.Network) { n.Fail("["+web6+"]:80", syscall.EHOSTUNREACH) }},
		{"the first is a black hole", func(n *egresstest.Network) { n.Drop("[" + web6 + "]:80") }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			n := withSite(t)
			n.Records("example.com. 300 IN AAAA " + web6)
			test.arrange(n)
			n.Serve(web4+":80", http.NotFoundHandler())
			c := n.Client(nil)
			r, err := get(t, c, "http://example.com/")
			if err != nil || r.Address != netip.MustParseAddr(web4) {
				t.Fatalf("%+v, %v", r, err)
			}
			if r.Timings.Connect > egress.HeadStart {
				t.Errorf("the connect time is not the winner's own: %v", r.Timings.Connect)
			}
			if diff := cmp.Diff(addrPorts("["+web6+"]:80", web4+":80"), n.Dials(), equateAddrs); diff != "" {
				t.Error(diff)
			}
			once := n.Client(nil, egress.WithBounds(2*egress.HeadStart, time.Second, time.Second))
			if _, err := get(t, once, "http://example.com/", func(r *egress.Request) { r.OneTry = true }); err == nil {
				t.Error("OneTry went on to the next address")
			}
		})
	}
}

func TestFirstAddressHasItsHeadStart(t *testing.T) {
	t.Parallel()
	n := withSite(t)
	n.Records("example.com. 300 IN AAAA " + web6)
	n.Serve("["+web6+"]:80", http.NotFoundHandler())
	n.Serve(web4+":80", http.NotFoundHandler())
	r, err := get(t, n.Client(nil), "http://example.com/")
	if err != nil || r.Address != netip.MustParseAddr(web6) {
		t.Errorf("%+v, %v", r, err)
	}
	if diff := cmp.Diff(addrPorts("["+web6+"]:80"), n.Dials(), equateAddrs); diff != "" {
		t.Error(diff)
	}
}

func TestANameCannotMakeUsDialWithoutEnd(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	for i := range 50 {
		n.Records(fmt.Sprintf("many.example.com. 300 IN A 93.184.217.%d", i))
	}
	_, err := get(t, n.Client(nil), "http://many.example.com/")
	wantFault(t, err, fault.Upstream)
	if dials := n.Dials(); len(dials) != egress.MaxDials {
		t.Errorf("%d dials, want %d", len(dials), egress.MaxDials)
	}
}

func TestTheMostTellingFailureIsTold(t *testing.T) {
	t.Parallel()
	n := withSite(t)
	n.Records("example.com. 300 IN AAAA " + web6)
	n.Fail("["+web6+"]:80", syscall.ENETUNREACH)
	_, err := get(t, n.Client(nil), "http://example.com/")
	if s := wantFault(t, err, fault.Upstream); s != "example.com refused the connection." {
		t.Error(s)
	}
}

func TestOneFamily(t *testing.T) {
	t.Parallel()
	n := withSite(t)
	n.Records("example.com. 300 IN AAAA "+web6, "four.example.com. 300 IN A "+web4)
	n.Serve(web4+":80", http.NotFoundHandler())
	n.Serve("["+web6+"]:80", http.NotFoundHandler())
	only := func(family int) func(*egress.Request) { return func(r *egress.Request) { r.Family = family } }
	c := n.Client(nil)
	for family, address := range map[int]string{4: web4, 6: web6} {
		if r, err := get(t, c, "http://example.com/", only(family)); err != nil || r.Address != netip.MustParseAddr(address) {
			t.Errorf("family %d: %+v, %v", family, r, err)
		}
	}
	_, err := get(t, c, "http://four.example.com/", only(6))
	if s := wantFault(t, err, fault.NoAddress); s != "four.example.com has no IPv6 address." {
		t.Error(s)
	}
	c = n.Client(nil, egress.WithFamilies(egress.Families{V4: true}))
	_, err = get(t, c, "http://example.com/", only(6))
	if s := wantFault(t, err, fault.Upstream); s != "This service has no IPv6 connection." {
		t.Error(s)
	}
	_, err = get(t, c, "http://["+web6+"]/")
	if s := wantFault(t, err,
		fault.Upstream); s != "This service has no IPv6 connection, and the target has only IPv6 addresses." {
		t.Error(s)
	}
}

func TestACanceledCallerEndsTheRoundTrip(t *testing.T) {
	t.Parallel()
	n := withSite(t)
	arrived, gone := make(chan struct{}), make(chan struct{})
	n.ServeConn(web4+":80", func(c net.Conn) {
		close(arrived)
		stay(c)
		close(gone)
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-arrived
		cancel()
	}()
	_, err := n.Client(nil).Do(ctx, egress.Request{URL: parseURL(t, "http://example.com/")})
	wantFault(t, err, fault.Timeout)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the cause is %v", err)
	}
	select {
	case <-gone:
	case <-time.After(5 * time.Second):
		t.Error("the connection stays open")
	}
}

// A server that turns every HTTP/2 connection down must not be dialled over and over.
func TestConnectionsOfOneRoundTripAreCounted(t *testing.T) {
	t.Parallel()
	n := withSite(t)
	config, trust := site(t)
	config.NextProtos = []string{"h2"}
	n.ServeConn(web4+":443", func(c net.Conn) {
		server := tls.Server(c, config)
		if server.Handshake() != nil {
			return
		}
		// SETTINGS, then GOAWAY with last stream 0 and no error.
		_, _ = server.Write([]byte("\x00\x00\x00\x04\x00\x00\x00\x00\x00" + "\x00\x00\x08\x07\x00\x00\x00\x00\x00" +
			"\x00\x00\x00\x00\x00\x00\x00\x00"))
		stay(server)
	})
	_, err := get(t, n.Client(nil, trust), "https://example.com/")
	if dials := n.Dials(); len(dials) > egress.MaxConnections {
		t.Errorf("%d dials: %v", len(dials), err)
	}
	wantFault(t, err, fault.Upstream)
}

// Nothing of one round trip serves another: a connection kept open would let a visitor's request skip its own
// judgement.
func TestConnectionsAreNotReused(t *testing.T) {
	t.Parallel()
	n := withSite(t)
	config, trust := site(t)
	n.ServeTLS(web4+":443", config, http.NotFoundHandler())
	c := n.Client(nil, trust)
	for range 3 {
		if _, err := get(t, c, "https://example.com/", maxBody(1000)); err != nil {
			t.Fatal(err)
		}
	}
	if dials := n.Dials(); len(dials) != 3 {
		t.Errorf("%d dials for three round trips", len(dials))
	}
}
