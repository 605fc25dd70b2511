package emaildnshealth

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/gateway/internal/analyze/mail/dkim"
	"diagnostics/gateway/internal/text"
	"diagnostics/shared/parallel"

	"github.com/miekg/dns"
)

// dkimSearch is what trying the selectors of large senders gave; both lists are empty where the client named one.
type dkimSearch struct {
	// Tried are the selectors that the DNS gave an answer for, whatever it was.
	Tried []string `json:"tried"`
	// Found are those with a key.
	Found []dkimFind `json:"found"`
}

// dkimFind is a key that the search found. It shows that the key is published, not that mail is signed with it.
type dkimFind struct {
	Selector string `json:"selector"`
	// CNAME is what the name of the key is an alias of.
	CNAME   *string `json:"cname"`
	KeyType string  `json:"keyType"`
	KeyBits int     `json:"keyBits" wire:"min=1"`
}

const (
	// searchQueries are one for each selector, and one for a selector that no one uses.
	searchQueries = 1 + maxSearched
	// maxSilent is how many lookups may fail before any was answered; more would wait for the same silence.
	maxSilent = asideSlots
	// mostNamed is how many selectors a sentence names.
	mostNamed = 5
)

// searchDKIM tries the selectors of large senders. What it finds never changes the status: whether the domain signs
// with these keys cannot be seen from outside.
func (r *checker) searchDKIM(ctx context.Context, c *dkimCheck) {
	ctx, cancel := context.WithTimeout(ctx, asideTime)
	defer cancel()
	resolver := r.dns.aside(searchQueries)
	s := search{ask: func(selector string) reply {
		return resolver.ask(ctx, selector+"._domainkey."+r.domain, dns.TypeTXT)
	}}
	s.run(commonSelectors)
	c.report(s, r.domain)
}

// search is the state of one search: answers has one for each selector, nil where it was not queried, and anything is
// the answer for a selector that no one uses.
type search struct {
	ask      func(selector string) reply
	answers  []*reply
	anything reply
}

// run queries a selector that no one uses, and for all of the list, a few at a time.
func (s *search) run(selectors []string) {
	s.answers = make([]*reply, len(selectors))
	var answered, failed atomic.Int32
	ask := func(selector string) *reply {
		answer := s.ask(selector)
		if mail.Failure(answer.err) == nil {
			answered.Add(1)
		} else {
			failed.Add(1)
		}
		return &answer
	}
	var next atomic.Int32
	var lookups parallel.Group
	lookups.Go(func() { s.anything = *ask(wildcardProbe) })
	for range asideSlots - 1 {
		lookups.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(selectors); i = int(next.Add(1)) - 1 {
				if answered.Load() == 0 && failed.Load() >= maxSilent {
					return
				}
				s.answers[i] = ask(selectors[i])
			}
		})
	}
	lookups.Wait()
}

// report files what a search found, after the advice that holds whatever it was.
func (c *dkimCheck) report(s search, domain string) {
	c.Issues.Add(mail.Info, "DKIM_SELECTOR_NEEDED", sectionDKIM, "")
	needed := len(c.Issues) - 1
	defer func() { c.Summary, c.Issues[needed].Message = c.selectorNeeded() }()
	wild := slices.Sorted(slices.Values(s.anything.texts()))
	c.wild(s.anything, len(wild) > 0)
	unanswered, failure := 0, mail.Failure(s.anything.err)
	for i, selector := range commonSelectors {
		answer := s.answers[i]
		if answer == nil {
			unanswered++
			continue
		}
		if f := mail.Failure(answer.err); f != nil {
			unanswered, failure = unanswered+1, f
			continue
		}
		c.Tried = append(c.Tried, selector)
		texts := answer.texts()
		switch {
		case len(texts) == 0 && answer.alias && answer.cname != s.anything.cname:
			c.Issues.Add(mail.Info, "DKIM_ALIAS_DEAD", sectionDKIM, aliasToNothing(selector+"._domainkey."+domain,
				answer.cname))
		case len(texts) > 0 && !slices.Equal(slices.Sorted(slices.Values(texts)), wild):
			c.find(selector, *answer, dkim.Read(texts))
		}
	}
	c.incomplete(unanswered, failure, mail.Failure(s.anything.err) != nil)
}

// selectorNeeded is why the key in use was not checked, as a summary and in full.
func (c *dkimCheck) selectorNeeded() (summary, message string) {
	summary, message = "A selector is needed to check a DKIM public key.", "Keys cannot be listed from outside."
	if len(c.Found) > 0 {
		at := text.ListedUpTo(mostNamed, c.Found, func(f dkimFind) string { return f.Selector })
		summary = fmt.Sprintf("%s published at %s. A selector is needed to check the key in use.",
			text.Number(len(c.Found), "A key is", "Keys are"), at)
		message = fmt.Sprintf("Trying %d usual selectors found %s at %s. Which keys are in use is not visible from outside.",
			len(c.Tried), text.Number(len(c.Found), "a key", "keys"), at)
	}
	return summary, message + " Enter the selector, which is the s= value in the DKIM-Signature header of a mail from " +
		"the domain."
}

// wild reports an answer for a selector that no one uses: what equals it says nothing of any other.
func (c *dkimCheck) wild(anything reply, answers bool) {
	switch {
	case answers:
		c.Issues.Add(mail.Info, "DKIM_WILDCARD", sectionDKIM, "Every selector answers with the same record, even one "+
			"that no one uses, so a key counts as found only if it differs from that.")
	case anything.alias:
		c.Issues.Add(mail.Info, "DKIM_WILDCARD", sectionDKIM, "Every selector, even one that no one uses, is an alias "+
			"(CNAME) of "+mail.Show(anything.cname)+", where there is no key.")
	}
}

// find adds a key, and what makes it useless: that follows from the record alone.
func (c *dkimCheck) find(selector string, answer reply, report dkim.Report) {
	if !report.Found {
		return
	}
	if report.KeyBits > 0 {
		find := dkimFind{Selector: selector, KeyType: report.KeyType, KeyBits: report.KeyBits}
		if answer.alias {
			find.CNAME = &answer.cname
		}
		c.Found = append(c.Found, find)
	}
	for _, i := range report.Issues {
		if i.Severity == mail.Fail {
			c.Issues.Add(mail.Info, i.Code, i.Reference, "At the selector "+selector+": "+i.Message)
		}
	}
}

// incomplete reports lookups without an answer.
func (c *dkimCheck) incomplete(unanswered int, failure *mail.LookupError, wildUnknown bool) {
	if unanswered > 0 {
		c.Issues.Add(mail.Info, "DKIM_SEARCH_INCOMPLETE", sectionDKIM, fmt.Sprintf("Of the %d selectors that large "+
			"senders use, %d could not be looked up: %s.", len(commonSelectors), unanswered, failure.Reason()))
	}
	if wildUnknown && len(c.Found) > 0 {
		c.Issues.Add(mail.Info, "DKIM_SEARCH_INCOMPLETE", sectionDKIM,
			"Whether every selector answers with a key could not be looked up, so those that were found may say nothing.")
	}
}

// everywhere reports whether every selector is an alias of that name, as below a wildcard.
func (r *checker) everywhere(ctx context.Context, cname string) bool {
	return r.dns.ask(ctx, wildcardProbe+"._domainkey."+r.domain, dns.TypeTXT).cname == cname
}

// deadAlias is the outcome for a selector that leads nowhere.
func (c *dkimCheck) deadAlias(name, target string) {
	c.Status, c.Summary = mailMissing, "There is no DKIM key at this selector: it is an alias that leads nowhere."
	c.Issues.Add(mail.Warn, "DKIM_ALIAS_DEAD", sectionDKIM, aliasToNothing(name, target))
}

// aliasToNothing says what is wrong with an alias at whose end there is no TXT record.
func aliasToNothing(name, target string) string {
	return fmt.Sprintf("%s is an alias (CNAME) of %s, where there is no key. Ask the service that you send with to "+
		"publish it there, or remove the alias if you no longer use that service.", mail.Show(name),
		strings.TrimSuffix(mail.Show(target), "."))
}
