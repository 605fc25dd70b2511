package egress_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"
	"diagnostics/hostroute"

	"github.com/miekg/dns"
)

// routes are what the kernel of a test says: Out where they name no other way.
type routes map[string]hostroute.Kind

func (r routes) option() egress.Option {
	return egress.WithRoutes(func(a netip.Addr) (hostroute.Kind, error) {
		if kind, ok := r[a.String()]; ok {
			return kind, nil
		}
		return hostroute.Out, nil
	})
}

// everyWayOut goes to the site at web4 by each of the ways that a tool has.
func everyWayOut(t *testing.T, c *egress.Client) map[string]func() error {
	t.Helper()
	to := netip.MustParseAddrPort(web4 + ":80")
	return map[string]func() error{
		"Dial":   func() error { _, err := c.Dial(t.Context(), to); return err },
		"Do":     func() error { _, err := get(t, c, "http://example.com/"); return err },
		"Follow": func() error { return follow(t, c, "http://example.com/", 1).Err },
	}
}

// Nothing is dialled by any way out to an address of this host, or one that the kernel has no way to.
func TestWhatIsNotDialled(t *testing.T) {
	t.Parallel()
	listed := func(s *egress.Settings) {
		s.HostAddresses = []netip.Prefix{netip.MustParsePrefix(web4 + "/31"), netip.MustParsePrefix("2606:4700::/64")}
	}
	noAnswer := egress.WithRoutes(func(netip.Addr) (hostroute.Kind, error) { return 0, hostroute.ErrNoAnswer })
	to := netip.MustParseAddrPort(web4 + ":80")
	for name, test := range map[string]struct {
		settings func(*egress.Settings)
		routes   egress.Option
		kind     fault.Kind
		permit   fault.Kind // 0: no way is no reason to refuse an address, whose family this host may never have had
	}{
		"routed to this host":     {nil, routes{web4: hostroute.Here}.option(), fault.Refused, fault.Refused},
		"of the host around":      {listed, routes{}.option(), fault.Refused, fault.Refused},
		"no way":                  {nil, routes{web4: hostroute.Nowhere}.option(), fault.Busy, 0},
		"a kernel without answer": {nil, noAnswer, fault.Busy, fault.Busy},
	} {
		n := withSite(t)
		c := n.Client(test.settings, test.routes)
		for way, try := range everyWayOut(t, c) {
			if err := try(); !fault.Is(err, test.kind) {
				t.Errorf("%s, %s: %v", name, way, err)
			}
		}
		socket := c.ControlFor(to)(t.Context(), "tcp4", to.String(), nil)
		for place, err := range map[string]error{"Permit": c.Permit(to.Addr()), "socket": socket} {
			if test.permit == 0 && err != nil || test.permit != 0 && !fault.Is(err, test.permit) {
				t.Errorf("%s, %s: %v", name, place, err)
			}
		}
		wantOnly(t, n, nil)
		if test.permit != fault.Refused {
			continue
		}
		allowed := n.Client(func(s *egress.Settings) {
			if test.settings != nil {
				test.settings(s)
			}
			s.AllowOwnAddresses = true
		}, test.routes)
		if err := allowed.Permit(to.Addr()); err != nil {
			t.Errorf("%s, allowed: %v", name, err)
		}
	}
	c := egresstest.New(t).Client(listed)
	for a, refused := range map[string]bool{
		"93.184.216.33": false, web4: true, "93.184.216.35": true, "93.184.216.36": false,
		"2606:4700::": true, "2606:4700::ffff:ffff:ffff:ffff": true, "2606:4700:0:1::": false,
	} {
		if err := c.Permit(netip.MustParseAddr(a)); (err != nil) != refused || refused && !fault.Is(err, fault.Refused) {
			t.Errorf("%s: %v", a, err)
		}
	}
}

// An address of IPv6 that was added a moment ago is routed here once duplicate detection has ended.
func TestAnAddressThatBecomesOwnDuringTheDial(t *testing.T) {
	t.Parallel()
	for name, listens := range map[string]bool{"taken": true, "refused": false} {
		n := egresstest.New(t)
		if listens {
			n.Listen(web4 + ":80")
		}
		var dialled atomic.Bool
		c := n.Client(nil, egress.WithDialer(func(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
			dialled.Store(true)
			return n.Dial(ctx, network, to)
		}), egress.WithRoutes(func(netip.Addr) (hostroute.Kind, error) {
			if dialled.Load() {
				return hostroute.Here, nil
			}
			return hostroute.Out, nil
		}))
		if _, err := c.Dial(t.Context(), netip.MustParseAddrPort(web4+":80")); !fault.Is(err, fault.Refused) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What a failed dial is, by its error and by what the kernel says of the way.
func TestWhoseFaultADialIs(t *testing.T) {
	t.Parallel()
	timeout := syscall.ETIMEDOUT
	for name, test := range map[string]struct {
		err   error
		route hostroute.Kind
		kind  fault.Kind
	}{
		"no file":                {syscall.EMFILE, hostroute.Out, fault.Busy},
		"no port":                {syscall.EADDRNOTAVAIL, hostroute.Out, fault.Busy},
		"no port of UDP":         {syscall.EAGAIN, hostroute.Out, fault.Busy},
		"no memory":              {syscall.ENOBUFS, hostroute.Out, fault.Busy},
		"a link that is down":    {syscall.ENETDOWN, hostroute.Out, fault.Busy},
		"a router's word":        {syscall.ENETUNREACH, hostroute.Out, fault.Upstream},
		"a dead next hop":        {syscall.EHOSTUNREACH, hostroute.Out, fault.Upstream},
		"a firewall's word":      {syscall.EACCES, hostroute.Out, fault.Upstream},
		"refused":                {syscall.ECONNREFUSED, hostroute.Out, fault.Upstream},
		"silence":                {timeout, hostroute.Out, fault.Timeout},
		"no route":               {syscall.ENETUNREACH, hostroute.Nowhere, fault.Busy},
		"a route that prohibits": {syscall.EACCES, hostroute.Refused, fault.Upstream},
		"a black hole":           {syscall.EINVAL, hostroute.Refused, fault.Upstream},
		"no route any more":      {timeout, hostroute.Nowhere, fault.Busy},
	} {
		n := withSite(t)
		n.Fail(web4+":80", test.err)
		var dialled atomic.Bool
		c := n.Client(nil, egress.WithDialer(func(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
			dialled.Store(dialled.Load() || to.Port() == 80)
			return n.Dial(ctx, network, to)
		}), egress.WithRoutes(func(a netip.Addr) (hostroute.Kind, error) {
			if dialled.Load() && a == netip.MustParseAddr(web4) { // lost while it is dialled
				return test.route, nil
			}
			return hostroute.Out, nil
		}))
		_, err := get(t, c, "http://example.com/")
		if !fault.Is(err, test.kind) {
			t.Errorf("%s: %v, want kind %d", name, err, test.kind)
		}
		if dialled.Load() && test.kind == fault.Busy && !errors.Is(err, test.err) {
			t.Errorf("%s: the cause is %v", name, errors.Unwrap(err))
		}
	}
}

// A net that the operator refuses is none of this host's faults, unless all the internet is refused with it.
func TestANetThatIsRefused(t *testing.T) {
	t.Parallel()
	n := withSite(t)
	n.Fail(web4+":80", syscall.EACCES)
	for name, try := range everyWayOut(t, n.Client(nil, routes{web4: hostroute.Refused}.option())) {
		if err := try(); fault.Is(err, fault.Busy) || err == nil {
			t.Errorf("one net, %s: %v", name, err)
		}
	}
	all := routes{web4: hostroute.Refused}
	for _, anchor := range hostroute.Anchors(false) {
		all[anchor.String()] = hostroute.Refused
	}
	for name, try := range everyWayOut(t, n.Client(nil, all.option())) {
		if err := try(); !fault.Is(err, fault.Busy) {
			t.Errorf("all of them, %s: %v", name, err)
		}
	}
}

// Only the dial itself names the link of a zone: the kernel would give the first link-local route of any link.
func TestAddressesOfOneLinkAreDialledWhateverTheTableSays(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	const resolver = "[fe80::1%eth0]:53"
	n.NameServer(resolver).Records("example.com. 300 IN A " + web4)
	at := netip.MustParseAddrPort(resolver)
	c := n.Client(func(s *egress.Settings) { s.Resolvers = []netip.AddrPort{at} },
		egress.WithRoutes(func(a netip.Addr) (hostroute.Kind, error) {
			if a.IsLinkLocalUnicast() {
				return hostroute.Nowhere, nil
			}
			return hostroute.Out, nil
		}))
	if _, err := c.Resolve(t.Context(), host(t, "example.com")); err != nil {
		t.Errorf("Resolve: %v", err)
	}
	if err := c.OwnFault(syscall.ETIMEDOUT, at.Addr(), time.Now()); err != nil {
		t.Errorf("silence: %v", err)
	}
}

// A host that never had IPv6 is not short of it.
func TestAFamilyThatIsAbsentIsNoShortage(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	const v6 = "2606:4700::1"
	n.Records("six.example.com. 300 IN AAAA " + v6)
	n.Fail("["+v6+"]:80", syscall.ENETUNREACH)
	c := n.Client(nil, egress.WithFamilies(egress.Families{V4: true}), routes{v6: hostroute.Nowhere}.option())
	_, err := get(t, c, "http://six.example.com/")
	wantFault(t, err, fault.Upstream)
	_, err = c.Dial(t.Context(), netip.MustParseAddrPort("["+v6+"]:80"))
	if fault.Is(err, fault.Busy) || !errors.Is(err, syscall.ENETUNREACH) {
		t.Errorf("dialled all the same: %v", err)
	}
	set := n.Client(func(s *egress.Settings) { s.Families = egress.FamiliesBoth }, routes{v6: hostroute.Nowhere}.option())
	_, err = get(t, set, "http://six.example.com/")
	wantFault(t, err, fault.Busy)
}

func TestARaceInWhichThisHostLacksSomething(t *testing.T) {
	t.Parallel()
	const first, second = "2606:4700::1", web4
	for name, test := range map[string]struct {
		fails map[string]error
		kind  fault.Kind // 0 for success
	}{
		"the other address answers":     {map[string]error{first: syscall.EMFILE}, 0},
		"the first address answers":     {map[string]error{second: syscall.EMFILE}, 0},
		"the other address refuses":     {map[string]error{first: syscall.EMFILE, second: syscall.ECONNREFUSED}, fault.Busy},
		"the first address refuses":     {map[string]error{first: syscall.ECONNREFUSED, second: syscall.ENOBUFS}, fault.Busy},
		"the other address is silent":   {map[string]error{first: syscall.EMFILE, second: syscall.ETIMEDOUT}, fault.Busy},
		"both refuse":                   {map[string]error{first: syscall.ECONNREFUSED, second: syscall.ECONNREFUSED}, fault.Upstream},
		"neither can be tried":          {map[string]error{first: syscall.EMFILE, second: syscall.EMFILE}, fault.Busy},
		"a router has no route to both": {map[string]error{first: syscall.ENETUNREACH, second: syscall.EHOSTUNREACH}, fault.Upstream},
	} {
		n := egresstest.New(t)
		n.Records("both.example.com. 300 IN A "+second, "both.example.com. 300 IN AAAA "+first)
		ok := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
		n.Serve(second+":80", ok)
		n.Serve("["+first+"]:80", ok)
		for address, err := range test.fails {
			n.Fail(netip.AddrPortFrom(netip.MustParseAddr(address), 80).String(), err)
		}
		_, err := get(t, n.Client(nil), "http://both.example.com/")
		if test.kind == 0 && err != nil || test.kind != 0 && !fault.Is(err, test.kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A lookup that this host could not make says nothing of the name.
func TestLookupsThatCannotBeMade(t *testing.T) {
	t.Parallel()
	n := withSite(t)
	n.Fail(egresstest.ResolverAddr.String(), syscall.EMFILE)
	c := n.Client(nil)
	a := c.DNS().Query(t.Context(), "example.com", dns.TypeA)
	if a.Code != dnsclient.CodeBusy || !fault.Is(a.Busy, fault.Busy) || !errors.Is(a.Busy, syscall.EMFILE) {
		t.Errorf("%q, %v", a.Code, a.Busy)
	}
	_, err := c.Resolve(t.Context(), host(t, "example.com"))
	wantFault(t, err, fault.Busy)
	server := netip.MustParseAddrPort("8.8.8.8:53")
	n.Fail(server.String(), syscall.ENETUNREACH)
	if a := c.DNS().QueryServer(t.Context(), server, "example.com", dns.TypeA); a.Code != dnsclient.CodeConnRefused {
		t.Errorf("a router's word: %q", a.Code)
	}
	lost := n.Client(nil, routes{"8.8.8.8": hostroute.Nowhere}.option())
	if a := lost.DNS().QueryServer(t.Context(), server, "example.com", dns.TypeA); a.Code != dnsclient.CodeBusy {
		t.Errorf("without a route: %q", a.Code)
	}
}

// brokenConn fails like a socket whose host has lost its link.
type brokenConn struct {
	net.Conn
	after atomic.Int64 // reads that succeed
	err   error
}

func (c *brokenConn) Read(p []byte) (int, error) {
	if c.after.Add(-1) < 0 {
		return 0, &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", c.err)}
	}
	return c.Conn.Read(p)
}

func TestALinkThatGoesDownInTheMiddle(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reads int64
		err   error
		kind  fault.Kind
	}{
		"before the answer": {0, syscall.ENETDOWN, fault.Busy},
		"in the body":       {1, syscall.ENETDOWN, fault.Busy},
		"reset":             {0, syscall.ECONNRESET, fault.Upstream},
		"reset in the body": {1, syscall.ECONNRESET, fault.Upstream},
	} {
		n := withSite(t)
		n.ServeConn(web4+":81", func(c net.Conn) {
			_, _ = c.Read(make([]byte, 4096))
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
			stay(c)
		})
		c := n.Client(nil, egress.WithDialer(func(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
			conn, err := n.Dial(ctx, network, to)
			if err != nil || to.Port() != 81 {
				return conn, err
			}
			broken := &brokenConn{Conn: conn, err: test.err}
			broken.after.Store(test.reads)
			return broken, nil
		}))
		answer, err := c.Do(t.Context(), egress.Request{URL: parseURL(t, "http://example.com:81/"), MaxBody: 100})
		if err == nil {
			err = answer.BodyErr
		}
		if !fault.Is(err, test.kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A timeout is this host's fault if this process lacked the processor for a good part of the wait, whatever it waited
// for.
func TestTimeoutsWithoutProcessorTime(t *testing.T) {
	t.Parallel()
	n := withSite(t)
	n.Drop(web4 + ":80")
	n.ServeConn(web4+":81", stay)
	n.ServeConn(web4+":82", func(c net.Conn) {
		_, _ = c.Read(make([]byte, 4096))
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
		stay(c)
	})
	n.Drop("8.8.8.8:53")
	n.Drop(web4 + ":443")
	silent := netip.MustParseAddrPort("8.8.8.8:53")
	question := new(dns.Msg).SetQuestion("example.com.", dns.TypeA)
	do := func(url string) func(context.Context, *egress.Client) error {
		return func(ctx context.Context, c *egress.Client) error {
			answer, err := c.Do(ctx, egress.Request{URL: parseURL(t, url), MaxBody: 100})
			if err == nil {
				err = answer.BodyErr
			}
			return err
		}
	}
	for name, try := range map[string]func(context.Context, *egress.Client) error{
		"Dial": func(ctx context.Context, c *egress.Client) error {
			_, err := c.Dial(ctx, netip.MustParseAddrPort(web4+":80"))
			return err
		},
		"ConnectUncharged": func(ctx context.Context, c *egress.Client) error {
			_, err := c.ConnectUncharged(ctx, host(t, "example.com"), 80)
			return err
		},
		"no connection": do("http://example.com/"),
		"no handshake":  do("https://example.com:81/"),
		"no answer":     do("http://example.com:81/"),
		"half a body":   do("http://example.com:82/"),
		"a redirect chain": func(ctx context.Context, c *egress.Client) error {
			return c.Follow(ctx, egress.Request{URL: parseURL(t, "http://example.com/")}, 1).Err
		},
		"HTTP/3": func(ctx context.Context, c *egress.Client) error {
			return c.HTTP3(ctx, egress.HTTP3Request{URL: parseURL(t, "https://example.com/"), Host: host(t, "example.com"),
				Port: 443}).Err
		},
		"a lookup": func(ctx context.Context, c *egress.Client) error {
			a := c.DNS().QueryServer(ctx, silent, "example.com", dns.TypeA)
			if a.Busy == nil && a.Code == dnsclient.CodeTimeout {
				return context.DeadlineExceeded
			}
			return a.Busy
		},
		"an exchange": func(ctx context.Context, c *egress.Client) error {
			ctx, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
			defer cancel()
			_, err := c.DNS().Exchange(ctx, silent, "udp", question, false)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, test := range []struct {
				part time.Duration // of each wait, in percent
				ours bool
			}{{0, false}, {20, false}, {30, true}} {
				c := n.Client(func(s *egress.Settings) {
					s.Delay = func(since time.Time) time.Duration { return time.Since(since) * test.part / 100 }
				}, egress.WithBounds(100*time.Millisecond, 50*time.Millisecond, 50*time.Millisecond))
				err := try(t.Context(), c)
				if fault.Is(err, fault.Busy) != test.ours || !test.ours && !fault.Is(err, fault.Timeout) && !fault.IsTimeout(err) {
					t.Errorf("without the processor for %d %%: %v", test.part, err)
				}
			}
		})
	}
}

// What ended otherwise was no matter of time.
func TestAnswersWithoutProcessorTime(t *testing.T) {
	t.Parallel()
	n := withSite(t)
	n.Serve(web4+":81", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	const delay = time.Hour
	c := n.Client(func(s *egress.Settings) { s.Delay = func(time.Time) time.Duration { return delay } })
	_, err := get(t, c, "http://example.com/") // where nothing listens
	wantFault(t, err, fault.Upstream)
	answer, err := get(t, c, "http://example.com:81/")
	if err != nil || answer.Timings.Delay != delay {
		t.Errorf("%+v, %v", answer, err)
	}
}

// A family that was there once is lost without a route, not absent.
func TestAFamilyStaysOnceItWasThere(t *testing.T) {
	t.Parallel()
	h := newFakeHost()
	h.families = egress.Families{V4: true}
	c := egresstest.New(t).Client(nil, h.option())
	for _, step := range []struct{ now, want egress.Families }{
		{egress.Families{V4: true}, egress.Families{V4: true}},
		{egress.Families{}, egress.Families{V4: true}},
		{egress.Families{V6: true}, egress.Families{V4: true, V6: true}},
		{egress.Families{}, egress.Families{V4: true, V6: true}},
	} {
		h.families = step.now
		h.clock.Pass(2 * time.Second)
		if got := c.Families(); got != step.want {
			t.Errorf("routes of %v: %v, want %v", step.now, got, step.want)
		}
	}
}
