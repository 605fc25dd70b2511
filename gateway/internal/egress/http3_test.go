package egress_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"diagnostics/gateway/internal/analyze/certs/certtest"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/budget/traffic"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
	"diagnostics/shared/progress"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

const (
	quic4 = web4 + ":443"
	// brief is long enough for a server on loopback, also of a busy machine.
	brief = 1500 * time.Millisecond
)

func http3Request(t testing.TB, change ...func(*egress.HTTP3Request)) egress.HTTP3Request {
	t.Helper()
	r := egress.HTTP3Request{URL: parseURL(t, "https://example.com/secret?token=1"), Host: host(t, "example.com"),
		Port: 443, Address: netip.MustParseAddr(web4)}
	for _, f := range change {
		f(&r)
	}
	return r
}

// answers is a server of example.com over HTTP/3, and the client that trusts it.
func answers(t *testing.T, h http.Handler, change func(*http3.Server)) (*egresstest.Network, *egress.Client) {
	t.Helper()
	n := withSite(t)
	config, trust := site(t)
	n.ServeHTTP3(quic4, config, h, change)
	return n, n.Client(nil, trust)
}

func nothing(http.ResponseWriter, *http.Request) {}

func TestHTTP3(t *testing.T) {
	t.Parallel()
	got := make(chan *http.Request, 1)
	n, c := answers(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r
		w.Header().Set("Location", "https://other.example.com/")
		w.WriteHeader(http.StatusFound)
	}), nil)
	result := c.HTTP3(t.Context(), http3Request(t))
	if result.Failure != "" || result.Err != nil || result.Address.String() != web4 || result.Handshake <= 0 ||
		result.Handshake > egress.HTTP3Timeout {
		t.Fatalf("%+v", result)
	}
	r := <-got
	if r.Method != http.MethodHead || r.RequestURI != "/" || r.Host != "example.com" || r.ProtoMajor != 3 ||
		r.UserAgent() != egresstest.UserAgent || r.TLS.ServerName != "example.com" || !r.TLS.HandshakeComplete {
		t.Errorf("%s %s of %s over %s, %v", r.Method, r.RequestURI, r.Host, r.Proto, r.Header)
	}
	if dials := n.Dials(); !slices.Equal(dials, addrPorts(quic4)) {
		t.Errorf("dialled %v", dials)
	}
}

func TestHTTP3StagesCarryWhatIsKnown(t *testing.T) {
	t.Parallel()
	_, c := answers(t, http.HandlerFunc(nothing), nil)
	feed := new(progress.Feed)
	feed.Begin()
	ctx := progress.With(t.Context(), feed)
	if r := c.HTTP3(ctx, http3Request(t)); r.Failure != "" {
		t.Fatal(r.Err)
	}
	var got []progress.Step
	for position := uint64(0); ; {
		step, next, ok, _ := feed.Next(position)
		if !ok {
			break
		}
		position = next
		if step.Known.Address != "" {
			got = append(got, step)
		}
	}
	// The feed keeps the newest stage of each connection.
	if len(got) != 1 || got[0].Value != progress.Waiting || got[0].Known.Address != web4 ||
		got[0].Known.DNSMs <= 0 || got[0].Known.ConnectMs <= 0 || got[0].Until.IsZero() {
		t.Errorf("%+v", got)
	}
}

func TestHTTP3AtAnAlternative(t *testing.T) {
	t.Parallel()
	n := withSite(t)
	n.Records("alt.example.net. 60 IN A 198.41.0.4")
	config, trust := site(t)
	seen := make(chan *http.Request, 1)
	n.ServeHTTP3("198.41.0.4:8443", config, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen <- r }),
		nil)
	result := n.Client(nil, trust).HTTP3(t.Context(), http3Request(t, func(r *egress.HTTP3Request) {
		r.Host, r.Port = host(t, "alt.example.net"), 8443
	}))
	if result.Failure != "" || result.Address.String() != "198.41.0.4" {
		t.Fatalf("%+v", result)
	}
	if r := <-seen; r.Host != "example.com" || r.TLS.ServerName != "example.com" {
		t.Errorf("%s, SNI %s", r.Host, r.TLS.ServerName)
	}
}

// A token that the server sends in a Retry packet (RFC 9000 section 8.1.2) is returned, and nothing is sent early.
func TestHTTP3Retry(t *testing.T) {
	t.Parallel()
	n := withSite(t)
	config, trust := site(t)
	transport := &quic.Transport{Conn: n.ListenPacket(quic4), VerifySourceAddress: func(net.Addr) bool { return true }}
	l, err := transport.ListenEarly(http3.ConfigureTLSConfig(config), &quic.Config{Allow0RTT: true})
	if err != nil {
		t.Fatal(err)
	}
	s := &http3.Server{Handler: http.HandlerFunc(nothing)}
	go func() { _ = s.ServeListener(l) }()
	t.Cleanup(func() { _, _, _ = s.Close(), l.Close(), transport.Close() })
	c := n.Client(nil, trust)
	for range 2 {
		if result := c.HTTP3(t.Context(), http3Request(t)); result.Failure != "" {
			t.Fatalf("%+v", result)
		}
	}
}

// each answers every datagram to the public address.
func each(n *egresstest.Network, answer func(c net.PacketConn, from net.Addr, datagram []byte)) *atomic.Int32 {
	c := n.ListenPacket(quic4)
	var count atomic.Int32
	go func() {
		for buffer := make([]byte, 2048); ; {
			size, from, err := c.ReadFrom(buffer)
			if err != nil {
				return
			}
			count.Add(1)
			answer(c, from, buffer[:size])
		}
	}()
	return &count
}

// negotiation is a packet of version negotiation (RFC 9000 section 17.2.1) in answer to a long header.
func negotiation(initial []byte, versions ...byte) []byte {
	destination := initial[6 : 6+initial[5]]
	rest := initial[6+len(destination):]
	source := rest[1 : 1+rest[0]]
	packet := append([]byte{0x80, 0, 0, 0, 0, byte(len(source))}, source...)
	packet = append(append(packet, byte(len(destination))), destination...)
	return append(packet, versions...)
}

func TestHTTP3Failures(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		serve   func(t *testing.T, n *egresstest.Network, config *tls.Config)
		want    egress.HTTP3Failure
		slow    bool // it takes all of the time
		pending bool // the handshake is not complete
	}{
		"silent": {want: egress.HTTP3Silent, slow: true, pending: true,
			serve: func(_ *testing.T, n *egresstest.Network, _ *tls.Config) { n.ListenPacket(quic4) }},
		"refused": {want: egress.HTTP3Refused, pending: true,
			serve: func(_ *testing.T, n *egresstest.Network, _ *tls.Config) { _ = n.ListenPacket(quic4).Close() }},
		"garbage": {want: egress.HTTP3Broken, slow: true, pending: true,
			serve: func(_ *testing.T, n *egresstest.Network, _ *tls.Config) {
				each(n, func(c net.PacketConn, from net.Addr, _ []byte) { _, _ = c.WriteTo([]byte("HTTP/1.1 400\r\n"), from) })
			}},
		"other versions alone": {want: egress.HTTP3Broken, pending: true,
			serve: func(_ *testing.T, n *egresstest.Network, _ *tls.Config) {
				each(n, func(c net.PacketConn, from net.Addr, b []byte) {
					_, _ = c.WriteTo(negotiation(b, 0xff, 0, 0, 29), from)
				})
			}},
		"another certificate": {want: egress.HTTP3Certificate,
			serve: func(t *testing.T, n *egresstest.Network, _ *tls.Config) {
				other := certtest.Leaf(t, certtest.Root(t, "other"), []string{"example.com"})
				n.ServeHTTP3(quic4, &tls.Config{Certificates: []tls.Certificate{other.TLS()}}, http.HandlerFunc(
					func(http.ResponseWriter, *http.Request) { t.Error("the request was sent") }), nil)
			}},
		"another protocol": {want: egress.HTTP3Broken, pending: true,
			serve: func(t *testing.T, n *egresstest.Network, config *tls.Config) {
				config = config.Clone()
				config.NextProtos = []string{"doq"}
				accept(t, n, config, func(*quic.Conn) {})
			}},
		"silent after the handshake": {want: egress.HTTP3Broken, slow: true,
			serve: func(t *testing.T, n *egresstest.Network, config *tls.Config) {
				accept(t, n, config, func(c *quic.Conn) { <-c.Context().Done() })
			}},
		"closed after the handshake": {want: egress.HTTP3Broken,
			serve: func(t *testing.T, n *egresstest.Network, config *tls.Config) {
				accept(t, n, config, func(c *quic.Conn) { _ = c.CloseWithError(0x102, "no") })
			}},
		"no HTTP/3": {want: egress.HTTP3Broken,
			serve: func(t *testing.T, n *egresstest.Network, config *tls.Config) {
				accept(t, n, config, func(c *quic.Conn) {
					if s, err := c.AcceptStream(c.Context()); err == nil {
						_, _ = s.Write([]byte("HTTP/1.1 200 OK\r\n\r\n"))
						_ = s.Close()
					}
					<-c.Context().Done()
				})
			}},
		"header too long": {want: egress.HTTP3Broken,
			serve: func(_ *testing.T, n *egresstest.Network, config *tls.Config) {
				n.ServeHTTP3(quic4, config, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("X-Long", strings.Repeat("a", egress.MaxHeaderBytes))
				}), nil)
			}},
		"misdirected": {want: egress.HTTP3Broken,
			serve: func(_ *testing.T, n *egresstest.Network, config *tls.Config) {
				n.ServeHTTP3(quic4, config, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.WriteHeader(http.StatusMisdirectedRequest)
				}), nil)
			}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := withSite(t)
			config, trust := site(t)
			config.NextProtos = []string{"h3"}
			test.serve(t, n, config)
			began := time.Now()
			result := n.Client(nil, trust, egress.WithHTTP3Timeout(brief)).HTTP3(t.Context(), http3Request(t))
			took := time.Since(began)
			if result.Failure != test.want || sentence(result.Err) == "" || result.Address.String() != web4 ||
				(result.Handshake == 0) != test.pending {
				t.Errorf("%+v", result)
			}
			if test.slow && took < brief { // a bound below: a busy machine adds to it
				t.Errorf("took %v", took)
			}
		})
	}
}

// accept serves QUIC connections at the site's address.
func accept(t *testing.T, n *egresstest.Network, config *tls.Config, h func(*quic.Conn)) {
	t.Helper()
	transport := &quic.Transport{Conn: n.ListenPacket(quic4)}
	l, err := transport.Listen(config, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = l.Close(), transport.Close() })
	go func() {
		for {
			c, err := l.Accept(context.Background())
			if err != nil {
				return
			}
			go h(c)
		}
	}()
}

// What is not at a public address, or may not be charged, is sent no packet.
func TestHTTP3Policy(t *testing.T) {
	t.Parallel()
	limited := fault.LimitedFor(time.Minute, "ADDRESS_BUSY")
	for name, test := range map[string]struct {
		host   string
		mutate func(*egress.Settings)
		want   egress.HTTP3Failure
	}{
		"a private address": {host: "inside.example.com", want: egress.HTTP3NotPublic},
		"a mixed name":      {host: "mixed.example.com", want: egress.HTTP3NotPublic},
		"a private alias":   {host: "alias.example.com", want: egress.HTTP3NotPublic},
		"no address":        {host: "absent.example.com", want: egress.HTTP3NotFound},
		"a denied name":     {host: "example.com", want: egress.HTTP3NotTried, mutate: deny(t, "example.com")},
		"a denied address":  {host: "example.com", want: egress.HTTP3NotTried, mutate: deny(t, web4)},
		"an address at its limit": {host: "example.com", want: egress.HTTP3NotTried, mutate: func(s *egress.Settings) {
			s.Charge = func(context.Context, netip.AddrPort) error { return limited }
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := withSite(t)
			n.Records("inside.example.com. 60 IN A 10.0.0.1", "mixed.example.com. 60 IN A "+web4,
				"mixed.example.com. 60 IN A 127.0.0.1", "alias.example.com. 60 IN CNAME intranet.local.",
				"intranet.local. 60 IN A "+web4)
			result := n.Client(test.mutate).HTTP3(t.Context(), http3Request(t, func(r *egress.HTTP3Request) {
				r.Host = host(t, test.host)
			}))
			if result.Failure != test.want || sentence(result.Err) == "" || result.Address.IsValid() {
				t.Errorf("%+v", result)
			}
			if dials := n.Dials(); len(dials) > 0 {
				t.Errorf("dialled %v", dials)
			}
		})
	}
}

func deny(t *testing.T, list string) func(*egress.Settings) {
	t.Helper()
	denied, err := target.ParseDenylist(list)
	if err != nil {
		t.Fatal(err)
	}
	return func(s *egress.Settings) { s.Deny = denied }
}

// UDP is charged as TCP is: the address and the port, before the first packet.
func TestHTTP3IsCharged(t *testing.T) {
	t.Parallel()
	n := withSite(t)
	config, trust := site(t)
	n.ServeHTTP3(web4+":8443", config, http.HandlerFunc(nothing), nil)
	var charged []netip.AddrPort
	c := n.Client(func(s *egress.Settings) {
		s.Charge = func(_ context.Context, to netip.AddrPort) error {
			charged = append(charged, to)
			if len(n.Dials()) > 0 {
				t.Error("charged after the dial")
			}
			return nil
		}
	}, trust)
	result := c.HTTP3(t.Context(), http3Request(t, func(r *egress.HTTP3Request) { r.Port = 8443 }))
	if result.Failure != "" || !slices.Equal(charged, addrPorts(web4+":8443")) {
		t.Errorf("%+v, charged %v", result, charged)
	}
}

// A server that is silent gets few datagrams, and what is sent to it counts for the run.
func TestHTTP3Silence(t *testing.T) {
	t.Parallel()
	n := withSite(t)
	count := each(n, func(net.PacketConn, net.Addr, []byte) {})
	totals := new(traffic.Totals)
	ctx := traffic.WithMeter(t.Context(), totals)
	result := n.Client(nil, egress.WithHTTP3Timeout(brief)).HTTP3(ctx, http3Request(t))
	if sent := count.Load(); result.Failure != egress.HTTP3Silent || sent < 2 || sent > egress.MaxQUICUnanswered {
		t.Errorf("%+v after %d datagrams", result, sent)
	}
	if sent := totals.Sent(); sent < 2*1200 || sent > egress.MaxQUICUnanswered*1400+1000 {
		t.Errorf("%d bytes were counted", sent)
	}
}

// A run that has sent what it may sends nothing over QUIC either.
func TestHTTP3WithoutRoom(t *testing.T) {
	t.Parallel()
	n, c := answers(t, http.HandlerFunc(nothing), nil)
	ctx := traffic.WithMeter(t.Context(), new(traffic.Totals))
	for traffic.Room(ctx, 8000) == nil {
		traffic.Dialled(ctx)
	}
	result := c.HTTP3(ctx, http3Request(t))
	if result.Failure != egress.HTTP3NotTried || !fault.Is(result.Err, fault.Limited) || len(n.Dials()) > 0 {
		t.Errorf("%+v, dialled %v", result, n.Dials())
	}
}

// A flood ends the attempt long before its time.
func TestHTTP3Flood(t *testing.T) {
	t.Parallel()
	n := withSite(t)
	stop := make(chan struct{})
	t.Cleanup(func() { close(stop) })
	each(n, func(c net.PacketConn, from net.Addr, b []byte) {
		junk := slices.Clone(b)
		for {
			select {
			case <-stop:
				return
			default:
				if _, err := c.WriteTo(junk, from); err != nil {
					return
				}
			}
		}
	})
	began := time.Now()
	result := n.Client(nil).HTTP3(t.Context(), http3Request(t))
	// quic-go needs real sockets; to wait in vain takes HTTP3Timeout.
	if result.Failure != egress.HTTP3Broken || time.Since(began) > 2*time.Second ||
		!strings.Contains(sentence(result.Err), "far more") {
		t.Errorf("%+v after %v", result, time.Since(began))
	}
}

// A server that goes on at another port is not followed: nothing is sent there, and nothing read from there.
func TestHTTP3Migration(t *testing.T) {
	t.Parallel()
	n := withSite(t)
	config, trust := site(t)
	inner := egresstest.New(t)
	inner.ServeHTTP3(quic4, config, http.HandlerFunc(nothing), nil)
	back, err := inner.Dial(t.Context(), "udp4", netip.MustParseAddrPort(quic4))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = back.Close() })
	elsewhere, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = elsewhere.Close() })
	var client atomic.Value
	each(n, func(_ net.PacketConn, from net.Addr, b []byte) {
		client.Store(from)
		_, _ = back.Write(b)
	})
	go func() { // the server's packets come from elsewhere
		for buffer := make([]byte, 2048); ; {
			size, err := back.Read(buffer)
			if err != nil {
				return
			}
			_, _ = elsewhere.WriteTo(buffer[:size], client.Load().(net.Addr))
		}
	}()
	moved := make(chan int, 1)
	go func() {
		size, _, _ := elsewhere.ReadFrom(make([]byte, 2048))
		moved <- size
	}()
	result := n.Client(nil, trust, egress.WithHTTP3Timeout(brief)).HTTP3(t.Context(), http3Request(t))
	if result.Failure != egress.HTTP3Silent {
		t.Errorf("%+v", result)
	}
	_ = elsewhere.Close()
	if size := <-moved; size > 0 {
		t.Errorf("%d octets were sent elsewhere", size)
	}
}

// The caller may leave at any time.
func TestHTTP3Canceled(t *testing.T) {
	t.Parallel()
	n := withSite(t)
	ctx, cancel := context.WithCancel(t.Context())
	each(n, func(net.PacketConn, net.Addr, []byte) { cancel() })
	began := time.Now()
	result := n.Client(nil).HTTP3(ctx, http3Request(t))
	// quic-go needs real sockets; to wait in vain takes HTTP3Timeout.
	if result.Failure == "" || time.Since(began) > egress.HTTP3Timeout/2 || !errors.Is(ctx.Err(), context.Canceled) {
		t.Errorf("%+v after %v", result, time.Since(began))
	}
}

// packets is a connected socket without a network: it counts what is written, and reads of any number of datagrams.
type packets struct {
	net.Conn
	written int
}

func (p *packets) Write(b []byte) (int, error) { p.written++; return len(b), nil }
func (p *packets) Read(b []byte) (int, error)  { return min(len(b), 100), nil }

// A datagram to another address than the one that was permitted is an error and is not sent: a preferred address of the
// server (RFC 9000 section 9.6) is never used.
func TestQUICSocketElsewhere(t *testing.T) {
	t.Parallel()
	below := new(packets)
	s := egress.NewQUICSocket(below, netip.MustParseAddrPort(quic4))
	for _, to := range []net.Addr{
		net.UDPAddrFromAddrPort(netip.MustParseAddrPort(web4 + ":444")),
		net.UDPAddrFromAddrPort(netip.MustParseAddrPort("10.0.0.1:443")),
		net.TCPAddrFromAddrPort(netip.MustParseAddrPort(quic4)), nil,
	} {
		if _, err := s.WriteTo([]byte("x"), to); err == nil || below.written > 0 {
			t.Errorf("%v: %v, %d written", to, err, below.written)
		}
	}
	to := net.UDPAddrFromAddrPort(netip.MustParseAddrPort(quic4))
	for range 2 * egress.MaxQUICUnanswered {
		if n, err := s.WriteTo([]byte("x"), to); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	if below.written != egress.MaxQUICUnanswered {
		t.Errorf("%d datagrams were sent before an answer", below.written)
	}
	for i := range egress.MaxQUICDatagrams + 1 {
		_, from, err := s.ReadFrom(make([]byte, 1500))
		if (err != nil) != (i == egress.MaxQUICDatagrams) || err == nil && from.String() != quic4 {
			t.Fatalf("datagram %d: from %v, %v", i, from, err)
		}
	}
	if _, err := s.WriteTo([]byte("x"), to); err != nil || below.written != egress.MaxQUICUnanswered+1 {
		t.Errorf("%v after an answer, %d written", err, below.written)
	}
}
