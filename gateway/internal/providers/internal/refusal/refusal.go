// Package refusal recognises what servers of registries write in place of registration data: that a client has sent too
// many queries, or that the registry does not give a name out. The wording differs from server to server, so it is the
// kind that is recognised, a word of one set near a word of another, and not the phrase.
package refusal

import (
	"slices"
	"strings"
	"time"
	"unicode"
)

const (
	// MaxText is the longest answer, in bytes, that may be a refusal: a server that refuses does so in a few lines.
	MaxText = 2 << 10
	// MaxPause is the longest pause of a server whose refusal was recognised by its words alone.
	MaxPause = time.Minute

	// maxLine is the longest line, in bytes, that may be a refusal: longer ones are terms of use.
	maxLine = 300
	// near is how many words apart the words of a refusal are at most.
	near = 8
)

// set is words; one that ends in a star stands for all that begin so.
type set []string

func (s set) has(word string) bool {
	return slices.ContainsFunc(s, func(w string) bool {
		start, open := strings.CutSuffix(w, "*")
		return word == start || open && strings.HasPrefix(word, start)
	})
}

// TooMany returns the first line that refuses a query because of the number or the rate of queries.
func TooMany(text string) (line string, found bool) {
	return firstLine(text, func(words []string) bool {
		return !anyOf(words, conditions) && (anyOf(words, throttled) ||
			together(words, limits, exceeded) || together(words, queries, excess) ||
			inOrder(words, set{"rate"}, set{"limited"}) || inOrder(words, set{"slow"}, set{"down"}) ||
			inOrder(words, set{"temporarily"}, set{"blocked"}))
	})
}

var (
	throttled = set{"throttl*", "ratelimit*", "rate-limit*", "overquota"}
	limits    = set{"limit", "limits", "quota", "quotas", "rate", "rates", "max", "maximum", "allowance", "threshold"}
	exceeded  = set{"exceed*", "reached", "over", "hit", "blocked", "denied", "violat*", "too-*"}
	queries   = set{"quer*", "request*", "lookup*", "connection*", "interval*", "frequency", "attempt*"}
	excess    = set{"exceed*", "excessive*", "too-*"}
	// degrees count only behind "too": "many" and "high" alone say nothing.
	degrees = set{"fast", "often", "frequent", "frequently", "many", "high", "short", "quickly"}
	// conditions make terms of use of a sentence: it states what would be, not what is.
	conditions = set{"if", "may", "might", "must", "should", "shall", "will", "would", "when", "whether", "unless"}
)

// Reserved returns the first line that states that a name is not given out.
func Reserved(text string) (line string, found bool) {
	return firstLine(text, func(words []string) bool {
		if anyOf(words, usage) {
			return false
		}
		return !anyOf(words, conditions) && together(words, names, withheld) ||
			inOrder(words, set{"cannot", "can't"}, set{"be"}, registered) ||
			inOrder(words, set{"can", "may", "must"}, set{"not"}, set{"be"}, registered) ||
			inOrder(words, set{"not"}, possible, registration) || inOrder(words, registration, set{"not"}, possible) ||
			inOrder(words, set{"status"}, set{"not"}, set{"allowed", "permitted"}) ||
			inOrder(words, set{"unavailable", "ineligible"}, registration)
	})
}

var (
	names    = set{"name*", "domain*", "registration*", "registry", "label*", "string*", "status"}
	withheld = set{
		"reserved", "withheld", "prohibited", "forbidden", "blocked", "restricted", "banned", "unassignable",
	}
	registered   = set{"registered", "delegated", "allocated", "assigned"}
	registration = set{"registration*", "register", "registered"}
	possible     = set{"available", "open", "eligible", "allowed", "permitted", "possible"}
	// usage are words of terms of use: "All rights reserved", "Use of registration data is not permitted".
	usage = set{"rights", "right", "data", "database", "use", "using", "information", "access", "quer*", "purpose*"}
)

// firstLine returns the first short line with a sentence that holds, without the marks of a comment.
func firstLine(text string, holds func(words []string) bool) (string, bool) {
	if len(text) > MaxText {
		return "", false
	}
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if len(line) <= maxLine && slices.ContainsFunc(sentences(line), holds) {
			return strings.TrimSpace(strings.TrimLeft(line, "%#*-; \t")), true
		}
	}
	return "", false
}

// sentences splits a line into sentences, and these into words in lower case; "too fast" is the one word "too-fast". A
// full stop ends a sentence only behind a word of more than three letters: not in "max. queries".
func sentences(line string) [][]string {
	var all [][]string
	var words []string
	for field := range strings.FieldsSeq(strings.ToLower(line)) {
		word := strings.TrimFunc(field, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		switch last := len(words) - 1; {
		case word == "":
		case last >= 0 && words[last] == "too" && degrees.has(word):
			words[last] = "too-" + word
		default:
			words = append(words, word)
		}
		if end := field[len(field)-1]; end == ';' || end == '!' || end == '.' && len(word) > 3 {
			all, words = append(all, words), nil
		}
	}
	return append(all, words)
}

func anyOf(words []string, s set) bool { return slices.ContainsFunc(words, s.has) }

// together reports whether a word of one set stands near a word of the other.
func together(words []string, one, other set) bool {
	for i, word := range words {
		if one.has(word) && anyOf(words[max(i-near, 0):min(i+near+1, len(words))], other) {
			return true
		}
	}
	return false
}

// inOrder reports whether words of the sets follow each other, the last of them near the first.
func inOrder(words []string, sets ...set) bool {
	for i, word := range words {
		if !sets[0].has(word) {
			continue
		}
		found := 1
		for _, next := range words[i+1 : min(i+near+1, len(words))] {
			if found < len(sets) && sets[found].has(next) {
				found++
			}
		}
		if found == len(sets) {
			return true
		}
	}
	return false
}
