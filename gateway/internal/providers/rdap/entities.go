package rdap

import (
	"cmp"
	"slices"
	"strings"

	"diagnostics/gateway/internal/text/bound"
)

const (
	roleRegistrar  = "registrar"
	roleRegistrant = "registrant"
	roleAbuse      = "abuse"
)

func (o object) registrar() *Registrar {
	e, ok := withRole(o.Entities, roleRegistrar)
	if !ok {
		return nil
	}
	r := &Registrar{Name: e.companyName(), IANAID: e.ianaID(), URL: e.webSite()}
	// The registrar's own abuse desk, not the one of a hosting company elsewhere in the answer.
	if abuse, ok := withRole(e.Entities, roleAbuse); ok {
		r.AbuseEmail, r.AbusePhone = pointer(abuse.Card.email), pointer(abuse.Card.tel)
	}
	if *r == (Registrar{}) {
		r.Name = e.Handle.pointer()
	}
	return r
}

func pointer(s string) *string { return text(s).pointer() }

// companyName names a registrar, which is a company whatever the kind of its card says.
func (e entity) companyName() *string { return pointer(cmp.Or(e.Card.fn, e.Card.org)) }

func (e entity) ianaID() *string {
	for _, id := range e.PublicIDs {
		if strings.Contains(strings.ToLower(string(id.Type)), "iana") {
			return id.Identifier.pointer()
		}
	}
	return nil
}

// webSite is a page for people: the link that says so, or the card's, or one to HTML.
func (e entity) webSite() *string {
	about := e.webLink(func(l link) bool { return strings.EqualFold(string(l.Rel), "about") })
	html := e.webLink(func(l link) bool { return strings.HasPrefix(strings.ToLower(string(l.Type)), "text/html") })
	return pointer(cmp.Or(about, e.Card.link, html))
}

// webLink is the first of the links that a condition holds for.
func (e entity) webLink(condition func(link) bool) string {
	for _, l := range e.Links {
		if condition(l) && webLink(string(l.Href)) != "" {
			return string(l.Href)
		}
	}
	return ""
}

// contacts are the entities but the registrar, without what is personal. A role that was held back as a whole
// (RFC 9537) is a contact too: its existence is what was reported. rest is what is held back of no contact.
func (o object) contacts(cut *bool) (out []Contact, rest []Redaction) {
	redacted, byRole, rest := redactionsByRole(o.Redacted)
	out = []Contact{}
	var listed []string
	for _, e := range o.Entities {
		roles := e.contactRoles()
		if len(roles) == 0 {
			continue
		}
		if len(out) == maxContacts {
			*cut = true
			break
		}
		listed = append(listed, roles...)
		c := Contact{Organization: e.organization(), Country: pointer(e.Card.country), Redacted: e.redacts()}
		c.Roles = bound.List(roles, maxRoles, &c.Truncated)
		held := e.redactions()
		for _, role := range redacted {
			if slices.Contains(roles, role) {
				c.Redacted = true
				held = append(held, byRole[role]...)
			}
		}
		c.Redactions = boundRedactions(held, &c.Truncated)
		out = append(out, c)
	}
	*cut = *cut || len(o.Entities) > maxElements
	for _, role := range redacted {
		if !slices.Contains(listed, role) && len(out) < maxContacts {
			c := Contact{Roles: []string{role}, Redacted: true}
			c.Redactions = boundRedactions(byRole[role], &c.Truncated)
			out = append(out, c)
		}
	}
	return out, boundRedactions(rest, cut)
}

// contactRoles are an entity's roles, lower case, those left out that are not of a contact: the registrar and its abuse
// desk are reported as such.
func (e entity) contactRoles() []string {
	var out []string
	for _, r := range e.Roles {
		role := strings.ToLower(string(r))
		if role != "" && role != roleRegistrar && role != roleAbuse && !slices.Contains(out, role) {
			out = append(out, role)
		}
	}
	return out
}

// organization is the name of an organization, and never a person's: the property org, or fn where the card says that
// its kind is org. Where org repeats the fn of a card that does not, people have written their own name into both.
func (e entity) organization() *string {
	c := e.Card
	name := c.org
	switch {
	case c.kind == "org":
		if name == "" || isRedactedText(name) {
			name = c.fn
		}
	case strings.EqualFold(c.org, c.fn):
		name = ""
	}
	if isRedactedText(name) {
		return nil
	}
	return pointer(name)
}
