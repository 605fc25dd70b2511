package httpapi

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"diagnostics/gateway/internal/conns"
	"diagnostics/gateway/internal/egress/budget/traffic"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/limits/requests"
	"diagnostics/gateway/internal/metrics"
	"diagnostics/gateway/internal/remote/places"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics counts in a registry of its own. No label holds anything that a visitor sent.
type Metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge
	limited  *prometheus.CounterVec
	clients  *prometheus.CounterVec
	refusals metrics.Refusals

	limits  map[string][]fault.Rule    // by slug: the limits that can refuse a request
	traffic map[string]*traffic.Totals // by slug, of tools
}

// NewMetrics makes the gateway's metrics.
func NewMetrics() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "diagnostics_requests_total",
			Help: "Requests by tool or connection route, status (canceled: the client left), outcome (whose fault it was) and " +
				"from: client, or peer for another place.",
		}, []string{"slug", "status", "outcome", "from"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "diagnostics_request_duration_seconds",
			Help:    "Time from a request's headers to the end of its answer.",
			Buckets: []float64{.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 20, 30},
		}, []string{"slug", "from"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "diagnostics_runs_in_flight",
			Help: "Tool runs at this moment.",
		}),
		limited: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "diagnostics_rate_limited_total",
			Help: "Requests that a limit refused, as a whole or in one of their steps, by the limit.",
		}, []string{"slug", "limit", "from"}),
		clients: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "diagnostics_listed_client_runs_total",
			Help: "Runs of clients in CLIENT_LIMITS_FILE, by the label there and whether the rate limits allowed them.",
		}, []string{"label", "allowed"}),
		limits: make(map[string][]fault.Rule), traffic: make(map[string]*traffic.Totals),
	}
	m.registry.MustRegister(m.requests, m.duration, m.inFlight, m.limited, m.clients)
	m.refusals = metrics.NewRefusals(m.registry, "input")
	return m
}

// Registerer registers the metrics of the packages below the edge.
func (m *Metrics) Registerer() prometheus.Registerer { return m.registry }

// RedisUp reports whether Redis serves; it is absent where none is configured.
func (m *Metrics) RedisUp(up func() bool) {
	m.registry.MustRegister(metrics.Switch("diagnostics_redis_up",
		"1 while Redis serves, 0 while memory stands in for it.", up))
}

// WorkerUp reports whether a worker takes jobs, and which ones do by host and port; it is absent where none is
// configured.
func (m *Metrics) WorkerUp(up func() bool, each func() map[string]bool) {
	m.registry.MustRegister(metrics.Switch("diagnostics_worker_up",
		"1 while a worker says that it takes jobs, 0 while its tools fail.", up))
	m.registry.MustRegister(metrics.States("diagnostics_worker_ready",
		"1 while this worker says that it takes jobs, by the host and port of DIAGNOSTICS_WORKER_URL.", "worker", each))
}

// PeerCertificate reports when the certificate of the listener for other places expires, in seconds of Unix time.
func (m *Metrics) PeerCertificate(expiry func() int64) {
	m.registry.MustRegister(metrics.Gauge("diagnostics_peer_certificate_expiry_timestamp_seconds",
		"When the certificate of the listener for other places expires.", nil, expiry))
}

// AuditLines counts how many lines of the audit log could not be written; absent where there is no audit log.
func (m *Metrics) AuditLines(dropped func() uint64) {
	m.registry.MustRegister(metrics.Counter("diagnostics_dropped_audit_lines_total",
		"Lines of the audit log that could not be written.", nil, dropped))
}

// Handler serves the registry, for the private listener alone.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry})
}

// bounds exports the settings of this instance that alerts compare with.
func (m *Metrics) bounds(runs, connections int) {
	m.registry.MustRegister(
		metrics.Gauge("diagnostics_runs_max", "Tool runs that this instance takes at once (MAX_IN_FLIGHT).", nil,
			func() int { return runs }),
		metrics.Gauge("diagnostics_connections_max", "Connections that may be open (MAX_CONNECTIONS); 0 is no limit.",
			nil, func() int { return connections }),
	)
}

// watch exports the connections and the bytes that requests hold.
func (m *Metrics) watch(counts func() conns.Counts, held func() int64) {
	m.registry.MustRegister(
		metrics.Gauge("diagnostics_connections", "Open connections of the public listener.", nil,
			func() int { return counts().Open }),
		metrics.Gauge("diagnostics_held_bytes",
			"Bytes that large runs hold, and large answers that wait for their readers.", nil, held),
		metrics.Counter("diagnostics_readers_cut_total",
			"Connections that were closed since their readers did not read.", nil, func() int { return counts().Cut }),
	)
	m.watchClosed("evicted", "Connections that made room: no more may be open (full), or no more of their peer (peer), "+
		"the process has no more files (files), or requests that are not whole yet have too many bytes (unfinished).",
		counts, map[string]func(conns.Counts) int{
			"full":       func(c conns.Counts) int { return c.EvictedFull },
			"peer":       func(c conns.Counts) int { return c.EvictedPeer },
			"files":      func(c conns.Counts) int { return c.EvictedFiles },
			"unfinished": func(c conns.Counts) int { return c.EvictedUnfinished },
		})
	m.watchClosed("refused", "Connections that found no room: no more may be open (full), or of their peer (peer).",
		counts, map[string]func(conns.Counts) int{
			"full": func(c conns.Counts) int { return c.RefusedFull },
			"peer": func(c conns.Counts) int { return c.RefusedPeer },
		})
}

// watchClosed counts connections that were closed for each of some reasons.
func (m *Metrics) watchClosed(
	verb, help string, counts func() conns.Counts, reasons map[string]func(conns.Counts) int,
) {
	for reason, of := range reasons {
		m.registry.MustRegister(metrics.Counter("diagnostics_connections_"+verb+"_total", help,
			prometheus.Labels{"reason": reason}, func() int { return of(counts()) }))
	}
}

// ending is how a request ends.
type ending struct {
	status  int // 0 where no answer was sent
	outcome outcome
}

// endings are how requests to the API end. Those of pages and the like have further statuses.
var endings = []ending{
	{http.StatusOK, outcomeOK},
	{http.StatusBadRequest, outcomeBadRequest},
	{http.StatusRequestTimeout, outcomeBadRequest},
	{http.StatusBadRequest, outcomeInvalid},
	{http.StatusBadRequest, outcomeRefused},
	{http.StatusBadRequest, outcomeNoAddress},
	{http.StatusForbidden, outcomeForeign},
	{http.StatusForbidden, outcomeDenied},
	{http.StatusUnauthorized, outcomeToken},
	{http.StatusNotFound, outcomeNotFound},
	{http.StatusMethodNotAllowed, outcomeMethod},
	{http.StatusRequestEntityTooLarge, outcomeTooLarge},
	{http.StatusRequestHeaderFieldsTooLarge, outcomeTooLarge},
	{http.StatusUnsupportedMediaType, outcomeMediaType},
	{http.StatusNotImplemented, outcomeNotEnabled},
	{http.StatusTooManyRequests, outcomeLimited},
	{http.StatusServiceUnavailable, outcomeBusy},
	{http.StatusServiceUnavailable, outcomeShortage},
	{http.StatusBadGateway, outcomeShortage},
	{http.StatusServiceUnavailable, outcomeProviderWait},
	{http.StatusBadGateway, outcomeUpstream},
	{http.StatusGatewayTimeout, outcomeTimeout},
	{http.StatusBadGateway, outcomeDependency},
	{http.StatusGatewayTimeout, outcomeDependencyTimeout},
	{http.StatusOK, outcomeCanceled},
	{0, outcomeCanceled},
	{http.StatusServiceUnavailable, outcomeLeaving},
	{http.StatusInternalServerError, outcomeInternal},
}

// otherRoutes is the label of all routes that are neither a tool nor a connection route.
const otherRoutes = "other"

// slugOf is the label of a route, by its pattern.
func slugOf(pattern string) string {
	if slug, ok := strings.CutPrefix(pattern, pathTools); ok {
		return slug
	}
	if slug, ok := strings.CutPrefix(pattern, places.PathTools); ok {
		return slug
	}
	if probe, ok := strings.CutPrefix(pattern, pathConnection); ok {
		return "connection-" + probe
	}
	return otherRoutes
}

// follow makes the counters of every route, so that each begins at zero.
func (m *Metrics) follow(slugs []string, peers bool) {
	ofRuns := slices.DeleteFunc(fault.Limits(), func(r fault.Rule) bool {
		return r == fault.LimitSamples || r == fault.LimitPages
	})
	for _, slug := range slugs {
		m.route(fromClient, slug, ofRuns...)
		if peers {
			m.route(fromPeer, slug, ofRuns...)
		}
		m.countTraffic(slug)
	}
	for _, probe := range probes {
		m.route(fromClient, slugOf(pathConnection+probe), fault.LimitSamples, fault.LimitNetwork)
	}
	m.route(fromClient, otherRoutes, fault.LimitPages, fault.LimitNetwork, fault.LimitClientMemory,
		fault.LimitNetworkMemory, fault.LimitMemory, fault.LimitRedis)
	if peers {
		m.route(fromPeer, otherRoutes, fault.LimitClientMemory, fault.LimitNetworkMemory, fault.LimitMemory)
	}
}

func (m *Metrics) route(door from, slug string, limits ...fault.Rule) {
	m.duration.WithLabelValues(slug, string(door))
	for _, e := range endings {
		m.requests.WithLabelValues(slug, statusLabel(e.status), string(e.outcome), string(door))
	}
	m.limits[slug] = limits
	for _, limit := range limits {
		m.limited.WithLabelValues(slug, string(limit), string(door))
	}
}

// countTraffic exports the bytes that the runs of a tool have sent and received.
func (m *Metrics) countTraffic(slug string) {
	totals, labels := new(traffic.Totals), prometheus.Labels{"slug": slug}
	m.traffic[slug] = totals
	m.registry.MustRegister(
		metrics.Counter("diagnostics_egress_received_bytes_total",
			"Bytes that the runs of a tool have drawn from the network, without the headers of packets.", labels,
			totals.Received),
		metrics.Counter("diagnostics_egress_sent_bytes_total", "Bytes that the runs of a tool have sent to the network, "+
			"estimated with the headers of packets; probes are the worker's.", labels, totals.Sent),
	)
}

// trafficOf is the traffic of a tool, by the pattern of its route.
func (m *Metrics) trafficOf(pattern string) *traffic.Totals { return m.traffic[slugOf(pattern)] }

func (m *Metrics) finished(door from, pattern string, e ending, elapsed time.Duration) {
	slug := slugOf(pattern)
	m.requests.WithLabelValues(slug, statusLabel(e.status), string(e.outcome), string(door)).Inc()
	m.duration.WithLabelValues(slug, string(door)).Observe(elapsed.Seconds())
}

// refusedBy counts a request that a limit refused, as a whole or in a step; other rules are no limits.
func (m *Metrics) refusedBy(door from, pattern string, limit fault.Rule) {
	slug := slugOf(pattern)
	if slices.Contains(m.limits[slug], limit) {
		m.limited.WithLabelValues(slug, string(limit), string(door)).Inc()
	}
}

// guarded counts an input that the policy refused before anything was sent.
func (m *Metrics) guarded(err error) {
	if refused, is := errors.AsType[*fault.Error](err); is && refused.Kind == fault.Refused {
		m.refusals.Refused(refused.Rule)
	}
}

// labels makes the counters of the labels in a list, so that each begins at zero.
func (m *Metrics) labels(list []requests.ClientLimit) {
	for _, c := range list {
		for _, allowed := range []bool{false, true} {
			m.clients.WithLabelValues(c.Label, strconv.FormatBool(allowed))
		}
	}
}

// listed counts a run of a client with a label.
func (m *Metrics) listed(label string, allowed bool) {
	if label != "" {
		m.clients.WithLabelValues(label, strconv.FormatBool(allowed)).Inc()
	}
}

func statusLabel(status int) string {
	if status == 0 {
		return "canceled"
	}
	return strconv.Itoa(status)
}
