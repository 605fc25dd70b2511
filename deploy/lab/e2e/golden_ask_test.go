//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"diagnostics/lab"
	"diagnostics/lab/internal/golden"
)

// measurements is how often a measurement is made at most. A busy machine may lose a packet of one.
const measurements = 4

// sharedFor is longer than the worker shares one result among requests for the same target.
const sharedFor = 3 * time.Second

// entry sends a request once, a measurement until it is the one that is kept. One that is recorded must come out
// equal twice in a row.
func (r recording) entry(ctx context.Context, server *lab.Server, a asked, kept map[string]string) (
	e golden.Entry, err error,
) {
	e, err = r.record(ctx, server, a)
	want, known := kept[e.Title]
	if !r.measured || !known && !*update {
		return e, err
	}
	for range measurements - 1 {
		if err != nil || e.Text == want {
			return e, err
		}
		if *update {
			want = e.Text
		}
		if err := sleep(ctx, sharedFor); err != nil {
			return e, err
		}
		e, err = r.record(ctx, server, a)
	}
	if err == nil && *update && e.Text != want {
		err = fmt.Errorf("another answer each time: %s\n%s", e.Title, golden.Diff(want, e.Text))
	}
	return e, err
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r recording) record(ctx context.Context, server *lab.Server, a asked) (golden.Entry, error) {
	request, err := r.request(a)
	if err != nil {
		return golden.Entry{}, err
	}
	answer, err := answerTo(ctx, server, request)
	if err != nil {
		return golden.Entry{}, err
	}
	if r.lines {
		return golden.NewLines(request, answer.Body)
	}
	if !r.short {
		return golden.New(request, answer)
	}
	var envelope struct{ Error string }
	if err := json.Unmarshal(answer.Body, &envelope); err != nil {
		return golden.Entry{}, err
	}
	return golden.NewShort(request, answer.Status, envelope.Error), nil
}

func (r recording) request(a asked) (golden.Request, error) {
	request := golden.Request{Method: a.method, Path: a.path, Header: http.Header{}, Body: a.body, Note: a.note}
	if request.Method == "" {
		request.Method = http.MethodPost
	}
	if request.Path == "" {
		request.Path = "/api/tools/" + r.name
	}
	for _, line := range a.header {
		name, value, _ := strings.Cut(line, ": ")
		request.Header.Add(name, value)
	}
	if a.body != "" || request.Method != http.MethodPost {
		return request, nil
	}
	var err error
	request.Body, err = a.json()
	return request, err
}

// json is the body of a request to a tool. A < stays one, so that the recording can be read.
func (a asked) json() (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(a.input); err != nil {
		return "", err
	}
	body := `{"input":` + strings.TrimSpace(b.String())
	if a.options != "" {
		body += `,"options":` + a.options
	}
	return body + "}", nil
}

// Names in a request's headers for what is known only when it is sent.
const (
	goldenSelf  = "{address}" // the server's own address and port
	goldenToken = "{token}"   // the worker's credential
)

// answerTo repeats a request where the registries' redirector had no slot: each gateway has 8 in 10 s.
func answerTo(ctx context.Context, server *lab.Server, r golden.Request) (answer golden.Answer, err error) {
	for range 60 {
		answer, err = answerNow(ctx, server, r)
		if err != nil || !strings.Contains(string(answer.Body), "Too many registrations") {
			return answer, err
		}
		if err := sleep(ctx, time.Second); err != nil {
			return answer, err
		}
	}
	return answer, fmt.Errorf("no slot at the redirector: %s", r.Body)
}

// goldenSlots keep requests from waiting for the processor where they should wait for the lab.
var goldenSlots = make(chan struct{}, 16)

func answerNow(ctx context.Context, server *lab.Server, r golden.Request) (answer golden.Answer, err error) {
	goldenSlots <- struct{}{}
	defer func() { <-goldenSlots }()
	req, err := http.NewRequestWithContext(ctx, r.Method, "http://"+server.Addr+r.Path, strings.NewReader(r.Body))
	if err != nil {
		return answer, err
	}
	if r.Body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	known := strings.NewReplacer(goldenSelf, server.Addr, goldenToken, service.Token())
	for name, values := range r.Header {
		req.Header.Del(name)
		for _, value := range values {
			req.Header.Add(name, known.Replace(value))
		}
	}
	resp, err := httpClient().Do(req)
	if err != nil {
		return answer, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return golden.Answer{Status: resp.StatusCode, Header: resp.Header, Body: body}, err
}
