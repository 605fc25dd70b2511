package rdap

import (
	"encoding/json"
	"slices"
	"strings"
)

// redaction is one element of the redacted member (RFC 9537 section 4.2): what was held back, by name and by path, and
// why.
type redaction struct {
	Name            part[words] `json:"name"`
	Reason          part[words] `json:"reason"`
	PrePath         path        `json:"prePath"`
	PostPath        path        `json:"postPath"`
	ReplacementPath path        `json:"replacementPath"`
}

// words are a value that IANA has registered, or the provider's own.
type words struct {
	Type        text `json:"type"`
	Description text `json:"description"`
}

// path is a JSONPath expression. It is never evaluated: only the role that it names is read from it.
type path string

func (p *path) UnmarshalJSON(raw []byte) error {
	var s string
	*p = ""
	if json.Unmarshal(raw, &s) == nil {
		*p = path(clean(s, maxHref))
	}
	return nil
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

// isRedactedText reports whether a text is one that stands where a value was held back.
func isRedactedText(s string) bool {
	s = strings.ToLower(s)
	for _, start := range []string{
		"redacted", "data redacted", "data protected", "not disclosed", "non-public data", "statutory masking", "gdpr masked",
		"gdpr redacted", "withheld for privacy", "hidden upon user request", "personal data", "private person", "masked",
	} {
		if strings.HasPrefix(s, start) {
			return true
		}
	}
	return strings.Contains(s, "redacted for")
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
