// Package places asks other instances of this service, each elsewhere, to run a tool there. They are the operator's own
// and are trusted with nothing but the target: an answer is bounded, decoded into this release's types, and cleaned of
// private hops, as a worker's is, and clients have pseudonyms there whose key no other place holds.
package places

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"diagnostics/gateway/internal/egress/budget/memory"
	"diagnostics/gateway/internal/remote"
	"diagnostics/gateway/internal/tool/finding"
)

// Place is what clients see of a place.
type Place struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Entry is another place.
type Entry struct {
	Place
	URL   *url.URL // as remote.ParseBase returns it
	Token string
	// TLS is what connections to an https URL are made with; nil is Go's default.
	TLS *tls.Config
	// Version differs where anything of the entry does.
	Version string
}

// Observer records the outcome of each run elsewhere, and how long it took. It is safe for concurrent use, and does
// not block.
type Observer interface {
	Asked(place string, o remote.Outcome, took time.Duration)
}

// Config is what a Set needs beside its places.
type Config struct {
	Here Place
	// Key returns the key of the pseudonyms of clients.
	Key func(context.Context) []byte
	// Translation returns the prefixes by which this network translates IPv6 addresses to IPv4.
	Translation func() []netip.Prefix
	OwnFault    func(err error, to netip.Addr, since time.Time) error
	Observer    Observer // nil is none
	Log         *slog.Logger
	// Every is the time from one readiness check to the next: a second outside tests.
	Every time.Duration
}

// Set is the other places. It is safe for concurrent use.
type Set struct {
	config   Config
	decoding memory.Semaphore
	mu       sync.Mutex // of Replace
	current  atomic.Pointer[[]*peer]
}

// peer is one other place.
type peer struct {
	Entry
	remote    *remote.Client
	addresses addresses
}

// New returns a Set without places; the caller must close it.
func New(c Config) *Set {
	s := &Set{config: c, decoding: memory.NewSemaphore()}
	s.current.Store(&[]*peer{})
	return s
}

// Here is this place.
func (s *Set) Here() Place { return s.config.Here }

// Others are the other places, in their order.
func (s *Set) Others() []Place {
	var all []Place
	for _, p := range *s.current.Load() {
		all = append(all, p.Place)
	}
	return all
}

// Replace replaces the places. Those whose entry is the same keep their connections and their state; runs at others go
// on to their end. On an error nothing has changed.
func (s *Set) Replace(entries []Entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := *s.current.Load()
	var next, fresh []*peer
	for _, e := range entries {
		if i := slices.IndexFunc(before, func(p *peer) bool { return p.ID == e.ID && p.Version == e.Version }); i >= 0 {
			next = append(next, before[i])
			continue
		}
		p, err := s.newPeer(e)
		if err != nil {
			closeAll(fresh)
			return err
		}
		next, fresh = append(next, p), append(fresh, p)
	}
	s.current.Store(&next)
	closeAll(slices.DeleteFunc(slices.Clone(before), func(p *peer) bool { return slices.Contains(next, p) }))
	return nil
}

// Close ends the readiness checks.
func (s *Set) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	closeAll(*s.current.Swap(&[]*peer{}))
}

func closeAll(peers []*peer) {
	for _, p := range peers {
		p.remote.Close()
	}
}

// Bounds of what a place sends.
const (
	maxAnswer = 1 << 20 // of a plain answer, and of a line of a stream
	maxStream = 4 << 20 // of all lines of a stream
	// idle is how many connections to a place are kept, so that one more hop costs a round trip and no handshake.
	idle           = 2
	connectTimeout = 2 * time.Second
	readyTimeout   = time.Second
)

// PathReady answers readiness checks of other places.
const PathReady = "/peer/ready"

// PathTools is the path of a tool at another place, without the slug.
const PathTools = "/peer/tools/"

// Ready is the answer of PathReady.
type Ready struct {
	Status string `json:"status"` // StatusReady, or anything else
	Place  *Place `json:"place,omitempty"`
}

// StatusReady is the Status of a place that takes runs.
const StatusReady = "ready"

func (s *Set) newPeer(e Entry) (*peer, error) {
	p := &peer{Entry: e}
	r := remote.Config{
		Name: "the place " + e.ID, Base: e.URL, Token: e.Token, TLS: e.TLS, Idle: idle,
		MaxAnswer: maxAnswer, MaxStream: maxStream,
		Connect: connectTimeout, Ready: readyTimeout, Every: s.config.Every,
		ReadyPath: PathReady, ReadReady: p.readReady,
		OwnFault: s.config.OwnFault, Dialling: p.addresses.lookUp,
		CodePrefix: "PLACE_", Args: finding.Args{"place": e.Name},
		Lost: "a place is lost", Back: "a place is back",
		NotReady: "a place is not ready, runs there may fail", ReadyAgain: "a place is ready again",
		Log: s.config.Log.With(slog.String("place", e.ID)),
	}
	var err error
	p.remote, err = remote.New(r)
	return p, err
}

// readReady reads an answer of PathReady. An instance that has another ID is not the place of the entry.
func (p *peer) readReady(answer []byte) (any, error) {
	var ready Ready
	if err := json.Unmarshal(answer, &ready); err != nil {
		return nil, err
	}
	switch {
	case ready.Status != StatusReady:
		return nil, errors.New("the place is not ready")
	case ready.Place == nil || ready.Place.ID != p.ID:
		return nil, fmt.Errorf("what answers is not the place %s: its PLACE_ID is another", p.ID)
	}
	return ready, nil
}

// States reports, by ID, which of the other places take runs.
func (s *Set) States() map[string]bool {
	states := make(map[string]bool)
	for _, p := range *s.current.Load() {
		states[p.ID] = p.remote.Serves()
	}
	return states
}

// Serves reports whether a place takes runs; one that there is not does not.
func (s *Set) Serves(id string) bool {
	p := s.find(id)
	return p != nil && p.remote.Serves()
}

func (s *Set) find(id string) *peer {
	all := *s.current.Load()
	if i := slices.IndexFunc(all, func(p *peer) bool { return p.ID == id }); i >= 0 {
		return all[i]
	}
	return nil
}
