package web

import (
	"strings"
)

// API is what the page on the API shows: the API's description as plain data. In its texts an empty line begins a new
// paragraph, and what stands in backticks is code.
type API struct {
	// Tools are the tools by their slugs.
	Tools map[string]APITool
	// Others are the addresses that are no tool and no page.
	Others []APIRoute
	// Statuses are those that a tool may answer with, Headers those of such answers.
	Statuses, Headers []APIField
}

// APITool is one tool.
type APITool struct {
	Summary, Text string
	// Input says what the input is.
	Input   string
	Options []APIField
	// Request is the body of a typical request, Others are further ones.
	Request    string
	Others     []APIExample
	ResultText string
	Result     []APIField
	Steps      []APIStep
	Statuses   []string
}

// APIExample is a request with what it is for, which may be empty.
type APIExample struct{ Text, Request string }

// APIField is a member of an object, or anything else that has a name.
type APIField struct {
	Name string
	// Type is in words. Values are those that it may have, where they are listed.
	Type    string
	Values  []string
	Default string
	Text    string
	// Optional reports that it may be absent.
	Optional bool
	// Fields are all that is inside it, by their paths.
	Fields []APIField
}

// APIStep is a kind of step that a stream may have, with the names of its members.
type APIStep struct {
	Kind, Text string
	Fields     []string
}

// APIRoute is an address.
type APIRoute struct {
	Method, Path, Summary, Text string
	Parameters                  []APIField
	Statuses                    []string
}

// apiView is API in the order of the catalogue.
type apiView struct {
	API
	// Origin is the service's own, or one that stands for it.
	Origin string
	// Known reports whether it is the service's own.
	Known  bool
	Groups []apiGroup
}

type apiGroup struct {
	Name  string
	Tools []apiTool
}

type apiTool struct {
	toolView
	APITool
}

// someOrigin stands for the service's own where that is not known. With JavaScript the page puts in its own.
const someOrigin = "https://tools.example.com"

func (s *Site) api() page {
	view := &apiView{API: s.config.API, Origin: s.config.PublicOrigin, Known: s.config.PublicOrigin != ""}
	if !view.Known {
		view.Origin = someOrigin
	}
	for _, g := range s.groups {
		group := apiGroup{Name: g.Name}
		for _, t := range g.Tools {
			if described, there := s.config.API.Tools[t.Slug]; there {
				group.Tools = append(group.Tools, apiTool{t, described})
			}
		}
		view.Groups = append(view.Groups, group)
	}
	return page{
		template: "api.html", Path: "/api", Icon: tabIconName("site"), Title: "API",
		Description: "Every check as one HTTP request: curl lines, options and results of all tools, for scripts.",
		Styles:      []string{"site.css", "api.css"}, Modules: []string{"pages/site.js", "pages/api.js"},
		API: view,
	}
}

// makeReference makes the page on the API. It is long and the same for everybody, so it is made and compressed once.
func (s *Site) makeReference() error {
	body, err := s.markup(s.api())
	if err != nil {
		return err
	}
	s.reference = content{kind: htmlKind, cache: pageCache, body: body, tag: etag(body), zipped: compressOnce(body)}
	return nil
}

func paragraphs(text string) []string {
	return strings.Split(strings.TrimSpace(text), "\n\n")
}

// span is a piece of a paragraph.
type span struct {
	Text   string
	IsCode bool
}

// spans cuts a paragraph at its backticks.
func spans(paragraph string) []span {
	var all []span
	for i, piece := range strings.Split(paragraph, "`") {
		if piece != "" {
			all = append(all, span{Text: piece, IsCode: i%2 == 1})
		}
	}
	return all
}

// quoted is a word for a POSIX shell.
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
