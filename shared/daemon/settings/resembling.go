package settings

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// Resemblance is a variable that is no setting, and the setting that it resembles most.
type Resemblance struct{ Variable, Setting string }

// serviceLink matches the variables that Kubernetes sets for each of its services, and Docker for linked containers.
var serviceLink = regexp.MustCompile(
	`_SERVICE_(HOST|PORT(_\w+)?)=|_PORT=[a-z]+://|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?=`)

// Resembling returns the variables of an environment ("NAME=value" each) that are no settings but look like one, which
// a mistake would leave at its default: a name that differs from a setting's by two letters (by one if it is short), by
// case, underscores or a _FILE that the setting does not have, and a name that begins with the first two words that
// several settings have in common. Empty variables and those of beside are left out.
func Resembling(all []Setting, env []string, beside ...string) (found []Resemblance) {
	known, prefixes := map[string]bool{}, map[string]int{}
	for _, name := range beside {
		known[name] = true
	}
	for _, s := range all {
		known[s.Name] = true
		if s.FromFile {
			known[s.Name+fileSuffix] = true
		}
		if prefix := firstTwoWords(s.Name); prefix != "" {
			prefixes[prefix]++
		}
	}
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		if value == "" || known[name] || serviceLink.MatchString(pair) {
			continue
		}
		nearest := slices.MinFunc(all, func(a, b Setting) int { return cmp.Compare(a.difference(name), b.difference(name)) })
		allowed := 1
		if len(letters(nearest.Name)) >= 10 {
			allowed = 2
		}
		if nearest.difference(name) <= allowed || prefixes[firstTwoWords(strings.ToUpper(name))] > 1 {
			found = append(found, Resemblance{name, nearest.Name})
		}
	}
	return found
}

// firstTwoWords returns the beginning of a name of three words or more, "" of a shorter one.
func firstTwoWords(name string) string {
	words := strings.SplitN(name, "_", 3)
	if len(words) < 3 {
		return ""
	}
	return words[0] + "_" + words[1]
}

// difference returns in how many letters a name differs from the setting's, or from that of the setting's file.
func (s Setting) difference(name string) int {
	name = letters(name)
	return min(distance(name, letters(s.Name)), distance(name, letters(s.Name+fileSuffix)))
}

func letters(name string) string { return strings.ToUpper(strings.ReplaceAll(name, "_", "")) }

// distance is how many letters have to be changed, added, left out, or exchanged with their neighbour to make one text
// of the other (the optimal string alignment distance).
func distance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			differs := 1
			if a[i] == b[j] {
				differs = 0
			}
			next[j+1] = min(last[j+1]+1, next[j]+1, last[j]+differs)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, last = last, next
	}
	return last[len(b)]
}
