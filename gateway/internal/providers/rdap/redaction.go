package rdap

import (
	"cmp"
	"slices"
	"strings"

	"diagnostics/gateway/internal/text/bound"
)

// redaction is one element of the redacted member (RFC 9537 section 4.2): what was held back, by name and by path, and
// why.
type redaction struct {
	Name   part[words] `json:"name"`
	Reason part[words] `json:"reason"`
	// The paths are JSONPath expressions. They are never evaluated: only the role that they name is read from them.
	PrePath         href `json:"prePath"`
	PostPath        href `json:"postPath"`
	ReplacementPath href `json:"replacementPath"`
}

// words are a value that IANA has registered, or the provider's own.
type words struct {
	Type        text `json:"type"`
	Description text `json:"description"`
}

// roleWords are the beginnings by which the names of redactions call the roles: "Registrant Name", "Admin Email", "Tech
// Phone".
var roleWords = []struct{ word, role string }{
	{"registrant", "registrant"}, {"admin", "administrative"}, {"tech", "technical"}, {"billing", "billing"},
}

// roles are those whose data was held back.
func (r redaction) roles() []string {
	var found []string
	if r.Name.value != nil {
		name := strings.ToLower(string(r.Name.value.Type) + " " + string(r.Name.value.Description))
		for _, word := range strings.FieldsFunc(name, func(r rune) bool { return r < 'a' || r > 'z' }) {
			for _, w := range roleWords {
				if strings.HasPrefix(word, w.word) && !slices.Contains(found, w.role) {
					found = append(found, w.role)
				}
			}
		}
	}
	paths := strings.ToLower(string(r.PrePath) + " " + string(r.PostPath) + " " + string(r.ReplacementPath))
	for _, w := range roleWords {
		quoted := strings.Contains(paths, "'"+w.role+"'") || strings.Contains(paths, `"`+w.role+`"`)
		if quoted && !slices.Contains(found, w.role) {
			found = append(found, w.role)
		}
	}
	return found
}

// redactedStarts are how such texts begin.
var redactedStarts = []string{
	"redacted", "data redacted", "data protected", "not disclosed", "non-public data", "statutory masking", "gdpr masked",
	"gdpr redacted", "withheld for privacy", "hidden upon user request", "personal data", "private person", "masked",
}

// isRedactedText reports whether a text is one that stands where a value was held back.
func isRedactedText(s string) bool {
	s = strings.ToLower(s)
	return strings.Contains(s, "redacted for") ||
		slices.ContainsFunc(redactedStarts, func(start string) bool { return strings.HasPrefix(s, start) })
}

// redacts reports whether an entity says of itself that some of it is held back (RFC 9083 sections 10.2.1 and 10.2.2).
func (e entity) redacts() bool {
	for _, s := range e.Status {
		switch strings.ToLower(string(s)) {
		case "private", "removed", "obscured":
			return true
		}
	}
	for _, r := range e.Remarks {
		all := strings.ToLower(string(r.Title) + " " + string(r.Type) + " " + r.text())
		if strings.Contains(all, "redacted") || strings.Contains(all, "truncated due to authorization") {
			return true
		}
	}
	return isRedactedText(e.Card.fn) || isRedactedText(e.Card.org)
}

// optional gives the provider's own words, the registered value where it chose none, and nil where there are neither.
func (w *words) optional() *string {
	switch {
	case w == nil:
		return nil
	case w.Description != "":
		return w.Description.pointer()
	}
	return w.Type.pointer()
}

func (r redaction) shown() Redaction {
	return Redaction{Name: r.Name.value.optional(), Reason: r.Reason.value.optional()}
}

// redactionsByRole sorts what is held back by the roles of contacts, in the order in which they are named first; rest
// is what is of none.
func redactionsByRole(all []redaction) (roles []string, byRole map[string][]Redaction, rest []Redaction) {
	byRole = make(map[string][]Redaction)
	for _, r := range all {
		of := r.roles()
		for _, role := range of {
			if !slices.Contains(roles, role) {
				roles = append(roles, role)
			}
			byRole[role] = append(byRole[role], r.shown())
		}
		if len(of) == 0 {
			rest = append(rest, r.shown())
		}
	}
	return roles, byRole, rest
}

// redactions are all that is held back of an object and of its entities.
func (o object) redactions(cut *bool) []Redaction {
	all := make([]Redaction, len(o.Redacted))
	for i, r := range o.Redacted {
		all[i] = r.shown()
	}
	return boundRedactions(all, cut)
}

// redactions are why an entity says of itself that some of it is held back: the values of IANA's registry of RDAP JSON
// values, which came before RFC 9537 and name a reason alone.
func (e entity) redactions() []Redaction {
	var out []Redaction
	for _, r := range e.Remarks {
		switch kind := strings.ToLower(string(r.Type)); kind {
		case "object redacted due to authorization", "object truncated due to authorization":
			out = append(out, Redaction{Reason: &kind})
		}
	}
	return out
}

// boundRedactions leaves out what says nothing or was said before, and marks what is cut.
func boundRedactions(all []Redaction, cut *bool) []Redaction {
	out := []Redaction{}
	said := map[[2]string]bool{{}: true}
	for _, r := range all {
		key := [2]string{*cmp.Or(r.Name, new(string)), *cmp.Or(r.Reason, new(string))}
		if !said[key] {
			said[key] = true
			out = append(out, r)
		}
	}
	return bound.List(out, maxRedactions, cut)
}
