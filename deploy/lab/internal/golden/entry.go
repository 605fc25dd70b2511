package golden

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Request is the request.
type Request struct {
	Method, Path string
	// Header are the request's own headers beside those that every request of its kind has.
	Header http.Header
	Body   string
	// Note distinguishes requests that are otherwise equal.
	Note string
}

// Answer is what came back.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Entry is one exchange as it is recorded. Title is the request, with which its text begins.
type Entry struct {
	Title, Text string
}

// longest is how much of a request's body stands in a title.
const longest = 240

func (r Request) title() string {
	title := r.Method + " " + r.Path
	if r.Body != "" {
		title += " " + shortened(r.Body)
	}
	if r.Note != "" {
		title += " (" + r.Note + ")"
	}
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		for _, value := range r.Header[name] {
			title += "\n> " + name + ": " + value
		}
	}
	return title
}

// shortened is the beginning of a body, with escapes for what does not belong in a line of text.
func shortened(body string) string {
	var b strings.Builder
	for i, c := range body {
		if b.Len() >= longest {
			fmt.Fprintf(&b, "… (%d bytes)", len(body))
			break
		}
		switch {
		case c == utf8.RuneError:
			fmt.Fprintf(&b, `\x%02x`, body[i])
		case !unicode.IsPrint(c):
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// New records an exchange with its headers and its body. Bodies that are neither JSON nor plain text are left out: they
// are pages and files.
func New(r Request, a Answer) (Entry, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n< %d %s\n", r.title(), a.Status, http.StatusText(a.Status))
	writeHeader(&b, a.Header)
	if err := writeBody(&b, a); err != nil {
		return Entry{}, fmt.Errorf("%s: %w", r.title(), err)
	}
	return Entry{Title: r.title(), Text: b.String()}, nil
}

// NewShort records the status and the sentence of a failure alone.
func NewShort(r Request, status int, sentence string) Entry {
	return Entry{Title: r.title(), Text: fmt.Sprintf("%s\n< %d %s\n", r.title(), status, sentence)}
}

// NewLines records the conclusion of a stream: its state and brief, its message, and its meaning if it has one. A
// stream that concludes nothing has no text.
func NewLines(r Request, stream []byte) (Entry, error) {
	type conclusion struct {
		State, Brief, Message string
		Meaning               *string
	}
	r.Header = nil
	var last conclusion
	var status int
	for line := range bytes.Lines(stream) {
		var l struct {
			Step   struct{ Conclusion *conclusion }
			Data   struct{ Conclusion *conclusion }
			Status int
		}
		if err := json.Unmarshal(line, &l); err != nil {
			return Entry{}, fmt.Errorf("%s: %w", r.title(), err)
		}
		if c := cmp.Or(l.Data.Conclusion, l.Step.Conclusion); c != nil {
			last = *c
		}
		status = l.Status
	}
	if last.State == "" {
		return Entry{Title: r.title()}, nil
	}
	text := fmt.Sprintf("%s\n< %d %s: %s\n| %s\n", r.title(), status, last.State, last.Brief, last.Message)
	if last.Meaning != nil {
		text += "| " + *last.Meaning + "\n"
	}
	return Entry{Title: r.title(), Text: reworded(text)}, nil
}

// headerMasks are headers that differ from run to run; those without a placeholder are left out.
var headerMasks = map[string]string{
	"Content-Length":    "", // of a body with durations
	"Date":              "",
	"Etag":              "<etag>",
	"Retry-After":       "<seconds>",
	"X-Ratelimit-Reset": "<time>",
	"X-Request-Id":      "<uuid>",
}

func writeHeader(b *strings.Builder, h http.Header) {
	for _, name := range slices.Sorted(maps.Keys(h)) {
		to, masked := headerMasks[name]
		if masked && to == "" {
			continue
		}
		for _, value := range h[name] {
			if masked {
				value = to
			}
			fmt.Fprintf(b, "< %s: %s\n", name, value)
		}
	}
}

func writeBody(b *strings.Builder, a Answer) error {
	media, _, _ := mime.ParseMediaType(a.Header.Get("Content-Type"))
	switch {
	case len(a.Body) == 0:
	case media == "application/json":
		root, err := parse(a.Body)
		if err != nil {
			return err
		}
		root.apply(nil)
		root.render(b, "", width)
		b.WriteByte('\n')
	case media == "text/plain":
		for line := range strings.Lines(string(a.Body)) {
			b.WriteString("| " + strings.TrimSuffix(line, "\n") + "\n")
		}
	}
	return nil
}

// Join makes a file of entries.
func Join(entries []Entry) string {
	texts := make([]string, len(entries))
	for i, e := range entries {
		texts[i] = e.Text
	}
	return strings.Join(texts, "\n")
}

// Only a request begins with a method, and only an answer's status follows it.
var (
	begins = regexp.MustCompile(`(?m)^[A-Z]+ /`)
	status = regexp.MustCompile(`(?m)^< \d+ `)
)

// Split takes a file apart again.
func Split(file string) (entries []Entry) {
	starts := begins.FindAllStringIndex(file, -1)
	for i, at := range starts {
		end := len(file)
		if i+1 < len(starts) {
			end = starts[i+1][0] - 1 // the empty line between
		}
		text := file[at[0]:end]
		title := text
		if answer := status.FindStringIndex(text); answer != nil {
			title = text[:answer[0]-1]
		}
		entries = append(entries, Entry{Title: title, Text: text})
	}
	return entries
}
