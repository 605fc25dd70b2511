package rdap

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/providers/internal/refusal"
)

func errorBody(code int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/rdap+json")
		status(code, headers...)(w, r)
		_, _ = io.WriteString(w, body)
	}
}

const reserved = `{"errorCode":404,"title":"Not Found","description":["Domain Name: one-site.com",` +
	`"This name is not available for registration","Registry Reserved"]}`

// TestAbsenceIsExplained: the title and the description of a 404 are shown, and kept with the absence.
func TestAbsenceIsExplained(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		reason Reason
		want   []Notice
	}{
		"reserved": {errorBody(404, reserved), Reserved, []Notice{{Title: "Not Found",
			Description: "Domain Name: one-site.com This name is not available for registration Registry Reserved"}}},
		"with status 200": {errorBody(200, reserved), Reserved, []Notice{{Title: "Not Found",
			Description: "Domain Name: one-site.com This name is not available for registration Registry Reserved"}}},
		"a title alone":   {errorBody(404, `{"errorCode":404,"title":"Object not found"}`), NotFound, []Notice{{Title: "Object not found"}}},
		"a title too few": {errorBody(404, `{"description":"Blocked by the \u202eregistry\n"}`), Reserved, []Notice{{Description: "Blocked by the registry"}}},
		"notices": {errorBody(404, `{"title":"Not Found","notices":[{"title":"Terms","description":["Be kind."]}]}`), NotFound,
			[]Notice{{Title: "Not Found"}, {Title: "Terms", Description: "Be kind."}}},
		"nothing":   {errorBody(404, ""), NotFound, []Notice{}},
		"no object": {errorBody(404, `["Not Found"]`), NotFound, []Notice{}},
		"a page":    {status(404, "Content-Type", "text/html"), NotFound, []Notice{}},
		"long": {errorBody(404, fmt.Sprintf(`{"title":%q}`, strings.Repeat("x", 9999))), NotFound,
			[]Notice{{Title: strings.Repeat("x", maxTitle-1) + "…"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			w.on(redirectorHost+"/domain/one-site.com", to("https://"+registryHost+"/domain/one-site.com"))
			w.on(registryHost+"/domain/one-site.com", c.answer)
			for _, cached := range []bool{false, true} {
				a, err := w.domain("one-site.com")
				if err != nil || a.Found || a.Reason != c.reason || fmt.Sprint(a.Notices) != fmt.Sprint(c.want) ||
					a.Sources[0].Cached != cached {
					t.Errorf("%+v, %v", a, err)
				}
			}
		})
	}
}

func TestAbsenceOfANetworkIsExplained(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.on(redirectorHost+"/ip/8.8.8.8", to("https://"+registryHost+"/ip/8.8.8.8"))
	w.on(registryHost+"/ip/8.8.8.8", errorBody(404, `{"errorCode":404,"title":"Not Found","description":["Reserved block"]}`))
	for range 2 {
		a, err := w.network("8.8.8.8")
		if err != nil || a.Reason != NotFound || len(a.Notices) != 1 || a.Notices[0].Description != "Reserved block" {
			t.Errorf("%+v, %v", a, err)
		}
	}
}

func TestAbsenceAtTheRegistrarIsExplained(t *testing.T) {
	t.Parallel()
	for _, code := range []int{200, 404} {
		w := thinWorld(t, "https://"+relatedPath)
		w.on(relatedPath, errorBody(code, `{"errorCode":404,"title":"Gone","description":["Transferred away"]}`))
		a, err := w.domain("example-shop.com")
		if err != nil || !a.Found {
			t.Fatalf("%+v, %v", a, err)
		}
		last := a.Notices[len(a.Notices)-1]
		if !strings.Contains(last.Description, "no data on this name. It answers: “Gone: Transferred away”") {
			t.Errorf("%d: %+v", code, last)
		}
	}
}

// TestRefusedByQuota: an answer that only says that there were too many queries pauses its server, and no other.
func TestRefusedByQuota(t *testing.T) {
	t.Parallel()
	const quota = `{"notices":[{"title":"Quota exceeded","description":["31/30"]}]}`
	pad := func(bytes int) string { return quota[:1] + strings.Repeat(" ", bytes-len(quota)) + quota[1:] }
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		wait   time.Duration // 0 where it is no refusal
	}{
		"429":             {status(429, "Retry-After", "3600"), time.Hour},
		"a notice alone":  {errorBody(200, quota), refusal.MaxPause},
		"an error":        {errorBody(403, `{"errorCode":403,"title":"Rate limit exceeded"}`), refusal.MaxPause},
		"its code alone":  {errorBody(200, `{"errorCode":429}`), refusal.MaxPause},
		"an absence":      {errorBody(404, `{"title":"Too many requests"}`), refusal.MaxPause},
		"a text":          {errorBody(503, "Query too fast, slow down"), refusal.MaxPause},
		"a short wait":    {errorBody(200, quota, "Retry-After", "7"), 7 * time.Second},
		"a long wait":     {errorBody(200, quota, "Retry-After", "3600"), refusal.MaxPause},
		"2 KiB":           {errorBody(200, pad(2<<10)), refusal.MaxPause},
		"more than 2 KiB": {errorBody(200, pad(2<<10+1)), 0},
		"an object":       {errorBody(200, `{"objectClassName":"entity","notices":[{"title":"Quota exceeded"}]}`), 0},
		"other notices":   {errorBody(200, `{"notices":[{"title":"Terms of use"}]}`), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			w.on(redirectorHost+"/domain/one-site.com", to("https://"+registryHost+"/domain/one-site.com"))
			w.on(redirectorHost+"/domain/two-site.com", to("https://"+registryHost+"/domain/two-site.com"))
			w.on(redirectorHost+"/domain/site.net", to("https://"+secondHost+"/domain/site.net"))
			w.on(registryHost+"/domain/one-site.com", c.answer)
			w.on(registryHost+"/domain/two-site.com", domainBody("two-site.com"))
			w.on(secondHost+"/domain/site.net", domainBody("site.net"))
			_, err := w.domain("one-site.com")
			two, second := w.domain("two-site.com")
			if c.wait == 0 {
				wantFailure(t, err, fault.Upstream, "an invalid answer")
				if second != nil || !two.Found {
					t.Errorf("%+v, %v", two, second)
				}
				return
			}
			for _, err := range []error{err, second} {
				if f := wantFailure(t, err, fault.Busy, registryHost+" has been asked too often"); f.RetryAfter != c.wait {
					t.Errorf("retry after %v", f.RetryAfter)
				}
			}
			if a, err := w.domain("site.net"); err != nil || !a.Found {
				t.Errorf("another server: %+v, %v", a, err)
			}
		})
	}
}

// TestBothExpirations: the registry's date is the end of the registration, and the registrar's is shown beside it.
func TestBothExpirations(t *testing.T) {
	t.Parallel()
	const registry, registrar = "2027-03-01T00:00:00Z", "2026-03-01T00:00:00Z"
	at := func(action, date string) *Domain {
		return &Domain{Events: moments([]event{{Action: text(action), Date: text(date)}})}
	}
	for name, c := range map[string]struct {
		registry, registrar *Domain
		expires, own        string
	}{
		"both":                        {at("expiration", registry), at("expiration", registrar), registry, registrar},
		"the registry's alone":        {at("expiration", registry), at("", ""), registry, ""},
		"the registrar's alone":       {at("", ""), at("expiration", registrar), registrar, registrar},
		"by its own name":             {at("expiration", registry), at("Registrar Expiration", registrar), registry, registrar},
		"by its name at the registry": {at("registrar expiration", registrar), at("expiration", registry), registry, registrar},
	} {
		events := merged(c.registry, c.registrar).Events
		for _, pair := range []struct {
			got  *string
			want string
		}{{events.Expires, c.expires}, {events.RegistrarExpires, c.own}} {
			if got := pair.got; (got == nil) != (pair.want == "") || got != nil && *got != pair.want {
				t.Errorf("%s: %v, want %q", name, got, pair.want)
			}
		}
	}
}
