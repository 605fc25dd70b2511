//go:build e2e

package e2e

import (
	"compress/gzip"
	"fmt"
	"strings"
	"testing"

	"diagnostics/lab"
)

// page is an answer with a body and a head that begins and goes on as given.
func page(statusLine, fields, body string) string {
	return statusLine + "\r\n" + fields + "\r\n" + body
}

const fine = "HTTP/1.1 200 OK"

// keptField is a field that must be kept, and the body.
const keptField = "X-Kept: 1\r\nContent-Length: 2\r\n\r\nok"

// reportedAnswers are answers of which browsers show the page, by what is noted here; those without a note are refused.
var reportedAnswers = []struct{ id, note, answer string }{
	{"H1 a line without a colon", "HEADER_LINE_SKIPPED", fine + "\r\nContent-Disposition = x\r\n" + keptField},
	{"H1 a line of HTML", "HEADER_LINE_SKIPPED", fine + "\r\nX-A: 2\r\n<!DOCTYPE html>\r\n" + keptField},
	{"H1 the status line twice", "HEADER_LINE_SKIPPED", fine + "\r\n" + fine + "\r\n" + keptField},
	{"H1 a bad first line", "HEADER_LINE_SKIPPED", fine + "\r\n folded\r\n" + keptField},
	{"H1 an interim answer", "HEADER_LINE_SKIPPED", "HTTP/1.1 103 Early Hints\r\nLink = x\r\n\r\n" +
		fine + "\r\n" + keptField},
	{"H2 tabs", "STATUS_LINE_REPAIRED", "HTTP/1.1\t200\tOK\r\n" + keptField},
	{"H2 lower case", "STATUS_LINE_REPAIRED", "http/1.1 200 OK\r\n" + keptField},
	{"H3 chunked twice", "TRANSFER_ENCODING_REPEATED", fine + "\r\nX-Kept: 1\r\nTransfer-Encoding: chunked\r\n" +
		"Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"},
	{"H3 identity", "TRANSFER_ENCODING_UNKNOWN", fine + "\r\nX-Kept: 1\r\nTransfer-Encoding: identity\r\n\r\nok"},
	{"H3 equal lengths", "CONTENT_LENGTH_REPEATED", fine + "\r\nX-Kept: 1\r\nContent-Length: 2, 2\r\n\r\nok"},
	{"H3 differing lengths", "", fine + "\r\nX-Kept: 1\r\nContent-Length: 2, 3\r\n\r\nok"},
	{"H4 a control character", "CONTROL_CHARACTER", fine + "\r\nSet-Cookie: a=b\x01c\r\nX-C: b\x01c\r\n" + keptField},
	{"H4 NUL", "", fine + "\r\nSet-Cookie: a=b\x00c\r\n" + keptField},
}

func reportedHeads(t *testing.T) (all []reportedInput) {
	paths := map[string]string{"/robots.txt": page(fine, "Content-Disposition = x\r\nContent-Type: text/plain\r\n",
		"User-agent: *\nDisallow: /x\n")}
	for i, h := range reportedAnswers {
		paths[fmt.Sprint("/", i)] = h.answer
	}
	s := play(t, "heads", answerWith(paths), "80")
	for i, h := range reportedAnswers {
		path := fmt.Sprint("/", i)
		beside(t, h.id, curl, "http://"+s.address+path)
		url := "http://" + s.host + path
		if h.note == "" {
			all = append(all, reportedInput{id: h.id, slug: "http-headers", input: url, status: 502},
				reportedInput{id: h.id, slug: "uptime", input: url, facts: facts{"verdict": "down"}})
			continue
		}
		noted := has("code", h.note)
		for slug, f := range map[string]facts{
			"http-headers":     {"status": 200, "headers": has("value", "1"), "notes": noted},
			"uptime":           {"verdict": "up", "notes": noted},
			"security-headers": {"status": 200, "notes": noted},
			"redirect-checker": {"outcome": "final", "hops.0.notes": noted},
		} {
			all = append(all, reportedInput{id: h.id, slug: slug, input: url, facts: f})
		}
		if h.note == "CONTROL_CHARACTER" {
			all = append(all, reportedInput{id: h.id, slug: "http-headers", input: url,
				facts: facts{"headers": has("value", `b\x01c`)}})
		}
	}
	return append(all, reportedInput{id: "H1 robots.txt", slug: "robots-sitemap", input: "http://" + s.host + "/",
		facts: facts{"robots.effect": "rules", "robots.notes": has("code", "HEADER_LINE_SKIPPED")}})
}

const curl = `curl --silent --compressed --max-time 5 --output /dev/null ` +
	`--write-out '%{http_code}, exit code %{exitcode} %{errormsg}' "$@"`

// reportedFiles are robots.txt and sitemaps behind caches that add to them, and a sitemap behind blank lines.
func reportedFiles(t *testing.T) []reportedInput {
	const trailer = "<!-- cached -->"
	const home = "http://files." + reportedZone + "/"
	const urlset = `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` +
		"<url><loc>" + home + "</loc></url></urlset>"
	const robots = "User-agent: *\nDisallow: /x\nSitemap: " + home + "file.xml.gz\nSitemap: " + home + "blank.xml\n"
	send := func(fields, body string) string {
		return page(fine, fields+fmt.Sprintf("Content-Length: %d\r\n", len(body)), body)
	}
	s := play(t, "files", answerWith(map[string]string{
		"/robots.txt":  send("Content-Type: text/plain\r\nContent-Encoding: gzip\r\n", gzipped(robots)+trailer),
		"/sitemap.xml": send("Content-Type: application/xml\r\nContent-Encoding: gzip\r\n", gzipped(urlset)+trailer),
		"/file.xml.gz": send("Content-Type: application/gzip\r\n", gzipped(urlset)+trailer),
		"/blank.xml":   send("Content-Type: application/xml\r\n", "\n\n"+urlset),
	}), "80")
	beside(t, "H6 Content-Encoding", curl, "http://"+s.address+"/robots.txt")
	return []reportedInput{
		{id: "H6 Content-Encoding", slug: "robots-sitemap", input: home, facts: facts{
			"robots.status": "found", "robots.effect": "rules", "robots.issues": has("code", "TRAILING_BYTES"),
			"sitemap.status": "found", "sitemap.urlCount": 1, "sitemap.issues": has("code", "TRAILING_BYTES")}},
		{id: "H6 a file", slug: "robots-sitemap", input: home, facts: facts{
			"sitemaps.0.status": "found", "sitemaps.0.urlCount": 1, "sitemaps.0.issues": has("code", "TRAILING_BYTES")}},
		{id: "H7 blank lines before <?xml", slug: "robots-sitemap", input: home, facts: facts{
			"sitemaps.1.status": "invalid", "sitemaps.1.urlCount": 1, "sitemaps.1.issues": has("line", 3.0)}},
	}
}

func gzipped(text string) string {
	var b strings.Builder
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text)) // into memory, where nothing fails
	_ = w.Close()
	return b.String()
}

// reportedRedirects are Locations that browsers repair. node(1) resolves URLs as browsers do (WHATWG URL).
func reportedRedirects(t *testing.T) (all []reportedInput) {
	const host = "redirects." + lab.SiteZone
	for location, final := range map[string]string{
		"/100%-off":                         "http://" + host + "/100%25-off",
		`/a\b`:                              "http://" + host + "/a/b",
		"/a\tb":                             "http://" + host + "/ab",
		"http:///www." + lab.SiteZone + "/": "http://www." + lab.SiteZone + "/",
		`/\www.` + lab.SiteZone + "/":       "http://www." + lab.SiteZone + "/",
	} {
		beside(t, fmt.Sprintf("H5 %q", location), `node -p 'new URL(process.argv[1], process.argv[2]).href' "$@"`, location,
			"http://"+host+"/to")
		all = append(all, reportedInput{id: fmt.Sprintf("H5 %q", location), slug: "redirect-checker",
			input: lab.RedirectTo(host, location, 302),
			facts: facts{"outcome": "final", "finalUrl": final, "hops.0.flags": hasAll("repairedLocation")}})
	}
	return append(all, reportedInput{id: "H5 a private host behind slashes", slug: "redirect-checker",
		input: lab.RedirectTo(host, "http:///10.0.0.1/", 302), facts: facts{"outcome": "blocked",
			"hops.0.flags": hasAll("repairedLocation"), "summary": contains("Browsers follow it")}})
}
