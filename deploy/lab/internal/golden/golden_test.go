package golden

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func masked(t *testing.T, body string) string {
	t.Helper()
	root, err := parse([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	root.apply(nil)
	return root.line()
}

func TestMask(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ body, want string }{
		"the envelope":             {`{"data":{},"durationMs":1.5,"requestId":"x"}`, `{"data": {}, "durationMs": "<ms>", "requestId": "<uuid>"}`},
		"null stays null":          {`{"tlsMs":null,"validTo":null}`, `{"tlsMs": null, "validTo": null}`},
		"another kind shows":       {`{"tlsMs":"7","cached":0}`, `{"tlsMs": "7", "cached": 0}`},
		"a list of times":          {`{"rttsMs":[1,null,2.5]}`, `{"rttsMs": ["<ms>", null, "<ms>"]}`},
		"keys in their order":      {`{"b":1,"a":2}`, `{"b": 1, "a": 2}`},
		"values as they are spelt": {`{"n":1.0e2,"s":"\u003cb\u003e"}`, `{"n": 1.0e2, "s": "\u003cb\u003e"}`},
		"the ttl of a record":      {`{"details":{"A":{"ttl":17}}}`, `{"details": {"A": {"ttl": "<seconds>"}}}`},
		"the ttl of a hop":         {`{"hops":[{"ttl":3}]}`, `{"hops": [{"ttl": 3}]}`},
		"the ttl in a list":        {`{"resolvers":[{"ttl":17},{"ttl":null}]}`, `{"resolvers": [{"ttl": "<seconds>"}, {"ttl": null}]}`},
		"a time in a sentence":     {`{"summary":"It took 24.1 ms, at most 3 s."}`, `{"summary": "It took <ms> ms, at most 3 s."}`},
		"the version":              {`{"value":"network-diagnostics/1.2-dirty (+https://a)"}`, `{"value": "network-diagnostics/<version> (+https://a)"}`},
		"the date of a server":     {`{"headers":[{"name":"date","value":"Thu"}]}`, `{"headers": [{"name": "date", "value": "<time>"}]}`},
		"a source listed twice": {
			`{"sources":[{"name":"a","fetchedAt":"1","cached":true},{"name":"b","fetchedAt":"2","cached":true},{"name":"a","fetchedAt":"3","cached":false}]}`,
			`{"sources": [{"name": "a", "fetchedAt": "<time>", "cached": "<bool>"}, {"name": "b", "fetchedAt": "<time>", "cached": "<bool>"}]}`,
		},
		"another list":   {`{"peers":[1,1]}`, `{"peers": [1, 1]}`},
		"another header": {`{"headers":[{"name":"server","value":"lab"}]}`, `{"headers": [{"name": "server", "value": "lab"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := masked(t, tt.body); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, body := range []string{``, `{`, `{"a":1}{}`, `[1,]`, `no`} {
		if _, err := parse([]byte(body)); err == nil {
			t.Errorf("%q: no error", body)
		}
	}
}

func answer(status int, contentType, body string, header ...string) Answer {
	a := Answer{Status: status, Header: http.Header{"Content-Type": {contentType}}, Body: []byte(body)}
	for i := 0; i < len(header); i += 2 {
		a.Header.Set(header[i], header[i+1])
	}
	return a
}

func TestNew(t *testing.T) {
	t.Parallel()
	body := `{"data":{"list":[` + strings.Repeat(`"0123456789",`, 10) + `"end"],"short":{"a":[]}},"durationMs":3}`
	e, err := New(
		Request{
			Method: "POST", Path: "/api/tools/x", Header: http.Header{"Origin": {"null"}},
			Body: `{"input":"a"}`, Note: "again",
		},
		answer(429, "application/json", body, "Retry-After", "17", "Date", "today"),
	)
	if err != nil {
		t.Fatal(err)
	}
	const title = `POST /api/tools/x {"input":"a"} (again)
> Origin: null`
	want := title + `
< 429 Too Many Requests
< Content-Type: application/json
< Retry-After: <seconds>
{
  "data": {
    "list": [
` + strings.Repeat("      \"0123456789\",\n", 10) + `      "end"
    ],
    "short": {"a": []}
  },
  "durationMs": "<ms>"
}
`
	if e.Title != title || e.Text != want {
		t.Errorf("%s\ngot  %s\nwant %s", e.Title, e.Text, want)
	}
	if _, err := New(Request{}, answer(200, "application/json", "{")); err == nil {
		t.Error("a broken body: no error")
	}
}

// What is joined can be taken apart, whatever the bodies say.
func TestJoinAndSplit(t *testing.T) {
	t.Parallel()
	var entries []Entry
	for _, body := range []string{"", "User-agent: *\n\nGET / is no title\n", "no line feed"} {
		path := "/" + body[:min(1, len(body))]
		e, err := New(Request{Method: "GET", Path: path}, answer(200, "text/plain", body))
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e)
	}
	long := Request{Method: "POST", Path: "/x", Body: strings.Repeat("é\n\xff", 200)}
	entries = append(entries, NewShort(long, 400, "No."))
	got := Split(Join(entries))
	if len(got) != len(entries) {
		t.Fatalf("%d entries, want %d", len(got), len(entries))
	}
	for i, e := range entries {
		if got[i] != e {
			t.Errorf("got  %q\nwant %q", got[i], e)
		}
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	const was = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\n"
	is := strings.NewReplacer("b\n", "", "j", "new\nlines").Replace(was)
	want := `
  a
- b
  c
  d
  e
  …
  g
  h
  i
- j
+ new
+ lines
  k
`
	if got := Diff(was, is); got != want[1:] {
		t.Errorf("got\n%s", got)
	}
	if got := Diff(was, was); got != "" {
		t.Errorf("equal texts: %s", got)
	}
}

func TestNewLines(t *testing.T) {
	t.Parallel()
	const conclusion = `{"state":"fail","code":"X","brief":"Slow","message":"It took 3.2 ms.","meaning":%s,"args":{}}`
	step := func(meaning string) string {
		return `{"step":{"kind":"conclusion","conclusion":` + fmt.Sprintf(conclusion, meaning) + `}}` + "\n"
	}
	for name, c := range map[string]struct{ stream, want string }{
		"a result": {`{"data":{"conclusion":` + fmt.Sprintf(conclusion, `"Wait."`) + `},"status":200}` + "\n",
			"< 200 fail: Slow\n| It took <ms> ms.\n| Wait.\n"},
		"a failure": {step(`"Old."`) + step("null") + `{"error":"It failed.","status":502}` + "\n",
			"< 502 fail: Slow\n| It took <ms> ms.\n"},
		"neither": {`{"error":"Not valid.","durationMs":1}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, err := NewLines(Request{Method: "POST", Path: "/x", Header: http.Header{"Accept": {"a"}}}, []byte(c.stream))
			if want := "POST /x\n" + c.want; err != nil || e.Title != "POST /x" || e.Text != want && e.Text+"POST /x\n" != want {
				t.Errorf("%q, %v; want %q", e.Text, err, want)
			}
		})
	}
}
