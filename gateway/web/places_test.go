package web_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"diagnostics/gateway/web"
)

func threePlaces() web.Places {
	return web.Places{
		Here:   web.Place{ID: "ams", Name: `Amsterdam "<b>"`},
		Others: []web.Place{{ID: "fra", Name: "Frankfurt"}, {ID: "syd", Name: "Sydney"}},
	}
}

// placed is a site with the places.
func placed(t *testing.T, places func() web.Places) http.Handler {
	t.Helper()
	c := everything()
	c.Places = places
	return newSite(t, c)
}

// choices are the values of the field of places, the chosen one in brackets.
func choices(t *testing.T, site http.Handler, path string) []string {
	t.Helper()
	var values []string
	for _, o := range all(one(t, document(t, site, path), "select", header{"id": "place"}), "option", nil) {
		value, _ := attribute(o, "value")
		if _, chosen := attribute(o, "selected"); chosen {
			value = "[" + value + "]"
		}
		values = append(values, value)
	}
	return values
}

func TestFormsHaveTheChoiceOfAPlace(t *testing.T) {
	t.Parallel()
	site := placed(t, threePlaces)
	for _, d := range web.Descriptors() {
		path := "/tools/" + d.Slug
		if d.Kind == web.KindNone {
			if n := len(all(document(t, site, path), "select", header{"id": "place"})); n != 0 {
				t.Errorf("%s has no input and a choice of a place", d.Slug)
			}
			continue
		}
		for query, want := range map[string][]string{
			"":                      {"ams", "fra", "syd", "all"},
			"?input=a&place=ams":    {"ams", "fra", "syd", "all"},
			"?input=a&place=fra":    {"ams", "[fra]", "syd", "all"},
			"?input=a&place=all":    {"ams", "fra", "syd", "[all]"},
			"?input=a&place=gone":   {"ams", "fra", "syd", "[gone]", "all"},
			"?input=a&place=%20fra": {"ams", "[fra]", "syd", "all"},
		} {
			if got := choices(t, site, path+query); !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", path+query, got, want)
			}
		}
	}
	for query, want := range map[string][]string{
		"":                    {"ams", "fra", "syd"},
		"?target=a&place=syd": {"ams", "fra", "[syd]"},
		"?target=a&place=all": {"ams", "fra", "syd"},
	} {
		if got := choices(t, site, "/report"+query); !slices.Equal(got, want) {
			t.Errorf("/report%s: %v, want %v", query, got, want)
		}
	}
}

// How many checks all places are stands there before any is run, and what is folded away has its choice in its title.
func TestAllPlacesSayWhatTheyCost(t *testing.T) {
	t.Parallel()
	site := placed(t, threePlaces)
	root := document(t, site, "/tools/uptime?input=a&place=all")
	if hint := content(one(t, root, "p", header{"id": "place-hint"})); !strings.Contains(hint, "3 checks") {
		t.Errorf("hint %q", hint)
	}
	for query, want := range map[string]string{
		"":                    "Options",
		"?input=a":            "Options",
		"?input=a&place=ams":  "Options",
		"?input=a&place=syd":  "Options: Sydney",
		"?input=a&place=all":  "Options: All 3 places (3 checks)",
		"?input=a&place=gone": "Options: gone (no longer a place)",
	} {
		root := document(t, site, "/tools/uptime"+query)
		if got := content(one(t, one(t, root, "details", header{"class": "options"}), "summary", nil)); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}

// What is loaded for places is loaded by pages that have some: without, every page is the same to the byte.
func TestPagesWithoutPlacesHaveNoTraceOfThem(t *testing.T) {
	t.Parallel()
	alone := func() web.Places { return web.Places{Here: web.Place{ID: "ams", Name: "Amsterdam"}} }
	sites := []http.Handler{wholeSite(t), placed(t, func() web.Places { return web.Places{} }), placed(t, alone)}
	some := placed(t, threePlaces)
	paths := []string{"/", "/report?target=a&place=fra", "/history", "/tools/my-ip"}
	for _, slug := range slugs {
		paths = append(paths, "/tools/"+slug, "/tools/"+slug+"?input=a&place=all")
	}
	trace := regexp.MustCompile(
		`id="place"|name="place"|places\.(js|css)|quorum\.js|place-\w+\.js|data-sentences|Amsterdam`)
	for _, path := range paths {
		without := text(t, get(t, sites[0], path))
		if found := trace.FindString(without); found != "" {
			t.Errorf("%s without places has %s", path, found)
		}
		for _, site := range sites[1:] {
			if text(t, get(t, site, path)) != without {
				t.Errorf("%s differs where there is one place", path)
			}
		}
		has := path != "/" && path != "/history" && !strings.HasPrefix(path, "/tools/my-ip")
		if trace.MatchString(text(t, get(t, some, path))) != has {
			t.Errorf("%s with places: a trace of them is there %t, want %t", path, !has, has)
		}
	}
	loads := header{"rel": "modulepreload", "href": assetURL(t, some, "lib/places.js")}
	for query, want := range map[string]int{
		"?input=a&place=all": 1, "?input=a&place=fra": 0, "?input=a": 0, "?place=all": 0,
	} {
		if n := len(all(document(t, some, "/tools/uptime"+query), "link", loads)); n != want {
			t.Errorf("%s loads what compares places %d times, want %d", query, n, want)
		}
	}
}

// The places are asked for each page: the operator's file is read again while the service runs.
func TestPlacesComeAndGo(t *testing.T) {
	t.Parallel()
	var now web.Places
	site := placed(t, func() web.Places { return now })
	field := header{"id": "place"}
	for _, want := range []int{0, 1, 0} {
		if n := len(all(document(t, site, "/tools/uptime"), "select", field)); n != want {
			t.Errorf("%d fields with %d others, want %d", n, len(now.Others), want)
		}
		now = threePlaces()
		if want == 1 {
			now = web.Places{}
		}
	}
}

// All places are several requests to a host of another site's choice, whatever the tool.
func TestForeignLinksToAllPlacesWait(t *testing.T) {
	t.Parallel()
	site := placed(t, threePlaces)
	for query, waits := range map[string]bool{
		"?input=a&place=all": true, "?input=a&place=fra": false, "?input=a": false, "?place=all": false,
	} {
		r := get(t, site, "/tools/dns-lookup"+query, header{"Sec-Fetch-Site": "cross-site"})
		if got := strings.Contains(text(t, r), " data-waits"); got != waits {
			t.Errorf("%s waits %t, want %t", query, got, waits)
		}
		all := strings.Contains(query, "place=all")
		if varies := strings.Contains(r.Header.Get("Vary"), "Sec-Fetch-Site"); varies != all {
			t.Errorf("%s: Vary %q", query, r.Header.Get("Vary"))
		}
		if strings.Contains(text(t, get(t, site, "/tools/dns-lookup"+query)), " data-waits") {
			t.Errorf("%s waits without another site", query)
		}
	}
}

var (
	placeholder = regexp.MustCompile(`\{(\w+)\}`)
	fillings    = []string{
		"all", "good", "bad", "few", "rest", "one", "groups", "value", "kinds", "fastest", "slowest", "meet",
		"none", "path", "message",
	}
)

// Each page carries the sentences of its own tool, with a tone that pages have and placeholders that are filled in.
func TestSentencesOfQuorums(t *testing.T) {
	t.Parallel()
	site := placed(t, threePlaces)
	for _, slug := range slugs {
		if slug == "my-ip" {
			continue
		}
		carried, _ := attribute(one(t, document(t, site, "/tools/"+slug), "select", header{"id": "place"}), "data-sentences")
		var sentences map[string][2]string
		if err := json.Unmarshal([]byte(carried), &sentences); err != nil {
			t.Fatalf("%s: %v in %q", slug, err, carried)
		}
		needed := []string{"ONE", "NONE", "SAME", "ALL_GOOD", "ALL_BAD", "SPLIT"}
		if web.HasQuorum(slug) {
			needed = append(needed, "MOST_GOOD", "MOST_BAD")
		} else {
			needed = append(needed, "ALL_GOOD_DIFFER")
		}
		for _, code := range needed {
			if sentences[code][1] == "" {
				t.Errorf("%s has no sentence for %s", slug, code)
			}
		}
		for code, s := range sentences {
			tones := []string{"good", "warn", "bad", "info"}
			if !slices.Contains(tones, s[0]) || !strings.HasSuffix(strings.TrimSuffix(s[1], " {message}"), ".") {
				t.Errorf("%s %s: %q", slug, code, s)
			}
			if few, rest := strings.Index(s[1], "{few}"), strings.Index(s[1], "{rest}"); rest >= 0 && rest < few {
				t.Errorf("%s %s: the others come before those that they are others than", slug, code)
			}
			for _, m := range placeholder.FindAllStringSubmatch(s[1], -1) {
				if !slices.Contains(fillings, m[1]) {
					t.Errorf("%s %s: nothing fills in {%s}", slug, code, m[1])
				}
			}
		}
	}
	for _, slug := range []string{
		"uptime", "dns-lookup", "dns-resolver-check", "http-headers", "ssl-checker", "port-checker", "ping", "traceroute",
		"packet-loss",
	} {
		if !web.HasQuorum(slug) {
			t.Errorf("%s has no sentences of its own", slug)
		}
	}
}
