package rdap

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/analyze/certs/certtest"
	"diagnostics/gateway/internal/cache"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool/finding"

	"crypto/x509"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	finding.Mistaken = func(mistake string) { panic(mistake) }
	goleak.VerifyTestMain(m)
}

// The hosts of a world.
const (
	redirectorHost = "redirector-site.net"
	registryHost   = "rdap.registry-site.com"
	secondHost     = "rdap.second-site.com"
	registrarHost  = "rdap.registrar-site.com"
	insideHost     = "10.0.0.5" // a redirector in the operator's own network, on port 8443
)

// world is a private internet with a redirector, two registries and a registrar, each answering what the test says.
type world struct {
	*testing.T
	*Client
	net   *egresstest.Network
	store *cache.Memory

	mu     sync.Mutex
	now    time.Time
	asked  []string // host and path, in order
	answer map[string]http.HandlerFunc
}

// newWorld makes one; change may alter the client's configuration and be nil.
func newWorld(t *testing.T, change func(*Config)) *world {
	t.Helper()
	w := &world{T: t, net: egresstest.New(t), now: time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC),
		answer: map[string]http.HandlerFunc{}}
	root := certtest.Root(t, "RDAP test root")
	roots := x509.NewCertPool()
	roots.AddCert(root.Certificate)
	for host, address := range map[string]string{
		redirectorHost: "93.184.216.1", registryHost: "93.184.216.2", secondHost: "93.184.216.3",
		registrarHost: "93.184.216.4",
	} {
		w.net.Records(host + ". 300 IN A " + address)
		leaf := certtest.Leaf(t, root, []string{host})
		w.net.ServeTLS(address+":443", &tls.Config{Certificates: []tls.Certificate{leaf.TLS()}}, http.HandlerFunc(w.serve))
	}
	w.net.Records("rdap.inside-site.com. 300 IN A 10.0.0.1")
	inside := certtest.Leaf(t, root, []string{"10.0.0.5"})
	w.net.ServeTLS(insideHost+":8443", &tls.Config{Certificates: []tls.Certificate{inside.TLS()}},
		http.HandlerFunc(w.serve))
	w.store = cache.NewMemory(8<<20, cache.WithClock(w.clock))
	t.Cleanup(w.store.Close)
	c := Config{
		Egress: w.net.Client(func(s *egress.Settings) { s.ExemptHosts = []string{insideHost + ":8443"} },
			egress.WithChecker(certs.Checker{Roots: roots, Now: func() time.Time { return certtest.Epoch }})),
		Base: "https://" + redirectorHost, Cache: w.store, Now: w.clock,
	}
	if change != nil {
		change(&c)
	}
	var err error
	if w.Client, err = New(c); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func (w *world) serve(out http.ResponseWriter, r *http.Request) {
	at := r.Host + r.URL.Path
	w.mu.Lock()
	w.asked = append(w.asked, at)
	h := w.answer[strings.ToLower(at)]
	w.mu.Unlock()
	if r.Header.Get("Accept") != accept {
		w.Errorf("%s: Accept %q", at, r.Header.Get("Accept"))
	}
	if h == nil {
		http.NotFound(out, r)
		return
	}
	h(out, r)
}

// on says what is answered at a host and path.
func (w *world) on(at string, h http.HandlerFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer[strings.ToLower(at)] = h
}

// wantAsked holds what was queried since the last call.
func (w *world) wantAsked(want ...string) {
	w.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if got := strings.Join(w.asked, ", "); got != strings.Join(want, ", ") {
		w.Errorf("asked %s; want %s", got, strings.Join(want, ", "))
	}
	w.asked = nil
}

func (w *world) domain(name string) (DomainAnswer, error) {
	return w.Domain(w.Context(), name, nil)
}

func (w *world) network(addr string) (NetworkAnswer, error) {
	return w.Network(w.Context(), netip.MustParseAddr(addr))
}

func to(url string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", url)
		w.WriteHeader(http.StatusFound)
	}
}

func status(code int, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
	}
}

func rdapBody(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/rdap+json")
		_, _ = io.WriteString(w, body)
	}
}

func domainBody(name string) http.HandlerFunc {
	return rdapBody(fmt.Sprintf(`{"objectClassName":"domain","handle":"H","ldhName":%q}`, name))
}

func networkBody(start, end string) http.HandlerFunc {
	return rdapBody(fmt.Sprintf(`{"objectClassName":"ip network","handle":"H","startAddress":%q,"endAddress":%q}`, start,
		end))
}

// wantFailure holds an error's kind and a part of its sentence, and that it names nothing of the inside.
func wantFailure(t testing.TB, err error, kind fault.Kind, part string) *fault.Error {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != kind || !strings.Contains(f.Sentence(), part) {
		t.Errorf("error %v, want kind %d with %q", err, kind, part)
		return &fault.Error{}
	}
	if strings.Contains(f.Sentence(), "10.0.0") || strings.Contains(f.Sentence(), "rdap:") {
		t.Errorf("the sentence reveals too much: %s", f.Sentence())
	}
	return f
}

// slots are scripted buckets.
type slots struct {
	mu    sync.Mutex
	taken []string // the servers, in order
	err   error
	// empty is how long there are no tokens, wait how long the next token is reserved ahead.
	empty, wait time.Duration
}

func (s *slots) Take(_ context.Context, key string, size int, every time.Duration) (bool, time.Duration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.err != nil:
		return false, 0, s.err
	case s.empty > 0:
		return false, s.empty, nil
	case strings.Contains(key, "|"): // a client's share
		return true, 0, nil
	case s.wait > 0 && size <= registryPace.Burst:
		return false, every, nil
	}
	wait := time.Duration(registryPace.Burst)*every + s.wait
	s.taken, s.wait = append(s.taken, key), 0
	return true, wait, nil
}

func (s *slots) wantTaken(t testing.TB, servers ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.taken, servers) {
		t.Errorf("slots taken at %v, want %v", s.taken, servers)
	}
}
