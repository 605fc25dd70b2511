//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"diagnostics/gateway/apitest"
	"diagnostics/lab"
)

// answer is one answer of the API.
type answer struct {
	Status int
	Header http.Header
	Body   []byte
	Data   any
	Error  string
	Took   time.Duration
}

// call runs one tool, and holds the envelope to the contract whatever the answer is.
func call(t *testing.T, slug, input string, options map[string]any) answer {
	t.Helper()
	body := map[string]any{"input": input}
	if options != nil {
		body["options"] = options
	}
	return post(t, service.Gateway, slug, body, nil)
}

func post(t *testing.T, to *lab.Server, slug string, body any, header http.Header) answer {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	if header == nil {
		header = http.Header{}
	}
	header.Set("Content-Type", "application/json")
	return do(t, to, http.MethodPost, "/api/tools/"+slug, text, header)
}

// httpClient is one for all tests, so that connections are reused.
var httpClient = sync.OnceValue(func() *http.Client { return internet.HTTPClient() })

func do(t *testing.T, to *lab.Server, method, path string, body []byte, header http.Header) answer {
	t.Helper()
	a := fetch(t, to, method, path, body, header)
	holdEnvelope(t, &a)
	holdDescription(t, method, path, a)
	return a
}

// described is the service's own description of its API.
var described = sync.OnceValues(func() (*apitest.Description, error) {
	resp, err := httpClient().Get("http://" + service.Gateway.Addr + "/api/openapi.yaml")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	return apitest.Load(text)
})

// holdDescription holds an answer against the OpenAPI description that the service gives of itself.
func holdDescription(t *testing.T, method, path string, a answer) {
	t.Helper()
	d, err := described()
	if err != nil {
		t.Fatal(err)
	}
	path, _, _ = strings.Cut(path, "?")
	if a.Status == http.StatusNotFound {
		path = "" // described once for all that is not there
	}
	if err := d.Check(method, path, &http.Response{StatusCode: a.Status, Header: a.Header}, a.Body); err != nil {
		t.Errorf("%s %s: status %d does not fit the description: %.1500v", method, path, a.Status, err)
	}
}

func fetch(t *testing.T, to *lab.Server, method, path string, body []byte, header http.Header) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+to.Addr+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if header != nil {
		req.Header = header
	}
	start := time.Now()
	resp, err := httpClient().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{Status: resp.StatusCode, Header: resp.Header, Body: text, Took: time.Since(start)}
}

// holdEnvelope checks what docs/contract.md#the-envelope promises, and takes the answer apart.
func holdEnvelope(t *testing.T, a *answer) {
	t.Helper()
	var top map[string]any
	if err := json.Unmarshal(a.Body, &top); err != nil {
		t.Fatalf("status %d, not an envelope: %v: %.300s", a.Status, err, a.Body)
	}
	a.Data = top["data"]
	a.Error, _ = top["error"].(string)
	_, isObject := a.Data.(map[string]any)
	if _, ok := top["durationMs"].(float64); !ok || len(top) != 3 || isObject == (a.Error != "") {
		t.Errorf("status %d, not the envelope: %.300s", a.Status, a.Body)
	}
	if id, ok := top["requestId"].(string); !ok || id == "" || id != a.Header.Get("X-Request-Id") {
		t.Errorf("requestId %v, X-Request-Id %q", top["requestId"], a.Header.Get("X-Request-Id"))
	}
	if got := a.Header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("Cache-Control %q", got)
	}
	if got := a.Header.Get("X-Content-Type-Options"); got != "nosniff" {
		t.Errorf("X-Content-Type-Options %q", got)
	}
	if (a.Status == http.StatusOK) != isObject {
		t.Errorf("status %d with %.300s", a.Status, a.Body)
	}
}

// at is the value at a path such as "records.MX.0.exchange"; a path that leads nowhere is the string "(absent)".
func (a answer) at(path string) any {
	value := a.Data
	for _, key := range strings.Split(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			next, ok := v[key]
			if !ok {
				return "(absent)"
			}
			value = next
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(v) {
				return "(absent)"
			}
			value = v[i]
		default:
			return "(absent)"
		}
	}
	return value
}

// list is the value at a path as strings.
func (a answer) list(path string) []string {
	values, _ := a.at(path).([]any)
	out := []string{}
	for _, v := range values {
		out = append(out, fmt.Sprint(v))
	}
	return out
}

func (a answer) number(path string) float64 {
	n, ok := a.at(path).(float64)
	if !ok {
		return -1
	}
	return n
}

// facts are what must be found at paths of the data: a value as JSON has it, or a predicate.
type facts map[string]any

// between is a predicate on numbers.
func between(low, high float64) func(any) bool {
	return func(v any) bool { n, ok := v.(float64); return ok && n >= low && n <= high }
}

func nonEmpty(v any) bool { s, ok := v.(string); return ok && s != "" }

func (f facts) hold(t *testing.T, a answer) {
	t.Helper()
	for _, wrong := range f.wrong(a) {
		t.Error(wrong)
	}
	if t.Failed() {
		t.Logf("status %d after %d ms: %.2000s", a.Status, a.Took.Milliseconds(), a.Body)
	}
}

// wrong returns what differs from the facts.
func (f facts) wrong(a answer) (differences []string) {
	for path, want := range f {
		got := a.at(path)
		switch want := want.(type) {
		case func(any) bool:
			if !want(got) {
				differences = append(differences, fmt.Sprintf("%s is %v", path, got))
			}
		case int:
			if got != float64(want) {
				differences = append(differences, fmt.Sprintf("%s is %v, want %d", path, got, want))
			}
		case []string:
			if list := a.list(path); !reflect.DeepEqual(list, want) {
				differences = append(differences, fmt.Sprintf("%s is %q, want %q", path, list, want))
			}
		default:
			if !reflect.DeepEqual(got, want) {
				differences = append(differences, fmt.Sprintf("%s is %v, want %v", path, got, want))
			}
		}
	}
	return differences
}
