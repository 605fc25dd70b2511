// Package httpapi is the worker's HTTP side: authentication, admission, and the shape of every answer.
//
// Where client certificates are demanded, a connection without one is answered /healthz alone, and else 403. The bearer
// token is checked before anything else of a request is looked at. Then come method, media type, size, JSON
// and target, in that order; only a request that passes all of them takes a slot and starts a job, unless one for the
// same target runs, which it joins without a slot.
//
// A request may say on whose behalf it comes by two hashes, client and group (workerapi.Pseudonym). One client holds at
// most workerapi.ClientShare of the slots and one group workerapi.GroupShare: over that the answer is 429 with
// "X-Worker-Refused: share"; with "budget" it is that the packet budget cannot send all of the job's probes in time,
// and without either that every slot is taken. All have Retry-After, as has 503 with "X-Worker-Refused: shortage",
// which is that this host itself cannot send. A 502 with "X-Worker-Refused: protocol" is that it has no sockets for the
// probes that a trace asks for.
package httpapi

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"diagnostics/shared/cause"
	"diagnostics/shared/parallel"
	"diagnostics/shared/redact"
	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/exchange"

	"github.com/google/uuid"
)

// Prober runs jobs. Its errors are those of package exchange, a *probe.BusyError, or the context's.
type Prober interface {
	Traceroute(ctx context.Context, dst netip.Addr, p exchange.Probe) (workerapi.Traced, error)
	TracerouteMTU(ctx context.Context, dst netip.Addr, p exchange.Probe) (workerapi.Traced, error)
	Ping(ctx context.Context, dst netip.Addr) (workerapi.Ping, error)
	PacketLoss(ctx context.Context, dst netip.Addr) (workerapi.PacketLoss, error)
}

// Observer records how each request for a job ended. It must be safe for concurrent use.
type Observer interface {
	JobEnded(tool string, e Ending, took time.Duration)
	// Limited records a job that was refused by a limit.
	Limited(tool string, by Limit)
}

// Config is what a Server needs.
type Config struct {
	Tokens []string // each of them lets in, until SetTokens; at least one
	Prober Prober
	// NAT64 are prefixes by which the network translates IPv6 addresses to IPv4; jobs add those of the gateway.
	NAT64    []netip.Prefix
	Families []int  // whose sockets are open
	Mode     string // of the sockets
	Slots    int    // jobs at once; at least 1
	Log      *slog.Logger
	Observer Observer // nil for none
	// JobLimit is when a job is ended from outside, whatever it does; 0 for workerapi.JobLimit.
	JobLimit time.Duration
	// ClientCertificates demands one that the listener has verified.
	ClientCertificates bool
}

// Server answers the worker's requests. It is safe for concurrent use.
type Server struct {
	config   Config
	tokens   atomic.Pointer[digests]
	inflight *inflight
	gateways gateways
	routes   map[string]route
	draining atomic.Bool
}

// How long a ping and a packet-loss job take at most where no limit on answers is suspected and no budget slows them
// down. Used for Retry-After.
const (
	usualPing       = 5 * time.Second
	usualPacketLoss = 10 * time.Second
)

func always(d time.Duration) func(netip.Addr) time.Duration {
	return func(netip.Addr) time.Duration { return d }
}

// route is one path. Tool is empty for routes that run no job.
type route struct {
	tool  string
	serve func(*requestContext)
}

// New makes a Server.
func New(c Config) *Server {
	if c.JobLimit == 0 {
		c.JobLimit = workerapi.JobLimit
	}
	s := &Server{config: c, inflight: newInflight(c.Slots),
		gateways: gateways{last: map[netip.Addr]time.Time{}}}
	s.SetTokens(c.Tokens)
	s.routes = map[string]route{
		workerapi.PathTraceroute: {toolTraceroute, job(s, usualTrace, s.readTrace, s.trace)},
		workerapi.PathPing:       {toolPing, job(s, always(usualPing), s.readAddress, c.Prober.Ping)},
		workerapi.PathPacketLoss: {toolPacketLoss, job(s, always(usualPacketLoss), s.readAddress, c.Prober.PacketLoss)},
		workerapi.PathHealth:     {"", s.health},
		workerapi.PathReady:      {"", s.ready},
	}
	return s
}

// Drain makes the server unready; it goes on serving.
func (s *Server) Drain() { s.draining.Store(true) }

// JobsRunning is how many jobs run now.
func (s *Server) JobsRunning() int { return s.inflight.inUse() }

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rc := &requestContext{w: w, r: r, start: time.Now(), id: uuid.NewString()}
	found, known := s.routes[r.URL.Path]
	p := parallel.Catch(func() {
		switch {
		case !s.isCertified(r):
			rc.fail(http.StatusForbidden, "A client certificate is required.")
		case isAPI(r.URL.Path) && !s.tokens.Load().admit(r.Header.Values("Authorization")):
			w.Header().Set("WWW-Authenticate", "Bearer")
			rc.fail(http.StatusUnauthorized, "A valid bearer token is required.")
		case !known:
			rc.fail(http.StatusNotFound, "There is no such route.")
		default:
			found.serve(rc)
		}
	})
	if p != nil {
		s.config.Log.Error("panic", "requestId", rc.id, "panic", redact.Text(fmt.Sprint(p.Value)), "stack", string(p.Stack))
		rc.fail(http.StatusInternalServerError, "The worker failed unexpectedly.")
	}
	s.report(rc, found.tool)
}

func isAPI(path string) bool { return path == "/api" || strings.HasPrefix(path, "/api/") }

// knownCauses are failures of jobs whose text is ours.
var knownCauses = []error{
	exchange.ErrFamily, exchange.ErrNoRoute, exchange.ErrCutOff, exchange.ErrShortage, exchange.ErrForbidden,
	exchange.ErrNoFlow, exchange.ErrClosed, exchange.ErrProtocol,
}

// report logs a request and passes a job to the observer. The path is logged only as the route that it named, and the
// target not at all.
func (s *Server) report(rc *requestContext, tool string) {
	took := time.Since(rc.start)
	if tool == "" {
		s.config.Log.Debug("request", "status", rc.status, "durationMs", ms(took), "requestId", rc.id)
		return
	}
	fields := []any{"tool", tool, "status", rc.status, "durationMs", ms(took), "requestId", rc.id}
	if rc.cause != nil {
		fields = append(fields, cause.Fields(rc.cause, knownCauses...)...)
	}
	s.config.Log.Info("job", fields...)
	if s.config.Observer != nil {
		rc.reportTo(s.config.Observer, tool, took)
	}
}

// health also says how many gateways use the worker, in a header that only `worker -gateways` reads.
func (s *Server) health(rc *requestContext) {
	if rc.readsOnly() {
		rc.w.Header().Set(workerapi.HeaderGateways, strconv.Itoa(s.gateways.count()))
		rc.write(http.StatusOK, "text/plain; charset=utf-8", []byte("ok"))
	}
}

func (s *Server) ready(rc *requestContext) {
	if !rc.readsOnly() {
		return
	}
	body := workerapi.Ready{Status: workerapi.StatusReady, Families: s.config.Families, Mode: s.config.Mode}
	status := http.StatusOK
	if s.draining.Load() {
		body.Status, status = workerapi.StatusDraining, http.StatusServiceUnavailable
	} else if s.tokens.Load().admit(rc.r.Header.Values("Authorization")) {
		s.gateways.asked(rc.r.RemoteAddr)
	}
	rc.writeJSON(status, body)
}

// digests are the tokens that let in, as digests of one length, so that comparing takes the same time whatever is sent.
type digests [][sha256.Size]byte

func digest(tokens []string) digests {
	d := make(digests, len(tokens))
	for i, t := range tokens {
		d[i] = sha256.Sum256([]byte(t))
	}
	return d
}

// admit reports whether the values of the Authorization header let a request in. There must be exactly one, "Bearer",
// one space and a token (RFC 6750 section 2.1); the scheme is case-insensitive (RFC 9110 section 11.1).
func (d digests) admit(values []string) bool {
	if len(values) != 1 {
		return false
	}
	scheme, token, found := strings.Cut(values[0], " ")
	if !found || token == "" || !strings.EqualFold(scheme, "Bearer") {
		return false
	}
	given := sha256.Sum256([]byte(token))
	match := 0
	for i := range d {
		match |= subtle.ConstantTimeCompare(given[:], d[i][:])
	}
	return match == 1
}

// SetTokens replaces the tokens that let in, at least one. Requests under way go on.
func (s *Server) SetTokens(tokens []string) {
	all := digest(tokens)
	s.tokens.Store(&all)
}

// isCertified reports whether a request may go on as far as its connection is concerned. Where client certificates are
// demanded, all but the bare question whether the process lives needs one: health checks of containers and balancers
// have none. The listener has verified the certificates that there are, and refused the rest.
func (s *Server) isCertified(r *http.Request) bool {
	return !s.config.ClientCertificates || r.URL.Path == workerapi.PathHealth ||
		r.TLS != nil && len(r.TLS.VerifiedChains) > 0
}
