package httpapi

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"diagnostics/gateway/internal/clientip"
	"diagnostics/gateway/internal/egress/budget/traffic"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/limits/ratelimit"
	"diagnostics/gateway/internal/metrics"

	"github.com/prometheus/client_golang/prometheus"
)

// ending is how a request can end.
type ending struct {
	status  int // 0: nobody was answered
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

// routeMetrics are those of one tool, one connection route, or all the rest. Each counter is looked up once, at the
// start, so that every one begins at zero and a request costs an addition.
type routeMetrics struct {
	slug     string
	requests map[ending]prometheus.Counter
	duration prometheus.Observer
	cost     prometheus.Observer // nil where nothing runs
	limited  map[fault.Rule]prometheus.Counter
	traffic  traffic.Totals
}

// otherRoutes is the label of whatever is neither a tool nor a connection route.
const otherRoutes = "other"

// follow makes the counters of every route.
func (m *Metrics) follow(slugs []string) {
	m.routes = make(map[string]*routeMetrics, len(slugs)+len(probes)+1)
	for _, slug := range slugs {
		r := m.route(slug, fault.Limits())
		r.cost = m.costs.WithLabelValues(slug)
		m.countTraffic(r)
		m.routes[pathTools+slug] = r
	}
	for _, probe := range probes {
		m.routes[pathConnection+probe] = m.route("connection-"+probe, []fault.Rule{fault.LimitSamples, fault.LimitNetwork})
	}
	m.other = m.route(otherRoutes, []fault.Rule{fault.LimitClientMemory, fault.LimitNetworkMemory, fault.LimitMemory})
}

func (m *Metrics) route(slug string, limits []fault.Rule) *routeMetrics {
	r := &routeMetrics{
		slug: slug, duration: m.duration.WithLabelValues(slug),
		requests: make(map[ending]prometheus.Counter, len(endings)),
		limited:  make(map[fault.Rule]prometheus.Counter, len(limits)),
	}
	for _, e := range endings {
		r.requests[e] = m.requests.WithLabelValues(slug, statusLabel(e.status), string(e.outcome))
	}
	for _, limit := range limits {
		r.limited[limit] = m.limited.WithLabelValues(slug, string(limit))
	}
	return r
}

// countTraffic tells what the runs of a tool have sent and drawn.
func (m *Metrics) countTraffic(r *routeMetrics) {
	labels := prometheus.Labels{"slug": r.slug}
	m.registry.MustRegister(
		metrics.Counter("diagnostics_egress_received_bytes_total",
			"Bytes that the runs of a tool have drawn from the network, without the headers of packets.", labels,
			r.traffic.Received),
		metrics.Counter("diagnostics_egress_sent_bytes_total", "Bytes that the runs of a tool have sent to the network, "+
			"estimated with the headers of packets; probes are the worker's.", labels, r.traffic.Sent),
	)
}

// of gives the metrics of a route by its own pattern.
func (m *Metrics) of(pattern string) *routeMetrics {
	if r, ok := m.routes[pattern]; ok {
		return r
	}
	return m.other
}

func (m *Metrics) finished(pattern string, e ending, elapsed time.Duration) {
	r := m.of(pattern)
	if counter, ok := r.requests[e]; ok {
		counter.Inc()
	} else { // of a page, such as 304
		m.requests.WithLabelValues(r.slug, statusLabel(e.status), string(e.outcome)).Inc()
	}
	r.duration.Observe(elapsed.Seconds())
}

// refusedBy counts a request that a limit refused, as a whole or in a step; other rules are no limits.
func (m *Metrics) refusedBy(pattern string, limit fault.Rule) {
	if counter, ok := m.of(pattern).limited[limit]; ok {
		counter.Inc()
	}
}

// guarded counts an input that the policy refused before anything was sent.
func (m *Metrics) guarded(err error) {
	if refused, is := errors.AsType[*fault.Error](err); is && refused.Kind == fault.Refused {
		m.refusals.Refused(refused.Rule)
	}
}

func statusLabel(status int) string {
	if status == 0 {
		return "canceled"
	}
	return strconv.Itoa(status)
}

// limitOf names the limit whose bucket refuses, by the kind that its key begins with.
func limitOf(refusing ratelimit.Decision, client clientip.Identity) fault.Rule {
	kind, who, _ := strings.Cut(refusing.Key, "|")
	if (kind == "client" || kind == "samples") && who != client.LimitKey() {
		return fault.LimitNetwork
	}
	return fault.Rule(kind)
}
