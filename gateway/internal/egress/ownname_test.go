package egress_test

import (
	"bytes"
	"log/slog"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"

	"github.com/miekg/dns"
)

const ownName = "tools.example.com"

// Every address of the name is refused, as a target, as a name's address, at the dial and at the socket.
func TestOwnName(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records(ownName+". 300 IN CNAME host.example.net.", "host.example.net. 120 IN A 93.184.216.34",
		"host.example.net. 300 IN A 93.184.216.35", "host.example.net. 300 IN AAAA 2606:4700::1",
		"other.example.com. 300 IN A 93.184.216.35", "far.example.com. 300 IN A 93.184.216.36")
	var log bytes.Buffer
	lines := slog.New(slog.NewTextHandler(&log, nil))
	c := n.Client(func(s *egress.Settings) { s.NAT64 = prefixes("2a0e:1:2:64::/96") })
	if wait := c.LookUpOwnName(t.Context(), ownName, lines); wait != 120*time.Second {
		t.Errorf("the next lookup is after %v", wait)
	}
	for address, permitted := range map[string]bool{
		"93.184.216.34": false, "93.184.216.35": false, "2606:4700::1": false, "2a0e:1:2:64::5db8:d822": false,
		"93.184.216.33": true, "93.184.216.36": true, "2606:4700::2": true,
	} {
		if err := c.Permit(netip.MustParseAddr(address)); permitted != (err == nil) ||
			err != nil && !strings.Contains(sentence(err), "own address") {
			t.Errorf("Permit(%s) = %v", address, err)
		}
	}
	for name, permitted := range map[string]bool{ownName: false, "other.example.com": false, "far.example.com": true} {
		if _, err := c.Resolve(t.Context(), host(t, name)); permitted != (err == nil) {
			t.Errorf("Resolve(%s): %v", name, err)
		}
	}
	to := netip.MustParseAddrPort("93.184.216.34:443")
	_, err := c.Dial(t.Context(), to)
	wantFault(t, err, fault.Refused)
	_, err = c.DialSocket(t.Context(), "tcp4", to)
	wantFault(t, err, fault.Refused)
	if want := `addresses=93.184.216.34,93.184.216.35,2606:4700::1`; strings.Count(log.String(), "\n") != 1 ||
		!strings.Contains(log.String(), want) {
		t.Errorf("no %s in %s", want, &log)
	}
	if c.LookUpOwnName(t.Context(), ownName, lines); strings.Count(log.String(), "\n") != 1 {
		t.Errorf("an answer without a change is logged: %s", &log)
	}
	allowed := n.Client(func(s *egress.Settings) { s.AllowOwnAddresses = true })
	allowed.LookUpOwnName(t.Context(), ownName, lines)
	if err := allowed.Permit(to.Addr()); err != nil {
		t.Errorf("with ALLOW_OWN_ADDRESSES: %v", err)
	}
}

// A resolver that fails keeps the addresses that it has given, one that answers replaces them.
func TestOwnNameChanges(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	second := n.NameServer("192.0.2.54:53")
	n.Records(ownName + ". 7200 IN A 93.184.216.34")
	second.Records(ownName + ". 1 IN A 93.184.216.35")
	c := n.Client(func(s *egress.Settings) {
		s.Resolvers = append(s.Resolvers, netip.MustParseAddrPort("192.0.2.54:53"))
	})
	var log bytes.Buffer
	looksUp := func(what string, wait time.Duration, lines int, own ...string) {
		t.Helper()
		log.Reset()
		if got := c.LookUpOwnName(t.Context(), ownName, slog.New(slog.NewTextHandler(&log, nil))); got != wait {
			t.Errorf("%s: the next lookup is after %v, want %v", what, got, wait)
		}
		if got := strings.Count(log.String(), "\n"); got != lines {
			t.Errorf("%s: %d lines, want %d: %s", what, got, lines, &log)
		}
		for _, a := range addrs("93.184.216.34", "93.184.216.35", "93.184.216.36") {
			refused := c.Permit(a) != nil
			if want := strings.Contains(strings.Join(own, " "), a.String()); refused != want {
				t.Errorf("%s: %v is refused: %v", what, a, refused)
			}
		}
	}
	failing := func(q *dns.Msg) *dns.Msg { return new(dns.Msg).SetRcode(q, dns.RcodeServerFailure) }
	n.Handle(ownName, failing)
	second.Handle(ownName, failing)
	looksUp("no answer yet", 5*time.Second, 1)
	if !strings.Contains(log.String(), "level=WARN") {
		t.Errorf("%s", &log)
	}
	looksUp("still none", 5*time.Second, 0)
	second.Handle(ownName, second.Recursive)
	looksUp("an answer of one", 5*time.Second, 1, "93.184.216.35")
	n.Handle(ownName, n.Recursive)
	looksUp("answers of both", time.Minute, 1, "93.184.216.34", "93.184.216.35")
	n.Handle(ownName, failing)
	second.Handle(ownName, failing)
	looksUp("a later failure", time.Minute, 0, "93.184.216.34", "93.184.216.35")
	moved := func(q *dns.Msg) *dns.Msg {
		m := new(dns.Msg).SetReply(q)
		if q.Question[0].Qtype == dns.TypeA {
			m.Answer = []dns.RR{record(t, ownName+". 86400 IN A 93.184.216.36")}
			return m
		}
		m.Ns = []dns.RR{record(t, "example.com. 86400 IN SOA a.example.com. b.example.com. 1 2 3 4 86400")}
		return m
	}
	n.Handle(ownName, moved)
	second.Handle(ownName, moved)
	looksUp("another address", time.Hour, 1, "93.184.216.36")
	gone := func(q *dns.Msg) *dns.Msg {
		m := new(dns.Msg).SetRcode(q, dns.RcodeNameError)
		m.Ns = []dns.RR{record(t, "example.com. 86400 IN SOA a.example.com. b.example.com. 1 2 3 4 86400")}
		return m
	}
	n.Handle(ownName, gone)
	second.Handle(ownName, gone)
	looksUp("the name is gone", time.Minute, 1)
}

func record(t *testing.T, text string) dns.RR {
	t.Helper()
	rr, err := dns.NewRR(text)
	if err != nil {
		t.Fatal(err)
	}
	return rr
}

// The name is looked up again when its answer expires, and a silent resolver is no reason to wait at the start.
func TestWatchOwnName(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var address atomic.Pointer[string]
		address.Store(new("93.184.216.34"))
		names := &egresstest.Pipes{Serve: egresstest.NameServer(func(q *dns.Msg) *dns.Msg {
			if q.Question[0].Qtype != dns.TypeA {
				m := egresstest.Reply(q, 0)
				m.Ns = []dns.RR{record(t, "example.com. 900 IN SOA a.example.com. b.example.com. 1 2 3 4 900")}
				return m
			}
			return egresstest.Reply(q, 0, ownName+". 100 IN A "+*address.Load())
		})}
		c := pipesClient(t, names.Dial)
		<-c.WatchOwnName(ownName, slog.New(slog.DiscardHandler))
		before, after := netip.MustParseAddr("93.184.216.34"), netip.MustParseAddr("93.184.216.35")
		wantFault(t, c.Permit(before), fault.Refused)
		address.Store(new(after.String()))
		time.Sleep(99 * time.Second) // of the bubble
		synctest.Wait()
		wantFault(t, c.Permit(before), fault.Refused)
		time.Sleep(2 * time.Second) // of the bubble
		synctest.Wait()
		wantFault(t, c.Permit(after), fault.Refused)
		if err := c.Permit(before); err != nil {
			t.Errorf("the address of before: %v", err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		silent := &egresstest.Pipes{Serve: egresstest.NameServer(func(*dns.Msg) *dns.Msg { return nil })}
		first := pipesClient(t, silent.Dial).WatchOwnName(ownName, slog.New(slog.DiscardHandler))
		select {
		case <-first:
			t.Error("a lookup without an answer has ended at once")
		case <-time.After(2 * time.Second):
		}
	})
}
