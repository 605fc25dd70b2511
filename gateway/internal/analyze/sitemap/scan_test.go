package sitemap

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

// event is a token in words, for comparing.
func event(kind string, space, local string) string { return kind + " " + space + "|" + local }

// scanned are the events of a text, and whether it is well-formed as far as tokens go.
func scanned(from io.Reader) (events []string, ok bool) {
	s := newScanner(from, func(string, io.Reader) (io.Reader, error) { return nil, errors.New("another encoding") })
	var all strings.Builder
	flush := func() {
		if all.Len() > 0 {
			events = append(events, "text "+all.String())
			all.Reset()
		}
	}
	for {
		t, err := s.next()
		if err != nil {
			flush()
			return events, errors.Is(err, io.EOF)
		}
		switch t.kind {
		case text:
			all.Write(t.text)
		case start:
			flush()
			events = append(events, event("start", t.name.space, t.name.local))
			for rest := trimLeft(t.attributes); len(rest) > 0; {
				attribute, value, after, _ := cutAttribute(rest)
				plain, _ := s.unescape(value, true)
				events = append(events, event("attribute", attribute.space, attribute.local)+"="+string(plain))
				rest = trimLeft(after)
			}
		case end:
			flush()
			events = append(events, event("end", t.name.space, t.name.local))
		}
	}
}

// standard are those that encoding/xml gives.
func standard(from string) (events []string, ok bool) {
	d := xml.NewDecoder(strings.NewReader(from))
	d.CharsetReader = func(string, io.Reader) (io.Reader, error) { return nil, errors.New("another encoding") }
	var all strings.Builder
	flush := func() {
		if all.Len() > 0 {
			events = append(events, "text "+all.String())
			all.Reset()
		}
	}
	for {
		t, err := d.RawToken()
		if err != nil {
			flush()
			return events, errors.Is(err, io.EOF)
		}
		switch t := t.(type) {
		case xml.CharData:
			all.Write(t)
		case xml.StartElement:
			flush()
			events = append(events, event("start", t.Name.Space, t.Name.Local))
			for _, a := range t.Attr {
				events = append(events, event("attribute", a.Name.Space, a.Name.Local)+"="+a.Value)
			}
		case xml.EndElement:
			flush()
			events = append(events, event("end", t.Name.Space, t.Name.Local))
		}
	}
}

var documents = []string{
	`<a/>`, `<a></a>`, `<a b="c" d='e'/>`, `<a b = "c"d="e" ></a >`, `<s:a xmlns:s="x"><s:b/></s:a>`, `<:a/>`, `<a:/>`, `<a:b:c/>`,
	`<a>b&amp;c&lt;&gt;&quot;&apos;&#65;&#x42;&#x1F600;</a>`, `<a>&#0;</a>`, `<a>&#x110000;</a>`, `<a>&nbsp;</a>`, `<a>& </a>`, `<a>&;</a>`, `<a>&#;</a>`, `<a>&#x;</a>`, `<a>&#+65;</a>`, `<a>&#-65;</a>`, `<a>&#x+41;</a>`, `<a>&#4_1;</a>`, `<a>&#X41;</a>`, `<a>&#4294967361;</a>`,
	`<a b="&amp;&#10;"/>`, `<a b="<"/>`, `<a b='">'/>`, `<a b=c/>`, `<a b/>`, `<a b=/>`, `<a "/>`, `< a/>`, `<a/ >`, `<a / >`, `<1/>`, `<-/>`, `<a b="c/>`,
	"<a>b\r\nc\rd\n</a>", "<a b='\r\n'/>", "<a>\x01</a>", "<a>\x7f</a>", "<a>\xff</a>", "<a>\ufffe</a>", "<a>日本</a>", "<日本/>", "<a>]]></a>", "<a>]]&gt;</a>", "<a>]</a>",
	`<!-- b --><a/>`, `<!----><a/>`, `<!-- -- -->`, `<!--->-->`, `<!-- b`, `<!- b -->`, `<!-->`, `<!`, `<!-`, `<`, `<a`, `</a`, `</a b>`, `</ a>`, `</>`, `<>`,
	`<![CDATA[<b>&amp;]]>`, `<![CDATA[]]>`, `<![CDATA[ ]] ]]>`, `<![CDATA]]>`, `<![cdata[]]>`, "<![CDATA[\x02]]>",
	`<!DOCTYPE a [<!ENTITY b "c>"><!-- > ' -->]><a/>`, `<!DOCTYPE a "b>c" >`, `<!>`, `<!DOCTYPE a [<b>`,
	`<?xml version="1.0"?><a/>`, `<?xml version="1.1"?><a/>`, `<?xml encoding='utf-8'?>`, `<?xml encoding='koi8-r'?>`, `<?b?>`, `<? b?>`, `<?b`, `<??>`, `<?b c?d?>`,
	``, ` `, `text`, `a<b>c</b>d`,
}

func TestScannerBesideTheStandardLibrary(t *testing.T) {
	t.Parallel()
	for _, document := range documents {
		want, well := standard(document)
		for name, from := range map[string]io.Reader{"at once": strings.NewReader(document),
			"a byte at a time": iotest.OneByteReader(strings.NewReader(document)), "with its end": iotest.DataErrReader(strings.NewReader(document))} {
			got, ok := scanned(from)
			if ok != well || ok && !slices.Equal(got, want) {
				t.Errorf("%q %s: %q, well-formed %t; encoding/xml says %q, %t", document, name, got, ok, want, well)
			}
		}
	}
}

func FuzzScanner(f *testing.F) {
	for _, document := range documents {
		f.Add(document)
	}
	f.Fuzz(func(t *testing.T, document string) {
		for _, c := range []byte(document) {
			if c >= 0x80 {
				return // which letters names may have differs
			}
		}
		got, ok := scanned(strings.NewReader(document))
		want, well := standard(document)
		if strings.ContainsRune(strings.Join(want, ""), utf8.RuneError) {
			return // encoding/xml takes references to surrogates, which XML does not allow
		}
		if ok != well || ok && !slices.Equal(got, want) {
			t.Errorf("%q, well-formed %t; encoding/xml says %q, %t", got, ok, want, well)
		}
	})
}

// BenchmarkRead beside encoding/xml, which reads the same.
func BenchmarkRead(b *testing.B) {
	for name, piece := range map[string]string{
		"tags":     "<url/>",
		"comments": "<!--" + strings.Repeat(" ", 1017) + "-->",
		"entries": "<url>\n<loc>https://example.com/some/path/that/is/long</loc>\n<lastmod>2026-01-01</lastmod>\n" +
			"<changefreq>daily</changefreq>\n<priority>0.5</priority>\n</url>\n",
	} {
		document := set(strings.Repeat(piece, 8<<20/len(piece)))
		b.Run(fmt.Sprintf("%s/scanner", name), func(b *testing.B) {
			b.SetBytes(int64(len(document)))
			for b.Loop() {
				readText(document)
			}
		})
		b.Run(fmt.Sprintf("%s/encoding-xml", name), func(b *testing.B) {
			b.SetBytes(int64(len(document)))
			for b.Loop() {
				for d := xml.NewDecoder(strings.NewReader(document)); ; {
					if _, err := d.RawToken(); err != nil {
						break
					}
				}
			}
		})
	}
}
