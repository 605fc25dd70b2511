package whois

import (
	"slices"
	"strings"
	"time"

	"diagnostics/gateway/internal/providers/internal/refusal"
	"diagnostics/gateway/internal/providers/registry"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/text/bound"

	"golang.org/x/net/idna"
)

const (
	// maxValue bounds every text of an answer, in characters.
	maxValue = 256
	// maxElements bounds every list.
	maxElements = 64
)

// reading is what has been read of a text.
type reading struct {
	format format
	zone   *time.Location
	name   string
	// named means that the text is about the name, other that it is about another.
	named, other bool
	// free means that the name is not registered.
	free bool
	// detailed means that there is more than a name and its status: some registries have a status for reserved names too.
	detailed  bool
	registrar Registrar
	domain    Domain
}

// statement is what a text states of a name.
type statement struct {
	outcome Outcome
	domain  *Domain // where Found
	line    string  // where Reserved
	// object means that the text is about a registration, of this name or another.
	object bool
}

// read returns what a text states of a name: the registration, that there is none, that the registry does not give it
// out, or none of these.
func (f format) read(said, name string) statement {
	r := reading{
		format: f, zone: f.location(), name: name, domain: Domain{Status: []string{}, Nameservers: []string{}},
	}
	for _, e := range split(said, f.layout) {
		if kind := f.factOf(e); kind != 0 && e.value != "" {
			r.take(kind, e.value)
		}
	}
	switch {
	case r.named && r.free:
		return statement{outcome: NotFound, object: true}
	case r.named && !r.other && r.detailed:
		return statement{outcome: Found, domain: r.finish(), object: true}
	case r.named && !r.other:
		return r.withoutDetails()
	case r.named || r.other:
		return statement{outcome: Unread, object: true}
	}
	return f.readSentence(said, name)
}

// withoutDetails reads an object that is a name and a status at most: some registries have a status for names that they
// do not give out.
func (r *reading) withoutDetails() statement {
	for _, status := range r.domain.Status {
		if line, reserved := refusal.Reserved("Status: " + status); reserved {
			return statement{outcome: Reserved, line: line, object: true}
		}
	}
	return statement{outcome: Unread, object: true}
}

// readSentence reads a text without an object. One that denies the name may have terms of use about reserved names.
func (f format) readSentence(said, name string) statement {
	absent := says(said, f.absentOf(name)...)
	line, reserved := refusal.Reserved(said)
	lower := strings.ToLower(line)
	_, refused := tooMany(said)
	_, closed := mentions(said, closedWords)
	switch {
	case reserved && !refused && !closed && (!absent || strings.Contains(lower, "this ") || strings.Contains(lower, name)):
		return statement{outcome: Reserved, line: plain(line)}
	case absent:
		return statement{outcome: NotFound}
	}
	return statement{outcome: Unread}
}

func (f format) absentOf(name string) []string {
	sentences := make([]string, 0, len(f.absent))
	for _, s := range f.absent {
		sentences = append(sentences, strings.Replace(s, "%s", name, 1))
	}
	return sentences
}

func (r *reading) take(kind fact, value string) {
	switch kind {
	case isName:
		r.about(value)
	case isStatus:
		r.status(value)
	case isState:
		r.state(value)
	case isNameserver:
		r.nameserver(value)
	case isSigned:
		r.signed(value)
	case isKey:
		r.domain.Signed = new(true)
	default:
		r.once(kind, value)
	}
}

func (r *reading) about(name string) {
	if r.other {
		return
	}
	if sameName(name, r.name) {
		r.named = true
	} else {
		r.other = true
	}
}

func (r *reading) moment(s string) string { return registry.ParseTime(s, r.zone, r.format.dates...) }

// once takes a fact that a registration has but one of: the first counts.
func (r *reading) once(kind fact, value string) {
	var at **string
	var read func(string) string
	switch kind {
	case isRegistrar:
		at, read = &r.registrar.Name, registrarName
	case isRegistrarURL:
		at, read = &r.registrar.URL, webLink
	case isRegistrarID:
		at, read = &r.registrar.IANAID, plain
	case isRegistered:
		at, read = &r.domain.Registered, r.moment
	case isExpires:
		at, read = &r.domain.Expires, r.moment
	case isRegistrarExpires:
		at, read = &r.domain.RegistrarExpires, r.moment
	case isUpdated:
		at, read = &r.domain.Updated, r.moment
	case isTransferred:
		at, read = &r.domain.Transferred, r.moment
	default:
		return
	}
	if *at != nil {
		return
	}
	if s := read(value); s != "" {
		*at, r.detailed = &s, true
	}
}

// status takes one or several, without the links to their explanations.
func (r *reading) status(value string) {
	value, _, _ = strings.Cut(value, "http")
	for word := range strings.SplitSeq(value, ",") {
		word = strings.TrimRight(word, " (")
		if slices.Contains(r.format.free, strings.ToLower(word)) {
			r.free = true
		}
		if s := plain(word); s != "" && room(r.domain.Status) && !slices.Contains(r.domain.Status, s) {
			r.domain.Status = append(r.domain.Status, s)
		}
	}
}

// room reports whether a list may have more: one beyond what is shown, so that it is known that there is more.
func room(list []string) bool { return len(list) <= maxElements }

// state takes "Connected (2027/03/31)": the day is that on which the registration ends.
func (r *reading) state(value string) {
	word, day, found := strings.Cut(value, "(")
	r.status(word)
	if found && strings.EqualFold(strings.TrimSpace(word), "connected") {
		r.once(isExpires, strings.TrimRight(day, ") "))
	}
}

// nameserver takes the name; addresses may follow it.
func (r *reading) nameserver(value string) {
	if !room(r.domain.Nameservers) {
		return
	}
	for word := range strings.FieldsFuncSeq(value, func(c rune) bool { return strings.ContainsRune(" \t,|([", c) }) {
		host, err := target.ParseHost(strings.TrimSuffix(word, "."))
		if err == nil && !host.IsAddr() && !slices.Contains(r.domain.Nameservers, host.Name()) {
			r.domain.Nameservers = append(r.domain.Nameservers, host.Name())
			r.detailed = true
		}
		return
	}
}

// signed reads the words that registries have for a delegation with DNSSEC and one without.
func (r *reading) signed(value string) {
	switch word := strings.ToLower(value); {
	case beginsWith(word, "unsigned", "no", "inactive", "disabled", "not signed", "false"):
		r.domain.Signed = new(false)
	case beginsWith(word, "signed", "yes", "active", "true"):
		r.domain.Signed = new(true)
	}
}

func (r *reading) finish() *Domain {
	d := &r.domain
	if d.Expires == nil {
		d.Expires = d.RegistrarExpires
	}
	if r.registrar != (Registrar{}) {
		d.Registrar = &r.registrar
	}
	d.Status = bound.First(d.Status, maxElements, &d.Truncated)
	d.Nameservers = bound.First(d.Nameservers, maxElements, &d.Truncated)
	return d
}

// plain gives a text of a registry fit to be shown, or nothing: what has an at sign may be a person's address.
func plain(value string) string {
	s := text.Show(strings.Join(strings.Fields(value), " "), maxValue)
	s = strings.Join(strings.Fields(s), " ") // what was left out may have stood between two
	if strings.Contains(s, "@") {
		return ""
	}
	return s
}

// registrarName leaves out a link in brackets after the name.
func registrarName(value string) string {
	for _, mark := range []string{"( http", "(http"} {
		value, _, _ = strings.Cut(value, mark)
	}
	return plain(value)
}

// webLink takes a public URL, also one without its scheme.
func webLink(value string) string {
	value = strings.TrimSpace(value)
	if !strings.Contains(value, "://") {
		value = "http://" + value
	}
	u, err := target.ParseURL(value)
	if err != nil || len(u.String()) > maxValue {
		return ""
	}
	return u.String()
}

// sameName reports whether two names are the same, one as a server writes it, which may be upper case, in U-labels, or
// both beside each other.
func sameName(written, name string) bool {
	for word := range strings.FieldsFuncSeq(written, func(c rune) bool { return strings.ContainsRune(" \t()/", c) }) {
		word = strings.ToLower(strings.TrimSuffix(word, "."))
		if word == name {
			return true
		}
		if a, err := idna.Lookup.ToASCII(word); err == nil && a == name {
			return true
		}
	}
	return false
}
