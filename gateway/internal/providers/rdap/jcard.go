package rdap

import (
	"cmp"
	"encoding/json"
	"net/mail"
	"net/url"
	"slices"
	"strings"
)

// card is what is kept of a jCard (RFC 7095) while an answer is read. Only kind, org, country and, for roles that are
// published to be written to (abuse), email and tel ever leave the package; fn does where kind says that it names an
// organization.
type card struct {
	kind, fn, org    string
	email, tel, link string
	country          string
}

// UnmarshalJSON reads ["vcard", [[name, parameters, type, value…], …]]. Servers leave out the parameters, the type, or
// the outer array; a property that cannot be understood is skipped.
func (c *card) UnmarshalJSON(raw []byte) error {
	*c = card{}
	for _, element := range propertiesOf(raw) {
		if p, ok := readProperty(element); ok {
			c.take(p)
		}
	}
	return nil
}

func propertiesOf(raw json.RawMessage) []json.RawMessage {
	var outer list[json.RawMessage]
	_ = outer.UnmarshalJSON(raw)
	for _, element := range outer {
		var inner list[json.RawMessage]
		if element[0] != '[' {
			continue
		}
		_ = inner.UnmarshalJSON(element)
		if len(inner) > 0 && inner[0][0] == '[' {
			return inner
		}
	}
	return outer
}

// property is one line of a card.
type property struct {
	name       string
	parameters map[string]json.RawMessage
	value      json.RawMessage
}

func readProperty(raw json.RawMessage) (property, bool) {
	if raw[0] != '[' {
		return property{}, false
	}
	var fields []json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || len(fields) < 2 {
		return property{}, false
	}
	var name text
	_ = name.UnmarshalJSON(fields[0])
	p := property{name: strings.ToLower(string(name))}
	if fields[1][0] == '{' {
		_ = json.Unmarshal(fields[1], &p.parameters)
	}
	// Name, parameters, type, value; without the parameters or the type one less, without both two less.
	p.value = fields[min(3, len(fields)-1)]
	return p, true
}

// parameter gives a parameter's values, whatever the case of its name.
func (p property) parameter(name string) (values list[text]) {
	for key, raw := range p.parameters {
		if strings.EqualFold(key, name) {
			_ = values.UnmarshalJSON(raw)
		}
	}
	return values
}

// text gives the value, or the first part of one that has parts.
func (p property) text() string {
	var t text
	_ = t.UnmarshalJSON(p.value)
	return string(t)
}

func (c *card) take(p property) {
	switch p.name {
	case "kind":
		c.kind = cmp.Or(c.kind, strings.ToLower(p.text()))
	case "fn":
		c.fn = cmp.Or(c.fn, p.text())
	case "org":
		c.org = cmp.Or(c.org, p.text())
	case "email":
		c.email = cmp.Or(c.email, address(p.text()))
	case "tel":
		c.takeTelephone(p)
	case "url":
		c.link = cmp.Or(c.link, webLink(p.text()))
	case "adr":
		c.country = cmp.Or(c.country, countryOf(p))
	}
}

// takeTelephone leaves fax machines out.
func (c *card) takeTelephone(p property) {
	if slices.ContainsFunc(p.parameter("type"), func(kind text) bool { return strings.EqualFold(string(kind), "fax") }) {
		return
	}
	number := p.text()
	if len(number) > 4 && strings.EqualFold(number[:4], "tel:") {
		number = number[4:]
	}
	number, extension, _ := strings.Cut(number, ";ext=")
	if extension != "" {
		number += " ext. " + extension
	}
	if strings.ContainsAny(number, "0123456789") {
		c.tel = cmp.Or(c.tel, number)
	}
}

// address gives an e-mail address, or nothing.
func address(s string) string {
	if len(s) > 7 && strings.EqualFold(s[:7], "mailto:") {
		s = s[7:]
	}
	parsed, err := mail.ParseAddress(s)
	if err != nil || parsed.Address != s {
		return ""
	}
	return s
}

// webLink gives an http or https URL that names no one's credentials, or nothing.
func webLink(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return ""
	}
	return s
}
