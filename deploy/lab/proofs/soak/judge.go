package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
)

// result is one round trip that is over.
type result struct {
	row        *row
	request    request
	to         pair
	start, end time.Time
	err        error // of the connection
	status     int
	id         string // X-Request-Id
	body       []byte
	left       bool // the client left before the answer
}

// judge holds every answer against the table.
type judge struct {
	windows *windows

	mu         sync.Mutex
	took       map[string][]time.Duration // of right answers, by the row's name
	statuses   map[string]map[int]int
	left       int
	unfit      []finding      // the first few of each row
	unfitOf    map[string]int // by the row's name
	unfitCount int
}

// finding is an answer that nothing explains.
type finding struct {
	what string
	id   string
}

// shownFindings are those of one row; one mistake can make thousands.
const shownFindings = 3

func newJudge(w *windows) *judge {
	return &judge{windows: w, took: map[string][]time.Duration{}, statuses: map[string]map[int]int{},
		unfitOf: map[string]int{}}
}

// note takes one result in.
func (j *judge) note(r result) {
	fault := ""
	if !r.left {
		if fault = wrong(r); fault != "" && j.explained(r) {
			fault = ""
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if r.left {
		j.left++
		return
	}
	if j.statuses[r.row.name] == nil {
		j.statuses[r.row.name] = map[int]int{}
	}
	j.statuses[r.row.name][r.status]++
	if r.err == nil {
		j.took[r.row.name] = append(j.took[r.row.name], r.end.Sub(r.start))
	}
	if fault == "" {
		return
	}
	j.unfitCount++
	if j.unfitOf[r.row.name]++; j.unfitOf[r.row.name] <= shownFindings {
		j.unfit = append(j.unfit, finding{id: r.id, what: fmt.Sprintf("%s %s %.120s at %s, after %d ms: %s: %.600q",
			r.request.method, r.request.path, r.request.body, r.start.UTC().Format("15:04:05.000"),
			r.end.Sub(r.start).Milliseconds(), fault, r.body)})
	}
}

// explained reports whether a fault that was there explains what is wrong with an answer.
func (j *judge) explained(r result) bool {
	for _, w := range j.windows.during(r.start, r.end) {
		if w.explains(r) {
			j.windows.excused(w)
			return true
		}
	}
	return false
}

// explains reports whether this fault may do this to this answer: an answer that reports a failure, or what the row
// says is true while this is broken. It may not take an answer's form away, nor make it untrue.
func (f *fault) explains(r result) bool {
	if f.pair != both && f.pair != r.to {
		return false
	}
	if r.err != nil {
		return f.cut
	}
	if f.of&r.row.needs == 0 || malformed(r) != "" {
		return false
	}
	if r.status != http.StatusOK {
		return slices.Contains(failures, r.status)
	}
	return slices.ContainsFunc(r.row.meanwhile, func(m meanwhile) bool {
		return m.of&f.of != 0 && untrue(r, m.facts) == ""
	})
}

// wrong says what is wrong with an answer while nothing is broken; empty is nothing.
func wrong(r result) string {
	if r.err != nil {
		return r.err.Error()
	}
	if fault := malformed(r); fault != "" {
		return fault
	}
	if r.row.needs&registry != 0 && r.status == http.StatusServiceUnavailable &&
		strings.Contains(string(r.body), "Too many registrations") {
		return "" // its share of the redirector is used up
	}
	if !slices.Contains(r.row.allowed(), r.status) {
		return fmt.Sprintf("status %d", r.status)
	}
	if r.status != http.StatusOK {
		return ""
	}
	return untrue(r, r.row.facts)
}

// envelope is what every answer of the API is in.
type envelope struct {
	Data       map[string]any
	Error      string
	RequestID  string
	DurationMs *float64
}

// malformed says what is wrong with the form of an answer, whatever is in it; empty is nothing.
func malformed(r result) string {
	if !strings.HasPrefix(r.request.path, "/api/") || strings.HasSuffix(r.request.path, ".yaml") {
		return ""
	}
	var e envelope
	if err := json.Unmarshal(r.body, &e); err != nil || e.RequestID != r.id || r.id == "" || e.DurationMs == nil ||
		(r.status == http.StatusOK) != (e.Data != nil) || (r.status == http.StatusOK) == (e.Error != "") {
		return fmt.Sprintf("status %d without its envelope", r.status)
	}
	return ""
}

// untrue names a fact that an answer's data does not have; empty is none.
func untrue(r result, facts map[string]any) string {
	if len(facts) == 0 {
		return ""
	}
	var e envelope
	if err := json.Unmarshal(r.body, &e); err != nil {
		return err.Error()
	}
	for path, want := range facts {
		if n, ok := want.(int); ok {
			want = float64(n)
		}
		if got := at(e.Data, path); !reflect.DeepEqual(got, want) {
			return fmt.Sprintf("%s is %v, not %v", path, got, want)
		}
	}
	return ""
}
