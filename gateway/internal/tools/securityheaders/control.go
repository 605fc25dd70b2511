package securityheaders

import (
	"cmp"
	"errors"
	"strings"

	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/tool/finding"
)

// controlKind is one control: its id and name, what to read about it, and how it is judged.
type controlKind struct {
	id, name, reference string
	judge               func(page) verdict
}

// controls are all controls, in the order of the contract.
func controls() []controlKind {
	return []controlKind{
		{"hsts", hstsHeader, hstsReference, judgeHSTS},
		{"csp", cspHeader, cspReference, judgeCSP},
		{"frame-protection", "Frame protection", framingReference, judgeFraming},
		{"content-type-options", noSniffHeader, noSniffReference, judgeContentTypeOptions},
		{"referrer-policy", referrerHeader, referrerReference, judgeReferrerPolicy},
		{"permissions-policy", permissionsHeader, permissionsReference, judgePermissionsPolicy},
		{"coop", coopHeader, coopReference, judgeCOOP},
		{"coep", coepHeader, coepReference, judgeCOEP},
		{"corp", corpHeader, corpReference, judgeCORP},
		{"cors", "Cross-Origin Resource Sharing", corsReference, judgeCORS},
		{"cookies", "Cookies", cookiesReference, judgeCookieControl},
		{"information-leak", "Information leaks", leakReference, judgeLeaks},
		{"deprecated", "Retired headers", retiredReference, judgeDeprecated},
	}
}

// fact is a row of the catalogue with its arguments.
type fact struct {
	code string
	args finding.Args
}

// sentences joins the messages of facts.
func sentences(facts ...fact) string {
	var all []string
	for _, f := range facts {
		all = append(all, rows.Sentence(f.code, f.args))
	}
	return strings.Join(all, " ")
}

// verdict is the judgement on a control.
type verdict struct {
	value *string // what was sent, nil if nothing was
	facts []fact
	// firstDecides is set if only the first fact counts. Otherwise the first of the most severe ones decides.
	firstDecides bool
	set          headerLine // the header to send, if the remedy has it
	remove       []string   // headers not to send, in lower case
	subject      string     // of the finding
}

func (v *verdict) add(code string, args finding.Args) { v.facts = append(v.facts, fact{code, args}) }

// complete adds arguments to the facts that have the remedy.
func (v *verdict) complete(remedy string, args finding.Args) {
	for i, f := range v.facts {
		if rows[f.code].Remedy == remedy {
			v.facts[i].args = f.args.With(args)
		}
	}
}

var ranks = map[finding.Severity]int{finding.Info: 1, finding.Warn: 2, finding.Fail: 3}

// rank orders codes by the severity of their rows.
func rank(code string) int { return ranks[rows[code].Severity] }

// decisive returns the fact that decides.
func (v *verdict) decisive() fact {
	worst := v.facts[0]
	for _, f := range v.facts {
		if !v.firstDecides && rank(f.code) > rank(worst.code) {
			worst = f
		}
	}
	return worst
}

func (v *verdict) status() controlStatus {
	code := v.decisive().code
	switch rows[code].Severity {
	case finding.Fail:
		return controlFail
	case finding.Warn:
		return controlWarn
	case finding.Info:
		return controlInfo
	}
	if strings.HasSuffix(code, "_NOT_A_DOCUMENT") || code == codeHSTSAddress || code == codeCookiesNone ||
		code == codeNotJudged {
		return controlNotApplicable
	}
	return controlPass
}

// recommendation returns the remedy of the fact that decides, else the first that another fact has.
func (v *verdict) recommendation() *string {
	for _, f := range append([]fact{v.decisive()}, v.facts...) {
		if remedy := rows.Find(f.code, "", f.args).Remedy; remedy != nil || v.firstDecides {
			return remedy
		}
	}
	return nil
}

// remark is a finding and what it is about, such as a header, in the words of a conclusion.
type remark struct {
	finding.Finding
	about string
}

// aboutControls names the header or subject that remarks on a control mention, if it differs from the control's name.
var aboutControls = map[string]string{"frame-protection": "frame-ancestors", "cors": allowOrigin, "cookies": "cookies",
	"information-leak": "information leaks", "deprecated": "retired headers"}

// judgeControls judges all controls. There is a remark for each that needs attention.
func judgeControls(p page) (results []controlResult, found []remark) {
	for _, c := range controls() {
		v := c.judge(p)
		if p.challenged() {
			v = verdict{value: v.value, facts: []fact{{codeNotJudged, finding.Args{"service": p.notice.args["service"]}}}}
		}
		r := controlResult{
			ID: c.id, Name: c.name, Status: v.status(), Present: v.value != nil, Value: v.value,
			Finding: p.sentencesOf(c.name, v), Recommendation: v.recommendation(), Remove: v.remove, Reference: c.reference,
		}
		if r.Recommendation != nil {
			r.Set = v.set.in(*r.Recommendation)
		}
		results = append(results, r)
		if f := v.decisive(); rank(f.code) > 0 {
			about := cmp.Or(aboutControls[c.id], c.name)
			if f.code == codeNoContentType {
				about = "Content-Type"
			}
			found = append(found, remark{rows.Find(f.code, v.subject, f.args), about})
		}
	}
	return results, found
}

// maxFacts bounds how many sentences the text of one control has: a hostile header could hold thousands of mistakes.
const maxFacts = 14

// sentencesOf is the text of a control: its facts without its name. Of what is wanting on another page than the one
// that was meant it says so.
func (p page) sentencesOf(name string, v verdict) string {
	facts := v.facts
	if more := len(facts) - maxFacts; more > 0 {
		facts = append(facts[:maxFacts:maxFacts], fact{"MORE_REMARKS", finding.Args{"count": more}})
	}
	if status := v.status(); p.notice != nil && (status == controlFail || status == controlWarn) {
		facts = append(facts[:len(facts):len(facts)], fact{"SEEN_ON_OTHER_PAGE", finding.Args{"status": p.answer.Status}})
	}
	var all []string
	for _, f := range facts {
		all = append(all, strings.TrimPrefix(sentences(f), name+": "))
	}
	return strings.Join(all, " ")
}

// notForData is the verdict on a control that protects documents, if the answer is none and lacks the header.
func (p page) notForData(code string) verdict { return verdict{facts: []fact{{code, p.media()}}} }

// media returns the arguments of what the answer is.
func (p page) media() finding.Args {
	if media := p.answer.Header.Get("Content-Type"); media != "" {
		return finding.Args{"media": shownHeader(media)}
	}
	return finding.Args{"status": p.answer.Status}
}

// shownHeader makes what a stranger wrote fit for a sentence: one line, at most 80 characters.
func shownHeader(s string) string { return text.Marked(text.Decode(s), 80) }

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

// in returns the line with the words around it in a recommendation as its note, or nil if that does not have the line.
func (h headerLine) in(recommendation string) *headerLine {
	before, after, has := strings.Cut(recommendation, h.Name+": "+h.Value)
	if !has || h.Name == "" {
		return nil
	}
	h.StartingPoint = h.Value == cspValue
	h.ExampleHost = strings.Contains(h.Value, exampleOrigin)
	var notes []string
	for _, words := range []string{strings.TrimSuffix(before, ": "), strings.Trim(after, " ()")} {
		if words != "" {
			notes = append(notes, strings.ToUpper(words[:1])+words[1:]+".")
		}
	}
	h.Note = strings.Join(notes, " ")
	return &h
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
