package sslchecker

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"diagnostics/gateway/internal/analyze/certs/certtest"
	"diagnostics/gateway/internal/cache"
	"diagnostics/gateway/internal/cache/clocktest"
	"diagnostics/gateway/internal/egress/tlsscan"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tools/internal/toolstest"
	"diagnostics/shared/parallel"

	"github.com/google/go-cmp/cmp"
)

// TestSSLVersionThatCannotBeTold: silence on one version is neither yes nor no, and does not hold up the result.
func TestSSLVersionThatCannotBeTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.timeout, w.probing = 4*sslTimeout, true
	config := oneCertificate(certtest.Leaf(t, w.inter, []string{sslName}).TLS(w.inter))
	silence := errors.New("say nothing")
	config.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		if offered := hello.SupportedVersions; len(offered) > 0 && offered[0] == tls.VersionTLS11 {
			_, _ = io.Copy(io.Discard, hello.Conn) // until the client leaves
			return nil, silence
		}
		return nil, nil
	}
	w.serve(sslServer, config)
	got := w.mustCheck(t, sslName)
	if s := yesNo(got.SupportedProtocols); s != "no null yes yes" {
		t.Errorf("supported: %s", s)
	}
}

// TestSSLConnectionLimit: a server that takes one connection and no more leaves the other versions untold.
func TestSSLConnectionLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.probing = true
	config := oneCertificate(certtest.Leaf(t, w.inter, []string{sslName}).TLS(w.inter))
	l := w.Listen(sslServer)
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		_ = l.Close()
		handshakeAndWait(c, config)
		_ = c.Close()
	}()
	if s := yesNo(w.mustCheck(t, sslName).SupportedProtocols); s != "null null null yes" {
		t.Errorf("supported: %s", s)
	}
}

// scripted plays the scanner: it makes so many connections and gives the report.
type scripted struct {
	dials  int
	report tlsscan.Report

	runs, opened atomic.Int32
	last         tlsscan.Scan
}

func (s *scripted) scan(ctx context.Context, of tlsscan.Scan) tlsscan.Report {
	s.runs.Add(1)
	s.last = of
	report := s.report
	for range s.dials {
		conn, err := of.Dial(ctx)
		if errors.Is(err, tlsscan.ErrSpent) {
			report.Complete = false
			break
		}
		if err != nil {
			continue
		}
		s.opened.Add(1)
		_ = conn.Close()
	}
	return report
}

// checkerWith is the world's checker with a scanner that is played.
func (w *world) checkerWith(t *testing.T, s *scripted) checker {
	t.Helper()
	check := w.checker(t)
	check.scan = s.scan
	return check
}

// charges counts what a run charges its target, and refuses from some point on.
func charges(ctx context.Context, charged *atomic.Int32, most int32) context.Context {
	return tool.WithCharge(ctx, func(_ context.Context, n int) error {
		if charged.Load()+int32(n) > most {
			return fault.LimitedFor(time.Second, "TOO_MANY_REQUESTS")
		}
		charged.Add(int32(n))
		return nil
	})
}

// What is learnt is shared: by runs at the same time, and for minutes after. A scan costs nine before it begins.
func TestProbingIsSharedAndPaidFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.serve(sslServer, oneCertificate(certtest.Leaf(t, w.inter, []string{sslName}).TLS(w.inter)))
	s := &scripted{dials: 3, report: tlsscan.Report{Complete: true, Groups: []uint16{0x11EC}}}
	check := w.checkerWith(t, s)
	var charged atomic.Int32
	ctx := charges(t.Context(), &charged, 18)
	to := toolstest.HostPort(t, sslName)
	var runs parallel.Group
	for range 5 {
		runs.Go(func() {
			if got, err := check.run(ctx, to); err != nil || !got.Complete || len(got.Groups) != 1 {
				t.Errorf("%v, complete %t, groups %v", err, got.Complete, got.Groups)
			}
		})
	}
	runs.Wait()
	if _, err := check.run(ctx, to); err != nil {
		t.Error(err)
	}
	if s.runs.Load() != 1 || charged.Load() != price {
		t.Errorf("%d probings, charged %d", s.runs.Load(), charged.Load())
	}
	// Another name of the address, and another port, are others.
	w.Records("alias.example.com. 300 IN A 93.184.216.34")
	if _, err := check.run(ctx, toolstest.HostPort(t, "alias.example.com")); err != nil {
		t.Error(err)
	}
	w.serve("93.184.216.34:8443", oneCertificate(certtest.Leaf(t, w.inter, []string{sslName}).TLS(w.inter)))
	w.ForgetDials()
	if _, err := check.run(ctx, toolstest.HostPort(t, sslName+":8443")); !fault.Is(err, fault.Limited) {
		t.Errorf("beyond the target's limit: %v", err)
	}
	if s.runs.Load() != 2 || charged.Load() != 2*price || len(w.Dials()) > 2 {
		t.Errorf("%d probings, charged %d, dials %v", s.runs.Load(), charged.Load(), w.Dials())
	}
}

// What was cut is scanned again soon, and not at once.
func TestACutProbingIsKeptShortly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.serve(sslServer, oneCertificate(certtest.Leaf(t, w.inter, []string{sslName}).TLS(w.inter)))
	s := &scripted{dials: 1}
	clock := clocktest.New()
	store := cache.NewMemory(1<<20, cache.WithClock(clock.Now))
	t.Cleanup(store.Close)
	check := w.checkerWith(t, s)
	check.shared = newShared(store)
	for i, c := range []struct {
		pass     time.Duration
		complete bool
		probings int32
	}{{0, false, 1}, {keepCut - time.Second, false, 1}, {2 * time.Second, true, 2}, {keepProbed - time.Second, true, 2},
		{2 * time.Second, true, 3}} {
		clock.Pass(c.pass)
		s.report.Complete = i > 0
		got, err := check.run(t.Context(), toolstest.HostPort(t, sslName))
		if err != nil || got.Complete != c.complete || s.runs.Load() != c.probings {
			t.Errorf("%d: %v, complete %t, %d probings", i, err, got.Complete, s.runs.Load())
		}
	}
}

// What others left in a shared store is taken for a miss where no probing can have found it.
func TestImplausibleProbings(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]probed{
		"suites": {Suites: make([]probedSuite, maxSuites+1)}, "groups": {Groups: make([]uint16, maxGroups+1)},
		"versions": {Versions: map[tlsscan.Version]bool{1: true, 2: true, 3: true, 4: true, 5: true, 6: true}},
	} {
		if p.plausible() {
			t.Errorf("%s are taken", name)
		}
	}
	if !(probed{Suites: make([]probedSuite, maxSuites), Groups: make([]uint16, maxGroups)}).plausible() {
		t.Error("the most is not taken")
	}
}

// A run makes sixty connections at most, whatever the scanner would like, and has some left for what follows.
func TestSixtyConnections(t *testing.T) {
	t.Parallel()
	for _, addresses := range [][]string{{four}, {four, six, "93.184.216.35", "93.184.216.36"}} {
		w := farmOf(t, addresses...)
		config := oneCertificate(certtest.Leaf(t, w.inter, []string{farm}).TLS(w.inter))
		for _, a := range addresses {
			w.serve(at(a), config)
		}
		s := &scripted{dials: 200, report: tlsscan.Report{Complete: true}}
		got, err := w.checkerWith(t, s).run(t.Context(), toolstest.HostPort(t, farm))
		if err != nil || got.Complete {
			t.Errorf("%v, complete %t", err, got.Complete)
		}
		if n := len(w.Dials()); n != maxConnections {
			t.Errorf("%d connections to %d addresses, want %d", n, len(addresses), maxConnections)
		}
		if s.last.AtOnce != maxAtOnce || s.last.VersionsOnly {
			t.Errorf("asked for %+v", s.last)
		}
	}
}

// A mail server is scanned for its versions alone, with eight connections at most, one after another.
func TestConversationsOfMailServers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	config := oneCertificate(certtest.Leaf(t, w.inter, []string{sslName}).TLS(w.inter))
	var all atomic.Int32
	w.ServeConn("93.184.216.34:143", func(c net.Conn) {
		all.Add(1)
		converse(c, "* OK ready\r\n", "a1 OK begin\r\n")
		server := tls.Server(c, config)
		_ = server.Handshake()
	})
	w.probing = true
	got := w.mustCheck(t, sslName+":143")
	if !got.Complete || yesNo(got.SupportedProtocols) != "no no yes yes" || len(got.CipherSuites) != 0 ||
		len(got.OtherCertificates) != 0 {
		t.Errorf("complete %t, %s, %v", got.Complete, yesNo(got.SupportedProtocols), got.CipherSuites)
	}
	if all.Load() > maxMailConnections {
		t.Errorf("%d connections", all.Load())
	}
	s := &scripted{dials: 200, report: tlsscan.Report{Complete: true}}
	all.Store(0)
	if _, err := w.checkerWith(t, s).run(t.Context(), toolstest.HostPort(t, sslName+":143")); err != nil {
		t.Error(err)
	}
	if s.opened.Load() != maxMailConnections-1 || !s.last.VersionsOnly || s.last.AtOnce != 1 {
		t.Errorf("%d connections of the scan, asked for %+v", s.opened.Load(), s.last)
	}
}

// The probing ends in time for the run to report what it has.
func TestProbingLeavesTheRunItsEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.serve(sslServer, oneCertificate(certtest.Leaf(t, w.inter, []string{sslName}).TLS(w.inter)))
	check := w.checker(t)
	check.probing = time.Minute
	check.scan = func(ctx context.Context, _ tlsscan.Scan) tlsscan.Report {
		<-ctx.Done()
		return tlsscan.Report{}
	}
	ctx, cancel := context.WithTimeout(t.Context(), atTheEnd+sslTimeout)
	defer cancel()
	got, err := check.run(ctx, toolstest.HostPort(t, sslName))
	if err != nil || got.Complete || yesNo(got.SupportedProtocols) != "null null null yes" || !got.Authorized {
		t.Errorf("%v, %+v", err, got)
	}
}

// A real server, really probed.
func TestAProbedServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.probing = true
	config := oneCertificate(certtest.Leaf(t, w.inter, []string{sslName}).TLS(w.inter))
	config.CurvePreferences = []tls.CurveID{tls.X25519, tls.CurveP256}
	w.serve(sslServer, config)
	got := w.mustCheck(t, sslName)
	if !got.Complete || yesNo(got.SupportedProtocols) != "no no yes yes" || got.SupportedProtocols["SSLv3"] == nil {
		t.Errorf("complete %t, %v", got.Complete, got.SupportedProtocols)
	}
	if d := cmp.Diff([]string{"secp256r1", "x25519"}, slices.Sorted(slices.Values(got.Groups))); d != "" {
		t.Error(d)
	}
	names := map[string]string{}
	for _, s := range got.CipherSuites {
		names[s.Protocol+" "+s.Name] = s.KeyExchange + " " + string(s.Strength)
	}
	for suite, want := range map[string]string{
		"TLSv1.3 TLS_AES_128_GCM_SHA256":                  "(EC)DHE strong",
		"TLSv1.2 TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256": "ECDHE strong",
		"TLSv1.2 TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA":    "ECDHE weak",
	} {
		if names[suite] != want {
			t.Errorf("%s: %q, want %q, of %v", suite, names[suite], want, names)
		}
	}
	if !hasIssue(got, severityInfo, "NOT_POST_QUANTUM") {
		t.Errorf("issues: %v", issueCodes(got))
	}
}
