package web

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Place is one instance of this service, by the ID that the API takes and the operator's name for it.
type Place struct{ ID, Name string }

// Places are this instance and those that it can ask. Without others the pages show nothing of places.
type Places struct {
	Here   Place
	Others []Place
}

// everywhere is the choice of all places in a link.
const everywhere = "all"

// placesView is the choice of a place in a form.
type placesView struct {
	Places
	// Chosen is the link's choice.
	Chosen string
	// Gone is a choice that is no place: it is kept, so that the API refuses it.
	Gone string
	// Sentences is what all places may come to, as JSON; empty where all cannot be chosen.
	Sentences string
}

// Count is the number of all places.
func (v placesView) Count() int { return 1 + len(v.Others) }

// All reports whether the link chooses all places.
func (v placesView) All() bool { return v.Sentences != "" && v.Chosen == everywhere }

// Label is the text of the choice where it is not this place, as the form has it.
func (v placesView) Label() string {
	for _, p := range v.Others {
		if p.ID == v.Chosen {
			return p.Name
		}
	}
	switch {
	case v.Gone != "":
		return v.Gone + " (no longer a place)"
	case v.All():
		return fmt.Sprintf("All %[1]d places (%[1]d checks)", v.Count())
	}
	return ""
}

// placesFor is the choice of a place for a tool, or for the report where slug is empty; nil where there is none.
func (s *Site) placesFor(slug string, query url.Values) *placesView {
	if s.config.Places == nil {
		return nil
	}
	v := &placesView{Places: s.config.Places(), Chosen: strings.TrimSpace(query.Get("place"))}
	if len(v.Others) == 0 {
		return nil
	}
	if slug != "" {
		v.Sentences = sentencesFor(slug)
	}
	known := slices.Contains([]string{"", v.Here.ID, everywhere}, v.Chosen) ||
		slices.ContainsFunc(v.Others, func(p Place) bool { return p.ID == v.Chosen })
	if !known {
		v.Gone = v.Chosen
	}
	return v
}

// sentencesFor is the part of the catalogue that a tool's page needs.
func sentencesFor(slug string) string {
	text, err := json.Marshal(quorumOf(slug))
	if err != nil {
		panic(err) // strings in a map always encode
	}
	return string(text)
}
