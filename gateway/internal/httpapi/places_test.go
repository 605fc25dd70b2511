package httpapi

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/limits/ratelimit"
	"diagnostics/gateway/internal/limits/requests"
	"diagnostics/gateway/internal/remote"
	"diagnostics/gateway/internal/remote/places"
	"diagnostics/gateway/internal/tool"
	"diagnostics/shared/progress"
	"diagnostics/shared/waittest"
)

const (
	tokenOne = "token-of-the-place-one"
	tokenTwo = "token-of-the-place-two"
)

// describedEcho is the tool echo, with a result and steps that places can hold answers against.
const describedEcho = `operation:
  summary: Do nothing
  input: {type: string}
  requestExamples: {}
  steps:
    anyOf:
    - {$ref: '#/components/schemas/StageStep'}
    - type: object
      required: [kind, part, atMs]
      properties:
        kind: {const: part}
        part: {type: object, required: [n], properties: {n: {type: integer}}}
        atMs: {$ref: '#/components/schemas/AtMs'}
schemas:
  Echo:
    type: object
    required: [target]
    properties:
      target: {type: string}
      seen: {type: [string, 'null']}
`

// echoed is the result of the described echo, and part its step.
type echoed struct {
	Target string  `json:"target"`
	Seen   *string `json:"seen,omitempty"`
}

type part struct {
	N int `json:"n"`
}

func describe(do run) func(*Config) {
	typed := func(ctx context.Context, to fakeTarget) (e echoed, err error) {
		got, err := do(ctx, to)
		if err != nil {
			return e, err
		}
		text, err := json.Marshal(got)
		if err != nil {
			return e, err
		}
		return e, json.Unmarshal(text, &e)
	}
	return func(c *Config) {
		c.Tools = []tool.Tool{
			tool.New(tool.Spec[fakeTarget, echoed]{Slug: "echo", OpenAPI: describedEcho, Parse: parseFake, Run: typed,
				Steps: map[string]reflect.Type{"part": reflect.TypeFor[part]()},
				About: func(to fakeTarget, e echoed) bool { return e.Target == string(to) }}),
			tool.New(tool.Spec[fakeTarget, any]{Slug: "mine", OpenAPI: fakeOpenAPI("Mine"), Parse: parseFake, Run: echoRun,
				OnlyHere: true}),
			workerTool(echoRun),
		}
		c.Disabled = nil
	}
}

// setOf is the place "own" with others at these URLs, by ID.
func setOf(t *testing.T, others map[string]string) *places.Set {
	t.Helper()
	set := places.New(places.Config{
		Here:        places.Place{ID: "own", Name: "Our own"},
		Key:         func(context.Context) []byte { return []byte("a key that no peer holds") },
		Translation: func() []netip.Prefix { return nil },
		OwnFault:    func(error, netip.Addr, time.Time) error { return nil },
		Log:         newDiscard(), Every: time.Hour,
	})
	t.Cleanup(set.Close)
	var entries []places.Entry
	for id, url := range others {
		base, err := remote.ParseBase("the place", url)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, places.Entry{Place: places.Place{ID: id, Name: "Place " + id}, URL: base, Token: tokenOne})
	}
	slices.SortFunc(entries, func(a, b places.Entry) int { return strings.Compare(a.ID, b.ID) })
	if err := set.Replace(entries); err != nil {
		t.Fatal(err)
	}
	return set
}

// peerEdge is an edge with the listener for other places, as the place "fra".
func peerEdge(t *testing.T, do run, change ...func(*Config)) *edge {
	t.Helper()
	own := places.New(places.Config{Here: places.Place{ID: "fra", Name: "Frankfurt"}})
	t.Cleanup(own.Close)
	e := newEdge(t, do, append([]func(*Config){describe(do), func(c *Config) {
		c.Places, c.Peers = own, NewPeers(map[string][]string{"one": {tokenOne}, "two": {tokenTwo}})
	}}, change...)...)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := e.PeerServer()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(e.PeerListener(l))
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	e.addr = l.Addr().String()
	return e
}

// calledEdge is an edge that has other places at these URLs.
func calledEdge(t *testing.T, others map[string]string, change ...func(*Config)) *edge {
	t.Helper()
	set := setOf(t, others)
	return newEdge(t, echoRun, append([]func(*Config){describe(echoRun), func(c *Config) {
		c.Places, c.RunLimit = set, time.Minute // as long as a busy machine may take
	}}, change...)...)
}

const bearerOne = "Authorization: Bearer " + tokenOne

// peerBody is the body of a request of another place for an input.
func peerBody(input, more string) string {
	return `{"input":"` + input + `","client":"c1","group":"g1","budgetMs":2000` + more + `}`
}

func (e *edge) peer(t *testing.T, slug, body string, headers ...string) *answer {
	t.Helper()
	return e.send(t, "POST", "/peer/tools/"+slug, body, headers...)
}

func TestARunAtAnotherPlace(t *testing.T) {
	t.Parallel()
	var got tool.Caller
	peer := peerEdge(t, func(ctx context.Context, to fakeTarget) (any, error) {
		got = tool.CallerOf(ctx)
		progress.Report(ctx, "part", "1", map[string]int{"n": 1})
		return map[string]any{"target": string(to), "secret": "not described", "seen": "x"}, nil
	})
	e := calledEdge(t, map[string]string{"fra": "http://" + peer.addr})
	a := e.post(t, "echo", `{"input":"example.com","options":{"place":"fra"}}`)
	data, _ := a.envelope(t, http.StatusOK)
	if fmt.Sprint(data) != "map[place:map[id:fra name:Place fra] seen:x target:example.com]" {
		t.Errorf("data %v", data)
	}
	if a.Header.Get("X-RateLimit-Limit") != "30" {
		t.Error("no rate-limit headers of the called place")
	}
	if got.Place != "one" || strings.Contains(got.Client, "127.0.0") || !strings.HasPrefix(got.Client, "one/") {
		t.Errorf("the caller at the peer is %+v", got)
	}
	for _, own := range []string{`{"input":"x.example"}`, `{"input":"x.example","options":{"place":"own"}}`,
		`{"input":"x.example","options":{"place":null}}`} {
		data, _ := e.post(t, "echo", own).envelope(t, http.StatusOK)
		if fmt.Sprint(data["place"]) != "map[id:own name:Our own]" {
			t.Errorf("%s: %v", own, data)
		}
	}
	lines := strings.Split(strings.TrimSpace(string(e.post(t, "echo",
		`{"input":"example.com","options":{"place":"fra"}}`, "Accept: application/x-ndjson").body)), "\n")
	var last struct {
		Data   map[string]any `json:"data"`
		Status int            `json:"status"`
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || last.Status != 200 ||
		last.Data["target"] != "example.com" || fmt.Sprint(last.Data["place"]) != "map[id:fra name:Place fra]" {
		t.Errorf("%v in %q", err, lines)
	}
}

func TestTheOptionPlace(t *testing.T) {
	t.Parallel()
	e := calledEdge(t, map[string]string{"fra": "http://127.0.0.1:1", "sin": "http://127.0.0.1:1"})
	none := newEdge(t, nil)
	for _, tt := range []struct {
		e             *edge
		slug, options string
		want          string
	}{
		{e, "echo", `{"place":"nyc"}`, "one of own, fra, sin"},
		{e, "echo", `{"place":"all"}`, "one of own, fra, sin"},
		{e, "echo", `{"place":""}`, "one of own, fra, sin"},
		{e, "echo", `{"place":7}`, "one of own, fra, sin"},
		{e, "echo", `{"place":["fra"]}`, "one of own, fra, sin"},
		{e, "mine", `{"place":"fra"}`, "your own request"},
		{e, "mine", `{"place":"own"}`, "your own request"},
		{none, "echo", `{"place":"fra"}`, "no places"},
		{none, "echo", `{"place":7}`, "no places"},
	} {
		a := tt.e.post(t, tt.slug, `{"input":"example.com","options":`+tt.options+`}`)
		if _, sentence := a.envelope(t, http.StatusBadRequest); !strings.Contains(sentence, tt.want) ||
			a.Header.Get("X-Invalid-Field") != "options.place" {
			t.Errorf("%s %s: %s", tt.slug, tt.options, a.body)
		}
	}
	data, _ := none.post(t, "echo", `{"input":"example.com","options":{"place":null}}`).envelope(t, http.StatusOK)
	if _, there := data["place"]; there {
		t.Error("a place where there is none")
	}
}

func TestThePeerRoute(t *testing.T) {
	t.Parallel()
	e := peerEdge(t, echoRun)
	big := peerBody(strings.Repeat("x", 10), `,"options":{"x":"`+strings.Repeat("y", MaxPeerBodyBytes-150)+`"}`)
	for _, tt := range []struct {
		name, slug, body string
		headers          []string
		status           int
	}{
		{"all right", "echo", peerBody("example.com", ""), []string{bearerOne}, 200},
		{"larger than a client's", "echo", big, []string{bearerOne}, 200},
		{"too large", "echo", big[:len(big)-2] + strings.Repeat("y", 200) + `"}}`, []string{bearerOne}, 413},
		{"no token", "echo", peerBody("example.com", ""), nil, 401},
		{"another token", "echo", peerBody("example.com", ""), []string{"Authorization: Bearer " + tokenOne + "x"}, 401},
		{"another scheme", "echo", peerBody("example.com", ""), []string{"Authorization: Basic " + tokenOne}, 401},
		{"two headers", "echo", peerBody("example.com", ""), []string{bearerOne, bearerOne}, 401},
		{"the token comes first", "none", "x", []string{"Content-Type: text/plain"}, 401},
		{"media type", "echo", "x", []string{bearerOne, "Content-Type: text/plain"}, 415},
		{"no JSON", "echo", "x", []string{bearerOne}, 400},
		{"an unknown tool", "none", peerBody("example.com", ""), []string{bearerOne}, 404},
		{"a tool of the client itself", "mine", peerBody("example.com", ""), []string{bearerOne}, 404},
		{"a tool without its worker", "probe", peerBody("example.com", ""), []string{bearerOne}, 501},
		{"a third place", "echo", peerBody("example.com", `,"options":{"place":"fra"}`), []string{bearerOne}, 400},
		{"no third place", "echo", peerBody("example.com", `,"options":{"place":null}`), []string{bearerOne}, 200},
		{"denied here", "echo", peerBody("denied.example.com", ""), []string{bearerOne}, 400},
		{"no client", "echo", `{"input":"example.com","budgetMs":100}`, []string{bearerOne}, 400},
		{"an empty client", "echo", `{"input":"example.com","client":""}`, []string{bearerOne}, 400},
		{"a client that would break keys", "echo", `{"input":"example.com","client":"a|b"}`, []string{bearerOne}, 400},
		{"a group of another type", "echo", `{"input":"example.com","client":"a","group":7}`, []string{bearerOne}, 400},
		{"no group, no budget", "echo", `{"input":"example.com","client":"a"}`, []string{bearerOne}, 200},
		{"no time", "echo", `{"input":"example.com","client":"a","budgetMs":0}`, []string{bearerOne}, 400},
		{"time of another type", "echo", `{"input":"example.com","client":"a","budgetMs":"1"}`, []string{bearerOne}, 400},
		{"more time than a run has", "echo", `{"input":"example.com","client":"a","budgetMs":1e300}`, []string{bearerOne}, 200},
	} {
		a := e.peer(t, tt.slug, tt.body, tt.headers...)
		data, _ := a.envelope(t, tt.status)
		if tt.status == 200 && fmt.Sprint(data["place"]) != "map[id:fra name:Frankfurt]" {
			t.Errorf("%s: %s", tt.name, a.body)
		}
		if (a.Header.Get("WWW-Authenticate") == "Bearer") != (tt.status == 401) {
			t.Errorf("%s: WWW-Authenticate %q", tt.name, a.Header.Get("WWW-Authenticate"))
		}
	}
	for _, path := range []string{"/", "/healthz", "/readyz", "/api/openapi.yaml", "/api/tools/echo", "/tools/echo",
		"/metrics"} {
		e.send(t, "GET", path, "", bearerOne).envelope(t, http.StatusNotFound)
	}
	e.send(t, "GET", "/peer/tools/echo", "", bearerOne).envelope(t, http.StatusMethodNotAllowed)
	ready := e.send(t, "GET", places.PathReady, "", bearerOne)
	if ready.StatusCode != 200 || strings.TrimSpace(string(ready.body)) !=
		`{"status":"ready","place":{"id":"fra","name":"Frankfurt"}}` {
		t.Errorf("%d %s", ready.StatusCode, ready.body)
	}
	e.Drain()
	if got := e.send(t, "GET", places.PathReady, "", bearerOne).StatusCode; got != 503 {
		t.Errorf("draining: %d", got)
	}
}

// Nothing of a body is read before the token is checked.
func TestTheTokenComesBeforeTheBody(t *testing.T) {
	t.Parallel()
	e := peerEdge(t, echoRun)
	conn, err := net.Dial("tcp", e.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	_, _ = io.WriteString(conn, "POST /peer/tools/echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"+
		"Content-Length: 1000\r\n\r\n")
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || resp.StatusCode != http.StatusUnauthorized || !resp.Close {
		t.Errorf("%v, %v", resp, err)
	}
}

// Tokens are replaced under traffic; a place that has none any more is cut off.
func TestTokensAreReplaced(t *testing.T) {
	t.Parallel()
	e := peerEdge(t, echoRun)
	ask := func(token string) int {
		return e.peer(t, "echo", peerBody("example.com", ""), "Authorization: Bearer "+token).StatusCode
	}
	e.config.Peers.SetTokens(map[string][]string{"two": {tokenTwo, "another-token-of-two"}})
	for token, want := range map[string]int{tokenOne: 401, tokenTwo: 200, "another-token-of-two": 200} {
		if got := ask(token); got != want {
			t.Errorf("%s: %d, want %d", token, got, want)
		}
	}
}

// The run ends by the budget.
func TestTheBudgetEndsARun(t *testing.T) {
	t.Parallel()
	e := peerEdge(t, func(ctx context.Context, _ fakeTarget) (any, error) {
		if end, is := ctx.Deadline(); !is || time.Until(end) > 100*time.Millisecond {
			t.Errorf("the run ends at %v", end)
		}
		<-ctx.Done()
		return nil, ctx.Err()
	})
	e.peer(t, "echo", `{"input":"example.com","client":"c","budgetMs":100}`, bearerOne).envelope(t, 504)
}

// charges records what is charged.
type charges struct {
	mu   sync.Mutex
	keys []string
}

func (c *charges) Take(_ context.Context, stages ...ratelimit.Stage) (ratelimit.Decision, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, stage := range stages {
		for _, charge := range stage {
			if charge.Limit.Requests > 0 {
				c.keys = append(c.keys, fmt.Sprintf("%s:%d", charge.Key, charge.Limit.Requests))
			}
		}
	}
	return ratelimit.Decision{Allowed: true, Limit: 30, Remaining: 29}, nil
}

// The called place charges all buckets of its client; the other one its target alone, half of that for one place.
func TestWhoChargesWhat(t *testing.T) {
	t.Parallel()
	per := func(n int) ratelimit.Limit { return ratelimit.Limit{Requests: n, Window: time.Minute} }
	limited := func(l *charges) func(*Config) {
		return func(c *Config) {
			c.Limiter, c.Limits = l, requests.Limits{Tool: per(30), Client: per(120), Target: per(300), Ports: per(20)}
		}
	}
	var there, here charges
	peer := peerEdge(t, echoRun, limited(&there))
	e := calledEdge(t, map[string]string{"fra": "http://" + peer.addr}, limited(&here))
	e.post(t, "echo", `{"input":"example.com","options":{"place":"fra"}}`).envelope(t, http.StatusOK)
	if got, want := fmt.Sprint(here.keys),
		"[tool|127.0.0.1|echo|example.com:30 client|127.0.0.1:120 target|example.com:300]"; got != want {
		t.Errorf("here %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(there.keys), "[peer|one|example.com:150 target|example.com:300]"; got != want {
		t.Errorf("there %s, want %s", got, want)
	}
}

// One place has half of the slots for all its clients; the rest is left to others.
func TestAPlaceHasHalfOfTheSlots(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	e := peerEdge(t, func(ctx context.Context, to fakeTarget) (any, error) {
		if to == "wait" {
			<-release
		}
		return map[string]string{"target": string(to)}, nil
	}, func(c *Config) { c.MaxInFlight, c.MaxInFlightPerClient = 4, 2 })
	var running sync.WaitGroup
	for i := range 2 {
		running.Go(func() {
			e.peer(t, "echo", fmt.Sprintf(`{"input":"wait","client":"c%d"}`, i), bearerOne)
		})
	}
	waittest.Until(t, "both runs have a slot", func() bool { return e.slots.Total() == 2 })
	a := e.peer(t, "echo", `{"input":"x","client":"c9"}`, bearerOne)
	a.envelope(t, 503)
	if a.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	e.peer(t, "echo", `{"input":"x","client":"c9"}`, "Authorization: Bearer "+tokenTwo).envelope(t, 200)
	close(release)
	running.Wait()
	if got := e.slots.Total(); got != 0 {
		t.Errorf("%d slots are left", got)
	}
}

// Two hundred runs at once through one place.
func TestTwoHundredRunsAtOnce(t *testing.T) {
	t.Parallel()
	var there sync.WaitGroup
	there.Add(200)
	wide := func(c *Config) { c.MaxInFlight, c.MaxInFlightPerClient, c.MaxConnections = 512, 0, 8192 }
	peer := peerEdge(t, func(ctx context.Context, to fakeTarget) (any, error) {
		there.Done()
		there.Wait() // all of them are here
		return map[string]string{"target": string(to)}, nil
	}, wide, func(c *Config) { c.RunLimit = 20 * time.Second })
	e := calledEdge(t, map[string]string{"fra": "http://" + peer.addr}, wide,
		func(c *Config) { c.RunLimit = 20 * time.Second })
	var running sync.WaitGroup
	for i := range 200 {
		running.Go(func() {
			body := fmt.Sprintf(`{"input":"t%d.example.com","options":{"place":"fra"}}`, i)
			if a := e.post(t, "echo", body); a.StatusCode != http.StatusOK {
				t.Errorf("%d: %s", a.StatusCode, a.body)
			}
		})
	}
	running.Wait()
}

// Statuses of the other place, and what they become. Its own sentence is never passed on.
func TestStatusesOfAPlace(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		status, want int
		header, says string
	}{
		{400, 400, "", "Place fra"}, {401, 502, "", "Place fra"}, {403, 502, "", "Place fra"},
		{404, 501, "", "This place does not have this tool yet."}, {413, 502, "", ""}, {415, 502, "", ""},
		{429, 503, "7", "7 seconds"}, {500, 502, "", "Place fra"}, {501, 501, "", "Place fra"}, {502, 502, "", "Place fra"},
		{503, 503, "9", "9 seconds"}, {504, 504, "", "Place fra"}, {302, 502, "", "Place fra"}, {204, 502, "", "Place fra"},
	} {
		for _, accept := range []string{"application/json", "application/x-ndjson"} {
			url := fakePlace(t, func(w http.ResponseWriter, r *http.Request) {
				if tt.header != "" {
					w.Header().Set("Retry-After", tt.header)
				}
				w.Header().Set("Location", "http://"+r.Host+"/elsewhere")
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(tt.status)
				if tt.status != 204 {
					_, _ = io.WriteString(w, `{"error":"What it said.","durationMs":1,"requestId":"x"}`)
				}
			})
			e := calledEdge(t, map[string]string{"fra": url})
			a := e.post(t, "echo", `{"input":"example.com","options":{"place":"fra"}}`, "Accept: "+accept)
			var sentence string
			if accept == "application/json" || tt.want == http.StatusServiceUnavailable { // no slot there
				_, sentence = a.envelope(t, tt.want)
			} else {
				steps, last := linesOf(t, a)
				sentence, _ = last["error"].(string)
				if last["status"] != float64(tt.want) || len(steps) == 0 || steps[len(steps)-1]["kind"] != "conclusion" {
					t.Errorf("%d: %s", tt.status, a.body)
				}
			}
			if !strings.Contains(sentence, tt.says) || strings.Contains(sentence, "What it said") {
				t.Errorf("%d: %s", tt.status, sentence)
			}
			if got := a.Header.Get("Retry-After"); got != tt.header {
				t.Errorf("%d: Retry-After %q", tt.status, got)
			}
		}
	}
}

// fakePlace is a place that answers runs by h.
func fakePlace(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == places.PathReady:
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"status":"ready","place":{"id":"fra"}}`)
		case strings.HasPrefix(r.URL.Path, places.PathTools):
			h(w, r)
		default:
			t.Errorf("a request for %s", r.URL.Path)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// Whatever a place sends, a client gets an answer of the contract in time.
func TestPlacesThatLie(t *testing.T) {
	t.Parallel()
	data := func(text string) string { return `{"data":` + text + `,"durationMs":1,"requestId":"x"}` }
	const good = `"place":{"id":"fra","name":"<b>"}`
	for name, tt := range map[string]struct {
		send   func(http.ResponseWriter)
		status int
	}{
		"good":                  {text(data(`{"target":"example.com",` + good + `}`)), 200},
		"another place":         {text(data(`{"target":"example.com","place":{"id":"sin"}}`)), 502},
		"no place":              {text(data(`{"target":"example.com"}`)), 502},
		"another tool's result": {text(data(`{"ip":"192.0.2.1","version":4,` + good + `}`)), 502},
		"another target":        {text(data(`{"target":"example.org",` + good + `}`)), 502},
		"another type":          {text(data(`{"target":7,` + good + `}`)), 502},
		"a member twice":        {text(data(`{"target":"example.com","target":"b",` + good + `}`)), 502},
		"a list":                {text(data(`[1]`)), 502},
		"no data":               {text(`{"durationMs":1}`), 502},
		"an error with 200":     {text(`{"error":"no"}`), 502},
		"not JSON":              {text(`<html>`), 502},
		"two values":            {text(data(`{"target":"example.com",`+good+`}`) + "{}"), 502},
		"two mebibytes":         {text(data(`{"target":"` + strings.Repeat("x", 2<<20) + `",` + good + `}`)), 502},
		"another media type": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, data(`{"target":"example.com",`+good+`}`))
		}, 502},
		"a hang": {func(http.ResponseWriter) {}, 504},
		"an endless answer": {func(w http.ResponseWriter) {
			text(`{"data":"`)(w)
			for time.Now().Before(time.Now().Add(time.Minute)) {
				if _, err := io.WriteString(w, strings.Repeat("x", 1<<16)); err != nil {
					return
				}
			}
		}, 502},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := fakePlace(t, func(w http.ResponseWriter, r *http.Request) {
				if tt.send(w); tt.status == 504 {
					_, _ = io.Copy(io.Discard, r.Body)
					<-r.Context().Done()
				}
			})
			e := calledEdge(t, map[string]string{"fra": url})
			if tt.status == 504 {
				e.config.RunLimit = 2 * time.Second
			}
			a := e.post(t, "echo", `{"input":"example.com","options":{"place":"fra"}}`)
			data, _ := a.envelope(t, tt.status)
			if tt.status == 200 && fmt.Sprint(data) != "map[place:map[id:fra name:Place fra] target:example.com]" {
				t.Errorf("%v", data)
			}
		})
	}
}

func text(body string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body)
	}
}

func TestStreamsThatLie(t *testing.T) {
	t.Parallel()
	const last = `{"data":{"target":"example.com","place":{"id":"fra"}},"durationMs":1,"requestId":"x","status":200}` + "\n"
	const step = `{"step":{"kind":"part","part":{"n":1,"more":"dropped"},"atMs":1}}` + "\n"
	for name, tt := range map[string]struct {
		lines  []string
		status int
		steps  []string
	}{
		"good":            {[]string{step, last}, 200, []string{`"part":{"n":1}`}},
		"another kind":    {[]string{`{"step":{"kind":"hop","hop":{"ttl":1},"atMs":1}}` + "\n", last}, 200, nil},
		"another type":    {[]string{`{"step":{"kind":"part","part":{"n":"1"},"atMs":1}}` + "\n", last}, 200, nil},
		"no time":         {[]string{`{"step":{"kind":"part","part":{"n":1}}}` + "\n", last}, 200, []string{`"part":{"n":1}`}},
		"too long a step": {[]string{`{"step":{"kind":"part","part":{"n":1,"hop":"` + strings.Repeat("x", 17<<10) + `"}}}` + "\n", last}, 200, nil},
		"a private whom": {[]string{`{"step":{"kind":"stage","stage":"asking","whom":"the router 10.20.3.2","boundMs":1}}` + "\n", last},
			200, []string{`"whom":"the router a hidden address"`}},
		"too many lines":  {[]string{strings.Repeat(`{"step":{}}`+"\n", 5000), last}, 502, nil},
		"a stage":         {[]string{`{"step":{"kind":"stage","stage":"reading","atMs":1,"boundMs":1}}` + "\n", last}, 200, []string{`"stage":"reading"`}},
		"an unknown line": {[]string{`{"news":1}` + "\n", last}, 200, nil},
		"no end":          {[]string{step}, 502, nil},
		"a late failure":  {[]string{step, `{"error":"It failed.","durationMs":1,"requestId":"x","status":502}` + "\n"}, 502, nil},
		"too long a line": {[]string{`{"step":"` + strings.Repeat("x", 1<<20) + `"}` + "\n", last}, 502, nil},
		"too much":        {[]string{strings.Repeat(`{"step":{"kind":"`+strings.Repeat("x", 1000)+`"}}`+"\n", 4500), last}, 502, nil},
		"another place":   {[]string{`{"data":{"target":"example.com","place":{"id":"x"}},"status":200}` + "\n"}, 502, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := calledEdge(t, map[string]string{"fra": fakePlace(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", progress.MediaType)
				for _, line := range tt.lines {
					_, _ = io.WriteString(w, line)
					_ = http.NewResponseController(w).Flush()
					time.Sleep(30 * time.Millisecond) // a step that comes with the end may be left out
				}
			})})
			a := e.post(t, "echo", `{"input":"example.com","options":{"place":"fra"}}`, "Accept: application/x-ndjson")
			body := string(a.body)
			if !strings.Contains(body, fmt.Sprintf(`"status":%d`, tt.status)) || strings.Contains(body, "dropped") ||
				strings.Contains(body, `"hop"`) {
				t.Errorf("%d %s", a.StatusCode, body)
			}
			for _, want := range tt.steps {
				if !strings.Contains(body, want) {
					t.Errorf("no %s in %s", want, body)
				}
			}
		})
	}
}

// A peer's host is refused as a target.
// A failure at another place is concluded here, of the code and the arguments that it sends.
func TestFailuresOfAPlace(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		conclusion    string
		status        int
		state, code   string
		message, says string // of the conclusion and of the last line
	}{
		"the target's": {`{"state":"ok","code":"NAME_NOT_FOUND","message":"<b>said","brief":"x","args":{"host":"a.example","x":1}}`,
			400, "fail", "NAME_NOT_FOUND", "a.example does not exist.", "Seen from Place fra: a.example does not exist."},
		"a provider's": {`{"state":"fail","code":"ASN_TIMEOUT","message":"said","brief":"x","args":{}}`,
			504, "unknown", "ASN_TIMEOUT", fault.Rows.Sentence("ASN_TIMEOUT", nil), "Seen from Place fra: The ASN service"},
		"of that host": {`{"state":"fail","code":"SHORTAGE_HERE","message":"said","brief":"x","args":{}}`,
			503, "unknown", "SHORTAGE_HERE", fault.Rows.Sentence("SHORTAGE_HERE", nil), "Seen from Place fra: This service"},
		"not known here": {`{"state":"fail","code":"NEW_CODE","message":"said","brief":"x","args":{}}`,
			502, "unknown", "PLACE_SEES", "Seen from Place fra: The diagnostic failed.",
			"Seen from Place fra: The diagnostic failed."},
	} {
		for _, accept := range []string{"application/json", "application/x-ndjson"} {
			t.Run(name+" "+accept, func(t *testing.T) {
				t.Parallel()
				e := calledEdge(t, map[string]string{"fra": fakePlace(t, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", progress.MediaType)
					_, _ = fmt.Fprintf(w, `{"step":{"kind":"conclusion","conclusion":%s,"atMs":1}}`+"\n"+
						`{"error":"said","durationMs":1,"requestId":"x","status":%d}`+"\n", tt.conclusion, tt.status)
				})})
				a := e.post(t, "echo", `{"input":"example.com","options":{"place":"fra"}}`, "Accept: "+accept)
				if strings.Contains(string(a.body), "said") {
					t.Errorf("a sentence of the place: %s", a.body)
				}
				if accept == "application/json" {
					if _, sentence := a.envelope(t, tt.status); !strings.HasPrefix(sentence, tt.says) {
						t.Errorf("%q, want %q", sentence, tt.says)
					}
					return
				}
				steps, last := linesOf(t, a)
				if len(steps) == 0 || last["status"] != float64(tt.status) {
					t.Fatalf("%s", a.body)
				}
				got, _ := steps[len(steps)-1]["conclusion"].(map[string]any)
				if got["state"] != tt.state || got["code"] != tt.code || got["message"] != tt.message {
					t.Errorf("%v, want %s %s %q", got, tt.state, tt.code, tt.message)
				}
			})
		}
	}
}

func TestPlacesAreNoTargets(t *testing.T) {
	t.Parallel()
	e := calledEdge(t, nil, func(c *Config) { c.OwnPlace = func(key string) bool { return key == "fra.example.net" } })
	e.post(t, "echo", `{"input":"fra.example.net"}`).envelope(t, 400)
	e.post(t, "echo", `{"input":"sub.fra.example.net"}`).envelope(t, 200)
}

func TestReadyNamesPlaces(t *testing.T) {
	t.Parallel()
	e := calledEdge(t, map[string]string{"fra": fakePlace(t, nil), "sin": "http://127.0.0.1:1"})
	want := `"places":{"fra":"ok","sin":"down"}`
	waittest.Until(t, want, func() bool { return strings.Contains(string(e.send(t, "GET", "/readyz", "").body), want) })
	if body := string(newEdge(t, nil).send(t, "GET", "/readyz", "").body); strings.Contains(body, "places") {
		t.Error(body)
	}
}

// A lost place fails at once, with its name; the tool here goes on.
func TestALostPlace(t *testing.T) {
	t.Parallel()
	e := calledEdge(t, map[string]string{"fra": "http://127.0.0.1:1"})
	_, sentence := e.post(t, "echo", `{"input":"example.com","options":{"place":"fra"}}`).envelope(t, 502)
	if !strings.Contains(sentence, "Place fra") {
		t.Error(sentence)
	}
	e.post(t, "echo", `{"input":"example.com"}`).envelope(t, 200)
	if strings.Contains(e.log.String(), "example.com") {
		t.Error("the log holds the target")
	}
}

// A client who leaves ends the run at the other place.
func TestALeavingClientEndsTheRunThere(t *testing.T) {
	t.Parallel()
	began, ended := make(chan struct{}), make(chan struct{})
	peer := peerEdge(t, func(ctx context.Context, _ fakeTarget) (any, error) {
		close(began)
		<-ctx.Done()
		close(ended)
		return nil, fault.New(fault.Upstream, "ASN_FAILED", nil)
	})
	e := calledEdge(t, map[string]string{"fra": "http://" + peer.addr}, func(c *Config) { c.RunLimit = time.Minute })
	conn, err := net.Dial("tcp", e.addr)
	if err != nil {
		t.Fatal(err)
	}
	body := `{"input":"example.com","options":{"place":"fra"}}`
	_, _ = fmt.Fprintf(conn, "POST /api/tools/echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\n\r\n%s", len(body), body)
	<-began
	_ = conn.Close()
	<-ended
}
