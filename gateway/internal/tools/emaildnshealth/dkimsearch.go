package emaildnshealth

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/gateway/internal/analyze/mail/dkim"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/shared/parallel"

	"github.com/miekg/dns"
)

// dkimSearch is what trying the selectors of large senders gave; both lists are empty where the client named one.
type dkimSearch struct {
	// Tried are the selectors that the DNS gave an answer for, whatever it was.
	Tried []string `json:"tried"`
	// Found are those with a key.
	Found []dkimFind `json:"found" bound:"list=48k"`
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
	c.facts.Add("DKIM_SELECTOR_NEEDED", nil)
	needed := len(c.facts) - 1
	defer func() { c.facts[needed].Args = c.selectorNeeded() }()
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
			c.facts.Add("DKIM_ALIAS_DEAD_SEARCHED", aliasArgs(selector+"._domainkey."+domain, answer.cname))
		case len(texts) > 0 && !slices.Equal(slices.Sorted(slices.Values(texts)), wild):
			c.find(selector, *answer, dkim.Read(texts))
		}
	}
	c.incomplete(unanswered, failure, mail.Failure(s.anything.err) != nil)
}

// selectorNeeded sums up why the key in use was not checked, and returns the arguments for saying so in full.
func (c *dkimCheck) selectorNeeded() finding.Args {
	selectors := c.selectors()
	c.say("DKIM_SUMMARY_SEARCHED", finding.Args{"selectors": selectors})
	if len(selectors) == 0 {
		return nil
	}
	return finding.Args{"tried": len(c.Tried), "selectors": selectors}
}

// selectors lists those at which the search found a key, a few by name.
func (c *dkimCheck) selectors() (selectors []string) {
	for _, f := range c.Found[:min(len(c.Found), mostNamed)] {
		selectors = append(selectors, f.Selector)
	}
	if more := len(c.Found) - len(selectors); more > 0 {
		selectors = append(selectors, fmt.Sprintf("%d more", more))
	}
	return selectors
}

// wild reports an answer for a selector that no one uses: what equals it says nothing of any other.
func (c *dkimCheck) wild(anything reply, answers bool) {
	switch {
	case answers:
		c.facts.Add("DKIM_WILDCARD_SEARCHED", nil)
	case anything.alias:
		c.facts.Add("DKIM_WILDCARD_ALIAS", finding.Args{"target": mail.Show(anything.cname)})
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
		if rows[i.Code].Severity == finding.Fail {
			c.facts.Add("DKIM_FOUND_UNUSABLE", i.Args.With(finding.Args{"selector": selector, "issue": i.Code}))
		}
	}
}

// incomplete reports lookups without an answer.
func (c *dkimCheck) incomplete(unanswered int, failure *mail.LookupError, wildUnknown bool) {
	if unanswered > 0 {
		c.facts.Add("DKIM_SEARCH_INCOMPLETE", failure.Args().With(finding.Args{"selectors": len(commonSelectors),
			"unanswered": unanswered}))
	}
	if wildUnknown && len(c.Found) > 0 {
		c.facts.Add("DKIM_SEARCH_INCONCLUSIVE", nil)
	}
}

// everywhere reports whether every selector is an alias of that name, as below a wildcard.
func (r *checker) everywhere(ctx context.Context, cname string) bool {
	return r.dns.ask(ctx, wildcardProbe+"._domainkey."+r.domain, dns.TypeTXT).cname == cname
}

// deadAlias is the outcome for a selector that leads nowhere.
func (c *dkimCheck) deadAlias(name, target string) {
	c.Status = mailMissing
	c.say("DKIM_SUMMARY_MISSING", finding.Args{"alias": true})
	c.facts.Add("DKIM_ALIAS_DEAD", aliasArgs(name, target))
}

// aliasArgs name an alias at whose end there is no TXT record.
func aliasArgs(name, target string) finding.Args {
	return finding.Args{"name": mail.Show(name), "target": strings.TrimSuffix(mail.Show(target), ".")}
}
