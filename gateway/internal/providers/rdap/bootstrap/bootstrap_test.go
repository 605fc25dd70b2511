package bootstrap

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/analyze/certs/certtest"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/target"
)

// The copy is of IANA's own form and not a part of it: cmd/proof bootstrap ends with this test.
func TestTheCopy(t *testing.T) {
	t.Parallel()
	r := builtIn()
	defer r.stop()
	close(r.fetched)
	numbers, err := parse(copied("asn.json"), readNumbers)
	if n := len(numbers.bases); err != nil || n < 100 {
		t.Errorf("%d ranges of numbers, %v", n, err)
	}
	if names, v4, v6 := len(r.names.Load().bases), len(r.v4.Load().bases), len(r.v6.Load().bases); names < 1000 ||
		v4 < 200 || v6 < 30 {
		t.Errorf("%d names, %d and %d blocks", names, v4, v6)
	}
	for _, f := range r.files {
		if f.published.Year() < 2019 || f.published.After(time.Now()) {
			t.Errorf("%s: published %v", f.name, f.published)
		}
	}
	for name, want := range map[string]string{
		"example.com": "https://rdap.verisign.com/com/v1/", "example.org": "https://rdap.publicinterestregistry.org/rdap/",
		"example.co.uk": "https://rdap.nominet.uk/uk/", "example.nl": "https://rdap.sidn.nl/",
	} {
		if got, ok := r.Domain(t.Context(), name); !ok || got.String() != want {
			t.Errorf("%s: %v, %t", name, got, ok)
		}
	}
	// Registries that have no RDAP service, or none over TLS.
	for _, name := range []string{"example.nosuchtld", "example.in-addr.arpa"} {
		if got, ok := r.Domain(t.Context(), name); ok {
			t.Errorf("%s: %v", name, got)
		}
	}
	for address, want := range map[string]string{
		"8.8.8.8": "https://rdap.arin.net/registry/", "193.0.6.139": "https://rdap.db.ripe.net/",
		"1.1.1.1": "https://rdap.apnic.net/", "200.1.1.1": "https://rdap.lacnic.net/rdap/",
		"41.0.0.1": "https://rdap.afrinic.net/rdap/", "2606:4700::1": "https://rdap.arin.net/registry/",
		"2a10::1": "https://rdap.db.ripe.net/",
	} {
		if got, ok := r.Address(t.Context(), netip.MustParseAddr(address)); !ok || got.String() != want {
			t.Errorf("%s: %v, %t", address, got, ok)
		}
	}
	for _, address := range []string{"3fff::1", "224.0.0.1"} {
		if got, ok := r.Address(t.Context(), netip.MustParseAddr(address)); ok {
			t.Errorf("%s: %v", address, got)
		}
	}
}

// server plays IANA: what it answers, and how often it was queried.
type server struct {
	mu    sync.Mutex
	body  map[string][]byte
	asked int
	delay time.Duration
}

var errDown = errors.New("down")

func (s *server) fetch(ctx context.Context, name string) ([]byte, error) {
	s.mu.Lock()
	s.asked++
	body, delay := s.body[name], s.delay
	s.mu.Unlock()
	select {
	case <-time.After(delay):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if body == nil {
		return nil, errDown
	}
	return body, nil
}

func (s *server) set(name string, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.body[name] = body
}

func (s *server) askedSince() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.asked
	s.asked = 0
	return n
}

func working(base string) map[string][]byte {
	url := `"` + base + `"`
	return map[string][]byte{
		"dns.json": listing(`"com"`, url), "ipv4.json": listing(`"8.0.0.0/8"`, url), "ipv6.json": listing(`"2600::/12"`, url),
		"asn.json": listing(`"1-2"`, url),
	}
}

type run struct {
	*Registries
	*server
	t   *testing.T
	log bytes.Buffer
}

// begin starts what fetches, inside a bubble.
func begin(t *testing.T, s *server) *run {
	t.Helper()
	r := &run{Registries: builtIn(), server: s, t: t}
	r.start(s.fetch, slog.New(slog.NewTextHandler(&r.log, nil)))
	t.Cleanup(r.Close)
	return r
}

func (r *run) wantBase(want string) {
	r.t.Helper()
	synctest.Wait()
	if got, ok := r.Domain(r.t.Context(), "example.com"); !ok || got.String() != want {
		r.t.Errorf("%v, %t; want %s", got, ok, want)
	}
}

func (r *run) wantLines(parts ...string) {
	r.t.Helper()
	synctest.Wait()
	lines := strings.Split(strings.TrimSpace(r.log.String()), "\n")
	if r.log.Len() == 0 {
		lines = nil
	}
	if len(lines) != len(parts) {
		r.t.Errorf("the log has\n%s\nwant %d lines", r.log.String(), len(parts))
		return
	}
	for i, part := range parts {
		if !strings.Contains(lines[i], part) {
			r.t.Errorf("line %q lacks %q", lines[i], part)
		}
	}
}

const builtInBase = "https://rdap.verisign.com/com/v1/"

func TestFetchedDaily(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &server{body: working("https://one-site.com/")}
		r := begin(t, s)
		r.wantBase("https://one-site.com/")
		if n := s.askedSince(); n != 4 {
			t.Errorf("asked %d times at the start", n)
		}
		if r.Stale() {
			t.Error("the lists are stale at the start")
		}
		s.set("dns.json", listing(`"com"`, `"https://two-site.com/"`))
		time.Sleep(daily - time.Second)
		r.wantBase("https://one-site.com/")
		time.Sleep(daily/10 + 2*time.Second)
		r.wantBase("https://two-site.com/")
		if n := s.askedSince(); n != 4 {
			t.Errorf("asked %d times after a day", n)
		}
		r.wantLines()
	})
}

// A list that cannot be fetched or used leaves the last good one, and the other lists are taken all the same.
func TestTheLastGoodServes(t *testing.T) {
	t.Parallel()
	for what, bad := range map[string][]byte{
		"cannot be fetched": nil, "another form": []byte(`{"services":[]}`), "a page": []byte(`<html>`),
		"nothing of use": listing(`"com"`, `"http://one-site.com/"`),
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &server{body: working("https://one-site.com/")}
				s.set("dns.json", bad)
				r := begin(t, s)
				r.wantBase(builtInBase)
				if got, _ := r.Address(t.Context(), netip.MustParseAddr("8.8.8.8")); got.String() != "https://one-site.com/" {
					t.Errorf("ipv4.json was not taken: %v", got)
				}
				r.wantLines("file=dns.json published=2026-09-30")
				s.set("dns.json", listing(`"com"`, `"https://one-site.com/"`))
				time.Sleep(firstRetry + firstRetry/10)
				r.wantBase("https://one-site.com/")
				s.set("dns.json", bad)
				time.Sleep(daily + daily/10 + time.Second)
				r.wantBase("https://one-site.com/")
				r.wantLines("cannot be fetched", "fetched again\" published=2026-01-02", "file=dns.json published=2026-01-02")
			})
		})
	}
}

// A server that stays away is queried less and less, and complained of once.
func TestPatienceWithAServerThatIsAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		r := begin(t, s)
		time.Sleep(24 * time.Hour)
		r.wantBase(builtInBase)
		if !r.Stale() {
			t.Error("the copy alone is not stale")
		}
		r.wantLines("code=other file=dns.json published=2026-09-30")
		// At 0, 1, 3, 7, 15, 31 and 63 minutes, and then every two hours, or a tenth later.
		if n := s.askedSince() / 4; n < 16 || n > 18 {
			t.Errorf("asked %d times", n)
		}
	})
}

// In its first seconds a question waits for the first fetch, and for no longer.
func TestTheFirstQuestionWaits(t *testing.T) {
	t.Parallel()
	for delay, want := range map[time.Duration]string{
		firstWait - time.Millisecond: "https://one-site.com/", firstWait + time.Millisecond: builtInBase,
	} {
		synctest.Test(t, func(t *testing.T) {
			r := begin(t, &server{body: working("https://one-site.com/"), delay: delay})
			began := time.Now()
			got, _ := r.Domain(t.Context(), "example.com")
			if took := time.Since(began); got.String() != want || took != min(delay, firstWait) {
				t.Errorf("%v after %v; want %s", got, took, want)
			}
			began = time.Now()
			if r.Domain(t.Context(), "example.com"); time.Since(began) != 0 {
				t.Error("the second question waits as well")
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		r := begin(t, &server{delay: time.Hour})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if got, ok := r.Domain(ctx, "example.com"); !ok || got.String() != builtInBase {
			t.Errorf("a visitor who has left: %v", got)
		}
	})
}

func TestAPanicIsAFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &run{Registries: builtIn(), t: t}
		r.start(func(context.Context, string) ([]byte, error) { panic("broken") },
			slog.New(slog.NewTextHandler(&r.log, nil)))
		t.Cleanup(r.Close)
		r.wantBase(builtInBase)
		r.wantLines("code=panic")
	})
}

func TestWithoutFetchingTheBuiltInListsServe(t *testing.T) {
	t.Parallel()
	r := New(nil, target.URL{}, nil)
	defer r.Close()
	if got, ok := r.Domain(t.Context(), "example.com"); !ok || got.String() != builtInBase || !r.Stale() {
		t.Errorf("%v, %t", got, ok)
	}
}

// Lists grow old two days after they were fetched.
func TestStale(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &server{body: working("https://one-site.com/")}
		r := begin(t, s)
		synctest.Wait()
		s.set("asn.json", nil)
		time.Sleep(2 * daily)
		if r.Stale() {
			t.Error("stale within two days")
		}
		time.Sleep(time.Second)
		if !r.Stale() {
			t.Error("not stale after two days")
		}
		s.set("asn.json", working("https://one-site.com/")["asn.json"])
		time.Sleep(longestRetry + longestRetry/10)
		if synctest.Wait(); r.Stale() {
			t.Error("stale after they were fetched")
		}
	})
}

// What the server may answer, over a real way out.
func TestFetch(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	root := certtest.Root(t, "bootstrap root")
	roots := x509.NewCertPool()
	roots.AddCert(root.Certificate)
	leaf := certtest.Leaf(t, root, []string{"10.0.0.5"})
	var answer http.HandlerFunc
	n.ServeTLS("10.0.0.5:443", &tls.Config{Certificates: []tls.Certificate{leaf.TLS()}},
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/lists/dns.json" {
				t.Errorf("asked for %s", r.URL.Path)
			}
			answer(w, r)
		}))
	client := n.Client(func(s *egress.Settings) { s.ExemptHosts = []string{"10.0.0.5:443"} },
		egress.WithChecker(certs.Checker{Roots: roots, Now: func() time.Time { return certtest.Epoch }}))
	base, err := target.ParseOperatorURL("https://10.0.0.5/lists/")
	if err != nil {
		t.Fatal(err)
	}
	send := func(status int, size int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, strings.Repeat("x", size))
		}
	}
	for what, c := range map[string]struct {
		answer http.HandlerFunc
		ok     bool
	}{
		"as it should be": {send(200, 10), true},
		"the longest":     {send(200, maxFile), true},
		"too long":        {send(200, maxFile+1), false},
		"not there":       {send(404, 10), false},
		"a redirect":      {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/other", http.StatusFound) }, false},
		"cut": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "20")
			_, _ = io.WriteString(w, "ten octets")
		}, false},
	} {
		answer = c.answer
		body, err := source{client: client, base: base}.fetch(t.Context(), "dns.json")
		if (err == nil) != c.ok || c.ok && len(body) < 10 {
			t.Errorf("%s: %d octets, %v", what, len(body), err)
		}
	}
}
