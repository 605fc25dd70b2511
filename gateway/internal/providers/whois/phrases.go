package whois

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"diagnostics/gateway/internal/providers/internal/refusal"
	"diagnostics/gateway/internal/providers/registry"
)

// spoken gives the lines of a text as sentences are looked for in them: in lower case, without the marks of comments,
// and with single spaces. Empty ones are left out.
func spoken(text string) []string {
	var lines []string
	for line := range eachLine(text) {
		line = strings.TrimLeft(line, "%#*- \t")
		if words := strings.Fields(strings.ToLower(line)); len(words) > 0 {
			lines = append(lines, strings.Join(words, " "))
		}
	}
	return lines
}

// says reports whether a line of the text begins with one of the sentences, which are in lower case.
func says(text string, sentences ...string) bool {
	return slices.ContainsFunc(spoken(text), func(line string) bool { return beginsWith(line, sentences...) })
}

func beginsWith(line string, starts ...string) bool {
	return slices.ContainsFunc(starts, func(start string) bool { return strings.HasPrefix(line, start) })
}

// maxSaid bounds the lines in which a refusal is looked for: a server that refuses does so in a sentence or two.
const maxSaid = 300

// mentions gives the first short line that holds one of the words.
func mentions(text string, words []string) (string, bool) {
	for _, line := range spoken(text) {
		for _, w := range words {
			if len(line) <= maxSaid && strings.Contains(line, w) {
				return line, true
			}
		}
	}
	return "", false
}

// tooMany reports whether a text without a registration refuses the question because of earlier ones, and how long the
// server is left alone for it.
func tooMany(text string) (time.Duration, bool) {
	if _, closed := mentions(text, closedWords); closed {
		return 0, false
	}
	line, found := refusal.TooMany(text)
	if !found && len(text) <= refusal.MaxText {
		line, found = mentions(text, busyWords)
	}
	if !found {
		return 0, false
	}
	return min(waitIn(strings.ToLower(line)), refusal.MaxPause), true
}

// busyWords are what servers say that refuse for a time without naming a limit.
var busyWords = []string{"try again later"}

// defaultPause is for a server that requests a pause of no given length.
const defaultPause = time.Minute

// waitIn reads "300 seconds" or "5 minutes" out of a line.
func waitIn(line string) time.Duration {
	words := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" .,;:()", r) })
	for i := 1; i < len(words); i++ {
		n, err := strconv.ParseUint(words[i-1], 10, 16)
		unit, known := units[strings.TrimSuffix(words[i], "s")]
		if err == nil && known {
			return registry.BoundPause(time.Duration(n) * unit)
		}
	}
	return defaultPause
}

var units = map[string]time.Duration{
	"second": time.Second, "sec": time.Second, "minute": time.Minute, "min": time.Minute, "hour": time.Hour,
}

// closedWords are what the servers of .ch and .es say, which answer only admitted clients: that of .es also
// mentions too many queries in the same sentence, to every client and at the first query.
var closedWords = []string{"of this client are not permitted", "address used to perform the query is not authori"}

// noSuchObject is what IANA's server says of a name that it does not have.
const noSuchObject = "this query returned 0 objects"

// deniedWords are what others say.
var deniedWords = []string{"access denied", "access is denied", "permission denied", "not authorised", "not authorized"}

// complaint is the code of what there is to say of a text that shows neither a registration nor its absence.
func complaint(text string) string {
	if strings.TrimSpace(text) == "" {
		return "PROVIDER_ANSWER_EMPTY"
	}
	if _, closed := mentions(text, slices.Concat(closedWords, deniedWords)); closed {
		return "PROVIDER_CLOSED"
	}
	return "PROVIDER_FORMAT_UNKNOWN"
}
