package whois

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"diagnostics/gateway/internal/cache"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/limits/pace"
)

// server answers each question with what serve makes of it, and notes them.
type server struct {
	mu    sync.Mutex
	asked []string
	serve func(conn net.Conn, question string)
}

func (s *server) questions() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

func (s *server) run(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer func() { _ = conn.Close() }()
			line, err := bufio.NewReader(conn).ReadString('\n')
			if err != nil {
				return
			}
			s.mu.Lock()
			s.asked = append(s.asked, line)
			s.mu.Unlock()
			s.serve(conn, strings.TrimSuffix(line, "\r\n"))
		}()
	}
}

// texts answers from a table.
func texts(all map[string]string) func(net.Conn, string) {
	return func(conn net.Conn, question string) { _, _ = io.WriteString(conn, all[question]) }
}

func said(text string) func(net.Conn, string) {
	return func(conn net.Conn, _ string) { _, _ = io.WriteString(conn, text) }
}

// waits holds the connection open until the other side closes it.
func waits(conn net.Conn, _ string) { _, _ = io.Copy(io.Discard, conn) }

// soon is the Timeout of those who mean to wait for its end.
func soon(c *Config) { c.Timeout = 1500 * time.Millisecond }

// world is a private internet with IANA's server at 93.184.216.1 and a registry's at 93.184.216.2.
type world struct {
	*egresstest.Network
	client         *Client
	iana, registry *server
	cache          *cache.Memory
	charged        []netip.AddrPort
}

const ianaOfIT = "% IANA WHOIS server\r\n\r\ndomain:       IT\r\n\r\norganisation: Registry\r\n\r\n" +
	"whois:        WHOIS.registry-site.net\r\n\r\nstatus:       ACTIVE\r\n"

func newWorld(t *testing.T, mutate func(*Config)) *world {
	t.Helper()
	w := &world{Network: egresstest.New(t), cache: cache.NewMemory(1 << 20)}
	t.Cleanup(w.cache.Close)
	w.Records("whois.iana.org. 300 IN A 93.184.216.1", "whois.registry-site.net. 300 IN A 93.184.216.2",
		"whois.inside-site.net. 300 IN A 10.0.0.1")
	w.iana = &server{serve: said(ianaOfIT)}
	w.registry = &server{serve: said("Domain: nobody-there.it\nStatus: AVAILABLE\n")}
	for address, s := range map[string]*server{"93.184.216.1:43": w.iana, "93.184.216.2:43": w.registry} {
		l := w.Listen(address)
		var running sync.WaitGroup
		running.Go(func() { s.run(l) })
		t.Cleanup(func() { _ = l.Close(); running.Wait() })
	}
	c := Config{
		Egress: w.Client(func(s *egress.Settings) {
			s.Charge = func(_ context.Context, to netip.AddrPort) error { w.charged = append(w.charged, to); return nil }
		}),
		Cache: w.cache,
	}
	if mutate != nil {
		mutate(&c)
	}
	var err error
	if w.client, err = New(c); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) look(t *testing.T, name string) Answer {
	t.Helper()
	a, err := w.client.Lookup(t.Context(), name)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if a.FetchedAt.Location() != time.UTC || time.Since(a.FetchedAt) > time.Minute { // a moment, no duration
		t.Errorf("%s: fetched at %v", name, a.FetchedAt)
	}
	return a
}

func TestLookup(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.registry.serve = texts(map[string]string{
		"example-shop.it": sample(t, "registered/it.txt"), "nobody-there.it": sample(t, "absent/it.txt"), "odd.it": "What?",
	})
	a := w.look(t, "example-shop.it")
	if a.Outcome != Found || a.Server != "whois.registry-site.net" || a.Cached || a.Domain.Expires == nil || a.Why != "" {
		t.Errorf("%+v", a)
	}
	if a := w.look(t, "example-shop.it"); !a.Cached || a.Outcome != Found || len(a.Domain.Nameservers) != 2 {
		t.Errorf("again: %+v", a)
	}
	if a := w.look(t, "nobody-there.it"); a.Outcome != NotFound || a.Domain != nil || a.Why != "" {
		t.Errorf("%+v", a)
	}
	if a := w.look(t, "odd.it"); a.Outcome != Unread ||
		a.Why != "The WHOIS server whois.registry-site.net answered in a format that this service does not read." {
		t.Errorf("%+v", a)
	}
	if got := w.iana.questions(); !slices.Equal(got, []string{"it\r\n"}) {
		t.Errorf("IANA was asked %q", got)
	}
	want := []string{"example-shop.it\r\n", "nobody-there.it\r\n", "odd.it\r\n"}
	if got := w.registry.questions(); !slices.Equal(got, want) {
		t.Errorf("the registry was asked %q", got)
	}
	if w.charged != nil {
		t.Errorf("a visitor was charged for %v", w.charged)
	}
}

func TestQuestions(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"example.de": "-T dn,ace example.de", "example.jp": "example.jp/e", "example.it": "example.it", "example.co": "example.co",
	} {
		if got := formatOf(tldOf(name)).question(name); got != want {
			t.Errorf("%q", got)
		}
	}
}

func TestReferrals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		iana func(net.Conn, string)
		why  string
	}{
		"none":          {said("domain: IT\r\nstatus: ACTIVE\r\n"), "IANA lists no WHOIS server for .it."},
		"empty":         {said("domain: IT\r\nwhois:\r\n"), "IANA lists no WHOIS server for .it."},
		"no such TLD":   {said("% This query returned 0 objects.\r\n"), "IANA lists no WHOIS server for .it."},
		"an address":    {said("domain: IT\r\nwhois: 93.184.216.2\r\n"), "IANA lists no WHOIS server for .it."},
		"a local name":  {said("domain: IT\r\nwhois: localhost\r\n"), "IANA lists no WHOIS server for .it."},
		"nonsense":      {said("<html>"), "did not say which WHOIS server .it has"},
		"another's":     {said("domain: COM\r\n"), "did not say which WHOIS server .it has"},
		"no answer":     {waits, "did not send its whole answer in time. So the WHOIS server of .it is not known."},
		"a long answer": {said(strings.Repeat("x", MaxText+1)), "sent an answer larger than 64 KiB. So the"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, soon)
			w.iana.serve = c.iana
			for _, domain := range []string{"example-shop.it", "other.it"} {
				if a := w.look(t, domain); a.Outcome != Unread || !strings.Contains(a.Why, c.why) || a.Server != root {
					t.Errorf("%+v", a)
				}
			}
			if got := w.iana.questions(); len(got) != 1 {
				t.Errorf("IANA was asked %q", got)
			}
			if got := w.registry.questions(); got != nil {
				t.Errorf("the registry was asked %q", got)
			}
		})
	}
}

// The word that other servers of IANA's kind have for a referral is read too.
func TestReferWord(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.iana.serve = said("refer:        whois.registry-site.net\n\ndomain:       IT\n")
	if a := w.look(t, "nobody-there.it"); a.Outcome != NotFound {
		t.Errorf("%+v", a)
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		serve func(net.Conn, string)
		kind  fault.Kind
		says  string
	}{
		"silence": {waits, fault.Timeout, "did not send its whole answer in time"},
		"a drip": {func(conn net.Conn, _ string) {
			for {
				if _, err := io.WriteString(conn, "x"); err != nil {
					return
				}
				time.Sleep(20 * time.Millisecond) // the pace of the drip, which the client's timeout must end
			}
		}, fault.Timeout, "did not send its whole answer in time"},
		"an endless line": {func(conn net.Conn, _ string) {
			for _, err := io.WriteString(conn, "Domain: "); err == nil; {
				_, err = io.WriteString(conn, strings.Repeat("x", 1<<12))
			}
		}, fault.Upstream, "sent an answer larger than 64 KiB"},
		"one octet too many": {said(strings.Repeat("x", MaxText+1)), fault.Upstream, "sent an answer larger than 64 KiB"},
		"a pause":            {said("% Excessive querying, grace period of 30 seconds.\n"), fault.Busy, "has been asked too often. Try again in 30 seconds."},
		"a reset": {func(conn net.Conn, _ string) {
			_, _ = io.WriteString(conn, "Domain: exam")
			_ = conn.(*net.TCPConn).SetLinger(0)
		}, fault.Upstream, "stopped in the middle of its answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var shorten func(*Config)
			if c.kind == fault.Timeout {
				shorten = soon
			}
			w := newWorld(t, shorten)
			w.registry.serve = c.serve
			a, err := w.client.Lookup(t.Context(), "example-shop.it")
			if !fault.Is(err, c.kind) || !strings.Contains(err.Error(), "The WHOIS server whois.registry-site.net "+c.says) {
				t.Errorf("%+v, %v", a, err)
			}
		})
	}
}

func TestAnswersOfTheLongestLength(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	text := sample(t, "registered/it.txt")
	w.registry.serve = said(text + strings.Repeat("x", MaxText-len(text)))
	if a := w.look(t, "example-shop.it"); a.Outcome != Found {
		t.Errorf("%+v", a)
	}
}

func TestServersThatCannotBeReached(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		server string
		kind   fault.Kind
		says   string
	}{
		"inside":  {"whois.inside-site.net", fault.Upstream, "is not at a public address, so it was not asked"},
		"nowhere": {"whois.gone-site.net", fault.Upstream, "has no address"},
		"closed":  {"whois.iana.org.closed-site.net", fault.Upstream, "refused the connection"},
		"dropped": {"whois.dropped-site.net", fault.Timeout, "did not answer in time"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, soon)
			w.Records("whois.iana.org.closed-site.net. 300 IN A 93.184.216.3", "whois.dropped-site.net. 300 IN A 93.184.216.4")
			w.Drop("93.184.216.4:43")
			w.iana.serve = said("domain: IT\nwhois: " + c.server + "\n")
			_, err := w.client.Lookup(t.Context(), "example-shop.it")
			if !fault.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v", err)
			}
			for _, dialled := range w.Dials() {
				if dialled.Addr().IsPrivate() || dialled.Port() == 43 && dialled.Addr() == netip.MustParseAddr("93.184.216.2") {
					t.Errorf("dialled %v", dialled)
				}
			}
		})
	}
}

// A server that requests a pause gets it: other names of it are not queried either.
func TestPause(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.registry.serve = said("Too many requests, wait 7 seconds.\r\n")
	for i, name := range []string{"example-shop.it", "other.it"} {
		_, err := w.client.Lookup(t.Context(), name)
		var failed *fault.Error
		if !errors.As(err, &failed) || failed.Kind != fault.Busy || failed.Rule != fault.RuleProviderWait ||
			failed.RetryAfter < time.Second || failed.RetryAfter > 7*time.Second {
			t.Errorf("%d: %v", i, err)
		}
	}
	if got := w.registry.questions(); len(got) != 1 {
		t.Errorf("asked %q", got)
	}
}

// TestTheTextOfARegistrantPausesNothing: a refusal is one only where the answer has no object and is short.
func TestTheTextOfARegistrantPausesNothing(t *testing.T) {
	t.Parallel()
	const quota = "Registrant: Query limit exceeded\n"
	for name, text := range map[string]string{
		"an object": "Domain: example-shop.it\n" + quota, "another object": "Domain: other.it\n" + quota,
		"more than 2 KiB": strings.Repeat("x\n", 1<<10) + quota,
	} {
		w := newWorld(t, nil)
		w.registry.serve = said(text)
		if a := w.look(t, "example-shop.it"); a.Outcome != Unread {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

func TestPauseOfIANA(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.iana.serve = said("rate limit exceeded, try again later\n")
	a, err := w.client.Lookup(t.Context(), "example-shop.it")
	if f, is := errors.AsType[*fault.Error](err); !is || f.Rule != fault.RuleProviderWait {
		t.Errorf("%+v, %v", a, err)
	}
}

// places are buckets of one token each.
type places struct {
	mu    sync.Mutex
	taken map[string]int
}

func (p *places) Take(_ context.Context, key string, _ int, _ time.Duration) (bool, time.Duration, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken[key]++
	return p.taken[key] == 1, time.Hour, nil
}

func TestPace(t *testing.T) {
	t.Parallel()
	buckets := &places{taken: map[string]int{}}
	w := newWorld(t, func(c *Config) { c.Pace = pace.New(buckets) })
	w.look(t, "nobody-there.it")
	_, err := w.client.Lookup(t.Context(), "other.it")
	var failed *fault.Error
	if !errors.As(err, &failed) || failed.Kind != fault.Busy || failed.RetryAfter != time.Hour ||
		failed.Rule != fault.LimitProviderShare {
		t.Errorf("%v", err)
	}
	if got := w.registry.questions(); len(got) != 1 {
		t.Errorf("asked %q", got)
	}
	if buckets.taken["whois.iana.org:43"] != 1 || buckets.taken["whois.registry-site.net:43"] == 0 {
		t.Errorf("taken %v", buckets.taken)
	}
}

func TestLookupOfAVisitorWhoLeaves(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.registry.serve = waits
	ctx, leave := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer leave()
	if _, err := w.client.Lookup(ctx, "example-shop.it"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

// What others have left in the store is judged as what a server says is.
func TestWhatOthersStoredIsJudgedAsAnAnswerIs(t *testing.T) {
	t.Parallel()
	good := func() record {
		return record{Outcome: Found, Server: "whois.registry-site.net", Domain: &Domain{
			Status: []string{"ok"}, Nameservers: []string{"ns1.example.net"}, Expires: ptr("2031-01-02T03:04:05Z"),
			Registrar: &Registrar{Name: ptr("A"), URL: ptr("https://example.net/")},
		}}
	}
	for name, c := range map[string]struct {
		change func(*record)
		want   bool
	}{
		"as it was":            {func(*record) {}, true},
		"not found":            {func(r *record) { *r = record{Outcome: NotFound, Server: r.Server} }, true},
		"reserved":             {func(r *record) { *r = record{Outcome: Reserved, Server: r.Server, Line: "Reserved."} }, true},
		"reserved, no line":    {func(r *record) { *r = record{Outcome: Reserved, Server: r.Server} }, true},
		"a line that shouts":   {func(r *record) { *r = record{Outcome: Reserved, Server: r.Server, Line: "a\x1b"} }, false},
		"a line of a person":   {func(r *record) { *r = record{Outcome: Reserved, Server: r.Server, Line: "jane@example.net"} }, false},
		"a line of another":    {func(r *record) { *r = record{Outcome: NotFound, Server: r.Server, Line: "Reserved."} }, false},
		"unread":               {func(r *record) { *r = record{Outcome: Unread, Server: root, Why: "Why."} }, true},
		"another outcome":      {func(r *record) { r.Outcome = "lost" }, false},
		"no outcome":           {func(r *record) { r.Outcome = "" }, false},
		"found nothing":        {func(r *record) { r.Domain = nil }, false},
		"not found something":  {func(r *record) { r.Outcome = NotFound }, false},
		"unread without why":   {func(r *record) { *r = record{Outcome: Unread, Server: root} }, false},
		"a why of two lines":   {func(r *record) { *r = record{Outcome: Unread, Server: root, Why: "a\nb"} }, false},
		"no server":            {func(r *record) { r.Server = "" }, false},
		"a server inside":      {func(r *record) { r.Server = "localhost" }, false},
		"a server that shouts": {func(r *record) { r.Server = "WHOIS.registry-site.net" }, false},
		"no list":              {func(r *record) { r.Domain.Status = nil }, false},
		"a long list":          {func(r *record) { r.Domain.Status = make([]string, maxElements+1) }, false},
		"a control character":  {func(r *record) { r.Domain.Status[0] = "a\x1b" }, false},
		"an e-mail address":    {func(r *record) { r.Domain.Registrar.Name = ptr("jane@example.net") }, false},
		"another scheme":       {func(r *record) { r.Domain.Registrar.URL = ptr("javascript:alert(1)") }, false},
		"no moment":            {func(r *record) { r.Domain.Expires = ptr("soon") }, false},
		"a local moment":       {func(r *record) { r.Domain.Expires = ptr("2031-01-02T03:04:05+01:00") }, false},
		"no name server":       {func(r *record) { r.Domain.Nameservers[0] = "a b" }, false},
	} {
		r := good()
		if c.change(&r); r.fits() != c.want {
			t.Errorf("%s: %v", name, !c.want)
		}
	}
}

func TestNewWithoutItsParts(t *testing.T) {
	t.Parallel()
	if _, err := New(Config{}); err == nil {
		t.Error("no error")
	}
}
