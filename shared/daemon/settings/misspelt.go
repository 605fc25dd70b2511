package settings

import (
	"slices"
	"strings"
)

// Misspelling is a variable that no setting has, and the setting that was probably meant.
type Misspelling struct{ Name, Meant string }

// Misspellings finds variables of an environment ("NAME=value" each) that are nearly the name of a setting. A typing
// error would otherwise leave a limit at its default without a word. Variables of other programs are told apart by
// their distance: at most two letters differ, and one where the name has fewer than ten.
func Misspellings(env []string, all []Setting) []Misspelling {
	var names []string
	for _, s := range all {
		names = append(names, s.Name)
		if s.FromFile {
			names = append(names, s.Name+fileSuffix)
		}
	}
	var found []Misspelling
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		if value == "" || slices.Contains(names, name) {
			continue
		}
		if meant := nearest(name, names); meant != "" {
			found = append(found, Misspelling{Name: name, Meant: meant})
		}
	}
	slices.SortFunc(found, func(a, b Misspelling) int { return strings.Compare(a.Name, b.Name) })
	return found
}

// nearest gives the name that a variable is nearly, "" where it is nearly none.
func nearest(variable string, names []string) (meant string) {
	const short, tolerance = 10, 2
	least := tolerance + 1
	if len(variable) < short {
		least = tolerance
	}
	for _, name := range names {
		if d := distance(strings.ToUpper(variable), name); d < least {
			least, meant = d, name
		}
	}
	return meant
}

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
