package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// A mark that stands for text to come: @F30@, TODO.
	mark = regexp.MustCompile(`@[A-Za-z]+[0-9]*@|\b(?:TODO|FIXME|XXX|TBD)\b|<!-- *-->`)
	// What may follow a colon at the end of a paragraph.
	announced = regexp.MustCompile("^ *(?:```|[-*+] |\\d+\\. |\\||>|!\\[|\\*\\*|<!-- (?:run|not run): )")
	// A binary by its name in bin/, which no installation has.
	uninstalled = regexp.MustCompile("(?:^|[ `(])((?:gateway|worker)`? -[a-z][a-z-]+)")
)

// TestPagesHaveNoGaps fails on a mark that was never replaced, on a sentence that announces something with a colon and
// ends there, and on a command by a name that no installation has.
func TestPagesHaveNoGaps(t *testing.T) {
	t.Parallel()
	pages := 0
	for _, name := range textsBelow(t, root) {
		if !strings.HasSuffix(name, ".md") {
			continue
		}
		pages++
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, gap := range gaps(string(text)) {
			t.Errorf("%s:%s", name, gap)
		}
	}
	if pages < 20 {
		t.Errorf("only %d pages were found", pages)
	}
}

func TestGaps(t *testing.T) {
	t.Parallel()
	for page, want := range map[string][]string{
		"Restart it:\n\n```sh\na: b:\n```\n":                       nil,
		"Restart it:\n\n<!-- run: host -->\n```sh\na\n```\n":       nil,
		"They are:\n\n- a:\n  - b\n- c\n\nOr:\n\n| a |\n|---|\n":   nil,
		"It goes on:\nbelow.\n":                                    nil,
		"The image:\n\n![a](a.png)\n\nAn answer:\n\n> yes\n":       nil,
		"1. First:\n\n   ```sh\n   a\n   ```\n\nThen:\n\n1. b\n":   nil,
		"Write `a@b.example`, `{{.Name}}` or `x: y`.\n":            nil,
		"`diagnostics-gateway -version`, `/gateway -version`.\n":   nil,
		"Restart it:\n\nIt is done.\n":                             {"1: nothing follows the colon"},
		"Restart it:\n\n## Next\n":                                 {"1: nothing follows the colon"},
		"a\n\nRestart it:\n":                                       {"3: nothing follows the colon"},
		"- Restart it:\n\nIt is done.\n":                           {"1: nothing follows the colon"},
		"Restart it:\n\n<!-- a remark -->\n\nIt is done.\n":        {"1: nothing follows the colon"},
		"**Restart it:**\n\nIt is done.\n":                         {"1: nothing follows the colon"},
		"@F30@ Settings do no harm.\n":                             {"1: @F30@ was not replaced"},
		"```sh\n@Fa1@\n```\nTODO\n":                                {"2: @Fa1@ was not replaced", "4: TODO was not replaced"},
		"Call `gateway -probe URL`.\n":                             {"1: no installation has gateway -probe"},
		"```sh\ncd a && worker -healthcheck\n```\n":                {"2: no installation has worker -healthcheck"},
		"```sh\ndocker compose exec -T gateway /gateway -x\n```\n": nil,
	} {
		if got := gaps(page); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", page, got, want)
		}
	}
}

// gaps returns the faults of a page, each with its line.
func gaps(page string) (found []string) {
	lines := strings.Split(page, "\n")
	fenced := false
	for i, line := range lines {
		for _, m := range mark.FindAllString(line, -1) {
			found = append(found, fmt.Sprintf("%d: %s was not replaced", i+1, m))
		}
		for _, m := range uninstalled.FindAllStringSubmatch(line, -1) {
			found = append(found, fmt.Sprintf("%d: no installation has %s", i+1, m[1]))
		}
		if fence.MatchString(line) {
			fenced = !fenced
		}
		if fenced || !strings.HasSuffix(strings.TrimRight(line, " *_"), ":") {
			continue
		}
		rest := lines[i+1:]
		next := slices.IndexFunc(rest, func(l string) bool { return strings.TrimSpace(l) != "" })
		if next < 0 || !announced.MatchString(rest[next]) && (next > 0 || strings.HasPrefix(rest[next], "#")) {
			found = append(found, fmt.Sprintf("%d: nothing follows the colon", i+1))
		}
	}
	return found
}
