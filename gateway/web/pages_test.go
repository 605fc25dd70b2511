package web

import (
	"errors"
	"html/template"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// What became of a request is for the log, and the answer is a page of its own all the same.
func TestServeTellsWhatBecameOfIt(t *testing.T) {
	t.Parallel()
	var registry []Registered
	for _, d := range Descriptors() {
		registry = append(registry, RegisteredOf(d))
	}
	s, err := New(Config{Tools: registry})
	if err != nil {
		t.Fatal(err)
	}
	broken := *s
	broken.templates = template.Must(template.New("index.html").Parse(`<h1>{{.Nonsense}}</h1>`))
	for name, c := range map[string]struct {
		site   *Site
		method string
		path   string
		status int
		want   string // part of the error
	}{
		"a page":                        {s, "GET", "/", 200, ""},
		"robots.txt":                    {s, "GET", "/robots.txt", 200, ""},
		"no page":                       {s, "GET", "/nothing", 404, ErrNotFound.Error()},
		"no tool":                       {s, "HEAD", "/tools/nothing", 404, ErrNotFound.Error()},
		"no asset":                      {s, "GET", "/assets/0000000000000000/nothing.css", 404, ErrNotFound.Error()},
		"an asset of another version":   {s, "GET", "/assets/0000000000000000/site.css", 200, ""},
		"another method":                {s, "POST", "/", 405, ErrMethod.Error()},
		"a page that cannot be made":    {&broken, "GET", "/", 500, "can't evaluate field Nonsense"},
		"not even the page for nothing": {&broken, "GET", "/nothing", 500, `"notfound.html" is undefined`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := httptest.NewRecorder()
			err := c.site.Serve(w, httptest.NewRequest(c.method, c.path, nil))
			if w.Code != c.status || (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%d, %v", w.Code, err)
			}
			if c.status == http.StatusNotFound && !errors.Is(err, ErrNotFound) {
				t.Errorf("%v is not ErrNotFound", err)
			}
			if c.status == http.StatusInternalServerError && strings.Contains(w.Body.String(), "<h1>") {
				t.Errorf("half a page: %s", w.Body)
			}
		})
	}
}
