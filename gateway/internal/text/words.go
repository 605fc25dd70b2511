package text

import (
	"fmt"
	"strings"
)

// Listed joins words as a sentence does: "a, b and c".
func Listed(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// ListedUpTo lists at most so many things by their names: "a, b and 3 more".
func ListedUpTo[T any](most int, things []T, name func(T) string) string {
	var words []string
	for _, thing := range things[:min(len(things), most)] {
		words = append(words, name(thing))
	}
	if more := len(things) - len(words); more > 0 {
		words = append(words, fmt.Sprintf("%d more", more))
	}
	return Listed(words)
}

// Number gives the word that goes with a number: 1 answers, 2 answer.
func Number(n int, one, several string) string {
	if n == 1 {
		return one
	}
	return several
}
