// Package httpapi is the gateway's edge: routes, the order of checks, the one error table and the envelope. The web
// framework stays in here. Handlers are thin: they give data or an error, and one place turns either into an answer.
package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"diagnostics/gateway/internal/clientip"
	"diagnostics/gateway/internal/conns"
	"diagnostics/gateway/internal/egress/budget/memory"
	"diagnostics/gateway/internal/egress/shortage"
	"diagnostics/gateway/internal/httpapi/audit"
	"diagnostics/gateway/internal/limits/ratelimit"
	"diagnostics/gateway/internal/limits/requests"
	"diagnostics/gateway/internal/limits/shares"
	"diagnostics/gateway/internal/remote/places"
	"diagnostics/gateway/internal/tool"

	"github.com/labstack/echo/v4"
)

// Bounds of the public listener and of a run (docs/contract.md#the-order-of-checks, docs/contract.md#times-and-sizes).
const (
	MaxBodyBytes   = 4096
	MaxHeaderBytes = 32 << 10 // a page's query may hold 2,048 characters, percent-encoded
	maxFields      = 100      // of a request's header; browsers and proxies send some forty
	RunLimit       = 30 * time.Second

	headerTimeout = 10 * time.Second
	readTimeout   = 15 * time.Second
	// The end of a request whatever happens; each answer has a shorter time of its own from when it is ready.
	writeTimeout = readTimeout + RunLimit + answerLimit + 15*time.Second
	idleTimeout  = 75 * time.Second

	answerLimit  = 30 * time.Second
	maxDataBytes = 1 << 20
	// pageBytes is more than any page has that is made for its reader.
	pageBytes = 64 << 10
)

// Bounds are what one reader, and one peer, may cost the others.
type Bounds struct {
	// AnswerStall is how long a reader may take nothing of an answer, AnswerLimit how long the whole of it may take.
	AnswerStall, AnswerLimit time.Duration
	// HeldBytes is what runs, and answers that wait for their readers, may hold; ClientHeldBytes those of one client.
	HeldBytes, ClientHeldBytes int64
	// UnfinishedBytes is what the requests that are still on their way may have come to.
	UnfinishedBytes int
	// PeerConnections is how many connections one peer may have open, unless it may carry many visitors.
	PeerConnections int
}

// DefaultBounds are the bounds outside tests (docs/contract.md#the-order-of-checks, step 10).
func DefaultBounds() Bounds {
	return Bounds{
		AnswerStall:     10 * time.Second,
		AnswerLimit:     answerLimit,
		HeldBytes:       64 << 20,
		ClientHeldBytes: 8 << 20,
		UnfinishedBytes: 2 << 20,
		PeerConnections: 256,
	}
}

// Denier decides by the operator's deny list; target.Denylist is one.
type Denier interface {
	DeniesKey(key string) bool
}

// Auditor records every run that begins. It must not block, and must be safe for concurrent use.
type Auditor interface {
	RunBegan(audit.Run)
}

// State is how something that the gateway leans on is: ok, down, or off where it is not configured.
type State string

// The states that /readyz reports.
const (
	StateOK   State = "ok"
	StateDown State = "down"
	StateOff  State = "off"
)

// Config is what the edge is made of. All fields but PublicOrigin, Disabled, Worker, Places, Peers and
// Audit are needed.
type Config struct {
	Tools []tool.Tool
	// Description is what openapi.Document says of them, which is served as it is.
	Description string
	// Disabled are the slugs that the operator switched off.
	Disabled []string
	// WorkerEnabled is true where tools that need the worker may run.
	WorkerEnabled bool
	Deny          Denier
	// CountedKey returns the key that limits count for a target's, and that Deny judges as well; nil counts the target's.
	CountedKey func(string) string
	// OwnPlace reports whether a DenyKey is the host of another place of this service; nil is never.
	OwnPlace func(key string) bool
	Limiter  ratelimit.Limiter
	Limits   requests.Limits
	// MaxInFlight is how many runs this instance takes at once, MaxInFlightPerClient how many of one client (0: no limit).
	MaxInFlight          int
	MaxInFlightPerClient int
	// MaxConnections is how many connections may be open (0: no limit).
	MaxConnections int
	Bounds         Bounds
	Clients        *clientip.Finder
	// PublicOrigin is the one allowed Origin; the zero Origin compares with the request's own Host.
	PublicOrigin Origin
	// Pages answers everything that is not the API, an unknown path with a 404 of its own. Its error is for the log:
	// web.ErrNotFound, web.ErrMethod, or why a page could not be made.
	Pages func(http.ResponseWriter, *http.Request) error
	// LimitedPage answers in place of a page with 429; the edge sets Retry-After.
	LimitedPage func(http.ResponseWriter, *http.Request)
	// Redis and Worker report their states to /readyz; nil means off.
	Redis  func(context.Context) State
	Worker func(context.Context) State
	// Places are the other places, and this one; nil where this one has no ID.
	Places *places.Set
	// Peers are the other places that may run tools here; nil is none.
	Peers   *Peers
	Metrics *Metrics
	Log     *slog.Logger
	// Audit records every run that begins; nil is off.
	Audit Auditor
	// Now is time.Now outside tests.
	Now func() time.Time
	// Delay measures how long this process waits for processor time; nil is never.
	Delay shortage.Delay
	// RunLimit is the bound of a whole run outside tests.
	RunLimit time.Duration
}

// Server answers the public listener. It is an http.Handler.
type Server struct {
	config      Config
	echo        *echo.Echo
	peerEcho    *echo.Echo // of the listener for other places
	description description
	known       map[string]bool
	requests    *requests.Limiter
	denied      atomic.Pointer[[]netip.Prefix]
	slots       shares.Slots
	memory      shares.Memory
	encoding    memory.Semaphore
	connections *conns.Table
	peerConns   *conns.Table // of the listener for other places
	draining    atomic.Bool
	failures    failures
}

// New makes the edge. Two tools of one slug are an error.
func New(c Config) (*Server, error) {
	s := &Server{
		config:      c,
		known:       make(map[string]bool),
		description: newDescription(c.Description),
		requests:    requests.New(c.Limiter, c.Limits),
		slots:       shares.NewSlots(c.MaxInFlight, c.MaxInFlightPerClient),
		memory:      shares.NewMemory(c.Bounds.HeldBytes, c.Bounds.ClientHeldBytes),
		encoding:    memory.NewSemaphore(),
		connections: conns.New(conns.Limits{
			Max: c.MaxConnections, PerPeer: c.Bounds.PeerConnections, Shared: c.Clients.Shared, Stall: c.Bounds.AnswerStall,
			Unfinished: c.Bounds.UnfinishedBytes,
		}),
	}
	for _, t := range c.Tools {
		if s.known[t.Slug()] {
			return nil, errors.New("two tools have the slug " + t.Slug())
		}
		s.known[t.Slug()] = true
	}
	s.echo = s.routes()
	s.peerEcho, s.peerConns = s.peerRoutes(), s.newPeerConns()
	c.Metrics.follow(slices.Collect(maps.Keys(s.known)), c.Peers != nil)
	c.Metrics.watch(s.connections.Counts, s.memory.Total)
	c.Metrics.bounds(c.MaxInFlight, c.MaxConnections)
	return s, nil
}

// Drain makes /readyz say that this instance is leaving. Requests are still answered.
func (s *Server) Drain() { s.draining.Store(true) }

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.echo.ServeHTTP(w, r) }

// Listener bounds the connections of a listener that HTTPServer is to serve.
func (s *Server) Listener(l net.Listener) net.Listener { return s.connections.Listener(l) }

// HTTPServer wraps the edge in a server whose timeouts outlast a run but not a client that sends one byte a minute.
func (s *Server) HTTPServer() *http.Server { return newServer(s, s.connections) }

func newServer(h http.Handler, connections *conns.Table) *http.Server {
	server := &http.Server{
		Handler:                      h,
		ReadHeaderTimeout:            headerTimeout,
		ReadTimeout:                  readTimeout,
		WriteTimeout:                 writeTimeout,
		IdleTimeout:                  idleTimeout,
		MaxHeaderBytes:               MaxHeaderBytes,
		DisableGeneralOptionsHandler: true,
	}
	connections.Attach(server)
	return server
}
