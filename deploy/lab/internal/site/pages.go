package site

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// page answers 200 with a short page.
func page(title string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Server", "lab")
		// What the server saw of its visitor, where a tool that shows headers can show it.
		w.Header().Set("X-Seen-User-Agent", r.UserAgent())
		w.Header().Set("X-Seen-Host", r.Host)
		fmt.Fprintf(w, "<!doctype html><title>%s</title><h1>%s</h1>", title, title)
	})
}

func status(code int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, http.StatusText(code), code) })
}

// late answers after a time, or when the visitor or the lab leaves.
func late(after time.Duration, then http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(after):
			then.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	})
}

func hugeHeaders() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for i := range 80 {
			w.Header().Set(fmt.Sprintf("X-Padding-%02d", i), strings.Repeat("p", 1024))
		}
	})
}

// endless sends a body until the client stops reading: a tool that does not read bodies never notices.
func endless() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		block := make([]byte, 64<<10)
		for range 1 << 14 {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	})
}

func rich() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Add("Set-Cookie", "session=top-secret-value; Path=/; Secure; HttpOnly; SameSite=Lax")
		h.Add("Set-Cookie", "theme=dark; Path=/")
		h.Add("Link", "</a.css>; rel=preload")
		h.Add("Link", "</b.js>; rel=preload")
		h.Set("Strict-Transport-Security", "max-age=63072000; includeSubDomains; preload")
		h.Set("Content-Security-Policy", "default-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'")
		h.Set("Referrer-Policy", "strict-origin-when-cross-origin")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Permissions-Policy", "camera=(), geolocation=()")
		page("Rich").ServeHTTP(w, r)
	})
}

// hostile is markup where a page could take it for its own.
func hostile() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Note", `<script>document.title="taken"</script>`)
		w.Header().Set("X-Image", `"><img src=x onerror=alert(1)>`)
		page("Hostile").ServeHTTP(w, r)
	})
}

// redirects answers:
//
//	/to?location=L&status=S   one redirect to L, exactly as given (default status 302)
//	/chain/N                  N redirects, then 200
//	/loop, /loop2             a loop of two
//	/relative                 a relative Location
//	/none                     302 without a Location
//	/slow/N                   N redirects, then 200, each after four seconds
//	/cookie                   leads back to itself once, with a cookie
//	/meta, /refresh           a page that sends browsers onward
func redirects() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", page("The end of the chain"))
	mux.HandleFunc("/to", func(w http.ResponseWriter, r *http.Request) {
		code, err := strconv.Atoi(r.FormValue("status"))
		if err != nil {
			code = http.StatusFound
		}
		send(w, code, r.FormValue("location"))
	})
	mux.HandleFunc("/chain/{n}", func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(r.PathValue("n"))
		if err != nil || n <= 0 {
			page("The end of the chain").ServeHTTP(w, r)
			return
		}
		send(w, http.StatusMovedPermanently, fmt.Sprintf("/chain/%d", n-1))
	})
	mux.HandleFunc("/slow/{n}", func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(r.PathValue("n"))
		late(4*time.Second, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err != nil || n <= 0 {
				page("The end of the chain").ServeHTTP(w, r)
				return
			}
			send(w, http.StatusTemporaryRedirect, fmt.Sprintf("/slow/%d", n-1))
		})).ServeHTTP(w, r)
	})
	mux.HandleFunc("/cookie", func(w http.ResponseWriter, r *http.Request) {
		if _, err := r.Cookie("seen"); err == nil {
			page("Welcome back").ServeHTTP(w, r)
			return
		}
		http.SetCookie(w, &http.Cookie{Name: "seen", Value: "secret-of-this-visit", Path: "/"})
		send(w, http.StatusFound, "/cookie")
	})
	mux.HandleFunc("/meta", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><title>Moved</title><meta http-equiv="refresh" content="3; url=/chain/1">`)
	})
	mux.HandleFunc("/refresh", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Refresh", "0; url=https://fast."+Zone+"/")
		page("Moved").ServeHTTP(w, r)
	})
	mux.HandleFunc("/loop", func(w http.ResponseWriter, _ *http.Request) { send(w, http.StatusFound, "/loop2") })
	mux.HandleFunc("/loop2", func(w http.ResponseWriter, _ *http.Request) { send(w, http.StatusFound, "/loop") })
	mux.HandleFunc("/relative", func(w http.ResponseWriter, _ *http.Request) {
		send(w, http.StatusSeeOther, "deeper/../page?x=1")
	})
	mux.HandleFunc("/none", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusFound) })
	return mux
}

// send writes the Location as it is: http.Redirect would make it well-formed.
func send(w http.ResponseWriter, code int, location string) {
	w.Header()["Location"] = []string{location}
	w.WriteHeader(code)
}

// RedirectTo is the URL of a redirect to a location, on a host that serves redirects.
func RedirectTo(host, location string, status int) string {
	q := url.Values{"location": {location}, "status": {strconv.Itoa(status)}}
	return "http://" + host + "/to?" + q.Encode()
}

func toHTTPS(host string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		send(w, http.StatusMovedPermanently, "https://"+host+r.URL.RequestURI())
	})
}
