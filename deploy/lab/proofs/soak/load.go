package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"diagnostics/lab"
)

// load sends requests at a steady rate, whatever the answers, as independent visitors do.
type load struct {
	stack  *stack
	judge  *judge
	lot    *lot
	client *http.Client
	random *rand.Rand

	asked    atomic.Uint64
	asking   sync.WaitGroup
	inFlight atomic.Int64
	busy     atomic.Int64 // time of all answers together, in nanoseconds
}

// Of a hundred visitors some leave before their answer is there. A visitor's patience is longer than any run.
const (
	leaveEarly = 2 // of a hundred
	patience   = 45 * time.Second
	// Three of four go to the pair that endures.
	toEnduring = 3
	ofPairs    = 4
)

func newLoad(s *stack, j *judge, r *rand.Rand) *load {
	return &load{stack: s, judge: j, client: s.lab.HTTPClient(), random: r}
}

// findAssets makes the mix, with the files that the first page names: their paths have a hash of what is in them.
func (l *load) findAssets(ctx context.Context) error {
	page := result{request: get("/"), to: enduring}
	l.do(ctx, &page, "11.200.0.1")
	var paths []string
	for _, m := range regexp.MustCompile(`(?:href|src)="(/assets/[^"]+)"`).FindAllSubmatch(page.body, -1) {
		paths = append(paths, string(m[1]))
	}
	if page.err != nil {
		return page.err
	}
	if len(paths) == 0 {
		return fmt.Errorf("the first page names no files: %.300s", page.body)
	}
	l.lot = newLot(mix(paths))
	return nil
}

// ask sends requests at a rate until ctx ends; those under way go on under life.
func (l *load) ask(ctx, life context.Context, rate float64) {
	start, sent := time.Now(), 0
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		for due := int(rate * time.Since(start).Seconds()); sent < due; sent++ {
			l.one(life)
		}
	}
}

// one starts one request of the mix.
func (l *load) one(ctx context.Context) {
	row := l.lot.draw(l.random)
	stays := patience
	if l.random.IntN(100) < leaveEarly {
		stays = time.Duration(1+l.random.IntN(1500)) * time.Millisecond
	}
	from, to := client(l.random), changing
	if l.random.IntN(ofPairs) < toEnduring {
		to = enduring
	}
	n := l.asked.Add(1)
	l.inFlight.Add(1)
	l.asking.Go(func() {
		defer l.inFlight.Add(-1)
		r := result{row: row, request: row.ask(n), to: to}
		ctx, cancel := context.WithTimeout(ctx, stays)
		defer cancel()
		l.do(ctx, &r, from)
		r.left = ctx.Err() != nil && stays < patience || errors.Is(ctx.Err(), context.Canceled)
		l.busy.Add(int64(r.end.Sub(r.start)))
		l.judge.note(r)
	})
}

func (l *load) server(to pair) *lab.Server {
	if to == enduring {
		return l.stack.gateway
	}
	return l.stack.changing.Load()
}

func (l *load) do(ctx context.Context, r *result, from string) {
	r.start = time.Now()
	defer func() { r.end = time.Now() }()
	req, err := http.NewRequestWithContext(ctx, r.request.method, "http://"+l.server(r.to).Addr+r.request.path,
		strings.NewReader(r.request.body))
	if err != nil {
		r.err = err
		return
	}
	req.Header.Set("X-Real-IP", from)
	if r.request.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := l.client.Do(req)
	if err != nil {
		r.err = err
		return
	}
	defer resp.Body.Close()
	var body bytes.Buffer
	_, r.err = io.Copy(&body, resp.Body)
	r.status, r.id, r.body = resp.StatusCode, resp.Header.Get("X-Request-Id"), body.Bytes()
}
