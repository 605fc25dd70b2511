package web

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
)

// curlView is the request of a page's link as a line for a POSIX shell, for visitors without JavaScript.
type curlView struct {
	Line string
	// Elsewhere is the origin that stands for the service's own, empty where the line has that.
	Elsewhere string
}

// curl returns the request of a page with a target, nil where the tool does not accept it, or where a text in it has
// characters that a terminal does not show as they are.
func (s *Site) curl(t toolView, p page) *curlView {
	input, options := p.request()
	hidden := strings.ContainsFunc(input, unseen) ||
		slices.ContainsFunc(p.Fields, func(f field) bool {
			return f.chosen() != "" && strings.ContainsFunc(strings.TrimSpace(f.Value), unseen)
		})
	if _, accepted := t.parse(input, options); input == "" || hidden || !accepted {
		return nil
	}
	if p.Places != nil && p.Places.Chosen != "" {
		if p.Places.Chosen == everywhere || p.Places.Gone != "" {
			return nil
		}
		options["place"] = encoded(p.Places.Chosen)
	}
	view := curlView{}
	origin := s.config.PublicOrigin
	if origin == "" {
		origin, view.Elsewhere = someOrigin, someOrigin
	}
	body := encoded(struct {
		Input   string                     `json:"input"`
		Options map[string]json.RawMessage `json:"options,omitempty"`
	}{input, options})
	view.Line = "curl -sS -H 'Content-Type: application/json' -d " + quoted(string(body)) + " " +
		quoted(origin+"/api/tools/"+t.Slug)
	return &view
}

// request returns the target of the link and the options that it sets, as the API takes them.
func (p page) request() (input string, options map[string]json.RawMessage) {
	options = map[string]json.RawMessage{}
	for _, f := range p.Fields {
		if f.chosen() != "" {
			options[f.Name] = f.encoded(strings.TrimSpace(f.Value))
		}
	}
	return strings.TrimSpace(p.Input), options
}

// encoded is the value of an option as the API takes it. What is no number or boolean stays text, which is refused.
func (f field) encoded(text string) json.RawMessage {
	bare := json.RawMessage(text)
	if (f.Number || f.Boolean) && json.Valid(bare) {
		return bare
	}
	return encoded(text)
}

// encoded is a value as JSON, with <, > and & as they are: the page escapes them.
func encoded(v any) json.RawMessage {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic(err) // texts always encode
	}
	return bytes.TrimSpace(text.Bytes())
}

// unseen reports whether a character is a control or a format character, such as those that turn the direction of
// writing, or a line or paragraph separator.
func unseen(r rune) bool {
	return r == unicode.ReplacementChar || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}
