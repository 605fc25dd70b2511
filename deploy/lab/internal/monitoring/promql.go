// Package monitoring reads the queries of deploy/monitoring and docs/incidents.md, so that tests can hold them
// against the metrics that there are.
package monitoring

import (
	"regexp"
	"slices"
	"strings"
)

// Names are what an expression names.
type Names struct {
	// Selectors are metrics with their matchers, as they are written: up{job="gateway"}.
	Selectors []string
	// Labels are those of by, without, on and ignoring.
	Labels []string
}

// token is a string, a name, a number or a duration, or any other character.
var token = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[a-zA-Z_:][a-zA-Z0-9_:]*|[0-9][0-9a-zA-Z.]*|\S`)

var (
	grouping  = []string{"by", "without", "on", "ignoring", "group_left", "group_right"}
	operators = []string{"and", "or", "unless", "atan2", "bool", "offset", "inf", "nan",
		"sum", "min", "max", "avg", "count", "topk", "bottomk", "quantile", "stddev", "stdvar", "group", "count_values"}
)

// NamesIn finds the names in an expression that is valid PromQL.
func NamesIn(expression string) Names {
	r := reader{tokens: token.FindAllString(expression, -1)}
	for r.at < len(r.tokens) {
		r.next()
	}
	return r.found
}

// reader is an expression half read.
type reader struct {
	tokens []string
	at     int
	found  Names
}

func (r *reader) next() {
	word := r.tokens[r.at]
	r.at++
	switch {
	case word == "[":
		r.until("]")
	case word == "{":
		r.at--
		r.add(r.matchers())
	case !isName(word):
	case slices.Contains(grouping, strings.ToLower(word)) && r.sees("("):
		for _, label := range r.until(")") {
			if isName(label) {
				r.found.Labels = append(r.found.Labels, label)
			}
		}
	case slices.Contains(operators, strings.ToLower(word)) || r.sees("("):
	default:
		r.add(word + r.matchers())
	}
}

func (r *reader) add(selector string) { r.found.Selectors = append(r.found.Selectors, selector) }

func (r *reader) sees(word string) bool { return r.at < len(r.tokens) && r.tokens[r.at] == word }

// matchers are those that follow, with their braces.
func (r *reader) matchers() string {
	if !r.sees("{") {
		return ""
	}
	return strings.Join(r.until("}"), "")
}

// until skips to behind a word, and gives what it has skipped.
func (r *reader) until(word string) []string {
	begin := r.at
	for r.at < len(r.tokens) {
		r.at++
		if r.tokens[r.at-1] == word {
			break
		}
	}
	return r.tokens[begin:r.at]
}

func isName(word string) bool {
	return word[0] == '_' || word[0] == ':' || 'a' <= word[0]|0x20 && word[0]|0x20 <= 'z'
}
