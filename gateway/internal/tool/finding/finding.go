// Package finding holds what every result begins with: a conclusion, and the findings that deserve attention
// (docs/contract.md#conclusion-and-findings). Each tool has one Catalogue, a table of all that it can report; sentences
// stand nowhere else. The package does no I/O.
package finding

import (
	"cmp"
	"fmt"
	"slices"
)

// State is what a conclusion comes to.
type State string

// The states. Fail is only concluded from a finding of the group Broken. Unknown is a result that this service could
// not find out.
const (
	OK      State = "ok"
	Noted   State = "info"
	Warned  State = "warn"
	Failed  State = "fail"
	Unknown State = "unknown"
)

// Severity is how serious a finding is.
type Severity string

// The severities, the worst first.
const (
	Fail Severity = "fail"
	Warn Severity = "warn"
	Info Severity = "info"
)

// Group is whom a finding concerns.
type Group string

// The groups, the most urgent first. Broken is what affects clients now: down, refused, unresolvable, a certificate at
// its end. Safer is hardening and hygiene, Note the rest.
const (
	Broken Group = "broken"
	Safer  Group = "safer"
	Note   Group = "note"
)

// Conclusion is the one sentence that answers the client's question.
type Conclusion struct {
	State   State  `json:"state" wire:"enum=ok|info|warn|fail|unknown"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// PasteKind is what a text to paste is written for.
type PasteKind string

// The kinds of Paste.
const (
	PasteDNS    PasteKind = "dns"
	PasteNginx  PasteKind = "nginx"
	PasteApache PasteKind = "apache"
	PasteCaddy  PasteKind = "caddy"
	PasteText   PasteKind = "text"
)

// Paste is a text that repairs what a finding reports. It is made from this service's own templates; values sent by
// servers never enter it.
type Paste struct {
	Kind PasteKind `json:"kind" wire:"enum=dns|nginx|apache|caddy|text"`
	Text string    `json:"text"`
}

// Finding is one thing that deserves attention.
type Finding struct {
	Code     string   `json:"code"`
	Severity Severity `json:"severity" wire:"enum=fail|warn|info"`
	Group    Group    `json:"group" wire:"enum=broken|safer|note"`
	// Weight, 0 to 100, ranks findings of different tools against each other.
	Weight  int     `json:"weight" wire:"max=100"`
	Message string  `json:"message"`
	Remedy  *string `json:"remedy"`
	Paste   *Paste  `json:"paste"`
	// Subject is the part of the target that the finding is about, such as an address or "certificate of example.com".
	Subject   *string `json:"subject"`
	Reference *string `json:"reference"`
}

// About returns the finding with its subject.
func (f Finding) About(subject string) Finding {
	f.Subject = &subject
	return f
}

// WithPaste returns the finding with a text that repairs it.
func (f Finding) WithPaste(kind PasteKind, text string) Finding {
	f.Paste = &Paste{kind, text}
	return f
}

// Report is embedded as the first field of every result.
type Report struct {
	Conclusion Conclusion `json:"conclusion"`
	Findings   []Finding  `json:"findings"`
}

// NewReport returns a report with its findings worst first, and else in their order.
func NewReport(c Conclusion, findings ...Finding) Report {
	sorted := append([]Finding{}, findings...)
	slices.SortStableFunc(sorted, Compare)
	return Report{Conclusion: c, Findings: sorted}
}

// With returns the report with further findings, each in its place.
func (r Report) With(further ...Finding) Report {
	return NewReport(r.Conclusion, slices.Concat(r.Findings, further)...)
}

var (
	groups     = []Group{Broken, Safer, Note}
	severities = []Severity{Fail, Warn, Info}
)

// Compare orders findings worst first: by group, severity and weight.
func Compare(a, b Finding) int {
	return cmp.Or(
		cmp.Compare(slices.Index(groups, a.Group), slices.Index(groups, b.Group)),
		cmp.Compare(slices.Index(severities, a.Severity), slices.Index(severities, b.Severity)),
		cmp.Compare(b.Weight, a.Weight),
	)
}

// Outcome is one row of a table of conclusions. Message is a format of package fmt.
type Outcome struct {
	State   State
	Message string
}

// Entry is one row of a table of findings. Message and Remedy are formats of package fmt that take the same arguments
// by index, such as %[1]s; a Remedy without a verb is taken as it is. Reference is a URL.
type Entry struct {
	Severity  Severity
	Group     Group
	Weight    int
	Message   string
	Remedy    string
	Reference string
}

// Catalogue is all that a tool can report, by code.
type Catalogue struct {
	Conclusions map[string]Outcome
	Findings    map[string]Entry
}

// Conclude makes a conclusion of the catalogue. A code that is not in it is a mistake of the program, but a sentence
// must not fail a run: it becomes unknown, and the code its message. Tests that hold answers against OpenAPI show it.
func (c Catalogue) Conclude(code string, args ...any) Conclusion {
	outcome, ok := c.Conclusions[code]
	if !ok {
		outcome = Outcome{State: Unknown, Message: code}
	}
	return Conclusion{State: outcome.State, Code: code, Message: format(outcome.Message, args)}
}

// Find makes a finding of the catalogue. A code that is not in it becomes a note, as in Conclude.
func (c Catalogue) Find(code string, args ...any) Finding {
	entry, ok := c.Findings[code]
	if !ok {
		entry = Entry{Severity: Info, Group: Note, Message: code}
	}
	f := Finding{Code: code, Severity: entry.Severity, Group: entry.Group, Weight: entry.Weight,
		Message: format(entry.Message, args)}
	if entry.Remedy != "" {
		f.Remedy = new(format(entry.Remedy, args))
	}
	if entry.Reference != "" {
		f.Reference = &entry.Reference
	}
	return f
}

// format fills a format in; one without a verb takes no arguments.
func format(text string, args []any) string {
	if !hasVerb(text) {
		return text
	}
	return fmt.Sprintf(text, args...)
}

func hasVerb(text string) bool { return slices.Contains([]byte(text), '%') }
