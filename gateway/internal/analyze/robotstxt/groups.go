package robotstxt

import (
	"fmt"
	"strconv"
)

// What groups may come to when rules are copied to every crawler that they are for. No file of MaxBytes reaches it by
// its own rules; one that names thousands of crawlers twice does.
const (
	maxMerged = 4 << 20
	ruleCost  = 48 // octets of a rule beside its path
)

// groups folds the crawlers that hear the very same into one group each.
func (p *parser) groups() []Group {
	groups := []Group{}
	at := make(map[string]int)
	left := maxMerged
	for _, a := range p.agents {
		key := a.key()
		if i, ok := at[key]; ok {
			groups[i].UserAgents = append(groups[i].UserAgents, a.name)
			continue
		}
		at[key] = len(groups)
		groups = append(groups, Group{UserAgents: []string{a.name}, Rules: p.merged(a, &left), CrawlDelay: a.delay})
	}
	if left < 0 {
		p.issues.add(CodeTooManyRules, SeverityFail, 0,
			"The groups for the same crawlers have so many rules together that the last ones are left out here.")
	}
	return groups
}

// merged gives the rules of all groups that name the crawler, in the order of the file.
func (p *parser) merged(a *agent, left *int) []Rule {
	rules := []Rule{}
	for _, i := range a.groups {
		for _, rule := range p.rules[i] {
			if *left -= len(rule.Path) + ruleCost; *left < 0 {
				return rules
			}
			rules = append(rules, rule)
		}
	}
	return rules
}

// key is the same for crawlers that are told the same.
func (a *agent) key() string {
	delay := ""
	if a.delay != nil {
		delay = strconv.FormatFloat(*a.delay, 'g', -1, 64)
	}
	return fmt.Sprint(a.groups, delay)
}
