package dnsclient_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/shared/parallel"

	"github.com/miekg/dns"
)

// oneSecond answers after a second, and counts the queries.
type oneSecond struct{ queries atomic.Int32 }

func (o *oneSecond) answer(q *dns.Msg) *dns.Msg {
	o.queries.Add(1)
	time.Sleep(time.Second) // of the bubble
	return egresstest.Reply(q, 0, "example.com. 0 IN A 93.184.216.34")
}

func query(ctx context.Context, c *dnsclient.Client, name string) *parallel.Pending[dnsclient.Answer] {
	return parallel.Start(func() dnsclient.Answer { return c.Query(ctx, name, dns.TypeA) })
}

func TestIdenticalQueriesShareOneLookup(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var server oneSecond
		m := &egresstest.Pipes{Serve: egresstest.NameServer(server.answer)}
		c := clientOver(t, m.Dial)
		var asked []*parallel.Pending[dnsclient.Answer]
		for range 20 {
			asked = append(asked, query(t.Context(), c, "example.com"))
		}
		for _, pending := range asked {
			a := pending.Wait()
			if a.Code != "" || a.Cached || len(a.Records) != 1 {
				t.Errorf("%+v", a)
			}
			// What one caller does to its records is private to that caller.
			if a.Records[0].Header().Ttl != 0 {
				t.Errorf("another's records: %v", a.Records)
			}
			a.Records[0].Header().Ttl = 7
		}
		if n := server.queries.Load(); n != 1 {
			t.Errorf("%d queries", n)
		}
	})
}

func TestALookupOutlivesItsFirstCallerAndEndsWithItsLast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var server oneSecond
		m := &egresstest.Pipes{Serve: egresstest.NameServer(server.answer)}
		c := clientOver(t, m.Dial)
		ctx, leave := context.WithCancel(t.Context())
		first := query(ctx, c, "example.com")
		synctest.Wait()
		second := query(t.Context(), c, "example.com")
		synctest.Wait()
		leave()
		if a := first.Wait(); a.Code != dnsclient.CodeTimeout {
			t.Errorf("the caller that left: %+v", a)
		}
		if a := second.Wait(); a.Code != "" || server.queries.Load() != 1 {
			t.Errorf("the caller that stayed: %+v, %d queries", a, server.queries.Load())
		}

		ctx, leave = context.WithCancel(t.Context())
		only := query(ctx, c, "example.com")
		synctest.Wait()
		if m.Open() != 1 {
			t.Fatalf("%d connections to the name server", m.Open())
		}
		leave()
		only.Wait()
		synctest.Wait()
		if open := m.Open(); open != 0 {
			t.Errorf("%d connections for a lookup without a caller", open)
		}
		time.Sleep(time.Second) // the server's own
	})
}

func TestCloseEndsLookups(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &egresstest.Pipes{Serve: egresstest.NameServer(func(*dns.Msg) *dns.Msg { return nil })}
		c := clientOver(t, m.Dial)
		pending := query(t.Context(), c, "silent.example.com")
		synctest.Wait()
		began := time.Now()
		c.Close()
		if a := pending.Wait(); a.Code != dnsclient.CodeTimeout {
			t.Errorf("%+v", a)
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("took %v", took)
		}
		if open := m.Open(); open != 0 {
			t.Errorf("%d connections are left", open)
		}
	})
}
