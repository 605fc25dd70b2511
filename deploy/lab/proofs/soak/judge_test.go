package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func answered(r *row, status int, body string) result {
	return result{row: r, request: r.ask(0), to: enduring, status: status, id: "id", body: []byte(body)}
}

const (
	openPort = `{"data":{"state":"open"},"durationMs":1,"requestId":"id"}`
	refusal  = `{"error":"No.","durationMs":1,"requestId":"id"}`
)

func TestWrong(t *testing.T) {
	t.Parallel()
	open := tool("port-checker", 1, network, "a.com:1").holds(map[string]any{"state": "open"})
	refused := tool("port-checker", 1, 0, "x").answers(400)
	registration := tool("whois-lookup", 1, registry, "a.com")
	for name, c := range map[string]struct {
		result
		ok bool
	}{
		"right":                 {answered(open, 200, openPort), true},
		"another value":         {answered(open, 200, `{"data":{"state":"closed"},"durationMs":1,"requestId":"id"}`), false},
		"another status":        {answered(open, 502, refusal), false},
		"no JSON":               {answered(open, 200, "<html>"), false},
		"an error with 200":     {answered(open, 200, refusal), false},
		"another request's id":  {answered(open, 200, `{"data":{"state":"open"},"durationMs":1,"requestId":"x"}`), false},
		"a refusal":             {answered(refused, 400, refusal), true},
		"a refusal that passes": {answered(refused, 200, openPort), false},
		"a cut connection":      {result{row: open, request: open.ask(0), err: errors.New("EOF")}, false},
		"no place at the redirector": {answered(registration, 503,
			`{"error":"Too many registrations are being looked up at the moment.","durationMs":1,"requestId":"id"}`), true},
		"another 503 of a registration": {answered(registration, 503, refusal), false},
		"the redirector's words alone":  {answered(registration, 503, "Too many registrations"), false},
	} {
		if fault := wrong(c.result); (fault == "") != c.ok {
			t.Errorf("%s: %q", name, fault)
		}
	}
}

func TestExplains(t *testing.T) {
	t.Parallel()
	traced := tool("traceroute", 1, network|worker, "11.90.0.1").holds(map[string]any{"reached": true})
	broken := func(r *row, to pair, status int, body string) result {
		out := answered(r, status, body)
		out.to = to
		return out
	}
	refused := func(r *row, to pair, status int) result { return broken(r, to, status, refusal) }
	cut := result{row: traced, to: changing, err: errors.New("EOF")}
	lostWorker := fault{of: worker, pair: changing}
	linkDown, deadResolver := fault{of: network}, fault{of: resolver}
	open := tool("port-checker", 1, network|resolver, "a.com:1").holds(map[string]any{"state": "open"}).
		orWithout(network, map[string]any{"state": "filtered"})
	port := func(state string) result {
		return broken(open, enduring, 200, `{"data":{"state":"`+state+`"},"durationMs":1,"requestId":"id"}`)
	}
	for name, c := range map[string]struct {
		fault
		result
		want bool
	}{
		"the tool needs it":              {lostWorker, refused(traced, changing, 502), true},
		"the other pair":                 {lostWorker, refused(traced, enduring, 502), false},
		"a tool that does not need it":   {lostWorker, refused(tool("my-ip", 1, 0, ""), changing, 502), false},
		"never a failure of our own":     {lostWorker, refused(traced, changing, 500), false},
		"never a limit":                  {lostWorker, refused(traced, changing, 429), false},
		"a cut connection":               {lostWorker, cut, false},
		"of a killed gateway":            {fault{pair: changing, cut: true}, cut, true},
		"of the other one":               {fault{pair: enduring, cut: true}, cut, false},
		"what the service makes up for":  {fault{}, refused(traced, changing, 502), false},
		"a fault of both pairs explains": {linkDown, refused(tool("x", 1, network, "a"), enduring, 504), true},
		"what is true meanwhile":         {linkDown, port("filtered"), true},
		"what is untrue all the same":    {linkDown, port("closed"), false},
		"true of another fault":          {deadResolver, port("filtered"), false},
		"nothing is true meanwhile": {lostWorker, broken(traced, changing, 200,
			`{"data":{"reached":false},"durationMs":1,"requestId":"id"}`), false},
		"a page in place of an answer": {linkDown, broken(open, enduring, 200, "<html>"), false},
		"another request's id": {linkDown, broken(open, enduring, 200,
			`{"data":{"state":"filtered"},"durationMs":1,"requestId":"x"}`), false},
		"a failure without its envelope":  {linkDown, broken(open, enduring, 502, "Bad Gateway"), false},
		"a failure of another request's":  {linkDown, broken(open, enduring, 502, `{"error":"No.","durationMs":1,"requestId":"x"}`), false},
		"a failure with data and no word": {linkDown, broken(open, enduring, 502, openPort), false},
	} {
		if got := c.explains(c.result); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Every fault is brought, also after one that took longer than its share of the time; those for which there is none are
// reported.
func TestFaultsAreBroughtOrTold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		long    time.Duration // that the first takes
		brought int
		leftOut string
	}{
		"in time":                   {time.Second, 4, ""},
		"one takes all but the end": {30 * time.Second, 4, ""},
		"one takes all there is":    {51 * time.Second, 1, "second, third, fourth"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				brought := 0
				brings := func(name string, d time.Duration) fault {
					return fault{name: name, do: func(context.Context) error { brought++; wait(d); return nil }}
				}
				s := &soak{windows: &windows{}}
				ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
				defer cancel()
				err := s.breakThings(ctx, []fault{brings("first", c.long), brings("second", 3*time.Second),
					brings("third", 3*time.Second), brings("fourth", 3*time.Second)}, 10*time.Second)
				if brought != c.brought || (err == nil) != (c.leftOut == "") ||
					err != nil && !strings.Contains(err.Error(), c.leftOut) {
					t.Errorf("%d brought: %v", brought, err)
				}
			})
		})
	}
}

func TestWindows(t *testing.T) {
	t.Parallel()
	w := &windows{}
	over := w.open(fault{name: "over", grace: time.Second})
	w.close(over)
	w.open(fault{name: "going on"})
	for name, c := range map[string]struct {
		start, end time.Duration // from the end of the first, its grace included
		want       int
	}{
		"before both": {-time.Hour, -time.Minute, 0}, "across the end": {-time.Millisecond, time.Millisecond, 2},
		"after the end": {time.Millisecond, time.Second, 1},
	} {
		if got := len(w.during(over.to.Add(c.start), over.to.Add(c.end))); got != c.want {
			t.Errorf("%s: %d faults", name, got)
		}
	}
}

func TestGrowth(t *testing.T) {
	t.Parallel()
	start := time.Now()
	series := func(value func(i int) float64) (points []point) {
		for i := range 120 {
			points = append(points, point{start.Add(time.Duration(i+1) * time.Second), value(i)})
		}
		return points
	}
	m := measure{part: .1, amount: 5}
	for name, c := range map[string]struct {
		value func(i int) float64
		grew  bool
	}{
		"steady":        {func(int) float64 { return 100 }, false},
		"at the bound":  {func(i int) float64 { return []float64{100, 115}[i/90] }, false},
		"past it":       {func(i int) float64 { return []float64{100, 116}[i/90] }, true},
		"warms up":      {func(i int) float64 { return min(100, float64(i*4)) }, false},
		"a single peak": {func(i int) float64 { return map[bool]float64{true: 9000, false: 100}[i == 110] }, false},
	} {
		if g := m.growth(series(c.value), start, 2*time.Minute); !g.known || g.grew() != c.grew {
			t.Errorf("%s: %+v", name, g)
		}
	}
	if g := m.growth(series(func(int) float64 { return 0 })[:10], start, 2*time.Minute); g.known {
		t.Errorf("too few samples: %+v", g)
	}
}

// Every fault comes in each round, and every row can be requested.
func TestNothingIsLeftOut(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	s := &soak{stack: &stack{}, random: r, opts: options{length: shortest}}
	order, every := s.plan(shortest - calibration - ending)
	seen := map[string]bool{}
	for _, f := range order {
		seen[f.name] = true
	}
	if len(seen) != len(s.faults()) || every < 5*time.Second {
		t.Errorf("%d of %d faults in the shortest soak, one every %v", len(seen), len(s.faults()), every)
	}
	l := newLot(mix([]string{"/assets/a.js"}))
	drawn := map[*row]bool{}
	for range 50 * l.sum {
		drawn[l.draw(r)] = true
	}
	if len(drawn) != len(l.rows) {
		t.Errorf("%d of %d rows drawn", len(drawn), len(l.rows))
	}
	tools := map[string]bool{}
	for _, row := range l.rows {
		for n := range uint64(5) {
			if q := row.ask(n); q.path == "" || q.method == "" {
				t.Errorf("%s: %+v", row.name, q)
			}
		}
		tools[row.name] = true
	}
	if len(tools) != 17+2 {
		t.Errorf("the mix has %d kinds of requests, want seventeen tools, samples and pages", len(tools))
	}
}

func TestPercentiles(t *testing.T) {
	t.Parallel()
	var took []time.Duration
	for i := range 100 {
		took = append(took, time.Duration(i+1)*time.Millisecond)
	}
	got := []string{ms(took, 50), ms(took, 99), ms(took, 100), ms(nil, 50)}
	if want := []string{"51.0", "100.0", "100.0", "–"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
