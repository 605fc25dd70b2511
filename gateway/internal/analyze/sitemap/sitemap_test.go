package sitemap

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"diagnostics/gateway/internal/tool/finding"
)

const ns = `xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"`

var now = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

func readText(s string) Report {
	return Read(Source{Body: strings.NewReader(s), Host: "example.com", Now: now})
}

func zip(t testing.TB, s string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, s); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// spoilt is a gzip whose checksum does not hold.
func spoilt(zip string) string { return zip[:len(zip)-5] + "\xff" + zip[len(zip)-4:] }

func codesOf(r Report) []string {
	out := []string{}
	for _, i := range r.Issues {
		out = append(out, fmt.Sprintf("%s@%d", i.Code, i.Line))
	}
	return out
}

func set(entries string) string { return "<urlset " + ns + ">" + entries + "</urlset>" }

func loc(n int) string { return fmt.Sprintf("<url><loc>https://example.com/%d</loc></url>", n) }

func TestRead(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		file   string
		kind   Kind
		valid  bool
		count  int
		last   string
		issues []string
	}{
		"urlset": {`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + set("\n<url>\n<loc> https://example.com/?a=1&amp;b=2 </loc><lastmod>2024-05-06</lastmod><changefreq>daily</changefreq></url>"+
			"<url><loc>https://EXAMPLE.com/b</loc><lastmod>2024-05-06T07:08:09+02:00</lastmod></url>"), URLSet, true, 2, "2024-05-06T05:08:09Z", nil},
		"index": {"<sitemapindex " + ns + "><sitemap><loc>https://example.com/1.xml</loc><lastmod>2020</lastmod></sitemap>" +
			"<sitemap><loc>https://example.com/2.xml</loc><lastmod>2021-02</lastmod></sitemap></sitemapindex>", Index, true, 2, "2021-02-01T00:00:00Z", nil},
		"prefixed": {`<s:urlset xmlns:s="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">` +
			`<s:url><s:loc>https://example.com/</s:loc><image:image><image:loc>https://cdn.example.net/i.png</image:loc></image:image></s:url></s:urlset>`, URLSet, true, 1, "", nil},
		"other elements in an entry": {set(`<url xmlns:x="y"><x:loc>nothing</x:loc><loc>https://example.com/</loc><x:lastmod>never</x:lastmod></url><x:url/>`), URLSet, true, 1, "", nil},
		"CDATA":                      {set("<url><loc><![CDATA[https://example.com/?a&b]]></loc></url>"), URLSet, true, 1, "", nil},
		"text in parts":              {set("<url><loc>https://<!-- x -->example.com/</loc></url>"), URLSet, true, 1, "", nil},
		"byte order mark, blank":     {"\xef\xbb\xbf \r\n" + set(loc(1)), URLSet, true, 1, "", nil},
		"gzip":                       {zip(t, set(loc(1))), URLSet, true, 1, "", nil},
		"gzip twice":                 {zip(t, zip(t, set(loc(1)))), URLSet, true, 1, "", nil},
		"gzip three times":           {zip(t, zip(t, zip(t, set(loc(1))))), "", false, 0, "", []string{"NOT_A_SITEMAP@0"}},
		"gzip of nothing":            {zip(t, ""), "", false, 0, "", []string{"EMPTY@0"}},
		"gzip and a comment":         {zip(t, set(loc(1))) + "<!-- cached -->", URLSet, true, 1, "", []string{"TRAILING_BYTES@0"}},
		"two members and zeroes":     {zip(t, set(loc(1))[:50]) + zip(t, set(loc(1))[50:]) + "\x00\x00", URLSet, true, 1, "", []string{"TRAILING_BYTES@0"}},
		"gzip in gzip and a comment": {zip(t, zip(t, set(loc(1)))+"x") + "x", URLSet, true, 1, "", []string{"TRAILING_BYTES@0"}},
		"gzip of a page and more":    {zip(t, "<html>") + "x", "", false, 0, "", []string{"TRAILING_BYTES@0", "SITEMAP_IS_A_PAGE@0"}},
		"a spoilt gzip":              {spoilt(zip(t, set(loc(1)+loc(2)))), URLSet, false, 2, "", []string{"CORRUPT_GZIP@0"}},
		"blank lines before <?xml":   {"\n\r\n" + `<?xml version="1.0"?>` + set(loc(1)+"\n<url/>"), URLSet, false, 2, "", []string{"MALFORMED_XML@3", "MISSING_LOC@4"}},
		"a mark, blank, <?xml":       {"\xef\xbb\xbf " + `<?xml version="1.0"?>` + set(loc(1)), URLSet, false, 1, "", []string{"MALFORMED_XML@1"}},
		"a comment before <?xml":     {"<!-- x -->\n" + `<?xml version="1.0"?>` + set(loc(1)), URLSet, false, 1, "", []string{"MALFORMED_XML@2"}},
		"a mark before <?xml":        {"\xef\xbb\xbf" + `<?xml version="1.0"?>` + set(loc(1)), URLSet, true, 1, "", nil},
		"blank lines before all":     {"\n\n" + set("<url/>"), URLSet, true, 1, "", []string{"MISSING_LOC@3"}},
		"another instruction first":  {"\n<?xml-stylesheet x?>" + set(loc(1)), URLSet, true, 1, "", nil},
		"blank lines before text":    {"\n\nhttps://example.com/\nhello", Text, true, 2, "", []string{"BAD_LOC@4"}},
		"corrupt gzip":               {"\x1f\x8b\x08 not gzip at all", "", false, 0, "", []string{"CORRUPT_GZIP@0"}},
		"half a gzip":                {zip(t, set(loc(1)))[:40], "", false, 0, "", []string{"CORRUPT_GZIP@0"}},
		"no gzip header":             {"\x1f\x8b\x09", "", false, 0, "", []string{"CORRUPT_GZIP@0"}},
		"text":                       {"\n  https://example.com/\r\nhttp://example.com/b\n\n", Text, true, 2, "", nil},
		"text with a stray line":     {"https://example.com/\nhello\nworld\n", Text, true, 3, "", []string{"BAD_LOC@2"}},
		"gzipped text":               {zip(t, "https://example.com/"), Text, true, 1, "", nil},
		"prose":                      {"Not found", "", false, 0, "", []string{"NOT_A_SITEMAP@0"}},
		"a line without end":         {strings.Repeat("x", maxToken+1), "", false, 0, "", []string{"NOT_A_SITEMAP@0"}},
		"nothing":                    {"", "", false, 0, "", []string{"EMPTY@0"}},
		"blanks alone":               {" \n\t", "", false, 0, "", []string{"EMPTY@0"}},
		"blanks without end":         {strings.Repeat(" ", maxBlank+1) + set(loc(1)), "", false, 0, "", []string{"NOT_A_SITEMAP@0"}},
		"UTF-16":                     {"\xff\xfe<\x00u\x00", "", false, 0, "", []string{"ENCODING_NOT_READ@0"}},
		"UTF-16, big end first":      {"\xfe\xff\x00<", "", false, 0, "", []string{"ENCODING_NOT_READ@0"}},
		"HTML":                       {"<!DOCTYPE html><html></html>", "", false, 0, "", []string{"SITEMAP_IS_A_PAGE@0"}},
		"XHTML":                      {`<?xml version="1.0"?><!DOCTYPE html PUBLIC "x" "y"><html/>`, "", false, 0, "", []string{"SITEMAP_IS_A_PAGE@0"}},
		"late HTML":                  {"<!--" + strings.Repeat("x", sniff) + "--><html/>", "", false, 0, "", []string{"SITEMAP_IS_A_PAGE@1"}},
		"RSS":                        {`<rss version="2.0"><channel/></rss>`, "", true, 0, "", []string{"FEED@0"}},
		"Atom":                       {`<feed xmlns="http://www.w3.org/2005/Atom"><entry></feed>`, "", true, 0, "", []string{"FEED@0"}},
		"other XML":                  {"<Error><Code>AccessDenied</Code></Error>", "", false, 0, "", []string{"UNKNOWN_ROOT@1"}},
		"no namespace":               {"<urlset>" + loc(1) + "</urlset>", URLSet, true, 1, "", []string{"NAMESPACE@0"}},
		"another namespace":          {`<urlset xmlns="https://www.sitemaps.org/schemas/sitemap/0.9">` + loc(1) + "</urlset>", URLSet, true, 1, "", []string{"NAMESPACE@0"}},
		"prefix of another":          {`<s:urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:s="x"><s:url><s:loc>https://example.com/</s:loc></s:url></s:urlset>`, URLSet, true, 1, "", []string{"NAMESPACE@0"}},
		"no entries":                 {set(""), URLSet, true, 0, "", []string{"NO_URLS@0"}},
		"no loc":                     {set("<url/>\n<url><loc> </loc></url>\n<url><lastmod>2020</lastmod></url>"), URLSet, true, 3, "2020-01-01T00:00:00Z", []string{"MISSING_LOC@1"}},
		"bad locs":                   {set("<url><loc>/a</loc></url>\n<url><loc>ftp://example.com/</loc></url><url><loc>http://[</loc></url>"), URLSet, true, 3, "", []string{"BAD_LOC@1"}},
		"loc of 2,047 and 2,048": {set("<url><loc>https://example.com/" + strings.Repeat("x", 2047-20) + "</loc></url>\n<url><loc>https://example.com/" + strings.Repeat("x", 2048-20) + "</loc></url>"),
			URLSet, true, 2, "", []string{"LONG_LOC@2"}},
		"other hosts": {set(loc(1) + "\n<url><loc>https://www.example.com/</loc></url>"), URLSet, true, 2, "", []string{"OTHER_HOST@2"}},
		"bad dates": {set("<url><loc>https://example.com/</loc><lastmod>yesterday</lastmod></url>\n<url><loc>https://example.com/</loc><lastmod>2024-13-01</lastmod></url>" +
			"<url><loc>https://example.com/</loc><lastmod>2024-01-01 10:00</lastmod></url>"), URLSet, true, 3, "", []string{"BAD_LASTMOD@1"}},
		"a day ahead":     {set("<url><loc>https://example.com/</loc><lastmod>2026-06-02T12:00:00Z</lastmod></url>"), URLSet, true, 1, "2026-06-02T12:00:00Z", nil},
		"the future":      {set("<url><loc>https://example.com/</loc><lastmod>2026-06-02T12:00:01Z</lastmod></url>"), URLSet, true, 1, "2026-06-02T12:00:01Z", []string{"FUTURE_LASTMOD@1"}},
		"unclosed":        {"<urlset " + ns + ">\n" + loc(1) + "\n", URLSet, false, 1, "", []string{"MALFORMED_XML@3"}},
		"inside a tag":    {"<urlset " + ns + "><ur", URLSet, false, 0, "", []string{"MALFORMED_XML@1"}},
		"crossed tags":    {set("<url><loc></url></loc>"), URLSet, false, 1, "", []string{"MALFORMED_XML@1"}},
		"too many ends":   {set(loc(1)) + "</urlset>", URLSet, false, 1, "", []string{"MALFORMED_XML@1"}},
		"two roots":       {set(loc(1)) + "<urlset/>", URLSet, false, 1, "", []string{"MALFORMED_XML@1"}},
		"text after it":   {set(loc(1)) + "\nhello", URLSet, false, 1, "", []string{"MALFORMED_XML@2"}},
		"comment after":   {set(loc(1)) + "\n<!-- bye -->\n", URLSet, true, 1, "", nil},
		"no root":         {"<?xml version=\"1.0\"?>\n<!-- -->", "", false, 0, "", []string{"NOT_A_SITEMAP@0"}},
		"bad UTF-8":       {set("<url><loc>https://example.com/\xff</loc></url>"), URLSet, false, 1, "", []string{"MALFORMED_XML@1"}},
		"XML 1.1":         {`<?xml version="1.1"?>` + set(loc(1)), "", false, 0, "", []string{"MALFORMED_XML@1"}},
		"Latin-1":         {`<?xml version="1.0" encoding="ISO-8859-1"?>` + set("<url><loc>https://example.com/caf\xe9</loc></url>"), URLSet, true, 1, "", []string{"ENCODING@0"}},
		"Shift JIS":       {`<?xml version="1.0" encoding="Shift_JIS"?>` + set("<url><loc>https://example.com/\x93\xfa</loc></url>"), URLSet, true, 1, "", []string{"ENCODING@0"}},
		"utf8":            {`<?xml version="1.0" encoding="utf8"?>` + set(loc(1)), URLSet, true, 1, "", nil},
		"declared UTF-16": {`<?xml version="1.0" encoding="UTF-16"?>` + set(loc(1)), "", false, 0, "", []string{"ENCODING_NOT_READ@1"}},
		"unknown charset": {`<?xml version="1.0" encoding="x-nothing"?>` + set(loc(1)), "", false, 0, "", []string{"ENCODING_NOT_READ@1"}},
		"two charsets":    {strings.Repeat(`<?xml version="1.0" encoding="latin1"?>`, 2) + set(loc(1)), "", false, 0, "", []string{"ENCODING@0", "MALFORMED_XML@1"}},
		"replacement":     {`<?xml version="1.0" encoding="iso-2022-kr"?>` + set(loc(1)), "", false, 0, "", []string{"ENCODING_NOT_READ@1"}},
		"attributes":      {set("<url>" + strings.Repeat("<a"+strings.Repeat(` b=""`, maxToken/(5+attributeSize)-1)+"/>", 2) + "</url>"), URLSet, true, 1, "", []string{"MISSING_LOC@1"}},
		"more of them":    {set("<url><a" + strings.Repeat(` b=""`, maxToken/(5+attributeSize)+1) + "/></url>"), URLSet, false, 1, "", []string{"MALFORMED_XML@1"}},
		"an HTML entity":  {set("<url><loc>https://example.com/&nbsp;</loc></url>"), URLSet, false, 1, "", []string{"MALFORMED_XML@1"}},
		"an entity bomb":  {`<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>` + set("<url><loc>&b;</loc></url>"), URLSet, false, 1, "", []string{"MALFORMED_XML@1"}},
		"an outer entity": {`<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>` + set("<url><loc>&a;</loc></url>"), URLSet, false, 1, "", []string{"MALFORMED_XML@1"}},
		"deep":            {set("<url>" + strings.Repeat("<a>", maxDepth-2) + strings.Repeat("</a>", maxDepth-2) + "<loc>https://example.com/</loc></url>"), URLSet, true, 1, "", nil},
		"too deep":        {set("<url>" + strings.Repeat("<a>", maxDepth-1)), URLSet, false, 1, "", []string{"TOO_DEEP@1"}},
		"a long token":    {set("<!--" + strings.Repeat("x", maxToken-8) + "-->" + loc(1)), URLSet, true, 1, "", nil},
		"a longer one":    {set("<!--" + strings.Repeat("x", maxToken) + "-->" + loc(1)), URLSet, false, 0, "", []string{"MALFORMED_XML@1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := readText(test.file)
			if got.Kind != test.kind || got.Valid != test.valid || got.Count != test.count || got.Truncated || got.Err != nil {
				t.Errorf("got %+v", got)
			}
			last := ""
			if !got.LastModified.IsZero() {
				last = got.LastModified.Format(time.RFC3339)
			}
			if last != test.last {
				t.Errorf("last modified %q, want %q", last, test.last)
			}
			if codes := codesOf(got); !slices.Equal(codes, test.issues) {
				t.Errorf("issues %v, want %v: %+v", codes, test.issues, got.Issues)
			}
			if len(test.file) > maxBlank {
				return
			}
			// The same a byte at a time, as a slow server sends it.
			slow := Read(Source{Body: iotest.OneByteReader(strings.NewReader(test.file)), Host: "example.com", Now: now})
			if slow.Count != got.Count || slow.Valid != got.Valid || !slices.Equal(codesOf(slow), codesOf(got)) {
				t.Errorf("a byte at a time: %+v", slow)
			}
		})
	}
}

func TestDates(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2024": "2024-01-01T00:00:00Z", "2024-02": "2024-02-01T00:00:00Z", "2024-02-29": "2024-02-29T00:00:00Z",
		"2024-02-29T23:59Z": "2024-02-29T23:59:00Z", "2024-02-29T23:59+09:30": "2024-02-29T14:29:00Z",
		"2024-02-29T23:59:58Z": "2024-02-29T23:59:58Z", "2024-02-29T23:59:58.5-01:00": "2024-03-01T00:59:58Z",
		"2023-02-29": "", "24-01-01": "", "2024-1-1": "", "2024-01-01T10:00": "", "2024-01-01T10:00:00": "", "20240101": "", "2024-02-29T25:00Z": "", "now": "",
		"9999-12-31T23:59:59Z": "9999-12-31T23:59:59Z", "9999-12-31T23:59:59-01:00": "", "0000-01-01T00:00:00+01:00": "",
	} {
		at, ok := w3cDate(text)
		if got := at.Format(time.RFC3339); ok != (want != "") || ok && got != want {
			t.Errorf("%s: %s, %t; want %q", text, got, ok, want)
		}
	}
}

func TestRepeatedIssuesAreCounted(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]finding.Args{1: nil, 2: {"once": true}, 5: {"more": 4}} {
		got := readText(set(strings.Repeat("<url/>", n)))
		if len(got.Issues) != 1 || !maps.Equal(got.Issues[0].Args, want) {
			t.Errorf("%d: %+v", n, got.Issues)
		}
	}
}

func TestNumberOfURLs(t *testing.T) {
	t.Parallel()
	entry := loc(1)
	for n, want := range map[int][]string{MaxURLs: {}, MaxURLs + 1: {"TOO_MANY_URLS@0"}} {
		if got := readText(set(strings.Repeat(entry, n))); got.Count != n || !got.Valid || !slices.Equal(codesOf(got), want) {
			t.Errorf("%d URLs: %d, %v", n, got.Count, got.Issues)
		}
	}
}

// filler is a sitemap of exactly size bytes.
func filler(size int) string {
	return strings.TrimSuffix(set(loc(1)), "</urlset>") + strings.Repeat(" ", size-len(set(loc(1)))) + "</urlset>"
}

func TestLengthOfAFile(t *testing.T) {
	t.Parallel()
	b := bounds{text: 10_000, packed: maxPacked}
	for _, pack := range []func(string) string{func(s string) string { return s },
		func(s string) string { return zip(t, s) }} {
		if got := read(Source{Body: strings.NewReader(pack(filler(10_000))), Host: "example.com", Now: now},
			b); !got.Valid || got.Truncated || got.Count != 1 || len(got.Issues) != 0 {
			t.Errorf("as long as may be: %+v", got)
		}
		got := read(Source{Body: strings.NewReader(pack(filler(10_001))), Host: "example.com", Now: now}, b)
		if !got.Valid || !got.Truncated || !slices.Equal(codesOf(got), []string{"SITEMAP_TOO_LONG@0"}) {
			t.Errorf("a byte more: %+v", got)
		}
	}
}

// limited ends with ErrLimit after left bytes, as a caller's bound does.
type limited struct {
	from io.Reader
	left int
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left == 0 {
		return 0, ErrLimit
	}
	n, err := l.from.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
}

func TestBoundsOfTheCaller(t *testing.T) {
	t.Parallel()
	text := set(strings.Repeat(loc(1), 1000))
	cut := len("<urlset "+ns+">") + 10*len(loc(1))
	for name, s := range map[string]Source{
		"as it comes":  {Body: &limited{strings.NewReader(text), cut}},
		"decompressed": {Body: strings.NewReader(zip(t, text)), Limit: func(r io.Reader) io.Reader { return &limited{r, cut} }},
	} {
		s.Host, s.Now = "example.com", now
		got := Read(s)
		if !got.Valid || !got.Truncated || got.Kind != URLSet || got.Count != 10 || len(got.Issues) != 0 || got.Err != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestBombs: what shrinks to nothing ends at the bound, whichever layer it is in.
func TestBombs(t *testing.T) {
	t.Parallel()
	var bomb bytes.Buffer
	w, err := gzip.NewWriterLevel(&bomb, gzip.BestSpeed) // it takes a second under the race detector, and any other three
	if err != nil {
		t.Fatal(err)
	}
	line := "https://example.com/" + strings.Repeat("x", 200_000) + "\n"
	for size := 0; size <= MaxBytes; size += len(line) {
		_, _ = io.WriteString(w, line)
	}
	_ = w.Close()
	if bomb.Len() > 1<<20 {
		t.Fatalf("the bomb is of %d bytes", bomb.Len())
	}
	if got := Read(Source{Body: &bomb, Host: "example.com", Now: now}); !got.Truncated ||
		!slices.Equal(codesOf(got), []string{"LONG_LOC@1", "SITEMAP_TOO_LONG@0"}) {
		t.Errorf("%+v", got)
	}
	// A bomb of empty gzip members inside gzip never gives a byte of text.
	empty := zip(t, "")
	inner := strings.Repeat(empty, 1000)
	for packed, truncated := range map[int]bool{len(inner): false, len(inner) - 1: true} {
		got := read(Source{Body: strings.NewReader(zip(t, inner)), Now: now}, bounds{text: MaxBytes, packed: int64(packed)})
		if got.Truncated != truncated || got.Count != 0 {
			t.Errorf("%d of %d bytes: %+v", packed, len(inner), got)
		}
	}
}

func TestFailuresOfTheReader(t *testing.T) {
	t.Parallel()
	failure := errors.New("reset")
	for name, before := range map[string]string{"at once": "", "in the XML": "<urlset " + ns + ">" + loc(1),
		"in the text": "https://example.com/\n", "in the gzip": zip(t, set(loc(1)))[:30]} {
		got := Read(Source{Body: io.MultiReader(strings.NewReader(before), iotest.ErrReader(failure)), Now: now})
		if got.Valid || got.Truncated || !errors.Is(got.Err, failure) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{
		"", set(loc(1)), zip(f, set(loc(1))), "https://example.com/\n", "<sitemapindex/>", `<?xml version="1.0" encoding="latin1"?><urlset>` + "\xe9",
		"<!DOCTYPE a [<!ENTITY b 'c'>]><urlset>&b;</urlset>", "<rss/>", "<a:urlset xmlns:a='b'><a:url><a:lastmod>2020-01-01</a:lastmod></a:url></a:urlset>", "\x1f\x8b",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got := Read(Source{Body: bytes.NewReader(body), Host: "example.com", Now: now})
		if got.Err != nil {
			t.Fatalf("the reader does not fail, but: %v", got.Err)
		}
		if got.Issues == nil || !got.Valid && len(got.Issues) == 0 || got.Truncated && !got.Valid &&
			!slices.ContainsFunc(got.Issues, func(i Issue) bool { return i.Code == CodeMalformed }) {
			t.Fatalf("%+v", got)
		}
		if got.Kind == "" && (got.Count > 0 || !got.LastModified.IsZero()) {
			t.Fatalf("%+v", got)
		}
	})
}
