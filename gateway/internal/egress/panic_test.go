package egress_test

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/shared/parallel"

	"github.com/miekg/dns"
)

// wantPanic fails the test unless f panics with what another goroutine panicked with.
func wantPanic(t *testing.T, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if p, is := recover().(*parallel.Panic); !is || p.Value != "boom" {
			t.Errorf("the panic is %v", p)
		}
	}()
	f()
	t.Error("there is no panic")
}

// pipesClient gives a client whose every connection goes over dial. It is closed with the test, inside the bubble.
func pipesClient(t *testing.T, dial egress.DialFunc, opts ...egress.Option) *egress.Client {
	t.Helper()
	all := append([]egress.Option{
		egress.WithDialer(dial),
		egress.WithOwnAddresses(func() []netip.Addr { return nil }),
	}, opts...)
	c, err := egress.New(egress.Settings{
		Resolvers: addrPorts("192.0.2.53:53"),
		Families:  egress.FamiliesBoth,
	}, all...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// answerA answers questions for A; one for AAAA is never answered.
func answerA(q *dns.Msg) *dns.Msg {
	if q.Question[0].Qtype != dns.TypeA {
		return nil
	}
	return egresstest.Reply(q, 0, "example.com. 300 IN A 93.184.216.34")
}

// hostileTo panics when a question of the type is written to it.
type hostileTo struct {
	net.Conn
	qtype uint16
}

func (h hostileTo) Write(packet []byte) (int, error) {
	if q := new(dns.Msg); q.Unpack(packet) == nil && q.Question[0].Qtype == h.qtype {
		panic("boom")
	}
	return h.Conn.Write(packet)
}

func TestAPanicInALookupReachesAllWhoShareIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := pipesClient(t, func(context.Context, string, netip.AddrPort) (net.Conn, error) {
			time.Sleep(time.Second)
			panic("boom")
		})
		var callers sync.WaitGroup
		for range 3 {
			callers.Go(func() { wantPanic(t, func() { c.DNS().Query(t.Context(), "example.com", dns.TypeA) }) })
		}
		callers.Wait()
	})
}

func TestAPanicInTheLookupOfEitherFamily(t *testing.T) {
	t.Parallel()
	for _, qtype := range []uint16{dns.TypeA, dns.TypeAAAA} {
		t.Run(dns.TypeToString[qtype], func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := &egresstest.Pipes{Serve: egresstest.NameServer(answerA)}
				c := pipesClient(t, func(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
					conn, err := m.Dial(ctx, network, to)
					return hostileTo{conn, qtype}, err
				})
				wantPanic(t, func() { _, _ = c.Resolve(t.Context(), host(t, "example.com")) })
				if open := m.Open(); open != 0 {
					t.Errorf("%d connections are left", open)
				}
			})
		})
	}
}

// attempt is what becomes of a dial to one address: after a while it connects, or panics.
type attempt struct {
	after time.Duration
	boom  bool
}

func TestAPanicInARacedDial(t *testing.T) {
	t.Parallel()
	addresses := addrs("93.184.216.34", "93.184.216.35", "93.184.216.36")
	const late = time.Second // after the race is decided; an attempt notices its end no sooner
	for name, attempts := range map[string][]attempt{
		"of the only one under way":            {{0, true}},
		"of the first while others are late":   {{600 * time.Millisecond, true}, {late, false}, {late, false}},
		"of the last while others are late":    {{late, false}, {late, false}, {0, true}},
		"of a loser after one has connected":   {{late, true}, {0, false}},
		"of several":                           {{late, true}, {late, false}, {0, true}},
		"of a loser while another loser is up": {{late, false}, {late, true}, {0, false}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				web := &egresstest.Pipes{Serve: func(_ netip.AddrPort, far net.Conn) { stay(far) }}
				names := &egresstest.Pipes{Serve: egresstest.NameServer(func(q *dns.Msg) *dns.Msg {
					m := egresstest.Reply(q, 0)
					for i := range attempts {
						if q.Question[0].Qtype == dns.TypeA {
							m.Answer = append(m.Answer, egresstest.Reply(q, 0, "example.com. 300 IN A "+addresses[i].String()).Answer...)
						}
					}
					return m
				})}
				c := pipesClient(t, func(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
					if to.Port() == 53 {
						return names.Dial(ctx, network, to)
					}
					for i, a := range attempts {
						if addresses[i] != to.Addr() {
							continue
						}
						time.Sleep(a.after)
						if a.boom {
							panic("boom")
						}
					}
					return web.Dial(ctx, network, to)
				})
				for _, url := range []string{"http://example.com/", "https://example.com/"} {
					wantPanic(t, func() { _, _ = get(t, c, url) })
					if open := web.Open(); open != 0 {
						t.Errorf("%s: %d connections are left", url, open)
					}
				}
			})
		})
	}
}

// A certificate is a stranger's, and is judged in a goroutine of the library's.
func TestAPanicInTheJudgementOfACertificate(t *testing.T) {
	t.Parallel()
	n := withSite(t)
	config, _ := site(t)
	n.ServeTLS(web4+":443", config, http.NotFoundHandler())
	checker := certs.Checker{Now: func() time.Time { panic("boom") }}
	c := n.Client(nil, egress.WithChecker(checker))
	wantPanic(t, func() { _, _ = get(t, c, "https://example.com/") })
}

// So is whatever a handshake is made of.
func TestAPanicInAHandshake(t *testing.T) {
	t.Parallel()
	n := withSite(t)
	config, trust := site(t)
	n.ServeTLS(web4+":443", config, http.NotFoundHandler())
	c := n.Client(nil, trust, egress.WithDialer(func(ctx context.Context, network string, to netip.AddrPort) (net.Conn,
		error) {
		conn, err := n.Dial(ctx, network, to)
		if to.Port() != 443 {
			return conn, err
		}
		return hostileRead{conn}, err
	}))
	wantPanic(t, func() { _, _ = get(t, c, "https://example.com/") })
}

type hostileRead struct{ net.Conn }

func (hostileRead) Read([]byte) (int, error) { panic("boom") }
