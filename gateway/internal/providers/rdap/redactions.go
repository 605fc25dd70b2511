package rdap

import (
	"cmp"
	"slices"
	"strings"

	"diagnostics/gateway/internal/bound"
)

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
