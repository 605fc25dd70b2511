package securityheaders

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/format"
)

// controlKind is one control: its id and name, what to read about it, and how it is judged.
type controlKind struct {
	id, name, reference string
	judge               func(page) controlVerdict
}

const mdn = "https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers/"

// controls are all controls, in the order of the contract.
func controls() []controlKind {
	return []controlKind{
		{"hsts", "Strict-Transport-Security", "https://www.rfc-editor.org/rfc/rfc6797", judgeHSTS},
		{"csp", "Content-Security-Policy", "https://www.w3.org/TR/CSP3/", judgeCSP},
		{"frame-protection", "Frame protection", "https://www.w3.org/TR/CSP3/#directive-frame-ancestors", judgeFraming},
		{"content-type-options", "X-Content-Type-Options", "https://fetch.spec.whatwg.org/#x-content-type-options-header",
			judgeContentTypeOptions},
		{"referrer-policy", "Referrer-Policy", "https://www.w3.org/TR/referrer-policy/", judgeReferrerPolicy},
		{"permissions-policy", "Permissions-Policy", "https://www.w3.org/TR/permissions-policy/", judgePermissionsPolicy},
		{"coop", "Cross-Origin-Opener-Policy", mdn + "Cross-Origin-Opener-Policy", judgeCOOP},
		{"coep", "Cross-Origin-Embedder-Policy", mdn + "Cross-Origin-Embedder-Policy", judgeCOEP},
		{"corp", "Cross-Origin-Resource-Policy", mdn + "Cross-Origin-Resource-Policy", judgeCORP},
		{"cors", "Cross-Origin Resource Sharing", "https://fetch.spec.whatwg.org/#http-cors-protocol", judgeCORS},
		{"cookies", "Cookies", mdn + "Set-Cookie", judgeCookieControl},
		{"information-leak", "Information leaks", "https://www.rfc-editor.org/rfc/rfc9110#section-10.2.4", judgeLeaks},
		{"deprecated", "Retired headers", "https://cheatsheetseries.owasp.org/cheatsheets/HTTP_Headers_Cheat_Sheet.html",
			judgeDeprecated},
	}
}

// judgeControls judges all controls; there is a finding for each that needs attention.
func judgeControls(p page) ([]controlResult, []finding.Finding) {
	checks := controls()
	controls := make([]controlResult, 0, len(checks))
	var found []finding.Finding
	for _, c := range checks {
		v := c.judge(p)
		if f := findingOf(c, v, p); f != nil {
			found = append(found, *f)
		}
		controls = append(controls, controlResult{
			ID: c.id, Name: c.name, Status: v.status, Present: v.value != nil, Value: v.value, Finding: p.qualify(v),
			Recommendation: format.TextOrNull(v.recommendation.text()), Set: v.recommendation.line(),
			Remove: v.recommendation.remove, Reference: c.reference,
		})
	}
	return controls, found
}

// controlVerdict is a judgement in the making.
type controlVerdict struct {
	status         controlStatus
	value          *string  // what was sent, nil where nothing was
	findings       []string // sentences
	recommendation advice
	reason         string // the sentence that decided the status, empty where it is the first
	code           string // of the finding, where it is not that of the status
}

// add appends a sentence.
func (v *controlVerdict) add(format string, args ...any) {
	v.findings = append(v.findings, fmt.Sprintf(format, args...))
}

// find appends a sentence on what makes the status no lighter than the given one.
func (v *controlVerdict) find(status controlStatus, format string, args ...any) {
	weight := []controlStatus{controlNotApplicable, controlPass, controlInfo, controlWarn, controlFail}
	if slices.Index(weight, status) > slices.Index(weight, v.status) {
		v.status, v.reason = status, fmt.Sprintf(format, args...)
	}
	v.add(format, args...)
}

// maxFindings bounds how many sentences one finding has: a hostile header could hold thousands of mistakes.
const maxFindings = 14

// qualify makes the finding one text, and says of what is wanting on an answer that is not the page itself.
func (p page) qualify(v controlVerdict) string {
	sentences := v.findings
	if more := len(sentences) - maxFindings; more > 0 {
		sentences = append(slices.Clip(sentences[:maxFindings]), fmt.Sprintf("%d more remarks are left out.", more))
	}
	if p.notice != nil && (v.status == controlFail || v.status == controlWarn) {
		sentences = append(slices.Clip(sentences),
			fmt.Sprintf("This was seen on an answer with status %d, which may differ from the site's pages.", p.answer.Status))
	}
	return strings.Join(sentences, " ")
}

// notForData is the verdict on a control that protects documents, where the answer is none and lacks the header.
func (p page) notForData(name string) controlVerdict {
	var v controlVerdict
	v.find(controlNotApplicable, "%s protects documents, and this answer is not one (%s).", name, p.shownMedia())
	return v
}

func (p page) shownMedia() string {
	if media := p.answer.Header.Get("Content-Type"); media != "" {
		return shownHeader(media)
	}
	return fmt.Sprintf("status %d, without content", p.answer.Status)
}

// shownHeader makes what a stranger wrote fit for a sentence: one line, at most 80 characters.
func shownHeader(s string) string { return text.Marked(text.Decode(s), 80) }

func countWord(n int, one, several string) string {
	return fmt.Sprintf("%d %s", n, text.Number(n, one, several))
}

// headerLine is a header to send, as the sentence shows it.
type headerLine struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	// StartingPoint marks a policy to start from: which one fits the site cannot be known from outside.
	StartingPoint bool `json:"startingPoint,omitempty"`
	// ExampleHost marks a value with a host that is made up, for the owner to replace.
	ExampleHost bool `json:"exampleHost,omitempty"`
	// Note is the words of the recommendation without the line.
	Note string `json:"note,omitempty"`
}

func (h headerLine) String() string { return h.Name + ": " + h.Value }

// exampleOrigin stands for a site that only the owner can name.
const exampleOrigin = "https://the-site-that-may.example"

// advice is what a control recommends: a header to send, or headers to remove, and words around it. Its zero value
// recommends nothing.
type advice struct {
	before string
	set    *headerLine
	remove []string // names in lower case
	after  string
	// repeats means that the header to send repeats a part of what the server sent.
	repeats bool
}

// send recommends a header.
func send(name, value string) advice { return advice{set: &headerLine{Name: name, Value: value}} }

// sendExample recommends a header whose value holds exampleOrigin.
func sendExample(name, value string) advice {
	return advice{set: &headerLine{Name: name, Value: value, ExampleHost: true}}
}

// text is the advice as a sentence, empty where nothing is recommended.
func (a advice) text() string {
	text := a.before
	if a.set != nil {
		text += a.set.String()
	}
	if len(a.remove) > 0 {
		text += "Do not send: " + strings.Join(a.remove, ", ")
	}
	return text + a.after
}

// line is the header to send with the words around it as sentences, nil where none is recommended.
func (a advice) line() *headerLine {
	if a.set == nil {
		return nil
	}
	line := *a.set
	var notes []string
	for _, words := range []string{strings.TrimSuffix(a.before, ": "), strings.Trim(a.after, " ()")} {
		if words != "" {
			notes = append(notes, strings.ToUpper(words[:1])+words[1:]+".")
		}
	}
	line.Note = strings.Join(notes, " ")
	return &line
}

// Enums implements decode.Enumerated.
func (controlResult) Enums() map[string][]string {
	var ids []string
	for _, c := range controls() {
		ids = append(ids, c.id)
	}
	return map[string][]string{"id": ids}
}

var errOrder = errors.New("the controls are not in their order")

// adopt sets the names and links of another place's result, whose controls must be the same in the same order.
func adopt(r *Result) error {
	for i, c := range controls() {
		if r.Controls[i].ID != c.id {
			return errOrder
		}
		r.Controls[i].Name, r.Controls[i].Reference = c.name, c.reference
	}
	for i, h := range newerHeaders() {
		if r.NewerHeaders[i].Name != h.name {
			return errOrder
		}
		r.NewerHeaders[i].Reference = h.reference
	}
	return nil
}
