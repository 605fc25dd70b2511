package golden

import "strings"

// around is how many equal lines Diff shows beside those that differ.
const around = 3

// Diff is what changed between two texts, line by line: - for what was, + for what is. It is empty where they are
// equal.
func Diff(was, is string) string {
	lines := compare(linesOf(was), linesOf(is))
	var b strings.Builder
	last := -1
	for i, line := range lines {
		if !nearChange(lines, i) {
			continue
		}
		if last >= 0 && i > last+1 {
			b.WriteString("  …\n")
		}
		b.WriteString(line + "\n")
		last = i
	}
	return b.String()
}

func linesOf(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }

func nearChange(lines []string, i int) bool {
	for _, line := range lines[max(0, i-around):min(len(lines), i+around+1)] {
		if line[0] != ' ' {
			return true
		}
	}
	return false
}

// compare marks the lines of both texts, along a longest common subsequence of theirs.
func compare(was, is []string) (lines []string) {
	common := make([][]int, len(was)+1) // its length from each pair of lines on
	for i := range common {
		common[i] = make([]int, len(is)+1)
	}
	for i := len(was) - 1; i >= 0; i-- {
		for j := len(is) - 1; j >= 0; j-- {
			if was[i] == is[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(was) || j < len(is) {
		switch {
		case i < len(was) && j < len(is) && was[i] == is[j]:
			lines = append(lines, "  "+was[i])
			i, j = i+1, j+1
		case j == len(is) || i < len(was) && common[i+1][j] >= common[i][j+1]:
			lines = append(lines, "- "+was[i])
			i++
		default:
			lines = append(lines, "+ "+is[j])
			j++
		}
	}
	return lines
}
