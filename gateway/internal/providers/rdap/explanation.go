package rdap

import (
	"strings"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/providers/internal/refusal"
)

// explanation is what a server writes about the absence of an object, or about its refusal to look for one.
type explanation struct {
	notices []Notice
	// more means that there are others.
	more bool
}

// explain returns the title and the description of an error (RFC 9083 section 6), and its notices.
func (o object) explain() (e explanation) {
	all := append([]remark{{Title: o.Title, Description: o.Description}}, o.Notices...)
	e.notices = notices(all, &e.more)
	return e
}

// explainBody is explain of the body of an error, which need not have one.
func explainBody(answer *egress.Response) explanation {
	if answer.Truncated || answer.BodyErr != nil || isPage(answer) {
		return explanation{}
	}
	o, err := decode(answer.Body)
	if err != nil {
		return explanation{}
	}
	return o.explain()
}

// text is the explanation line by line.
func (e explanation) text() string {
	var lines []string
	for _, n := range e.notices {
		lines = append(lines, n.Title, n.Description)
	}
	return strings.Join(lines, "\n")
}

// quoted is the explanation in one line, as a sentence of this service quotes it; empty where there is none.
func (e explanation) quoted() string {
	return clean(strings.Join(strings.FieldsFunc(e.text(), func(r rune) bool { return r == '\n' }), ": "), maxQuoted)
}

// maxQuoted is how many characters of an explanation a sentence has.
const maxQuoted = 400

// absence is why a name is not found: some registries explain that they do not give it out.
func (e explanation) absence(kind string) Reason {
	if _, reserved := refusal.Reserved(e.text()); reserved && kind == kindDomain {
		return Reserved
	}
	return NotFound
}

// isObject reports whether there is anything of a domain or a network.
func (o object) isObject() bool {
	return o.Class != "" || o.Handle != "" || o.LDHName != "" || o.UnicodeName != "" || o.Start != "" || o.End != "" ||
		len(o.CIDRs) > 0
}

// refusesInWords reports whether an answer says that there were too many queries, whatever its status. Neither a long
// answer nor one with an object counts: their words may be a registrant's.
func refusesInWords(answer *egress.Response) bool {
	if len(answer.Body) > refusal.MaxText || answer.Truncated || answer.BodyErr != nil || isPage(answer) ||
		egress.IsRedirect(answer.Status) {
		return false
	}
	words := string(answer.Body)
	if o, err := decode(answer.Body); err == nil {
		if o.isObject() {
			return false
		}
		if o.ErrorCode == "429" {
			return true
		}
		words = o.explain().text()
	}
	_, found := refusal.TooMany(words)
	return found
}
