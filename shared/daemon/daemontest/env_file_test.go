package daemontest

import (
	"strings"
	"testing"

	"diagnostics/daemon/settings"
)

var documented = []settings.Setting{
	{Name: "WORD", FromFile: true, Takes: "a word", Doc: "the word of the day"},
	{Name: "COUNT", Default: "30", Takes: "a number", Doc: "how many, of all those that there may ever be in one of the places " +
		"where someone could have counted them; 0 = no end"},
	{Name: "HIDDEN", Hidden: true},
}

func TestEnvFile(t *testing.T) {
	t.Parallel()
	const want = `# One.
# Two.

# the word of the day
# Takes: a word
#WORD=
#WORD_FILE=

# how many, of all those that there may ever be in one of the places where someone could have
# counted them; 0 = no end
# Takes: a number
#COUNT=30
`
	got := envFile("One.\nTwo.", documented)
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestWriteComment(t *testing.T) {
	t.Parallel()
	fits := strings.Repeat("a", envFileWidth-len("# x "))
	for text, want := range map[string]string{
		"x " + fits:       "# x " + fits + "\n",
		"x " + fits + "a": "# x\n# " + fits + "a\n",
		// What is too long by itself stays whole.
		strings.Repeat("a", 200): "# " + strings.Repeat("a", 200) + "\n",
		"x\n\nx":                 "# x\n#\n# x\n",
	} {
		var b strings.Builder
		writeComment(&b, text)
		if b.String() != want {
			t.Errorf("%q:\n%s\nwant:\n%s", text, b.String(), want)
		}
	}
}
