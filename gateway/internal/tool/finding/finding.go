// Package finding holds what every result begins with: a conclusion, and the findings that deserve attention
// (docs/contract.md#conclusion-and-findings). Each tool has one catalogue, the Rows of all that it can say; sentences
// stand nowhere else. The package does no I/O.
package finding

import (
	"cmp"
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
	// Brief is the short form, of at most MaxBrief characters; Meaning says what to do first.
	Brief   string  `json:"brief" wire:"optional"`
	Meaning *string `json:"meaning" wire:"optional"`
	Args    Values  `json:"args" wire:"optional null"`
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
	Args      Values  `json:"args" wire:"optional null"`
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

// NewReport returns a report with its findings sorted by weight, the highest first, then by code. None of them is
// broken if the conclusion is ok.
func NewReport(c Conclusion, findings ...Finding) Report {
	sorted := append([]Finding{}, findings...)
	slices.SortStableFunc(sorted, Compare)
	if c.State == OK && slices.ContainsFunc(sorted, func(f Finding) bool { return f.Group == Broken }) {
		Mistaken("the conclusion " + c.Code + " is ok beside a broken finding")
	}
	return Report{Conclusion: c, Findings: sorted}
}

// Messages returns the messages of the findings with these codes, for fields that older clients read.
func (r Report) Messages(codes ...string) []string {
	messages := []string{}
	for _, f := range r.Findings {
		if slices.Contains(codes, f.Code) {
			messages = append(messages, f.Message)
		}
	}
	return messages
}

// With returns the report with further findings, each in its place.
func (r Report) With(further ...Finding) Report {
	return NewReport(r.Conclusion, slices.Concat(r.Findings, further)...)
}

// Compare orders findings by weight, the highest first, then by code.
func Compare(a, b Finding) int {
	return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Code, b.Code))
}
