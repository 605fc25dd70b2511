package site

import (
	"fmt"
	"net/http"
	"strconv"
)

// addEdges adds a site whose answers say more, or something else, than a page does.
func addEdges(add adder) {
	add("edges", "/locations?location=…&location=…, /hints, /packed, /offers, /challenge/{vendor}/{status}", web(edges()))
}

// challenges are the fields by which services in front of a site challenge its visitors, and "none": those of a plain
// refusal by one of them.
var challenges = map[string][2]string{
	"cloudflare": {"Cf-Mitigated", "challenge"},
	"vercel":     {"X-Vercel-Mitigated", "challenge"},
	"aws":        {"X-Amzn-Waf-Action", "challenge"},
	"akamai":     {"Set-Cookie", "sec_cpt=A~1~B; path=/"},
	"none":       {"Server", "cloudflare"},
}

func edges() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", page("Arrived"))
	mux.HandleFunc("/locations", func(w http.ResponseWriter, r *http.Request) {
		code, err := strconv.Atoi(r.FormValue("status"))
		if err != nil {
			code = http.StatusFound
		}
		w.Header()["Location"] = r.URL.Query()["location"]
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(code)
		fmt.Fprint(w, "<!doctype html><title>Arrived</title>")
	})
	mux.HandleFunc("/hints", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Link", "</style.css>; rel=preload; as=style")
		w.Header().Add("Link", "</app.js>; rel=preload; as=script")
		w.WriteHeader(http.StatusEarlyHints)
		page("Hinted").ServeHTTP(w, r)
	})
	mux.HandleFunc("/packed", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "br")
		w.Header().Set("Vary", "Accept-Encoding")
		w.Header().Set("X-Offered", r.Header.Get("Accept-Encoding"))
		w.WriteHeader(http.StatusOK)
	})
	mux.HandleFunc("/offers", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Alt-Svc", `h3=":443"; ma=86400, h3-29=":443"; ma=86400`)
		page("Offers").ServeHTTP(w, r)
	})
	mux.HandleFunc("/challenge/{vendor}/{status}", func(w http.ResponseWriter, r *http.Request) {
		field := challenges[r.PathValue("vendor")]
		code, _ := strconv.Atoi(r.PathValue("status"))
		w.Header().Set(field[0], field[1])
		w.WriteHeader(code)
	})
	return mux
}
