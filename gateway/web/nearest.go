package web

import (
	"path"
	"strings"
)

// longestGuess is how long the last part of a path may be that a tool is suggested for.
const longestGuess = 40

// nearest is the tool whose name comes nearest to the last part of a path that has no page; nil where none is near.
func (s *Site) nearest(p string) *toolView {
	typed := strings.ToLower(strings.Trim(path.Base(p), "/."))
	if len(typed) < 2 || len(typed) > longestGuess {
		return nil
	}
	var found *toolView
	least := 1 + len(typed)/3 // so many letters may be wrong
	for _, g := range s.groups {
		for i := range g.Tools {
			if d := far(typed, g.Tools[i]); d <= least && (found == nil || d < least) {
				found, least = &g.Tools[i], d
			}
		}
	}
	return found
}

// far is how many letters a text is from a tool's name: none where it is a part of it.
func far(typed string, t toolView) int {
	title := strings.ReplaceAll(strings.ToLower(t.Title), " ", "-")
	least := min(distance(typed, t.Slug), distance(typed, title))
	for part := range strings.SplitSeq(t.Slug+"-"+title, "-") {
		if least = min(least, 1+distance(typed, part)); part == typed {
			return 0
		}
	}
	return least
}

// distance is how many letters are to be added, dropped or replaced to make one text of the other (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := before
			if a[i] != b[j] {
				replaced++
			}
			before = row[j+1]
			row[j+1] = min(replaced, before+1, row[j]+1)
		}
	}
	return row[len(b)]
}
