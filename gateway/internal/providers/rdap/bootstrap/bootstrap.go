// Package bootstrap finds the registry of a top-level domain or a block of addresses, as IANA lists them for RDAP
// (RFC 9224). A dated copy of the lists is built in; newer ones are fetched in the background, at the start and daily.
// A list that cannot be fetched, or is not what it should be, leaves the last good one in its place.
package bootstrap

import (
	"context"
	"embed"
	"log/slog"
	"net/netip"
	"sync/atomic"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/target"
	"diagnostics/shared/parallel"
)

// Registries are the lists that serve. They are safe for concurrent use.
type Registries struct {
	files []*file
	names atomic.Pointer[table[string]]
	v4    atomic.Pointer[blocks]
	v6    atomic.Pointer[blocks]

	fetch func(ctx context.Context, name string) ([]byte, error)
	log   *slog.Logger

	ctx     context.Context
	stop    context.CancelFunc
	running parallel.Group
	began   time.Time
	fetched chan struct{}             // closed after the first try
	whole   atomic.Pointer[time.Time] // when all lists were fetched last, nil for never
}

// file is one of the four lists.
type file struct {
	name string
	// take puts what was read into use, and gives the day on which it was published.
	take func(body []byte) (published time.Time, err error)

	published time.Time // guarded by the one goroutine that fetches
}

// New gives the lists that are built in, and fetches newer ones from below base until Close. The zero base fetches
// nothing.
func New(client *egress.Client, base target.URL, log *slog.Logger) *Registries {
	r := builtIn()
	if base == (target.URL{}) {
		close(r.fetched)
		return r
	}
	r.start(source{client: client, base: base}.fetch, log)
	return r
}

func (r *Registries) start(fetch func(ctx context.Context, name string) ([]byte, error), log *slog.Logger) {
	r.fetch, r.log = fetch, log
	r.running.Go(r.run)
}

// Close ends what fetches. The lists go on to serve.
func (r *Registries) Close() {
	r.stop()
	r.running.Wait()
}

// The copy is what README.md beside it says; cmd/proof bootstrap fetches it anew.
//
//go:embed copy/*.json
var files embed.FS

// copied gives a file of the copy.
func copied(name string) []byte {
	body, err := files.ReadFile("copy/" + name)
	if err != nil {
		panic(err) // all names are those of builtIn
	}
	return body
}

// builtIn has the copy alone.
func builtIn() *Registries {
	r := &Registries{fetched: make(chan struct{}), began: time.Now()}
	r.ctx, r.stop = context.WithCancel(context.Background())
	r.files = []*file{
		{name: "dns.json", take: r.takeNames},
		{name: "ipv4.json", take: func(body []byte) (time.Time, error) { return takeBlocks(&r.v4, body, 32) }},
		{name: "ipv6.json", take: func(body []byte) (time.Time, error) { return takeBlocks(&r.v6, body, 128) }},
		{name: "asn.json", take: takeNumbers},
	}
	for _, f := range r.files {
		if err := f.load(copied(f.name)); err != nil {
			panic(err) // of a file that is built in, and read by a test
		}
	}
	return r
}

func (f *file) load(body []byte) error {
	published, err := f.take(body)
	if err == nil {
		f.published = published
	}
	return err
}

func (r *Registries) takeNames(body []byte) (time.Time, error) {
	t, err := parse(body, readName)
	if err == nil {
		r.names.Store(&t)
	}
	return t.published, err
}

// takeBlocks reads the blocks of a family, whose addresses have so many bits.
func takeBlocks(into *atomic.Pointer[blocks], body []byte, length int) (time.Time, error) {
	t, err := parse(body, readPrefix(length))
	if err == nil {
		b := newBlocks(t)
		into.Store(&b)
	}
	return t.published, err
}

// takeNumbers reads the list of AS numbers and keeps nothing of it: no tool queries a registry for one. A list that
// cannot be read is reported all the same.
func takeNumbers(body []byte) (time.Time, error) {
	t, err := parse(body, readNumbers)
	return t.published, err
}

// Domain gives the base URL of the registry that has a name (A-labels, lower case), where one is listed.
func (r *Registries) Domain(ctx context.Context, name string) (base target.URL, listed bool) {
	r.awaitFirst(ctx)
	return ofName(*r.names.Load(), name)
}

// Address gives the base URL of the registry that has a block around an address, where one is listed.
func (r *Registries) Address(ctx context.Context, a netip.Addr) (base target.URL, listed bool) {
	r.awaitFirst(ctx)
	if a.Is4() {
		return r.v4.Load().of(a)
	}
	return r.v6.Load().of(a)
}

// Stale reports whether a list was not fetched in the last two days.
func (r *Registries) Stale() bool {
	whole := r.whole.Load()
	return whole == nil || time.Since(*whole) > 2*daily
}

// firstWait is how long after the start a question waits for the lists that are fetched then: the copy may be old.
const firstWait = 2 * time.Second

func (r *Registries) awaitFirst(ctx context.Context) {
	select {
	case <-r.fetched:
		return
	default:
	}
	timer := time.NewTimer(firstWait - time.Since(r.began))
	defer timer.Stop()
	select {
	case <-r.fetched:
	case <-timer.C:
	case <-ctx.Done():
	}
}
