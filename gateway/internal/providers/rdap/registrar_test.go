package rdap

import (
	"diagnostics/gateway/internal/providers/registry"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// thinWorld is one whose registry names a registrar.
func thinWorld(t *testing.T, related string) *world {
	t.Helper()
	w := newWorld(t, nil)
	w.on(redirectorHost+"/domain/example-shop.com", to("https://"+registryHost+"/domain/example-shop.com"))
	body := strings.ReplaceAll(string(fixture(t, "verisign.json")),
		`https:\/\/rdap.markmonitor.com\/rdap\/domain\/EXAMPLE-SHOP.COM`, related)
	w.on(registryHost+"/domain/example-shop.com", rdapBody(body))
	return w
}

const relatedPath = registrarHost + "/rdap/domain/EXAMPLE-SHOP.COM"

func TestRegistrarIsAskedOnce(t *testing.T) {
	t.Parallel()
	w := thinWorld(t, "https://"+relatedPath)
	w.on(relatedPath, rdapBody(string(fixture(t, "registrar.json"))))
	for _, cached := range []bool{false, true} {
		a, err := w.domain("example-shop.com")
		if err != nil {
			t.Fatal(err)
		}
		wantJSON(t, "merged.json", a.Domain)
		if len(a.Sources) != 2 || a.Sources[1].Name != "Registrar RDAP" || a.Sources[1].URL != "https://"+relatedPath {
			t.Errorf("sources %+v", a.Sources)
		}
		for _, s := range a.Sources {
			if s.Cached != cached {
				t.Errorf("%s: cached %t", s.Name, s.Cached)
			}
		}
		if len(a.Notices) != 4 { // three of the registry, one of the registrar that it does not have itself
			t.Errorf("notices %+v", a.Notices)
		}
	}
	w.wantAsked(redirectorHost+"/domain/example-shop.com", registryHost+"/domain/example-shop.com", relatedPath)
}

// The registry is reported to the progress of a run while the registrar is queried.
func TestTheRegistryIsToldFirst(t *testing.T) {
	t.Parallel()
	w := thinWorld(t, "https://"+relatedPath)
	var reported atomic.Value
	w.on(relatedPath, func(out http.ResponseWriter, r *http.Request) {
		if s, _ := reported.Load().(Source); s.Name != "Registry RDAP" {
			t.Errorf("while the registrar is queried %+v is reported", s)
		}
		rdapBody(string(fixture(t, "registrar.json")))(out, r)
	})
	answer, err := w.Domain(t.Context(), "example-shop.com", func(s Source) { reported.Store(s) })
	if err != nil || len(answer.Sources) != 2 || reported.Load() != answer.Sources[0] {
		t.Errorf("%+v, %v; reported %+v", answer.Sources, err, reported.Load())
	}
}

func TestThickRegistryIsEnough(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.on(redirectorHost+"/domain/charity-site.org", rdapBody(string(fixture(t, "pir.json"))))
	if a, err := w.domain("charity-site.org"); err != nil || !a.Found || len(a.Sources) != 1 {
		t.Errorf("%+v, %v", a, err)
	}
	w.wantAsked(redirectorHost + "/domain/charity-site.org")
}

func TestRegistrarsFailureIsANotice(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, related string
		registrar     http.HandlerFunc
		notice        string
	}{
		{"500", "https://" + relatedPath, status(500), "status 500"},
		{"404", "https://" + relatedPath, status(404), "no data on this name"},
		{"429", "https://" + relatedPath, status(429, "Retry-After", "9"), "asked too often"},
		{"a quota", "https://" + relatedPath, errorBody(200, `{"notices":[{"title":"Quota exceeded"}]}`), "asked too often"},
		{"a page", "https://" + relatedPath, status(200, "Content-Type", "text/html"), "web page"},
		{"another name", "https://" + relatedPath, domainBody("other-site.com"), "an invalid answer"},
		{"http", "http://" + relatedPath, nil, "not a public https URL"},
		{"private", "https://10.0.0.1/domain/example-shop.com", nil, "not a public https URL"},
		{"privately resolved", "https://rdap.inside-site.com/domain/example-shop.com", nil, "not at a public address"},
	} {
		w := thinWorld(t, c.related)
		w.on(relatedPath, c.registrar)
		a, err := w.domain("example-shop.com")
		if err != nil || !a.Found || len(a.Sources) != 1 {
			t.Errorf("%s: %+v, %v", c.name, a, err)
			continue
		}
		last := a.Notices[len(a.Notices)-1]
		if last.Title != "Registrar data missing" || !last.FromService || !strings.Contains(last.Description, c.notice) {
			t.Errorf("%s: %+v", c.name, last)
		}
		if a.Domain.Registrar == nil || *a.Domain.Registrar.IANAID != "292" {
			t.Errorf("%s: the registry's own word is lost: %+v", c.name, a.Domain.Registrar)
		}
	}
}

func TestRegistrarsFailureIsKeptForAMinute(t *testing.T) {
	t.Parallel()
	w := thinWorld(t, "https://"+relatedPath)
	w.on(relatedPath, status(500))
	for range 2 {
		if _, err := w.domain("example-shop.com"); err != nil {
			t.Fatal(err)
		}
	}
	w.wantAsked(redirectorHost+"/domain/example-shop.com", registryHost+"/domain/example-shop.com", relatedPath)
	w.on(relatedPath, rdapBody(string(fixture(t, "registrar.json"))))
	w.advance(registry.KeepOther + time.Second)
	a, err := w.domain("example-shop.com")
	if err != nil || len(a.Sources) != 2 || !a.Sources[0].Cached || a.Sources[1].Cached {
		t.Errorf("%+v, %v", a.Sources, err)
	}
	w.wantAsked(relatedPath)
}
