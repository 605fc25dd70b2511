package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"mime"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"diagnostics/shared/netpolicy"
	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/exchange"

	"github.com/google/uuid"
)

// refusal is a status and a sentence for a request that is not served.
type refusal struct {
	status   int
	sentence string
}

// errNotPublic stands apart, since the metrics count it as refused and not as invalid.
var errNotPublic = &refusal{http.StatusBadRequest, "Only public addresses can be probed."}

// readAddress reads a request that is about an address alone, which has its family.
func (s *Server) readAddress(rc *requestContext) (netip.Addr, *refusal) {
	_, refused := s.readJob(rc)
	return rc.target, refused
}

// readJob reads and judges a request for a job; refused is nil for one that may run.
func (s *Server) readJob(rc *requestContext) (request workerapi.Request, refused *refusal) {
	if rc.r.Method != http.MethodPost {
		rc.w.Header().Set("Allow", http.MethodPost)
		return request, &refusal{http.StatusMethodNotAllowed, "Use POST."}
	}
	if !isPlainJSON(rc.r.Header) {
		return request, &refusal{http.StatusUnsupportedMediaType, "Send the request as application/json, not compressed."}
	}
	body, refused := rc.readBody()
	if refused != nil {
		return request, refused
	}
	// Unmarshal takes null for anything, and refuses what follows the first value.
	if !isObject(body) || json.Unmarshal(body, &request) != nil {
		return request, &refusal{http.StatusBadRequest, `Send one JSON object such as {"target": "192.31.196.1"}.`}
	}
	rc.holder = holder{request.Client, request.Group, request.Place}
	if slices.ContainsFunc(rc.holder[:], func(name string) bool { return !workerapi.ValidPseudonym(name) }) {
		return request, &refusal{http.StatusBadRequest, "Send client, group and place as at most 64 printable characters."}
	}
	rc.adopt(request.RequestID)
	rc.target, refused = s.judge(request)
	return request, refused
}

// isPlainJSON reports whether a body is declared as JSON in UTF-8 without compression.
func isPlainJSON(h http.Header) bool {
	if e := h.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return false
	}
	types := h.Values("Content-Type")
	if len(types) != 1 {
		return false
	}
	mediaType, parameters, err := mime.ParseMediaType(types[0])
	if err != nil || mediaType != "application/json" {
		return false
	}
	charset, declared := parameters["charset"]
	return !declared || strings.EqualFold(charset, "utf-8")
}

// bodyTimeout is how long a caller with a token may take to send a body.
const bodyTimeout = 5 * time.Second

// readBody reads a body up to its end, which also lets the server notice a client that leaves during the job.
func (rc *requestContext) readBody() ([]byte, *refusal) {
	large := &refusal{http.StatusRequestEntityTooLarge, "Send at most 4096 bytes."}
	if rc.r.ContentLength > workerapi.MaxRequestBytes {
		return nil, large
	}
	// Servers without deadlines (in tests) return an error.
	c := http.NewResponseController(rc.w)
	_ = c.SetReadDeadline(time.Now().Add(bodyTimeout))
	body, err := io.ReadAll(io.LimitReader(rc.r.Body, workerapi.MaxRequestBytes+1))
	_ = c.SetReadDeadline(time.Time{})
	if err != nil {
		return nil, &refusal{http.StatusBadRequest, "The request's body ended early."}
	}
	if len(body) > workerapi.MaxRequestBytes {
		return nil, large
	}
	return body, nil
}

// isObject reports whether JSON is an object, if it is valid.
func isObject(body []byte) bool { return bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{")) }

// judge takes an address literal. The gateway has judged it before; but a worker that trusts its
// caller is one stolen token away from probing the network that it stands in. An address that the network translates
// is judged by the prefixes of both.
func (s *Server) judge(request workerapi.Request) (netip.Addr, *refusal) {
	a, err := netip.ParseAddr(request.Target)
	if err != nil || a.Zone() != "" || a.Is4In6() {
		return netip.Addr{}, &refusal{http.StatusBadRequest, "Send the target as an IPv4 or IPv6 address."}
	}
	prefixes := slices.Clone(s.config.NAT64)
	for _, text := range request.NAT64 {
		p, err := netpolicy.ParseTranslationPrefix(text)
		if err != nil {
			return netip.Addr{}, &refusal{http.StatusBadRequest, "Send nat64 as a list of prefixes of RFC 6052."}
		}
		prefixes = append(prefixes, p)
	}
	if !netpolicy.JudgeTranslated(a, prefixes).Public {
		return netip.Addr{}, errNotPublic
	}
	return a, nil
}

// traceJob is the key of a trace: its target and options.
type traceJob struct {
	target netip.Addr
	probe  exchange.Probe
	mtu    bool
}

var protocols = map[string]exchange.Protocol{
	workerapi.ProtocolICMP: exchange.ICMP, workerapi.ProtocolUDP: exchange.UDP, workerapi.ProtocolTCP: exchange.TCP,
}

func (s *Server) readTrace(rc *requestContext) (traceJob, *refusal) {
	request, refused := s.readJob(rc)
	if refused != nil {
		return traceJob{}, refused
	}
	var options workerapi.TraceOptions
	if request.Options != nil {
		options = *request.Options
	}
	options, err := options.Complete()
	if err != nil {
		return traceJob{}, &refusal{http.StatusBadRequest,
			"Send the option protocol as icmp, udp or tcp, and port as 1 to 65535 with udp or tcp alone."}
	}
	probe := exchange.Probe{Protocol: protocols[options.Protocol], Port: options.Port}
	return traceJob{rc.target, probe, options.MTU}, nil
}

// usualTrace is how long the job takes at most.
func usualTrace(j traceJob) time.Duration {
	if j.mtu {
		return workerapi.TracerouteMTULimit
	}
	return workerapi.TracerouteLimit
}

// trace runs the job.
func (s *Server) trace(ctx context.Context, j traceJob) (workerapi.Traced, error) {
	if j.mtu {
		return s.config.Prober.TracerouteMTU(ctx, j.target, j.probe)
	}
	return s.config.Prober.Traceroute(ctx, j.target, j.probe)
}

// statusClientGone is logged for a job whose client left; no answer is written then.
const statusClientGone = 499

// requestContext is one request with its answer, and what the log says of them.
type requestContext struct {
	w       http.ResponseWriter
	r       *http.Request
	start   time.Time
	id      string
	status  int // of the answer; 0 until it is written
	written bool
	stream  bool // the answer has begun, line by line

	target netip.Addr
	holder holder // for inflight alone; never logged
	cause  error  // for the log and the metrics alone
	// refused is what was wrong with a request; nil for nothing. For the metrics alone.
	refused *refusal
}

// adopt takes over the caller's request id if it is a UUID in its canonical form, so that lines of both logs can be
// matched.
func (rc *requestContext) adopt(id string) {
	if len(id) != len(rc.id) {
		return
	}
	if u, err := uuid.Parse(id); err == nil {
		rc.id = u.String()
	}
}

// readsOnly reports whether the method is GET or HEAD, and answers every other with 405.
func (rc *requestContext) readsOnly() bool {
	if rc.r.Method == http.MethodGet || rc.r.Method == http.MethodHead {
		return true
	}
	rc.w.Header().Set("Allow", "GET, HEAD")
	rc.fail(http.StatusMethodNotAllowed, "Use GET.")
	return false
}

func (rc *requestContext) fail(status int, sentence string) {
	rc.writeJSON(status, workerapi.Envelope[struct{}]{
		Error: sentence, DurationMs: ms(time.Since(rc.start)), RequestID: rc.id,
	})
}

func succeed[T any](rc *requestContext, data T) {
	rc.writeJSON(http.StatusOK, workerapi.Envelope[T]{
		Data: &data, DurationMs: ms(time.Since(rc.start)), RequestID: rc.id,
	})
}

// ErrLeaving is the cause with which main ends the jobs that are left where SHUTDOWN_TIMEOUT is almost over.
var ErrLeaving = errors.New("this worker is leaving")

func (rc *requestContext) writeJSON(status int, body any) {
	b, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	rc.write(status, "application/json", b)
}

// write writes the answer. The first one stands: after it there is nothing left to say.
func (rc *requestContext) write(status int, mediaType string, body []byte) {
	if rc.written {
		return
	}
	rc.written, rc.status = true, status
	if rc.stream {
		rc.lastLine(status, body)
		return
	}
	rc.header(mediaType)
	rc.w.WriteHeader(status)
	// An error here is the client's connection, over which nothing can be reported.
	_, _ = rc.w.Write(body)
}

func (rc *requestContext) header(mediaType string) {
	h := rc.w.Header()
	h.Set("Content-Type", mediaType)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Request-Id", rc.id)
}

// ms returns a duration in milliseconds, to the microsecond.
func ms(d time.Duration) float64 { return math.Round(float64(d)/1e3) / 1e3 }
