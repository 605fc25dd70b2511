package workerclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/remote"
	"diagnostics/shared/progress"
	"diagnostics/shared/waittest"
	"diagnostics/shared/workerapi"
)

// counted is a worker that answers pings, and counts them.
type counted struct {
	*httptest.Server
	jobs atomic.Int32
	// answer replaces a good answer.
	answer atomic.Pointer[http.HandlerFunc]
	ready  atomic.Pointer[string]
}

func countedWorker(t *testing.T) *counted {
	t.Helper()
	w := &counted{}
	good := goodReady
	w.ready.Store(&good)
	w.Server = server(t, func(rw http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, workerapi.PathReady) {
			jsonAnswer(http.StatusOK, *w.ready.Load())(rw, r)
			return
		}
		w.jobs.Add(1)
		if answer := w.answer.Load(); answer != nil {
			(*answer)(rw, r)
			return
		}
		if strings.HasSuffix(r.URL.Path, workerapi.PathTraceroute) {
			jsonAnswer(http.StatusOK, goodTrace)(rw, r)
			return
		}
		jsonAnswer(http.StatusOK, goodPing)(rw, r)
	})
	return w
}

// chosen returns the two workers in the order in which they are chosen for a job.
func chosen(t *testing.T, c *Client, j Job, two ...*counted) (first, second *counted) {
	t.Helper()
	waittest.Until(t, "both serve", func() bool { return len(c.States()) == len(two) && allServe(c) })
	order := c.workers.choose(t.Context(), j)
	at := slices.IndexFunc(two, func(w *counted) bool { return strings.HasSuffix(w.URL, order[0].name) })
	return two[at], two[1-at]
}

func allServe(c *Client) bool {
	for _, serves := range c.States() {
		if !serves {
			return false
		}
	}
	return true
}

func TestAJobForTheNextWorker(t *testing.T) {
	t.Parallel()
	refuse := func(status int, reason string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.Header().Set(workerapi.HeaderRefused, reason)
			jsonAnswer(status, `{"error":"no"}`)(w, r)
		}
	}
	for name, tt := range map[string]struct {
		answer http.HandlerFunc
		next   int32 // jobs of the next worker
		kind   fault.Kind
	}{
		"good":        {nil, 0, 0},
		"full":        {refuse(429, ""), 1, 0},
		"no packets":  {refuse(429, workerapi.RefusedBudget), 0, fault.Busy},
		"a share":     {refuse(429, workerapi.RefusedShare), 0, fault.Limited},
		"a failure":   {refuse(500, ""), 0, fault.Upstream},
		"out of time": {refuse(504, ""), 0, fault.Timeout},
		"broken off before it began": {func(http.ResponseWriter, *http.Request) {
			panic(http.ErrAbortHandler)
		}, 1, 0},
		"broken off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", progress.MediaType)
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, 0, fault.Upstream},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := countedWorker(t), countedWorker(t)
			c := client(t, a.URL+", "+b.URL, quick())
			first, second := chosen(t, c, job, a, b)
			if tt.answer != nil {
				first.answer.Store(&tt.answer)
			}
			_, err := c.Ping(t.Context(), job)
			if tt.kind == 0 && err != nil || tt.kind != 0 && !fault.Is(err, tt.kind) {
				t.Errorf("%v", err)
			}
			if first.jobs.Load() != 1 || second.jobs.Load() != tt.next {
				t.Errorf("%d and %d jobs, want 1 and %d", first.jobs.Load(), second.jobs.Load(), tt.next)
			}
		})
	}
}

// Where all are full, the run is refused as busy.
func TestAllWorkersAreFull(t *testing.T) {
	t.Parallel()
	a, b := countedWorker(t), countedWorker(t)
	full := jsonAnswer(http.StatusTooManyRequests, `{"error":"no slot"}`)
	a.answer.Store(&full)
	b.answer.Store(&full)
	c := client(t, a.URL+","+b.URL, quick())
	chosen(t, c, job, a, b)
	if _, err := c.Ping(t.Context(), job); !fault.Is(err, fault.Busy) || a.jobs.Load() != 1 || b.jobs.Load() != 1 {
		t.Errorf("%v; %d and %d jobs", err, a.jobs.Load(), b.jobs.Load())
	}
}

// A worker that ends takes no job with it that it has not begun.
func TestAWorkerIsLostUnderLoad(t *testing.T) {
	t.Parallel()
	a, b := countedWorker(t), countedWorker(t)
	c := client(t, a.URL+","+b.URL, quick())
	first, second := chosen(t, c, job, a, b)
	var running sync.WaitGroup
	stop := make(chan struct{})
	for i := range 8 {
		running.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				j := job
				j.Address = netip.MustParseAddr(fmt.Sprintf("8.8.%d.%d", i, n%200))
				if _, err := c.PacketLoss(t.Context(), j); err != nil && !strings.Contains(err.Error(), "cannot be used") {
					t.Errorf("%v", err)
					return
				}
			}
		})
	}
	waittest.Until(t, "fifty jobs are done", func() bool { return first.jobs.Load() > 50 })
	first.Listener.Close() // what was accepted is answered
	before := second.jobs.Load()
	waittest.Until(t, "the second has them all", func() bool { return second.jobs.Load() > before+100 && !allServe(c) })
	close(stop)
	running.Wait()
	if !c.Serves() {
		t.Error("none serves")
	}
	if ready, err := c.Ready(t.Context()); err != nil || !slices.Equal(ready.Families, []int{4, 6}) {
		t.Errorf("%+v, %v", ready, err)
	}
}

func TestWorkersAreChosenByWhatTheyCan(t *testing.T) {
	t.Parallel()
	a, b := countedWorker(t), countedWorker(t)
	only4 := strings.Replace(goodReady, "[4,6]", "[4]", 1)
	datagram := strings.Replace(strings.Replace(goodReady, "[4,6]", "[6]", 1), `"raw"`, `"datagram"`, 1)
	if only4 == goodReady || !strings.Contains(datagram, "datagram") {
		t.Fatalf("%s", goodReady)
	}
	a.ready.Store(&only4)
	b.ready.Store(&datagram)
	c := client(t, a.URL+","+b.URL, quick())
	waittest.Until(t, "all serve", func() bool { return allServe(c) })
	for _, tt := range []struct {
		address, protocol string
		want              []*counted
	}{
		{"8.8.8.8", "", []*counted{a}}, {"2001:4860:4860::8888", "", []*counted{b}},
		{"8.8.8.8", workerapi.ProtocolUDP, []*counted{a}}, {"8.8.8.8", workerapi.ProtocolICMP, []*counted{a}},
		{"2001:4860:4860::8888", workerapi.ProtocolTCP, []*counted{a, b}}, // none can: each says so itself
	} {
		j := Job{Address: netip.MustParseAddr(tt.address), Trace: workerapi.TraceOptions{Protocol: tt.protocol}}
		got := c.workers.choose(t.Context(), j)
		if len(got) != len(tt.want) || len(got) == 1 && !strings.HasSuffix(tt.want[0].URL, got[0].name) {
			t.Errorf("%+v: %d workers", tt, len(got))
		}
	}
	if ready, err := c.Ready(t.Context()); err != nil || fmt.Sprint(ready.Families) != "[4 6]" || ready.Mode != modeRaw {
		t.Errorf("together %+v, %v", ready, err)
	}
}

// Each worker has about as many of the addresses, and keeps those that it has when another one goes.
func TestRendezvous(t *testing.T) {
	t.Parallel()
	var three []*oneWorker
	for _, name := range []string{"a:1", "b:1", "c:1"} {
		three = append(three, &oneWorker{name: name})
	}
	first := func(of []*oneWorker, a netip.Addr) string {
		return slices.MaxFunc(of, func(x, y *oneWorker) int {
			if x.weight(a) < y.weight(a) {
				return -1
			}
			return 1
		}).name
	}
	count := map[string]int{}
	for i := range 3000 {
		a := netip.AddrFrom4([4]byte{8, 8, byte(i >> 8), byte(i)})
		name := first(three, a)
		count[name]++
		if name != "b:1" && first([]*oneWorker{three[0], three[2]}, a) != name {
			t.Fatalf("%v has moved", a)
		}
	}
	for name, n := range count {
		if n < 900 || n > 1100 {
			t.Errorf("%s has %d of 3000", name, n)
		}
	}
}

// names is a resolver.
type names struct {
	mu    sync.Mutex
	found []netip.Addr
	err   error
}

func (n *names) set(err error, found ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.found, n.err = nil, err
	for _, a := range found {
		n.found = append(n.found, netip.MustParseAddr(a))
	}
}

func (n *names) lookUp(context.Context, string) ([]netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.found), n.err
}

// A name with several addresses is as many workers; one alone, or one of each family, is the name.
func TestAddressesOfAName(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: readyAnd(jsonAnswer(http.StatusOK, goodPing))}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	_, port, _ := net.SplitHostPort(l.Addr().String())
	var resolver names
	resolver.set(nil, "127.0.0.1")
	c, err := newClient("http://workers.test:"+port, token, quick(), slog.New(slog.NewTextHandler(io.Discard, nil)),
		func(c *Client, _ *remote.Config) {
			c.workers.lookUp, c.workers.every = resolver.lookUp, 5*time.Millisecond
		})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	has := func(want ...string) {
		t.Helper()
		waittest.Until(t, "the workers of the list are in use", func() bool {
			states := c.States()
			return len(states) == len(want) && !slices.ContainsFunc(want, func(name string) bool {
				_, there := states[name]
				return !there
			})
		})
	}
	name := "workers.test:" + port
	has(name)
	resolver.set(nil, "127.0.0.1", "::1")
	has(name)
	resolver.set(nil, "127.0.0.2", "127.0.0.1", "::1")
	has("127.0.0.1:"+port, "127.0.0.2:"+port)
	waittest.Until(t, "the worker serves", func() bool { return c.States()["127.0.0.1:"+port] })
	kept := c.workers.all()[0]
	if kept.name != "127.0.0.1:"+port {
		t.Fatal(kept.name)
	}
	resolver.set(errors.New("no answer"))
	has("127.0.0.1:"+port, "127.0.0.2:"+port)
	resolver.set(nil, "127.0.0.3", "127.0.0.1")
	has("127.0.0.1:"+port, "127.0.0.3:"+port)
	if !slices.Contains(c.workers.all(), kept) {
		t.Error("a worker that stayed was made anew")
	}
	if _, err := c.Ping(t.Context(), job); err != nil {
		t.Errorf("a job at a pinned address: %v", err)
	}
	resolver.set(nil, "127.0.0.1")
	has(name)
}
