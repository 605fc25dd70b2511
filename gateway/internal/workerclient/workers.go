package workerclient

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"diagnostics/gateway/internal/remote"
	"diagnostics/shared/parallel"
	"diagnostics/shared/workerapi"
)

// resolveEvery is how often the names of workers are resolved. A name with several addresses, as that of a headless
// Service of Kubernetes, is as many workers.
const resolveEvery = 10 * time.Second

// modeRaw is the mode of a worker that can send UDP and TCP probes.
const modeRaw = "raw"

// oneWorker is one of the workers.
type oneWorker struct {
	name   string // host and port, of the URL or of one of its addresses
	base   int    // of workers.bases
	remote *remote.Client
}

// workers are all workers that the setting names.
type workers struct {
	bases   []remote.Config
	mu      sync.Mutex // of changes
	current atomic.Pointer[[]*oneWorker]
	end     context.CancelFunc
	ended   *parallel.Pending[bool]
	// lookUp and every are remote.LookUp and resolveEvery outside tests.
	lookUp func(ctx context.Context, host string) ([]netip.Addr, error)
	every  time.Duration
}

func (w *workers) all() []*oneWorker { return *w.current.Load() }

// start makes the workers by their names, and from then on by the addresses of these.
func (w *workers) start() error {
	if w.lookUp == nil {
		w.lookUp, w.every = remote.LookUp, resolveEvery
	}
	w.current.Store(&[]*oneWorker{})
	for i := range w.bases {
		if err := w.replace(i, []netip.Addr{{}}); err != nil {
			w.close()
			return err
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	w.end = cancel
	if slices.ContainsFunc(w.bases, func(r remote.Config) bool { return isName(r.Base) }) {
		w.ended = parallel.Start(func() bool { w.resolve(ctx); return true })
	}
	return nil
}

func (w *workers) close() {
	if w.end != nil {
		w.end()
	}
	if w.ended != nil {
		w.ended.Wait()
	}
	for _, each := range w.all() {
		each.remote.Close()
	}
}

func isName(u *url.URL) bool {
	_, err := netip.ParseAddr(u.Hostname())
	return err != nil
}

// resolve keeps the workers of names in step with the addresses of these, until ctx ends.
func (w *workers) resolve(ctx context.Context) {
	for ctx.Err() == nil {
		for i := range w.bases {
			u := w.bases[i].Base // change changes other members
			if !isName(u) {
				continue
			}
			bounded, cancel := context.WithTimeout(ctx, w.bases[i].Connect)
			found, err := w.lookUp(bounded, u.Hostname())
			cancel()
			if err == nil { // else the addresses of before are kept
				_ = w.replace(i, several(found))
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(w.every):
		}
	}
}

// several are the addresses that are a worker each: those of one family, since a worker may have one of each. One alone
// is the name itself, which is looked up for every connection.
func several(found []netip.Addr) []netip.Addr {
	var v4, v6 []netip.Addr
	for _, a := range found {
		if a.Is4() {
			v4 = append(v4, a)
		} else {
			v6 = append(v6, a)
		}
	}
	for _, family := range [][]netip.Addr{v4, v6} {
		slices.SortFunc(family, netip.Addr.Compare)
		if family = slices.Compact(family); len(family) > 1 {
			return family
		}
	}
	return []netip.Addr{{}}
}

// replace makes the workers of a base those at these addresses. Those that stay keep their state, and jobs at the
// others go on.
func (w *workers) replace(base int, addresses []netip.Addr) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var next, gone []*oneWorker
	for _, each := range w.all() {
		if each.base != base {
			next = append(next, each)
		} else {
			gone = append(gone, each)
		}
	}
	for _, a := range addresses {
		name := nameOf(w.bases[base], a)
		if i := slices.IndexFunc(gone, func(g *oneWorker) bool { return g.name == name }); i >= 0 {
			next, gone = append(next, gone[i]), slices.Delete(gone, i, i+1)
			continue
		}
		r := w.bases[base]
		r.Address = a
		r.Log = r.Log.With(slog.String("worker", name))
		if len(w.bases) > 1 || len(addresses) > 1 {
			r.Lost, r.Back = "a diagnostics worker is lost", "a diagnostics worker is back"
			r.NotReady, r.ReadyAgain = "a diagnostics worker is not ready", "a diagnostics worker is ready again"
		}
		client, err := remote.New(r)
		if err != nil {
			return err
		}
		next = append(next, &oneWorker{name, base, client})
	}
	w.current.Store(&next)
	for _, each := range gone {
		each.remote.Close()
	}
	return nil
}

func nameOf(r remote.Config, a netip.Addr) string {
	if !a.IsValid() {
		return r.Base.Host
	}
	port := r.Base.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[r.Base.Scheme]
	}
	return net.JoinHostPort(a.String(), port)
}

// change changes all workers, and those that are made from now on.
func (w *workers) change(config func(*remote.Config), each func(*oneWorker) error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range w.all() {
		if err := each(one); err != nil {
			return err
		}
	}
	for i := range w.bases {
		config(&w.bases[i])
	}
	return nil
}

// choose returns the two workers that come first for a job, of those that take jobs of its kind: the same ones for an
// address from every gateway, so that what an address may be sent, and measurements that are shared, hold for it. Where
// none is known to, it returns all that there may be.
func (w *workers) choose(ctx context.Context, j Job) []*oneWorker {
	all := slices.Clone(w.all())
	able := slices.DeleteFunc(slices.Clone(all), func(each *oneWorker) bool { return !each.takes(ctx, j) })
	if len(able) > 0 {
		all = able
	}
	slices.SortFunc(all, func(a, b *oneWorker) int {
		return cmp.Or(cmp.Compare(b.weight(j.Address), a.weight(j.Address)), cmp.Compare(a.name, b.name))
	})
	return all[:min(len(all), 2)]
}

// takes reports whether a worker is ready, and has the sockets for a job.
func (w *oneWorker) takes(ctx context.Context, j Job) bool {
	last, err := w.remote.Ready(ctx)
	ready, _ := last.(workerapi.Ready)
	family := 6
	if j.Address.Is4() {
		family = 4
	}
	raw := j.Trace.Protocol != "" && j.Trace.Protocol != workerapi.ProtocolICMP
	return err == nil && slices.Contains(ready.Families, family) && (!raw || ready.Mode == modeRaw)
}

// weight is that of rendezvous hashing (Thaler and Ravishankar, 1998): the highest one decides.
func (w *oneWorker) weight(target netip.Addr) uint64 {
	sum := sha256.Sum256([]byte(w.name + "|" + target.String()))
	return binary.BigEndian.Uint64(sum[:])
}
