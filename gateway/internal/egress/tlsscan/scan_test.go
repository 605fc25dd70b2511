package tlsscan

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// scan scans a server, with up to four connections at once.
func scan(t *testing.T, server *far) Report {
	t.Helper()
	return Scan{Dial: server.dial, ServerName: "example.com", AtOnce: 4, ConnTimeout: 20 * time.Second}.Run(t.Context())
}

// words are what versions are as text: + taken, - refused, ? unknown, newest first.
func (r Report) words() (text string) {
	for _, v := range Versions {
		switch yes := r.Versions[v]; {
		case yes == nil:
			text += "?"
		case *yes:
			text += "+"
		default:
			text += "-"
		}
	}
	return text
}

// suitesOf are those of a version.
func (r Report) suitesOf(v Version) (ids []uint16) {
	for _, a := range r.Suites {
		if a.Version == v {
			ids = append(ids, a.Suite.ID)
		}
	}
	return ids
}

// hold compares a report with what is known of a fake.
func (f fake) hold(t *testing.T, got Report) {
	t.Helper()
	for _, v := range Versions {
		want := slices.Clone(f.suites[v])
		if f.clientOrder {
			var list []Suite
			for _, id := range want {
				s, _ := SuiteByID(id)
				list = append(list, s)
			}
			strongFirst(list)
			want = only(list, func(Suite) bool { return true })
		}
		if !slices.Equal(got.suitesOf(v), want) {
			t.Errorf("%s: suites %x, want %x", v, got.suitesOf(v), want)
		}
	}
	if !got.Complete {
		t.Error("it is not complete")
	}
}

// old is a server of twenty years ago, and of yesterday.
func old(t *testing.T) fake {
	before12 := ids(t, "RSA_WITH_RC4_128_SHA", "RSA_WITH_RC4_128_MD5",
		"RSA_WITH_3DES_EDE_CBC_SHA", "DHE_RSA_WITH_AES_256_CBC_SHA",
		"RSA_EXPORT_WITH_RC4_40_MD5", "RSA_EXPORT_WITH_RC2_CBC_40_MD5", "DHE_RSA_EXPORT_WITH_DES40_CBC_SHA", "RSA_WITH_DES_CBC_SHA", "DH_anon_WITH_RC4_128_MD5",
		"RSA_WITH_NULL_MD5")
	return fake{
		suites: map[Version][]uint16{
			SSL30: before12,
			TLS10: append(slices.Clone(before12), ids(t, "ECDHE_RSA_WITH_AES_128_CBC_SHA",
				"RSA_EXPORT1024_WITH_RC4_56_SHA", "KRB5_WITH_RC4_128_SHA")...), // the last is offered apart
			TLS12: ids(t, "RSA_WITH_CAMELLIA_128_GCM_SHA256", "ECDHE_RSA_WITH_AES_128_GCM_SHA256",
				"DHE_RSA_WITH_AES_128_CCM_8", "DHE_RSA_WITH_ARIA_256_GCM_SHA384"),
		},
		groups: map[Version][]uint16{TLS10: {25, 23, 9}, TLS12: {24, 30, 23, 28}},
		dhBits: 512,
	}
}

// What is out of use is reported, in the server's order; so is what no library of Go has ever spoken.
func TestScanOld(t *testing.T) {
	t.Parallel()
	for _, clientOrder := range []bool{false, true} {
		t.Run(fmt.Sprint("client order ", clientOrder), func(t *testing.T) {
			t.Parallel()
			f := old(t)
			f.clientOrder = clientOrder
			got := scan(t, f.serve(t))
			f.hold(t, got)
			want := []uint16{24, 30, 23, 28}
			if clientOrder {
				want = []uint16{23, 30, 24, 28}
			}
			if got.words() != "-+-++" || got.DHBits != 512 || !slices.Equal(got.Groups, want) {
				t.Errorf("%s, %d bits, groups %d", got.words(), got.DHBits, got.Groups)
			}
			for _, a := range got.Suites {
				// A prime of 512 bits makes the best suite weak.
				if a.Suite.KeyExchange == "DHE" && a.Suite.Strength == Strong {
					t.Errorf("%+v", a)
				}
			}
		})
	}
}

// A version that is not accepted is reported as refused however the server refuses it, but never where it may be the
// network.
func TestRefusals(t *testing.T) {
	t.Parallel()
	modern := fake{suites: map[Version][]uint16{TLS12: {0xC02F}}, groups: map[Version][]uint16{TLS12: {23}}}
	for name, c := range map[string]struct {
		refuse func(net.Conn, clientHello)
		want   string
	}{
		"protocol_version":  {alert(2, 70), "-+---"},
		"handshake_failure": {alert(2, 40), "-+---"},
		"internal_error":    {alert(2, 80), "-+---"},
		"a close":           {alert(1, 0), "-+---"},
		"an end":            {closeQuietly, "-+---"},
		"a reset":           {hangUp, "-+---"},
		"silence":           {stayQuiet, "?+???"},
		"the name":          {alert(2, 112), "?+???"},
		"not TLS":           {func(conn net.Conn, _ clientHello) { _, _ = conn.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) }, "?+???"},
		"half an answer":    {func(conn net.Conn, _ clientHello) { _, _ = conn.Write([]byte{22, 3, 3}) }, "?+???"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := modern
			f.refuse = c.refuse
			server := f.serve(t)
			timeout := 10 * time.Second
			if name == "silence" {
				timeout = 1500 * time.Millisecond
			}
			got := Scan{Dial: server.dial, AtOnce: 4, ConnTimeout: timeout, VersionsOnly: true}.Run(t.Context())
			if got.words() != c.want || got.Complete == strings.Contains(c.want, "?") || len(got.Suites) > 0 {
				t.Errorf("%s, %+v", got.words(), got)
			}
			want := int32(5)
			switch name {
			case "a reset":
				want = 10 // each once more, and what was accepted
			case "a close", "an end":
				want = 6 // and what was accepted
			}
			if came := server.came.Load(); came != want {
				t.Errorf("%d connections", came)
			}
		})
	}
}

// A server that answers with an older version has refused the one that was offered.
func TestOlderVersion(t *testing.T) {
	t.Parallel()
	f := fake{suites: map[Version][]uint16{TLS10: {0x2F}}, older: true}
	got := scan(t, f.serve(t))
	f.hold(t, got)
	if got.words() != "---+-" {
		t.Errorf("%s", got.words())
	}
}

// Curves are probed in whichever version has any.
func TestOldCurves(t *testing.T) {
	t.Parallel()
	for _, v := range []Version{TLS12, TLS11, TLS10} {
		f := fake{
			suites: map[Version][]uint16{v: ids(t, "RSA_WITH_AES_128_CBC_SHA", "ECDHE_RSA_WITH_AES_128_CBC_SHA")},
			groups: map[Version][]uint16{v: {24, 14, 23}},
		}
		got := scan(t, f.serve(t))
		f.hold(t, got)
		if !slices.Equal(got.Groups, []uint16{24, 14, 23}) {
			t.Errorf("%s: groups %d", v, got.Groups)
		}
	}
}

// A server of nothing but suites that come last is found.
func TestRareSuites(t *testing.T) {
	t.Parallel()
	f := fake{suites: map[Version][]uint16{
		TLS12: ids(t, "ECCPWD_WITH_AES_128_GCM_SHA256", "PSK_WITH_AES_128_CCM_8"), SSL30: ids(t, "KRB5_WITH_RC4_128_MD5"),
	}}
	got := scan(t, f.serve(t))
	f.hold(t, got)
	if got.words() != "-+--+" {
		t.Errorf("%s", got.words())
	}
}

// A server that answers nothing but resets may be behind something that breaks connections.
func TestResetsAlone(t *testing.T) {
	t.Parallel()
	server := fake{refuse: hangUp}.serve(t)
	if got := scan(t, server); got.words() != "?????" || got.Complete {
		t.Errorf("%s", got.words())
	}
}

// Servers that give up on long hellos, or on many suites or groups, get short ones.
func TestIntolerant(t *testing.T) {
	t.Parallel()
	for name, intolerant := range map[string]func(clientHello, int) bool{
		"over 255 octets":      func(_ clientHello, size int) bool { return size > 255 },
		"over 511 octets":      func(_ clientHello, size int) bool { return size > 511 },
		"over 64 suites":       func(h clientHello, _ int) bool { return len(h.suites) > 64 },
		"over 10 groups":       func(h clientHello, _ int) bool { return len(h.groups) > 10 },
		"unknown signatures":   func(h clientHello, _ int) bool { return slices.Contains(h.signatures, 0x0904) },
		"over 128 suites":      func(h clientHello, _ int) bool { return len(h.suites) > 128 },
		"a hello without keys": func(h clientHello, _ int) bool { return h.version == TLS13 && len(h.shares) == 0 },
	} {
		for end, refuse := range map[string]func(net.Conn, clientHello){
			"an alert": alert(2, 50), "a reset": hangUp, "an end": closeQuietly,
		} {
			t.Run(name+" "+end, func(t *testing.T) {
				t.Parallel()
				f := fake{
					suites: map[Version][]uint16{
						TLS12: ids(t, "RSA_WITH_AES_128_CBC_SHA", "ECDHE_RSA_WITH_AES_128_GCM_SHA256",
							"RSA_WITH_3DES_EDE_CBC_SHA", "RSA_PSK_WITH_AES_128_CBC_SHA"),
						TLS10: ids(t, "RSA_WITH_AES_128_CBC_SHA", "RSA_WITH_3DES_EDE_CBC_SHA"),
						TLS13: ids(t, "AES_128_GCM_SHA256", "AES_256_GCM_SHA384"),
					},
					groups:     map[Version][]uint16{TLS12: {23, 24}, TLS13: {24, 29, 256}},
					intolerant: intolerant, refuse: refuse,
				}
				if !strings.Contains(name, "keys") {
					delete(f.suites, TLS13)
				}
				got := scan(t, f.serve(t))
				f.hold(t, got)
				if want := map[bool]string{true: "++-+-", false: "-+-+-"}[strings.Contains(name, "keys")]; got.words() != want {
					t.Errorf("%s, want %s", got.words(), want)
				}
			})
		}
	}
}

// The scan ends where the server chooses what it was not offered.
func TestNotOffered(t *testing.T) {
	t.Parallel()
	server := serve(t, func(_ int32, conn net.Conn) {
		h, _, _ := readHello(conn)
		reply, _ := fake{}.reply(h)
		if h.version == TLS12 {
			reply = append(serverHello{version: TLS12, suite: 5}.marshal(), inMessage(messageHelloDone, nil)...)
		}
		_, _ = conn.Write(inRecord(TLS12, recordHandshake, reply))
	})
	got := scan(t, server)
	yes := got.Versions[TLS12]
	if yes == nil || !*yes || got.Complete || len(got.suitesOf(TLS12)) != 1 || server.came.Load() > 20 {
		t.Errorf("%+v after %d connections", got, server.came.Load())
	}
}

// A server with a preference of its own is distinguished from one that follows the client, in every version.
func TestScanGo(t *testing.T) {
	t.Parallel()
	server := serveTLS(t, &tls.Config{Certificates: []tls.Certificate{certificate(t)}, MinVersion: tls.VersionTLS10})
	got := scan(t, server)
	before12 := ids(t, "ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "ECDHE_ECDSA_WITH_AES_256_CBC_SHA")
	want := map[Version][]uint16{
		TLS13: ids(t, "AES_128_GCM_SHA256", "AES_256_GCM_SHA384", "CHACHA20_POLY1305_SHA256"),
		TLS12: append(ids(t, "ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
			"ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"), before12...),
		TLS11: before12, TLS10: before12, SSL30: nil,
	}
	for _, v := range Versions {
		// Go prefers ChaCha20 where the machine has no AES of its own.
		sorted := func(ids []uint16) []uint16 { return slices.Sorted(slices.Values(ids)) }
		if !slices.Equal(sorted(got.suitesOf(v)), sorted(want[v])) {
			t.Errorf("%s: %x", v, got.suitesOf(v))
		}
	}
	if got.words() != "++++-" || !got.Complete || got.DHBits != 0 {
		t.Errorf("%s, %+v", got.words(), got)
	}
	if !slices.Equal(slices.Sorted(slices.Values(got.Groups)), []uint16{23, 24, 25, 29, 4587, 4588, 4589}) {
		t.Errorf("groups: %d", got.Groups)
	}
	if came := server.came.Load(); came > 32 {
		t.Errorf("%d connections", came)
	}
}

// Every version is reported, whichever of them a server takes.
func TestVersions(t *testing.T) {
	t.Parallel()
	cert := certificate(t)
	all := []Version{TLS10, TLS11, TLS12, TLS13}
	for from := range all {
		for to := from; to < len(all); to++ {
			t.Run(fmt.Sprint(all[from], " to ", all[to]), func(t *testing.T) {
				t.Parallel()
				server := serveTLS(t, &tls.Config{
					Certificates: []tls.Certificate{cert}, MinVersion: uint16(all[from]), MaxVersion: uint16(all[to]),
				})
				got := Scan{Dial: server.dial, ServerName: "example.com", VersionsOnly: true}.Run(t.Context())
				want := strings.Repeat("-", 3-to) + strings.Repeat("+", to-from+1) + strings.Repeat("-", from+1)
				if got.words() != want || !got.Complete || server.came.Load() != 5 {
					t.Errorf("%s, want %s, after %d connections", got.words(), want, server.came.Load())
				}
			})
		}
	}
}

// limited gives a number of connections, and watches how many are open at once.
type limited struct {
	server     *far
	left       atomic.Int32
	open, most atomic.Int32
}

func (l *limited) dial(ctx context.Context) (net.Conn, error) {
	if l.left.Add(-1) < 0 {
		return nil, fmt.Errorf("the budget: %w", ErrSpent)
	}
	conn, err := l.server.dial(ctx)
	if err != nil {
		return nil, err
	}
	now := l.open.Add(1)
	for most := l.most.Load(); now > most && !l.most.CompareAndSwap(most, now); most = l.most.Load() {
	}
	return &counted{conn, l}, nil
}

type counted struct {
	net.Conn
	of *limited
}

func (c *counted) Close() error {
	c.of.open.Add(-1)
	return c.Conn.Close()
}

// What matters most is known when connections are few, and nothing is reported that is not known.
func TestVersionsComeFirstWhenConnectionsRunOut(t *testing.T) {
	t.Parallel()
	f := old(t)
	f.suites[TLS13], f.groups[TLS13] = ids(t, "AES_256_GCM_SHA384", "AES_128_GCM_SHA256"), []uint16{29, 23}
	server := f.serve(t)
	for _, c := range []struct {
		connections int32
		holds       func(Report) bool
	}{
		{0, func(r Report) bool { return r.words() == "?????" }},
		{2, func(r Report) bool { return r.words() == "++???" && len(r.Suites) == 2 }},
		{5, func(r Report) bool { return r.words() == "++-++" && len(r.Suites) == 4 }},
		// Nothing insecure is taken in TLS 1.2; the others chose RC4 at once.
		{6, func(r Report) bool { return len(r.suitesOf(TLS12)) == 1 && len(r.Suites) == 4 }},
		{7, func(r Report) bool { return len(r.suitesOf(TLS13)) == 2 && len(r.Groups) == 1 }},
		{20, func(r Report) bool { return len(r.suitesOf(TLS12)) == 4 && len(r.suitesOf(TLS10)) < 13 }},
	} {
		l := &limited{server: server}
		l.left.Store(c.connections)
		got := Scan{Dial: l.dial, AtOnce: 1}.Run(t.Context())
		if !c.holds(got) || got.Complete {
			t.Errorf("%d connections: %s, %+v", c.connections, got.words(), got)
		}
		if l.most.Load() > 1 || l.open.Load() != 0 || l.left.Load() < -1 {
			t.Errorf("%d connections: %d at once, %d left open, %d more were requested", c.connections, l.most.Load(),
				l.open.Load(), -l.left.Load())
		}
	}
}

func TestScanKeepsToItsConnections(t *testing.T) {
	t.Parallel()
	for _, atOnce := range []int32{1, 4} {
		f := old(t)
		l := &limited{server: f.serve(t)}
		l.left.Store(1000)
		got := Scan{Dial: l.dial, AtOnce: int(atOnce)}.Run(t.Context())
		f.hold(t, got)
		if l.most.Load() > atOnce || l.open.Load() != 0 {
			t.Errorf("%d at once, %d left open", l.most.Load(), l.open.Load())
		}
	}
}

// pipes is a server in memory, which reads all that it is sent.
func pipes(answer func(int32, net.Conn)) Dial {
	var came atomic.Int32
	return func(context.Context) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			answer(came.Add(1), theirs)
			theirs.Close()
		}()
		return ours, nil
	}
}

// A scan ends with its context, whatever the server does, and reports what it has.
func TestScanEnds(t *testing.T) {
	t.Parallel()
	f := old(t)
	for name, answer := range map[string]func(int32, net.Conn){
		"silence": func(_ int32, conn net.Conn) { stayQuiet(conn, clientHello{}) },
		"silence after ten": func(n int32, conn net.Conn) {
			if n > 10 {
				stayQuiet(conn, clientHello{})
			}
			f.answer(n, conn)
		},
		"a byte at a time": func(_ int32, conn net.Conn) {
			go func() { _, _ = io.Copy(io.Discard, conn) }()
			for _, err := conn.Write([]byte{22}); err == nil; _, err = conn.Write([]byte{3}) {
				time.Sleep(10 * time.Millisecond) // of the bubble
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const limit = 300 * time.Millisecond
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				defer cancel()
				start := time.Now()
				got := Scan{Dial: pipes(answer), AtOnce: 4, ConnTimeout: time.Minute}.Run(ctx)
				if took := time.Since(start); got.Complete || took > limit {
					t.Errorf("%+v after %s", got, took)
				}
				time.Sleep(time.Second) // until the servers have ended, in the bubble's time
			})
		})
	}
}

// The scan of a server that cannot be reached, or stays silent, ends soon.
func TestGivesUp(t *testing.T) {
	t.Parallel()
	var dialled atomic.Int32
	got := Scan{AtOnce: 2, Dial: func(context.Context) (net.Conn, error) {
		dialled.Add(1)
		return nil, syscall.ECONNREFUSED
	}}.Run(t.Context())
	if got.words() != "?????" || got.Complete || dialled.Load() > maxFails+1 {
		t.Errorf("%s after %d connections", got.words(), dialled.Load())
	}
	server := serve(t, func(_ int32, conn net.Conn) { stayQuiet(conn, clientHello{}) })
	got = Scan{AtOnce: 2, Dial: server.dial, ConnTimeout: 30 * time.Millisecond}.Run(t.Context())
	if got.words() != "?????" || got.Complete || server.came.Load() > maxFails+1 {
		t.Errorf("%s after %d connections", got.words(), server.came.Load())
	}
}

// A server that limits connections has not refused what was offered then.
func TestAServerThatStopsAnsweringHasNotRefused(t *testing.T) {
	t.Parallel()
	f := old(t)
	for name, end := range map[string]func(net.Conn, clientHello){"a reset": hangUp, "an end": closeQuietly} {
		for _, enough := range []int32{7, 12, 20} {
			server := serve(t, func(n int32, conn net.Conn) {
				if n > enough {
					end(conn, clientHello{})
					return
				}
				f.answer(n, conn)
			})
			if got := scan(t, server); got.Complete || got.words() != "-+-++" {
				t.Errorf("%s after %d connections: %s, complete %v", name, enough, got.words(), got.Complete)
			}
		}
	}
}

// Neither has one that ends connections before or after the hello, whatever was accepted before the scan.
func TestLimitedConnectionsAreNoRefusals(t *testing.T) {
	t.Parallel()
	modern := fake{suites: map[Version][]uint16{TLS12: {0xC02F}}, groups: map[Version][]uint16{TLS12: {23}}}
	for name, end := range map[string]func(net.Conn, clientHello){"a reset": hangUp, "an end": closeQuietly} {
		for most := range int32(3) {
			server := serve(t, func(n int32, conn net.Conn) {
				if n > most {
					end(conn, clientHello{})
					return
				}
				modern.answer(n, conn)
			})
			got := Scan{Dial: server.dial, AtOnce: 1, VersionsOnly: true, Known: TLS12}.Run(t.Context())
			for v, yes := range got.Versions {
				if (yes != nil && *yes) != (v == TLS12) || got.Complete {
					t.Errorf("%s after %d connections: %s, complete %v", name, most, got.words(), got.Complete)
				}
				if v < TLS12 && yes != nil && *yes != (v == TLS12) && most < 2 {
					t.Errorf("%s after %d connections: %v is reported as refused", name, most, v)
				}
			}
		}
		var dialled atomic.Int32
		got := Scan{AtOnce: 1, VersionsOnly: true, Known: TLS12, Dial: func(context.Context) (net.Conn, error) {
			dialled.Add(1)
			return nil, map[string]error{"a reset": syscall.ECONNRESET, "an end": io.EOF}[name]
		}}.Run(t.Context())
		if got.words() != "?+???" || got.Complete || dialled.Load() > maxFails+1 {
			t.Errorf("%s before the hello: %s, complete %v", name, got.words(), got.Complete)
		}
	}
}

// A version that is known is not offered again, and short hellos fit into 300 octets.
func TestKnownVersionAndShortHellos(t *testing.T) {
	t.Parallel()
	modern := fake{suites: map[Version][]uint16{TLS12: {0xC02F}, TLS13: {0x1301}},
		groups: map[Version][]uint16{TLS12: {23}, TLS13: {29}}, refuse: alert(2, 70)}
	server := modern.serve(t)
	got := Scan{Dial: server.dial, AtOnce: 1, VersionsOnly: true, Known: TLS13}.Run(t.Context())
	if got.words() != "++---" || !got.Complete || server.came.Load() != 4 {
		t.Errorf("%s, complete %v, %d connections", got.words(), got.Complete, server.came.Load())
	}
	for _, version := range Versions {
		r := &run{Scan: Scan{ShortHellos: true, ServerName: "www.example.com"}}
		r.compact.Store(true)
		if size := len(r.hello(r.offerOf(version)).marshal()); size > 300-recordHeader {
			t.Errorf("%v: %d octets", version, size)
		}
	}
}

// One that fails now and then gets the offer again.
func TestAsksAgain(t *testing.T) {
	t.Parallel()
	f := old(t)
	got := scan(t, serve(t, func(n int32, conn net.Conn) {
		if n%5 == 0 {
			hangUp(conn, clientHello{})
			return
		}
		f.answer(n, conn)
	}))
	// Both tries of one offer may fail where four run at once; then less is reported, never something else.
	if got.words() != "-+-++" {
		t.Errorf("%s", got.words())
	}
}

// Versions are reported newest first, whatever the order of the answers.
func TestVersionsAreReportedInOrder(t *testing.T) {
	t.Parallel()
	server := old(t).serve(t)
	for range 5 { // an order by chance would differ in one of them
		var order []Version
		Scan{
			Dial: server.dial, AtOnce: 4, VersionsOnly: true, OnVersion: func(v Version, _ bool) { order = append(order, v) },
		}.Run(t.Context())
		if !slices.Equal(order, Versions) {
			t.Fatalf("reported in the order %v", order)
		}
	}
}
